package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Pages reads all pages of a revision as a tree. Callers share the tree, so they must not change it.
func (s *Store) Pages(ctx context.Context, spaceID, revisionID string) ([]tree.Page, error) {
	t, err := s.tree(ctx, spaceID, revisionID)
	return t.pages, err
}

// Page reads a page of a revision, with the pages below it.
func (s *Store) Page(ctx context.Context, spaceID, revisionID, id string) (tree.Placed, error) {
	node, found, err := pageSource{ctx: ctx, q: s.db.Queries, spaceID: spaceID, revisionID: revisionID}.Page(id)
	if err != nil {
		return tree.Placed{}, err
	}
	if !found {
		return tree.Placed{}, schema.NotFound("page")
	}
	return s.Placed(ctx, spaceID, revisionID, node)
}

// PageText reads a page of a revision with its text, without the pages below it. A page without text has an empty
// document.
func (s *Store) PageText(ctx context.Context, spaceID, revisionID, id string) (tree.Node, Text, error) {
	row, err := s.db.Queries.PageAndDocument(ctx, db.PageAndDocumentParams{
		SpaceID: spaceID, Revision: revisionID, PageID: id,
	})
	if err != nil {
		return tree.Node{}, Text{}, postgres.Interpret(err, "page")
	}
	node, err := readNode(db.PageOfRevisionRow{PageID: row.PageID, ParentID: row.ParentID, Position: row.Position, Slug: row.Slug, Page: row.Page})
	if err == nil && row.Content == nil && node.Document != "" {
		err = lostDocument(node.Document)
	}
	if err != nil || row.Content == nil {
		return node, Text{Document: schema.NewDocument()}, err
	}
	text, err := postgres.FromJSON[Text](row.Content)
	return node, text, err
}

// Placed returns a page with its path and the pages below it.
func (s *Store) Placed(ctx context.Context, spaceID, revisionID string, node tree.Node) (tree.Placed, error) {
	if t, ok := s.trees.Get(treeKey{spaceID, revisionID}); ok {
		if page, ok := t.byID[node.ID]; ok {
			return page, nil
		}
	}
	path, err := s.PathOf(ctx, spaceID, revisionID, node)
	if err != nil {
		return tree.Placed{}, err
	}
	return s.withPagesBelow(ctx, spaceID, revisionID, node, path)
}

