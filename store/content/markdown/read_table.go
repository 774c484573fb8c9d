package markdown

import (
	"fmt"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// table makes a grid of text columns. Its ids and names are counters: they must be unique only within the table.
func (r *reader) table(n ast.Node, parent string) []schema.Node {
	r.inCell = true
	defer func() { r.inCell = false }()
	if !schema.Allows(parent, "table") {
		return r.tableParagraphs(n)
	}
	columns, definition, records := []any{}, map[string]any{}, map[string]any{}
	var fragments []schema.Node
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		if row.Kind() == east.KindTableHeader {
			columns = r.tableColumns(row, definition)
			continue
		}
		id, values, at := fmt.Sprintf("r%d", len(records)+1), map[string]any{}, 0
		for cell := row.FirstChild(); cell != nil && at < len(columns); cell = cell.NextSibling() {
			column := columns[at].(string)
			at++
			name := id + column
			values[column] = name
			fragments = append(fragments, schema.Node{
				Object: schema.ObjectFragment, Fragment: name, Nodes: []schema.Node{schema.Block("paragraph", r.inlines(cell)...)},
			})
		}
		records[id] = map[string]any{"orderIndex": fmt.Sprintf("%06d", len(records)+1), "values": values}
	}
	view := map[string]any{"type": "grid", "columns": columns, "hideHeader": false}
	data := schema.Data{"view": view, "records": records, "definition": definition}
	return []schema.Node{{Type: "table", Data: data, Fragments: fragments}}
}

func (r *reader) tableColumns(header ast.Node, definition map[string]any) []any {
	columns := []any{}
	for cell := header.FirstChild(); cell != nil; cell = cell.NextSibling() {
		alignment := "left"
		switch cell.(*east.TableCell).Alignment {
		case east.AlignCenter:
			alignment = "center"
		case east.AlignRight:
			alignment = "right"
		case east.AlignLeft, east.AlignNone:
		}
		id := fmt.Sprintf("c%d", len(columns)+1)
		columns = append(columns, id)
		definition[id] = map[string]any{
			"id": id, "title": content.InlineText(r.inlines(cell)), "type": "text", "textAlignment": alignment,
		}
	}
	return columns
}

// tableParagraphs replaces a table where none is allowed: a paragraph per row.
func (r *reader) tableParagraphs(n ast.Node) []schema.Node {
	var paragraphs []schema.Node
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var b inlineBuilder
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if !b.empty() {
				b.text(" | ")
			}
			r.inline(&b, cell)
		}
		if !b.empty() {
			paragraphs = append(paragraphs, schema.Block("paragraph", b.inlines()...))
		}
	}
	return paragraphs
}
