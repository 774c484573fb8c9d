package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/octavo-docs/octavo/schema"
)

// The parsers in this file take precedence over the parsers of goldmark. They make the time of parsing linear in the
// length of any text. Goldmark rescans some constructs many times, and nests blocks without a limit.

// maxNesting bounds the nesting of containers. The parser reads deeper containers as text. So each document stays
// within the schema's depth limit, and for each line the parser tries only a few containers.
const maxNesting = 10

// nested is a block parser that opens a container. If the container would nest too deeply, `nested` reads the line as
// text.
type nested struct{ parser.BlockParser }

func (p nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	// Inside of a list, the list parser is called at any depth, because it must see every item of the list.
	if _, item := parent.(*ast.List); !item && containersAround(parent) >= maxNesting {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

func containersAround(n ast.Node) int {
	depth := 0
	for ; n != nil; n = n.Parent() {
		switch n.Kind() {
		case ast.KindBlockquote, ast.KindList, kindTag, kindDetails, kindNote:
			depth++
		}
	}
	return depth
}

// codeSpanParser calls goldmark's parser only if the code span has an end. Without this check, goldmark's parser would
// read the rest of the block for each run of backticks.
type codeSpanParser struct{ parser.InlineParser }

func (p codeSpanParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := stateOf(pc)
	if s.spanned != parent {
		s.spanned, s.runs = parent, backtickRuns(parent.Lines(), block.Source())
	}
	line, segment := block.PeekLine()
	length := len(line) - len(bytes.TrimLeft(line, "`"))
	if s.runs[length] > segment.Start {
		return p.InlineParser.Parse(parent, block, pc)
	}
	block.Advance(length)
	return ast.NewTextSegment(segment.WithStop(segment.Start + length))
}

func backtickRuns(lines *text.Segments, source []byte) map[int]int {
	runs := map[int]int{}
	for i := range lines.Len() {
		line := lines.At(i)
		for at := line.Start; at < line.Stop; at++ {
			start := at
			for at < line.Stop && source[at] == '`' {
				at++
			}
			if at > start {
				runs[at-start] = start
			}
		}
	}
	return runs
}

// maxReferenceLines is the largest number of lines that goldmark gets in one step to search for reference definitions.
// The time of a step is quadratic in this number.
const maxReferenceLines = 500

// referenceTransformer extracts reference definitions from the start of a paragraph.
type referenceTransformer struct{}

func (referenceTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	parent, lines := node.Parent(), node.Lines()
	if start := lines.At(0).Start; parent.Kind() == ast.KindDocument {
		defer func() {
			if node.Parent() == nil || node.Lines().At(0).Start != start {
				s := stateOf(pc)
				s.definitions = append(s.definitions, start)
			}
		}()
	}
	for lines.Len() > maxReferenceLines {
		part, rest := ast.NewParagraph(), text.NewSegments()
		part.Lines().AppendAll(lines.Sliced(0, maxReferenceLines))
		rest.AppendAll(lines.Sliced(maxReferenceLines, lines.Len()))
		parent.InsertBefore(parent, node, part)
		parser.LinkReferenceParagraphTransformer.Transform(part, reader, pc)
		if part.Parent() != nil {
			// The part contains text that is not a definition. In a paragraph, no definition can follow such text.
			parent.RemoveChild(parent, part)
			part.Lines().AppendAll(rest.Sliced(0, rest.Len()))
			node.SetLines(part.Lines())
			return
		}
		lines = rest
		node.SetLines(lines)
	}
	parser.LinkReferenceParagraphTransformer.Transform(node, reader, pc)
}

// tableTransformer refuses a table with more cells than a document may have nodes. Goldmark adds missing cells, so a
// table with a wide header and many short rows would become very large.
type tableTransformer struct{ parser.ParagraphTransformer }

func newTableTransformer() tableTransformer {
	return tableTransformer{extension.NewTableParagraphTransformer()}
}

func (t tableTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	for i := 1; i < lines.Len(); i++ {
		line := lines.At(i)
		columns := bytes.Count(line.Value(reader.Source()), []byte{'|'}) + 1
		if columns*(lines.Len()-i) <= schema.MaxDocumentNodes {
			continue
		}
		if n := t.columns(lines.Sliced(i-1, i+1), reader, pc); n*(lines.Len()-i-1) > schema.MaxDocumentNodes {
			stateOf(pc).tooLarge = true
			return
		}
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}

// columns returns the number of columns of a table with this header and delimiter row. It returns 0 if the lines are
// not a table.
func (t tableTransformer) columns(head []text.Segment, reader text.Reader, pc parser.Context) int {
	root, paragraph := ast.NewDocument(), ast.NewParagraph()
	paragraph.Lines().AppendAll(head)
	root.AppendChild(root, paragraph)
	t.ParagraphTransformer.Transform(paragraph, reader, pc)
	if table, ok := root.FirstChild().(*east.Table); ok {
		return len(table.Alignments)
	}
	return 0
}