// PagesAt returns the ids of the pages at paths of a revision, by path. It leaves out paths that have no page.
func (s *Store) PagesAt(ctx context.Context, spaceID, revisionID string, paths []string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	if t, ok := s.trees.Get(treeKey{spaceID, revisionID}); ok {
		return t.idsAt(paths), nil
	}
	rows, err := s.db.Queries.PagesAtPaths(ctx, db.PagesAtPathsParams{
		SpaceID: spaceID, Revision: revisionID, Paths: paths,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	ids := make(map[string]string, len(rows))
	for _, row := range rows {
		ids[row.Path] = row.PageID
	}
	return ids, nil
}

// PagesOnceAt returns the ids of the former pages of paths, by path. The former page is the last page that was at the
// path before a rename or a move. PagesOnceAt searches all revisions up to the given revision, but only for pages that
// the given revision still has. Another page may have the path now.
func (s *Store) PagesOnceAt(ctx context.Context, spaceID, revisionID string, paths []string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	rows, err := s.db.Queries.FormerPages(ctx, db.FormerPagesParams{
		SpaceID: spaceID, Revision: revisionID, Paths: paths,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	ids := make(map[string]string, len(rows))
	for _, row := range rows {
		ids[row.Path] = row.PageID
	}
	return ids, nil
}

// PathsOf returns the paths of pages of a revision, by the page's id. It leaves out missing pages and links.
func (s *Store) PathsOf(ctx context.Context, spaceID, revisionID string, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if t, ok := s.trees.Get(treeKey{spaceID, revisionID}); ok {
		return t.pathsOf(ids), nil
	}
	rows, err := s.db.Queries.SlugsUpOfPages(ctx, db.SlugsUpOfPagesParams{
		SpaceID: spaceID, Revision: revisionID, Ids: ids,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	slugs := make(map[string][]string, len(ids))
	for _, row := range rows {
		slugs[row.PageID] = append(slugs[row.PageID], row.Slug)
	}
	paths := make(map[string]string, len(slugs))
	for id, up := range slugs {
		if up[0] != "" {
			slices.Reverse(up)
			paths[id] = strings.Join(up, "/")
		}
	}
	return paths, nil
}

// PageByPath reads the page at a path of a revision, with the pages below it. It ignores slashes at either end. If
// there is no page at the path, it follows a redirect of the space's Git repository. If there is no redirect either, it
// reads the page that was last at the path before a rename or a move. The path of this page in the revision then
// differs from the given path.
func (s *Store) PageByPath(ctx context.Context, spaceID, revisionID, path string) (tree.Placed, error) {
	slugs := strings.Split(strings.Trim(path, "/"), "/")
	if slices.Contains(slugs, "") { // links have no slug and no path
		return tree.Placed{}, schema.NotFound("page")
	}
	if t, ok := s.trees.Get(treeKey{spaceID, revisionID}); ok {
		if page, ok := t.byID[t.byPath[strings.Join(slugs, "/")]]; ok {
			return page, nil
		}
	}
	row, err := s.db.Queries.PageByPath(ctx, db.PageByPathParams{SpaceID: spaceID, Revision: revisionID, Slugs: slugs})
	if errors.Is(err, pgx.ErrNoRows) {
		id, err := s.db.Queries.GitRedirect(ctx, db.GitRedirectParams{
			SpaceID: spaceID, Source: strings.Join(slugs, "/"),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			path := strings.Join(slugs, "/")
			former, formerErr := s.PagesOnceAt(ctx, spaceID, revisionID, []string{path})
			if formerErr != nil {
				return tree.Placed{}, formerErr
			}
			if former[path] != "" {
				id, err = former[path], nil
			}
		}
		if err != nil {
			return tree.Placed{}, postgres.Interpret(err, "page")
		}
		return s.Page(ctx, spaceID, revisionID, id)
	}
	if err != nil {
		return tree.Placed{}, postgres.Interpret(err, "page")
	}
	node, err := readNode(db.PageOfRevisionRow(row))
	if err != nil {
		return tree.Placed{}, err
	}
	return s.withPagesBelow(ctx, spaceID, revisionID, node, strings.Join(slugs, "/"))
}

func (s *Store) withPagesBelow(ctx context.Context, spaceID, revisionID string, node tree.Node, path string) (tree.Placed, error) {
	page := node.Page
	if page.Kind != tree.KindLink {
		below, err := pageSource{ctx: ctx, q: s.db.Queries, spaceID: spaceID, revisionID: revisionID}.Below(page.ID)
		if err != nil {
			return tree.Placed{}, err
		}
		page.Pages = tree.Nest(below, page.ID)
	}
	return tree.Placed{Page: &page, Path: path}, nil
}

// PathOf returns the path of a page that was read from a revision: the slugs from the root to the page. The path of a
// link is "".
func (s *Store) PathOf(ctx context.Context, spaceID, revisionID string, node tree.Node) (string, error) {
	if node.Slug == "" || node.Parent == "" {
		return node.Slug, nil
	}
	if t, ok := s.trees.Get(treeKey{spaceID, revisionID}); ok {
		return t.byID[node.ID].Path, nil
	}
	slugs, err := s.db.Queries.SlugsUp(ctx, db.SlugsUpParams{SpaceID: spaceID, Revision: revisionID, PageID: node.ID})
	slices.Reverse(slugs)
	return strings.Join(slugs, "/"), postgres.Interpret(err, "page")
}

// PagePath returns the path of a page in the newest revision of a space. The path has the slugs from the root down to
// the page.
func (s *Store) PagePath(ctx context.Context, space Space, pageID string) ([]string, error) {
	slugs, err := s.db.Queries.SlugsUp(ctx, db.SlugsUpParams{
		SpaceID: space.ID, Revision: space.Revision, PageID: pageID,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "page")
	}
	if len(slugs) == 0 || slugs[0] == "" {
		return nil, schema.NotFound("page")
	}
	slices.Reverse(slugs)
	return slugs, nil
}

func pagesOf(ctx context.Context, q *db.Queries, spaceID, revisionID string) ([]tree.Node, error) {
	rows, err := q.PagesOfRevision(ctx, db.PagesOfRevisionParams{SpaceID: spaceID, Revision: revisionID})
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	return readNodes(rows, func(row db.PagesOfRevisionRow) db.PageOfRevisionRow { return db.PageOfRevisionRow(row) })
}

func readNodes[T any](rows []T, page func(T) db.PageOfRevisionRow) ([]tree.Node, error) {
	nodes := make([]tree.Node, len(rows))
	for i, row := range rows {
		var err error
		if nodes[i], err = readNode(page(row)); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func readNode(row db.PageOfRevisionRow) (tree.Node, error) {
	page, err := postgres.FromJSON[tree.Page](row.Page)
	page.ID, page.Slug = row.PageID, row.Slug
	return tree.Node{Page: page, Parent: row.ParentID, Position: row.Position}, err
}

// pageSource is a [tree.Source] for the duration of one call.
type pageSource struct {
	ctx                 context.Context
	q                   *db.Queries
	spaceID, revisionID string
	size                int
}

func (s pageSource) Page(id string) (tree.Node, bool, error) {
	row, err := s.q.PageOfRevision(s.ctx, db.PageOfRevisionParams{SpaceID: s.spaceID, Revision: s.revisionID, PageID: id})
	if err = postgres.Interpret(err, "page"); schema.IsCode(err, schema.CodeNotFound) {
		return tree.Node{}, false, nil
	}
	if err != nil {
		return tree.Node{}, false, err
	}
	node, err := readNode(row)
	return node, err == nil, err
}

func (s pageSource) Children(parent string) ([]tree.Node, error) {
	rows, err := s.q.ChildrenOfPage(s.ctx, db.ChildrenOfPageParams{SpaceID: s.spaceID, Revision: s.revisionID, ParentID: parent})
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	nodes, err := readNodes(rows, func(row db.ChildrenOfPageRow) db.PageOfRevisionRow { return db.PageOfRevisionRow(row) })
	slices.SortFunc(nodes, tree.InOrder)
	return nodes, err
}

func (s pageSource) Below(id string) ([]tree.Node, error) {
	rows, err := s.q.PagesBelow(s.ctx, db.PagesBelowParams{SpaceID: s.spaceID, Revision: s.revisionID, PageID: id})
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	return readNodes(rows, func(row db.PagesBelowRow) db.PageOfRevisionRow { return db.PageOfRevisionRow(row) })
}

func (s pageSource) Size() int { return s.size }

// PagesIn returns a source that reads single pages of a revision, for changes that restore pages of an older revision.
func (s *Store) PagesIn(ctx context.Context, r Revision) tree.Source {
	return pageSource{ctx: ctx, q: s.db.Queries, spaceID: r.SpaceID, revisionID: r.ID, size: r.PageCount}
}

// pagesAtOnce is the largest number of pages or documents in one statement. Without this limit, all pages of an import
// would be in memory three times, and one statement would take too long.
const pagesAtOnce = 1000

// writePages writes changed pages to a branch. The new revision `r` is the first revision that has them. If the
// branch has a base, writePages also records which pages of the base the branch does not have.
func writePages(ctx context.Context, q *db.Queries, r Revision, changed tree.Changed) error {
	// The old rows of all changed pages end before the first new row is written, because two pages may have swapped
	// their places.
	ended := slices.Clone(changed.Gone)
	for _, n := range changed.Put {
		ended = append(ended, n.ID)
	}
	for ids := range slices.Chunk(ended, pagesAtOnce) {
		err := q.EndPages(ctx, db.EndPagesParams{Branch: r.Branch, Seq: r.Seq, PageIds: ids})
		if err != nil {
			return postgres.Interpret(err, "pages")
		}
	}
	for put := range slices.Chunk(changed.Put, pagesAtOnce) {
		if err := insertPages(ctx, q, r, put, nil); err != nil {
			return err
		}
	}
	for gone := range slices.Chunk(changed.Gone, pagesAtOnce) {
		if err := insertPages(ctx, q, r, nil, gone); err != nil {
			return err
		}
	}
	return nil
}

func insertPages(ctx context.Context, q *db.Queries, r Revision, put []tree.Node, gone []string) error {
	insert := db.InsertPagesParams{Branch: r.Branch, Seq: r.Seq}
	add := func(n tree.Node, deleted bool) error {
		insert.Ids, insert.Deleted = append(insert.Ids, n.ID), append(insert.Deleted, deleted)
		insert.Parents, insert.Positions = append(insert.Parents, n.Parent), append(insert.Positions, n.Position)
		insert.Slugs = append(insert.Slugs, n.Slug)
		n.ID, n.Slug = "", "" // the id and the slug have separate columns
		page, err := postgres.ToJSON(n.Page)
		insert.Pages = append(insert.Pages, string(page))
		return err
	}
	for _, n := range put {
		if err := add(n, false); err != nil {
			return err
		}
	}
	insert.Changed = slices.Concat(insert.Ids, gone)
	if r.Base != nil {
		for _, id := range gone {
			if err := add(tree.Node{Page: tree.Page{ID: id}}, true); err != nil {
				return err
			}
		}
	}
	return postgres.Interpret(q.InsertPages(ctx, insert), "pages")
}
