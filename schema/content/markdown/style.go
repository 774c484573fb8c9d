package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// style is the style of a run of text. It is comparable, so neighbouring runs with the same style can be joined into
// one leaf.
type style struct {
	marks content.Marks
	color string // names of the text color and the background color, or "" if both are the default
	tags  string // opening tags of the HTML elements that are stored, outermost first, separated by tagBreak
	raw   bool   // whether the text is the source of an inline that documents cannot have; it is written unchanged
	// hidden is true if the text is source that is not shown. If `hidden` is true, `raw` is also true.
	hidden bool
}

const (
	tagBreak     = "\x00"
	defaultColor = "default"
	// memberRaw and memberTag are members of marks. They express styles that the grammar does not have. memberRaw is in
	// a mark of type code whose text is source. memberTag is in a mark of the default colors, and has the opening tag
	// of an HTML element.
	memberRaw = "raw"
	memberTag = "tag"
)

// list returns the style as the marks of a leaf.
func (s style) list() []schema.Mark {
	if s.raw {
		return []schema.Mark{{Object: schema.ObjectMark, Type: "code", Data: schema.Data{memberRaw: true}}}
	}
	list := (s.marks | looks(s.tags)).List()
	if text, background, ok := strings.Cut(s.color, " "); ok {
		list = append(list, colorMark(text, background, ""))
	}
	for tag := range strings.SplitSeq(s.tags, tagBreak) {
		if tag != "" {
			list = append(list, colorMark(defaultColor, defaultColor, tag))
		}
	}
	return list
}

func colorMark(text, background, tag string) schema.Mark {
	data := schema.Data{"text": text, "background": background}
	if tag != "" {
		data[memberTag] = tag
	}
	return schema.Mark{Object: schema.ObjectMark, Type: "color", Data: data}
}

// styleOf returns the style of a leaf with these marks. It leaves out marks that readers cannot see.
func styleOf(list []schema.Mark) style {
	s := style{marks: content.MarksOf(list)}
	for _, mark := range list {
		switch mark.Type {
		case "code":
			if raw, _ := mark.Data[memberRaw].(bool); raw {
				return style{raw: true}
			}
		case "color":
			text, background := content.Member(mark.Data, "text"), content.Member(mark.Data, "background")
			if tag := content.Member(mark.Data, memberTag); plainTag(tag) {
				if looks(tag)&^s.marks == 0 { // an editor that removed the mark has also removed the element
					s = s.within(tag)
				}
			} else if (text != defaultColor || background != defaultColor) &&
				knownColor(text) && knownColor(background) {
				s.color = text + " " + background
			}
		}
	}
	s.marks &^= looks(s.tags)
	return s
}

// within returns the style with one more opening tag. The new tag is inside of the other tags.
func (s style) within(tag string) style {
	if s.tags != "" {
		tag = s.tags + tagBreak + tag
	}
	s.tags = tag
	return s
}

// knownColor reports whether documents can have the color.
func knownColor(name string) bool {
	data := schema.Data{"icon": "", "color": name}
	return name == defaultColor || schema.ValidData("icon", data)
}

// layers returns the layers around the text, outermost first. Code has no layer here, because its form depends on the
// text.
func (s style) layers() []layer {
	var list []layer
	for tag := range strings.SplitSeq(s.tags, tagBreak) {
		if tag != "" {
			list = append(list, layer{open: tag, close: "</" + tagName(tag) + ">"})
		}
	}
	if text, background, ok := strings.Cut(s.color, " "); ok {
		list = append(list, layer{open: markTag(text, background), close: "</mark>"})
	}
	for _, row := range markLayers {
		if s.marks&row.mark != 0 {
			list = append(list, row)
		}
	}
	return list
}

// layer has the texts that begin and end a style.
type layer struct {
	mark        content.Marks // mark of this layer
	open, close string
	html        string // the name of the HTML element with the same meaning
}

// markLayers has the layers of marks. If marks begin and end at the same places, they are opened in this order.
var markLayers = []layer{
	{content.Strike, "~~", "~~", "del"}, {content.Bold, "**", "**", "strong"}, {content.Italic, "_", "_", "em"},
	{content.Keyboard, "<kbd>", "</kbd>", "kbd"}, {content.Superscript, "<sup>", "</sup>", "sup"},
	{content.Subscript, "<sub>", "</sub>", "sub"},
}

// markTag returns the opening tag of a <mark> for a text color and a background color.
func markTag(text, background string) string {
	var b strings.Builder
	if text != defaultColor {
		b.WriteString("color:" + text + ";")
	}
	if background != defaultColor {
		b.WriteString("background-color:" + background + ";")
	}
	return `<mark style="` + b.String() + `">`
}

// markColor reads the colors in the CSS of a <mark>. It returns them in the form of style.color.
func markColor(css string) (string, bool) {
	colors := map[string]string{"color": defaultColor, "background-color": defaultColor}
	for declaration := range strings.SplitSeq(css, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "" && value == "" {
			continue
		}
		if _, known := colors[name]; !known || !knownColor(value) {
			return "", false
		}
		colors[name] = value
	}
	if colors["color"] == defaultColor && colors["background-color"] == defaultColor {
		return "", false
	}
	return colors["color"] + " " + colors["background-color"], true
}

// elementMarks has a row for each element that is read as a mark.
var elementMarks = map[string]content.Marks{
	"strong": content.Bold, "b": content.Bold, "em": content.Italic, "i": content.Italic, "del": content.Strike,
	"s": content.Strike, "strike": content.Strike, "code": content.Code, "kbd": content.Keyboard,
	"sup": content.Superscript, "sub": content.Subscript,
}

// unmarked lists the elements whose attributes are stored. Documents have no mark for these elements, or only a mark
// without attributes.
var unmarked = []string{
	"u", "ins", "small", "big", "span", "font", "abbr", "cite", "q", "var", "samp", "dfn", "tt", "mark", "strong", "b",
	"em", "i", "del", "s", "strike", "code", "kbd", "sup", "sub",
}

// likeMarks has the elements that look like a mark but are not read as a mark.
var likeMarks = map[string]content.Marks{
	"tt": content.Code, "samp": content.Code, "var": content.Italic, "cite": content.Italic, "dfn": content.Italic,
}

// looks returns the marks that readers see because of the elements in `tags`. A leaf in a document has both the tags
// and these marks. A style has only the tags, so reading and writing do not add the marks twice.
func looks(tags string) (marks content.Marks) {
	for tag := range strings.SplitSeq(tags, tagBreak) {
		name := tagName(tag)
		marks |= elementMarks[name] | likeMarks[name]
	}
	return marks
}

// plainTag reports whether a tag is the opening tag of an element in `unmarked`.
func plainTag(tag string) bool {
	return slices.Contains(unmarked, tagName(tag)) && wholeTag.MatchString(tag)
}

var wholeTag = regexp.MustCompile(
	`^<[A-Za-z]+(?: +[A-Za-z_:][\w:.-]*(?: *= *` +
		`(?:[^"'=<>` + "`" + `\x00-\x20]+|'[^'<>\x00-\x1f]*'|"[^"<>\x00-\x1f]*"))?)* *>$`,
)

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
