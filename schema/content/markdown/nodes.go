package markdown

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
)

// tagNode is a tag on a separate line. If the tag has an end tag, the children of the node are the blocks up to the end
// tag. `row` is nil if the table of tags does not have the tag, or if the node is an end tag without a start tag. The
// node is then stored as source.
type tagNode struct {
	ast.BaseBlock
	row        *tagRow
	tag        tag
	open, end  string // lines of the tag and of the end tag
	endAt      int    // position of the end tag in the source
	terminated bool
	division   bool // whether the tag is written as <div data-tag="name">
	lineBefore
}

var kindTag = ast.NewNodeKind("Tag")

func (n *tagNode) Kind() ast.NodeKind { return kindTag }

// Dump prints the node when goldmark is debugged.
func (n *tagNode) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Tag": n.open}, nil)
}

// detailsNode is an element <details>, with the blocks up to </details>.
type detailsNode struct {
	ast.BaseBlock
	open, title string // the tag, and the content of a <summary> on the same line
	terminated  bool
	lineBefore
}

// lineBefore records whether the last line that a container read was blank.
type lineBefore struct{ isBlank bool }

// next reads the next line, and reports whether the previous line was blank.
func (b *lineBefore) next(line []byte) bool {
	before := b.isBlank
	b.isBlank = util.IsBlank(line)
	return before
}

var kindDetails = ast.NewNodeKind("Details")

func (n *detailsNode) Kind() ast.NodeKind { return kindDetails }

// Dump prints the node when goldmark is debugged.
func (n *detailsNode) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Open": n.open}, nil)
}

// mathBlock is a formula between lines of $$.
type mathBlock struct {
	ast.BaseBlock
	closed bool
}

var kindMathBlock = ast.NewNodeKind("MathBlock")

func (n *mathBlock) Kind() ast.NodeKind { return kindMathBlock }

// IsRaw returns true, so that goldmark does not parse inlines in the formula.
func (n *mathBlock) IsRaw() bool { return true }

// Dump prints the node when goldmark is debugged.
func (n *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// noteBlock is the definition of a footnote: [^label]: blocks.
type noteBlock struct {
	ast.BaseBlock
	label string
}

var kindNote = ast.NewNodeKind("Note")

func (n *noteBlock) Kind() ast.NodeKind { return kindNote }

// Dump prints the node when goldmark is debugged.
func (n *noteBlock) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Label": n.label}, nil)
}

// attributesBlock is a line of attributes, or of directives.
type attributesBlock struct {
	ast.BaseBlock
	source string
}

var kindAttributes = ast.NewNodeKind("Attributes")

func (n *attributesBlock) Kind() ast.NodeKind { return kindAttributes }

// Dump prints the node when goldmark is debugged.
func (n *attributesBlock) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Source": n.source}, nil)
}

// componentBlock is a component's tag, a comment of MDX, or a block of module statements. Its lines contain nothing
// more.
type componentBlock struct {
	ast.BaseBlock
	end int // position in the source
}

var kindComponent = ast.NewNodeKind("Component")

func (n *componentBlock) Kind() ast.NodeKind { return kindComponent }

// Dump prints the node when goldmark is debugged.
func (n *componentBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// tableBlock is a table of HTML with blank lines.
type tableBlock struct {
	ast.BaseBlock
	from, end int // positions in the source
	table     *element
}

var kindTable = ast.NewNodeKind("HTMLTable")

func (n *tableBlock) Kind() ast.NodeKind { return kindTable }

// Dump prints the node when goldmark is debugged.
func (n *tableBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// tagInline is a tag within a line. The tag is stored as source.
type tagInline struct {
	ast.BaseInline
	segments *text.Segments
}

// source returns the tag with spaces instead of newlines.
func (n *tagInline) source(source []byte) []byte {
	return bytes.ReplaceAll(n.segments.Value(source), []byte("\n"), []byte(" "))
}

var kindTagInline = ast.NewNodeKind("TagInline")

func (n *tagInline) Kind() ast.NodeKind { return kindTagInline }

// Dump prints the node when goldmark is debugged.
func (n *tagInline) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathInline is a formula in a line: $$x^2$$.
type mathInline struct {
	ast.BaseInline
	segment text.Segment
}

var kindMathInline = ast.NewNodeKind("MathInline")

func (n *mathInline) Kind() ast.NodeKind { return kindMathInline }

// Dump prints the node when goldmark is debugged.
func (n *mathInline) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// noteReference is a reference [^label] to a footnote that has a definition.
type noteReference struct {
	ast.BaseInline
	label string
}

var kindNoteReference = ast.NewNodeKind("NoteReference")

func (n *noteReference) Kind() ast.NodeKind { return kindNoteReference }

// Dump prints the node when goldmark is debugged.
func (n *noteReference) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Label": n.label}, nil)
}

// attributesInline is a list of attributes that follows the element to which it belongs.
type attributesInline struct {
	ast.BaseInline
	source string
}

var kindAttributesInline = ast.NewNodeKind("AttributesInline")

func (n *attributesInline) Kind() ast.NodeKind { return kindAttributesInline }

// Dump prints the node when goldmark is debugged.
func (n *attributesInline) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Source": n.source}, nil)
}

// commentInline is a comment of MDX.
type commentInline struct {
	ast.BaseInline
	segments *text.Segments
}

var kindComment = ast.NewNodeKind("Comment")

func (n *commentInline) Kind() ast.NodeKind { return kindComment }

// Dump prints the node when goldmark is debugged.
func (n *commentInline) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// emojiInline is the shortcode of an emoji.
type emojiInline struct {
	ast.BaseInline
	node schema.Node
	end  int // position in the source
}

var kindEmoji = ast.NewNodeKind("Emoji")

func (n *emojiInline) Kind() ast.NodeKind { return kindEmoji }

// Dump prints the node when goldmark is debugged.
func (n *emojiInline) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Name": fmt.Sprint(n.node.Data)}, nil)
}

// headingIDInline is {#x} at the end of a heading.
type headingIDInline struct {
	ast.BaseInline
	id, source string
}

var kindHeadingID = ast.NewNodeKind("HeadingID")

func (n *headingIDInline) Kind() ast.NodeKind { return kindHeadingID }

// Dump prints the node when goldmark is debugged.
func (n *headingIDInline) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"ID": n.id}, nil)
}

// bracket is an opening [ or ![. It is replaced when the closing ] is read or the block ends.
type bracket struct {
	ast.BaseInline
	segment text.Segment
	image   bool
	before  *parser.Delimiter // the last delimiter before the bracket
}

var kindBracket = ast.NewNodeKind("Bracket")

func (b *bracket) Kind() ast.NodeKind { return kindBracket }

// Dump prints the node when goldmark is debugged.
func (b *bracket) Dump(source []byte, level int) { ast.DumpHelper(b, source, level, nil, nil) }
