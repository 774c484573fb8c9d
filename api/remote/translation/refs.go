package translation

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
)

// Refs changes the references of a document from a space to the copy of the space. Pages and anchors have the same ids
// in both spaces. contents maps the ids of reusable contents that differ in the copy. Refs changes the document, which
// must be a clone that Places made. It returns the files of the copy to which the document refers.
func Refs(d *schema.Document, space, copied string, contents map[string]string) []string {
	r := refs{space: space, copied: copied, contents: contents, files: map[string]bool{}}
	r.nodes(d.Nodes)
	return slices.Sorted(maps.Keys(r.files))
}

// Ref changes a single reference, for example a link to a page.
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
			continue // The meaning of an integration's members is unknown.
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

// value copies a value before changing it, because the original document shares the value.
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

// fileMembers are the members of references that name files of a space.
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
