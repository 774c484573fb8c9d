package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// These constants bound a document. Because of maxDocumentDepth, code can visit a checked document recursively without
// its own limit.
const (
	maxDocumentDepth = 32
	MaxDocumentNodes = 100_000
	maxProblems      = 20
)

// ProblemNodes is the problem of a document with too many nodes. It is also the problem of Markdown from which such a
// document would be made.
var ProblemNodes = fmt.Sprintf("must have at most %d nodes and cells of tables", MaxDocumentNodes)

// problemText is the problem of a document with too much text.
var problemText = fmt.Sprintf("must have at most %d bytes of text", MaxPage)

const problemNUL = "must not hold the character U+0000"

// Problems lists the places where the document does not satisfy the grammar. It lists at most 20 places. `field` is the
// path of the document in the request. Call Normalize before Problems.
func (d Document) Problems(field string) []Detail {
	p := &problems{}
	if p.size(field, d.Nodes); p.details != nil {
		return p.details
	}
	if d.Object != ObjectDocument {
		p.add(join(field, "object"), problemEnum, ObjectDocument)
	}
	p.object(join(field, "data"), d.Data, &documentData)
	p.object(join(field, "meta"), d.Meta, &documentMeta)
	p.children(join(field, "nodes"), d.Nodes, &documentNodes, 1)
	return p.details
}

// BlockTypes returns the types of blocks that a document may contain directly.
func BlockTypes() []string { return slices.Sorted(slices.Values(documentNodes.types)) }

// TooLarge reports whether the document has more nodes than allowed.
func (d Document) TooLarge() bool { return d.Size() > MaxDocumentNodes }

// Size returns the number of nodes of the document, plus the leaves of each text except its first leaf. A table has at
// least one node for each cell. If the document is too large, the number is above the limit, but not exact.
func (d Document) Size() int { return measure(d.Nodes, 0).nodes }

// amount says how much a reader of nodes sees. `nodes` is the number that Size describes. `text` is the number of bytes
// of text in leaves, and `data` is the number of bytes of text in data. If a table shows a text in several cells,
// `text` has its bytes for each cell.
type amount struct{ nodes, text, data int }

// mostAmount bounds the numbers of an amount, because the product of two numbers must not overflow.
const mostAmount = 1 << 30

func (a *amount) add(b amount) {
	a.nodes = min(a.nodes+b.nodes, mostAmount)
	a.text, a.data = min(a.text+b.text, mostAmount), min(a.data+b.data, mostAmount)
}

// measure returns the amount of nodes. It stops soon after the number of nodes exceeds MaxDocumentNodes. It does not
// visit nodes that are deeper than allowed.
func measure(nodes []Node, depth int) amount {
	total := amount{nodes: len(nodes)}
	if depth > maxDocumentDepth {
		return total
	}
	for i := range nodes {
		n := &nodes[i]
		if total.nodes > MaxDocumentNodes {
			break
		}
		own := amount{nodes: max(0, len(n.Leaves)-1), data: stringBytes(n.Data) + stringBytes(n.Meta)}
		for j := range n.Leaves {
			own.text += len(n.Leaves[j].Text)
		}
		total.add(own)
		total.add(measure(n.Nodes, depth+1))
		if n.Type == "table" {
			total.add(measureTable(n, depth+1))
		} else {
			total.add(measure(n.Fragments, depth+1))
		}
	}
	return total
}

// measureTable returns the amount of a table's cells. A small table can show very much: it has a cell for each column
// and record, and several cells can show the same fragment or the same option.
func measureTable(n *Node, depth int) amount {
	var total amount
	fragments := make(map[string]amount, len(n.Fragments))
	for i := range n.Fragments {
		one := measure(n.Fragments[i:i+1], depth)
		fragments[n.Fragments[i].Fragment] = one
		total.add(one)
	}
	records, _ := n.Data["records"].(map[string]any)
	columns := columnOptions(n)
	total.nodes = max(total.nodes, len(columns)*len(records))
	shown := map[string]bool{}
	for _, record := range records {
		about, _ := record.(map[string]any)
		values, _ := about["values"].(map[string]any)
		for column, value := range values {
			options, there := columns[column]
			if !there {
				continue
			}
			total.add(amount{text: options.bytes(value)})
			name, _ := value.(string)
			again, named := fragments[name]
			if named && shown[name] {
				total.add(amount{nodes: again.nodes, text: again.text + again.data})
			}
			shown[name] = shown[name] || named
		}
	}
	return total
}

// options has the lengths of the labels of a column's options.
type options struct {
	labels  map[string]int
	longest int
}

