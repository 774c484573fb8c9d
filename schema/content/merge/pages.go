package merge

import (
	"maps"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// Side reads the pages of a side. The function Pages reads
//   - each page of Input.Changed, and the pages above it, on every side;
//   - the children of a page, only on `ours`. They are read for pages below which `theirs` added, moved or renamed a
//     page, and for pages that a side moved further down.
//
// A Side may read these pages in advance. If it reads them on demand, it stores its first error. The caller then checks
// this error after Pages.
type Side interface {
	Page(id string) (tree.Node, bool)
	// Children lists the child pages of a page in any order. If `parent` is "", it lists the pages at the root.
	Children(parent string) []tree.Node
}

// Input has the two sides, their base and the choices.
type Input struct {
	Base, Ours, Theirs Side
	// Changed lists every page that `ours` or `theirs` has changed, added or deleted since `base`. It also lists all
	// pages below a deleted page.
	Changed []string
	// Load reads a document by the hash in a page. Keep stores a merged document and returns its hash.
	Load func(hash string) (schema.Document, error)
	Keep func(d schema.Document) (hash string, err error)
	// Choices are the choices that users have made so far.
	Choices Choices
	// Count is the number of pages that `ours` has. MaxPages and MaxDepth bound the number and the depth of the
	// result's pages. A value of 0 means that there is no bound.
	Count, MaxPages, MaxDepth int
}

// Result has the changes that a merge makes to `ours`.
type Result struct {
	// Write has the pages to write. Delete has the ids of the pages to delete. Write and Delete are sorted by id.
	Write  []tree.Node
	Delete []string
	// Count is the number of pages after the merge.
	Count int
	// Conflicts has all conflicts, ordered by page and field, and then in the order of discovery. A conflict without a
	// choice is open. For an open conflict, Write has the content of `ours`.
	Conflicts []Conflict
}

// Pages merges the pages of `theirs` into `ours`. The time of a merge depends on the number of changed pages, not on
// the number of pages in the space.
//
// Each field of a page is merged separately. Parent and position are one field, the place. If both sides moved a page
// to the same parent, the page gets its position on `ours`. If one side moved a page to another parent, and the other
// side only reordered it, the page moves. If both sides reordered a page, there is a conflict. If both sides put pages
// at one place, all of these pages stay. They are sorted by position and then by id. If the times of a page differ, the
// later time is used.
func Pages(in Input) (Result, error) {
	p := pages{in: in, rows: map[string]*row{}}
	p.conflicts = conflicts{choices: in.Choices, listed: map[string]bool{}}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(in.Changed))) {
		p.add(id)
		p.order = append(p.order, id)
	}
	p.deletions(in.Ours, in.Theirs, TakeOurs)
	p.deletions(in.Theirs, in.Ours, TakeTheirs)
	for _, id := range p.order {
		if err := p.fields(p.rows[id]); err != nil {
			return Result{}, err
		}
	}
	p.replant()
	p.cut()
	p.fit()
	p.slugs()
	return p.result(), nil
}

// row is a page that a side changed.
type row struct {
	id                       string
	base, ours, theirs       tree.Node
	inBase, inOurs, inTheirs bool
	// node is the page in the result. `dead` is true if the result does not have the page.
	node tree.Node
	dead bool
}

// pages is the state of a merge of pages.
type pages struct {
	in        Input
	conflicts conflicts
	rows      map[string]*row
	order     []string // the ids of the rows
	// below has the ids of the rows, by the id of their parent in the result.
	below map[string][]string
}

func (p *pages) add(id string) *row {
	r := &row{id: id}
	r.base, r.inBase = p.in.Base.Page(id)
	r.ours, r.inOurs = p.in.Ours.Page(id)
	r.theirs, r.inTheirs = p.in.Theirs.Page(id)
	r.node = r.ours
	if !r.inOurs {
		r.node = r.theirs
	}
	r.dead = !r.inOurs && !r.inTheirs
	p.rows[id] = r
	return r
}

// page returns a page of the result. The second result is false if the result does not have the page.
func (p *pages) page(id string) (tree.Node, bool) {
	if r := p.rows[id]; r != nil {
		return r.node, !r.dead
	}
	return p.in.Ours.Page(id)
}

// group is a topmost deleted page with the pages below it. `members` has the deleted pages, and the pages that the
// other side added below them. `edited` has the pages that the other side edited, added there or moved there.
type group struct {
	members, edited []string
}

