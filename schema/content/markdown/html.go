package markdown

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	xhtml "golang.org/x/net/html"
)

// maxElements bounds the nesting of HTML elements. Deeper elements stay as text.
const maxElements = 24

// maxAttributes bounds the attributes of a tag or an element. A tag with more attributes stays as source text.
const maxAttributes = 32

// element is a parsed HTML element. A parsed text is an element without a name.
type element struct {
	name  string
	attrs attributes
	text  string // text as it is in the source, with unresolved character references
	// comment is the source of a comment. It is also the source of another element that has no name and no text.
	comment string
	nodes   []*element
}

// attributes are the attributes of a tag, in order. Names are unique.
type attributes []attribute

type attribute struct {
	name, value string
	flag        bool // whether the attribute has no value
}

func (a attributes) get(name string) (string, bool) {
	i := slices.IndexFunc(a, func(x attribute) bool { return x.name == name })
	if i < 0 {
		return "", false
	}
	return a[i].value, true
}

func (a attributes) has(name string) bool {
	_, ok := a.get(name)
	return ok
}

// only reports whether all attributes have one of these names.
func (a attributes) only(names ...string) bool {
	return !slices.ContainsFunc(a, func(x attribute) bool { return !slices.Contains(names, x.name) })
}

// voidElements have no content and no end tag.
var voidElements = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
	"source", "track", "wbr"}

// endedByStart and endedByEnd map the name of a start tag or an end tag to the table elements that it closes. The end
// tags of these elements may be missing.
var endedByStart, endedByEnd = omittedEnds()

func omittedEnds() (start, end map[string][]string) {
	cell := []string{"td", "th", "p", "li"}
	row := append([]string{"tr"}, cell...)
	group := append([]string{"thead", "tbody", "tfoot", "colgroup", "caption"}, row...)
	start = map[string][]string{
		"td": cell, "th": cell, "tr": append([]string{"colgroup", "caption"}, row...),
		"thead": group, "tbody": group, "tfoot": group, "p": {"p"}, "li": {"li", "p"},
	}
	end = map[string][]string{
		"td": {"p", "li"}, "th": {"p", "li"}, "tr": cell, "thead": row, "tbody": row, "tfoot": row, "table": group,
		"ul": {"li", "p"}, "ol": {"li", "p"},
	}
	return start, end
}

// parseHTML reads well-formed HTML. Within tables, end tags may be omitted. The second result is false for any other
// text. The caller then stores the source.
func parseHTML(source string) ([]*element, bool) {
	z := xhtml.NewTokenizer(strings.NewReader(source))
	root := &element{}
	stack := []*element{root}
	for {
		top := stack[len(stack)-1]
		switch z.Next() {
		case xhtml.ErrorToken:
			return root.nodes, len(stack) == 1
		case xhtml.CommentToken:
			top.nodes = append(top.nodes, &element{comment: string(z.Raw())})
		case xhtml.TextToken:
			top.nodes = append(top.nodes, &element{text: string(z.Raw())})
		case xhtml.StartTagToken, xhtml.SelfClosingTagToken:
			e, ok := readTag(z)
			if !ok || len(stack) > maxElements {
				return nil, false
			}
			if ends := endedByStart[e.name]; ends != nil && inTable(stack) {
				for slices.Contains(ends, top.name) {
					stack = stack[:len(stack)-1]
					top = stack[len(stack)-1]
				}
			}
			top.nodes = append(top.nodes, e)
			if !slices.Contains(voidElements, e.name) {
				stack = append(stack, e)
			}
		case xhtml.EndTagToken:
			name, _ := z.TagName()
			if ends := endedByEnd[string(name)]; ends != nil && inTable(stack) {
				for top.name != string(name) && slices.Contains(ends, top.name) {
					stack = stack[:len(stack)-1]
					top = stack[len(stack)-1]
				}
			}
			if len(stack) == 1 || top.name != string(name) {
				return nil, false
			}
			stack = stack[:len(stack)-1]
		default:
			return nil, false
		}
	}
}

