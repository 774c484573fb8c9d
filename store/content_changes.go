package store

import (
	"context"
	"errors"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/postgres"
)

// changesBatch is the number of pages that are compared at once. The states of these pages in both revisions are in
// memory at the same time.
const changesBatch = 1000

// Change is a page or a file that differs between two revisions.
type Change struct {
	Type string
	// Page is the changed page in the later revision. For a deleted page, it is the page in the earlier revision.
	Page tree.Placed
	// Before is the earlier state of an edited page.
	Before tree.Page
	// From and To are the parents of a moved page before and after the move. nil means that the page is at the top.
	From, To *tree.Placed
	// File is the changed file. Revision is the revision that has the file.
	File     File
	Revision string
}

// RevisionChanges lists at most `most` changes of a revision since its first parent, and returns the number of the
// remaining changes. In a space's first revision, all content is new. If `allows` is set, the list is for a visitor. A
// visitor sees changes of pages only if the visitor sees the page in both revisions. A visitor sees changes of files
// only if the visitor sees the file in the later revision. A visitor sees no deletions.
func (s *Store) RevisionChanges(ctx context.Context, r Revision, allows Allows, most int) ([]Change, int, error) {
	c := comparison{s: s, ctx: ctx, to: r, allows: allows, most: most}
	if len(r.Parents) > 0 {
		var err error
		if c.from, err = s.Revision(ctx, r.SpaceID, r.Parents[0]); err != nil {
			return nil, 0, err
		}
	}
	return c.run()
}

// RequestChanges lists the changes of a change request since its base, which is a revision of the main content. The
// parameters and results have the same meaning as those in RevisionChanges.
func (s *Store) RequestChanges(ctx context.Context, request ChangeRequest, allows Allows, most int) ([]Change, int, error) {
	found, err := revisions(ctx, s.db.Queries, request.SpaceID, baseOf(request), request.Revision)
	if err != nil {
		return nil, 0, err
	}
	c := comparison{s: s, ctx: ctx, from: found[baseOf(request)], to: found[request.Revision], allows: allows, most: most}
	return c.run()
}

// comparison compares two revisions of a space. It is used for only one call. `from` is the zero Revision if there is
// no earlier revision.
type comparison struct {
	s        *Store
	ctx      context.Context
	from, to Revision
	allows   Allows
	most     int
	list     []Change
	more     int
}

func (c *comparison) run() ([]Change, int, error) {
	for _, step := range []func() error{c.pages, c.files, c.parents, c.paths} {
		if err := step(); err != nil {
			return nil, 0, err
		}
	}
	return c.list, c.more, nil
}

// add adds a change to the list, or counts it if the list is full. It leaves out deletions if the list is for a
// visitor.
func (c *comparison) add(change Change) {
	gone := change.Type == schema.PageDeleted || change.Type == schema.FileDeleted
	if gone && c.allows != nil {
		return
	}
	if len(c.list) < c.most {
		c.list = append(c.list, change)
	} else {
		c.more++
	}
}

// pages compares the pages that may differ between the revisions, sorted by id.
func (c *comparison) pages() error {
	ids, err := c.changed()
	if err != nil {
		return err
	}
	slices.Sort(ids)
	for batch := range slices.Chunk(slices.Compact(ids), changesBatch) {
		was, err := c.read(c.from, batch)
		if err != nil {
			return err
		}
		is, err := c.read(c.to, batch)
		if err != nil {
			return err
		}
		if err := errors.Join(c.hide(c.from, was), c.hide(c.to, is)); err != nil {
			return err
		}
		for _, id := range batch {
			if was[id] != unseen && is[id] != unseen {
				c.page(was[id], is[id])
			}
		}
	}
	return nil
}

func (c *comparison) changed() ([]string, error) {
	if c.from.ID != "" {
		return changedPages(c.ctx, c.s.db.Queries, c.from, c.to)
	}
	nodes, err := pagesOf(c.ctx, c.s.db.Queries, c.to.SpaceID, c.to.ID)
	return tree.Differences(nil, nodes), err
}

// read reads pages of a revision, by id.
func (c *comparison) read(r Revision, ids []string) (map[string]*tree.Node, error) {
	if r.ID == "" {
		return nil, nil
	}
	side := mergeSide{
		from:  pageSource{ctx: c.ctx, q: c.s.db.Queries, spaceID: r.SpaceID, revisionID: r.ID},
		pages: map[string]*tree.Node{},
	}
	return side.pages, side.fill(ids)
}

// unseen replaces a page that the visitor must not see.
var unseen = new(tree.Node)

