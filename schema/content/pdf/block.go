package pdf

import (
	"math"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// blockKinds has a row per kind of block with a special layout. A block of another kind is shown as its label and its
// children.
var blockKinds map[string]func(b *builder, n *schema.Node) node

func init() { // The table is set in init, because the rows call blocks, and blocks uses the table.
	blockKinds = map[string]func(b *builder, n *schema.Node) node{
		"paragraph":      (*builder).paragraph,
		"heading-1":      func(b *builder, n *schema.Node) node { return b.heading(n, 1) },
		"heading-2":      func(b *builder, n *schema.Node) node { return b.heading(n, 2) },
		"heading-3":      func(b *builder, n *schema.Node) node { return b.heading(n, 3) },
		"divider":        func(*builder, *schema.Node) node { return node{Kind: "hr"} },
		"blockquote":     func(b *builder, n *schema.Node) node { return b.holding("quote", n) },
		"hint":           (*builder).hint,
		"code":           (*builder).code,
		"math":           func(b *builder, n *schema.Node) node { return b.formula("math", n) },
		"list-ordered":   func(b *builder, n *schema.Node) node { return b.list("ol", n) },
		"list-unordered": func(b *builder, n *schema.Node) node { return b.list("ul", n) },
		"list-tasks":     func(b *builder, n *schema.Node) node { return b.list("tasks", n) },
		"images":         (*builder).pictures,
		"drawing":        (*builder).picture,
		"table":          (*builder).table,
		"expandable":     (*builder).expandable,
		"tabs":           (*builder).tabs,
		"stepper":        func(b *builder, n *schema.Node) node { return b.parts("steps", n) },
		"columns":        (*builder).columns,
		"content-ref":    func(b *builder, n *schema.Node) node { return b.card(b.reference(n.Data["ref"])) },
		"reusable-content": func(b *builder, n *schema.Node) node {
			return b.card(b.reference(n.Data["ref"]))
		},
		"file":              (*builder).file,
		"embed":             (*builder).embed,
		"integration":       (*builder).embed,
		"swagger":           api,
		"openapi-operation": api,
		"openapi-webhook":   api,
	}
}

func (b *builder) blocks(nodes []schema.Node) []node {
	made := []node{}
	for i := range nodes {
		made = append(made, b.block(&nodes[i]))
	}
	return made
}

// snug returns the nodes of blocks. If there is only one block, a paragraph, it leaves out the space above and below
// the paragraph.
func (b *builder) snug(nodes []schema.Node) []node {
	if len(nodes) == 1 && nodes[0].Type == "paragraph" {
		made := append([]node{}, b.inlines(nodes[0].Nodes)...)
		if findWords(made, b.letters(letter)) {
			return []node{{Children: made, Long: true}}
		}
		return made
	}
	return b.blocks(nodes)
}

func (b *builder) block(n *schema.Node) node {
	if b.depth >= maxDepth && !content.HoldsText(n) {
		flat := content.Plain(schema.Document{Nodes: []schema.Node{*n}})
		made := node{Kind: "p", Children: leafNodes(schema.Leaf{Text: flat}), Dir: b.turn(flat)}
		made.Long = findWords(made.Children, b.letters(letter))
		return made
	}
	b.depth++
	defer func() { b.depth-- }()
	if show, ok := blockKinds[n.Type]; ok {
		return show(b, n)
	}
	var made node
	if label := oneLine(content.Label(n)); label != "" {
		made.Children = append(made.Children, node{Kind: "p", Children: []node{{Kind: "s", Text: &label, Marks: "b"}}})
	}
	if content.HoldsText(n) {
		made.Children = append(made.Children, b.paragraph(n))
	} else {
		made.Children = append(made.Children, b.blocks(n.Nodes)...)
	}
	for i := range n.Fragments {
		made.Children = append(made.Children, b.blocks(n.Fragments[i].Nodes)...)
	}
	return made
}

func (b *builder) paragraph(n *schema.Node) node { return b.textBlock(n, letter) }

// textBlock makes the node of a paragraph or a heading. `size` is the size of its letters, in points.
func (b *builder) textBlock(n *schema.Node, size float64) node {
	made := node{
		Kind: "p", Children: b.inlines(n.Nodes), Dir: b.turn(content.InlineText(n.Nodes)),
		Align: content.Member(n.Data, "align"),
	}
	made.Long = findWords(made.Children, b.letters(size))
	return made
}

// maxHeading is the depth of the lowest heading in Markdown. Headings of the depths 4 to 6 are nodes of the type
// heading-3 with a level.
const maxHeading = 6

func (b *builder) heading(n *schema.Node, depth int) node {
	if level, ok := n.Data["level"].(float64); ok && level > float64(depth) && level <= maxHeading {
		depth = int(level)
	}
	made := b.textBlock(n, headingLetters[depth])
	made.Kind, made.Number = "h", &depth
	for _, id := range []string{content.Member(n.Data, "id"), content.Member(n.Meta, "id")} {
		made.ID = b.label(id)
		if made.ID != "" {
			break
		}
	}
	return made
}

// label returns the label of a block's anchor. It returns "" if the page already has an equal anchor, because links
// lead to the first of these anchors.
func (b *builder) label(anchor string) string {
	if anchor == "" {
		return ""
	}
	for _, taken := range b.anchors {
		if taken == anchor {
			return ""
		}
	}
	b.anchors = append(b.anchors, anchor)
	return labelOf(b.page, anchor)
}

// holding makes the node of a block that may contain other blocks.
func (b *builder) holding(kind string, n *schema.Node) node {
	made := node{Kind: kind, Dir: b.turn(firstText(n.Nodes))}
	if content.HoldsText(n) {
		made.Children = []node{b.paragraph(n)}
	} else {
		made.Children = b.blocks(n.Nodes)
	}
	return made
}

// firstText returns the first text in a block. This text determines the block's direction.
func firstText(nodes []schema.Node) string {
	for len(nodes) > 0 && !content.HoldsText(&schema.Node{Nodes: nodes}) {
		nodes = nodes[0].Nodes
	}
	return content.InlineText(nodes)
}

// defaultHint is the style of hints whose style has no color.
const defaultHint = "info"

var hintStyles = map[string]bool{"info": true, "warning": true, "danger": true, "success": true}

func (b *builder) hint(n *schema.Node) node {
	made := b.holding("hint", n)
	made.Style = content.Member(n.Data, "style")
	if !hintStyles[made.Style] {
		made.Style = defaultHint
	}
	return made
}

func (b *builder) code(n *schema.Node) node {
	made := node{
		Kind: "code", Title: text(oneLine(content.Member(n.Data, "title"))),
		Lang: text(language(content.Member(n.Data, "syntax"))),
	}
	made.Lines, _ = n.Data["lineNumbers"].(bool)
	lines := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		lines[i] = strings.ReplaceAll(content.InlineText(n.Nodes[i].Nodes), "\n", " ")
		if marked, _ := n.Nodes[i].Data["highlighted"].(bool); marked {
			made.Marked = append(made.Marked, i+1)
		}
	}
	made.Text = text(printable(strings.Join(lines, "\n")))
	// one letter and the room of the line numbers are not available for the code
	made.Long = longestWord(*made.Text) > b.letters(letterCode)-fewest-1
	return made
}

