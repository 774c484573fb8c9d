package markdown

import (
	"errors"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/octavo-docs/octavo/schema"
)

// ErrTooLarge means that the document would have more than schema.MaxDocumentNodes nodes.
var ErrTooLarge = errors.New("the document has too many nodes")

// Read reads any text as Markdown. Every syntax is accepted, so the only error is ErrTooLarge. The document satisfies
// the grammar and has no keys. The function `fit` converts blocks that the grammar does not allow.
func Read(markdown string) (schema.Document, error) { return newReader(markdown).document() }

func (r *reader) document() (schema.Document, error) {
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

// ideal reads each block where it is in the Markdown, even if the grammar of documents does not allow the block at this
// place.
func (r *reader) ideal() []schema.Node {
	root := r.parse(nil)
	if r.state.tooLarge {
		return nil
	}
	return r.settleNotes(r.blocks(root))
}

func (r *reader) quote(n ast.Node) []schema.Node {
	return []schema.Node{{Type: "blockquote", Nodes: filled(r.blocks(n))}}
}

func (r *reader) divider(ast.Node) []schema.Node {
	return []schema.Node{schema.Block("divider")}
}

func (r *reader) rule(*element) ([]schema.Node, bool) { return r.divider(nil), true }

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

// paragraph reads a paragraph. A paragraph that has only images becomes a block of images.
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

// itemBlocks reads the blocks of a list item. If an empty paragraph is before other blocks, itemBlocks leaves it out.
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

// boxOf returns the task box at the beginning of a paragraph. A block of HTML cannot follow the box.
func boxOf(paragraph ast.Node) (*east.TaskCheckBox, bool) {
	box, ok := paragraph.FirstChild().(*east.TaskCheckBox)
	return box, ok
}
