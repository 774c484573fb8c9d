package store

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/octavo-docs/octavo/store/content/tree"
)

// keptPages bounds the pages of all trees that are kept, which take some 600 bytes each. The largest tree fits alone.
const keptPages = 1 + tree.MaxPages

// keptTrees keeps the trees of the revisions that were read last. A revision never changes, so nothing here is ever out of date; whether
// a caller may read the revision, and whether there still is one, is decided before.
type keptTrees struct {
	mu    sync.Mutex
	trees *simplelru.LRU[treeKey, *keptTree]
	pages int
}

type treeKey struct{ space, revision string }

// keptTree is the tree of a revision with the places of its pages. All callers share it: nobody changes it.
type keptTree struct {
	pages  []tree.Page
	byID   map[string]tree.Placed
	byPath map[string]string
}

func newKeptTrees() *keptTrees {
	k := &keptTrees{}
	// It fails for no size only. A tree without pages counts as one, so there are never more trees than pages.
	k.trees, _ = simplelru.NewLRU(keptPages, func(_ treeKey, t *keptTree) { k.pages -= t.size() })
	return k
}

func newKeptTree(pages []tree.Page) *keptTree {
	t := &keptTree{pages: pages, byID: map[string]tree.Placed{}, byPath: map[string]string{}}
	tree.Walk(pages, func(p tree.Placed) bool {
		t.byID[p.ID] = p
		if p.Path != "" {
			t.byPath[p.Path] = p.ID
		}
		return true
	})
	return t
}

func (t *keptTree) size() int { return 1 + len(t.byID) }

// idsAt gives the ids of the pages at paths, by the path.
func (t *keptTree) idsAt(paths []string) map[string]string {
	found := make(map[string]string, len(paths))
	for _, path := range paths {
		if id, ok := t.byPath[path]; ok {
			found[path] = id
		}
	}
	return found
}

// pathsOf gives the paths of the pages with these ids, by the id. Links have none.
func (t *keptTree) pathsOf(ids []string) map[string]string {
	found := make(map[string]string, len(ids))
	for _, id := range ids {
		if path := t.byID[id].Path; path != "" {
			found[id] = path
		}
	}
	return found
}

// of gives the tree of a revision, or nil if it is not kept.
func (k *keptTrees) of(space, revision string) *keptTree {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, _ := k.trees.Get(treeKey{space, revision})
	return t
}

// keep keeps a tree in place of those that were not read for the longest time.
func (k *keptTrees) keep(space, revision string, t *keptTree) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := treeKey{space, revision}
	k.trees.Remove(key)
	k.trees.Add(key, t)
	for k.pages += t.size(); k.pages > keptPages; {
		k.trees.RemoveOldest()
	}
}
