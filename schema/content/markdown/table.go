package markdown

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// A table is written as Markdown if Markdown can express all of it, and otherwise as GitBook's HTML. When a table is
// read, its columns, rows and cells get numbered names: c1, r1, r1c1. A title with marks also has a fragment, such as
// hc1.

// tableBuilder collects the parts of a table while it is read.
type tableBuilder struct {
	node       schema.Node
	columns    []map[string]any // the definitions
	shown      []any
	records    map[string]any
	definition map[string]any
}

func newTableBuilder() *tableBuilder {
	return &tableBuilder{node: schema.Node{Type: "table"}, shown: []any{}, records: map[string]any{}, definition: map[string]any{}}
}

// column adds a column with a title, and returns its id.
func (t *tableBuilder) column(title []schema.Node, about map[string]any, hidden bool) string {
	id := "c" + strconv.Itoa(len(t.columns)+1)
	about["id"], about["title"] = id, content.InlineText(title)
	if about["type"] == nil {
		about["type"] = "text"
	}
	if about["type"] == "text" && about["textAlignment"] == nil {
		about["textAlignment"] = "left"
	}
	if len(title) > 0 && !isPlain(title) {
		t.fragment(headerName(id), []schema.Node{schema.Block("paragraph", title...)})
	}
	t.columns, t.definition[id] = append(t.columns, about), about
	if !hidden {
		t.shown = append(t.shown, id)
	}
	return id
}

func headerName(id string) string { return "h" + id }

func (t *tableBuilder) fragment(name string, blocks []schema.Node) {
	t.node.Fragments = append(t.node.Fragments, schema.Node{Object: schema.ObjectFragment, Fragment: name, Nodes: blocks})
}

// row adds a record, and returns the record's name and its values.
func (t *tableBuilder) row() (string, map[string]any) {
	name, values := "r"+strconv.Itoa(len(t.records)+1), map[string]any{}
	t.records[name] = map[string]any{"orderIndex": fmt.Sprintf("%06d", len(t.records)+1), "values": values}
	return name, values
}

func (t *tableBuilder) build(view map[string]any) schema.Node {
	view["columns"] = t.shown
	t.node.Data = schema.Data{"view": view, "records": t.records, "definition": t.definition}
	return t.node
}

// tableView is a table block with its columns and rows in the order in which they are written.
type tableView struct {
	view    map[string]any
	data    schema.Data
	columns []tableColumn
	rows    [][]tableCell
}

type tableColumn struct {
	id     string
	about  map[string]any
	kind   string
	hidden bool
	title  []schema.Node
}

type tableCell struct {
	value  any
	blocks []schema.Node // the blocks of a text cell
}

func viewOf(n *schema.Node) tableView {
	v := tableView{data: n.Data}
	v.view, _ = n.Data["view"].(map[string]any)
	definition, _ := n.Data["definition"].(map[string]any)
	records, _ := n.Data["records"].(map[string]any)
	fragments := map[string][]schema.Node{}
	for _, fragment := range n.Fragments {
		fragments[fragment.Fragment] = fragment.Nodes
	}
	for _, id := range columnOrder(v.view, definition) {
		column := tableColumn{id: id.name, hidden: id.hidden}
		column.about, _ = definition[id.name].(map[string]any)
		column.kind = content.Member(column.about, "type")
		title := content.Member(column.about, "title")
		if header := content.Inlines(fragments[headerName(id.name)]); len(header) > 0 && content.InlineText(header) == title {
			column.title = header
		} else if title != "" {
			column.title = []schema.Node{schema.Text(title)}
		}
		v.columns = append(v.columns, column)
	}
	for _, record := range content.InOrder(records) {
		values, _ := record["values"].(map[string]any)
		row := make([]tableCell, len(v.columns))
		for i, column := range v.columns {
			row[i].value = values[column.id]
			name, isText := row[i].value.(string)
			if blocks, named := fragments[name]; isText && named {
				row[i].blocks = blocks
			} else if column.kind == "text" || column.kind == "" {
				if inlines := content.CellText(row[i].value); len(inlines) > 0 {
					row[i].blocks = []schema.Node{schema.Block("paragraph", inlines...)}
				}
			}
		}
		v.rows = append(v.rows, row)
	}
	return v
}

type columnName struct {
	name   string
	hidden bool
}

// columnOrder returns the columns of the view and the hidden columns. If the columns of the view are sorted by name,
// the hidden columns are sorted into them by name. Otherwise the hidden columns are at the end.
func columnOrder(view, definition map[string]any) []columnName {
	var order []columnName
	shown := map[string]bool{}
	columns, _ := view["columns"].([]any)
	for _, column := range columns {
		if id, ok := column.(string); ok && !shown[id] {
			shown[id] = true
			order = append(order, columnName{name: id})
		}
	}
	byName := func(a, b columnName) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	}
	sorted := slices.IsSortedFunc(order, byName)
	for _, name := range slices.Sorted(maps.Keys(definition)) {
		if _, ok := definition[name].(map[string]any); ok && !shown[name] {
			order = append(order, columnName{name, true})
		}
	}
	if sorted {
		slices.SortStableFunc(order, byName)
	}
	return order
}

// cardRoles has the attributes that say how cards use a column. It also has the members of the view that have the name
// of this column.
var cardRoles = []struct{ name, member string }{
	{"data-card-target", "targetDefinition"},
	{"data-card-cover", "coverDefinition"},
	{"data-card-cover-dark", "coverDefinitionDark"},
}

// tableFlags has the attributes of a table element that become data of the node.
var tableFlags = []string{"data-view", "data-card-size", "data-header-hidden", "data-full-width"}

var columnFlags = []string{"width", "align", "valign", "data-type", "data-hidden", "data-multiple", "data-max",
	"data-card-target", "data-card-cover", "data-card-cover-dark", "colspan", "rowspan"}
