package markdown

import (
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

var codeTitle = regexp.MustCompile(`(?:^|\s)title="([^"]*)"`)

// memberInfo of a code block is what follows the language in its first line.
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

// titleIn returns the title of a code block whose first line has one: ```go title="main.go"
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

// pre reads <pre class="language-go"><code class="lang-go">, where highlighted lines are <strong>.
func (r *reader) pre(e *element) ([]schema.Node, bool) {
	list, ok := e.elements()
	if !ok || len(list) != 1 || list[0].name != "code" || !e.attrs.only("class") || !list[0].attrs.only("class") {
		return nil, false
	}
	data := schema.Data{}
	class, _ := list[0].attrs.get("class")
	outer, _ := e.attrs.get("class")
	if class != "" {
		syntax, ok := strings.CutPrefix(class, "lang-")
		if !ok || outer != "language-"+syntax {
			return nil, false
		}
		data["syntax"] = syntax
	} else if outer != "" {
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
			return nil, false // A part of a line is highlighted, or the last line has no end.
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

// code writes a code block. What its first line cannot say is in a tag around it.
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
	if len(attrs) == 0 {
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
		first = "&#109;ath" // Code in the language, and not a formula.
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

// preHTML writes a code block with highlighted lines.
func preHTML(n *schema.Node, lines []string) string {
	outer, inner := attributes(nil), attributes(nil)
	if syntax := content.Member(n.Data, "syntax"); syntax != "" {
		outer, inner = outer.set("class", "language-"+syntax), inner.set("class", "lang-"+syntax)
	}
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

// syntaxEscapes writes a language that would end the first word of the line.
var syntaxEscapes = strings.NewReplacer(`"`, "&quot;", "`", "&#96;", "~", "&#126;", `\`, "&#92;", "&", "&amp;", "\n", "&#10;", "\t", "&#9;",
	"\v", "&#11;", "\f", "&#12;", " ", "&#32;")

func fenced(info, text string) string { return fencedLines(info, strings.Split(text, "\n")) }

var (
	backticks = regexp.MustCompile("`+")
	tildes    = regexp.MustCompile("~+")
)

// fencedLines writes a block of code. The first line of one with a fence of backticks cannot have any.
func fencedLines(info string, lines []string) string {
	fence, runs := "```", backticks
	if strings.Contains(info, "`") {
		fence, runs = "~~~", tildes
	}
	for _, line := range lines {
		for _, run := range runs.FindAllString(line, -1) {
			if len(run) >= len(fence) {
				fence = run + fence[:1]
			}
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	return fence + info + "\n" + b.String() + fence
}
