package markdown

import (
	"maps"
	"reflect"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// MapRefs returns the document with each reference replaced by the result of `change`. Callers use MapRefs to replace
// paths in a repository by ids, and ids by paths. MapRefs copies the nodes that it changes, so `d` stays unchanged.
// `change` must not modify its argument. If `change` returns nil, the reference stays unchanged.
func MapRefs(d schema.Document, change func(ref map[string]any) map[string]any) schema.Document {
	d.Nodes = mapNodes(d.Nodes, "", refChange{to: change})
	return d
}

// refChange describes how [MapRefs] or [Named] changes references.
type refChange struct {
	to func(ref map[string]any) map[string]any
	// named are the types of nodes whose references get names. It is nil if all references are changed.
	named []string
}

// naming reports whether the change is made by [Named]. Named adds names to references.
func (c refChange) naming() bool { return c.named != nil }

func mapNodes(nodes []schema.Node, parent string, change refChange) []schema.Node {
	copied := false
	for i := range nodes {
		n := mapNode(nodes[i], parent, change)
		if sameNode(&n, &nodes[i]) {
			continue
		}
		if !copied {
			nodes, copied = slices.Clone(nodes), true
		}
		nodes[i] = n
	}
	return nodes
}

func mapNode(n schema.Node, parent string, change refChange) schema.Node {
	if n.Type == kindRaw {
		if change.naming() {
			return n
		}
		source := content.Member(n.Data, memberSource)
		if mapped := mapHTML(source, change.to); mapped != source {
			return rawBlock(mapped)
		}
		return n
	}
	if source, ok := keptMarkdown(&n, parent); ok {
		mapped := schema.NewDocument(fit(mapNodes(newReader(source).ideal(), parent, change), parent)...)
		if len(mapped.Nodes) == 1 && keptSource(&mapped.Nodes[0]) != source {
			mapped.Nodes[0].Key = n.Key
			return mapped.Nodes[0]
		}
		return n
	}
	n.Nodes, n.Fragments = mapNodes(n.Nodes, parentName(&n), change), mapNodes(n.Fragments, n.Type, change)
	return mapOwn(n, change)
}

// parentName returns the name under which [schema.Allows] knows the parent of a node's children.
func parentName(n *schema.Node) string {
	if n.Object == schema.ObjectFragment && n.Type == "" {
		return schema.FragmentCell
	}
	return n.Type
}

// mapOwn changes the references in a node's data. It does not change the references in the node's children.
func mapOwn(n schema.Node, change refChange) schema.Node {
	if !change.naming() || slices.Contains(change.named, n.Type) && !hasLabel(&n) {
		if data, ok := mapValue(map[string]any(n.Data), change).(map[string]any); ok && n.Data != nil {
			n.Data = data
		}
		if n.Type == "table" {
			n.Data = mapFiles(n.Data, change)
		}
	}
	for _, member := range []string{memberCaption, memberBody} {
		text, ok := n.Data[member].(string)
		if row := tagOf(&n); !ok || row == nil {
			continue
		}
		if mapped := mapInlines(text, change); mapped != text {
			n.Data = maps.Clone(n.Data)
			n.Data[member] = mapped
		}
	}
	return n
}

// listedRefs has the types of columns whose values are lists of ids, with the kind of the objects that have these ids.
var listedRefs = map[string]string{"files": "file", "users": "user"}

// mapFiles changes the values in columns of files. These values are ids or paths of files. If references get names, it
// also changes the values of the other columns in listedRefs.
func mapFiles(data schema.Data, change refChange) schema.Data {
	mapped := data
	for id, about := range stringMap(data["definition"]) {
		kind, listed := listedRefs[content.Member(stringMap(about), "type")]
		if !listed || kind != "file" && !change.naming() {
			continue
		}
		for name, record := range stringMap(data["records"]) {
			list, _ := stringMap(stringMap(record)["values"])[id].([]any)
			after, changed := mapNames(list, kind, change)
			if !changed {
				continue
			}
			mapped = withValue(mapped, name, id, after)
		}
	}
	return mapped
}

func mapNames(list []any, kind string, change refChange) (after []any, changed bool) {
	after = slices.Clone(list)
	for i, item := range list {
		name, _ := item.(string)
		to := change.to(map[string]any{"kind": kind, kind: name})
		if change.naming() {
			if to != nil && content.IsID(name) {
				after[i], changed = to, true
			}
			continue
		}
		as, ok := to["file"].(string)
		if !ok {
			as, ok = to["url"].(string)
		}
		if name != "" && ok && as != name {
			after[i], changed = as, true
		}
	}
	return after, changed
}

// withValue returns a copy of a table's data in which a cell has another value.
func withValue(data schema.Data, record, column string, value any) schema.Data {
	data = maps.Clone(data)
	records := maps.Clone(stringMap(data["records"]))
	row := maps.Clone(stringMap(records[record]))
	values := maps.Clone(stringMap(row["values"]))
	values[column] = value
	row["values"], records[record], data["records"] = values, row, records
	return data
}

// mapInlines changes the references in a Markdown text. It returns the text unchanged if the text is not exactly one
// paragraph.
func mapInlines(markdown string, change refChange) string {
	nodes := newReader(markdown).ideal()
	if len(nodes) != 1 || nodes[0].Type != "paragraph" {
		return markdown
	}
	if mapped := mapNodes(nodes[0].Nodes, "paragraph", change); !sameNodes(mapped, nodes[0].Nodes) {
		return inlineMarkdown(mapped, inParagraph)
	}
	return markdown
}

func mapValue(value any, change refChange) any {
	switch value := value.(type) {
	case map[string]any:
		if isRef(value) {
			changed := change.to(value)
			if changed == nil {
				return value
			}
			if title, given := value[content.MemberTitle]; given && changed[content.MemberTitle] == nil {
				changed = maps.Clone(changed)
				changed[content.MemberTitle] = title
			}
			return changed
		}
		mapped := value
		for name, member := range value {
			after := mapValue(member, change)
			if same(after, member) {
				continue
			}
			if same(mapped, value) {
				mapped = maps.Clone(value)
			}
			mapped[name] = after
		}
		return mapped
	case []any:
		mapped := value
		for i, item := range value {
			after := mapValue(item, change)
			if same(after, item) {
				continue
			}
			if same(mapped, value) {
				mapped = slices.Clone(value)
			}
			mapped[i] = after
		}
		return mapped
	}
	return value
}

// labelled are the types of nodes for which Markdown contains the name of the target.
var labelled = []string{"mention", "content-ref", "table"}

// hasLabel reports whether a node has a text that is shown instead of the name of the node's target.
func hasLabel(n *schema.Node) bool { return n.Data[memberLabel] != nil || n.Data[memberBody] != nil }

// Named returns the document with the names of its references' targets. It adds names to the references of nodes that
// Markdown writes with a name, and of nodes whose type is in the list `also`. A reference gets no name if `name`
// returns "". The result is only written as Markdown. It is never stored.
func Named(d schema.Document, name func(ref map[string]any) string, also ...string) schema.Document {
	to := func(ref map[string]any) map[string]any {
		title := ""
		if ref[content.MemberTitle] == nil {
			title = name(ref)
		}
		if title == "" {
			return nil
		}
		named := maps.Clone(ref)
		named[content.MemberTitle] = title
		return named
	}
	d.Nodes = mapNodes(d.Nodes, "", refChange{to: to, named: append(slices.Clip(labelled), also...)})
	return d
}

// isRef reports whether an object is a reference to content. Any other object in a document may also have a member
// named kind.
func isRef(value map[string]any) bool {
	kind, ok := value["kind"].(string)
	return ok && kind != "" && len(schema.ContentRefProblems("", value)) == 0
}

// same reports whether two maps or slices are identical. If the values are neither maps nor slices, it returns true.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch x.Kind() { //nolint:exhaustive // Values of other kinds are never changed.
	case reflect.Map, reflect.Slice:
		return x.Pointer() == y.Pointer() && x.Len() == y.Len()
	}
	return true
}
