package markdown

import (
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// imageData reads the attributes of <img>. It stores other attributes, and values that an image of a document cannot
// have, unchanged.
func imageData(attrs attributes) (schema.Data, bool) {
	src, given := attrs.get("src")
	ref, ok := content.Ref(src)
	if kind := ref["kind"]; !given || !ok || kind != "url" && kind != "file" {
		return nil, false
	}
	data, others := schema.Data{"ref": ref}, map[string]any{}
	for _, a := range attrs {
		switch value, ok := readLength(a.value); {
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
	if !ok || len(list) != 2 || list[0].name != "source" || list[1].name != "img" ||
		!list[0].attrs.only("srcset", "media") {
		return nil, false
	}
	data, ok := imageData(list[1].attrs)
	dark, _ := list[0].attrs.get("srcset")
	ref, darkOK := content.Ref(dark)
	if media, _ := list[0].attrs.get("media"); !ok || !darkOK || dark == "" || media != darkMedia ||
		ref["kind"] != "url" && ref["kind"] != "file" {
		return nil, false
	}
	data["refDark"] = ref
	return data, true
}

const darkMedia = "(prefers-color-scheme: dark)"

// blockImage makes an image block from an inline image.
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

// inlineImage makes the data of an inline image from an image block. The second result is false if an inline image
// cannot express all of the block's data.
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

// isPlain reports whether all inlines are text without marks.
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

// imagesOrParagraph turns a paragraph with only images into a block of images. An image with a size belongs to the
// text, so a paragraph with such an image stays a paragraph.
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
