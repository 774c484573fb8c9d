package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

var mathFence = regexp.MustCompile(`^ {0,3}\$\$[ \t]*$`)

func isMathFence(line []byte) bool { return mathFence.Match(bytes.TrimRight(line, "\r\n")) }

// mathParser reads blocks of math. If a block has no end, it ends with its container, as a code block does.
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$'} }

func (mathParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if !isMathFence(line) {
		return nil, parser.NoChildren
	}
	advanceToEnd(reader, line, segment)
	return &mathBlock{}, parser.NoChildren
}

func (mathParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if isMathFence(line) {
		n.(*mathBlock).closed = true
		advanceToEnd(reader, line, segment)
		return parser.Close
	}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathParser) Close(ast.Node, text.Reader, parser.Context) {}
func (mathParser) CanInterruptParagraph() bool                 { return true }
func (mathParser) CanAcceptIndentedLine() bool                 { return false }

func (r *reader) mathBlock(n ast.Node) []schema.Node {
	formula := strings.TrimSuffix(linesOf(n, r.source), "\n")
	if !n.(*mathBlock).closed {
		formula = strings.TrimRight(formula, " \t\n")
	}
	return []schema.Node{{Type: "math", Data: schema.Data{"formula": formula}}}
}

func (w writer) math(n *schema.Node) string {
	formula := content.Member(n.Data, "formula")
	for line := range strings.SplitSeq(formula, "\n") {
		if isMathFence([]byte(line)) {
			return fenced("math", formula)
		}
	}
	if strings.HasSuffix(formula, "\n") || formula == "" {
		return fenced("math", formula)
	}
	return "$$\n" + formula + "\n$$"
}

type mathInlineParser struct{}

func (mathInlineParser) Trigger() []byte { return []byte{'$'} }

func (mathInlineParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if len(line) < 5 || line[1] != '$' || line[2] == '$' || util.IsSpace(line[2]) {
		return nil
	}
	s := stateOf(pc)
	if segment.Start < s.noDollars {
		return nil
	}
	end := bytes.Index(line[2:], []byte("$$"))
	s.steps += max(end, 0)
	if end < 0 {
		s.noDollars = segment.Stop
		return nil
	}
	if util.IsSpace(line[1+end]) {
		return nil
	}
	block.Advance(end + 4)
	return &mathInline{segment: text.NewSegment(segment.Start+2, segment.Start+2+end)}
}

// mathSpan writes a formula in a line. In HTML, and for a formula that cannot be between dollars, it writes an element
// instead of dollars.
func mathSpan(formula string, where place) string {
	if where != inHTML && simpleFormula.MatchString(formula) && !(where == inCell && strings.Contains(formula, "|")) {
		return "$$" + formula + "$$"
	}
	return `<span class="math">` + htmlCode(formula) + "</span>"
}

var simpleFormula = regexp.MustCompile(`^[^\s$](?:[^\n$]*[^\s$\\])?$`)

// htmlCode escapes the text content of an element, so that Markdown and HTML read it as the same text.
func htmlCode(text string) string {
	special := "`*~<>\\|${[]"
	if balanced(text) {
		special = strings.TrimSuffix(special, "[]")
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		if c < ' ' || c == 0x7f || strings.IndexByte(special, c) >= 0 || c == '_' && !inWord(text, i) || c == '&' && (next == '#' || isLetter(next)) ||
			c == ' ' && (i == 0 || next == 0 || next == ' ') {
			b.WriteString(numericReference(c))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// balanced reports whether all brackets of a text are in pairs, and no brackets look like a link or a reference to a
// note.
func balanced(text string) bool {
	depth := 0
	for _, c := range []byte(text) {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0 && !strings.Contains(text, "](") && !strings.Contains(text, "[^")
}
