package markdown

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// inlinesHTML writes inlines for places whose content is HTML: cells, titles, captions and aligned blocks.
func inlinesHTML(nodes []schema.Node) string {
	var h htmlWriter
	h.nodes(nodes)
	h.turnTo(style{})
	out := h.out.String()
	if strings.HasSuffix(out, " ") {
		out = strings.TrimSuffix(out, " ") + "&#x20;"
	}
	return out
}

// htmlWriter writes runs of text with a stack of open elements.
type htmlWriter struct {
	out  strings.Builder
	open []layer
}

func (h *htmlWriter) nodes(nodes []schema.Node) {
	for i := range nodes {
		n := &nodes[i]
		for _, leaf := range n.Leaves {
			if source := hiddenSource(leaf); source != "" {
				if !strings.HasPrefix(source, "<") {
					continue // It would be text in HTML.
				}
				h.out.WriteString(strings.ReplaceAll(source, "\n", " "))
				continue
			}
			s := styleOf(leaf.Marks)
			if s.raw {
				h.turnTo(style{})
				h.out.WriteString("<code>" + h.text(leaf.Text) + "</code>")
				continue
			}
			h.turnTo(s)
			h.out.WriteString(h.text(leaf.Text))
		}
		if n.Object == schema.ObjectText {
			continue
		}
		h.turnTo(style{})
		if n.Type == "annotation" {
			h.nodes(n.Nodes)
			h.turnTo(style{})
			h.out.WriteString(h.text(" (" + content.Annotation(n) + ")"))
			continue
		}
		if span := spanHTML(n); span != "" && readsHTML(span) {
			h.out.WriteString(span)
			continue
		}
		h.out.WriteString(h.text(content.Label(n)))
		h.nodes(n.Nodes)
	}
}

// spanHTML writes an inline that is one unit; "" if it has no form of its own.
func spanHTML(n *schema.Node) string {
	if n.Type == "link" {
		return openTag("a", linkAttributes(n)) + inlinesHTML(n.Nodes) + "</a>"
	}
	return spanOf(n, inHTML)
}

// readsHTML reports whether a reader knows the inline. If it did not, the block around it would be kept as its source.
func readsHTML(span string) bool {
	nodes, ok := parseHTML(span)
	return ok && (&reader{}).inlineHTML(&inlineBuilder{}, nodes)
}

// turnTo closes and opens elements for the style.
func (h *htmlWriter) turnTo(s style) {
	want := s.layers()
	if s.marks&content.Code != 0 {
		want = append(want, layer{html: "code"})
	}
	same := 0
	for same < len(want) && same < len(h.open) && want[same] == h.open[same] {
		same++
	}
	for i := len(h.open) - 1; i >= same; i-- {
		h.out.WriteString(h.open[i].htmlClose())
	}
	h.open = h.open[:same]
	for _, l := range want[same:] {
		h.out.WriteString(l.htmlOpen())
		h.open = append(h.open, l)
	}
}

func (l layer) htmlOpen() string {
	if l.html != "" {
		return "<" + l.html + ">"
	}
	return l.open
}

func (l layer) htmlClose() string {
	if l.html != "" {
		return "</" + l.html + ">"
	}
	return l.close
}

// text escapes text: HTML collapses white space, and shortcodes become emojis.
func (h *htmlWriter) text(text string) string {
	text = content.Clean(text)
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			b.WriteString("<br>")
		case c == ' ' && (i == 0 && h.atSpace() || i > 0 && strings.IndexByte(" \n", text[i-1]) >= 0):
			b.WriteString("&#x20;")
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "&#%d;", c)
		case c == '<':
			b.WriteString("&#x3C;")
		case c == '&':
			b.WriteString("&#x26;")
		case c == ':' && isShortcode(text, i):
			b.WriteString("&#58;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// atSpace reports whether a space here would be lost.
func (h *htmlWriter) atSpace() bool {
	out := h.out.String()
	return out == "" || strings.HasSuffix(out, "<br>") || strings.HasSuffix(out, " ")
}

// blocksHTML writes the blocks of a cell.
func blocksHTML(nodes []schema.Node) string {
	if len(nodes) == 1 && nodes[0].Type == "paragraph" && !attributed(&nodes[0]) {
		return inlinesHTML(nodes[0].Nodes)
	}
	var b strings.Builder
	for i := range nodes {
		b.WriteString(blockHTML(&nodes[i]))
	}
	return b.String()
}

// ownAttributes are the attributes of a paragraph or a heading in HTML.
func ownAttributes(n *schema.Node) attributes {
	attrs := attributes(nil).set("align", alignmentName(content.Member(n.Data, "align")))
	others := stringMap(n.Data[memberAttributes])
	if n.Type == "paragraph" {
		others = stringMap(n.Meta[memberAttributes])
	}
	return append(attrs, otherAttributes(others, attrs)...)
}

func blockHTML(n *schema.Node) string {
	switch n.Type {
	case "paragraph":
		return openTag("p", ownAttributes(n)) + inlinesHTML(n.Nodes) + "</p>"
	case "heading-1", "heading-2", "heading-3":
		name := "h" + strconv.Itoa(headingLevel(n))
		anchor := headingAnchorHTML(n)
		if anchor != "" {
			anchor = " " + anchor
		}
		return openTag(name, ownAttributes(n)) + inlinesHTML(n.Nodes) + anchor + "</" + name + ">"
	case "list-unordered", "list-ordered", "list-tasks":
		return listHTML(n)
	case "blockquote":
		return "<blockquote>" + blocksHTML(n.Nodes) + "</blockquote>"
	case "images":
		return strings.ReplaceAll(figuresHTML(n), "\n", "")
	case "code":
		return codeHTML(n)
	}
	return "<p>" + inlinesHTML(content.Inlines([]schema.Node{*n})) + "</p>"
}

func listHTML(n *schema.Node) string {
	name, attrs := "ul", attributes(nil)
	if n.Type == "list-ordered" {
		name = "ol"
		if start := content.ListStart(n); start != 1 {
			attrs = attrs.set("start", strconv.Itoa(start))
		}
	}
	var b strings.Builder
	b.WriteString(openTag(name, attrs))
	for i := range n.Nodes {
		box := ""
		if checked, task := taskOf(n, &n.Nodes[i]); task {
			box = map[bool]string{true: "[x] ", false: "[ ] "}[checked]
		}
		b.WriteString("<li>" + box + blocksHTML(n.Nodes[i].Nodes) + "</li>")
	}
	return b.String() + "</" + name + ">"
}

// codeHTML writes a block of code without newlines, because a blank line would end the HTML.
func codeHTML(n *schema.Node) string {
	lines := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		lines[i] = content.InlineText(n.Nodes[i].Nodes)
	}
	return strings.ReplaceAll(preHTML(n, lines), "\n", "&#10;")
}
