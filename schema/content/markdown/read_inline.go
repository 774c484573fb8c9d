package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// inlineBuilder collects inlines. Runs of text of the same style become one leaf.
type inlineBuilder struct {
	style
	pieces []piece
	inLink bool
	depth  int    // of HTML elements and links around
	anchor anchor // of the heading
	silent bool   // leaves out what is hidden
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

// source adds text that is written as it is.
func (b *inlineBuilder) source(text string) {
	b.pieces = append(b.pieces, piece{text: []byte(content.Clean(text)), style: style{raw: true}})
}

func (b *inlineBuilder) add(node schema.Node) { b.pieces = append(b.pieces, piece{node: &node}) }

func (b *inlineBuilder) empty() bool { return len(b.pieces) == 0 }

// ended reports whether the text so far ends with the suffix.
func (b *inlineBuilder) ended(suffix string) bool {
	last := len(b.pieces) - 1
	return last >= 0 && bytes.HasSuffix(b.pieces[last].text, []byte(suffix))
}

// trimSpace removes a space from the end.
func (b *inlineBuilder) trimSpace() {
	if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].node == nil && b.pieces[last].marks&content.Code == 0 {
		b.pieces[last].text = bytes.TrimSuffix(b.pieces[last].text, []byte(" "))
	}
}

