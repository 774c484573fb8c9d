package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// An HTML block is read as blocks only if the blocks can be written as the same HTML. Other HTML is stored as source.

func (r *reader) htmlBlock(n ast.Node) []schema.Node {
	block := n.(*ast.HTMLBlock)
	source := linesOf(block, r.source)
	if block.HasClosure() {
		source += string(block.ClosureLine.Value(r.source))
	}
	// The indentation of a block is dropped, because an edit may move the block to a place with another indentation.
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

// topReaders has a row for each element that can be a block of a document. flowReaders has a row for each element that
// can be a block of a cell.
var topReaders, flowReaders map[string]func(r *reader, e *element) ([]schema.Node, bool)

// htmlInlines reads the content of an element that contains no blocks.
func (r *reader) htmlInlines(nodes []*element) []schema.Node {
	var b inlineBuilder
	r.inlineHTML(&b, trimmed(nodes))
	return b.inlines()
}

// trimmed removes the white space at the end of an element's content.
func trimmed(nodes []*element) []*element {
	for len(nodes) > 0 && nodes[len(nodes)-1].blank() {
		nodes = nodes[:len(nodes)-1]
	}
	if last := len(nodes) - 1; last >= 0 && nodes[last].name == "" {
		nodes = append(slices.Clone(nodes[:last]), &element{text: strings.TrimRight(nodes[last].text, " \t\r\n\f")})
	}
	return nodes
}

// flow reads the content of an element that may contain blocks, text, or both.
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
			line = append(line, n) // The tags of this element are hidden, and its content is shown.
			continue
		}
		flush()
		blocks = append(blocks, more...)
	}
	flush()
	return blocks
}

// alignedData reads the alignment of a paragraph or a heading, and its other attributes.
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

// topParagraph reads <p> as a paragraph. The second result is false for an empty paragraph without attributes.
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
			if n.Data["start"] = float64(number); err != nil || strconv.Itoa(number) != start ||
				number == 1 || number < 0 || number > content.MaxListNumber {
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

// imageBlock reads an image on a separate line.
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
