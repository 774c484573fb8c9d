package markdown

import (
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// spanOf writes an inline without text of its own, for example an emoji or an image. It returns "" for an inline with
// text.
func spanOf(n *schema.Node, where place) string {
	switch n.Type {
	case "emoji":
		if name := emojiName(n.Data); name != "" {
			return ":" + name + ":"
		}
	case "icon":
		name, attrs := content.Member(n.Data, "icon"), attributes(nil)
		class := content.Member(n.Data, "class")
		if !strings.HasSuffix(class, " fa-"+name) {
			class = "fa-" + name
		}
		attrs = attrs.set("class", class)
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
		if action := schema.Data(stringMap(n.Data["action"])); action != nil && n.Data["ref"] == nil {
			return actionButtonSpan(n, action)
		}
		attrs := attributes{
			{name: "href", value: content.Link(n.Data["ref"])},
			{name: "class", value: "button " + content.Member(n.Data, "kind")},
		}
		return openTag("a", attrs.set("data-icon", content.Member(n.Data, "icon"))) +
			htmlCode(content.Member(n.Data, "label")) + "</a>"
	case "mention":
		link := content.Link(n.Data["ref"])
		label, given := n.Data["label"].(string)
		if !given {
			label = refLabel(n.Data["ref"])
		}
		return openTag("a", attributes{{name: "data-mention", flag: true}, {name: "href", value: link}}) +
			htmlCode(label) + "</a>"
	}
	return ""
}

// actionButtonSpan writes a button that starts an action on the site, such as a search.
func actionButtonSpan(n *schema.Node, action schema.Data) string {
	attrs := attributes{
		{name: "type", value: "button"},
		{name: "class", value: "button " + content.Member(n.Data, "kind")},
	}
	attrs = attrs.set("data-action", content.Member(action, "action"))
	for _, member := range []string{"query", "slug"} {
		if value, given := action[member].(string); given {
			attrs = append(attrs, attribute{name: "data-" + member, value: content.Clean(value)})
		}
	}
	if icon, given := n.Data["icon"].(string); given {
		attrs = append(attrs, attribute{name: "data-icon", value: content.Clean(icon)})
	}
	return openTag("button", attrs) + htmlCode(content.Member(n.Data, "label")) + "</button>"
}

// linkAttributes returns the attributes of a link in HTML.
func linkAttributes(n *schema.Node) attributes {
	attrs := attributes{
		{name: "href", value: content.Link(n.Data["ref"])},
	}.set(
		"title",
		content.Member(n.Data, "title"),
	)
	return append(attrs, otherAttributes(stringMap(n.Data[memberAttributes]), attrs)...)
}

func imageMarkdown(ref any, alt, caption string) string {
	target := address(content.Link(ref))
	if caption != "" {
		target += ` "` + escapedIn(caption, inTitle) + `"`
	}
	return "![" + escapedIn(alt, inTitle) + "](" + target + ")"
}

// address writes the destination of a link. A simple destination has no angle brackets.
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

// imageSpan writes an image that is part of a line.
func imageSpan(data schema.Data, where place) string {
	if where != inHTML && onlyMembers(data, "ref", "alt", "caption") {
		return imageMarkdown(data["ref"], content.Member(data, "alt"), content.Member(data, "caption"))
	}
	return imageHTML(data)
}

func onlyMembers(data schema.Data, names ...string) bool {
	for name := range data {
		known := false
		for _, allowed := range names {
			known = known || name == allowed
		}
		if !known {
			return false
		}
	}
	return true
}

// imageHTML writes an image as an HTML element.
func imageHTML(data schema.Data) string {
	attrs := attributes{
		{name: "src", value: content.Link(data["ref"])}, {name: "alt", value: content.Member(data, "alt")},
	}
	attrs = attrs.set("width", lengthText(data["width"])).set("height", lengthText(data["height"]))
	attrs = attrs.set("data-size", content.Member(data, "size")).set("title", content.Member(data, "caption"))
	img := openTag("img", append(attrs, otherAttributes(stringMap(data[memberAttributes]), attrs)...))
	if dark := content.Link(data["refDark"]); dark != "" {
		source := attributes{{name: "srcset", value: dark}, {name: "media", value: darkMedia}}
		return "<picture>" + openTag("source", source) + img + "</picture>"
	}
	return img
}
