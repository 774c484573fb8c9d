package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// place is where inlines are. Headings and cells are one line, and cells end at a pipe.
type place int

const (
	inParagraph place = iota
	inHeading
	inCell
	inTitle
	inHTML
)

// inlineMarkdown writes inlines without footnotes.
func inlineMarkdown(nodes []schema.Node, where place) string { return writer{}.inline(nodes, where) }

// inline writes inlines so that they read back as the same. Markdown's marks do not work next to every character, so that
// what is not plain text is read back as a check: if the result differs, the next form is tried. The last but one has
// elements of HTML for marks, and the last is text alone, which always works.
func (w writer) inline(nodes []schema.Node, where place) string {
	pieces := settle(w.pieces(nodes, where))
	addresses := slices.ContainsFunc(pieces, func(p piece) bool { return bytes.Contains(p.text, []byte("://")) })
	if !addresses && !slices.ContainsFunc(pieces, func(p piece) bool { return p.node != nil || p.style != (style{}) }) {
		return writePieces(pieces, inlineForm{italic: "_"}, where)
	}
	forms := []inlineForm{{italic: "_"}, {italic: "*"}, {html: true}}
	if addresses {
		forms = slices.Insert(forms, 0, inlineForm{italic: "_", addresses: true})
	}
	for _, form := range forms {
		if candidate := writePieces(pieces, form, where); w.reads(candidate, pieces, where) {
			return candidate
		}
	}
	var plain []piece
	for _, p := range pieces {
		if p.hidden {
			continue
		}
		if p.node != nil {
			p = piece{text: []byte(content.InlineText([]schema.Node{*p.node}))}
		}
		plain = append(plain, piece{text: p.text})
	}
	return writePieces(settle(plain), inlineForm{italic: "_"}, where)
}

// reads reports whether Markdown reads back as the pieces, in the place where it will be.
func (w writer) reads(markdown string, want []piece, where place) bool {
	var labels []string
	if w.notes != nil {
		labels = w.notes.labels
		w.notes = &noteList{echo: true}
	} else {
		labels = keptReferences(want)
	}
	before, after := contexts[where].before, contexts[where].after
	if w.inLabel {
		before, after = before+"[", "](/)"+after
	}
	if w.boxed {
		before = "- [ ] "
	}
	r := newReader(before + markdown + after)
	r.inNote = w.notes == nil
	root := r.parse(labels...)
	line := root.FirstChild()
	if line == nil || line.NextSibling() != nil {
		return line == nil && len(want) == 0
	}
	r.inCell, r.inHeading = where == inCell, where == inHeading
	nodes, ok := w.lineOf(r, root, where)
	return ok && samePieces(settle(w.pieces(nodes, where)), want)
}

// lineOf returns the inlines of a text that is nothing but a line in its place; not ok if it is anything else.
func (w writer) lineOf(r *reader, root ast.Node, where place) ([]schema.Node, bool) {
	line := root.FirstChild()
	if where == inParagraph && !w.inLabel {
		blocks := r.blocks(root)
		if w.boxed && len(blocks) == 1 && blocks[0].Type == "list-tasks" && len(blocks[0].Nodes) == 1 {
			blocks = blocks[0].Nodes[0].Nodes
		}
		if len(blocks) != 1 || blocks[0].Type != "paragraph" || attributed(&blocks[0]) {
			return nil, false
		}
		return blocks[0].Nodes, true
	}
	if line.Kind() != contexts[where].kind {
		return nil, false
	}
	if where == inCell {
		if line = line.FirstChild().FirstChild(); line.NextSibling() != nil {
			return nil, false
		}
	}
	if !w.inLabel {
		return r.inlines(line), true
	}
	link, ok := line.FirstChild().(*ast.Link)
	if !ok || link.NextSibling() != nil {
		return nil, false
	}
	r.block = line
	return r.children(&inlineBuilder{}, link), true
}

// contexts has what is around inlines in their places, and the kind of block that this is.
var contexts = map[place]struct {
	before, after string
	kind          ast.NodeKind
}{
	inParagraph: {kind: ast.KindParagraph}, inHeading: {before: "# ", kind: ast.KindHeading},
	inCell: {"| ", " |\n| --- |", east.KindTable},
}

// pieces takes inlines apart.
func (w writer) pieces(nodes []schema.Node, where place) []piece {
	var pieces []piece
	for i := range nodes {
		n := &nodes[i]
		for _, leaf := range n.Leaves {
			pieces = append(pieces, leafPieces(leaf, where)...)
		}
		if n.Object == schema.ObjectText {
			continue
		}
		if n.Type == "annotation" && w.notes == nil {
			pieces = append(pieces, w.pieces(n.Nodes, where)...)
			pieces = append(pieces, piece{text: []byte(" (" + content.Annotation(n) + ")")})
			continue
		}
		span := w.span(n, where)
		if span == "" {
			pieces = append(pieces, piece{text: []byte(content.Label(n))})
			pieces = append(pieces, w.pieces(n.Nodes, where)...)
			continue
		}
		pieces = append(pieces, piece{node: n, span: span})
	}
	return loneEmojis(pieces)
}

