package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// piece is a run of text with one style, or an inline node.
type piece struct {
	style
	text []byte
	node *schema.Node
	span string // the Markdown of the node, or "" for text
}

// delimited are the marks that Markdown writes with delimiters. No white space may be directly after an opening
// delimiter or directly before a closing delimiter.
const delimited = content.Bold | content.Italic | content.Strike

// blank reports whether a piece is white space without code. Readers see no marks on such a piece.
func (p *piece) blank() bool {
	return p.node == nil && !p.raw && p.marks&content.Code == 0 && len(bytes.TrimSpace(p.text)) == 0
}

func (p piece) isEmoji() bool { return p.node != nil && p.node.Type == "emoji" }

// settle converts inlines to their normal form. Marks with delimiters neither begin nor end at white space.
// Neighbouring pieces with the same style are joined. If both texts around an inline node have a mark, the node gets
// this mark too.
func settle(pieces []piece) []piece {
	for i := range pieces {
		if p := &pieces[i]; p.tags != "" {
			p.marks &^= looks(p.tags)
		}
	}
	pieces = splitSpaces(splitShortcodes(pieces))
	carryMarks(pieces)
	for _, m := range []content.Marks{content.Bold, content.Italic, content.Strike} {
		for i := 0; i < len(pieces); i++ {
			start := i
			for i < len(pieces) && pieces[i].marks&m != 0 {
				i++
			}
			first, last := start, i-1
			for first <= last && pieces[first].blank() {
				pieces[first].marks &^= m
				first++
			}
			for last >= first && pieces[last].blank() {
				pieces[last].marks &^= m
				last--
			}
		}
	}
	var merged []piece
	for _, p := range pieces {
		last := len(merged) - 1
		if last >= 0 && p.node == nil && merged[last].node == nil && p.style == merged[last].style && !p.raw {
			merged[last].text = append(merged[last].text, p.text...)
			continue
		}
		p.text = slices.Clone(p.text)
		merged = append(merged, p)
	}
	return merged
}

// splitShortcodes makes separate pieces of Hugo's shortcodes. A shortcode is always a source.
func splitShortcodes(pieces []piece) []piece {
	split := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		for p.node == nil && !p.raw && p.marks&content.Code == 0 && looks(p.tags)&content.Code == 0 {
			from, length := findShortcode(p.text)
			if length == 0 {
				break
			}
			split = append(split, piece{style: p.style, text: p.text[:from]},
				piece{style: style{raw: true}, text: p.text[from : from+length]})
			p.text = p.text[from+length:]
		}
		split = append(split, p)
	}
	return split
}

// splitSpaces makes separate pieces of the spaces at both ends of marked text.
func splitSpaces(pieces []piece) []piece {
	split := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.node == nil && len(p.text) == 0 {
			continue
		}
		if p.node != nil || p.raw || p.marks&delimited == 0 || p.marks&content.Code != 0 || p.blank() {
			split = append(split, p)
			continue
		}
		core := bytes.TrimSpace(p.text)
		start := bytes.Index(p.text, core)
		for _, text := range [][]byte{p.text[:start], core, p.text[start+len(core):]} {
			if len(text) > 0 {
				split = append(split, piece{style: p.style, text: text})
			}
		}
	}
	return split
}

// carryMarks gives inline nodes the style of the text around them. A link gets the marks of its own text. Any other
// node gets the marks that both neighbouring pieces have. If both pieces have the same color and tags, the node gets
// these too.
func carryMarks(pieces []piece) {
	styled := func(p *piece) bool { return !p.raw && (p.node == nil || p.node.Type == "link") }
	before := make([]style, len(pieces))
	last := style{}
	for i := range pieces {
		p := &pieces[i]
		if p.node != nil && p.node.Type == "link" {
			p.style = style{marks: labelMarks(p.node.Nodes)}
		}
		before[i] = last
		if !p.blank() && styled(p) {
			last = p.style
		}
	}
	last = style{}
	for i := len(pieces) - 1; i >= 0; i-- {
		p := &pieces[i]
		if !styled(p) {
			p.style = style{raw: p.raw, hidden: p.hidden, marks: before[i].marks & last.marks & delimited}
			if before[i].color == last.color {
				p.color = last.color
			}
			if before[i].tags == last.tags {
				p.tags = last.tags
			}
		} else if !p.blank() {
			last = p.style
		}
	}
	for from := 0; from < len(pieces); {
		to := from + 1
		for to < len(pieces) && pieces[to].tags == pieces[from].tags {
			to++
		}
		if pieces[from].tags != "" && !nests(pieces[from:to]) {
			for i := from; i < to; i++ {
				if pieces[i].hidden {
					pieces[i].tags = ""
				}
			}
		}
		from = to
	}
}

