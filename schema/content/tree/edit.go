package tree

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// edit is the state of one call of Apply. It has the pages that the changes have read, added or changed.
type edit struct {
	from  Source
	pages map[string]*entry
	// `children` has, for each page whose children were read, the ids of these children in order. `whole` has the pages
	// for which all descendants were read.
	children map[string][]string
	whole    map[string]bool
	refs     map[string]string
	size     int
	newID    func() string
	now      time.Time
}

// entry is a page that was read or added.
type entry struct {
	Node
	// `was` is the page before the changes. It is nil if the page is new.
	was  *Node
	gone bool
}

// id returns the id of the page that a change names. The name is the id itself, or the Ref of a page that an earlier
// change added.
func (e *edit) id(name string) string {
	if id, ok := e.refs[name]; ok {
		return id
	}
	return name
}

// page returns the page with this id in its present state. It returns nil if the page does not exist.
func (e *edit) page(id string) (*entry, error) {
	if page, read := e.pages[id]; read {
		if page.gone {
			return nil, nil
		}
		return page, nil
	}
	n, ok, err := e.from.Page(id)
	if err != nil || !ok {
		return nil, err
	}
	return e.read(n), nil
}

// read adds a page of the source to the pages of the edit, if the edit does not have the page yet.
func (e *edit) read(n Node) *entry {
	page, known := e.pages[n.ID]
	if !known {
		page = &entry{Node: n, was: &n}
		e.pages[n.ID] = page
	}
	return page
}

// named returns the page that a change names. The error is a problem if the page does not exist.
func (e *edit) named(name string) (*entry, error) {
	page, err := e.page(e.id(name))
	if err == nil && page == nil {
		err = problem("page", noSuchPage)
	}
	return page, err
}

// below returns the ids of all pages below a page.
func (e *edit) below(id string) ([]string, error) {
	if !e.whole[id] {
		nodes, err := e.from.Below(id)
		if err != nil {
			return nil, err
		}
		byParent := map[string][]Node{id: nil}
		for _, n := range nodes {
			byParent[n.Parent] = append(byParent[n.Parent], n)
			if _, parent := byParent[n.ID]; !parent {
				byParent[n.ID] = nil
			}
		}
		for parent, children := range byParent {
			e.whole[parent] = true
			if _, read := e.children[parent]; !read {
				e.readChildren(parent, children)
			}
		}
	}
	var all []string
	for _, child := range e.children[id] {
		deeper, err := e.below(child)
		if err != nil {
			return nil, err
		}
		all = append(append(all, child), deeper...)
	}
	return all, nil
}

// childrenOf returns the ids of the pages directly below a page, in their order. If `parent` is "", these are the pages
// at the root.
func (e *edit) childrenOf(parent string) ([]string, error) {
	if ids, read := e.children[parent]; read {
		return ids, nil
	}
	nodes, err := e.from.Children(parent)
	if err != nil {
		return nil, err
	}
	e.readChildren(parent, nodes)
	return e.children[parent], nil
}

// readChildren records the children that a page has in the source, except children that earlier changes have moved or
// deleted. No earlier change has added a child, because a change reads the children of a page before it adds a child.
func (e *edit) readChildren(parent string, nodes []Node) {
	slices.SortFunc(nodes, InOrder)
	ids := make([]string, 0, len(nodes))
	for _, n := range nodes {
		if page := e.read(n); !page.gone && page.Parent == parent {
			ids = append(ids, n.ID)
		}
	}
	e.children[parent] = ids
}

// siblings returns the siblings of a page, in their order.
func (e *edit) siblings(page *entry) ([]string, error) {
	ids, err := e.childrenOf(page.Parent)
	return without(ids, page.ID), err
}

func without(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other == id })
}

// above returns the id of a page, and then the ids of its ancestors, from its parent to the root. The list is empty if
// the page does not exist.
func (e *edit) above(id string) ([]string, error) {
	var ids []string
	for id != "" {
		page, err := e.page(id)
		if err != nil || page == nil {
			return ids, err
		}
		ids = append(ids, id)
		id = page.Parent
	}
	return ids, nil
}

// height returns the number of levels of the tree that a page and its descendants take up.
func (e *edit) height(page *entry) (int, error) {
	below, err := e.below(page.ID)
	if err != nil {
		return 0, err
	}
	levels := map[string]int{page.ID: 1}
	height := 1
	for _, id := range below { // parents come before their children in below
		levels[id] = levels[e.pages[id].Parent] + 1
		height = max(height, levels[id])
	}
	return height, nil
}