// columnOptions has an entry for each column of a table: the columns of the view, and the hidden columns.
func columnOptions(n *Node) map[string]options {
	view, _ := n.Data["view"].(map[string]any)
	definition, _ := n.Data["definition"].(map[string]any)
	names, _ := view["columns"].([]any)
	columns := make(map[string]options, len(definition))
	for _, name := range names {
		if name, ok := name.(string); ok {
			columns[name] = options{}
		}
	}
	for name, value := range definition {
		about, _ := value.(map[string]any)
		list, _ := about["options"].([]any)
		of := options{labels: make(map[string]int, len(list))}
		for _, option := range list {
			members, _ := option.(map[string]any)
			value, _ := members["value"].(string)
			label, _ := members["label"].(string)
			of.labels[value] = max(of.labels[value], len(label))
			of.longest = max(of.longest, len(label))
		}
		columns[name] = of
	}
	return columns
}

// bytes returns the length of the labels that a cell shows. An unknown option may have the longest label, because other
// packages compare options without some characters.
func (o options) bytes(value any) int {
	switch value := value.(type) {
	case string:
		if length, known := o.labels[value]; known {
			return length
		}
		return o.longest
	case []any:
		total := 0
		for _, item := range value {
			if name, ok := item.(string); ok {
				total = min(total+o.bytes(name), mostAmount)
			}
		}
		return total
	}
	return 0
}

// stringBytes returns the number of bytes of the strings in an object.
func stringBytes(object map[string]any) int {
	total := 0
	for name, value := range object {
		total += len(name) + valueBytes(value)
	}
	return total
}

func valueBytes(value any) int {
	total := 0
	switch value := value.(type) {
	case string:
		total = len(value)
	case []any:
		for _, item := range value {
			total += valueBytes(item)
		}
	case map[string]any:
		total = stringBytes(value)
	}
	return total
}

// problems collects problems, up to maxProblems.
type problems struct {
	details []Detail
}

func (p *problems) full() bool { return len(p.details) >= maxProblems }

func (p *problems) add(field, problem string, allowed ...string) {
	if !p.full() {
		p.details = append(p.details, Detail{Field: field, Problem: problem, Allowed: allowed})
	}
}

// size checks that the nodes are not too many, and that they do not show too much text.
func (p *problems) size(field string, nodes []Node) {
	switch all := measure(nodes, 0); {
	case all.nodes > MaxDocumentNodes:
		p.add(field, ProblemNodes)
	case all.text > MaxPage:
		p.add(field, problemText)
	}
}

const problemEnum = "has no value that is allowed"

func (p *problems) children(field string, nodes []Node, rule *childRule, depth int) {
	if depth > maxDocumentDepth && len(nodes) > 0 {
		p.add(field, fmt.Sprintf("is nested deeper than %d levels", maxDocumentDepth))
		return
	}
	if len(nodes) < rule.least {
		p.add(field, fmt.Sprintf("must have at least %d nodes", rule.least))
	}
	if rule.most > 0 && len(nodes) > rule.most {
		p.add(field, fmt.Sprintf("must have at most %d nodes", rule.most))
	}
	for i := range nodes {
		if p.full() {
			return
		}
		p.node(index(field, i), &nodes[i], rule, depth)
	}
}

// node checks that a node is allowed at its place, and that it is valid for its kind.
func (p *problems) node(field string, n *Node, allowed *childRule, depth int) {
	rule := &textNode
	switch {
	case n.Object == ObjectText && allowed.text:
	case n.Object == ObjectText || n.Object == ObjectFragment:
		p.add(join(field, "object"), problemEnum, allowed.objects()...)
		return
	case !slices.Contains(allowed.types, n.Type):
		p.add(join(field, "type"), problemEnum, allowed.types...)
		return
	default:
		rule = nodeRules[n.Type]
	}
	if n.Object != rule.object {
		p.add(join(field, "object"), problemEnum, rule.object)
	}
	if rule != &textNode && (n.IsVoid == nil || *n.IsVoid != rule.void) {
		p.add(join(field, "isVoid"), problemEnum, strconv.FormatBool(rule.void))
	}
	p.body(field, n, rule, depth)
	p.fragments(field, n, rule, depth)
}

// body checks the members that nodes of all classes may have.
func (p *problems) body(field string, n *Node, rule *nodeRule, depth int) {
	p.text(join(field, "key"), n.Key)
	if n.Data != nil || rule.dataRequired {
		p.object(join(field, "data"), n.Data, rule.data)
	}
	if n.Meta != nil {
		p.object(join(field, "meta"), n.Meta, rule.meta)
	}
	if rule.nodes != nil {
		p.children(join(field, "nodes"), n.Nodes, rule.nodes, depth+1)
	} else if len(n.Nodes) > 0 {
		p.add(join(field, "nodes"), "must not be given for this type")
	}
	if rule == &textNode {
		p.leaves(join(field, "leaves"), n.Leaves)
	} else if len(n.Leaves) > 0 {
		p.add(join(field, "leaves"), "must not be given for this type")
	}
}