// nests reports whether each hidden tag in the pieces has its start and its end in the pieces. An element can enclose
// the pieces only if this is true.
func nests(pieces []piece) bool {
	var open []string
	for i := range pieces {
		m := tagStart.FindSubmatch(pieces[i].text)
		if !pieces[i].hidden || m == nil || bytes.HasSuffix(pieces[i].text, []byte("/>")) {
			continue
		}
		name, last := strings.ToLower(string(m[2])), len(open)-1
		switch {
		case slices.Contains(voidElements, name):
		case len(m[1]) == 0:
			open = append(open, name)
		case last < 0 || open[last] != name:
			return false
		default:
			open = open[:last]
		}
	}
	return len(open) == 0
}

// labelMarks returns the marks that all text of a link has. Spaces at the ends of the text need not have these marks.
func labelMarks(nodes []schema.Node) content.Marks {
	marks, between, found := delimited, delimited, false
	for _, n := range nodes {
		if n.Object != schema.ObjectText {
			return 0
		}
		for _, leaf := range n.Leaves {
			s := styleOf(leaf.Marks)
			if p := (piece{style: s, text: []byte(leaf.Text)}); p.blank() {
				if found {
					between &= s.marks
				}
			} else {
				marks, found = marks&between&s.marks, true
				if s.raw || hiddenSource(leaf) != "" {
					return 0
				}
			}
		}
	}
	if !found {
		return 0
	}
	return marks
}

// samePieces reports whether two lines of inlines are written as the same text.
func samePieces(a, b []piece) bool {
	return slices.EqualFunc(a, b, func(x, y piece) bool {
		return x.style == y.style && bytes.Equal(x.text, y.text) && (x.node == nil) == (y.node == nil) &&
			(x.span == y.span || sameMention(x.node, y.node))
	})
}

// sameMention reports whether two nodes mention the same id. It ignores the texts of the nodes, because these texts are
// names and may change.
func sameMention(a, b *schema.Node) bool {
	if a == nil || b == nil || a.Type != "mention" || b.Type != "mention" {
		return false
	}
	link := content.Link(a.Data["ref"])
	return content.ByID(link) && link == content.Link(b.Data["ref"])
}

// inlineBuilder collects inlines. Neighbouring texts with the same style become one leaf.
type inlineBuilder struct {
	style
	pieces []piece
	inLink bool
	depth  int    // number of HTML elements and links around the present text
	anchor anchor // the anchor of the heading
	silent bool   // whether hidden content is left out
}

func (b *inlineBuilder) text(text string) {
	if text == "" {
		return
	}
	last := len(b.pieces) - 1
	if last < 0 || b.pieces[last].node != nil || b.pieces[last].style != b.style || b.raw {
		b.pieces = append(b.pieces, piece{style: b.style})
		last++
	}
	b.pieces[last].text = append(b.pieces[last].text, text...)
}

// source adds source text. This text is written without escapes.
func (b *inlineBuilder) source(text string) {
	b.pieces = append(b.pieces, piece{text: []byte(content.Clean(text)), style: style{raw: true}})
}

func (b *inlineBuilder) add(node schema.Node) { b.pieces = append(b.pieces, piece{node: &node}) }

func (b *inlineBuilder) empty() bool { return len(b.pieces) == 0 }

