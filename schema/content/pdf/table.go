package pdf

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// column is a column of a table. Children has its title.
type column struct {
	Children []node  `json:"c"`
	Dir      string  `json:"dir,omitempty"`
	Align    string  `json:"align"`
	Width    float64 `json:"w,omitzero"`
	Long     bool    `json:"long,omitzero"`
	Narrow   bool    `json:"narrow,omitzero"`
}

// cellKinds has a row for each type of column whose values are not shown as text.
var cellKinds map[string]func(b *builder, about map[string]any, value any) []node

func init() { // The table is set in init, because the rows call the builder's methods, and these methods use the table.
	cellKinds = map[string]func(b *builder, about map[string]any, value any) []node{
		"checkbox":    checkCell,
		"rating":      ratingCell,
		"select":      selectCell,
		"content-ref": (*builder).refCell,
		"image":       (*builder).imageCell,
		"files":       (*builder).filesCell,
	}
}

// cellAligns has the alignments of types of columns. A column has such an alignment if its definition has no alignment.
var cellAligns = map[string]string{"number": "right", "checkbox": "center"}

func (b *builder) table(n *schema.Node) node {
	if content.TooLarge(n) {
		plain := content.Plain(schema.Document{Nodes: []schema.Node{*n}})
		made := node{Kind: "code", Text: text(printable(plain))}
		made.Long = longestWord(*made.Text) > b.letters(letterCode)-fewest-1
		return made
	}
	view, _ := n.Data["view"].(map[string]any)
	definition, _ := n.Data["definition"].(map[string]any)
	records, _ := n.Data["records"].(map[string]any)
	widths, _ := view["columnWidths"].(map[string]any)
	fragments := make(map[string][]schema.Node, len(n.Fragments))
	for _, f := range n.Fragments {
		fragments[f.Fragment] = f.Nodes
	}
	hidden, _ := view["hideHeader"].(bool)
	made, ids, head := node{Kind: "table", Rows: [][]node{}}, columnsOf(view, definition), false
	for _, id := range ids {
		about, _ := definition[id].(map[string]any)
		width, _ := widths[id].(float64)
		made.Columns = append(made.Columns, column{Align: alignOf(about), Width: bounded(width, maxWidth)})
	}
	if len(ids) == 0 {
		return node{}
	}
	widen(made.Columns)
	shares := sharesOf(made.Columns)
	for i, id := range ids {
		about, _ := definition[id].(map[string]any)
		title := b.inCell(shares[i], func() node { return b.titleOf(about, fragments["h"+id]) })
		head = head || len(title.Children) > 0
		to := &made.Columns[i]
		to.Children, to.Dir, to.Long, to.Narrow = title.Children, title.Dir, title.Long, title.Narrow
	}
	head = head && !hidden
	made.Head = &head
	for _, row := range keys.RowOrder(records) {
		record, _ := records[row].(map[string]any)
		values, _ := record["values"].(map[string]any)
		cells := make([]node, len(ids))
		for i, id := range ids {
			about, _ := definition[id].(map[string]any)
			cells[i] = b.inCell(shares[i], func() node { return b.cell(about, values[id], fragments) })
		}
		made.Rows = append(made.Rows, cells)
	}
	if len(made.Rows) > 0 {
		made.Dir = b.turn(plainOf(made.Columns[0].Children) + plainOf(made.Rows[0][0].Children))
	}
	return made
}