func (p *problems) fragments(field string, n *Node, rule *nodeRule, depth int) {
	field = join(field, "fragments")
	if rule.fragments == nil && len(n.Fragments) > 0 {
		p.add(field, "must not be given for this type")
		return
	}
	for i := range n.Fragments {
		at, f := index(field, i), &n.Fragments[i]
		p.text(join(at, "fragment"), f.Fragment)
		p.text(join(at, "type"), f.Type)
		if f.Object != ObjectFragment {
			p.add(join(at, "object"), problemEnum, ObjectFragment)
		}
		kind := slices.IndexFunc(rule.fragments, func(r fragmentRule) bool {
			return (r.fragment == "" || r.fragment == f.Fragment) && (r.kind == "" || r.kind == f.Type)
		})
		if kind < 0 {
			p.add(join(at, "fragment"), problemEnum, rule.fragmentNames()...)
			continue
		}
		p.body(at, f, &nodeRule{nodes: &rule.fragments[kind].nodes}, depth)
	}
}

func (p *problems) leaves(field string, leaves []Leaf) {
	for i := range leaves {
		if p.full() {
			return
		}
		leaf, at := &leaves[i], index(field, i)
		if leaf.Object != ObjectLeaf {
			p.add(join(at, "object"), problemEnum, ObjectLeaf)
		}
		p.text(join(at, "text"), leaf.Text)
		for j := range leaf.Marks {
			mark, at := &leaf.Marks[j], index(join(at, "marks"), j)
			if mark.Object != ObjectMark {
				p.add(join(at, "object"), problemEnum, ObjectMark)
			}
			rule, ok := markRules[mark.Type]
			switch {
			case !ok:
				p.add(join(at, "type"), problemEnum, markTypes()...)
			case rule != nil:
				p.object(join(at, "data"), mark.Data, rule)
			default:
				p.clean(join(at, "data"), map[string]any(mark.Data), 0)
			}
		}
	}
}

// object checks the members for which the rule has a row. Clients may use other members for their own data. These
// members stay in the document if the database can store them.
func (p *problems) object(field string, data Data, rule *objectRule) {
	if rule != nil {
		for _, m := range rule.members {
			value, given := data[m.name]
			switch {
			case given:
				m.check(p, join(field, m.name), value)
			case m.required && (m.unless == "" || data[m.unless] == nil):
				p.add(join(field, m.name), "is required")
			}
		}
	}
	p.clean(field, map[string]any(data), 0)
}

// clean adds problems for content that no value may have: the character U+0000, and too deep nesting.
func (p *problems) clean(field string, value any, depth int) {
	if depth > maxDocumentDepth {
		p.add(field, fmt.Sprintf("is nested deeper than %d levels", maxDocumentDepth))
		return
	}
	switch value := value.(type) {
	case string:
		p.text(field, value)
	case []any:
		for i, item := range value {
			p.clean(index(field, i), item, depth+1)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			p.text(join(field, "*"), name)
			p.clean(joinKey(field, name), value[name], depth+1)
		}
	}
}

func (p *problems) text(field, value string) {
	if strings.ContainsRune(value, 0) {
		p.add(field, problemNUL)
	}
}

func join(field, member string) string {
	if field == "" {
		return member
	}
	return field + "." + member
}

// joinKey joins a path and a name that the client has chosen. The path shows the name only if the name has the form of
// an id. Any other name might contain any text.
func joinKey(field, name string) string {
	if !ValidID(name) {
		name = "*"
	}
	return join(field, name)
}

func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// ContentRefProblems lists the problems of a reference to content that is outside of a document. A reference has `kind`
// and the members of this kind.
func ContentRefProblems(field string, ref Data) []Detail {
	p := &problems{}
	contentRef(p, field, map[string]any(ref))
	p.clean(field, map[string]any(ref), 0)
	return p.details
}

// NormalizeBlock normalizes a block outside of a document in the same way as Normalize does for a document.
func NormalizeBlock(n *Node) { n.normalize() }

// BlockProblems lists the problems of a block outside of a document.
func BlockProblems(field string, n Node) []Detail {
	p := &problems{}
	if p.size(field, []Node{n}); p.details != nil {
		return p.details
	}
	p.node(field, &n, &childRule{types: anyBlocks}, 1)
	return p.details
}
