package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"github.com/octavo-docs/octavo/schema"
)

// markdownState is the parsers' state for one text.
type markdownState struct {
	delimiters delimiters
	brackets   []*bracket
	inactive   int // number of brackets at the bottom of the stack that are followed by a link
	depths     map[ast.Node]int
	references *bool
	// expanded is the number of bytes of the destinations and titles of all references read so far. maxExpanded is its
	// limit.
	expanded, maxExpanded int
	// runs has, for each length of a run of backticks, the position of the last such run in the block spanned.
	runs    map[int]int
	spanned ast.Node
	// paired has the positions of the tags that have an end tag.
	paired map[int]bool
	// tables has the ends of HTML tables with blank lines, by their beginnings.
	tables map[int]int
	// noDollars, noTagEnd and noCommentEnd are positions. A search from an earlier position for the end of a formula, a
	// tag or a comment has already failed.
	noDollars, noTagEnd, noCommentEnd int
	// failedSearch is the number of bytes that failing searches for the ends of components may still read.
	failedSearch int
	// nextComment is the position after the next end of a comment. If there is no further end, it is a position after
	// the text.
	nextComment int
	// notes has the definitions of footnotes, by label. labels has labels whose definitions are not known yet.
	notes  map[string]*noteBlock
	labels []string
	// definitions are the positions where definitions of links begin at the top level.
	definitions []int
	// tooLarge is true if a table has more cells than a document may have nodes.
	tooLarge bool
	// steps counts the work of loops over earlier text, for tests of the cost.
	steps int
}

var stateKey = parser.NewContextKey()

func stateOf(pc parser.Context) *markdownState { return pc.Get(stateKey).(*markdownState) }

// delimiters is the list of unpaired delimiters, in the order of the text.
type delimiters struct{ first, last *parser.Delimiter }

// reader converts goldmark's tree to ours.
type reader struct {
	source []byte
	state  *markdownState
	inCell bool // inside of a table's cell
	// inHeading is true while a heading is read: an anchor in the text is then the heading's id. inNote is true while a
	// note is read, because a note cannot contain notes.
	inHeading, inNote bool
	block             ast.Node // the block whose inlines are being read
	annotated         map[*noteReference]bool
	expandedNotes     map[string]bool
}

// blockReaders has a row per kind of block.
var blockReaders map[ast.NodeKind]func(r *reader, n ast.Node) []schema.Node

func (r *reader) blocks(n ast.Node) []schema.Node {
	nodes := []schema.Node{}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if read, ok := blockReaders[child.Kind()]; ok {
			nodes = append(nodes, read(r, child)...)
		}
	}
	return nodes
}

// filled adds an empty paragraph if a container has no block, because an editor needs a block for the user's text.
func filled(blocks []schema.Node) []schema.Node {
	if len(blocks) == 0 {
		return []schema.Node{schema.Block("paragraph")}
	}
	return blocks
}
