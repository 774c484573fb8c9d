package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// form says which content a tag can have before its end tag.
type form int

const (
	formAlone     form = iota // no content and no end tag
	formContainer             // blocks
	formCode                  // one code block
	formCaption               // one paragraph with the caption, or no content; without content, the end tag is optional
	formLink                  // no content, or one paragraph with a link made from the attributes
)

// tagRow is one of GitBook's tags: {% name attributes %}. Most tags have an end, {% endname %}.
type tagRow struct {
	name  string
	kind  string // the type of the node; if the grammar lacks the type, the node is stored as tags around its content
	form  form
	attrs []tagAttribute
	// position is the member whose value is written in the tag without a name. `bare` is true if this value is written
	// without quotes.
	position string
	bare     bool
	// sealed is true if the node's data cannot store attributes that are not in `attrs`.
	sealed bool
}

// tagAttribute is an attribute of a tag, with the member of the data that has its value.
type tagAttribute struct {
	name, member string
	kind         *valueKind
}

// valueKind reads and writes the values of attributes. The second result of `read` is false if `write` could not
// restore the text from the value.
type valueKind struct {
	read  func(text string) (any, bool)
	write func(value any) (string, bool)
}

var (
	// kindLink reads the address of a link that is shown to readers.
	kindLink = &valueKind{func(text string) (any, bool) {
		shown := schema.ShownLink(text)
		return shown, shown != "" || text == ""
	}, kindText.write}
	kindText = &valueKind{func(text string) (any, bool) { return text, true }, func(value any) (string, bool) {
		text, ok := value.(string)
		return content.Clean(text), ok
	}}
	kindFlag = &valueKind{func(text string) (any, bool) { return text == "true", text == "true" || text == "false" }, func(value any) (string, bool) {
		flag, ok := value.(bool)
		return strconv.FormatBool(flag), ok
	}}
	kindNumber = &valueKind{func(text string) (any, bool) {
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && formatNumber(n) == text
	}, func(value any) (string, bool) {
		n, ok := value.(float64)
		return formatNumber(n), ok
	}}
	kindLength = &valueKind{readLength, func(value any) (string, bool) {
		text := lengthText(value)
		return text, text != ""
	}}
	kindList = &valueKind{func(text string) (any, bool) {
		list := []any{}
		for item := range strings.SplitSeq(text, ",") {
			list = append(list, item)
		}
		return list, true
	}, func(value any) (string, bool) {
		list, ok := value.([]any)
		texts := make([]string, len(list))
		for i, item := range list {
			texts[i], _ = item.(string)
		}
		return strings.Join(texts, ","), ok && len(list) > 0
	}}
	kindRef = &valueKind{func(text string) (any, bool) { return content.Ref(text) }, func(value any) (string, bool) {
		return content.Link(value), refKind(value) != ""
	}}
	// kindFile and kindReusable read paths in a repository, or references to objects in Octavo.
	kindFile     = namedRef("file", "file")
	kindReusable = namedRef("reusable-content", "reusableContent")
	kindSpec     = namedRef("openapi", "spec")
	// kindImport reads a file or an address.
	kindImport = &valueKind{func(text string) (any, bool) {
		ref, ok := content.Ref(text)
		return ref, ok && (ref["kind"] == "url" || ref["kind"] == "file")
	}, kindRef.write}
)

// namedRef returns the kind of value for references of a kind. In a tag, the reference is written as the value of its
// member. If the reference has more members, for example a space, it is written as content.Link writes it.
func namedRef(kind, member string) *valueKind {
	return &valueKind{
		func(text string) (any, bool) {
			if schema.LinkScheme(text) == "ref" {
				ref, ok := content.Ref(text)
				return ref, ok && ref["kind"] == kind
			}
			return map[string]any{"kind": kind, member: text}, !strings.ContainsRune(text, 0)
		},
		func(value any) (string, bool) {
			ref, _ := value.(map[string]any)
			text, ok := ref[member].(string)
			switch {
			case ref["kind"] == "url": // the text of such a reference is its address
				return content.Link(value), true
			case ref["kind"] != kind || !ok:
				return "", false
			}
			if len(ref) > 2 || schema.LinkScheme(text) == "ref" {
				return content.Link(value), true
			}
			return content.Clean(text), true
		},
	}
}

var operationAttributes = []tagAttribute{{"spec", "ref", kindSpec}, {"path", "path", kindText}, {"method", "method", kindText}}

var importAttributes = []tagAttribute{
	{"src", "ref", kindImport}, {"path", "path", kindText}, {"method", "method", kindText}, {"expanded", "expanded", kindFlag},
	{"fullWidth", "fullWidth", kindFlag},
}

