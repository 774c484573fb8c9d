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

// The parsers here take precedence over goldmark's, to make parsing any text linear in its length: goldmark rescans
// some constructs again and again, and nests without bound.

// markdownState is what the parsers remember while they read one text.
type markdownState struct {
	delimiters delimiters
	brackets   []*bracket
	inactive   int // that many brackets from the bottom of the stack are followed by a link
	depths     map[ast.Node]int
	references *bool
	// expanded counts the bytes that references have expanded to.
	expanded, maxExpanded int
	// runs maps a number of backticks to the start of the last such run, for the block in spanned.
	runs    map[int]int
	spanned ast.Node
	// paired has the positions of the tags that have an end.
	paired map[int]bool
	// tables has where tables of HTML with blank lines end, by where they begin.
	tables map[int]int
	// noDollars, noTagEnd and noCommentEnd are positions before which a search for the end of a formula, a tag or a
	// comment has failed.
	noDollars, noTagEnd, noCommentEnd int
	// failedSearch is how much more text may be searched for ends of components without finding them.
	failedSearch int
	// nextComment is behind the next end of a comment, or behind the text if there is none.
	nextComment int
	// notes are the footnotes that are defined. labels are known without their notes.
	notes  map[string]*noteBlock
	labels []string
	// definitions are the positions where definitions of links begin at the top level.
	definitions []int
	// tooLarge means that a table has more cells than a document may have nodes.
	tooLarge bool
	// steps counts the work of loops over earlier text, for tests of the cost.
	steps int
}

// maxFailedSearch bounds how often a text is searched for ends of components without finding them.
const maxFailedSearch = 16

var stateKey = parser.NewContextKey()

func newContext(source []byte) (parser.Context, *markdownState) {
	s := &markdownState{
		depths: map[ast.Node]int{}, maxExpanded: max(len(source), schema.MaxMarkdown), paired: pairBrackets(source),
		notes: map[string]*noteBlock{}, tables: findTables(source), failedSearch: maxFailedSearch * len(source),
	}
	pc := parser.NewContext()
	pc.Set(stateKey, s)
	return pc, s
}

func stateOf(pc parser.Context) *markdownState { return pc.Get(stateKey).(*markdownState) }

// nested opens a container unless that would nest too deeply; the line is then read as text.
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

// codeSpanParser calls goldmark's parser only if the span ends, because that reads the rest of the block for each run
// of backticks.
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

// maxReferenceLines is how many lines goldmark searches for references at once: its time is quadratic in their number.
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
			// Other text comes before the end, and no definition can follow it.
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

// tableTransformer keeps goldmark from filling in the missing cells of a table with many rows, one of which has many
// columns.
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
