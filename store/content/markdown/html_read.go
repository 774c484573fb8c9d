package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// HTML is read only if all of it can be written back. Anything else is kept as its source.

// kindRaw is the kind of a node that is the source of a block that the grammar has no node for.
const (
	kindRaw      = "raw"
	memberSource = "source"
)

func rawBlock(source string) schema.Node {
	return schema.Node{Type: kindRaw, Data: schema.Data{memberSource: content.Clean(source)}}
}

func (r *reader) htmlBlock(n ast.Node) []schema.Node {
	block := n.(*ast.HTMLBlock)
	source := linesOf(block, r.source)
	if block.HasClosure() {
		source += string(block.ClosureLine.Value(r.source))
	}
	// How far a block is to the right is not kept: it may be at another place when it is written.
	source = strings.TrimLeft(strings.Trim(source, "\n"), " ")
	if nodes, ok := parseHTML(source); ok {
		if blocks, ok := r.topHTML(nodes); ok && len(blocks) > 0 {
			return blocks
		}
	}
	return []schema.Node{rawBlock(source)}
}

// topHTML reads the elements of a block of HTML.
func (r *reader) topHTML(nodes []*element) ([]schema.Node, bool) {
	list, ok := onlyElements(nodes)
	if !ok {
		return nil, false
	}
	var blocks []schema.Node
	for _, e := range list {
		if read, ok := topReaders[e.name]; ok {
			more, ok := read(r, e)
			if !ok {
				return nil, false
			}
			blocks = append(blocks, more...)
			continue
		}
		return nil, false
	}
	return blocks, true
}

// topReaders has a row for each element that a document can have as a block. flowReaders has those of cells.
var topReaders, flowReaders map[string]func(r *reader, e *element) ([]schema.Node, bool)

func init() { // In init, because the readers call flow, which reads the table.
	flowReaders = map[string]func(r *reader, e *element) ([]schema.Node, bool){
		"p": (*reader).alignedParagraph, "ul": (*reader).htmlList, "ol": (*reader).htmlList, "pre": (*reader).pre,
		"figure": (*reader).figures, "div": (*reader).figures, "blockquote": (*reader).htmlQuote,
		"h1": (*reader).htmlHeading, "h2": (*reader).htmlHeading, "h3": (*reader).htmlHeading, "h4": (*reader).htmlHeading,
		"h5": (*reader).htmlHeading, "h6": (*reader).htmlHeading,
	}
	topReaders = map[string]func(r *reader, e *element) ([]schema.Node, bool){
		"p": (*reader).topParagraph, "pre": (*reader).pre, "figure": (*reader).figures, "div": (*reader).figures,
		"table": (*reader).htmlTable, "img": (*reader).imageBlock,
		"h1": (*reader).alignedHeading, "h2": (*reader).alignedHeading, "h3": (*reader).alignedHeading,
	}
}

// htmlInlines reads the content of an element that holds no blocks.
func (r *reader) htmlInlines(nodes []*element) ([]schema.Node, bool) {
	var b inlineBuilder
	ok := r.inlineHTML(&b, trimmed(nodes))
	return b.inlines(), ok
}

// trimmed removes the white space at the end of what an element holds.
func trimmed(nodes []*element) []*element {
	for len(nodes) > 0 && nodes[len(nodes)-1].blank() {
		nodes = nodes[:len(nodes)-1]
	}
	if last := len(nodes) - 1; last >= 0 && nodes[last].name == "" {
		nodes = append(slices.Clone(nodes[:last]), &element{text: strings.TrimRight(nodes[last].text, " \t\r\n\f")})
	}
	return nodes
}

// flow reads the content of an element that holds blocks, text, or both.
func (r *reader) flow(nodes []*element) ([]schema.Node, bool) {
	var blocks []schema.Node
	var line []*element
	flush := func() bool {
		inlines, ok := r.htmlInlines(line)
		if ok && len(inlines) > 0 {
			blocks = append(blocks, schema.Block("paragraph", inlines...))
		}
		line = nil
		return ok
	}
	for _, n := range nodes {
		read, isBlock := flowReaders[n.name]
		if !isBlock {
			line = append(line, n)
			continue
		}
		if !flush() {
			return nil, false
		}
		more, ok := read(r, n)
		if !ok {
			return nil, false
		}
		blocks = append(blocks, more...)
	}
	return blocks, flush()
}

// alignments are the values of align and what they are called in documents.
var alignments = map[string]string{"left": "start", "center": "center", "right": "end"}

func alignmentName(member string) string {
	for name, value := range alignments {
		if value == member {
			return name
		}
	}
	return ""
}

func alignedData(e *element) (schema.Data, bool) {
	data := schema.Data{}
	align, given := e.attrs.get("align")
	if given {
		data["align"] = alignments[align]
	}
	return data, e.attrs.only("align") && (!given || data["align"] != "")
}

func (r *reader) alignedParagraph(e *element) ([]schema.Node, bool) {
	data, ok := alignedData(e)
	inlines, read := r.htmlInlines(e.nodes)
	n := schema.Block("paragraph", inlines...)
	if len(data) > 0 {
		n.Data = data
	}
	return []schema.Node{n}, ok && read
}

