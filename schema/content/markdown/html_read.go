package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
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
		"table": (*reader).htmlTable, "img": (*reader).imageBlock, "hr": (*reader).rule,
		"h1": (*reader).htmlHeading, "h2": (*reader).htmlHeading, "h3": (*reader).htmlHeading,
		"h4": (*reader).htmlHeading,
		"h5": (*reader).htmlHeading, "h6": (*reader).htmlHeading,
	}
}

// htmlInlines reads the content of an element that holds no blocks.
func (r *reader) htmlInlines(nodes []*element) []schema.Node {
	var b inlineBuilder
	r.inlineHTML(&b, trimmed(nodes))
	return b.inlines()
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
func (r *reader) flow(nodes []*element) []schema.Node {
	var blocks []schema.Node
	var line []*element
	flush := func() {
		blank := !slices.ContainsFunc(line, func(e *element) bool { return !e.blank() })
		if inlines := r.htmlInlines(line); len(inlines) > 0 && !blank {
			blocks = append(blocks, schema.Block("paragraph", inlines...))
		}
		line = nil
	}
	for _, n := range nodes {
		read, isBlock := flowReaders[n.name]
		if !isBlock {
			line = append(line, n)
			continue
		}
		more, ok := read(r, n)
		if !ok {
			line = append(line, n) // Its tags are hidden.
			continue
		}
		flush()
		blocks = append(blocks, more...)
	}
	flush()
	return blocks
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

// alignedData reads how a paragraph or a heading is aligned, and the attributes that it has besides.
func alignedData(e *element, known ...string) (data schema.Data, others map[string]any) {
	data, others = schema.Data{}, restOf(e.attrs, append(known, "align"))
	align, given := e.attrs.get("align")
	switch as := alignments[align]; {
	case as != "":
		data["align"] = as
	case given:
		others["align"] = align
	}
	return data, others
}

func (r *reader) alignedParagraph(e *element) ([]schema.Node, bool) {
	data, others := alignedData(e)
	n := schema.Block("paragraph", r.htmlInlines(e.nodes)...)
	if len(data) > 0 {
		n.Data = data
	}
	if len(others) > 0 {
		n.Meta = schema.Data{memberAttributes: others}
	}
	return []schema.Node{n}, true
}

// attributed reports whether a paragraph is more than its text.
func attributed(n *schema.Node) bool {
	return len(n.Data) > 0 || len(stringMap(n.Meta[memberAttributes])) > 0
}

// topParagraph reads a paragraph that Markdown can write: not an empty one.
func (r *reader) topParagraph(e *element) ([]schema.Node, bool) {
	nodes, _ := r.alignedParagraph(e)
	if !attributed(&nodes[0]) {
		if len(nodes[0].Nodes) == 0 {
			return nil, false
		}
		nodes[0] = imagesOrParagraph(nodes[0].Nodes)
	}
	return nodes, true
}

func (r *reader) htmlHeading(e *element) ([]schema.Node, bool) {
	data, others := alignedData(e, "id")
	var b inlineBuilder
	if id, _ := e.attrs.get("id"); validAnchor(id) {
		b.anchor = anchor{id, `<a id="` + id + `"></a>`}
		if schema.ValidData("heading-1", schema.Data{"id": id}) {
			b.anchor.source = gitbookAnchor(id)
		}
	}
	r.inHeading = true
	r.inlineHTML(&b, trimmed(e.nodes))
	r.inHeading = false
	n := headingNode(int(e.name[1]-'0'), b.inlines(), b.anchor)
	if align, given := data["align"]; given {
		n.Data["align"] = align
	}
	if len(others) > 0 {
		n.Data[memberAttributes] = others
	}
	return []schema.Node{n}, true
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
	return []schema.Node{{Type: "blockquote", Nodes: filled(r.flow(e.nodes))}}, len(e.attrs) == 0
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
		if item.name != "li" || len(item.attrs) > 0 {
			return nil, false
		}
		n.Nodes = append(n.Nodes, schema.Node{Type: "list-item", Nodes: filled(r.flow(item.nodes))})
	}
	return []schema.Node{n}, len(items) > 0
}

func (r *reader) rule(*element) ([]schema.Node, bool) { return r.divider(nil), true }

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
		case inline.Object != schema.ObjectText || strings.TrimSpace(content.LeafText(inline.Leaves)) != "" ||
			hides(inline.Leaves):
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
	n := schema.Node{Type: "drawing", Data: schema.Data{}}
	if alt, _ := e.attrs.get("alt"); alt != "" {
		n.Data["alt"] = alt
	}
	if others := restOf(e.attrs, []string{"src", "alt", "class"}); len(others) > 0 {
		n.Data[memberAttributes] = others
	}
	if src == "" {
		return []schema.Node{n}, true
	}
	ref, ok := kindFile.read(src)
	n.Data["ref"] = ref
	return []schema.Node{n}, ok
}
