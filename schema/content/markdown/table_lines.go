package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// In Markdown, a blank line ends a block of HTML, so a table with blank lines would be split. If the table has an end
// tag, it is therefore read as one block. As on GitHub, text between blank lines in a cell is read as Markdown.

var (
	tableTags  = regexp.MustCompile(`(?i)<(/?)table(?:\s[^<>]*)?>`)
	tableOpens = regexp.MustCompile(`(?i)^ {0,3}<table[\s>]`)
	// cellOpens matches the beginning of a cell with Markdown.
	cellOpens = regexp.MustCompile(`(?i)<(?:td|th)(?:\s[^<>]*)?>[ \t]*\n[ \t]*\n`)
	// cellCloses matches the end tag of a cell, or another tag that ends the cell.
	cellCloses = regexp.MustCompile(`(?i)^(?:</(?:td|th|tr|thead|tbody|tfoot|table)\s*>` +
		`|<(?:td|th|tr|thead|tbody|tfoot)[\s>])`)
	tableParts = regexp.MustCompile(`(?i)</?(?:table|thead|tbody|tfoot|tr|td|th)\b`)
)

// findTables returns the end of each table that has blank lines, by the table's beginning. It leaves out tables that
// contain other tables.
func findTables(source []byte) map[int]int {
	if !bytes.Contains(source, []byte("table>")) {
		return nil
	}
	tables, open := map[int]int{}, -1
	for _, m := range tableTags.FindAllSubmatchIndex(source, -1) {
		switch {
		case m[2] == m[3]:
			open = m[0]
		case open >= 0:
			if blankLine.Match(source[open:m[1]]) {
				tables[open] = m[1]
			}
			open = -1
		}
	}
	return tables
}

type tableBlockParser struct{}

func (tableBlockParser) Trigger() []byte { return []byte{'<'} }

func (tableBlockParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if segment.Padding > 0 || !tableOpens.Match(line) {
		return nil, parser.NoChildren
	}
	for ; parent.Kind() != ast.KindDocument; parent = parent.Parent() {
		if kind := parent.Kind(); kind != kindTag && kind != kindDetails {
			return nil, parser.NoChildren // these lines begin with the markers of a list or a quote
		}
	}
	from := segment.Start + bytes.IndexByte(line, '<')
	end, found := stateOf(pc).tables[from]
	source := reader.Source()
	if !found {
		return nil, parser.NoChildren
	}
	rest, _, _ := bytes.Cut(source[end:], []byte("\n"))
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, parser.NoChildren
	}
	e, ok := tableElement(string(source[from:end]))
	if !ok {
		return nil, parser.NoChildren
	}
	if _, _, ok := tableRows(e); !ok {
		return nil, parser.NoChildren
	}
	n := &tableBlock{from: from, end: end, table: e}
	n.Lines().Append(segment)
	advanceToEnd(reader, line, segment)
	return n, parser.NoChildren
}

func (tableBlockParser) Continue(block ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if n := block.(*tableBlock); segment.Start < n.end {
		n.Lines().Append(segment)
		advanceToEnd(reader, line, segment)
		return parser.Continue | parser.NoChildren
	}
	return parser.Close
}

func (tableBlockParser) Close(ast.Node, text.Reader, parser.Context) {}
func (tableBlockParser) CanInterruptParagraph() bool                 { return true }
func (tableBlockParser) CanAcceptIndentedLine() bool                 { return false }

// tableElement reads a table as HTML. The Markdown in the table's cells is first converted to HTML.
func tableElement(source string) (e *element, ok bool) {
	var b strings.Builder
	for rest := source; ; {
		open := cellOpens.FindStringIndex(rest)
		if open == nil {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:open[1]])
		tag := rest[open[0]:open[1]]
		rest = rest[open[1]:]
		end := tableParts.FindStringIndex(rest)
		if end == nil {
			return nil, false
		}
		if cellCloses.MatchString(rest[end[0]:]) {
			b.WriteString(cellHTML(rest[:end[0]], strings.EqualFold(tag[:3], "<th")))
			rest = rest[end[0]:]
		}
	}
	nodes, ok := parseHTML(b.String())
	if !ok || len(nodes) != 1 || nodes[0].name != "table" {
		return nil, false
	}
	return nodes[0], true
}

// cellHTML converts the Markdown of a cell to HTML. If `title` is true, the result has only inlines.
func cellHTML(source string, title bool) string {
	blocks := fit(newReader(dedented(source)).ideal(), schema.FragmentCell)
	blocks = slices.DeleteFunc(blocks, func(n schema.Node) bool {
		return n.Type == "paragraph" && content.InlineText(n.Nodes) == "" && !slices.ContainsFunc(n.Nodes, isUnit)
	})
	if title {
		return inlinesHTML(content.Inlines(blocks))
	}
	return blocksHTML(blocks)
}

// dedented removes the indentation that all lines share.
func dedented(text string) string {
	lines := strings.Split(text, "\n")
	common := -1
	for _, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent < len(line) && (common < 0 || indent < common) {
			common = indent
		}
	}
	for i := range lines {
		lines[i] = lines[i][min(max(common, 0), len(lines[i])):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// tableBlock reads a table of HTML with blank lines.
func (r *reader) tableBlock(block ast.Node) []schema.Node {
	n := block.(*tableBlock)
	if nodes, ok := r.htmlTable(n.table); ok {
		return nodes
	}
	return []schema.Node{rawBlock(string(r.source[n.from:n.end]))}
}