// leafPieces splits code at newlines, which a span of code cannot have.
func leafPieces(leaf schema.Leaf, where place) []piece {
	if source := hiddenSource(leaf); source != "" {
		if where != inParagraph { // Headings and cells are one line.
			source = strings.ReplaceAll(source, "\n", " ")
		}
		return []piece{{style: style{raw: true, hidden: true}, text: []byte(source)}}
	}
	p := piece{style: styleOf(leaf.Marks), text: []byte(content.Clean(leaf.Text))}
	if p.marks&content.Code == 0 || !bytes.Contains(p.text, []byte("\n")) {
		return []piece{p}
	}
	var pieces []piece
	outside := p.style
	outside.marks &^= content.Code
	for i, line := range bytes.Split(p.text, []byte("\n")) {
		if i > 0 {
			pieces = append(pieces, piece{style: outside, text: []byte("\n")})
		}
		pieces = append(pieces, piece{style: p.style, text: line})
	}
	return pieces
}

// loneEmojis makes text of the emojis in words, where a shortcode is not read.
func loneEmojis(pieces []piece) []piece {
	for i := range pieces {
		if !pieces[i].isEmoji() {
			continue
		}
		before, after := "", ""
		if i > 0 && pieces[i-1].style == pieces[i].style { // Else there is a delimiter between them.
			before = string(pieces[i-1].text)
		}
		if i+1 < len(pieces) && pieces[i+1].style == pieces[i].style {
			after = string(pieces[i+1].text)
		}
		if text := before + "::" + after; !aloneAt(text, len(before), len(before)+2) {
			code, _ := pieces[i].node.Data["code"].(string)
			pieces[i] = piece{text: []byte(emojiCharacters(code))}
		}
	}
	return pieces
}

// inlineForm is one way to write inlines.
type inlineForm struct {
	italic    string // the delimiter
	html      bool   // elements for marks
	addresses bool   // without escapes in addresses, as other readers of Markdown look for them
}

// inlineWriter writes pieces with a stack of what is open.
type inlineWriter struct {
	out   strings.Builder
	open  []layer
	form  inlineForm
	where place
}

func writePieces(pieces []piece, form inlineForm, where place) string {
	w := &inlineWriter{form: form, where: where}
	layers := make([][]layer, len(pieces))
	for i := range pieces {
		layers[i] = pieces[i].layers()
	}
	for i := range pieces {
		p := &pieces[i]
		w.turnTo(layers[i], layers[i+1:])
		switch {
		case p.node != nil:
			w.out.WriteString(p.span)
		case p.raw:
			w.out.Write(p.text)
		case p.marks&content.Code != 0:
			w.code(string(p.text))
		default:
			after := ""
			if i+1 < len(pieces) && pieces[i+1].style == p.style {
				after = pieces[i+1].span
			}
			w.text(string(p.text), after)
		}
	}
	w.turnTo(nil, nil)
	return w.edges()
}

// edges escapes spaces and breaks at both ends, and a number sign at the end of a heading.
func (w *inlineWriter) edges() string {
	out, breaks := w.out.String(), ""
	for strings.HasSuffix(out, "\\\n") {
		out, breaks = strings.TrimSuffix(out, "\\\n"), breaks+"&#10;"
	}
	out += breaks
	core := strings.Trim(out, " ")
	start := strings.Index(out, core)
	out = strings.Repeat("&#x20;", start) + core + strings.Repeat("&#x20;", len(out)-start-len(core))
	if strings.HasSuffix(out, "\t") {
		out = strings.TrimRight(out, "\t") + strings.Repeat("&#9;", len(out)-len(strings.TrimRight(out, "\t")))
	}
	if w.where == inHeading && strings.HasSuffix(out, "#") && !strings.HasSuffix(out, `\#`) {
		out = out[:len(out)-1] + `\#`
	}
	return out
}

// turnTo closes and opens layers until the wanted ones are open; what lasts longest is opened first.
func (w *inlineWriter) turnTo(want []layer, rest [][]layer) {
	for slices.ContainsFunc(w.open, func(l layer) bool { return !slices.Contains(want, l) }) {
		last := len(w.open) - 1
		w.out.WriteString(w.delimiter(w.open[last], false))
		w.open = w.open[:last]
	}
	var missing []layer
	for _, l := range want {
		if !slices.Contains(w.open, l) {
			missing = append(missing, l)
		}
	}
	if len(missing) > 1 {
		slices.SortStableFunc(missing, func(a, b layer) int { return lasts(b, rest) - lasts(a, rest) })
	}
	for _, l := range missing {
		w.out.WriteString(w.delimiter(l, true))
		w.open = append(w.open, l)
	}
}

func (w *inlineWriter) delimiter(l layer, opening bool) string {
	switch {
	case w.form.html && opening:
		return l.htmlOpen()
	case w.form.html:
		return l.htmlClose()
	case l.mark == content.Italic:
		return w.form.italic
	case opening:
		return l.open
	}
	return l.close
}

// lookAhead bounds how far lasts looks, so that a line takes time in proportion to its length.
const lookAhead = 64

func lasts(l layer, rest [][]layer) int {
	rest = rest[:min(len(rest), lookAhead)]
	for i := range rest {
		if !slices.Contains(rest[i], l) {
			return i
		}
	}
	return len(rest)
}

// code writes a span of code. In a cell, a pipe ends the span unless it is escaped, and an escaped one cannot be told from one
// after a backslash.
func (w *inlineWriter) code(text string) {
	if strings.TrimSpace(text) == "" && strings.Trim(text, " ") != "" || w.where == inCell && strings.Contains(text, `\|`) {
		w.out.WriteString("<code>" + htmlCode(text) + "</code>")
		return
	}
	if w.where == inCell {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	fence := "`"
	for _, run := range backticks.FindAllString(text, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") ||
		strings.Trim(text, " ") != "" && strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	w.out.WriteString(fence + text + fence)
}
