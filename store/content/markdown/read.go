package markdown

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// maxNesting bounds the nesting of containers. Anything deeper is read as text, so that a document made from any text
// stays within the schema's depth limit, and no line is offered to many containers.
const maxNesting = 10

// markdownParser reads CommonMark with tables, strikethrough, tasks and hints. It has no raw HTML parsers, so HTML is
// text. It takes time proportional to the text: TestMarkdownCost has the difficult texts.
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
			util.Prioritized(nested{hintParser{}}, 650),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(newTaskParser(), 0),
			util.Prioritized(codeSpanParser{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(linkParser{}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(emphasisParser{}, 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(referenceTransformer{}, 100),
			util.Prioritized(newTableTransformer(), 200),
		),
	)
}

// ErrTooLarge means that the document would have more than schema.MaxDocumentNodes nodes.
var ErrTooLarge = errors.New("the document has too many nodes")

// Read reads any text; what is not Markdown is plain text. The document satisfies the grammar: a block that the grammar
// does not allow in its place (code in a quotation, say) becomes the closest one that it does.
func Read(markdown string) (schema.Document, error) {
	r := &reader{source: []byte(content.Clean(markdown))}
	root, state := r.parse()
	if state.tooLarge {
		return schema.Document{}, ErrTooLarge
	}
	d := schema.NewDocument(r.blocks(root, "")...)
	if d.TooLarge() {
		return schema.Document{}, ErrTooLarge
	}
	return d, nil
}

// reader converts goldmark's tree to ours.
type reader struct {
	source []byte
	inCell bool // inside a table
}

func (r *reader) parse() (ast.Node, *markdownState) {
	pc, state := newContext(r.source)
	return markdownParser.Parse(text.NewReader(r.source), parser.WithContext(pc)), state
}

// blockReaders has a row per kind of block. A reader returns nodes that parent may hold.
var blockReaders map[ast.NodeKind]func(r *reader, n ast.Node, parent string) []schema.Node

func init() { // In init, because the readers call blocks, which reads the table.
	blockReaders = map[ast.NodeKind]func(r *reader, n ast.Node, parent string) []schema.Node{
		ast.KindParagraph:       (*reader).paragraph,
		ast.KindTextBlock:       (*reader).paragraph,
		ast.KindHeading:         (*reader).heading,
		ast.KindThematicBreak:   (*reader).divider,
		ast.KindCodeBlock:       (*reader).code,
		ast.KindFencedCodeBlock: (*reader).code,
		ast.KindBlockquote:      (*reader).quote,
		ast.KindList:            (*reader).list,
		kindHint:                (*reader).hint,
		east.KindTable:          (*reader).table,
	}
}

func (r *reader) blocks(n ast.Node, parent string) []schema.Node {
	nodes := []schema.Node{}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if read, ok := blockReaders[child.Kind()]; ok {
			nodes = append(nodes, read(r, child, parent)...)
		}
	}
	return nodes
}

// container returns a block with the content of n, or only the content if the block is not allowed there.
func (r *reader) container(n ast.Node, kind string, data schema.Data, parent string) []schema.Node {
	if !schema.Allows(parent, kind) {
		return r.blocks(n, parent)
	}
	return []schema.Node{{Type: kind, Data: data, Nodes: r.blocks(n, kind)}}
}

func (r *reader) quote(n ast.Node, parent string) []schema.Node {
	return r.container(n, "blockquote", nil, parent)
}

func (r *reader) hint(n ast.Node, parent string) []schema.Node {
	return r.container(n, "hint", schema.Data{"style": n.(*hintNode).style}, parent)
}

func (r *reader) divider(ast.Node, string) []schema.Node {
	return []schema.Node{schema.Block("divider")}
}

func (r *reader) heading(n ast.Node, _ string) []schema.Node {
	level := min(n.(*ast.Heading).Level, 3)
	return []schema.Node{schema.Block(fmt.Sprintf("heading-%d", level), r.inlines(n)...)}
}

