package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
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

// hintParser reads hints. A hint without an end closes with its container, as fenced code does.
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

func (hintParser) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if hintCloses.Match(line) && !belongsInside(n, line, pc.OpenedBlocks()) {
		advanceToEnd(reader, line, segment)
		return parser.Close
	}
	return parser.Continue | parser.HasChildren
}

// belongsInside reports whether a line that could end the hint belongs to a nested hint or code block that is still
// open.
func belongsInside(hint ast.Node, line []byte, open []parser.Block) bool {
	at := slices.IndexFunc(open, func(b parser.Block) bool { return b.Node == hint })
	indent, _ := util.IndentWidth(line, 0)
	for _, b := range open[at+1:] {
		switch n := b.Node.(type) {
		case *hintNode, *ast.FencedCodeBlock:
			return true
		case *ast.Blockquote:
			return false
		case *ast.ListItem:
			if indent -= n.Offset; indent < 0 {
				return false
			}
		}
	}
	return false
}

func (hintParser) Close(ast.Node, text.Reader, parser.Context) {}
func (hintParser) CanInterruptParagraph() bool                 { return true }
func (hintParser) CanAcceptIndentedLine() bool                 { return false }

// advanceToEnd advances to the newline but not past it: goldmark reads that as the rest of the line.
func advanceToEnd(reader text.Reader, line []byte, segment text.Segment) {
	newline := 0
	if bytes.HasSuffix(line, []byte("\n")) {
		newline = 1
	}
	reader.Advance(segment.Len() - newline)
}

// taskParser is goldmark's, with the added rule that a space or the end of the line must follow: - [x](/) is a link in
// a list.
type taskParser struct{ parser.InlineParser }

func newTaskParser() parser.InlineParser { return taskParser{extension.NewTaskCheckBoxParser()} }

func (p taskParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 3 || !strings.ContainsRune(" xX", rune(line[1])) || line[2] != ']' || len(line) > 3 && !util.IsSpace(line[3]) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}
