package markdown

import (
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// span writes an inline that is one unit; "" if it has no form of its own.
func (w writer) span(n *schema.Node, where place) string {
	switch n.Type {
	case "link":
		return w.link(n, where)
	case "annotation":
		return annotation(writer{inLabel: true}.inline(n.Nodes, where), w.notes.label(n))
	}
	return spanOf(n, where)
}

// spanOf writes an inline without text of its own; "" if it is another.
func spanOf(n *schema.Node, where place) string {
	switch n.Type {
	case "emoji":
		if name := emojiName(n.Data); name != "" {
			return ":" + name + ":"
		}
	case "icon":
		name, attrs := content.Member(n.Data, "icon"), attributes(nil)
		attrs = attrs.set("class", "fa-"+name)
		if color := content.Member(n.Data, "color"); color != "" && color != defaultColor && knownColor(color) {
			attrs = attrs.set("style", "color:"+color+";")
		}
		return openTag("i", attrs) + htmlCode(":"+name+":") + "</i>"
	case "expression":
		return `<code class="expression">` + htmlCode(content.Member(n.Data, "expression")) + "</code>"
	case "inline-math":
		return mathSpan(content.Member(n.Data, "formula"), where)
	case "inline-image":
		return imageSpan(n.Data, where)
	case "button":
		attrs := attributes{{name: "href", value: content.Link(n.Data["ref"])}, {name: "class", value: "button " + content.Member(n.Data, "kind")}}
		return openTag("a", attrs.set("data-icon", content.Member(n.Data, "icon"))) + htmlCode(content.Member(n.Data, "label")) + "</a>"
	case "mention":
		link := content.Link(n.Data["ref"])
		label, given := n.Data["label"].(string)
		if !given {
			label = fileLabel(link)
		}
		return openTag("a", attributes{{name: "data-mention", flag: true}, {name: "href", value: link}}) + htmlCode(label) + "</a>"
	}
	return ""
}

// link writes a link. Marks that its neighbours could share are written around it.
func (w writer) link(n *schema.Node, where place) string {
	label := n.Nodes
	if marks := labelMarks(label); marks != 0 {
		label = withoutMarks(label, marks)
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

func image(ref any, alt, caption string) string {
	target := address(content.Link(ref))
	if caption != "" {
		target += ` "` + escapedIn(caption, inTitle) + `"`
	}
	return "![" + escapedIn(alt, inTitle) + "](" + target + ")"
}

// address writes the destination of a link, without brackets if it is simple.
func address(link string) string {
	link = content.Clean(link)
	if link != "" && strings.IndexFunc(link, unusual) < 0 && !entities.MatchString(link) {
		return link
	}
	return "<" + addressEscapes.Replace(link) + ">"
}

var entities = regexp.MustCompile(`&(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);`)

func unusual(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\\<>()|", r) }

var addressEscapes = strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "&", "&amp;", "\n", "&#10;", "|", "&#124;")