// hide puts `unseen` in the place of each page that the visitor must not see in a revision.
func (c *comparison) hide(r Revision, pages map[string]*tree.Node) error {
	if c.allows == nil || len(pages) == 0 {
		return nil
	}
	t, err := c.s.tree(c.ctx, r.SpaceID, r.ID)
	for id, page := range pages {
		if page != nil && !t.shows(id, c.allows) {
			pages[id] = unseen
		}
	}
	return err
}

func (c *comparison) page(was, is *tree.Node) {
	switch {
	case was == nil && is == nil:
		return
	case was == nil:
		c.add(Change{Type: schema.PageCreated, Page: tree.Placed{Page: &is.Page}})
		return
	case is == nil:
		c.add(Change{Type: schema.PageDeleted, Page: tree.Placed{Page: &was.Page}})
		return
	}
	stayed := *was
	stayed.Parent, stayed.Position = is.Parent, is.Position
	if !stayed.Same(*is) {
		c.add(Change{Type: schema.PageEdited, Page: tree.Placed{Page: &is.Page}, Before: was.Page})
	}
	if was.Parent != is.Parent || was.Position != is.Position {
		c.add(Change{Type: schema.PageMoved, Page: tree.Placed{Page: &is.Page}, From: above(was), To: above(is)})
	}
}

// above returns the parent of a page, with only its id. The method `parents` reads the other fields later.
func above(n *tree.Node) *tree.Placed {
	if n.Parent == "" {
		return nil
	}
	return &tree.Placed{Page: &tree.Page{ID: n.Parent}}
}

// files compares the files of the revisions. A file never changes, because new content becomes a new file with a new
// id.
func (c *comparison) files() error {
	was, err := c.s.Files(c.ctx, c.to.SpaceID, c.from.ID)
	if err != nil {
		return err
	}
	is, err := c.s.Files(c.ctx, c.to.SpaceID, c.to.ID)
	if err != nil {
		return err
	}
	gone := make(map[string]bool, len(was))
	for _, file := range was {
		gone[file.ID] = true
	}
	var created []File
	for _, file := range is {
		if !gone[file.ID] {
			created = append(created, file)
		}
		delete(gone, file.ID)
	}
	shown, err := c.s.ShownFiles(c.ctx, c.to.SpaceID, c.to.ID, created, c.allows, nil)
	for _, file := range shown {
		c.add(Change{Type: schema.FileCreated, File: file, Revision: c.to.ID})
	}
	for _, file := range was {
		if gone[file.ID] {
			c.add(Change{Type: schema.FileDeleted, File: file, Revision: c.from.ID})
		}
	}
	return err
}

// each calls `visit` for each listed page and for the parents of moved pages, with the page's revision. `parent` is
// true for parents.
func (c *comparison) each(visit func(r Revision, p *tree.Placed, parent bool)) {
	for i := range c.list {
		change := &c.list[i]
		switch change.Type {
		case schema.PageCreated, schema.PageEdited, schema.PageMoved:
			visit(c.to, &change.Page, false)
		case schema.PageDeleted:
			visit(c.from, &change.Page, false)
		}
		if change.Type != schema.PageMoved {
			continue
		}
		if change.From != nil {
			visit(c.from, change.From, true)
		}
		if change.To != nil {
			visit(c.to, change.To, true)
		}
	}
}

// parents reads the parents of moved pages.
func (c *comparison) parents() error {
	ids := map[string][]string{}
	c.each(func(r Revision, p *tree.Placed, parent bool) {
		if parent {
			ids[r.ID] = append(ids[r.ID], p.ID)
		}
	})
	for _, r := range []Revision{c.from, c.to} {
		if len(ids[r.ID]) == 0 {
			continue
		}
		nodes, err := c.read(r, postgres.Distinct(ids[r.ID]))
		if err != nil {
			return err
		}
		c.each(func(of Revision, p *tree.Placed, parent bool) {
			if n := nodes[p.ID]; parent && of.ID == r.ID && n != nil {
				p.Page = &n.Page
			}
		})
	}
	return nil
}

// paths reads the paths of the listed pages and of the parents.
func (c *comparison) paths() error {
	ids := map[string][]string{}
	c.each(func(r Revision, p *tree.Placed, _ bool) { ids[r.ID] = append(ids[r.ID], p.ID) })
	for _, r := range []Revision{c.from, c.to} {
		paths, err := c.s.PathsOf(c.ctx, c.to.SpaceID, r.ID, postgres.Distinct(ids[r.ID]))
		if err != nil {
			return err
		}
		c.each(func(of Revision, p *tree.Placed, _ bool) {
			if of.ID == r.ID {
				p.Path = paths[p.ID]
			}
		})
	}
	return nil
}
