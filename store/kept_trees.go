package store

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/content/tree"
)

// keptPages is the largest total number of pages in cached trees. Each page takes about 600 bytes. The largest possible
// tree fits into the cache, but then the cache has no other tree.
const keptPages = 1 + tree.MaxPages

type treeKey struct{ space, revision string }

// keptTree is the cached tree of a revision's pages. All callers share it, so they must not change it. A revision never
// changes, so the tree cannot become outdated. Callers must have checked before that the revision exists and that it
// may be read.
type keptTree struct {
	pages  []tree.Page
	byID   map[string]tree.Placed
	byPath map[string]string
	// conditions has the conditions of a page and its ancestors, by the page's id. A page without conditions has no
	// entry.
	conditions map[string][]string
}

func newKeptTree(pages []tree.Page) *keptTree {
	t := &keptTree{pages: pages, byID: map[string]tree.Placed{}, byPath: map[string]string{}, conditions: map[string][]string{}}
	tree.Walk(pages, func(p tree.Placed) bool {
		t.byID[p.ID] = p
		if p.Path != "" {
			t.byPath[p.Path] = p.ID
		}
		return true
	})
	t.addConditions(pages, nil)
	return t
}

func (t *keptTree) addConditions(pages []tree.Page, above []string) {
	for _, page := range pages {
		conditions := above
		if page.Condition != "" {
			conditions = append(slices.Clip(above), page.Condition)
		}
		if len(conditions) > 0 {
			t.conditions[page.ID] = conditions
		}
		t.addConditions(page.Pages, conditions)
	}
}

// shows reports whether a page is shown to a visitor. `allows` reports whether the visitor meets a condition.
func (t *keptTree) shows(page string, allows Allows) bool {
	return !slices.ContainsFunc(t.conditions[page], func(condition string) bool { return !allows(condition) })
}

func (t *keptTree) Size() int { return 1 + len(t.byID) }

// idsAt returns the ids of the pages at paths, by path.
func (t *keptTree) idsAt(paths []string) map[string]string {
	found := make(map[string]string, len(paths))
	for _, path := range paths {
		if id, ok := t.byPath[path]; ok {
			found[path] = id
		}
	}
	return found
}

// pathsOf returns the paths of pages, by id. It leaves out links, which have no path.
func (t *keptTree) pathsOf(ids []string) map[string]string {
	found := make(map[string]string, len(ids))
	for _, id := range ids {
		if path := t.byID[id].Path; path != "" {
			found[id] = path
		}
	}
	return found
}
