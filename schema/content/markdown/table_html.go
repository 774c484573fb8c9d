package markdown

import (
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
)

// htmlTable reads HTML tables from GitBook and from other tools. It drops the parts that a table in a document cannot
// have, such as the attributes of rows and cells. If a cell spans several columns or rows, it becomes one cell and
// empty cells.
func (r *reader) htmlTable(e *element) ([]schema.Node, bool) {
	head, rows, ok := tableRows(e)
	if !ok {
		return nil, false
	}
	columns := len(head)
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns == 0 || (len(rows)+1)*columns > schema.MaxDocumentNodes {
		// Short rows are filled with empty cells, so the table would have too many nodes.
		return nil, false
	}
	// If a column cannot have some of its values, the table is read again, and all columns are columns of text.
	for _, plain := range []bool{false, true} {
		if n, ok := r.tableOf(e, head, rows, columns, plain); ok {
			return []schema.Node{n}, true
		}
	}
	return nil, false
}

func (r *reader) tableOf(e *element, head []*element, rows [][]*element, columns int, plain bool) (schema.Node, bool) {
	t := newTableBuilder()
	view := map[string]any{"type": "grid", "hideHeader": e.attrs.has("data-header-hidden") || head == nil}
	widths := map[string]any{}
	for i := range columns {
		th := &element{name: "th"}
		if i < len(head) && head[i] != nil {
			th = head[i]
		}
		r.htmlColumn(t, th, view, widths, plain)
	}
	for _, row := range rows {
		if !r.htmlRow(t, row) {
			return schema.Node{}, false
		}
	}
	return finishTable(t, e, view, widths)
}

// tableRows returns the cells of a table's head and of its other rows. If a spanning cell covers a place, the row has
// nil there. If there is no <thead>, a first row with only <th> is the head.
func tableRows(e *element) (head []*element, rows [][]*element, ok bool) {
	var all []*element
	hasHead := false
	parts, ok := e.elements()
	if !ok {
		return nil, nil, false
	}
	for _, part := range parts {
		switch part.name {
		case "tr":
			all = append(all, part)
		case "thead", "tbody", "tfoot":
			list, only := part.elements()
			if !only || slices.ContainsFunc(list, func(tr *element) bool { return tr.name != "tr" }) {
				return nil, nil, false
			}
			hasHead = hasHead || part.name == "thead" && len(all) == 0 && len(list) > 0
			all = append(all, list...)
		case "colgroup", "col":
		default:
			return nil, nil, false
		}
	}
	g := grid{}
	for i, tr := range all {
		row, isHead, ok := g.row(tr)
		if !ok {
			return nil, nil, false
		}
		if i == 0 && (hasHead || isHead) {
			head = row
		} else {
			rows = append(rows, row)
		}
	}
	return head, rows, true
}

// grid determines the columns of the cells in each row. `spans` has, for each column, how many of the next rows a cell
// of an earlier row covers.
type grid struct {
	spans []int
	cells int
}

// row returns the cells of a row. isHead is true if all cells are titles.
func (g *grid) row(tr *element) (cells []*element, isHead, ok bool) {
	list, ok := tr.elements()
	isHead = len(list) > 0
	at := 0
	covered := func() bool { return at < len(g.spans) && g.spans[at] > 0 }
	next := func(cell *element) {
		cells = append(cells, cell)
		at++
		g.cells++
	}
	for _, td := range list {
		if td.name != "td" && td.name != "th" {
			return nil, false, false
		}
		isHead = isHead && td.name == "th"
		for covered() {
			g.spans[at]--
			next(nil)
		}
		below := cellSpan(td, "rowspan") - 1
		for i := range cellSpan(td, "colspan") {
			for len(g.spans) <= at {
				g.spans = append(g.spans, 0)
			}
			g.spans[at] = below
			if i == 0 {
				next(td)
			} else {
				next(nil)
			}
			if g.cells > schema.MaxDocumentNodes {
				return nil, false, false
			}
		}
	}
	for covered() {
		g.spans[at]--
		next(nil)
	}
	return cells, isHead, ok
}

// cellSpan returns the number of columns or rows that a cell covers.
func cellSpan(td *element, name string) int {
	text, _ := td.attrs.get(name)
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > 1000 {
		return 1
	}
	return count
}

func finishTable(t *tableBuilder, e *element, view, widths map[string]any) (schema.Node, bool) {
	others := restOf(e.attrs, tableFlags)
	keep := func(name string) {
		if value, given := e.attrs.get(name); given {
			others[name] = value
		}
	}
	if kind, _ := e.attrs.get("data-view"); kind == "cards" {
		delete(view, "hideHeader")
		view["type"], view["cardSize"] = "cards", "medium"
		if size, _ := e.attrs.get("data-card-size"); size == "large" {
			view["cardSize"] = size
		} else {
			keep("data-card-size")
		}
		if e.attrs.has("data-header-hidden") {
			others["data-header-hidden"] = true
		}
	} else {
		keep("data-view")
		keep("data-card-size")
	}
	if len(widths) > 0 {
		view["columnWidths"] = widths
	}
	n := t.build(view)
	if full, _ := e.attrs.get("data-full-width"); full == "true" || full == "false" {
		n.Data["fullWidth"] = full == "true"
	} else {
		keep("data-full-width")
	}
	if len(others) > 0 {
		n.Data[memberAttributes] = others
	}
	return n, schema.ValidData("table", n.Data)
}

