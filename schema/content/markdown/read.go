package markdown

import (
	"errors"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// maxNesting bounds the nesting of containers. Anything deeper is read as text, so that a document made from any text
// stays within the schema's depth limit, and no line is offered to many containers.
const maxNesting = 10

// markdownParser reads CommonMark and GFM with GitBook's tags. It takes time proportional to the text: TestMarkdownCost has
// the difficult texts.
var markdownParser = newMarkdownParser()

func newMarkdownParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(nested{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(tagParser{}, 650),
			util.Prioritized(mathParser{}, 660),
			util.Prioritized(attributesParser{}, 670),
			util.Prioritized(componentBlockParser{}, 680),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(nested{noteParser{}}, 850),
			util.Prioritized(detailsParser{}, 880),
			util.Prioritized(tableBlockParser{}, 890),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(newTaskParser(), 0),
			util.Prioritized(codeSpanParser{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(noteReferenceParser{}, 150),
			util.Prioritized(linkParser{}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(componentParser{}, 390),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(looseTagParser{}, 410),
			util.Prioritized(emphasisParser{}, 500),
			util.Prioritized(commentParser{}, 590),
			util.Prioritized(mathInlineParser{}, 600),
			util.Prioritized(emojiParser{}, 610),
			util.Prioritized(headingIDParser{}, 615),
			util.Prioritized(attributesInlineParser{}, 616),
			util.Prioritized(tagInlineParser{}, 620),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(referenceTransformer{}, 100),
			util.Prioritized(newTableTransformer(), 200),
		),
	)
}

// ErrTooLarge means that the document would have more than schema.MaxDocumentNodes nodes.
var ErrTooLarge = errors.New("the document has too many nodes")

// Read reads any text; what is not Markdown is plain text. The document satisfies the grammar: fit says what becomes of a
// block that the grammar does not allow in its place, or not at all. It has no keys.
func Read(markdown string) (schema.Document, error) {
	r := newReader(markdown)
	nodes := r.ideal()
	if r.state.tooLarge {
		return schema.Document{}, ErrTooLarge
	}
	d := schema.NewDocument(fit(nodes, "")...)
	if d.TooLarge() {
		return schema.Document{}, ErrTooLarge
	}
	return d, nil
}

// reader converts goldmark's tree to ours.
type reader struct {
	source []byte
	state  *markdownState
	inCell bool // inside a table
	// inHeading and inNote are true while those are read: an anchor is a heading's id, and notes hold no notes.
	inHeading, inNote bool
	block             ast.Node // the block whose inlines are read
	annotated         map[*noteReference]bool
	expandedNotes     map[string]bool
}

func newReader(markdown string) *reader {
	return &reader{source: []byte(splitTags(content.Clean(markdown))), expandedNotes: map[string]bool{}}
}

func (r *reader) parse(labels ...string) ast.Node {
	pc, state := newContext(r.source)
	r.state, state.labels = state, labels
	return markdownParser.Parse(text.NewReader(r.source), parser.WithContext(pc))
}

// ideal reads blocks where they are, whether or not the grammar allows them there.
func (r *reader) ideal() []schema.Node {
	root := r.parse()
	if r.state.tooLarge {
		return nil
	}
	return r.settleNotes(r.blocks(root))
}

// blockReaders has a row per kind of block.
var blockReaders map[ast.NodeKind]func(r *reader, n ast.Node) []schema.Node

func init() { // In init, because the readers call blocks, which reads the table.
	blockReaders = map[ast.NodeKind]func(r *reader, n ast.Node) []schema.Node{
		ast.KindParagraph:       (*reader).paragraph,
		ast.KindTextBlock:       (*reader).paragraph,
		ast.KindHeading:         (*reader).heading,
		ast.KindThematicBreak:   (*reader).divider,
		ast.KindCodeBlock:       (*reader).code,
		ast.KindFencedCodeBlock: (*reader).code,
		ast.KindBlockquote:      (*reader).quote,
		ast.KindList:            (*reader).list,
		ast.KindHTMLBlock:       (*reader).htmlBlock,
		kindTag:                 (*reader).tagBlock,
		kindDetails:             (*reader).details,
		kindMathBlock:           (*reader).mathBlock,
		kindNote:                (*reader).noteBlock,
		kindAttributes:          (*reader).attributes,
		kindComponent:           (*reader).component,
		kindTable:               (*reader).tableBlock,
		east.KindTable:          (*reader).table,
	}
}

func (r *reader) blocks(n ast.Node) []schema.Node {
	nodes := []schema.Node{}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if read, ok := blockReaders[child.Kind()]; ok {
			nodes = append(nodes, read(r, child)...)
		}
	}
	return nodes
}

func (r *reader) quote(n ast.Node) []schema.Node {
	return []schema.Node{{Type: "blockquote", Nodes: filled(r.blocks(n))}}
}

// filled gives a container at least one block, because an editor needs somewhere to write.
func filled(blocks []schema.Node) []schema.Node {
	if len(blocks) == 0 {
		return []schema.Node{schema.Block("paragraph")}
	}
	return blocks
}

func (r *reader) divider(ast.Node) []schema.Node {
	return []schema.Node{schema.Block("divider")}
}

func (r *reader) heading(n ast.Node) []schema.Node {
	r.inHeading = true
	var b inlineBuilder
	r.inline(&b, n)
	r.inHeading = false
	if b.anchor.id == "" {
		b.anchor = anchorBeside(n)
	}
	return []schema.Node{headingNode(n.(*ast.Heading).Level, b.inlines(), b.anchor)}
}

// paragraph reads a paragraph. One of images only becomes a block of images.
func (r *reader) paragraph(n ast.Node) []schema.Node {
	var b inlineBuilder
	r.inline(&b, n)
	if _, boxed := boxOf(n); !boxed {
		b.missedHTML()
	}
	if source := strings.TrimSpace(linesOf(n, r.source)); b.shownNothing() && n.Lines().Len() == 1 &&
		(strings.HasPrefix(source, "<") || isComment(source)) {
		return []schema.Node{rawBlock(source)}
	}
	inlines := b.inlines()
	if len(inlines) == 0 && n.Parent().Kind() != ast.KindListItem {
		return nil
	}
	return []schema.Node{imagesOrParagraph(inlines)}
}

func (r *reader) list(n ast.Node) []schema.Node {
	list := n.(*ast.List)
	node := schema.Node{Type: "list-unordered"}
	if list.IsOrdered() {
		node = schema.Node{Type: "list-ordered", Data: schema.Data{}}
		if list.Start != 1 {
			node.Data["start"] = float64(list.Start)
		}
	}
	tasks := 0
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		child := schema.Node{Type: "list-item", Nodes: r.itemBlocks(item)}
		if box, ok := checkBox(item); ok {
			child.Data = schema.Data{"checked": box.IsChecked}
			tasks++
		}
		node.Nodes = append(node.Nodes, child)
	}
	if tasks == len(node.Nodes) && !list.IsOrdered() {
		node.Type = "list-tasks"
	}
	return []schema.Node{node}
}

// taskOf reports whether an item of a list is a task, and whether it is done. Lists of other types can have tasks too.
func taskOf(list, item *schema.Node) (checked, task bool) {
	checked, task = item.Data["checked"].(bool)
	return checked, task || list.Type == "list-tasks"
}

// itemBlocks leaves out an empty line before other blocks.
func (r *reader) itemBlocks(item ast.Node) []schema.Node {
	nodes := r.blocks(item)
	if len(nodes) > 1 && nodes[0].Type == "paragraph" && len(nodes[0].Nodes) == 0 {
		nodes = nodes[1:]
	}
	return filled(nodes)
}

func checkBox(item ast.Node) (*east.TaskCheckBox, bool) {
	if item.FirstChild() == nil {
		return nil, false
	}
	return boxOf(item.FirstChild())
}

// boxOf returns the box that a paragraph begins with. No block of HTML can follow it.
func boxOf(paragraph ast.Node) (*east.TaskCheckBox, bool) {
	box, ok := paragraph.FirstChild().(*east.TaskCheckBox)
	return box, ok
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
