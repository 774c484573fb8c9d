package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/respell"
)

// markdownState is the state of the parsers while they read one text.
type markdownState struct {
	delimiters delimiters
	brackets   []*bracket
	inactive   int // number of brackets at the bottom of the stack that are before a link, so they are text
	depths     map[ast.Node]int
	references *bool
	// expanded is the total length of the destinations and titles of all references read so far, in bytes. maxExpanded
	// is its limit.
	expanded, maxExpanded int
	// runs has, for each length of a run of backticks, the position of the last run of this length in the block
	// `spanned`.
	runs    map[int]int
	spanned ast.Node
	// paired has the positions of the tags that have an end tag.
	paired map[int]bool
	// tables maps the position of the beginning of each HTML table with blank lines to the position of its end.
	tables map[int]int
	// noDollars, noTagEnd and noCommentEnd are positions. A search for the end of a formula fails if it begins before
	// noDollars. A search for the end of a tag fails if it begins before noTagEnd, and a search for the end of a
	// comment fails if it begins before noCommentEnd.
	noDollars, noTagEnd, noCommentEnd int
	// noShortcodeEnd is a position. A search for the end of a shortcode of Hugo fails if it begins before it.
	noShortcodeEnd int
	// failedSearch is the number of bytes that further failing searches for the ends of components may read.
	failedSearch int
	// nextComment is the position after the next end of a comment. If no further comment ends, nextComment is a
	// position after the text.
	nextComment int
	// notes has the definitions of footnotes, by label. labels has the labels for which no definition was read yet.
	notes  map[string]*noteBlock
	labels map[string]int
	// definitions are the positions at which definitions of links begin at the top level.
	definitions []int
	// links are the links and images that refer to definitions, and the links in angle brackets.
	links []respell.Reference
	// tooLarge is true if a table has more cells than a document may have nodes.
	tooLarge bool
	// steps is the number of steps of the loops over earlier text. Tests of the cost check it.
	steps int
}

var stateKey = parser.NewContextKey()

func stateOf(pc parser.Context) *markdownState { return pc.Get(stateKey).(*markdownState) }

// delimiters is the list of unpaired delimiters, in the order of the text.
type delimiters struct{ first, last *parser.Delimiter }

// reader converts goldmark's tree to the nodes of a document.
type reader struct {
	source []byte
	state  *markdownState
	inCell bool // whether the text is in a table's cell
	// inHeading is true while a heading is read. An anchor in the text is then the heading's id. inNote is true while a
	// note is read. A note cannot contain notes.
	inHeading, inNote bool
	block             ast.Node // the block whose inlines are being read
	annotated         map[*noteReference]bool
	expandedNotes     map[string]bool
	labels            content.OptionLabels // labels of the options in tables
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

// filled returns the blocks of a container. If the container has no block, it returns an empty paragraph. An editor
// needs a block for the user's text.
func filled(blocks []schema.Node) []schema.Node {
	if len(blocks) == 0 {
		return []schema.Node{schema.Block("paragraph")}
	}
	return blocks
}
