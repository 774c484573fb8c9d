package tree

import (
	"cmp"
	"maps"
	"slices"
)

// Node is a page with its place in the tree, without its children.
type Node struct {
	Page // its member Pages is nil
	// Parent is the id of the parent page. It is "" for a page at the root.
	Parent string
	// Position determines the order of siblings. Positions are compared as bytes. Siblings with equal positions are
	// ordered by id.
	Position string
}

// Same reports whether both nodes are equal pages at the same place. It ignores their times.
func (n Node) Same(other Node) bool {
	return n.Parent == other.Parent && n.Position == other.Position && samePage(n.Page, other.Page)
}

// Differences returns the ids of the pages that differ between two revisions, or that only one revision has.
func Differences(from, to []Node) []string {
	was := make(map[string]Node, len(from))
	for _, n := range from {
		was[n.ID] = n
	}
	var ids []string
	for _, n := range to {
		if old, there := was[n.ID]; !there || !n.Same(old) {
			ids = append(ids, n.ID)
		}
		delete(was, n.ID)
	}
	return slices.Sorted(slices.Values(slices.AppendSeq(ids, maps.Keys(was))))
}

// InOrder compares siblings by their places.
func InOrder(a, b Node) int {
	return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
}

// Source reads the pages of one revision.
type Source interface {
	// Page reads a page. `ok` is false if the revision does not have the page.
	Page(id string) (n Node, ok bool, err error)
	// Children reads the pages directly below a page, sorted by their places. If `parent` is "", it reads the pages at
	// the root.
	Children(parent string) ([]Node, error)
	// Below reads all pages below a page, at every level and in any order.
	Below(id string) ([]Node, error)
	// Size returns the number of pages in the revision.
	Size() int
}

// Nest makes a tree of the nodes that are below a page. If `below` is "", it makes a tree of all nodes. The nodes may
// be in any order. The tree contains only nodes that are below the page.
func Nest(nodes []Node, below string) []Page {
	byParent := make(map[string][]Node, len(nodes))
	for _, n := range nodes {
		byParent[n.Parent] = append(byParent[n.Parent], n)
	}
	return nest(byParent, below)
}

func nest(byParent map[string][]Node, parent string) []Page {
	children := byParent[parent]
	slices.SortFunc(children, InOrder)
	pages := make([]Page, len(children))
	for i, child := range children {
		pages[i] = child.Page
		if child.Kind != KindLink {
			pages[i].Pages = nest(byParent, child.ID)
		}
	}
	return pages
}
