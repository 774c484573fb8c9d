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

// inlineMarkdown writes inlines without footnotes.
func inlineMarkdown(nodes []schema.Node, where place) string { return writer{}.inline(nodes, where) }

// inline writes inlines so that they can be read back unchanged. Next to some characters, Markdown's delimiters are not
// read as marks. So inline reads the marked text that it has written. If this gives other inlines, it tries the next
// form. The last of these forms uses HTML elements for marks. If no form is right, inline writes broken sources as code
// and tries the forms again. At last it writes plain text, which is always read correctly.
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
	for changed := true; changed; pieces, changed = w.withoutBrokenSources(pieces, where) {
		for _, form := range forms {
			if candidate := writePieces(pieces, form, where); w.reads(candidate, pieces, where) {
				return candidate
			}
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

// withoutBrokenSources makes code of each visible source that would be read as something other than a source. An editor
// may have changed such a source, for example from <name> to <name>s. The second result is false if all sources are
// read as sources.
func (w writer) withoutBrokenSources(pieces []piece, where place) ([]piece, bool) {
	changed := false
	pieces = slices.Clone(pieces)
	for i := range pieces {
		p := &pieces[i]
		// Between words, a source cannot be read as a block.
		if p.raw && !p.hidden &&
			!w.reads("a "+string(p.text)+" a", []piece{{text: []byte("a ")}, *p, {text: []byte(" a")}}, where) {
			p.style, changed = style{marks: content.Code}, true
		}
	}
	return settle(pieces), changed
}

// reads reports whether the Markdown is read as the wanted pieces at a place of this kind.
func (w writer) reads(markdown string, want []piece, where place) bool {
	var labels map[string]int
	if w.notes != nil {
		labels = w.notes.at
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
	root := r.parse(labels)
	line := root.FirstChild()
	if line == nil || line.NextSibling() != nil {
		return line == nil && len(want) == 0
	}
	r.inCell, r.inHeading = where == inCell, where == inHeading
	nodes, ok := w.lineOf(r, root, where)
	return ok && samePieces(settle(w.pieces(nodes, where)), want)
}

// lineOf returns the inlines of a text that consists of a single line at a place of this kind. The second result is
// false if the text was read as anything other than such a line.
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

// contexts has, for each kind of place, the text to write before and after inlines to read them again. kind is the kind
// of block that is then read.
var contexts = map[place]struct {
	before, after string
	kind          ast.NodeKind
}{
	inParagraph: {kind: ast.KindParagraph}, inHeading: {before: "# ", kind: ast.KindHeading},
	inCell: {"| ", " |\n| --- |", east.KindTable},
}

// pieces converts inlines to pieces.
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

// leafPieces converts a leaf to pieces. It splits code at newlines, because a span of code cannot contain newlines.
func leafPieces(leaf schema.Leaf, where place) []piece {
	if source := hiddenSource(leaf); source != "" {
		// Headings and cells consist of one line.
		if where != inParagraph {
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

// span writes an inline node. It returns "" if Markdown has no form for the node.
func (w writer) span(n *schema.Node, where place) string {
	switch n.Type {
	case "link":
		return w.link(n, where)
	case "annotation":
		return annotation(writer{inLabel: true}.inline(n.Nodes, where), w.notes.label(n))
	}
	return spanOf(n, where)
}

// link writes a link. If all text of the link has a mark, link leaves it out. The caller writes this mark around the
// link, so neighbouring pieces can share it.
func (w writer) link(n *schema.Node, where place) string {
	label := n.Nodes
	if marks := labelMarks(label); marks != 0 {
		label = withoutMarks(label, marks)
	}
	if len(stringMap(n.Data[memberAttributes])) > 0 { // Markdown's links cannot have attributes
		return openTag("a", linkAttributes(n)) + writer{inLabel: true}.inline(label, where) + "</a>"
	}
	target := address(content.Link(n.Data["ref"]))
	if title := content.Member(n.Data, "title"); title != "" {
		target += ` "` + escapedIn(title, inTitle) + `"`
	}
	return "[" + writer{inLabel: true}.inline(label, where) + "](" + target + ")"
}

func withoutMarks(nodes []schema.Node, marks content.Marks) []schema.Node {
	var b inlineBuilder
	for _, n := range nodes {
		for _, leaf := range n.Leaves {
			b.style = styleOf(leaf.Marks)
			b.marks &^= marks
			b.text(leaf.Text)
		}
	}
	return b.inlines()
}
