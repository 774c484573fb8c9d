package content

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/octavo-docs/octavo/schema"
)

// labels has a row per kind of node that shows text which is not in its children.
var labels = map[string]func(data schema.Data) string{
	"emoji":             func(d schema.Data) string { return emoji(member(d, "code")) },
	"icon":              func(d schema.Data) string { return ":" + member(d, "icon") + ":" },
	"expression":        func(d schema.Data) string { return "{{" + member(d, "expression") + "}}" },
	"inline-math":       func(d schema.Data) string { return member(d, "formula") },
	"inline-image":      func(d schema.Data) string { return cmp.Or(member(d, "alt"), member(d, "caption")) },
	"mention":           func(d schema.Data) string { return refLabel(d["ref"]) },
	"button":            func(d schema.Data) string { return member(d, "label") },
	"math":              func(d schema.Data) string { return member(d, "formula") },
	"image":             func(d schema.Data) string { return member(d, "alt") },
	"file":              func(d schema.Data) string { return refLabel(d["ref"]) },
	"drawing":           func(d schema.Data) string { return refLabel(d["ref"]) },
	"embed":             func(d schema.Data) string { return member(d, "url") },
	"content-ref":       func(d schema.Data) string { return refLabel(d["ref"]) },
	"reusable-content":  func(d schema.Data) string { return refLabel(d["ref"]) },
	"swagger":           methodAndPath,
	"openapi-operation": methodAndPath,
	"openapi-webhook": func(d schema.Data) string {
		return strings.TrimSpace(strings.ToUpper(member(d, "method")) + " " + member(d, "name"))
	},
	"openapi-schemas": func(d schema.Data) string {
		names, _ := d["schemas"].([]any)
		return strings.Join(texts(names), ", ")
	},
	"integration": func(d schema.Data) string {
		return cmp.Or(member(d, "url"), member(d, "integration")+"/"+member(d, "block"))
	},
	"tabs-item": func(d schema.Data) string { return member(d, "title") },
	"code":      func(d schema.Data) string { return member(d, "title") },
}

func methodAndPath(d schema.Data) string {
	return strings.TrimSpace(strings.ToUpper(member(d, "method")) + " " + member(d, "path"))
}

// member gives a text of the data as it can be stored and shown.
func member(data map[string]any, name string) string {
	value, _ := data[name].(string)
	return clean(value)
}

func texts(values []any) []string {
	var list []string
	for _, value := range values {
		if text, ok := value.(string); ok {
			list = append(list, clean(text))
		}
	}
	return list
}

func labelOf(n *schema.Node) string {
	if label, ok := labels[n.Type]; ok {
		return label(n.Data)
	}
	return ""
}

// refLabel is what a reader sees of a reference that has no text of its own.
func refLabel(value any) string {
	return clean(strings.TrimPrefix(linkOf(value), refScheme+":"))
}

// emoji turns a code ("1f468-200d-1f4bb") into its characters.
func emoji(code string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(code, "-") {
		point, err := strconv.ParseUint(part, 16, 32)
		if err != nil || point < ' ' || point > unicode.MaxRune || (point >= 0xD800 && point < 0xE000) {
			return ":" + code + ":"
		}
		b.WriteRune(rune(point))
	}
	return b.String()
}