// columnsOf lists the columns that the view shows, followed by the other columns.
func columnsOf(view, definition map[string]any) []string {
	var ids []string
	listed := map[string]bool{}
	shown, _ := view["columns"].([]any)
	for _, value := range shown {
		if id, ok := value.(string); ok && definition[id] != nil && !listed[id] {
			ids, listed[id] = append(ids, id), true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(definition)) {
		if !listed[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// widen gives a width to each column without a width, if at least one column has a width. The layout needs widths for
// all columns or for none.
func widen(columns []column) {
	sum, given := 0.0, 0
	for _, c := range columns {
		if c.Width > 0 {
			sum += c.Width
			given++
		}
	}
	for i := range columns {
		if given > 0 && columns[i].Width == 0 {
			columns[i].Width = sum / float64(given)
		}
	}
}

// sharesOf returns, for each column, the smallest fraction of the table's width that it can get.
func sharesOf(columns []column) []float64 {
	sum := 0.0
	for _, c := range columns {
		sum += c.Width
	}
	shares := make([]float64, len(columns))
	for i, c := range columns {
		shares[i] = 1 / float64(len(columns))
		if sum > 0 {
			shares[i] = c.Width / sum
		}
	}
	return shares
}

// inCell makes the content of a cell. Long and Narrow then say whether the content has long words.
func (b *builder) inCell(share float64, show func() node) (made node) {
	b.within(share, func() {
		made = show()
		made.Long = findWords(made.Children, b.letters(letter))
		made.Narrow = made.Long || narrow(made.Children)
	})
	return made
}

// titleOf returns the title of a column. `marked` has the fragment with the title, if there is one. If a table was read
// from Markdown, a title with marks is in a fragment.
func (b *builder) titleOf(about map[string]any, marked []schema.Node) node {
	title := oneLine(content.Member(about, "title"))
	if title == "" {
		return node{}
	}
	if content.InlineText(content.Inlines(marked)) == title {
		return b.cellBlocks(marked)
	}
	return node{Children: []node{{Kind: "s", Text: &title}}, Dir: b.turn(title)}
}

func alignOf(about map[string]any) string {
	if align := content.Member(about, "textAlignment"); align != "" && align != "left" {
		return align
	}
	kind, _ := about["type"].(string)
	return cellAligns[kind]
}

func (b *builder) cell(about map[string]any, value any, fragments map[string][]schema.Node) node {
	if name, ok := value.(string); ok && fragments[name] != nil {
		return b.cellBlocks(fragments[name])
	}
	kind, _ := about["type"].(string)
	if show, ok := cellKinds[kind]; ok && value != nil {
		return node{Children: show(b, about, value)}
	}
	made := b.inlines(content.CellText(value))
	return node{Children: made, Dir: b.turn(plainOf(made))}
}

func (b *builder) cellBlocks(nodes []schema.Node) node {
	return node{Dir: b.turn(firstText(nodes)), Children: b.snug(nodes)}
}

func checkCell(_ *builder, _ map[string]any, value any) []node {
	box := "☐"
	if checked, _ := value.(bool); checked {
		box = "☑"
	}
	return []node{{Kind: "s", Text: &box}}
}

// maxStars is the largest maximum of a rating that is shown as stars. A rating with a larger maximum is shown as a
// number.
const maxStars = 10

func ratingCell(_ *builder, about map[string]any, value any) []node {
	given, _ := value.(float64)
	most, _ := about["max"].(float64)
	if given != math.Trunc(given) || most != math.Trunc(most) || given < 0 || given > most || most > maxStars {
		return []node{{Kind: "s", Text: text(strconv.FormatFloat(given, 'f', -1, 64))}}
	}
	return []node{{Kind: "s", Text: text(strings.Repeat("★", int(given)) + strings.Repeat("☆", int(most-given)))}}
}

func selectCell(b *builder, about map[string]any, value any) []node {
	chosen, isList := value.([]any)
	if !isList {
		chosen = []any{value}
	}
	labels := b.labels.Of(about)
	var names []string
	for _, item := range chosen {
		name, ok := item.(string)
		if !ok {
			continue
		}
		if label, known := labels[content.Clean(name)]; known {
			name = label
		}
		names = append(names, oneLine(content.Clean(name)))
	}
	return []node{{Kind: "s", Text: text(strings.Join(names, ", "))}}
}

func (b *builder) refCell(_ map[string]any, value any) []node { return []node{b.reference(value)} }

func (b *builder) imageCell(_ map[string]any, value any) []node {
	about, _ := value.(map[string]any)
	ref, alt := any(about), ""
	if inner, ok := about["ref"]; ok {
		ref, alt = inner, oneLine(content.Member(about, "alt"))
	}
	if name := b.image(ref); name != "" {
		return []node{{Kind: "picture", Source: name, Text: &alt, Width: cellImage, Children: []node{}}}
	}
	return []node{b.reference(ref)}
}

// cellImage is the width of an image in a table, in pixels.
const cellImage = 120

func (b *builder) filesCell(_ map[string]any, value any) []node {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	var names []string
	for _, item := range list {
		if id, ok := item.(string); ok {
			item = map[string]any{"kind": "file", "file": id}
		}
		names = append(names, b.refName(item))
	}
	return []node{{Kind: "s", Text: text(strings.Join(names, ", "))}}
}

// plainOf returns the texts of nodes and their descendants, joined.
func plainOf(nodes []node) string {
	var all strings.Builder
	for _, n := range nodes {
		if n.Text != nil {
			all.WriteString(*n.Text)
		}
		all.WriteString(plainOf(n.Children))
	}
	return all.String()
}