// tagRows has a row for each tag. If several rows have the same kind, nodes of this kind are written as the tag of the
// first of these rows.
var tagRows = []tagRow{
	{name: "hint", kind: "hint", form: formContainer, attrs: []tagAttribute{{"style", "style", kindText}, {"icon", "icon", kindText}}},
	{name: "tabs", kind: "tabs", form: formContainer, sealed: true, attrs: []tagAttribute{{"fullWidth", "fullWidth", kindFlag}}},
	{name: "tab", kind: "tabs-item", form: formContainer, attrs: []tagAttribute{{"title", "title", kindText}, {"icon", "icon", kindText}}},
	{name: "stepper", kind: "stepper", form: formContainer, sealed: true},
	{name: "step", kind: "stepper-step", form: formContainer, attrs: []tagAttribute{{"icon", "icon", kindText}}},
	{name: "columns", kind: "columns", form: formContainer, attrs: []tagAttribute{{"fullWidth", "fullWidth", kindFlag}}},
	{name: "column", kind: "column", form: formContainer, sealed: true, attrs: []tagAttribute{
		{"width", "width", kindLength}, {"valign", "verticalAlignment", kindText},
	}},
	{name: "if", kind: "if", form: formContainer, position: "expression", bare: true},
	{name: "updates", kind: "updates", form: formContainer, attrs: []tagAttribute{{"format", "format", kindText}}},
	{name: "update", kind: "update", form: formContainer, attrs: []tagAttribute{{"date", "date", kindText}, {"tags", "tags", kindText}}},
	{name: "prompt", kind: "prompt", form: formContainer, attrs: []tagAttribute{{"description", "description", kindText}, {"icon", "icon", kindText}}},
	{name: "code", kind: "code", form: formCode, attrs: []tagAttribute{
		{"title", "title", kindText}, {"overflow", "overflow", kindText}, {"lineNumbers", "lineNumbers", kindFlag},
		{"fullWidth", "fullWidth", kindFlag}, {"expandable", "expandable", kindFlag}, {"collapsedLineCount", "collapsedLineCount", kindNumber},
	}},
	{name: "embed", kind: "embed", form: formCaption, attrs: []tagAttribute{
		{"url", "url", kindLink}, {"fullWidth", "fullWidth", kindFlag},
	}},
	{name: "file", kind: "file", form: formCaption, attrs: []tagAttribute{{"src", "ref", kindFile}}},
	{name: "content-ref", kind: "content-ref", form: formLink, attrs: []tagAttribute{{"url", "ref", kindRef}}},
	{name: "page-ref", kind: "content-ref", form: formAlone, attrs: []tagAttribute{{"page", "ref", kindRef}}},
	{name: "openapi", kind: "swagger", form: formLink, attrs: importAttributes},
	{name: "swagger", kind: "swagger", form: formLink, attrs: importAttributes},
	{name: "openapi-operation", kind: "openapi-operation", form: formLink, attrs: operationAttributes},
	{name: "openapi-webhook", kind: "openapi-webhook", form: formLink, attrs: []tagAttribute{
		{"spec", "ref", kindSpec}, {"name", "name", kindText}, {"method", "method", kindText},
	}},
	{name: "openapi-schemas", kind: "openapi-schemas", form: formLink, attrs: []tagAttribute{
		{"spec", "ref", kindSpec}, {"schemas", "schemas", kindList}, {"grouped", "grouped", kindFlag},
	}},
	{name: "include", kind: "reusable-content", form: formAlone, position: "ref", attrs: []tagAttribute{{"", "ref", kindReusable}}},
}

func tagNamed(name string) *tagRow {
	if i := slices.IndexFunc(tagRows, func(row tagRow) bool { return row.name == name }); i >= 0 {
		return &tagRows[i]
	}
	return nil
}

func tagOfKind(kind string) *tagRow {
	if i := slices.IndexFunc(tagRows, func(row tagRow) bool { return row.kind == kind }); i >= 0 {
		return &tagRows[i]
	}
	return nil
}

// tagOf returns the row of the tag with which a node is written. It returns nil if the node has no tag.
func tagOf(n *schema.Node) *tagRow {
	if row := tagNamed(content.Member(n.Data, memberTagName)); row != nil && row.kind == n.Type {
		return row
	}
	return tagOfKind(n.Type)
}

// tag is a parsed tag.
type tag struct {
	name     string
	position string
	attrs    attributes
}

const quoted = `"[^"]*"|'[^']*'`

var (
	tagLine = regexp.MustCompile(`^ {0,3}\{%\s*([a-zA-Z][\w-]*)((?:` + quoted + `|[^"'%]|%[^}"'])*?)\s*%\}\s*$`)
	tagAttr = regexp.MustCompile(`^\s*([a-zA-Z][\w-]*)(?:\s*=\s*(` + quoted + `|[^\s"']+))?(?:\s|$)`)
)

