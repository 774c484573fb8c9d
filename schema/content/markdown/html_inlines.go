package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// inlinesHTML writes inlines as HTML. Cells, titles, captions and aligned blocks need HTML.
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
		for _, p := range htmlPieces(n.Leaves) {
			switch {
			// A hidden piece is left out if it would become visible text in HTML.
			case p.hidden && p.text[0] != '<' && !isTagInHTML(p.text):
			case p.hidden || p.raw && isTagInHTML(p.text):
				h.turnTo(p.style)
				h.out.Write(bytes.ReplaceAll(p.text, []byte("\n"), []byte(" ")))
			case p.raw && shortcodeLength(p.text) == len(p.text):
				h.turnTo(p.style)
				h.out.WriteString(h.text(string(p.text)))
			case p.raw:
				h.turnTo(style{})
				h.out.WriteString("<code>" + h.text(string(p.text)) + "</code>")
			default:
				h.turnTo(p.style)
				h.out.WriteString(h.text(string(p.text)))
			}
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

// isTagInHTML reports whether a source is one tag in {% %} or one shortcode of Hugo. Such a source is read as the same
// source within HTML too. In {{<a>}}, HTML would begin with a tag.
func isTagInHTML(source []byte) bool {
	from, to := nextTagInHTML(string(source), bytes.LastIndex(source, []byte("%}")))
	rest := bytes.TrimPrefix(source, []byte("{{< "))
	return from == 0 && to == len(source) && to > 0 && bytes.IndexByte(rest, '<') < 0
}

// htmlPieces returns the leaves of a text as pieces. A hidden leaf gets the style of the text next to it.
func htmlPieces(leaves []schema.Leaf) []piece {
	pieces := make([]piece, len(leaves))
	for i, leaf := range leaves {
		pieces[i] = piece{style: styleOf(leaf.Marks), text: []byte(leaf.Text)}
		if source := hiddenSource(leaf); source != "" {
			pieces[i] = piece{style: style{raw: true, hidden: true}, text: []byte(source)}
		}
	}
	carryMarks(pieces)
	return pieces
}

// spanHTML writes an inline without text. It returns "" if the inline has no HTML form.
func spanHTML(n *schema.Node) string {
	if n.Type == "link" {
		return openTag("a", linkAttributes(n)) + inlinesHTML(n.Nodes) + "</a>"
	}
	return spanOf(n, inHTML)
}

// readsHTML reports whether the HTML of an inline can be read again. If the HTML of an inline cannot be read, the whole
// block around it becomes source text.
func readsHTML(span string) bool {
	nodes, ok := parseHTML(span)
	return ok && (&reader{}).inlineHTML(&inlineBuilder{}, nodes)
}

// turnTo closes and opens elements until the open elements give the style s.
func (h *htmlWriter) turnTo(s style) {
	want := s.layers()
	if s.marks&content.Code != 0 {
		want = append(want, layer{html: "code"})
	}
	common := 0
	for common < len(want) && common < len(h.open) && want[common] == h.open[common] {
		common++
	}
	for i := len(h.open) - 1; i >= common; i-- {
		h.out.WriteString(h.open[i].htmlClose())
	}
	h.open = h.open[:common]
	for _, l := range want[common:] {
		h.out.WriteString(l.htmlOpen())
		h.open = append(h.open, l)
	}
}

// text escapes text for HTML. It also escapes white space that HTML collapses, and shortcodes that would be read as
// emojis.
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
		case c == '{' && strings.HasPrefix(text[i:], "{%") && !h.inCode():
			b.WriteString("&#123;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (h *htmlWriter) inCode() bool { return slices.Contains(h.open, layer{html: "code"}) }

// atSpace reports whether a reader would drop a space that is written next.
func (h *htmlWriter) atSpace() bool {
	out := h.out.String()
	return out == "" || strings.HasSuffix(out, "<br>") || strings.HasSuffix(out, " ")
}
