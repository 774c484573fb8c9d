package markdown

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// These members of a block's data store properties of GitBook's tags for which the grammar has no member.
const (
	memberAttributes = "attributes" // attributes that the tag's row in the table does not list
	memberTagName    = "tag"        // the tag's name, if it is not the usual tag for the type
	memberCaption    = "caption"    // Markdown
	memberBody       = "body"       // Markdown
	memberLabel      = "label"      // Markdown: the text of the link to the target, if it differs from the usual text
)

// otherAttributes writes the attributes that are not in `known`, in the order of their names.
func otherAttributes(others map[string]any, known attributes) attributes {
	var attrs attributes
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if !attributeName.MatchString(name) || known.has(name) {
			continue
		}
		switch value := others[name].(type) {
		case string:
			attrs = append(attrs, attribute{name: name, value: content.Clean(value)})
		case bool:
			attrs = append(attrs, attribute{name: name, flag: true})
		}
	}
	return attrs
}

var attributeName = regexp.MustCompile(`^[a-zA-Z][\w-]*$`)

func restOf(attrs attributes, known []string) map[string]any {
	others := map[string]any{}
	for _, a := range attrs {
		if slices.Contains(known, a.name) || !attributeName.MatchString(a.name) {
			continue
		}
		if others[a.name] = any(a.value); a.flag {
			others[a.name] = true
		}
	}
	return others
}

func stringMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// attributed reports whether a paragraph has data or attributes in addition to its text.
func attributed(n *schema.Node) bool {
	return len(n.Data) > 0 || len(stringMap(n.Meta[memberAttributes])) > 0
}

// memberTitle is the member of an image's data that says where its caption was: in the title of a Markdown image, and
// not in a <figcaption>.
const memberTitle = "title"

// alignments maps the values of HTML's align to the values in documents.
var alignments = map[string]string{"left": "start", "center": "center", "right": "end"}

func alignmentName(member string) string {
	for name, value := range alignments {
		if value == member {
			return name
		}
	}
	return ""
}

// taskOf reports whether a list item is a task, and whether the task is done. A list that is not a list of tasks can
// also contain tasks.
func taskOf(list, item *schema.Node) (checked, task bool) {
	checked, task = item.Data["checked"].(bool)
	return checked, task || list.Type == "list-tasks"
}

func refKind(value any) string {
	ref, _ := value.(map[string]any)
	kind, _ := ref["kind"].(string)
	return kind
}

// refLabel returns the text that is shown for a link without a text. The text is the name of the link's target if the
// name is known, and otherwise the file name in the link.
func refLabel(ref any) string {
	if refKind(ref) == "openapi" {
		return content.RefLabel(ref)
	}
	return cmp.Or(content.Member(stringMap(ref), content.MemberTitle), fileLabel(content.Link(ref)))
}

// fileLabel returns the text that GitBook gives to a link to a file: the file's name.
func fileLabel(link string) string {
	if schema.LinkScheme(link) != "" {
		return link
	}
	return path.Base(link)
}

// These are the types of the fragments of expandables and annotations.
const (
	fragmentTitle = "expandable-title"
	fragmentBody  = "expandable-body"
	fragmentNote  = "annotation-body"
)

func isUnit(n schema.Node) bool { return n.Object == schema.ObjectInline }