// language returns the name of the language at the beginning of a code block's info, such as "rust" in "rust,editable".
func language(info string) string {
	end := strings.IndexFunc(info, func(r rune) bool { return r == ',' || r == ' ' || r == '{' })
	if end < 0 {
		return info
	}
	return info[:end]
}

// printable removes control characters, but not white space.
func printable(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (b *builder) list(kind string, n *schema.Node) node {
	made := b.parts(kind, n)
	tight := true
	for i := range n.Nodes {
		item := &n.Nodes[i]
		made.Dir = b.turn(firstText(item.Nodes))
		tight = tight && len(item.Nodes) <= 1
		if checked, ok := item.Data["checked"].(bool); ok || kind == "tasks" {
			made.Kind = "tasks"
			made.Children[i].Done = &checked
		}
	}
	if n.Type == "list-ordered" {
		// The boxes of tasks are left out in an ordered list, because texts may refer to the numbers of its items.
		made.Kind = "ol"
	}
	start := content.ListStart(n)
	made.Tight, made.Number = &tight, &start
	return made
}

// parts makes the node of a block whose children are its parts, such as the tabs of a tab group.
func (b *builder) parts(kind string, n *schema.Node) node {
	made := node{Kind: kind, Children: make([]node, len(n.Nodes))}
	for i := range n.Nodes {
		part := b.holding("", &n.Nodes[i])
		made.Children[i] = node{Children: part.Children, Dir: part.Dir}
	}
	return made
}

func (b *builder) pictures(n *schema.Node) node {
	if len(n.Nodes) == 1 {
		made := b.picture(&n.Nodes[0])
		made.Align = content.Member(n.Data, "align")
		return made
	}
	made := node{Kind: "columns"}
	for i := range n.Nodes {
		made.Widths = append(made.Widths, 1)
		b.within(1/float64(len(n.Nodes)), func() {
			made.Children = append(made.Children, node{Children: []node{b.picture(&n.Nodes[i])}})
		})
	}
	if len(made.Children) == 0 {
		return node{}
	}
	return made
}

func (b *builder) picture(n *schema.Node) node {
	made := node{Kind: "picture", Source: b.image(n.Data["ref"]), Text: text(oneLine(content.Label(n))), Children: []node{}}
	switch width := n.Data["width"].(type) {
	case float64:
		made.Width = bounded(width, maxWidth)
	case map[string]any:
		value, _ := width["value"].(float64)
		if unit, _ := width["unit"].(string); unit == "%" {
			made.Share = bounded(value/100, 1)
		} else {
			made.Width = bounded(value, maxWidth)
		}
	}
	for i := range n.Fragments {
		if !captionless(n.Fragments[i].Nodes) {
			made.Children = append(made.Children, b.blocks(n.Fragments[i].Nodes)...)
		}
	}
	return made
}

func captionless(nodes []schema.Node) bool {
	return content.Plain(schema.Document{Nodes: nodes}) == ""
}

// maxWidth is the largest width of an image, in pixels. It is larger than the width of a sheet of paper.
const maxWidth = 5000

// bounded limits a size to `most`, the largest size. It returns 0 for an invalid size.
func bounded(value, most float64) float64 {
	if math.IsNaN(value) || value <= 0 {
		return 0
	}
	return min(value, most)
}

func (b *builder) expandable(n *schema.Node) node {
	made := node{Kind: "expandable", Text: text(""), Children: []node{}}
	for i := range n.Fragments {
		f := &n.Fragments[i]
		if f.Fragment == "expandable-title" || f.Type == "expandable-title" {
			made.Text = text(oneLine(content.Plain(schema.Document{Nodes: f.Nodes})))
			made.Dir = b.turn(*made.Text)
			continue
		}
		made.Children = append(made.Children, b.blocks(f.Nodes)...)
	}
	return made
}

func (b *builder) tabs(n *schema.Node) node {
	made := b.parts("tabs", n)
	for i := range n.Nodes {
		made.Children[i].Text = text(oneLine(content.Label(&n.Nodes[i])))
	}
	return made
}

// These constants are the smallest and the largest share of the width that a column can have, in percent.
const (
	leastShare = 10
	mostShare  = 90
)

func (b *builder) columns(n *schema.Node) node {
	made, sum := node{Kind: "columns"}, 0.0
	for i := range n.Nodes {
		share := 100 / float64(len(n.Nodes))
		if width, ok := n.Nodes[i].Data["width"].(map[string]any); ok && width["unit"] == "%" {
			share, _ = width["value"].(float64)
		}
		made.Widths = append(made.Widths, min(max(share, leastShare), mostShare))
		sum += made.Widths[i]
	}
	for i := range n.Nodes {
		b.within(made.Widths[i]/sum, func() {
			part := b.holding("", &n.Nodes[i])
			made.Children = append(made.Children, node{Children: part.Children, Dir: part.Dir})
		})
	}
	if len(made.Children) == 0 {
		return node{}
	}
	return made
}

// card makes a block from a reference. The block shows the name of the reference's target.
func (b *builder) card(reference node) node {
	name := ""
	if len(reference.Children) > 0 {
		name = *reference.Children[0].Text
	}
	reference.Kind, reference.Text, reference.Children = "card", &name, []node{}
	reference.Dir = b.turn(name)
	return reference
}

func (b *builder) file(n *schema.Node) node {
	made := b.card(b.reference(n.Data["ref"]))
	return b.captioned(made, n)
}

func (b *builder) embed(n *schema.Node) node {
	label := oneLine(content.Label(n))
	url := map[string]any{"kind": "url", "url": content.Member(n.Data, "url")}
	made := b.lead(url, node{Children: []node{{Kind: "s", Text: &label}}})
	return b.captioned(b.card(made), n)
}

func (b *builder) captioned(made node, n *schema.Node) node {
	if caption := content.Member(n.Data, "caption"); caption != "" {
		shown := leafNodes(schema.Leaf{Text: caption})
		made.Children = []node{{Kind: "p", Children: shown, Long: findWords(shown, b.letters(letter))}}
	}
	return made
}

func api(_ *builder, n *schema.Node) node {
	method := strings.ToUpper(oneLine(content.Member(n.Data, "method")))
	rest := strings.TrimSpace(strings.TrimPrefix(oneLine(content.Label(n)), method))
	return node{Kind: "api", Tag: &method, Text: &rest}
}
