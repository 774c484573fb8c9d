package markdown

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// table reads a table of Markdown.
func (r *reader) table(n ast.Node) []schema.Node {
	r.inCell = true
	defer func() { r.inCell = false }()
	t := newTableBuilder()
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		if row.Kind() == east.KindTableHeader {
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				t.column(r.inlines(cell), map[string]any{"textAlignment": cellAlignment(cell)}, false)
			}
			continue
		}
		name, values := t.row()
		at := 0
		for cell := row.FirstChild(); cell != nil && at < len(t.shown); cell = cell.NextSibling() {
			column := t.shown[at].(string)
			at++
			values[column] = name + column
			t.fragment(name+column, []schema.Node{schema.Block("paragraph", r.inlines(cell)...)})
		}
	}
	return []schema.Node{t.build(map[string]any{"type": "grid", "hideHeader": false})}
}

func cellAlignment(cell ast.Node) string {
	switch cell.(*east.TableCell).Alignment {
	case east.AlignCenter:
		return "center"
	case east.AlignRight:
		return "right"
	case east.AlignLeft, east.AlignNone:
	}
	return "left"
}

// largeTableSyntax is the language of the code block of a table with too many cells.
const largeTableSyntax = "octavo-table"

// largeTable writes a table with too many cells as a code block with the table's node as JSON. So the empty cells cost
// nothing, and the text has all values.
func largeTable(n *schema.Node) string {
	text, err := json.Marshal(n, json.Deterministic(true))
	if err != nil { // cannot happen, because the node came from JSON
		return escaped(content.Label(n))
	}
	return fenced(largeTableSyntax, string(text))
}

// table writes a table.
func (w writer) table(n *schema.Node) string {
	if content.TooLarge(n) {
		return largeTable(n)
	}
	v := viewOf(n)
	if len(v.columns) == 0 {
		return ""
	}
	if !v.simple() {
		return v.html()
	}
	titles, rule := make([]string, len(v.columns)), make([]string, len(v.columns))
	for i, column := range v.columns {
		titles[i] = w.inline(column.title, inCell)
		aligned := map[string]string{"center": ":---:", "right": "---:"}
		rule[i] = cmp.Or(aligned[content.Member(column.about, "textAlignment")], "---")
	}
	lines := []string{tableRow(titles), tableRow(rule)}
	for _, cells := range v.rows {
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = w.inline(content.Inlines(cell.blocks), inCell)
		}
		lines = append(lines, tableRow(row))
	}
	return strings.Join(lines, "\n")
}

// simple reports whether a Markdown table can express the table.
func (v *tableView) simple() bool {
	if v.view["type"] == "cards" || v.view["hideHeader"] == true || len(stringMap(v.view["columnWidths"])) > 0 ||
		v.data["fullWidth"] != nil || len(stringMap(v.data[memberAttributes])) > 0 {
		return false
	}
	for i, column := range v.columns {
		if column.hidden || column.kind != "text" && column.kind != "" || column.about["verticalAlignment"] != nil ||
			len(stringMap(column.about[memberAttributes])) > 0 {
			return false
		}
		for _, row := range v.rows {
			blocks := row[i].blocks
			if len(blocks) > 1 ||
				len(blocks) == 1 &&
					(blocks[0].Type != "paragraph" || attributed(&blocks[0]) || keptSource(&blocks[0]) != "") {
				return false
			}
		}
	}
	return true
}

func tableRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }
