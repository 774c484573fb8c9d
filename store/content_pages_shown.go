package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Allows reports whether a visitor meets a condition of content. For users it is nil, because conditions do not apply
// to users.
type Allows = func(condition string) bool

// ShownPages reads the pages of a revision that a visitor sees, as a tree. A page is left out if its condition, or the
// condition of one of its ancestors, is not met. Callers share the tree, so they must not change it.
func (s *Store) ShownPages(ctx context.Context, spaceID, revisionID string, allows Allows) ([]tree.Page, error) {
	t, err := s.tree(ctx, spaceID, revisionID)
	if err != nil || allows == nil || len(t.conditions) == 0 {
		return t.pages, err
	}
	return tree.Shown(t.pages, once(allows)), nil
}

// ShownPage returns a page of a revision in the form that a visitor sees, without hidden pages below it. If the page
// itself is hidden, ShownPage returns not_found.
func (s *Store) ShownPage(ctx context.Context, spaceID, revisionID string, page tree.Placed, allows Allows) (tree.Placed, error) {
	if allows == nil {
		return page, nil
	}
	t, err := s.tree(ctx, spaceID, revisionID)
	if err != nil || len(t.conditions) == 0 {
		return page, err
	}
	if allows = once(allows); !t.shows(page.ID, allows) {
		return tree.Placed{}, schema.NotFound("page")
	}
	shown := *page.Page
	shown.Pages = tree.Shown(page.Pages, allows)
	return tree.Placed{Page: &shown, Path: page.Path}, nil
}

// CheckShown returns not_found if a page of a revision is hidden from a visitor.
func (s *Store) CheckShown(ctx context.Context, spaceID, revisionID, page string, allows Allows) error {
	if allows == nil {
		return nil
	}
	t, err := s.tree(ctx, spaceID, revisionID)
	if err == nil && !t.shows(page, allows) {
		err = schema.NotFound("page")
	}
	return err
}

// hiddenPages returns the ids of pages that are hidden from a visitor in the current content of spaces, by space.
func (s *Store) hiddenPages(ctx context.Context, spaces []string, allows Allows) (map[string][]string, error) {
	if allows == nil || len(spaces) == 0 {
		return nil, nil
	}
	rows, err := s.db.Queries.SpacesWithConditions(ctx, spaces)
	if err != nil {
		return nil, postgres.Interpret(err, "spaces")
	}
	allows = once(allows)
	hidden := make(map[string][]string, len(rows))
	for _, row := range rows {
		t, err := s.tree(ctx, row.ID, row.Revision)
		if err != nil {
			return nil, err
		}
		for id := range t.conditions {
			if !t.shows(id, allows) {
				hidden[row.ID] = append(hidden[row.ID], id)
			}
		}
	}
	return hidden, nil
}

// tree reads the tree of a revision, and caches it.
func (s *Store) tree(ctx context.Context, spaceID, revisionID string) (*keptTree, error) {
	if t, ok := s.trees.Get(treeKey{spaceID, revisionID}); ok {
		return t, nil
	}
	nodes, err := pagesOf(ctx, s.db.Queries, spaceID, revisionID)
	if err != nil {
		return &keptTree{}, err
	}
	t := newKeptTree(tree.Nest(nodes, ""))
	if len(nodes) > 0 { // a revision without pages may not exist yet, so it is not cached
		s.trees.Keep(treeKey{spaceID, revisionID}, t)
	}
	return t, nil
}

// once returns a function with the same results as `allows`. It evaluates each condition only once, because many
// pages have equal conditions.
func once(allows Allows) Allows {
	known := map[string]bool{}
	return func(condition string) bool {
		allowed, ok := known[condition]
		if !ok {
			allowed = allows(condition)
			known[condition] = allowed
		}
		return allowed
	}
}