// inlines returns the collected inlines.
func (b *inlineBuilder) inlines() []schema.Node {
	nodes := []schema.Node{}
	pieces := settle(b.pieces)
	if slices.ContainsFunc(pieces, piece.isEmoji) { // Without a mark between them an emoji could not be written beside a word.
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

func (r *reader) inlines(n ast.Node) []schema.Node {
	var b inlineBuilder
	r.inline(&b, n)
	return b.inlines()
}

// inline adds the content of n.
func (r *reader) inline(b *inlineBuilder, n ast.Node) {
	if n.Type() == ast.TypeBlock {
		r.block = n
	}
	r.siblings(b, n.FirstChild(), nil, r.pairTags(n))
}

// siblings adds the nodes from child up to end.
func (r *reader) siblings(b *inlineBuilder, child, end ast.Node, pairs map[ast.Node]ast.Node) {
	for ; child != nil && child != end; child = child.NextSibling() {
		switch n := child.(type) {
		case *ast.RawHTML:
			child = r.rawInline(b, n, pairs)
		case *ast.Text:
			r.text(b, n)
		case *ast.String:
			b.text(string(n.Value))
		case *ast.CodeSpan:
			r.marked(b, n, content.Code)
		case *ast.Emphasis:
			r.marked(b, n, []content.Marks{content.Italic, content.Bold}[n.Level-1])
		case *east.Strikethrough:
			r.marked(b, n, content.Strike)
		case *ast.Link:
			r.mdLink(b, n)
		case *ast.AutoLink:
			r.autoLink(b, n)
		case *ast.Image:
			r.image(b, n)
		case *emojiInline:
			b.emoji(n.node)
		case *mathInline:
			r.mathInline(b, n)
		case *tagInline:
			b.tag(string(n.segment.Value(r.source)))
		case *commentInline:
			b.hide(string(n.segments.Value(r.source)))
		case *noteReference:
			r.noteReference(b, n)
		case *headingIDInline:
			if b.anchor.id == "" {
				b.anchor = anchor{n.id, n.source}
			} else {
				b.source(n.source)
			}
			b.trimSpace()
		case *attributesInline:
			b.attributes(n.source, r.inHeading && n.Parent() == r.block && n.NextSibling() == nil)
		}
	}
}

// cellText removes the backslashes of pipes in a cell.
func (r *reader) cellText(text string) string {
	if r.inCell {
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	return text
}

func (r *reader) autoLink(b *inlineBuilder, n *ast.AutoLink) {
	address := string(n.URL(r.source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	label := inlineBuilder{style: b.style}
	label.text(string(n.Label(r.source)))
	r.link(b, address, "", label.inlines())
}

// mdLink adds a link. One to a footnote, with the reference directly behind it, is the text that the footnote is about.
func (r *reader) mdLink(b *inlineBuilder, n *ast.Link) {
	if note, ok := n.NextSibling().(*noteReference); ok && noteLink.Match(n.Destination) {
		r.annotate(b, n, note)
		return
	}
	r.link(b, unescape(n.Destination), unescape(n.Title), r.children(b, n))
}

func (r *reader) text(b *inlineBuilder, n *ast.Text) {
	value := n.Segment.Value(r.source)
	switch {
	case n.Parent().Kind() == ast.KindCodeSpan:
		b.text(r.cellText(strings.ReplaceAll(string(value), "\n", " ")))
	default:
		if b.ended("\n") || b.anchor.id != "" && b.empty() { // After <br>, or an anchor.
			value = bytes.TrimLeft(value, " ")
		}
		b.text(unescape(value))
	}
	switch {
	case n.HardLineBreak():
		b.text("\n")
	case n.SoftLineBreak() && !b.ended("\n"):
		b.text(" ")
	}
}

func (r *reader) marked(b *inlineBuilder, n ast.Node, mark content.Marks) {
	outer := b.style
	b.marks |= mark
	r.inline(b, n)
	b.style = outer
}

// children returns the content of a link.
func (r *reader) children(b *inlineBuilder, n ast.Node) []schema.Node {
	inner := inlineBuilder{style: b.style, inLink: true, depth: b.depth}
	r.inline(&inner, n)
	return inner.inlines()
}

// link adds a link. If its scheme is not allowed, it becomes its text followed by the address.
func (r *reader) link(b *inlineBuilder, address, title string, label []schema.Node) {
	ref, ok := content.Ref(address)
	if ok && !b.inLink {
		data := schema.Data{"ref": ref}
		if title != "" {
			data["title"] = title
		}
		b.add(schema.Node{Type: "link", Data: data, Nodes: label})
		return
	}
	b.copy(label)
	b.text(" (" + address + ")")
}

// emoji adds an emoji. A link has no room for the node: it gets the characters.
func (b *inlineBuilder) emoji(node schema.Node) {
	if b.inLink {
		code, _ := node.Data["code"].(string)
		b.text(emojiCharacters(code))
		return
	}
	b.add(node)
}

func (r *reader) mathInline(b *inlineBuilder, n *mathInline) {
	formula := r.cellText(string(n.segment.Value(r.source)))
	if b.inLink {
		b.source("$$" + formula + "$$")
		return
	}
	b.add(schema.Node{Type: "inline-math", Data: schema.Data{"formula": content.Clean(formula)}})
}

// copy adds inlines that were read before.
func (b *inlineBuilder) copy(nodes []schema.Node) {
	for _, node := range nodes {
		if node.Object != schema.ObjectText {
			b.add(node)
			continue
		}
		outer := b.style
		for _, leaf := range node.Leaves {
			b.hide(hiddenSource(leaf))
			b.style = styleOf(leaf.Marks)
			b.text(leaf.Text)
		}
		b.style = outer
	}
}

func (r *reader) image(b *inlineBuilder, n *ast.Image) {
	alt := content.InlineText(r.inlines(n))
	address := unescape(n.Destination)
	ref, ok := content.Ref(address)
	if kind := ref["kind"]; !ok || (kind != "url" && kind != "file") {
		b.text(alt + " (" + address + ")")
		return
	}
	data := schema.Data{"ref": ref}
	if alt != "" {
		data["alt"] = alt
	}
	if title := unescape(n.Title); title != "" {
		data["caption"] = title
	}
	b.add(schema.Node{Type: "inline-image", Data: data})
}

var entity = regexp.MustCompile(`^&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-zA-Z][a-zA-Z0-9]*));`)

// unescape removes backslashes before punctuation and resolves character references, in one pass: an escaped & does not
// start a reference.
func unescape(source []byte) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source) && util.IsPunct(source[i+1]):
			i++
			b.WriteByte(source[i])
		case c == '&':
			if match := entity.FindSubmatch(source[i:]); match != nil {
				if value, ok := resolve(match); ok {
					b.WriteString(value)
					i += len(match[0]) - 1
					continue
				}
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return content.Clean(b.String())
}

func resolve(match [][]byte) (string, bool) {
	if len(match[3]) > 0 {
		named, ok := util.LookUpHTML5EntityByName(string(match[3]))
		if !ok {
			return "", false
		}
		return string(named.Characters), true
	}
	digits, base := string(match[2]), 10
	if len(match[1]) > 0 {
		digits, base = string(match[1]), 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || code == 0 || code > 0x10FFFF {
		return "\uFFFD", true
	}
	return string(rune(code)), true
}
