package content

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// Table is a table block. Its columns and rows are in the order in which they are shown.
type Table struct {
	Titles     []string
	Alignments []string
	Cells      [][][]schema.Node // inlines of the cells, by row and column
}

// OptionLabels remembers the labels of the options of columns, by the first option of a column. So the options are read
// once for all cells.
type OptionLabels map[*any]map[string]string

// Of returns the labels of a column's options, by value. If two options have the same value, the first one counts.
func (l OptionLabels) Of(about map[string]any) map[string]string {
	options, _ := about["options"].([]any)
	if len(options) == 0 {
		return nil
	}
	labels, known := l[&options[0]]
	if known {
		return labels
	}
	labels = make(map[string]string, len(options))
	for _, option := range options {
		o, _ := option.(map[string]any)
		value := Member(o, "value")
		if _, given := labels[value]; !given && o != nil {
			labels[value] = Member(o, "label")
		}
	}
	l[&options[0]] = labels
	return labels
}

// TooLarge reports whether a table has more cells than a document may have. Such a table was stored before this limit.
// It is shown as the text of its values.
func TooLarge(n *schema.Node) bool { return schema.Document{Nodes: []schema.Node{*n}}.TooLarge() }

// TableOf reads a table block. It treats missing parts as empty. If the table is too large, a row has only the cells
// with a value, and each fragment is in one cell.
func TableOf(n *schema.Node) Table {
	view, _ := n.Data["view"].(map[string]any)
	definition, _ := n.Data["definition"].(map[string]any)
	records, _ := n.Data["records"].(map[string]any)
	columns, _ := view["columns"].([]any)
	var t Table
	var ids []string
	listed := map[string]bool{}
	add := func(id string) {
		if listed[id] {
			return
		}
		about, _ := definition[id].(map[string]any)
		ids, listed[id] = append(ids, id), true
		t.Titles = append(t.Titles, Member(about, "title"))
		t.Alignments = append(t.Alignments, Member(about, "textAlignment"))
	}
	for _, column := range columns {
		if id, ok := column.(string); ok {
			add(id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(definition)) {
		// columns that the view does not show are added too
		if _, ok := definition[name].(map[string]any); ok {
			add(name)
		}
	}
	fragments := map[string][]schema.Node{}
	for _, fragment := range n.Fragments {
		fragments[fragment.Fragment] = Inlines(fragment.Nodes)
	}
	tooLarge := TooLarge(n)
	for _, record := range InOrder(records) {
		values, _ := record["values"].(map[string]any)
		if tooLarge {
			t.Cells = append(t.Cells, cellsWithValues(values, fragments))
			continue
		}
		row := make([][]schema.Node, len(ids))
		for i, id := range ids {
			row[i] = cellOf(values[id], fragments)
		}
		t.Cells = append(t.Cells, row)
	}
	return t
}

// cellsWithValues returns the cells of a record that have a value, sorted by the names of their columns. It removes the
// fragments that it shows.
func cellsWithValues(values map[string]any, fragments map[string][]schema.Node) (row [][]schema.Node) {
	for _, column := range slices.Sorted(maps.Keys(values)) {
		if cell := cellOf(values[column], fragments); len(cell) > 0 {
			row = append(row, cell)
		}
		if name, ok := values[column].(string); ok && fragments[name] != nil {
			fragments[name] = []schema.Node{}
		}
	}
	return row
}

// InOrder returns the records of a table sorted by their order indexes.
func InOrder(records map[string]any) []map[string]any {
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
	return Member(members, "orderIndex")
}

// Inlines joins the blocks of a cell into inlines. It adds a space between two blocks.
func Inlines(blocks []schema.Node) []schema.Node {
	var inlines []schema.Node
	for i := range blocks {
		if len(inlines) > 0 {
			inlines = append(inlines, schema.Text(" "))
		}
		if HoldsText(&blocks[i]) {
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

// cellOf returns the visible content of a cell. If the value is the name of a fragment, the content is the fragment's
// content. Otherwise the content is the value as text.
func cellOf(value any, fragments map[string][]schema.Node) []schema.Node {
	if name, ok := value.(string); ok {
		if nodes, ok := fragments[name]; ok {
			return nodes
		}
	}
	return CellText(value)
}

// CellText returns the value of a cell as text.
func CellText(value any) []schema.Node {
	var text string
	switch value := value.(type) {
	case string:
		text = Clean(value)
	case float64:
		text = strconv.FormatFloat(value, 'f', -1, 64)
	case bool:
		text = strconv.FormatBool(value)
	case []any:
		text = strings.Join(listTexts(value), ", ")
	case map[string]any:
		text = RefLabel(value)
		if ref, ok := value["ref"]; ok {
			text = cmp.Or(Member(value, "alt"), RefLabel(ref))
		}
	}
	if text == "" {
		return nil
	}
	return []schema.Node{schema.Text(text)}
}

// Rows returns the titles and the rows of a table as text.
func (t Table) Rows() [][]string {
	rows := [][]string{t.Titles}
	for _, cells := range t.Cells {
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = strings.ReplaceAll(InlineText(cell), "\n", " ")
		}
		rows = append(rows, row)
	}
	return rows
}

// listTexts returns the texts of the values in a list. A value is an id, or a reference with a name.
func listTexts(values []any) []string {
	var list []string
	for _, value := range values {
		text, ok := value.(string)
		if ref, named := value.(map[string]any); named {
			text, ok = RefLabel(ref), true
		}
		if ok {
			list = append(list, Clean(text))
		}
	}
	return list
}
