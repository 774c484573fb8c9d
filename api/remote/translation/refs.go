package translation

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
)

// Refs changes references of a document from a space to the copy of the space. Pages and anchors have the same ids in
// both spaces. If a reusable content has another id in the copy, `contents` maps its id to this other id. Refs changes
// `d`, so `d` must be a copy that Places has made. It returns the files of the copy to which the document refers.
func Refs(d *schema.Document, space, copied string, contents map[string]string) []string {
	r := refs{space: space, copied: copied, contents: contents, files: map[string]bool{}}
	r.nodes(d.Nodes)
	return slices.Sorted(maps.Keys(r.files))
}

// Ref returns a single reference, for example a link to a page, with the same change as Refs makes.
func Ref(ref schema.Data, space, copied string) schema.Data {
	r := refs{space: space, copied: copied, files: map[string]bool{}}
	changed, _ := r.value(map[string]any(ref)).(map[string]any)
	return changed
}

type refs struct {
	space, copied string
	contents      map[string]string
	files         map[string]bool
}

func (r *refs) nodes(nodes []schema.Node) {
	for i := range nodes {
		n := &nodes[i]
		if n.Type == "integration" {
			continue // the meaning of an integration's members is not known
		}
		for name, value := range n.Data {
			n.Data[name] = r.value(value)
		}
		r.nodes(n.Nodes)
		for j := range n.Fragments {
			r.nodes(n.Fragments[j].Nodes)
		}
	}
}

// value copies a value before it changes the value, because the original document shares it.
func (r *refs) value(value any) any {
	switch value := value.(type) {
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = r.value(value[i])
		}
		return list
	case map[string]any:
		if value == nil {
			return value
		}
		copied := make(map[string]any, len(value))
		for name, member := range value {
			copied[name] = r.value(member)
		}
		if _, isRef := value["kind"].(string); isRef {
			r.ref(copied)
		}
		return copied
	}
	return value
}

// fileMembers lists the members of a reference whose value is the id of a file in a space.
var fileMembers = map[string]string{"file": "file", "reusable-content": "reusableContent"}

func (r *refs) ref(ref map[string]any) {
	kind, _ := ref["kind"].(string)
	space, elsewhere := ref["space"].(string)
	if space == r.space {
		ref["space"], elsewhere = r.copied, false
	}
	if file, ok := ref[fileMembers[kind]].(string); ok && !elsewhere {
		if content, there := r.contents[file]; there && kind == "reusable-content" {
			file = content
			ref["reusableContent"] = file
		}
		r.files[file] = true
	}
}