// paragraph reads a paragraph. One of images only becomes a block of images where that is allowed.
func (r *reader) paragraph(n ast.Node, parent string) []schema.Node {
	inlines := r.inlines(n)
	var images []schema.Node
	for _, inline := range inlines {
		switch {
		case inline.Type == "inline-image":
			images = append(images, blockImage(inline.Data))
		case inline.Object != schema.ObjectText || strings.TrimSpace(content.LeafText(inline.Leaves)) != "":
			return []schema.Node{schema.Block("paragraph", inlines...)}
		}
	}
	switch {
	case len(images) > 0 && schema.Allows(parent, "images"):
		return []schema.Node{schema.Block("images", images...)}
	case len(inlines) == 0 && parent != "list-item":
		return nil
	}
	return []schema.Node{schema.Block("paragraph", inlines...)}
}

func blockImage(inline schema.Data) schema.Node {
	image := schema.Node{Type: "image", Data: schema.Data{"ref": inline["ref"]}}
	if alt, ok := inline["alt"]; ok {
		image.Data["alt"] = alt
	}
	if caption, ok := inline["caption"].(string); ok {
		image.Fragments = []schema.Node{{Nodes: []schema.Node{schema.Block("paragraph", schema.Text(caption))}}}
	}
	return image
}

var codeTitle = regexp.MustCompile(`(?:^|\s)title="([^"]*)"`)

func (r *reader) code(n ast.Node, parent string) []schema.Node {
	var lines []string
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		lines = append(lines, strings.TrimSuffix(string(segment.Value(r.source)), "\n"))
	}
	data := schema.Data{}
	if fenced, ok := n.(*ast.FencedCodeBlock); ok && fenced.Info != nil {
		info := string(fenced.Info.Segment.Value(r.source))
		if title := codeTitle.FindStringSubmatch(info); title != nil {
			data["title"] = unescape([]byte(title[1]))
			info = codeTitle.ReplaceAllString(info, "")
		}
		if words := strings.Fields(info); len(words) > 0 {
			data["syntax"] = unescape([]byte(words[0]))
		}
	}
	if data["syntax"] == "math" && schema.Allows(parent, "math") {
		return []schema.Node{{Type: "math", Data: schema.Data{"formula": strings.Join(lines, "\n")}}}
	}
	if !schema.Allows(parent, "code") {
		return codeParagraph(lines)
	}
	block := schema.Node{Type: "code", Data: data}
	for _, line := range lines {
		node := schema.Block("code-line")
		if line != "" {
			node.Nodes = []schema.Node{schema.Text(line)}
		}
		block.Nodes = append(block.Nodes, node)
	}
	return []schema.Node{block}
}

// codeParagraph replaces a code block where none is allowed.
func codeParagraph(lines []string) []schema.Node {
	var b inlineBuilder
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !b.empty() {
			b.text("\n")
		}
		b.marks |= content.Code
		b.text(line)
		b.marks = 0
	}
	if b.empty() {
		return nil
	}
	return []schema.Node{schema.Block("paragraph", b.inlines()...)}
}

func (r *reader) list(n ast.Node, parent string) []schema.Node {
	list := n.(*ast.List)
	node := schema.Node{Type: "list-unordered"}
	if list.IsOrdered() {
		node = schema.Node{Type: "list-ordered", Data: schema.Data{}}
		if list.Start != 1 {
			node.Data["start"] = float64(list.Start)
		}
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		child := schema.Node{Type: "list-item", Nodes: r.itemBlocks(item)}
		if box, ok := checkBox(item); ok {
			node.Type, node.Data = "list-tasks", nil
			child.Data = schema.Data{"checked": box.IsChecked}
		}
		node.Nodes = append(node.Nodes, child)
	}
	return []schema.Node{node}
}

// itemBlocks gives an item at least one block, because an editor needs somewhere to write.
func (r *reader) itemBlocks(item ast.Node) []schema.Node {
	nodes := r.blocks(item, "list-item")
	if len(nodes) > 1 && nodes[0].Type == "paragraph" && len(nodes[0].Nodes) == 0 {
		nodes = nodes[1:]
	}
	if len(nodes) == 0 {
		nodes = []schema.Node{schema.Block("paragraph")}
	}
	return nodes
}

func checkBox(item ast.Node) (*east.TaskCheckBox, bool) {
	if item.FirstChild() == nil {
		return nil, false
	}
	box, ok := item.FirstChild().FirstChild().(*east.TaskCheckBox)
	return box, ok
}