// deletions handles the pages that one side deleted. A deleted page and the deleted pages below it stay deleted if the
// other side edited none of them and put no page below them. Otherwise there is one conflict, for the topmost deleted
// page.
func (p *pages) deletions(deleter, other Side, whose string) {
	groups := map[string]*group{}
	at := func(root string) *group {
		if groups[root] == nil {
			groups[root] = &group{}
		}
		return groups[root]
	}
	for _, id := range p.order {
		r := p.rows[id]
		is, there := other.Page(id)
		_, kept := deleter.Page(id)
		switch {
		case !there:
		case !kept:
			root := p.deletedRoot(id, deleter, other)
			if root == "" {
				continue
			}
			g := at(root)
			g.members = append(g.members, id)
			if !r.inBase || is.Parent != r.base.Parent || !samePage(is, r.base) {
				g.edited = append(g.edited, id)
			}
		case r.inBase && is.Parent != r.base.Parent:
			if root := p.deletedRoot(is.Parent, deleter, other); root != "" {
				at(root).edited = append(at(root).edited, id)
			}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(groups)) {
		g := groups[root]
		if len(g.edited) > 0 && p.keep(root, g, whose) {
			continue
		}
		for _, id := range g.members {
			p.rows[id].dead = true
		}
	}
}

// deletedRoot returns the topmost deleted page among a page and its ancestors on the other side. It returns "" if all
// of these pages still exist.
func (p *pages) deletedRoot(id string, deleter, other Side) string {
	root := ""
	for id != "" {
		is, there := other.Page(id)
		if _, kept := deleter.Page(id); kept || !there {
			break
		}
		if _, was := p.in.Base.Page(id); was {
			root = id
		}
		id = is.Parent
	}
	return root
}

// keep adds the conflict about a deleted page. It returns true if the decision takes the other side's version, so the
// page stays.
func (p *pages) keep(root string, g *group, deleter string) bool {
	involved := slices.Compact(slices.Sorted(slices.Values(append([]string{root}, g.edited...))))
	versions := func(s Side) any {
		var list []PageVersion
		for _, id := range involved {
			if n, ok := s.Page(id); ok {
				list = append(list, versionOf(n))
			}
		}
		if list == nil {
			return nil
		}
		return list
	}
	take, _ := p.conflicts.add(Conflict{
		Kind: KindDelete, Page: root, Pages: involved,
		Base: versions(p.in.Base), Ours: versions(p.in.Ours), Theirs: versions(p.in.Theirs),
	})
	return take != deleter
}

// PageVersion is a page as a conflict shows it. It has no times, because times are never in conflict.
type PageVersion struct {
	tree.Page
	Parent    string     `json:"parent"`
	Position  string     `json:"position"`
	CreatedAt *time.Time `json:"createdAt,omitzero"`
	UpdatedAt *time.Time `json:"updatedAt,omitzero"`
}

func versionOf(n tree.Node) PageVersion {
	return PageVersion{Page: n.Page, Parent: n.Parent, Position: n.Position}
}

// samePage reports whether two pages are equal. It ignores their places and times.
func samePage(a, b tree.Node) bool {
	a.Parent, a.Position, b.Parent, b.Position = "", "", "", ""
	return equal(versionOf(a), versionOf(b))
}

func (p *pages) result() Result {
	p.reopen()
	slices.SortStableFunc(p.conflicts.list, Conflict.compare)
	result := Result{Conflicts: p.conflicts.list}
	count := p.in.Count
	var added []string
	for _, id := range slices.Sorted(maps.Keys(p.rows)) {
		r := p.rows[id]
		switch {
		case r.dead && r.inOurs:
			result.Delete = append(result.Delete, id)
			count--
		case r.dead:
		case !r.inOurs:
			added = append(added, id)
			count++
			result.Write = append(result.Write, r.node)
		case !sameNode(r.node, r.ours):
			result.Write = append(result.Write, r.node)
		}
	}
	if p.in.MaxPages > 0 && count > p.in.MaxPages && len(added) > 0 {
		p.conflicts.add(Conflict{Kind: KindSize, Pages: added, Ours: p.in.Count, Theirs: count})
		slices.SortStableFunc(p.conflicts.list, Conflict.compare)
		return Result{Conflicts: p.conflicts.list, Count: p.in.Count}
	}
	result.Count = count
	return result
}

func sameNode(a, b tree.Node) bool {
	return placeOf(a) == placeOf(b) && samePage(a, b) && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt)
}
