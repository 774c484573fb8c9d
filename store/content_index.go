package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/db"
)

// indexBatch is the number of pages that are indexed in one transaction, so that neither a large space's text is in memory as a
// whole nor a statement takes long.
const indexBatch = 100

// IndexSpace makes the pages of a space's content those that its search finds. It works in short transactions, none of which
// locks the space: merges go on meanwhile, and it follows them. Stopped halfway, it goes on where it was. A space that is gone
// needs no index.
func (s *Store) IndexSpace(ctx context.Context, spaceID string) error {
	work := indexing{spaceID: spaceID}
	for done := false; !done; {
		err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
			done, err = work.step(ctx, q)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// indexing is the way from what is indexed to one revision.
type indexing struct {
	spaceID  string
	revision string
	pages    []tree.Page
	// changed are the pages that are left to write, by what was indexed when they were compared.
	changed db.UpsertSearchPagesParams
}

// step writes a batch. Steps of a space run one at a time, and each checks that its revision is still the head, so nobody
// writes pages of an older one over those of a newer. The space is indexed when a comparison finds no difference.
func (x *indexing) step(ctx context.Context, q *db.Queries) (done bool, err error) {
	// The space comes before its index, as when a space is deleted.
	kept, err := q.KeepSpace(ctx, x.spaceID)
	if err != nil || len(kept) == 0 {
		return err == nil, interpret(err, "space")
	}
	indexed, err := q.LockIndexedSpace(ctx, x.spaceID)
	if err != nil {
		return false, interpret(err, "search")
	}
	// What is read from here on is as the holder of the lock before has left it.
	space, err := q.SpaceByID(ctx, x.spaceID)
	if err != nil {
		return false, interpret(err, "space")
	}
	if indexed == space.Revision {
		return true, nil
	}
	if x.revision != space.Revision {
		nodes, err := pagesOf(ctx, q, space.ID, space.Revision)
		if err != nil {
			return false, err
		}
		*x = indexing{spaceID: space.ID, revision: space.Revision, pages: tree.Nest(nodes, "")}
	}
	if len(x.changed.Ids) == 0 {
		if err := x.compare(ctx, q, space); err != nil {
			return false, err
		}
		if len(x.changed.Ids) == 0 {
			return true, interpret(q.SetIndexedSpace(ctx, db.SetIndexedSpaceParams{SpaceID: space.ID, Revision: space.Revision}), "search")
		}
	}
	c, n := &x.changed, min(indexBatch, len(x.changed.Ids))
	err = indexPart(ctx, q, space, db.UpsertSearchPagesParams{
		SpaceID: space.ID, OrganizationID: space.OrganizationID,
		Ids: c.Ids[:n], Titles: c.Titles[:n], Paths: c.Paths[:n], Documents: c.Documents[:n],
	})
	c.Ids, c.Titles, c.Paths, c.Documents = c.Ids[n:], c.Titles[n:], c.Paths[n:], c.Documents[n:]
	return false, err
}

// compare finds the pages that are not indexed as they are, and takes those out of the index that are gone or that are not to
// be indexed.
func (x *indexing) compare(ctx context.Context, q *db.Queries, space Space) error {
	rows, err := q.SearchedPages(ctx, space.ID)
	if err != nil {
		return interpret(err, "pages")
	}
	there := make(map[string]db.SearchedPagesRow, len(rows))
	for _, row := range rows {
		there[row.PageID] = row
	}
	x.changed = db.UpsertSearchPagesParams{}
	tree.Walk(x.pages, func(p tree.Placed) bool {
		if p.NoIndex || p.Kind == tree.KindLink {
			return true
		}
		want := db.SearchedPagesRow{PageID: p.ID, Title: p.Title, Path: p.Path, Document: p.Document}
		if there[p.ID] != want {
			x.changed.Ids, x.changed.Titles = append(x.changed.Ids, p.ID), append(x.changed.Titles, p.Title)
			x.changed.Paths, x.changed.Documents = append(x.changed.Paths, p.Path), append(x.changed.Documents, p.Document)
		}
		delete(there, p.ID)
		return true
	})
	if len(there) == 0 {
		return nil
	}
	gone := make([]string, 0, len(there))
	for id := range there {
		gone = append(gone, id)
	}
	return interpret(q.DeleteSearchPages(ctx, db.DeleteSearchPagesParams{SpaceID: space.ID, PageIds: gone}), "pages")
}
