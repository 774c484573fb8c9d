package content

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// hintNode is the block between {% hint style="info" %} and {% endhint %}.
type hintNode struct {
	ast.BaseBlock
	style string
}

var kindHint = ast.NewNodeKind("Hint")

func (n *hintNode) Kind() ast.NodeKind { return kindHint }

// Dump is for goldmark's debugging.
func (n *hintNode) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Style": n.style}, nil)
}

var (
	hintOpens  = regexp.MustCompile(`^ {0,3}\{% *hint(?: +style="(info|warning|danger|success)")? *%\}\s*$`)
	hintCloses = regexp.MustCompile(`^ {0,3}\{% *endhint *%\}\s*$`)
)

// hintParser reads hints. One that is not closed ends with what it stands in, as fenced code does.
type hintParser struct{}

func (hintParser) Trigger() []byte { return []byte{'{'} }

func (hintParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	match := hintOpens.FindSubmatch(line)
	if match == nil {
		return nil, parser.NoChildren
	}
	style := string(match[1])
	if style == "" {
		style = "info"
	}
	advanceToEnd(reader, line, segment)
	return &hintNode{style: style}, parser.HasChildren
}

func (hintParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if hintCloses.Match(line) {
		advanceToEnd(reader, line, segment)
		return parser.Close
	}
	return parser.Continue | parser.HasChildren
}

func (hintParser) Close(ast.Node, text.Reader, parser.Context) {}
func (hintParser) CanInterruptParagraph() bool                 { return true }
func (hintParser) CanAcceptIndentedLine() bool                 { return false }

// advanceToEnd leaves the newline, which goldmark takes as the rest of the line.
func advanceToEnd(reader text.Reader, line []byte, segment text.Segment) {
	newline := 0
	if bytes.HasSuffix(line, []byte("\n")) {
		newline = 1
	}
	reader.Advance(segment.Len() - newline)
}

// taskParser is goldmark's, but for the rule that a space or the end of the line follows: - [x](/) is a link in a list.
type taskParser struct{ parser.InlineParser }

func newTaskParser() parser.InlineParser { return taskParser{extension.NewTaskCheckBoxParser()} }

var taskBox = regexp.MustCompile(`^\[[ xX]\](\s|$)`)

func (p taskParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); !taskBox.Match(line) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}
