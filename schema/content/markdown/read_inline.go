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

func (r *reader) inlines(n ast.Node) []schema.Node {
	var b inlineBuilder
	r.inline(&b, n)
	return b.inlines()
}

// inline adds the inline content of the node n.
func (r *reader) inline(b *inlineBuilder, n ast.Node) {
	if n.Type() == ast.TypeBlock {
		r.block = n
	}
	r.siblings(b, n.FirstChild(), nil, r.pairTags(n))
}

// siblings adds the nodes from `child` up to `end`, without `end`.
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
			b.tag(string(n.source(r.source)))
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

// cellText removes the backslashes before pipes if the text is in a table's cell.
func (r *reader) cellText(text string) string {
	if r.inCell {
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	return text
}

func (r *reader) autoLink(b *inlineBuilder, n *ast.AutoLink) {
	label := inlineBuilder{style: b.style}
	label.text(string(n.Label(r.source)))
	r.link(b, autoLinkAddress(n, r.source), "", label.inlines())
}

// mdLink adds a link. If the link leads to a footnote, and the reference to this footnote follows directly, the link's
// text becomes the annotated text.
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
		// Spaces after a line break or after the heading's anchor are not a part of the text.
		if b.ended("\n") || b.anchor.id != "" && b.empty() {
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

// link adds a link. If the link's scheme is not allowed, the function adds only text: the link's text, and the address
// if it differs from this text.
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
	if shown := content.InlineText(label); shown != address && mailScheme+shown != address {
		b.text(" (" + address + ")")
	}
}

func (r *reader) mathInline(b *inlineBuilder, n *mathInline) {
	formula := r.cellText(string(n.segment.Value(r.source)))
	if b.inLink {
		b.source("$$" + formula + "$$")
		return
	}
	b.add(schema.Node{Type: "inline-math", Data: schema.Data{"formula": content.Clean(formula)}})
}

// copy adds inlines that were already read.
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

func (r *reader) noteReference(b *inlineBuilder, n *noteReference) {
	if link, ok := n.PreviousSibling().(*ast.Link); ok && noteLink.Match(link.Destination) && r.annotated[n] {
		return
	}
	r.annotate(b, nil, n)
}

// annotate adds an annotation. If `link` is not nil, the link's text is the annotated text. A reference in a note or in
// a link is stored as source. If references would repeat a long note too often, further references to it are also
// stored as source.
func (r *reader) annotate(b *inlineBuilder, link *ast.Link, n *noteReference) {
	body, ok := r.note(n.label)
	words := []schema.Node{}
	if link != nil {
		words = r.children(b, link)
		ok = ok && !slices.ContainsFunc(words, func(w schema.Node) bool { return w.Object != schema.ObjectText })
	}
	if !ok || b.inLink || r.inNote {
		if link != nil {
			r.link(b, unescape(link.Destination), unescape(link.Title), words)
		} else {
			b.source("[^" + n.label + "]")
		}
		return
	}
	if link != nil {
		if r.annotated == nil {
			r.annotated = map[*noteReference]bool{}
		}
		r.annotated[n] = true
	}
	r.expandedNotes[n.label] = true
	b.add(schema.Node{Type: "annotation", Meta: schema.Data{"label": n.label}, Nodes: words, Fragments: []schema.Node{{
		Object: schema.ObjectFragment, Type: fragmentNote, Nodes: body,
	}}})
}

// rawInline adds an HTML tag with the content up to the end tag. It returns the last node that it has handled: the end
// tag, or n itself.
func (r *reader) rawInline(b *inlineBuilder, n *ast.RawHTML, pairs map[ast.Node]ast.Node) ast.Node {
	source := r.rawSource(n)
	end, paired := pairs[n]
	name := tagName(source)
	if !strings.HasPrefix(source, "</") && (paired || slices.Contains(voidElements, name)) {
		closing := ""
		if paired {
			closing = "</" + name + ">"
		}
		open := strictTag(n, source)
		if nodes, ok := parseHTML(open + closing); ok && len(nodes) == 1 && len(nodes[0].nodes) == 0 {
			e := inlineElement{name: name, attrs: nodes[0].attrs, open: open}
			e.empty = func() bool { return isTagsUntil(n, end) }
			e.read = func(b *inlineBuilder) bool { r.siblings(b, n.NextSibling(), end, pairs); return true }
			e.plain = func() (string, bool) {
				if !isTextUntil(n, end) {
					return "", false
				}
				return unescape([]byte(r.between(n, end))), true
			}
			e.inside = func() ([]*element, bool) {
				if !isShort(n, end) {
					return nil, false
				}
				return parseHTML(r.between(n, end))
			}
			if r.element(b, e) {
				if paired {
					return end
				}
				return n
			}
		}
	}
	if (name == "script" || name == "style") && paired && !strings.HasPrefix(source, "</") && isShort(n, end) {
		b.hide(source + r.between(n, end) + "</" + name + ">")
		return end
	}
	if hidesTag(source, paired) {
		b.hide(source)
	} else {
		b.source(source)
	}
	return n
}