// inTable reports whether a table is open. The stack is short, so inTable may search all of it.
func inTable(stack []*element) bool {
	return slices.ContainsFunc(stack, func(e *element) bool { return e.name == "table" })
}

func readTag(z *xhtml.Tokenizer) (*element, bool) {
	bare := bareAttributes(string(z.Raw()))
	name, more := z.TagName()
	e := &element{name: string(name)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if e.attrs.has(string(key)) || len(e.attrs) == maxAttributes {
			return nil, false
		}
		e.attrs = append(e.attrs, attribute{name: string(key), value: string(value), flag: len(value) == 0 && bare})
	}
	return e, true
}

var valued = regexp.MustCompile(`=\s*(?:""|'')`)

// bareAttributes reports whether the tag has no attribute with an equals sign and an empty value.
func bareAttributes(source string) bool { return !valued.MatchString(source) }

// blank reports whether an element is white space or a comment.
func (e *element) blank() bool {
	return e.comment != "" || e.name == "" && strings.TrimSpace(e.text) == ""
}

// elements returns the children that are elements. The second result is false if the element also contains text that is
// not white space.
func (e *element) elements() ([]*element, bool) { return onlyElements(e.nodes) }

func onlyElements(nodes []*element) ([]*element, bool) {
	var list []*element
	for _, n := range nodes {
		if n.name == "" && !n.blank() {
			return nil, false
		}
		if n.name != "" && n.comment == "" {
			list = append(list, n)
		}
	}
	return list, true
}

// plain returns the text of an element. The second result is false if the element contains other elements.
func (e *element) plain() (string, bool) {
	var b strings.Builder
	for _, n := range e.nodes {
		if n.name != "" {
			return "", false
		}
		b.WriteString(n.text)
	}
	return html.UnescapeString(b.String()), true
}

// readLength reads a width or a height. It returns a number if the text has no unit, and otherwise the value with its
// unit.
func readLength(text string) (any, bool) {
	digits := strings.TrimRight(text, "%abcdefghijklmnopqrstuvwxyz")
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || formatNumber(value) != digits {
		return nil, false
	}
	if suffix := text[len(digits):]; suffix != "" {
		return map[string]any{"unit": suffix, "value": value}, true
	}
	return value, true
}

// lengthText writes a value that readLength has returned. It returns "" for other values.
func lengthText(value any) string {
	switch value := value.(type) {
	case float64:
		return formatNumber(value)
	case map[string]any:
		number, ok := value["value"].(float64)
		suffix, _ := value["unit"].(string)
		if text := formatNumber(number) + suffix; ok {
			if _, ok := readLength(text); ok && suffix != "" {
				return text
			}
		}
	}
	return ""
}

func formatNumber(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// escapeHTML escapes the values of attributes. It also escapes pipes, which would end a cell, and newlines, which could
// end a block.
var escapeHTML = strings.NewReplacer("&", "&#x26;", "<", "&#x3C;", `"`, "&#x22;", "|", "&#124;", "\n", "&#10;", "\t", "&#9;")

func attributeText(name, value string) string {
	return " " + name + `="` + escapeHTML.Replace(value) + `"`
}

// openTag writes an opening tag.
func openTag(name string, attrs attributes) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for _, a := range attrs {
		if a.flag {
			b.WriteString(" " + a.name)
		} else {
			b.WriteString(attributeText(a.name, a.value))
		}
	}
	b.WriteString(">")
	return b.String()
}

// set adds an attribute if the value is not empty.
func (a attributes) set(name, value string) attributes {
	if value == "" {
		return a
	}
	return append(a, attribute{name: name, value: value})
}

// setFlag adds an attribute without a value if `given` is set.
func (a attributes) setFlag(name string, given bool) attributes {
	if !given {
		return a
	}
	return append(a, attribute{name: name, flag: true})
}

var tagStart = regexp.MustCompile(`^<(/?)([A-Za-z][A-Za-z0-9-]*)`)

// tagName returns the name of the tag at the start of the source.
func tagName(source string) string {
	if m := tagStart.FindStringSubmatch(source); m != nil {
		return strings.ToLower(m[2])
	}
	return ""
}

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}