// put puts a page at a place. The page is new, or is moved, or was deleted and is restored.
func (e *edit) put(page *entry, into *string, at *int, slug *string) error {
	parent, depth := "", 1
	if into != nil {
		above, err := e.above(e.id(*into))
		switch {
		case err != nil:
			return err
		case len(above) == 0:
			return problem("into", noSuchPage)
		case e.pages[above[0]].Kind == KindLink:
			return problem("into", "names a link, which has no pages below it")
		case page.Kind == KindGroup:
			return problem("into", "must be absent: a group stands at the root")
		}
		parent, depth = above[0], len(above)+1
	}
	height := 1
	if !page.gone {
		var err error
		if height, err = e.height(page); err != nil {
			return err
		}
	}
	if depth+height-1 > MaxDepth {
		return problem("into", fmt.Sprintf("would nest pages deeper than %d levels", MaxDepth))
	}
	siblings, err := e.childrenOf(parent)
	if err != nil {
		return err
	}
	siblings = without(siblings, page.ID)
	if err := e.slugAmong(page, siblings, slug); err != nil {
		return err
	}
	index := len(siblings)
	if at != nil {
		index = min(*at, index)
	}
	if page.gone {
		page.gone = false
		e.size++
		e.pages[page.ID] = page
		if page.was == nil { // a new page has no children in the source
			e.children[page.ID], e.whole[page.ID] = nil, true
		}
	} else if old, read := e.children[page.Parent]; read {
		e.children[page.Parent] = without(old, page.ID)
	}
	e.place(page, parent, siblings, index)
	return nil
}

// MaxPosition bounds the length of a position. If a new position would be longer, all siblings get new, shorter
// positions. This happens only after very many inserts at one place.
const MaxPosition = 64

// place makes a page the child of a parent at an index among its siblings there.
func (e *edit) place(page *entry, parent string, siblings []string, index int) {
	ids := slices.Insert(slices.Clone(siblings), index, page.ID)
	e.children[parent] = ids
	after, before := "", ""
	if index > 0 {
		after = e.pages[siblings[index-1]].Position
	}
	end := index
	for ; end < len(siblings); end++ {
		// A merge of two sides may have given several siblings the same position. No position exists between these
		// siblings, so the next larger position is taken.
		if before = e.pages[siblings[end]].Position; before > after {
			break
		}
	}
	if end == len(siblings) {
		before = ""
	}
	stays := page.was != nil && page.Parent == parent && page.Position > after && (before == "" || page.Position < before)
	page.Parent = parent
	if stays && end == index {
		return
	}
	for _, id := range ids[index : end+1] {
		after = Between(after, before)
		e.pages[id].Position = after
	}
	if len(after) > MaxPosition {
		for i, position := range Spread(len(ids)) {
			e.pages[ids[i]].Position = position
		}
	}
}

// slugAmong gives the page a slug that is unique among its siblings: the requested slug, or a slug derived from the
// current slug.
func (e *edit) slugAmong(page *entry, siblings []string, asked *string) error {
	if page.Kind == KindLink {
		return nil
	}
	taken := make(map[string]bool, len(siblings))
	for _, id := range siblings {
		taken[e.pages[id].Slug] = true
	}
	switch {
	case asked != nil && *asked != "":
		if taken[*asked] {
			return problem("slug", "is the slug of another page there")
		}
		page.Slug = *asked
		return nil
	case page.Slug == "" || asked != nil:
		page.Slug = Slugify(page.Title)
	}
	page.Slug = Numbers{}.Free(page.Slug, func(slug string) bool { return taken[slug] })
	return nil
}

// remove deletes a page and all pages below it.
func (e *edit) remove(page *entry) error {
	below, err := e.below(page.ID)
	if err != nil {
		return err
	}
	if siblings, read := e.children[page.Parent]; read {
		e.children[page.Parent] = without(siblings, page.ID)
	}
	for _, id := range append(below, page.ID) {
		e.pages[id].gone = true
		e.children[id], e.whole[id] = nil, true
	}
	e.size -= len(below) + 1
	return nil
}

// changed returns the changed pages, sorted by id.
func (e *edit) changed() Changed {
	all := Changed{Size: e.size}
	for id, page := range e.pages {
		switch {
		case page.gone && page.was != nil:
			all.Gone = append(all.Gone, id)
		case !page.gone && (page.was == nil || !page.Same(*page.was)):
			all.Put = append(all.Put, page.Node)
		}
	}
	slices.Sort(all.Gone)
	slices.SortFunc(all.Put, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
