package markdown

import (
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// ForRenderer returns the document in the form that front ends read. Some blocks are stored as source, because the
// grammar does not allow them. They become blocks again: columns, updates, tabs in steps, and code in hints. If a
// footnote has no annotated words, its label becomes the annotated word. Captions become fragments. Hidden content is
// left out. The result cannot be stored, because the grammar does not allow it. New blocks have no keys.
func ForRenderer(d schema.Document) schema.Document {
	d.Nodes = shownBlocks(d.Nodes, "")
	return d
}

// pairShown finds the tags, and the <details>, that paragraphs store as source and that have an end tag. It maps the
// index of each beginning to the index of its end.
func pairShown(nodes []schema.Node) map[int]int {
	ends := pairKept(nodes)
	var open []int
	for i := range nodes {
		switch source := keptSource(&nodes[i]); {
		case detailsOpens.MatchString(source) && !strings.Contains(source, "<summary"):
			open = append(open, i)
		case source == "</details>" && len(open) > 0:
			if ends == nil {
				ends = map[int]int{}
			}
			ends[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	return ends
}

// shownBlocks returns sibling blocks in the form that readers see. `parent` is the kind of the block that contains
// them. Some siblings store the source of blocks that the grammar does not allow.
func shownBlocks(nodes []schema.Node, parent string) []schema.Node {
	ends := pairShown(nodes)
	shown := make([]schema.Node, 0, len(nodes))
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		end, pair := ends[i]
		if !pair {
			shown = append(shown, shownBlock(n, parent)...)
			continue
		}
		inside := nodes[i+1 : end]
		if made, ok := containerOf(&n, inside, parent); ok {
			shown = append(shown, made)
		} else if t, _ := readTagLine([]byte(keptSource(&n))); t.name == "if" {
			shown = append(append(append(shown, n), shownBlocks(inside, parent)...), nodes[end])
		} else {
			shown = append(shown, shownBlocks(inside, parent)...)
		}
		i = end
	}
	return shown
}

// containerOf makes the block that begins with a tag stored as source. The second result is false if such a block
// cannot contain the blocks in `inside`.
func containerOf(open *schema.Node, inside []schema.Node, parent string) (schema.Node, bool) {
	source := keptSource(open)
	t, ok := readTagLine([]byte(source))
	if !ok {
		return expandableOf(open, inside, parent)
	}
	row := tagNamed(t.name)
	if row == nil || row.form != formContainer || row.kind == "if" {
		return schema.Node{}, false
	}
	n, ok := row.node(t)
	n.Nodes = shownBlocks(inside, parent)
	held, made := partKinds[row.kind], true
	if row.kind == "prompt" {
		held = "code"
	}
	if held != "" {
		blank := func(child schema.Node) bool {
			return child.Type == "paragraph" && content.InlineText(child.Nodes) == ""
		}
		n.Nodes = slices.DeleteFunc(n.Nodes, blank)
		made = !slices.ContainsFunc(n.Nodes, func(child schema.Node) bool { return child.Type != held })
	}
	if row.kind == "update" { // front ends need the date of an update as a time stamp
		date := content.Member(n.Data, "date")
		day, err := time.Parse(time.DateOnly, date[:min(len(date), len(time.DateOnly))])
		n.Data["date"], made = day.Format("2006-01-02T15:04:05.000Z"), made && err == nil
	}
	return asBlock(n, open.Key, false), ok && made
}

// asBlock sets the members of a node that are the same for all blocks of its type. It also does this for types that the
// grammar does not have.
func asBlock(n schema.Node, key string, void bool) schema.Node {
	n.Object, n.IsVoid, n.Key = schema.ObjectBlock, &void, key
	if n.Data == nil {
		n.Data = schema.Data{}
	}
	switch n.Type {
	case "updates":
		if format := content.Member(n.Data, "format"); format != "numeric" && format != "short" {
			n.Data["format"] = "full"
		}
	case "update":
		tags := []any{}
		for tag := range strings.SplitSeq(content.Member(n.Data, "tags"), ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				tags = append(tags, map[string]any{"kind": "tag", "tag": tag})
			}
		}
		n.Data["tags"] = tags
	case "prompt":
		n.Data["description"] = content.Member(n.Data, "description")
	}
	return n
}

func expandableOf(open *schema.Node, inside []schema.Node, parent string) (schema.Node, bool) {
	if len(inside) == 0 {
		return schema.Node{}, false
	}
	title, ok := (&reader{}).summary(keptSource(&inside[0]))
	tags, parsed := parseHTML(keptSource(open) + "</details>")
	if !ok || !parsed || len(tags) != 1 {
		return schema.Node{}, false
	}
	n := schema.Node{Type: "expandable", Data: schema.Data{}, Fragments: []schema.Node{
		{
			Object:   schema.ObjectFragment,
			Fragment: fragmentTitle,
			Type:     fragmentTitle,
			Nodes:    []schema.Node{schema.Block("paragraph", title...)},
		},
		{
			Object:   schema.ObjectFragment,
			Fragment: fragmentBody,
			Type:     fragmentBody,
			Nodes:    filled(shownBlocks(inside[1:], parent)),
		},
	}}
	n = asBlock(schema.NewDocument(n).Nodes[0], open.Key, true)
	if tags[0].attrs.has("open") {
		n.Data["defaultExpanded"] = true
	}
	return n, true
}

// shownBlock returns a block in the form that readers see, with all its contents.
func shownBlock(n schema.Node, parent string) []schema.Node {
	if source := keptSource(&n); source != "" {
		if _, unedited := keptMarkdown(&n, parent); unedited {
			return shownKept(n, source)
		}
	}
	hidden := func(text schema.Node) bool { return hides(text.Leaves) }
	if n.Type == "paragraph" && slices.ContainsFunc(n.Nodes, hidden) && !slices.ContainsFunc(n.Nodes, isShown) {
		return nil
	}
	return []schema.Node{shownNode(n)}
}

// isShown reports whether readers see anything of an inline.
func isShown(n schema.Node) bool {
	return isUnit(n) || strings.TrimSpace(content.LeafText(n.Leaves)) != ""
}

// shownKept returns what readers see of the paragraph `n`, which stores the source of another block. If the source can
// be read as a block, readers see this block. Otherwise they see the text of the paragraph. A paragraph without visible
// content is left out. An empty line stays.
func shownKept(n schema.Node, source string) []schema.Node {
	ideal := newReader(source).ideal()
	if len(ideal) == 1 && ideal[0].Type != kindRaw && ideal[0].Type != "paragraph" {
		d := schema.NewDocument(ideal...)
		d.Nodes[0].Key = n.Key
		return []schema.Node{shownNode(d.Nodes[0])}
	}
	if lines, data, ok := preLines(source); ok {
		d := schema.NewDocument(schema.Node{Type: "code", Data: data, Nodes: lines})
		return []schema.Node{asBlock(d.Nodes[0], n.Key, false)}
	}
	if content.InlineText(n.Nodes) == "" && !strings.HasPrefix(source, "<br") && !slices.ContainsFunc(n.Nodes, isUnit) {
		return nil
	}
	return []schema.Node{shownNode(n)}
}

// shownNode returns a node in the form that readers see, with its children.
func shownNode(n schema.Node) schema.Node {
	if schema.HoldsBlocks(n.Type) {
		if n.Nodes = shownBlocks(n.Nodes, parentName(&n)); len(n.Nodes) == 0 && partKinds[n.Type] == "" {
			n.Nodes = schema.NewDocument(schema.Block("paragraph")).Nodes
		}
	} else if len(n.Nodes) > 0 {
		n.Nodes = shownInlines(n.Nodes)
	}
	if len(n.Fragments) > 0 {
		n.Fragments = slices.Clone(n.Fragments)
		for i := range n.Fragments {
			n.Fragments[i].Nodes = shownBlocks(n.Fragments[i].Nodes, parentName(&n.Fragments[i]))
		}
	}
	switch n.Type {
	case "file", "embed", "drawing":
		n.Fragments = captionFragments(&n)
	case "expandable":
		for _, f := range n.Fragments {
			if others, _ := f.Meta[memberAttributes].(map[string]any); f.Type == fragmentTitle &&
				others["open"] != nil {
				n.Data = schema.Data{"defaultExpanded": true}
			}
		}
	case "table":
		n.Data = shownTable(n.Data)
	}
	return n
}

// captionFragments returns the caption of a block as a fragment. The data of the block has the caption as Markdown.
func captionFragments(n *schema.Node) []schema.Node {
	caption := content.Member(n.Data, memberCaption)
	if caption == "" || len(n.Fragments) > 0 {
		return n.Fragments
	}
	nodes := newReader(inlineOnly(caption)).ideal()
	if len(nodes) != 1 || nodes[0].Type != "paragraph" {
		return nil
	}
	d := schema.NewDocument(nodes[0])
	return []schema.Node{{Object: schema.ObjectFragment, Fragment: "caption", Type: "caption", Nodes: d.Nodes}}
}

// shownInlines leaves out hidden inlines. If a footnote has no annotated words, its label becomes the annotated word.
func shownInlines(nodes []schema.Node) []schema.Node {
	shown := make([]schema.Node, 0, len(nodes))
	for _, n := range nodes {
		if hides(n.Leaves) {
			n.Leaves = slices.DeleteFunc(
				slices.Clone(n.Leaves),
				func(leaf schema.Leaf) bool { return hiddenSource(leaf) != "" },
			)
			if len(n.Leaves) == 0 {
				continue
			}
		}
		if n.Object == schema.ObjectInline || len(n.Nodes) > 0 {
			n = shownNode(n)
		}
		if n.Type == "annotation" && len(n.Nodes) == 0 {
			d := schema.NewDocument(schema.Block("paragraph", schema.Text(annotationLabel(&n), "superscript")))
			n.Nodes = d.Nodes[0].Nodes
		}
		shown = append(shown, shownMention(n))
	}
	// An editor needs at least one text node.
	if len(shown) == 0 {
		d := schema.NewDocument(schema.Block("paragraph", schema.Text("")))
		return d.Nodes[0].Nodes
	}
	return shown
}

// shownMention turns a mention with a label and an address into a link. A front end would show the address of the
// mention instead of the label.
func shownMention(n schema.Node) schema.Node {
	label := content.Member(n.Data, memberLabel)
	if n.Type != "mention" || label == "" || refKind(n.Data["ref"]) != "url" {
		return n
	}
	link := schema.Node{Type: "link", Data: schema.Data{"ref": n.Data["ref"]}, Nodes: []schema.Node{schema.Text(label)}}
	for _, made := range schema.NewDocument(schema.Block("paragraph", link)).Nodes[0].Nodes {
		if made.Type == "link" {
			made.Key = n.Key
			return made
		}
	}
	return n
}

func annotationLabel(n *schema.Node) string {
	if label := content.Member(n.Meta, "label"); label != "" {
		return label
	}
	return "*"
}

// shownTable turns the values of columns with a single choice into lists with one value.
func shownTable(data schema.Data) schema.Data {
	definition := stringMap(data["definition"])
	records := map[string]any{}
	changed := false
	for name, record := range stringMap(data["records"]) {
		row := stringMap(record)
		values := map[string]any{}
		for id, value := range stringMap(row["values"]) {
			if text, ok := value.(string); ok && content.Member(stringMap(definition[id]), "type") == "select" {
				value, changed = []any{text}, true
			}
			values[id] = value
		}
		records[name] = map[string]any{"orderIndex": row["orderIndex"], "values": values}
	}
	if !changed {
		return data
	}
	shown := schema.Data{}
	for name, value := range data {
		shown[name] = value
	}
	shown["records"] = records
	return shown
}