// topParagraph reads a paragraph that Markdown can write: not an empty one.
func (r *reader) topParagraph(e *element) ([]schema.Node, bool) {
	nodes, ok := r.alignedParagraph(e)
	return nodes, ok && len(nodes[0].Nodes)+len(nodes[0].Data) > 0
}

// alignedHeading reads a heading that Markdown has no form for.
func (r *reader) alignedHeading(e *element) ([]schema.Node, bool) {
	if !e.attrs.has("align") {
		return nil, false
	}
	return r.htmlHeading(e)
}

func (r *reader) htmlHeading(e *element) ([]schema.Node, bool) {
	data, ok := alignedData(e)
	var b inlineBuilder
	r.inHeading = true
	ok = r.inlineHTML(&b, trimmed(e.nodes)) && ok
	r.inHeading = false
	n := headingNode(int(e.name[1]-'0'), b.inlines(), b.anchor)
	if align, given := data["align"]; given {
		n.Data["align"] = align
	}
	return []schema.Node{n}, ok
}

// headingNode makes a heading. The grammar has three levels: deeper ones keep theirs beside it.
func headingNode(level int, inlines []schema.Node, a anchor) schema.Node {
	n := schema.Node{Type: "heading-" + strconv.Itoa(min(level, 3)), Data: schema.Data{}, Nodes: inlines}
	if level > 3 {
		n.Data[memberLevel] = float64(level)
	}
	if a.id != "" {
		setAnchor(n.Data, a)
	}
	return n
}

// memberLevel of a heading-3 is its level in Markdown, if that is 4 to 6.
const memberLevel = "level"

func headingLevel(n *schema.Node) int {
	if level, ok := n.Data[memberLevel].(float64); ok && n.Type == "heading-3" && (level == 4 || level == 5 || level == 6) {
		return int(level)
	}
	return int(n.Type[len("heading-")] - '0')
}

func (r *reader) htmlQuote(e *element) ([]schema.Node, bool) {
	blocks, ok := r.flow(e.nodes)
	return []schema.Node{{Type: "blockquote", Nodes: filled(blocks)}}, ok && len(e.attrs) == 0
}

func (r *reader) htmlList(e *element) ([]schema.Node, bool) {
	items, ok := e.elements()
	n := schema.Node{Type: "list-unordered"}
	if e.name == "ol" {
		n = schema.Node{Type: "list-ordered", Data: schema.Data{}}
		if start, given := e.attrs.get("start"); given {
			number, err := strconv.Atoi(start)
			if n.Data["start"] = float64(number); err != nil || strconv.Itoa(number) != start || number == 1 || number < 0 || number > content.MaxListNumber {
				return nil, false
			}
		}
	}
	if !ok || !e.attrs.only("start") || len(e.attrs) > 0 && e.name == "ul" {
		return nil, false
	}
	for _, item := range items {
		blocks, ok := r.flow(item.nodes)
		if item.name != "li" || len(item.attrs) > 0 || !ok {
			return nil, false
		}
		n.Nodes = append(n.Nodes, schema.Node{Type: "list-item", Nodes: filled(blocks)})
	}
	return []schema.Node{n}, len(items) > 0
}

// imageBlock reads an image on a line of its own.
func (r *reader) imageBlock(e *element) ([]schema.Node, bool) {
	if class, _ := e.attrs.get("class"); class == "gitbook-drawing" {
		return drawingNode(e)
	}
	data, ok := imageData(e.attrs)
	if !ok {
		return nil, false
	}
	return []schema.Node{imagesOrParagraph([]schema.Node{{Type: "inline-image", Data: data}})}, true
}

// imagesOrParagraph makes a block of images of a paragraph that has nothing else. Images with a size are a part of the text.
func imagesOrParagraph(inlines []schema.Node) schema.Node {
	var images []schema.Node
	for _, inline := range inlines {
		switch {
		case inline.Type == "inline-image" && inline.Data["size"] == nil:
			images = append(images, blockImage(inline.Data))
		case inline.Object != schema.ObjectText || strings.TrimSpace(content.LeafText(inline.Leaves)) != "":
			return schema.Block("paragraph", inlines...)
		}
	}
	if len(images) == 0 {
		return schema.Block("paragraph", inlines...)
	}
	return schema.Node{Type: "images", Data: schema.Data{}, Nodes: images}
}

// drawingNode reads the image that GitBook writes for a drawing.
func drawingNode(e *element) ([]schema.Node, bool) {
	src, _ := e.attrs.get("src")
	alt, _ := e.attrs.get("alt")
	n := schema.Node{Type: "drawing", Data: schema.Data{}}
	if src == "" {
		return []schema.Node{n}, alt == "" && e.attrs.only("src", "alt", "class")
	}
	ref, ok := kindFile.read(src)
	n.Data["ref"] = ref
	return []schema.Node{n}, ok && alt == "" && e.attrs.only("src", "alt", "class")
}
