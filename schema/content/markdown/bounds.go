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

// The parsers here take precedence over the parsers of goldmark. They make parsing linear in the length of any text.
// Goldmark rescans some constructs many times, and nests without bound.

// maxNesting bounds the nesting of containers. Deeper containers are read as text. So the document of any text stays
// within the schema's depth limit, and each line is tried with few containers.
const maxNesting = 10

// nested opens a container. If the container would nest too deeply, the line is read as text.
type nested struct{ parser.BlockParser }

func (p nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	// The list parser must see every further item of a list.
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

// codeSpanParser calls goldmark's parser only if the span ends. Goldmark's parser reads the rest of the block for each
// run of backticks.
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

// maxReferenceLines is the number of lines in which goldmark searches for references in one step. Its time is quadratic
// in this number.
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
			// Other text comes before the end of the paragraph, and no definition can follow it.
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

// tableTransformer stops goldmark from filling in the missing cells of large tables. Without it, a single wide row
// would add cells to many rows.
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

// columns counts the columns of a table with this header and delimiter row; 0 if it is not a table.
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
