package markdown

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// images writes a block of images. If the Markdown form of images can express all data of the block's images, it writes
// them in one line. Otherwise it writes figures.
func (w writer) images(n *schema.Node) string {
	if len(layoutAttributes(n)) > 0 {
		return figuresHTML(n)
	}
	parts := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		data, ok := inlineImage(&n.Nodes[i])
		if !ok {
			return figuresHTML(n)
		}
		parts[i] = imageSpan(data, inParagraph)
	}
	return strings.Join(parts, " ")
}

func layoutAttributes(n *schema.Node) attributes {
	attrs := attributes(nil).set("align", content.Member(n.Data, "align"))
	for _, row := range []struct{ name, member string }{
		{"data-full-width", "fullWidth"}, {"data-with-frame", "withFrame"},
	} {
		if value, ok := n.Data[row.member].(bool); ok {
			attrs = attrs.set(row.name, strconv.FormatBool(value))
		}
	}
	return attrs
}

func figuresHTML(n *schema.Node) string {
	attrs, figures := layoutAttributes(n), make([]string, len(n.Nodes))
	for i := range n.Nodes {
		figures[i] = figureHTML(&n.Nodes[i])
	}
	switch {
	case len(figures) != 1:
		return openTag("div", attrs) + "\n" + strings.Join(figures, "\n") + "\n</div>"
	case len(attrs) == 0:
		return figures[0]
	}
	return openTag("div", attrs) + figures[0] + "</div>"
}

func figureHTML(n *schema.Node) string {
	caption := ""
	for i := range n.Fragments {
		for j := range n.Fragments[i].Nodes {
			if paragraph := &n.Fragments[i].Nodes[j]; len(paragraph.Nodes) > 0 {
				caption += "<p>" + inlinesHTML(paragraph.Nodes) + "</p>"
			}
		}
	}
	if len(n.Fragments) > 0 {
		caption = "<figcaption>" + caption + "</figcaption>"
	}
	return "<figure>" + imageHTML(n.Data) + caption + "</figure>"
}

// sizedImages sets the size of the inline images to "original". An inline image without a size has this size too.
func sizedImages(nodes []schema.Node) []schema.Node {
	sized := slices.Clone(nodes)
	for i := range sized {
		if sized[i].Type == "inline-image" {
			data := maps.Clone(sized[i].Data)
			data["size"] = "original"
			sized[i].Data = data
		}
	}
	return sized
}

// figures reads a figure, or the figures in a <div> that defines their layout.
func (r *reader) figures(e *element) ([]schema.Node, bool) {
	data, list := schema.Data{}, []*element{e}
	if e.name == "div" {
		var ok bool
		if list, ok = e.elements(); !ok || len(list) == 0 ||
			!e.attrs.only("align", "data-full-width", "data-with-frame") {
			return nil, false
		}
		for _, row := range []struct{ name, member string }{
			{"align", "align"}, {"data-full-width", "fullWidth"}, {"data-with-frame", "withFrame"},
		} {
			value, given := e.attrs.get(row.name)
			switch {
			case !given:
			case row.member == "align":
				data[row.member] = value
			case value == "true" || value == "false":
				data[row.member] = value == "true"
			default:
				return nil, false
			}
		}
	}
	block := schema.Node{Type: "images", Data: data}
	for _, figure := range list {
		image, ok := r.figure(figure)
		if !ok {
			return nil, false
		}
		block.Nodes = append(block.Nodes, image)
	}
	return []schema.Node{block}, schema.ValidData("images", data)
}

func (r *reader) figure(e *element) (schema.Node, bool) {
	list, ok := e.elements()
	if e.name != "figure" || !ok || len(e.attrs) > 0 || len(list) == 0 || len(list) > 2 {
		return schema.Node{}, false
	}
	var data schema.Data
	switch list[0].name {
	case "img":
		data, ok = imageData(list[0].attrs)
	case "picture":
		data, ok = pictureData(list[0].nodes)
	default:
		ok = false
	}
	if !ok || data["caption"] != nil || data["size"] != nil {
		return schema.Node{}, false
	}
	image := schema.Node{Type: "image", Data: data}
	if len(list) == 1 {
		return image, true
	}
	if list[1].name != "figcaption" || len(list[1].attrs) > 0 {
		return schema.Node{}, false
	}
	caption := r.flow(list[1].nodes)
	for i := range caption {
		ok = ok && caption[i].Type == "paragraph"
	}
	image.Fragments = []schema.Node{{Object: schema.ObjectFragment, Fragment: "caption", Nodes: filled(caption)}}
	return image, ok
}
