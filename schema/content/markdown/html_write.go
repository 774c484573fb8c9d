package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

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

// ownAttributes returns the attributes of a paragraph's or a heading's HTML element.
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

// codeHTML writes a block of code without newlines, because a blank line in the code would end the HTML.
func codeHTML(n *schema.Node) string {
	lines := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		lines[i] = content.InlineText(n.Nodes[i].Nodes)
	}
	return strings.ReplaceAll(preHTML(n, lines), "\n", "&#10;")
}

// anchorOf returns the anchor that a text consists of. It returns an empty anchor if the text is not exactly one
// anchor.
func anchorOf(source string) anchor {
	if strings.Trim(source, "\n") != source {
		return ownLineAnchor(source)
	}
	if source == "" || len(source) > 2*maxAnchor+64 || strings.Contains(source, "\n") {
		return anchor{}
	}
	r := newReader("# " + source)
	heading, ok := r.parse(nil).FirstChild().(*ast.Heading)
	if !ok {
		return anchor{}
	}
	r.inHeading = true
	var b inlineBuilder
	if r.inline(&b, heading); len(b.pieces) > 0 || b.anchor.source != source {
		return anchor{}
	}
	return b.anchor
}

// headingAnchor returns the source of a heading's id. The source has the form in which the id was read, or otherwise
// GitBook's form.
func headingAnchor(n *schema.Node) string {
	id := content.Member(n.Data, "id")
	valid := id != "" && schema.ValidData("heading-1", schema.Data{"id": id})
	if !valid {
		id = content.Member(n.Data, content.MemberAnchorName)
	}
	if source := content.Clean(content.Member(n.Data, memberAnchor)); id != "" && anchorOf(source).id == id {
		return source
	}
	if !valid {
		return ""
	}
	return gitbookAnchor(id)
}

// headingAnchorHTML returns the anchor of a heading in a form that HTML can contain.
func headingAnchorHTML(n *schema.Node) string {
	source := headingAnchor(n)
	if strings.HasPrefix(strings.TrimLeft(source, "\n"), "{") {
		return openTag("a", attributes{{name: "id", value: anchorOf(source).id}}) + "</a>"
	}
	return source
}

// detailsParts returns the parts of a written expandable: the opening tag, the summary and the blocks of the body.
func detailsParts(n *schema.Node) (open, summary string, body []schema.Node) {
	var title, attrs = []schema.Node{}, attributes(nil)
	for i := range n.Fragments {
		f := &n.Fragments[i]
		if f.Fragment != fragmentTitle {
			body = append(body, f.Nodes...)
			continue
		}
		title = append(title, content.Inlines(f.Nodes)...)
		others, _ := f.Meta[memberAttributes].(map[string]any)
		attrs = otherAttributes(others, nil)
	}
	return openTag("details", attrs), "<summary>" + inlinesHTML(title) + "</summary>", body
}
