package gitlayout

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/frontmatter"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// The layout, the tags and the variables of a page come from the page's front matter and from the files of variables
// and tags. Users cannot edit them in the space.

// settingsFolder is the folder with the files of variables and of tags.
const settingsFolder = ".gitbook/"

// VariablesName and TagsName are the names of the space's files with its variables and its tags. MaxVariables bounds
// the bytes of each file.
const (
	VariablesName = "vars.yaml"
	TagsName      = "tags.yaml"
	MaxVariables  = 64 << 10
)

// maxTags bounds the number of tags of a space, and of a page.
const maxTags = 500

// Tags reads the tags that a space allows for pages and updates. It returns no tags if the file is not a list.
func Tags(text []byte) []schema.RevisionTag {
	tags := []schema.RevisionTag{}
	var given []map[string]any
	if len(text) > MaxVariables || yaml.Unmarshal(text, &given) != nil {
		return tags
	}
	seen := map[string]bool{}
	for _, about := range given {
		text := func(name string, longest int) string {
			value, _ := about[name].(string)
			return cutText(value, longest)
		}
		tag := schema.RevisionTag{Slug: text("tag", maxLabel), Label: text("label", maxLabel), Color: "default"}
		if tag.Slug == "" || seen[tag.Slug] || len(tags) == maxTags {
			continue
		}
		seen[tag.Slug] = true
		if tag.Label == "" {
			tag.Label = tag.Slug
		}
		if color := text("color", maxLabel); schema.ValidData("icon", schema.Data{"icon": "", "color": color}) {
			tag.Color = color
		}
		if tag.Emoji = text("emoji", maxIcon); tag.Emoji == "" {
			tag.Icon = text("icon", maxIcon)
		}
		tags = append(tags, tag)
	}
	return tags
}

// tagsOf reads a page's tags.
func tagsOf(front *frontmatter.Fields) []tree.Tag {
	given, _ := front.Value("tags").([]any)
	var tags []tree.Tag
	for _, value := range given {
		about, _ := value.(map[string]any)
		if about == nil {
			about = map[string]any{"tag": value}
		}
		name, _ := about["tag"].(string)
		primary, _ := about["primary"].(bool)
		name = cutText(name, maxLabel)
		same := func(t tree.Tag) bool { return t.Name == name }
		if name != "" && !slices.ContainsFunc(tags, same) && len(tags) < maxTags {
			tags = append(tags, tree.Tag{Name: name, Primary: primary})
		}
	}
	return tags
}

// Variables reads a space's variables: strings, numbers and booleans by name. It returns no variables if the file is
// not a map.
func Variables(text []byte) schema.Data {
	var values map[string]any
	if len(text) > MaxVariables || yaml.Unmarshal(text, &values) != nil {
		return nil
	}
	return variablesOf(values)
}

func variablesOf(value any) schema.Data {
	values, _ := value.(map[string]any)
	variables := schema.Data{}
	for name, value := range values {
		switch value := value.(type) {
		case string:
			variables[content.Clean(name)] = content.Clean(value)
		case bool:
			variables[content.Clean(name)] = value
		default:
			if number, ok := numberOf(value); ok {
				variables[content.Clean(name)] = number
			}
		}
	}
	if len(variables) == 0 {
		return nil
	}
	return variables
}

// numberOf returns a number in the form of JSON.
func numberOf(value any) (float64, bool) {
	switch value := value.(type) {
	case int:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}

// layoutParts are the parts of a page that a layout shows or hides.
var layoutParts = []string{
	"cover", "title", "description", "tableOfContents", "outline", "pagination", "metadata", "tags",
}

// layoutOf reads which parts of a page are shown. It returns nil if all parts are shown.
func layoutOf(front *frontmatter.Fields) schema.Data {
	given, _ := front.Value("layout").(map[string]any)
	layout := schema.Data{}
	for _, part := range layoutParts {
		value := given[part]
		about, _ := value.(map[string]any)
		if about != nil {
			value = about["visible"]
		}
		if shown, ok := value.(bool); ok {
			layout[part] = shown
		}
		if size, _ := about["size"].(string); part == "cover" &&
			(size == "hero" || size == "full" || size == "background") {
			layout["coverSize"] = size
		}
	}
	if width, _ := given["width"].(string); width == "wide" {
		layout["width"] = width
	}
	if len(layout) == 0 {
		return nil
	}
	return layout
}

// look sets the cover, the layout, the tags and the variables of a page.
func (m *importer) look(n *tree.Node, f *pageFile, e *Entry) {
	n.Tags = tagsOf(&f.front)
	n.Layout, n.Variables, n.Cover = layoutOf(&f.front), variablesOf(f.front.Value("vars")), nil
	cover := schema.Data{}
	for _, row := range []struct{ name, member string }{{"cover", "ref"}, {"coverDark", "refDark"}} {
		link, _ := f.front.Text(row.name)
		if ref, ok := m.imageRef(e.Key, link); ok {
			cover[row.member] = ref
		}
	}
	if len(cover) == 0 {
		return
	}
	cover["yPos"], _ = numberOf(f.front.Value("coverY"))
	if height, ok := numberOf(f.front.Value("coverHeight")); ok && height >= 10 && height <= 700 {
		cover["height"] = height
	}
	n.Cover = cover
}

// imageRef returns a reference to an image: to a file of the space, or to a web address. The second result is false if
// the file is missing.
func (m *importer) imageRef(from, link string) (map[string]any, bool) {
	ref, ok := content.Ref(link)
	if !ok || link == "" || len(schema.ContentRefProblems("", ref)) > 0 {
		return nil, false
	}
	if file := m.links.read(from, ref); file != nil {
		return file, file["kind"] == "file"
	}
	return ref, ref["kind"] == "url" && schema.LinkScheme(link) != ""
}
