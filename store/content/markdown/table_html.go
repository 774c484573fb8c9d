package markdown

import (
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
)

// htmlTable reads GitBook's tables.
func (r *reader) htmlTable(e *element) ([]schema.Node, bool) {
	parts, ok := e.elements()
	if !ok || len(parts) != 2 || parts[0].name != "thead" || parts[1].name != "tbody" || len(parts[0].attrs)+len(parts[1].attrs) > 0 {
		return nil, false
	}
	heads, ok := parts[0].elements()
	if !ok || len(heads) != 1 || heads[0].name != "tr" || len(heads[0].attrs) > 0 {
		return nil, false
	}
	titles, ok := heads[0].elements()
	if !ok || len(titles) == 0 {
		return nil, false
	}
	t := newTableBuilder()
	view := map[string]any{"type": "grid", "hideHeader": e.attrs.has("data-header-hidden")}
	widths := map[string]any{}
	for _, th := range titles {
		if th.name != "th" || !r.htmlColumn(t, th, view, widths) {
			return nil, false
		}
	}
	rows, ok := parts[1].elements()
	if !ok {
		return nil, false
	}
	if len(rows)*len(titles) > schema.MaxDocumentNodes {
		return nil, false // Short rows are filled up.
	}
	for _, tr := range rows {
		if tr.name != "tr" || len(tr.attrs) > 0 || !r.htmlRow(t, tr) {
			return nil, false
		}
	}
	return finishTable(t, e, view, widths)
}

// tableFlags has a row for each attribute of a table that is not kept as it is.
var tableFlags = []string{"data-view", "data-card-size", "data-header-hidden", "data-full-width"}

func finishTable(t *tableBuilder, e *element, view, widths map[string]any) ([]schema.Node, bool) {
	kind, given := e.attrs.get("data-view")
	size, sized := e.attrs.get("data-card-size")
	if kind == "cards" {
		if e.attrs.has("data-header-hidden") || len(widths) > 0 {
			return nil, false
		}
		delete(view, "hideHeader")
		view["type"], view["cardSize"] = "cards", "medium"
		if sized {
			view["cardSize"] = size
		}
	} else if given || sized || view["targetDefinition"] != nil || view["coverDefinition"] != nil || view["coverDefinitionDark"] != nil {
		return nil, false
	}
	if len(widths) > 0 {
		view["columnWidths"] = widths
	}
	n := t.build(view)
	if full, given := e.attrs.get("data-full-width"); given {
		n.Data["fullWidth"] = full == "true"
		if full != "true" && full != "false" {
			return nil, false
		}
	}
	if others := restOf(e.attrs, tableFlags); len(others) > 0 {
		n.Data[memberAttributes] = others
	}
	return []schema.Node{n}, schema.ValidData("table", n.Data)
}

func restOf(attrs attributes, known []string) map[string]any {
	others := map[string]any{}
	for _, a := range attrs {
		if slices.Contains(known, a.name) {
			continue
		}
		if others[a.name] = any(a.value); a.flag {
			others[a.name] = true
		}
	}
	return others
}

// cardRoles has the attributes that give a column a role in a card, and the members of the view that name it.
var cardRoles = []struct{ name, member string }{
	{"data-card-target", "targetDefinition"}, {"data-card-cover", "coverDefinition"}, {"data-card-cover-dark", "coverDefinitionDark"},
}

var columnFlags = []string{"width", "align", "valign", "data-type", "data-hidden", "data-multiple", "data-max", "data-card-target",
	"data-card-cover", "data-card-cover-dark"}

func (r *reader) htmlColumn(t *tableBuilder, th *element, view, widths map[string]any) bool {
	about := map[string]any{}
	children := th.nodes
	kind, given := th.attrs.get("data-type")
	options, hasOptions := readOptions(children)
	if hasOptions {
		children = children[:len(children)-1]
		if kind, given = "select", true; th.attrs.has("data-type") {
			return false
		}
		about["options"], about["multiple"] = options, th.nodes[len(th.nodes)-1].attrs.has("multiple")
	}
	if given {
		if _, known := columnKinds[kind]; !known || kind == "select" && !hasOptions {
			return false
		}
		about["type"] = kind
	}
	multiple := th.attrs.has("data-multiple")
	if kind == "users" {
		about["multiple"] = multiple
	} else if multiple {
		return false
	}
	if limit, given := th.attrs.get("data-max"); kind == "rating" {
		if about["max"] = 5.0; given {
			number, err := strconv.ParseFloat(limit, 64)
			if about["max"] = number; err != nil || formatNumber(number) != limit || number == 5 {
				return false
			}
		}
	} else if given {
		return false
	}
	if align, given := th.attrs.get("align"); given {
		if about["textAlignment"] = align; kind != "" || align != "center" && align != "right" {
			return false
		}
	}
	if align, given := th.attrs.get("valign"); given {
		about["verticalAlignment"] = align
	}
	if others := restOf(th.attrs, columnFlags); len(others) > 0 {
		about[memberAttributes] = others
	}
	title, ok := r.htmlInlines(children)
	id := t.column(title, about, th.attrs.has("data-hidden"))
	for _, role := range cardRoles {
		if th.attrs.has(role.name) {
			if view[role.member] != nil {
				return false
			}
			view[role.member] = id
		}
	}
	if width, given := th.attrs.get("width"); given {
		number, err := strconv.ParseFloat(width, 64)
		if widths[id] = number; err != nil || formatNumber(number) != width {
			return false
		}
	}
	return ok
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

func (r *reader) htmlRow(t *tableBuilder, tr *element) bool {
	cells, ok := tr.elements()
	if !ok || len(cells) > len(t.columns) {
		return false
	}
	name, values := t.row()
	for i, td := range cells {
		about := t.columns[i]
		id := about["id"].(string)
		for _, row := range []struct{ name, member string }{{"align", "textAlignment"}, {"valign", "verticalAlignment"}} {
			if value, given := td.attrs.get(row.name); given && about[row.member] != value {
				return false
			}
		}
		if td.name != "td" || !td.attrs.only("align", "valign", "data-object-fit") {
			return false
		}
		kind := about["type"].(string)
		if row, ok := columnKinds[kind]; ok {
			value, ok := row.read(r, about, td)
			if !ok || td.attrs.has("data-object-fit") && kind != "image" {
				return false
			}
			if value != nil {
				values[id] = value
			}
			continue
		}
		blocks, ok := r.flow(td.nodes)
		if !ok || td.attrs.has("data-object-fit") {
			return false
		}
		values[id] = name + id
		t.fragment(name+id, filled(blocks))
	}
	for i := len(cells); i < len(t.columns); i++ {
		if id := t.columns[i]["id"].(string); t.columns[i]["type"] == "text" {
			values[id] = name + id
			t.fragment(name+id, []schema.Node{schema.Block("paragraph")})
		}
	}
	return true
}