// Plain gives the text of a document without its form, a line per block, for search and for counting.
func Plain(d schema.Document) string {
	var b strings.Builder
	for i := range d.Nodes {
		plainBlock(&b, &d.Nodes[i])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func plainBlock(b *strings.Builder, n *schema.Node) {
	if n.Type == "table" {
		for _, row := range tableOf(n).allRows() {
			line(b, strings.Join(row, "\t"))
		}
		return
	}
	line(b, labelOf(n))
	if holdsText(n) {
		line(b, plainNodes(n.Nodes))
	} else {
		for i := range n.Nodes {
			plainBlock(b, &n.Nodes[i])
		}
	}
	for i := range n.Fragments {
		for j := range n.Fragments[i].Nodes {
			plainBlock(b, &n.Fragments[i].Nodes[j])
		}
	}
}

func line(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString(text)
		b.WriteByte('\n')
	}
}

// holdsText says whether the children are text and inlines.
func holdsText(n *schema.Node) bool {
	return slices.ContainsFunc(n.Nodes, func(child schema.Node) bool {
		return child.Object == schema.ObjectText || child.Object == schema.ObjectInline
	})
}

// plainNodes gives the text of inlines.
func plainNodes(nodes []schema.Node) string {
	var b strings.Builder
	for i := range nodes {
		n := &nodes[i]
		b.WriteString(plainLeaves(n.Leaves))
		b.WriteString(labelOf(n))
		b.WriteString(plainNodes(n.Nodes))
		if note := annotation(n); note != "" {
			b.WriteString(" (" + note + ")")
		}
	}
	return b.String()
}

func plainLeaves(leaves []schema.Leaf) string {
	var b strings.Builder
	for _, leaf := range leaves {
		b.WriteString(clean(leaf.Text))
	}
	return b.String()
}

// annotation gives the note of an inline that has one.
func annotation(n *schema.Node) string {
	if n.Type != "annotation" {
		return ""
	}
	var b strings.Builder
	for i := range n.Fragments {
		for j := range n.Fragments[i].Nodes {
			plainBlock(&b, &n.Fragments[i].Nodes[j])
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", " ")
}

// table is a table block with its members in the order in which they are shown.
type table struct {
	titles     []string
	alignments []string
	cells      [][][]schema.Node // by row and column: inlines
}

// tableOf reads a table block, and what is missing in it as empty.
func tableOf(n *schema.Node) table {
	view, _ := n.Data["view"].(map[string]any)
	definition, _ := n.Data["definition"].(map[string]any)
	records, _ := n.Data["records"].(map[string]any)
	columns, _ := view["columns"].([]any)
	var t table
	var ids []string
	for _, column := range columns {
		if id, ok := column.(string); ok {
			about, _ := definition[id].(map[string]any)
			ids = append(ids, id)
			t.titles = append(t.titles, member(about, "title"))
			t.alignments = append(t.alignments, member(about, "textAlignment"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(definition)) {
		// Columns that the view does not show are not lost.
		if about, ok := definition[name].(map[string]any); ok && !slices.Contains(ids, name) {
			ids = append(ids, name)
			t.titles = append(t.titles, member(about, "title"))
			t.alignments = append(t.alignments, member(about, "textAlignment"))
		}
	}
	fragments := map[string][]schema.Node{}
	for _, fragment := range n.Fragments {
		fragments[fragment.Fragment] = inlinesOf(fragment.Nodes)
	}
	for _, record := range inOrder(records) {
		values, _ := record["values"].(map[string]any)
		row := make([][]schema.Node, len(ids))
		for i, id := range ids {
			row[i] = cellOf(values[id], fragments)
		}
		t.cells = append(t.cells, row)
	}
	return t
}

func inOrder(records map[string]any) []map[string]any {
	names := slices.Sorted(maps.Keys(records))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(orderIndex(records[a]), orderIndex(records[b]))
	})
	list := make([]map[string]any, len(names))
	for i, name := range names {
		list[i], _ = records[name].(map[string]any)
	}
	return list
}

func orderIndex(record any) string {
	members, _ := record.(map[string]any)
	return member(members, "orderIndex")
}

// inlinesOf puts the blocks of a cell into one line.
func inlinesOf(blocks []schema.Node) []schema.Node {
	var inlines []schema.Node
	for i := range blocks {
		if len(inlines) > 0 {
			inlines = append(inlines, schema.Text(" "))
		}
		if holdsText(&blocks[i]) {
			inlines = append(inlines, blocks[i].Nodes...)
			continue
		}
		var b strings.Builder
		plainBlock(&b, &blocks[i])
		if text := strings.TrimSuffix(b.String(), "\n"); text != "" {
			inlines = append(inlines, schema.Text(text))
		}
	}
	return inlines
}

// cellOf gives what a cell shows: its fragment if the value names one, else the value.
func cellOf(value any, fragments map[string][]schema.Node) []schema.Node {
	var text string
	switch value := value.(type) {
	case string:
		if nodes, ok := fragments[value]; ok {
			return nodes
		}
		text = clean(value)
	case float64:
		text = strconv.FormatFloat(value, 'f', -1, 64)
	case bool:
		text = strconv.FormatBool(value)
	case []any:
		text = strings.Join(texts(value), ", ")
	case map[string]any:
		text = refLabel(value)
		if ref, ok := value["ref"]; ok {
			text = cmp.Or(member(value, "alt"), refLabel(ref))
		}
	}
	if text == "" {
		return nil
	}
	return []schema.Node{schema.Text(text)}
}

// allRows gives the titles and the rows as text.
func (t table) allRows() [][]string {
	rows := [][]string{t.titles}
	for _, cells := range t.cells {
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = strings.ReplaceAll(plainNodes(cell), "\n", " ")
		}
		rows = append(rows, row)
	}
	return rows
}
