// Package pagelinks resolves the links between the pages of one revision. In files, a link has the form [like
// this](install.md#linux). A client that reads documents needs the id of the target page instead. A client that reads
// Markdown needs a path relative to the page, or an address with the target's id, which stays valid when pages move.
// The package does no I/O: the caller looks up paths and ids.
package pagelinks

import (
	"path"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// maxTargets bounds the paths that the caller looks up for one document. A link needs up to four paths. Links whose
// paths exceed the limit stay unchanged.
const maxTargets = 4000

// Page is the page to which a document belongs. A new page has no id yet.
type Page struct {
	ID, Path string
	// File is the path of the page's file in the space's repository. If the page has no file yet, File is the path at
	// which the next export writes it. If the space has no repository, File is "". Root is the folder of the content in
	// the repository, with a slash at its end, or "".
	File, Root string
}

// Targets lists the paths of pages to which the relative links of a page may lead.
func Targets(d schema.Document, from Page) []string { return targets(d, from, candidatesOf) }

// targets lists the paths to which the references of a document may lead, without duplicates. `of` returns the paths
// for one reference.
func targets(
	d schema.Document, from Page, of func(ref map[string]any, from Page) (candidates []string, fragment string),
) []string {
	var targets []string
	seen := map[string]bool{}
	markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		candidates, _ := of(ref, from)
		for _, candidate := range candidates {
			if !seen[candidate] && len(seen) < maxTargets {
				seen[candidate] = true
				targets = append(targets, candidate)
			}
		}
		return nil
	})
	return targets
}

// ToPages returns the document with references to pages in place of relative links. `ids` has the pages' ids by path. A
// link to an anchor of the page itself becomes a reference too. ToPages does not change its argument.
func ToPages(d schema.Document, from Page, ids map[string]string) schema.Document {
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		if named, ok := named(ref); ok {
			return named
		}
		if anchor, own := ownAnchor(ref); own {
			return valid(map[string]any{"kind": "anchor", "anchor": anchor, "page": from.ID})
		}
		return pageAt(ids, ref, from)
	})
}

// Pages lists the ids of the pages of the same space to which the document refers.
func Pages(d schema.Document) []string {
	var ids []string
	seen := map[string]bool{}
	markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		if named, ok := named(ref); ok {
			ref = named
		}
		if id, ok := pageOf(ref); ok && id != "" && !seen[id] && len(seen) < maxTargets {
			seen[id] = true
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

// Relative returns the document with relative links in place of references to pages. `paths` has the pages' paths by
// id. A link leads to the page's Markdown file, for example guides/install.md. Relative does not change its argument.
func Relative(d schema.Document, from Page, paths map[string]string) schema.Document {
	files := make(map[string]string, len(paths))
	for id, to := range paths {
		if to != "" {
			files[id] = to + ".md"
		}
	}
	return relative(d, from, from.Path, files)
}

// RelativeFiles does the same as Relative, but its links lead to the files of pages in the repository.
func RelativeFiles(d schema.Document, from Page, files map[string]string) schema.Document {
	return relative(d, from, from.File, files)
}

func relative(d schema.Document, from Page, at string, files map[string]string) schema.Document {
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		if named, ok := named(ref); ok {
			ref = named
		}
		id, ok := pageOf(ref)
		if !ok {
			return nil
		}
		link := ""
		switch to := files[id]; {
		case id == "" || id == from.ID && ref["kind"] == "anchor":
		case to == "":
			return nil
		default:
			link = content.RelativeLink(at, to)
		}
		if anchor, ok := ref["anchor"].(string); ok && ref["kind"] == "anchor" {
			link += "#" + anchor
		}
		return valid(map[string]any{"kind": "url", "url": link})
	})
}

// pageOf returns the page to which a reference in the same space leads. The id is "" if the reference leads to the page
// that contains the reference.
func pageOf(ref map[string]any) (id string, ok bool) {
	if _, elsewhere := ref["space"]; elsewhere || ref["kind"] != "page" && ref["kind"] != "anchor" {
		return "", false
	}
	id, _ = ref["page"].(string)
	return id, true
}

func linkOf(ref map[string]any) string {
	if ref["kind"] != "url" {
		return ""
	}
	link, _ := ref["url"].(string)
	return link
}

func ownAnchor(ref map[string]any) (string, bool) {
	anchor, own := strings.CutPrefix(linkOf(ref), "#")
	return anchor, own && anchor != ""
}

// candidatesOf lists the paths of pages that a relative link may mean. The most likely path comes first. The path in
// the link may be the path of the page's file or of its folder. If the name in the path is not a slug, the path with
// the name's slug is a candidate too.
func candidatesOf(ref map[string]any, from Page) (candidates []string, fragment string) {
	link := linkOf(ref)
	if link == "" {
		return nil, ""
	}
	add := func(candidate string) {
		if candidate != "" && candidate != "." && !slices.Contains(candidates, candidate) {
			candidates = append(candidates, candidate)
		}
	}
	for _, folder := range []string{path.Dir(from.Path), from.Path} {
		target, anchor, ok := content.RelativeTarget(folder, link)
		if !ok {
			continue
		}
		fragment = anchor
		file := path.Base(target)
		name := strings.TrimSuffix(strings.TrimSuffix(file, ".md"), ".markdown")
		if name != file && (strings.EqualFold(name, "readme") || strings.EqualFold(name, "index")) {
			add(path.Dir(target))
		}
		add(path.Join(path.Dir(target), name))
		add(path.Join(path.Dir(target), tree.Slugify(name)))
	}
	return candidates, fragment
}

func valid(ref map[string]any) map[string]any {
	if len(schema.ContentRefProblems("", ref)) > 0 {
		return nil
	}
	return ref
}

// WithFiles returns the document with addresses in place of references to files of the same space. The function
// `address` returns the address of a file with an id. d stays unchanged.
func WithFiles(d schema.Document, address func(id string) string) schema.Document {
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		id, _ := ref["file"].(string)
		if _, elsewhere := ref["space"]; elsewhere || ref["kind"] != "file" || !content.IsID(id) {
			return nil
		}
		return valid(map[string]any{"kind": "url", "url": address(id)})
	})
}
