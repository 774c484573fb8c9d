package markdown

import (
	"html"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// inlineElement is an HTML element in a line of Markdown or of HTML. In Markdown, the content of the element is
// Markdown.
type inlineElement struct {
	name   string
	attrs  attributes
	open   string      // the opening tag as written in the source
	empty  func() bool // empty reports whether the element has no text, so that its mark would be lost
	read   func(b *inlineBuilder) bool
	plain  func() (string, bool) // plain returns the content, and false if the content is not only text
	inside func() ([]*element, bool)
}

// maxInlineElements bounds the elements around a text. maxTags bounds the elements for which a document has no mark,
// because each such element adds its own mark to every leaf. Deeper elements stay as source.
const (
	maxInlineElements = 16
	maxTags           = 4
)

// elementReaders has a row for each element that can become an inline node. A reader returns false if it has added
// nothing.
var elementReaders map[string]func(r *reader, b *inlineBuilder, e inlineElement) bool

func init() { // The table is set in init, because the readers call element, and element uses the table.
	elementReaders = map[string]func(r *reader, b *inlineBuilder, e inlineElement) bool{
		"code": (*reader).expression, "span": (*reader).mathElement, "i": (*reader).icon, "a": (*reader).anchorElement, "mark": (*reader).colorElement,
		"button": (*reader).actionButton, "picture": (*reader).picture, "img": (*reader).imgElement,
		"br": (*reader).lineBreak,
	}
}

// element adds an element. If a document cannot contain the element, element adds nothing and returns false.
func (r *reader) element(b *inlineBuilder, e inlineElement) bool {
	if read, ok := elementReaders[e.name]; ok && read(r, b, e) {
		return true
	}
	if b.depth >= maxInlineElements {
		return false
	}
	if mark, ok := elementMarks[e.name]; ok && len(e.attrs) == 0 {
		return b.styled(e, style{marks: mark})
	}
	if slices.Contains(unmarked, e.name) && plainTag(e.open) && strings.Count(b.tags, "<") < maxTags {
		return b.styled(e, style{tags: e.open})
	}
	return false
}

// styled adds the content of an element with an additional mark, color or tag. It returns false if the element has no
// content.
func (b *inlineBuilder) styled(e inlineElement, more style) bool {
	if e.empty != nil && e.empty() {
		return false
	}
	outer := b.style
	b.marks |= more.marks
	if more.color != "" {
		b.color = more.color
	}
	if more.tags != "" {
		b.style = b.within(more.tags)
	}
	b.depth++
	ok := e.read(b)
	b.depth--
	b.style = outer
	return ok
}

func (r *reader) lineBreak(b *inlineBuilder, e inlineElement) bool {
	if !e.attrs.only("clear", "class", "style") {
		return false
	}
	b.text("\n")
	return true
}

// expression reads <code class="expression">.
func (r *reader) expression(b *inlineBuilder, e inlineElement) bool {
	return r.textElement(b, e, "expression", schema.Node{Type: "expression", Data: schema.Data{}}, "expression")
}

// mathElement reads <span class="math">.
func (r *reader) mathElement(b *inlineBuilder, e inlineElement) bool {
	return r.textElement(b, e, "math", schema.Node{Type: "inline-math", Data: schema.Data{}}, "formula")
}

// textElement adds the node n for an element that has the given class. The element's text becomes a member of n.
func (r *reader) textElement(b *inlineBuilder, e inlineElement, class string, n schema.Node, member string) bool {
	if given, _ := e.attrs.get("class"); given != class || !e.attrs.only("class") || b.inLink {
		return false
	}
	text, ok := e.plain()
	if !ok {
		return false
	}
	n.Data[member] = text
	b.add(n)
	return true
}

// icon reads <i class="fa-name">:name:</i>.
func (r *reader) icon(b *inlineBuilder, e inlineElement) bool {
	class, _ := e.attrs.get("class")
	name, isIcon := strings.CutPrefix(class[strings.LastIndexByte(class, ' ')+1:], "fa-")
	if !isIcon {
		return false
	}
	label, ok := e.plain()
	if !ok || name == "" || label != "" && label != ":"+name+":" || b.inLink || !e.attrs.only("class", "style") {
		return false
	}
	data := schema.Data{"icon": name}
	if class != "fa-"+name {
		data["class"] = class
	}
	if css, given := e.attrs.get("style"); given {
		color, ok := markColor(css)
		text, background, _ := strings.Cut(color, " ")
		if !ok || background != defaultColor {
			return false
		}
		data["color"] = text
	}
	b.add(schema.Node{Type: "icon", Data: data})
	return true
}

// actionButton reads a button that opens the site's search or assistant.
func (r *reader) actionButton(b *inlineBuilder, e inlineElement) bool {
	label, plain := e.plain()
	class, _ := e.attrs.get("class")
	kind, isButton := strings.CutPrefix(class, "button ")
	name, _ := e.attrs.get("data-action")
	if !plain || !isButton || b.inLink ||
		!e.attrs.only("type", "class", "data-action", "data-query", "data-slug", "data-icon") {
		return false
	}
	action := map[string]any{"action": name}
	for _, member := range []string{"query", "slug"} {
		if value, given := e.attrs.get("data-" + member); given {
			action[member] = value
		}
	}
	data := schema.Data{"label": label, "kind": kind, "action": action}
	if icon, given := e.attrs.get("data-icon"); given {
		data["icon"] = icon
	}
	if !schema.ValidData("button", data) {
		return false
	}
	b.add(schema.Node{Type: "button", Data: data})
	return true
}

func (r *reader) colorElement(b *inlineBuilder, e inlineElement) bool {
	css, _ := e.attrs.get("style")
	color, ok := markColor(css)
	if !ok || !e.attrs.only("style") || b.color != "" || b.depth >= maxInlineElements {
		return false
	}
	return b.styled(e, style{color: color})
}

// anchorElement reads links, buttons, mentions and the ids of headings.
func (r *reader) anchorElement(b *inlineBuilder, e inlineElement) bool {
	href, _ := e.attrs.get("href")
	ref, ok := content.Ref(href)
	if !ok || b.inLink {
		return false
	}
	label, plain := e.plain()
	class, _ := e.attrs.get("class")
	switch {
	case r.headingID(b, e):
	case slices.Contains([]string{"button primary", "button secondary"}, class) && plain && e.attrs.only("href", "class", "data-icon"):
		data := schema.Data{"label": label, "kind": strings.TrimPrefix(class, "button "), "ref": ref}
		if icon, given := e.attrs.get("data-icon"); given {
			data["icon"] = icon
		}
		if !schema.ValidData("button", data) {
			return false
		}
		b.add(schema.Node{Type: "button", Data: data})
	case e.attrs.has("data-mention") && plain && e.attrs.only("data-mention", "href"):
		data := schema.Data{"ref": ref}
		if label != fileLabel(href) && !content.ByID(href) {
			data[memberLabel] = label
		}
		b.add(schema.Node{Type: "mention", Data: data})
	case e.attrs.has("href"):
		inner := inlineBuilder{style: b.style, inLink: true, depth: b.depth + 1}
		if b.depth >= maxInlineElements || !e.read(&inner) {
			return false
		}
		data := schema.Data{"ref": ref}
		if title, _ := e.attrs.get("title"); title != "" {
			data["title"] = title
		}
		if others := restOf(e.attrs, []string{"href", "title"}); len(others) > 0 {
			data[memberAttributes] = others
		}
		b.add(schema.Node{Type: "link", Data: data, Nodes: inner.inlines()})
	default:
		return false
	}
	return true
}

// imgElement reads <img> as an inline image.
func (r *reader) imgElement(b *inlineBuilder, e inlineElement) bool {
	data, ok := imageData(e.attrs)
	if ok {
		b.add(schema.Node{Type: "inline-image", Data: data})
	}
	return ok
}

// picture reads a <picture>: an image with a second file for dark backgrounds.
func (r *reader) picture(b *inlineBuilder, e inlineElement) bool {
	nodes, ok := e.inside()
	if !ok || len(e.attrs) > 0 {
		return false
	}
	data, ok := pictureData(nodes)
	if ok {
		b.add(schema.Node{Type: "inline-image", Data: data})
	}
	return ok
}

// elementIn makes an inlineElement from a parsed HTML element.
func (r *reader) elementIn(e *element) inlineElement {
	return inlineElement{
		name: e.name, attrs: e.attrs, open: openTag(e.name, e.attrs), plain: e.plain,
		read:   func(b *inlineBuilder) bool { r.inlineHTML(b, e.nodes); return true },
		inside: func() ([]*element, bool) { return e.nodes, true },
	}
}

// inlineHTML adds HTML nodes as inline content. It hides the tags of elements that cannot be inline content. It returns
// false if one of the nodes is an element that cannot be inline content.
func (r *reader) inlineHTML(b *inlineBuilder, nodes []*element) bool {
	known := true
	for _, n := range nodes {
		switch {
		case n.comment != "":
			b.hide(n.comment)
		case n.name == "":
			b.htmlText(n.text)
		case !r.element(b, r.elementIn(n)):
			known = false
			b.hide(openTag(n.name, n.attrs))
			r.inlineHTML(b, n.nodes)
			if !slices.Contains(voidElements, n.name) {
				b.hide("</" + n.name + ">")
			}
		}
	}
	return known
}

// htmlText adds a text in HTML. It collapses white space and reads emojis. It reads tags in {% %} and shortcodes of
// Hugo in the same way as Markdown does.
func (b *inlineBuilder) htmlText(source string) {
	source = collapse(source)
	if last := strings.LastIndex(source, "%}"); !b.inCode() {
		for from, to := nextTagInHTML(source, last); to > 0; from, to = nextTagInHTML(source, last) {
			b.htmlWords(source[:from])
			b.tag(source[from:to])
			source, last = source[to:], last-to
		}
	}
	b.htmlWords(source)
}

// nextTagInHTML returns the positions of the first tag of GitBook or another template language in a text of HTML. `to`
// is 0 if the text contains no tag. `last` is the position of the last end of a tag.
func nextTagInHTML(source string, last int) (from, to int) {
	for {
		next := strings.IndexByte(source[from:], '{')
		if next < 0 {
			return 0, 0
		}
		from += next
		if length := shortcodeLength([]byte(source[from:min(len(source), from+maxShortcode)])); length > 0 {
			return from, from + length
		}
		if strings.HasPrefix(source[from:], "{%") && from+2 <= last {
			return from, from + 2 + strings.Index(source[from+2:], "%}") + 2
		}
		from++
	}
}

// htmlWords adds a text in HTML that contains no tags in {% %}.
func (b *inlineBuilder) htmlWords(source string) {
	if b.ended("\n") || b.empty() && !b.inLink {
		source = strings.TrimLeft(source, " ")
	}
	for source != "" {
		at := shortcode.FindStringIndex(source)
		if at == nil {
			break
		}
		node, ok := emojiNode(source[at[0]+1 : at[1]-1])
		if !ok || !aloneAt(source, at[0], at[1]) || b.inCode() {
			b.text(content.Clean(html.UnescapeString(source[:at[1]-1])))
			source = source[at[1]-1:]
			continue
		}
		b.text(content.Clean(html.UnescapeString(source[:at[0]])))
		b.emoji(node)
		source = source[at[1]:]
	}
	b.text(content.Clean(html.UnescapeString(source)))
}

// collapse replaces each run of white space by one space.
func collapse(text string) string {
	var b strings.Builder
	space := false
	for _, c := range text {
		if strings.ContainsRune(" \t\n\r\f", c) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(c)
	}
	return b.String()
}

// headingID reads an element that gives a heading its id. The element's content is a part of the heading.
func (r *reader) headingID(b *inlineBuilder, e inlineElement) bool {
	id, ok := anchorIn(e.attrs)
	if !ok || !r.inHeading || b.anchor.id != "" || b.inLink || b.depth >= maxInlineElements {
		return false
	}
	b.anchor = anchor{id, e.open + "</a>"}
	if label, plain := e.plain(); plain && strings.TrimSpace(label) == "" {
		b.trimSpace()
		return true
	}
	b.depth++
	e.read(b)
	b.depth--
	return true
}
