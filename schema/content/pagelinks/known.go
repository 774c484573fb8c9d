package pagelinks

import (
	"path"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// Target is what a path in a repository leads to: a page, or a file of the space.
type Target struct{ Page, File string }

// Known has what a caller has looked up for the links of one page.
type Known struct {
	// Pages maps the paths of pages in the space to ids: see [Targets].
	Pages map[string]string
	// `Once` maps former paths of pages to ids. If a link leads to such a path, a client gets a reference, but the
	// stored link stays unchanged.
	Once map[string]string
	// Files maps the paths of files in the repository to their targets: see [FileTargets].
	Files map[string]Target
}

// readmes are the names of a folder's page.
var readmes = []string{"README.md", "readme.md", "Readme.md"}

// FileTargets lists the paths in the repository of files to which references of a page may lead.
func FileTargets(d schema.Document, from Page) []string { return targets(d, from, filesOf) }

// filesOf lists the paths to which a reference may lead. The likeliest path comes first. The path of a reusable content
// may also be relative to the root.
func filesOf(ref map[string]any, from Page) (candidates []string, fragment string) {
	if from.File == "" {
		return nil, ""
	}
	link, folders := pathOf(ref), []string{path.Dir(from.File)}
	if ref["kind"] == "reusable-content" {
		folders = append(folders, strings.TrimSuffix(from.Root, "/"))
	}
	for _, folder := range folders {
		target, anchor, ok := content.RelativeTarget(folder, link)
		if !ok {
			continue
		}
		fragment = anchor
		candidates = append(candidates, target)
		if ref["kind"] == "url" {
			for _, name := range readmes {
				candidates = append(candidates, path.Join(target, name))
			}
		}
	}
	return candidates, fragment
}

// pathOf returns the path in a reference. It returns "" if the reference contains the id of a file instead.
func pathOf(ref map[string]any) string {
	link := linkOf(ref)
	switch ref["kind"] {
	case "file":
		link, _ = ref["file"].(string)
	case "reusable-content":
		link, _ = ref["reusableContent"].(string)
	}
	if _, elsewhere := ref["space"]; elsewhere || content.IsID(link) {
		return ""
	}
	return link
}

// means returns the reference to the target of a page's link. It returns nil if `ref` is not a link with a path, or if
// k does not have the link's target.
func (k Known) means(ref map[string]any, from Page) map[string]any {
	if named, ok := named(ref); ok {
		return named
	}
	if anchor, own := ownAnchor(ref); own {
		if from.ID == "" {
			return nil
		}
		return valid(map[string]any{"kind": "anchor", "anchor": anchor, "page": from.ID})
	}
	candidates, fragment := filesOf(ref, from)
	for _, candidate := range candidates {
		found := k.Files[candidate]
		switch kind := ref["kind"]; {
		case kind == "url" && found.Page != "":
			return toPage(found.Page, fragment)
		case found.File == "" || fragment != "":
		case kind == "reusable-content":
			return map[string]any{"kind": "reusable-content", "reusableContent": found.File}
		default:
			return map[string]any{"kind": "file", "file": found.File}
		}
	}
	if from.File != "" && len(candidates) > 0 && !strings.HasPrefix(candidates[0], from.Root) {
		return nil // the link leads out of the folder of the pages' files
	}
	return pageAt(k.Pages, ref, from)
}

func toPage(id, fragment string) map[string]any {
	if fragment != "" {
		return valid(map[string]any{"kind": "anchor", "anchor": fragment, "page": id})
	}
	return map[string]any{"kind": "page", "page": id}
}

// Resolve returns the document with references instead of links to pages and files. It leaves links to anchors of the
// same page unchanged, because these links need no page. It does not change its argument.
func (k Known) Resolve(d schema.Document, from Page) schema.Document {
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		if _, own := ownAnchor(ref); own {
			return nil
		}
		return k.means(ref, from)
	})
}

// forms has the references of a document that have the same target, in the order of the document.
type forms struct {
	list []map[string]any
	keys map[string]bool // the keys of the references in list
	next int
	// `count` is the number of references that the other document has to the same target.
	count int
}

// AsIn returns d with its references in the form that the document `other` uses for the same targets. For example, a
// reference to an anchor of the page itself may have the page's id or not. If the other document has several references
// to a target, their forms are used in order. AsIn changes neither document.
func (k Known) AsIn(other, d schema.Document, from Page) schema.Document {
	all := map[string]*forms{}
	k.each(other, from, func(key string, ref map[string]any) {
		if all[key] == nil {
			all[key] = &forms{keys: map[string]bool{}}
		}
		all[key].list = append(all[key].list, ref)
		all[key].keys[keyOf(ref)] = true
	})
	if len(all) == 0 {
		return d
	}
	k.each(d, from, func(key string, _ map[string]any) {
		if f := all[key]; f != nil {
			f.count++
		}
	})
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		f := all[k.key(ref, from)]
		if f == nil {
			return nil
		}
		at := 0
		if len(f.list) == f.count {
			at = f.next
			f.next++
		} else if f.keys[keyOf(ref)] {
			// The documents have different numbers of references to the target, so their order does not say which
			// references correspond.
			return nil
		}
		if keyOf(f.list[at]) == keyOf(ref) {
			return nil
		}
		return f.list[at]
	})
}

// each calls `visit` for each reference of a document, with a key. References to the same target have the same key.
func (k Known) each(d schema.Document, from Page, visit func(key string, ref map[string]any)) {
	markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		visit(k.key(ref, from), ref)
		return nil
	})
}

// key returns a text that identifies the target of a reference. If a link leads out of the folder of the pages' files,
// the text identifies only the form of the link.
func (k Known) key(ref map[string]any, from Page) string {
	if means := k.means(ref, from); means != nil {
		return keyOf(means)
	}
	for _, ids := range []map[string]string{k.Pages, k.Once} {
		if means := pageAt(ids, ref, from); means != nil {
			return keyOf(means)
		}
	}
	return keyOf(ref)
}

// pageAt returns a reference to the page at the path of a link. It returns nil if there is no such page.
func pageAt(ids map[string]string, ref map[string]any, from Page) map[string]any {
	candidates, fragment := candidatesOf(ref, from)
	for _, candidate := range candidates {
		if id := ids[candidate]; id != "" {
			return toPage(id, fragment)
		}
	}
	return nil
}

func keyOf(ref map[string]any) string {
	text, err := json.Marshal(ref, json.Deterministic(true))
	if err != nil {
		return "" // cannot happen, because the value was decoded from JSON
	}
	return string(text)
}

// Resolvable reports whether Resolve looks up all relative links of a document. Resolve looks up a limited number of
// links.
func Resolvable(d schema.Document, from Page) bool {
	if from.File != "" {
		return len(FileTargets(d, from)) < maxTargets
	}
	return len(Targets(d, from)) < maxTargets
}

// HasPaths reports whether documents have links with paths. Callers must look up these paths.
func HasPaths(documents ...schema.Document) bool {
	found := false
	for _, d := range documents {
		markdown.MapRefs(d, func(ref map[string]any) map[string]any {
			// The link is tried in a folder that is so deep that the link cannot lead out of it.
			_, _, relative := content.RelativeTarget(
				strings.Repeat("x/", strings.Count(pathOf(ref), "..")+1),
				pathOf(ref),
			)
			found = found || relative
			return nil
		})
	}
	return found
}