// readTagLine reads a line that consists of one tag.
func readTagLine(line []byte) (tag, bool) {
	if !bytes.Contains(line, []byte("{%")) {
		return tag{}, false
	}
	match := tagLine.FindSubmatch(line)
	if match == nil {
		return tag{}, false
	}
	t := tag{name: string(match[1])}
	t.position = strings.TrimSpace(string(match[2]))
	rest := t.position
	for rest != "" {
		at := tagAttr.FindStringSubmatch(rest)
		if at == nil || t.attrs.has(at[1]) || len(t.attrs) == maxAttributes {
			t.attrs = nil // the text is not a list of attributes, but an expression or a path
			return t, true
		}
		rest = strings.TrimSpace(rest[len(at[0]):])
		t.attrs = append(t.attrs, attribute{name: at[1], value: unquote(at[2]), flag: at[2] == ""})
	}
	t.position = ""
	return t, true
}

func unquote(value string) string {
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') {
		value = value[1 : len(value)-1]
	}
	return unquotes.Replace(value)
}

// Only these character references are read in attributes. Many values are addresses, in which an ampersand usually does
// not begin a character reference.
var (
	unquotes = strings.NewReplacer("&quot;", `"`, "&#10;", "\n", "&#38;", "&")
	quotes   = strings.NewReplacer("\n", "&#10;", "&quot;", "&#38;quot;", "&#10;", "&#38;#10;", "&#38;", "&#38;#38;")
)

func quote(value string) string {
	value = quotes.Replace(value)
	switch {
	case !strings.Contains(value, `"`):
		return `"` + value + `"`
	case !strings.Contains(value, "'"):
		return "'" + value + "'"
	}
	return `"` + strings.ReplaceAll(value, `"`, "&quot;") + `"`
}

// tagText writes a tag.
func tagText(name string, attrs attributes) string {
	var b strings.Builder
	b.WriteString("{% " + name)
	for _, a := range attrs {
		b.WriteByte(' ')
		switch {
		case a.name == "":
			b.WriteString(a.value)
		case a.flag:
			b.WriteString(a.name)
		default:
			b.WriteString(a.name + "=" + quote(a.value))
		}
	}
	b.WriteString(" %}")
	return b.String()
}

// node makes the node of a tag, without its content. The second result is false if the grammar does not allow the
// values of the tag's attributes.
func (row *tagRow) node(t tag) (schema.Node, bool) {
	n := schema.Node{Type: row.kind, Data: schema.Data{}}
	if row.position != "" {
		value, ok := row.readPosition(t)
		n.Data[row.position] = value
		return n, ok && schema.ValidData(row.kind, n.Data)
	}
	others := map[string]any{}
	for _, a := range t.attrs {
		i := slices.IndexFunc(row.attrs, func(known tagAttribute) bool { return known.name == a.name })
		if i >= 0 && !a.flag {
			if value, ok := row.attrs[i].kind.read(a.value); ok {
				n.Data[row.attrs[i].member] = value
				continue
			}
		}
		if others[a.name] = any(a.value); a.flag {
			others[a.name] = true
		}
	}
	if row.kind == "hint" && n.Data["style"] == nil && len(others) == 0 {
		n.Data["style"] = "info"
	}
	if len(others) > 0 {
		if row.sealed {
			n.Meta = schema.Data{memberAttributes: others}
		} else {
			n.Data[memberAttributes] = others
		}
	}
	if tagOfKind(row.kind) != row {
		n.Data[memberTagName] = row.name
	}
	ok := t.position == "" && schema.ValidData(row.kind, n.Data)
	if row.sealed && len(n.Data) == 0 && row.kind != "column" {
		n.Data = nil
	}
	return n, ok
}

func (row *tagRow) readPosition(t tag) (any, bool) {
	if row.bare {
		text := t.position
		if text == "" && len(t.attrs) == 1 && t.attrs[0].flag {
			text = t.attrs[0].name
		}
		return text, text != "" && len(t.attrs) <= 1
	}
	if len(t.position) < 2 || unquote(t.position) == t.position {
		return nil, false
	}
	return row.attrs[0].kind.read(unquote(t.position))
}

// attributes returns the attributes of a node's tag.
func (row *tagRow) attributes(n *schema.Node) attributes {
	var attrs attributes
	if row.position != "" {
		text := content.Member(n.Data, row.position)
		if !row.bare {
			text, _ = row.attrs[0].kind.write(n.Data[row.position])
			text = quote(text)
		}
		return attributes{{value: text}}
	}
	for _, a := range row.attrs {
		value, given := n.Data[a.member]
		if text, ok := a.kind.write(value); given && ok {
			attrs = append(attrs, attribute{name: a.name, value: text})
		}
	}
	others, _ := n.Data[memberAttributes].(map[string]any)
	if row.sealed {
		others, _ = n.Meta[memberAttributes].(map[string]any)
	}
	return append(attrs, otherAttributes(others, attrs)...)
}

// partKinds maps a type of block to the type that all of its children have.
var partKinds = map[string]string{
	"tabs": "tabs-item", "stepper": "stepper-step", "columns": "column", "updates": "update",
}