// htmlColumn adds a column. Attributes that the function does not know are stored unchanged. If `plain` is set, the
// column becomes a column of text.
func (r *reader) htmlColumn(t *tableBuilder, th *element, view, widths map[string]any, plain bool) {
	about := map[string]any{}
	children := th.nodes
	others := restOf(th.attrs, columnFlags)
	keep := func(name string) {
		if value, given := th.attrs.get(name); given {
			if others[name] = any(value); value == "" {
				others[name] = true
			}
		}
	}
	kind, given := th.attrs.get("data-type")
	options, hasOptions := readOptions(children)
	if hasOptions && !given && !plain {
		children = children[:len(children)-1]
		kind = "select"
		about["options"], about["multiple"] = options, th.nodes[len(th.nodes)-1].attrs.has("multiple")
	} else if _, known := columnKinds[kind]; !known || plain || kind == "select" {
		kind = ""
		keep("data-type")
	}
	if kind != "" {
		about["type"] = kind
	}
	if kind == "users" {
		about["multiple"] = th.attrs.has("data-multiple")
	} else {
		keep("data-multiple")
	}
	limit, _ := th.attrs.get("data-max")
	if number, err := strconv.ParseFloat(limit, 64); kind == "rating" &&
		(limit == "" || err == nil && formatNumber(number) == limit) {
		if about["max"] = 5.0; limit != "" {
			about["max"] = number
		}
	} else {
		keep("data-max")
	}
	if align, _ := th.attrs.get("align"); kind == "" && (align == "center" || align == "right") {
		about["textAlignment"] = align
	} else {
		keep("align")
	}
	if align, _ := th.attrs.get("valign"); align == "top" || align == "middle" || align == "bottom" {
		about["verticalAlignment"] = align
	} else {
		keep("valign")
	}
	width, _ := th.attrs.get("width")
	number, err := strconv.ParseFloat(width, 64)
	sized := err == nil && formatNumber(number) == width
	if !sized {
		keep("width")
	}
	if len(others) > 0 {
		about[memberAttributes] = others
	}
	id := t.column(r.htmlInlines(children), about, th.attrs.has("data-hidden"))
	for _, role := range cardRoles {
		if th.attrs.has(role.name) && view[role.member] == nil {
			view[role.member] = id
		}
	}
	if sized {
		widths[id] = number
	}
}

// readOptions reads the options of a column of choices: a <select> at the end of its title.
func readOptions(nodes []*element) ([]any, bool) {
	if len(nodes) == 0 || nodes[len(nodes)-1].name != "select" || !nodes[len(nodes)-1].attrs.only("multiple") {
		return nil, false
	}
	list, ok := nodes[len(nodes)-1].elements()
	options := []any{}
	for _, o := range list {
		value, _ := o.attrs.get("value")
		label, _ := o.attrs.get("label")
		color, _ := o.attrs.get("color")
		ok = ok && o.name == "option" && o.attrs.only("value", "label", "color") && len(o.nodes) == 0
		options = append(options, map[string]any{"value": value, "label": label, "color": color})
	}
	return options, ok
}

// htmlRow adds a row. It returns false if a value is invalid in its column.
func (r *reader) htmlRow(t *tableBuilder, cells []*element) bool {
	name, values := t.row()
	for i, about := range t.columns {
		id := about["id"].(string)
		var td *element
		if i < len(cells) {
			td = cells[i]
		}
		kind := about["type"].(string)
		if row, typed := columnKinds[kind]; typed {
			if td == nil {
				continue
			}
			value, ok := row.read(r, about, td)
			if !ok {
				return false
			}
			if value != nil {
				values[id] = value
			}
			continue
		}
		values[id] = name + id
		t.fragment(name+id, r.textCell(about, td))
	}
	return true
}

// textCell reads a cell of text. If `td` is nil, the cell is empty.
func (r *reader) textCell(about map[string]any, td *element) []schema.Node {
	if td == nil {
		return filled(nil)
	}
	blocks := filled(r.flow(td.nodes))
	align, _ := td.attrs.get("align")
	alone := len(blocks) == 1 && blocks[0].Type == "paragraph" && len(blocks[0].Data) == 0 && len(blocks[0].Nodes) > 0
	if as := alignments[align]; alone && align != about["textAlignment"] && (as == "center" || as == "end") {
		blocks[0].Data = schema.Data{"align": as}
	}
	return blocks
}
