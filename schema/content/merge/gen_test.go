package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// writer generates random documents and edits. Each generated word is unique, so a test can follow the word through a
// merge.
type writer struct {
	t    *rapid.T
	next *int
	name string
}

func (w writer) word() string {
	*w.next++
	return fmt.Sprintf("%s%d", w.name, *w.next)
}

func (w writer) between(low, high int) int { return rapid.IntRange(low, high).Draw(w.t, w.name) }

func (w writer) text(words int) schema.Node {
	n := schema.Node{Object: schema.ObjectText}
	for range words {
		leaf := schema.Leaf{Text: w.word() + " "}
		if w.between(0, 4) == 0 {
			leaf.Marks = []schema.Mark{{Type: "bold"}}
		}
		n.Leaves = append(n.Leaves, leaf)
	}
	return n
}

func (w writer) block(parent string, depth int) schema.Node {
	kinds := []string{"paragraph", "paragraph", "heading-2"}
	if depth > 0 {
		for _, kind := range []string{"hint", "list-unordered", "code", "table", "expandable"} {
			if schema.Allows(parent, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	kind := rapid.SampledFrom(kinds).Draw(w.t, w.name)
	n := schema.Block(kind)
	switch kind {
	case "hint":
		n.Data = schema.Data{"style": "info"}
		n.Nodes = w.blocks(kind, depth-1, 1, 3)
	case "list-unordered":
		for range w.between(1, 3) {
			n.Nodes = append(n.Nodes, schema.Block("list-item", w.blocks("list-item", depth-1, 1, 2)...))
		}
	case "code":
		for range w.between(1, 4) {
			n.Nodes = append(n.Nodes, schema.Block("code-line", w.text(2)))
		}
	case "expandable":
		n.Fragments = []schema.Node{
			{Fragment: "expandable-title", Nodes: []schema.Node{schema.Block("paragraph", w.text(2))}},
			{Fragment: "expandable-body", Nodes: []schema.Node{schema.Block("paragraph", w.text(3)), schema.Block("paragraph", w.text(3))}},
		}
	case "table":
		records := map[string]any{}
		for row := range w.between(1, 3) {
			name := fmt.Sprintf("r%dc1", row+1)
			records[fmt.Sprintf("r%d", row+1)] = map[string]any{
				"orderIndex": fmt.Sprintf("%06d", row+1), "values": map[string]any{"c1": name, "c2": w.word()},
			}
			n.Fragments = append(n.Fragments, schema.Node{
				Object: schema.ObjectFragment, Fragment: name, Nodes: []schema.Node{schema.Block("paragraph", w.text(3))},
			})
		}
		column := func(id string) map[string]any {
			return map[string]any{"id": id, "title": w.word(), "type": "text", "textAlignment": "left"}
		}
		n.Data = schema.Data{
			"view":       map[string]any{"type": "grid", "columns": []any{"c1", "c2"}, "hideHeader": false},
			"definition": map[string]any{"c1": column("c1"), "c2": column("c2")}, "records": records,
		}
	default:
		n.Nodes = []schema.Node{w.text(w.between(1, 8))}
	}
	return n
}

func (w writer) blocks(parent string, depth, least, most int) []schema.Node {
	var list []schema.Node
	for range w.between(least, most) {
		list = append(list, w.block(parent, depth))
	}
	return list
}

func (w writer) document() schema.Document {
	d := schema.NewDocument(w.blocks("", 2, 0, 6)...)
	keys.Assign(&d, nil)
	return d
}

// copyOf copies a document by encoding and decoding it as JSON. So the copies share no memory.
func copyOf(d schema.Document) schema.Document {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	var c schema.Document
	if err := json.Unmarshal(text, &c); err != nil {
		panic(err)
	}
	c.Normalize()
	return c
}

// listAt is a list of blocks in a document. An edit may change such a list.
type listAt struct {
	list   *[]schema.Node
	parent string
}

func listsOf(nodes *[]schema.Node, parent string, out *[]listAt) {
	*out = append(*out, listAt{nodes, parent})
	for i := range *nodes {
		n := &(*nodes)[i]
		if n.Type == "hint" || n.Type == "list-unordered" || n.Type == "list-item" || n.Type == "code" {
			listsOf(&n.Nodes, n.Type, out)
		}
		for j := range n.Fragments {
			if n.Type != "table" && n.Fragments[j].Fragment != "expandable-title" {
				listsOf(&n.Fragments[j].Nodes, "expandable", out)
			}
		}
	}
}

// edit changes a document at a few places, at most `most`.
func (w writer) edit(from schema.Document, most int) schema.Document {
	d := copyOf(from)
	for range w.between(0, most) {
		w.step(&d)
	}
	d.Normalize()
	keys.Assign(&d, &from)
	return d
}

func (w writer) step(d *schema.Document) {
	var lists []listAt
	listsOf(&d.Nodes, "", &lists)
	at := lists[w.between(0, len(lists)-1)]
	list := at.list
	i := w.between(0, len(*list))
	switch op := w.between(0, 6); {
	case op == 0:
		kind := map[string]string{"list-unordered": "list-item", "code": "code-line"}[at.parent]
		switch kind {
		case "list-item":
			*list = slices.Insert(*list, i, schema.Block(kind, schema.Block("paragraph", w.text(2))))
		case "code-line":
			*list = slices.Insert(*list, i, schema.Block(kind, w.text(2)))
		default:
			*list = slices.Insert(*list, i, w.block("hint", 0))
		}
	case i == len(*list):
	case op == 1 && (at.parent != "expandable" || len(*list) > 1):
		*list = slices.Delete(*list, i, i+1)
	case op == 2: // the block moves within its list
		n := (*list)[i]
		*list = slices.Insert(slices.Delete(*list, i, i+1), w.between(0, len(*list)-1), n)
	// The block moves to another list.
	case op == 3 && (*list)[i].Type == "paragraph" && (at.parent == "" || at.parent == "hint"):
		to := lists[w.between(0, len(lists)-1)]
		if to.list == list || to.parent != "" && to.parent != "hint" && to.parent != "list-item" {
			return
		}
		n := (*list)[i]
		(*list)[i].Type = "gone" // sweep removes the marked node; append may move the lists in memory
		*to.list = append(*to.list, n)
		d.Nodes = sweep(d.Nodes)
	default:
		w.change(&(*list)[i])
	}
}

func sweep(nodes []schema.Node) []schema.Node {
	nodes = slices.DeleteFunc(nodes, func(n schema.Node) bool { return n.Type == "gone" })
	for i := range nodes {
		nodes[i].Nodes, nodes[i].Fragments = sweep(nodes[i].Nodes), sweep(nodes[i].Fragments)
	}
	return nodes
}

// change edits the block itself, not its place.
func (w writer) change(n *schema.Node) {
	switch {
	case n.Type == "hint":
		n.Data["style"] = rapid.SampledFrom([]string{"info", "warning", "danger"}).Draw(w.t, w.name)
	case n.Type == "table":
		w.changeTable(n)
	case n.Type == "heading-2" && w.between(0, 2) == 0:
		n.Type = "heading-3"
	case len(n.Nodes) == 1 && n.Nodes[0].Object == schema.ObjectText && len(n.Nodes[0].Leaves) > 0:
		text := &n.Nodes[0]
		var words []string
		for _, leaf := range text.Leaves {
			words = append(words, strings.Fields(leaf.Text)...)
		}
		if len(words) == 0 {
			return
		}
		at := w.between(0, len(words)-1)
		switch w.between(0, 2) {
		case 0:
			words[at] = w.word()
		case 1:
			words = slices.Insert(words, at, w.word())
		default:
			words = slices.Delete(words, at, at+1)
		}
		leaf := schema.Leaf{Text: strings.Join(words, " ") + " "}
		text.Leaves = []schema.Leaf{leaf}
	}
}

func (w writer) changeTable(n *schema.Node) {
	records := n.Data["records"].(map[string]any)
	ids := keys.RowOrder(records)
	switch op := w.between(0, 4); {
	case op == 0:
		id := "r" + w.word()
		values := map[string]any{"c1": id + "c1"}
		if n.Data["definition"].(map[string]any)["c2"] != nil {
			values["c2"] = w.word()
		}
		records[id] = map[string]any{"orderIndex": "5" + id, "values": values}
		n.Fragments = append(n.Fragments, schema.Node{
			Object: schema.ObjectFragment, Fragment: id + "c1", Nodes: []schema.Node{schema.Block("paragraph", w.text(2))},
		})
	case len(ids) == 0:
	case op == 1:
		id := ids[w.between(0, len(ids)-1)]
		values, _ := records[id].(map[string]any)["values"].(map[string]any)
		n.Fragments = slices.DeleteFunc(n.Fragments, func(f schema.Node) bool { return f.Fragment == values["c1"] })
		delete(records, id)
	case op == 2:
		id := ids[w.between(0, len(ids)-1)]
		values, _ := records[id].(map[string]any)["values"].(map[string]any)
		values["c2"] = w.word()
		if definition := n.Data["definition"].(map[string]any); definition["c2"] == nil {
			delete(values, "c2")
		}
	case op == 3 && len(n.Fragments) > 0:
		if cell := n.Fragments[w.between(0, len(n.Fragments)-1)].Nodes; len(cell) > 0 {
			w.change(&cell[0])
		}
	case op == 4:
		delete(n.Data["definition"].(map[string]any), "c2")
		n.Data["view"].(map[string]any)["columns"] = []any{"c1"}
		for _, id := range ids {
			delete(records[id].(map[string]any)["values"].(map[string]any), "c2")
		}
	}
}

func jsonOf(value any) string { return string(canonicalJSON(value)) }

// wordsIn returns how often each generated word occurs in the JSON of a value.
func wordsIn(value any) map[string]int {
	count := map[string]int{}
	for word := range strings.FieldsFuncSeq(jsonOf(value), func(r rune) bool { return r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' }) {
		for _, name := range []string{"base", "ours", "theirs"} {
			if digits, ok := strings.CutPrefix(word, name); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
				count[word]++
			}
		}
	}
	return count
}

// outline returns blocks in one line.
func outline(nodes []schema.Node) string {
	var parts []string
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Object == schema.ObjectText:
			text := ""
			for _, leaf := range n.Leaves {
				text += leaf.Text
				for _, mark := range leaf.Marks {
					text += "." + mark.Type
				}
			}
			parts = append(parts, "'"+text+"'")
		default:
			part := n.Type + n.Fragment
			if n.Key != "" {
				part += "#" + n.Key[:min(3, len(n.Key))]
			}
			for _, member := range []string{"style", "records", "definition"} {
				if value, ok := n.Data[member]; ok {
					part += " " + jsonOf(value)
				}
			}
			parts = append(parts, part+"("+outline(append(slices.Clone(n.Nodes), n.Fragments...))+")")
		}
	}
	return strings.Join(parts, " ")
}

func shortOf(base, ours, theirs, merged schema.Document, found []Conflict) string {
	text := ""
	for i, name := range []string{"base", "ours", "theirs", "merged"} {
		text += "\n" + name + ": " + outline([]schema.Document{base, ours, theirs, merged}[i].Nodes)
	}
	for _, c := range found {
		text += fmt.Sprintf("\n%s %s %s", c.Kind, c.Block, c.Path)
	}
	return text
}
