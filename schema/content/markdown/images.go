package markdown

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// memberTitle of an image means that its caption was the title of a Markdown image, and not a <figcaption>.
const memberTitle = "title"

// imageData reads the attributes of <img>. Others, and values that an image cannot have, are kept as they are.
func imageData(attrs attributes) (schema.Data, bool) {
	src, given := attrs.get("src")
	ref, ok := content.Ref(src)
	if kind := ref["kind"]; !given || !ok || kind != "url" && kind != "file" {
		return nil, false
	}
	data, others := schema.Data{"ref": ref}, map[string]any{}
	for _, a := range attrs {
		switch value, ok := length(a.value); {
		case a.name == "src" || !attributeName.MatchString(a.name):
		case a.name == "alt" && a.value != "":
			data["alt"] = a.value
		case (a.name == "width" || a.name == "height") && ok:
			data[a.name] = value
		case a.name == "data-size" && schema.ValidData("inline-image", schema.Data{"ref": ref, "size": a.value}):
			data["size"] = a.value
		case a.name == "title" && a.value != "":
			data["caption"] = a.value
		case a.flag:
			others[a.name] = true
		case a.value != "":
			others[a.name] = a.value
		}
	}
	if len(others) > 0 {
		data[memberAttributes] = others
	}
	return data, schema.ValidData("inline-image", data)
}

// pictureData reads the content of <picture>.
func pictureData(nodes []*element) (schema.Data, bool) {
	list, ok := onlyElements(nodes)
	if !ok || len(list) != 2 || list[0].name != "source" || list[1].name != "img" || !list[0].attrs.only("srcset", "media") {
		return nil, false
	}
	data, ok := imageData(list[1].attrs)
	dark, _ := list[0].attrs.get("srcset")
	ref, darkOK := content.Ref(dark)
	if media, _ := list[0].attrs.get("media"); !ok || !darkOK || dark == "" || media != darkMedia || ref["kind"] != "url" && ref["kind"] != "file" {
		return nil, false
	}
	data["refDark"] = ref
	return data, true
}

const darkMedia = "(prefers-color-scheme: dark)"

// figures reads figures, alone or in a <div> that says how they are laid out.
func (r *reader) figures(e *element) ([]schema.Node, bool) {
	data, list := schema.Data{}, []*element{e}
	if e.name == "div" {
		var ok bool
		if list, ok = e.elements(); !ok || len(list) == 0 || !e.attrs.only("align", "data-full-width", "data-with-frame") {
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

// blockImage makes an image of a block of what was read as an inline.
func blockImage(inline schema.Data) schema.Node {
	image := schema.Node{Type: "image", Data: schema.Data{}}
	for name, value := range inline {
		if name != "caption" && name != "size" {
			image.Data[name] = value
		}
	}
	if caption, ok := inline["caption"].(string); ok {
		image.Data[memberTitle] = true
		image.Fragments = []schema.Node{{Object: schema.ObjectFragment, Fragment: "caption",
			Nodes: []schema.Node{schema.Block("paragraph", schema.Text(caption))}}}
	}
	return image
}

// inlineImage is the inverse of blockImage; not ok if a line has no room for the image.
func inlineImage(n *schema.Node) (schema.Data, bool) {
	data := schema.Data{}
	for name, value := range n.Data {
		if name != memberTitle {
			data[name] = value
		}
	}
	if len(n.Fragments) == 0 {
		return data, true
	}
	caption := captionOf(n)
	titled, _ := n.Data[memberTitle].(bool)
	simple := len(n.Fragments) == 1 && len(n.Fragments[0].Nodes) == 1 && isPlain(n.Fragments[0].Nodes[0].Nodes)
	if !titled || !simple || caption == "" || strings.Contains(caption, "\n") {
		return nil, false
	}
	data["caption"] = caption
	return data, true
}

// isPlain reports whether inlines are text without marks.
func isPlain(nodes []schema.Node) bool {
	for i := range nodes {
		if nodes[i].Object != schema.ObjectText {
			return false
		}
		for _, leaf := range nodes[i].Leaves {
			if styleOf(leaf.Marks) != (style{}) || hiddenSource(leaf) != "" {
				return false
			}
		}
	}
	return true
}

func captionOf(n *schema.Node) string {
	caption := ""
	for i := range n.Fragments {
		caption = strings.TrimSpace(caption + " " + content.InlineText(content.Inlines(n.Fragments[i].Nodes)))
	}
	return caption
}

// images writes a block of images: in a line if that holds all, else as figures.
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
	for _, row := range []struct{ name, member string }{{"data-full-width", "fullWidth"}, {"data-with-frame", "withFrame"}} {
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

// imageSpan writes an image in a line.
func imageSpan(data schema.Data, where place) string {
	if where != inHTML && onlyMembers(data, "ref", "alt", "caption") {
		return image(data["ref"], content.Member(data, "alt"), content.Member(data, "caption"))
	}
	return imageHTML(data)
}

func onlyMembers(data schema.Data, names ...string) bool {
	for name := range data {
		known := false
		for _, allowed := range names {
			known = known || name == allowed
		}
		if !known {
			return false
		}
	}
	return true
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

// imageHTML writes an image as an element.
func imageHTML(data schema.Data) string {
	attrs := attributes{{name: "src", value: content.Link(data["ref"])}, {name: "alt", value: content.Member(data, "alt")}}
	attrs = attrs.set("width", lengthText(data["width"])).set("height", lengthText(data["height"]))
	attrs = attrs.set("data-size", content.Member(data, "size")).set("title", content.Member(data, "caption"))
	img := openTag("img", append(attrs, otherAttributes(stringMap(data[memberAttributes]), attrs)...))
	if dark := content.Link(data["refDark"]); dark != "" {
		return "<picture>" + openTag("source", attributes{{name: "srcset", value: dark}, {name: "media", value: darkMedia}}) + img + "</picture>"
	}
	return img
}

// sizedImages gives the images of a line the size that they have without one.
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