// ended reports whether the last added text ends with the suffix.
func (b *inlineBuilder) ended(suffix string) bool {
	last := len(b.pieces) - 1
	return last >= 0 && bytes.HasSuffix(b.pieces[last].text, []byte(suffix))
}

// trimSpace removes a space from the end of the text.
func (b *inlineBuilder) trimSpace() {
	if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].node == nil && b.pieces[last].marks&content.Code == 0 {
		b.pieces[last].text = bytes.TrimSuffix(b.pieces[last].text, []byte(" "))
	}
}

// lineEnd ends the current line, unless it is empty.
func (b *inlineBuilder) lineEnd() {
	b.trimSpace()
	if !b.empty() && !b.ended("\n") {
		b.text("\n")
	}
}

// trimBreaks removes spaces and line breaks from the end of the text.
func (b *inlineBuilder) trimBreaks() {
	for last := len(b.pieces) - 1; last >= 0 && b.pieces[last].blank(); last-- {
		b.pieces = b.pieces[:last]
	}
	if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].node == nil {
		b.pieces[last].text = []byte(strings.TrimRight(string(b.pieces[last].text), " \n"))
	}
}

// hide adds a source that is not shown.
func (b *inlineBuilder) hide(source string) {
	if source = content.Clean(source); source != "" && !b.silent {
		b.pieces = append(b.pieces, piece{text: []byte(source), style: style{raw: true, hidden: true}})
	}
}

// inCode reports whether text that is added now is code.
func (b *inlineBuilder) inCode() bool { return (b.marks|looks(b.tags))&content.Code != 0 }

// tag adds a tag of GitBook, or a shortcode of Hugo, within a line. A known tag is hidden, because it has no meaning
// within a line. Unknown tags are shown as text. In code, all tags are shown as text.
func (b *inlineBuilder) tag(source string) {
	if b.inCode() {
		b.text(source)
		return
	}
	if t, ok := readTagLine([]byte(source)); ok && tagNamed(strings.TrimPrefix(t.name, "end")) != nil {
		b.hide(source)
		return
	}
	b.source(source)
}

// shownNothing reports whether there are pieces, and all pieces are hidden or blank.
func (b *inlineBuilder) shownNothing() bool {
	return len(b.pieces) > 0 && !slices.ContainsFunc(b.pieces, func(p piece) bool { return !p.hidden && !p.blank() })
}

// inlines returns the collected inlines.
func (b *inlineBuilder) inlines() []schema.Node {
	nodes := []schema.Node{}
	pieces := settle(b.pieces)
	// An emoji next to a word must become text, because a shortcode is not read there. If a mark is between the emoji
	// and the word, the emoji stays.
	if slices.ContainsFunc(pieces, piece.isEmoji) {
		pieces = settle(loneEmojis(pieces))
	}
	for _, p := range pieces {
		if p.node != nil {
			nodes = append(nodes, *p.node)
			continue
		}
		last := len(nodes) - 1
		if last < 0 || nodes[last].Object != schema.ObjectText {
			nodes = append(nodes, schema.Node{Object: schema.ObjectText})
			last++
		}
		leaf := schema.Leaf{Object: schema.ObjectLeaf, Text: string(p.text), Marks: p.list()}
		if p.hidden {
			leaf = hiddenLeaf(string(p.text))
		}
		nodes[last].Leaves = append(nodes[last].Leaves, leaf)
	}
	return nodes
}

// loneEmojis turns emojis next to letters into text, because a shortcode would not be read there.
func loneEmojis(pieces []piece) []piece {
	for i := range pieces {
		if !pieces[i].isEmoji() {
			continue
		}
		before, after := "", ""
		if i > 0 && pieces[i-1].style == pieces[i].style { // if the styles differ, a delimiter is between the pieces
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

// emoji adds an emoji. A link cannot contain an emoji node. So within a link, emoji adds the emoji's characters as
// text.
func (b *inlineBuilder) emoji(node schema.Node) {
	if b.inLink {
		code, _ := node.Data["code"].(string)
		b.text(emojiCharacters(code))
		return
	}
	b.add(node)
}
