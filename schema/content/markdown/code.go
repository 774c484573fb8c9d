package markdown

import (
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

var codeTitle = regexp.MustCompile(`(?:^|\s)title="([^"]*)"`)

// memberInfo is the name of a member of a code block's data. The member has the text that follows the language in the
// block's first line.
const memberInfo = "info"

func (r *reader) code(n ast.Node) []schema.Node {
	lines := make([]string, n.Lines().Len())
	for i := range lines {
		segment := n.Lines().At(i)
		lines[i] = strings.TrimSuffix(string(segment.Value(r.source)), "\n")
	}
	data, isMath := schema.Data{}, false
	if fenced, ok := n.(*ast.FencedCodeBlock); ok && fenced.Info != nil {
		syntax, info, _ := strings.Cut(strings.TrimSpace(string(fenced.Info.Segment.Value(r.source))), " ")
		if strings.HasPrefix(syntax, `title="`) {
			syntax, info = "", strings.TrimSpace(syntax+" "+info)
		}
		if syntax != "" {
			data["syntax"] = unescape([]byte(syntax))
		}
		isMath = syntax == "math" && info == ""
		if info = content.Clean(strings.TrimSpace(info)); info != "" {
			data[memberInfo] = info
		}
		if title := titleIn(info); title != "" {
			data["title"] = title
		}
	}
	if data["syntax"] == integrationSyntax && len(data) == 1 {
		if node, ok := integrationNode(strings.Join(lines, "\n")); ok {
			return []schema.Node{node}
		}
	}
	if isMath {
		return []schema.Node{{Type: "math", Data: schema.Data{"formula": strings.Join(lines, "\n")}}}
	}
	return []schema.Node{{Type: "code", Data: data, Nodes: codeLines(lines)}}
}

// titleIn returns the title in the first line of a code block, for example main.go in ```go title="main.go"
func titleIn(info string) string {
	if title := codeTitle.FindStringSubmatch(info); title != nil {
		return unescape([]byte(title[1]))
	}
	return ""
}

func codeLines(lines []string) []schema.Node {
	nodes := make([]schema.Node, len(lines))
	for i, line := range lines {
		nodes[i] = schema.Block("code-line")
		if line != "" {
			nodes[i].Nodes = []schema.Node{schema.Text(content.Clean(line))}
		}
	}
	return nodes
}

// preAttributes are the attributes that GitBook writes into <pre>. Each row also has the member of a code block's data
// with the attribute's value.
var preAttributes = []struct{ name, member string }{
	{"data-title", "title"}, {"data-overflow", "overflow"}, {"data-line-numbers", "lineNumbers"},
	{"data-full-width", "fullWidth"},
}

// pre reads code in the form <pre class="language-go"><code class="lang-go">. In this form, highlighted lines are
// <strong>.
func (r *reader) pre(e *element) ([]schema.Node, bool) {
	list, ok := e.elements()
	if !ok || len(list) != 1 || list[0].name != "code" || !list[0].attrs.only("class") {
		return nil, false
	}
	data, ok := preData(e, list[0])
	if !ok {
		return nil, false
	}
	var lines []schema.Node
	for _, part := range list[0].nodes {
		text, highlighted := html.UnescapeString(part.text), part.name == "strong"
		if highlighted {
			if text, ok = part.plain(); !ok || len(part.attrs) > 0 {
				return nil, false
			}
		} else if part.name != "" {
			return nil, false
		}
		if !strings.HasSuffix(text, "\n") {
			// The block is not read if a part of a line is highlighted, or if the last line has no line break.
			return nil, false
		}
		added := codeLines(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
		for i := range added {
			if highlighted {
				added[i].Data = schema.Data{"highlighted": true}
			}
		}
		lines = append(lines, added...)
	}
	return []schema.Node{{Type: "code", Data: data, Nodes: lines}}, true
}

// preData reads the attributes of <pre> and of its <code>. The second result is false if the data of a code block
// cannot express one of the attributes.
func preData(outer, inner *element) (schema.Data, bool) {
	data := schema.Data{}
	class, _ := inner.attrs.get("class")
	language, _ := outer.attrs.get("class")
	syntax, ok := strings.CutPrefix(class, "lang-")
	switch {
	case class == "" && language == "":
	case !ok || language != "language-"+syntax:
		return nil, false
	default:
		data["syntax"] = syntax
	}
	known := 0
	for _, row := range preAttributes {
		value, given := outer.attrs.get(row.name)
		if !given {
			continue
		}
		known++
		if data[row.member] = any(
			value,
		); strings.HasPrefix(row.member, "line") || strings.HasPrefix(row.member, "full") {
			if value != "" && value != "true" {
				return nil, false
			}
			data[row.member] = true
		}
	}
	if outer.attrs.has("class") {
		known++
	}
	return data, known == len(outer.attrs) && schema.ValidData("code", data)
}

// preLines returns the lines of a <pre> as readers see them. The <pre> may have any content. A line is highlighted if
// any part of it is strong.
func preLines(source string) ([]schema.Node, schema.Data, bool) {
	nodes, ok := parseHTML(strings.TrimSpace(source))
	if !ok || len(nodes) != 1 || nodes[0].name != "pre" {
		return nil, nil, false
	}
	data, inner := schema.Data{}, nodes[0]
	if list, only := inner.elements(); only && len(list) == 1 && list[0].name == "code" {
		inner = list[0]
	}
	classes, _ := nodes[0].attrs.get("class")
	more, _ := inner.attrs.get("class")
	for class := range strings.FieldsSeq(classes + " " + more) {
		for _, prefix := range []string{"language-", "lang-"} {
			if syntax, found := strings.CutPrefix(class, prefix); found && syntax != "" {
				data["syntax"] = syntax
			}
		}
	}
	for _, row := range preAttributes[:2] {
		if value, _ := nodes[0].attrs.get(row.name); schema.ValidData("code", schema.Data{row.member: value}) {
			data[row.member] = value
		}
	}
	if data["title"] == "" {
		delete(data, "title")
	}
	var text strings.Builder
	highlighted := map[int]bool{}
	line := 0
	var walk func(nodes []*element, strong bool)
	walk = func(nodes []*element, strong bool) {
		for _, n := range nodes {
			for i, part := range strings.Split(html.UnescapeString(n.text), "\n") {
				if i > 0 {
					text.WriteByte('\n')
					line++
				}
				text.WriteString(part)
				highlighted[line] = highlighted[line] || strong && part != ""
			}
			if n.name == "br" {
				text.WriteByte('\n')
				line++
			}
			walk(n.nodes, strong || n.name == "strong" || n.name == "b")
		}
	}
	walk(inner.nodes, false)
	shown, first := strings.CutPrefix(text.String(), "\n") // HTML does not show a line break directly after <pre>.
	lines := codeLines(strings.Split(strings.TrimSuffix(shown, "\n"), "\n"))
	for i := range lines {
		if first && highlighted[i+1] || !first && highlighted[i] {
			lines[i].Data = schema.Data{"highlighted": true}
		}
	}
	return lines, data, true
}

// code writes a code block. If the block itself cannot express all of its data, `code` writes a tag with the data
// around the block.
func (w writer) code(n *schema.Node) string {
	block := codeBlock(n)
	row := tagOfKind("code")
	data := schema.Data{}
	for name, value := range n.Data {
		data[name] = value
	}
	if title := content.Member(data, "title"); title != "" && titleIn(content.Member(data, memberInfo)) == title {
		delete(data, "title")
	}
	attrs := row.attributes(&schema.Node{Type: n.Type, Data: data})
	if len(attrs) == 0 || strings.HasPrefix(block, "<pre") && len(attrs) == len(preAttributesOf(n)) {
		return block
	}
	return tagText("code", attrs) + "\n" + block + "\n" + tagText("endcode", nil)
}

func codeBlock(n *schema.Node) string {
	lines, highlighted := make([]string, len(n.Nodes)), false
	for i := range n.Nodes {
		lines[i] = content.InlineText(n.Nodes[i].Nodes)
		highlighted = highlighted || n.Nodes[i].Data["highlighted"] == true
	}
	syntax, info := content.Member(n.Data, "syntax"), content.Member(n.Data, memberInfo)
	if highlighted && info == "" && !strings.ContainsAny(strings.Join(lines, ""), "\n") {
		return preHTML(n, lines)
	}
	if title := titleIn(info); title != "" && title != content.Member(n.Data, "title") {
		info = strings.TrimSpace(codeTitle.ReplaceAllString(info, ""))
	}
	if strings.Contains(info, "\n") || strings.TrimSpace(info) != info {
		info = ""
	}
	first := syntaxEscapes.Replace(syntax)
	if first == "math" && info == "" {
		// The name of the code's language is math. An escape in the name prevents the block from being read as a
		// formula.
		first = "&#109;ath"
	}
	switch {
	case info == "":
	case syntax == "" && !strings.HasPrefix(info, `title="`):
	default:
		first = strings.TrimSpace(first + " " + info)
	}
	if len(lines) == 0 {
		return fencedLines(first, nil)
	}
	return fenced(first, strings.Join(lines, "\n"))
}

// preAttributesOf returns the attributes of <pre> for the data of a code block. It returns nil if these attributes
// cannot express all of the data. The function `code` then writes a tag around the block.
func preAttributesOf(n *schema.Node) attributes {
	var attrs attributes
	for _, row := range preAttributes {
		switch value := n.Data[row.member].(type) {
		case string:
			attrs = attrs.set(row.name, value)
		case bool:
			attrs = attrs.setFlag(row.name, value)
		}
	}
	if len(attrs) != len(tagOfKind("code").attributes(n)) {
		return nil
	}
	return attrs
}

// preHTML writes a code block with highlighted lines as <pre>.
func preHTML(n *schema.Node, lines []string) string {
	outer, inner := attributes(nil), attributes(nil)
	if syntax := content.Member(n.Data, "syntax"); syntax != "" {
		outer, inner = outer.set("class", "language-"+syntax), inner.set("class", "lang-"+syntax)
	}
	outer = append(outer, preAttributesOf(n)...)
	var b strings.Builder
	b.WriteString(openTag("pre", outer) + openTag("code", inner))
	open := false
	for i, line := range lines {
		if highlighted := n.Nodes[i].Data["highlighted"] == true; highlighted != open {
			b.WriteString(map[bool]string{true: "<strong>", false: "</strong>"}[highlighted])
			open = highlighted
		}
		b.WriteString(preEscapes.Replace(line) + "\n")
	}
	if open {
		b.WriteString("</strong>")
	}
	return b.String() + "</code></pre>"
}

var preEscapes = strings.NewReplacer("&", "&#x26;", "<", "&#x3C;")

// syntaxEscapes escapes characters in a language's name. In the first line of a code block, these characters would end
// the name.
var syntaxEscapes = strings.NewReplacer(`"`, "&quot;", "`", "&#96;", "~", "&#126;", `\`, "&#92;", "&", "&amp;", "\n", "&#10;", "\t", "&#9;",
	"\v", "&#11;", "\f", "&#12;", " ", "&#32;")
