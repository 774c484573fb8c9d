package store

import (
	"context"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/store/content"
	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/db"
)

// maxSearchText bounds the bytes of a page's text that can be searched: Postgres takes 1 MiB of words with their positions.
const maxSearchText = 200 << 10

// indexPages makes the pages of a space's new head those that are searched. Pages that are not to be indexed are left out.
func indexPages(ctx context.Context, q *db.Queries, space Space, pages []tree.Page) error {
	rows, err := q.SearchedPages(ctx, space.ID)
	if err != nil {
		return interpret(err, "pages")
	}
	there := make(map[string]db.SearchedPagesRow, len(rows))
	for _, row := range rows {
		there[row.PageID] = row
	}
	var changed db.UpsertSearchPagesParams
	tree.Walk(pages, func(p tree.Placed) bool {
		if p.NoIndex || p.Kind == tree.KindLink {
			return true
		}
		want := db.SearchedPagesRow{PageID: p.ID, Title: p.Title, Path: p.Path, Document: p.Document}
		if there[p.ID] != want {
			changed.Ids, changed.Titles = append(changed.Ids, p.ID), append(changed.Titles, p.Title)
			changed.Paths, changed.Documents = append(changed.Paths, p.Path), append(changed.Documents, p.Document)
		}
		delete(there, p.ID)
		return true
	})
	var gone []string
	for id := range there {
		gone = append(gone, id)
	}
	if len(gone) > 0 {
		if err := q.DeleteSearchPages(ctx, db.DeleteSearchPagesParams{SpaceID: space.ID, PageIds: gone}); err != nil {
			return interpret(err, "pages")
		}
	}
	// In parts, so that a large space's text is never in memory as a whole.
	const part = 100
	for from := 0; from < len(changed.Ids); from += part {
		to := min(from+part, len(changed.Ids))
		err := indexPart(ctx, q, space, db.UpsertSearchPagesParams{
			SpaceID: space.ID, OrganizationID: space.OrganizationID, Ids: changed.Ids[from:to], Titles: changed.Titles[from:to], Paths: changed.Paths[from:to],
			Documents: changed.Documents[from:to],
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func indexPart(ctx context.Context, q *db.Queries, space Space, rows db.UpsertSearchPagesParams) error {
	var hashes []string
	for _, hash := range rows.Documents {
		if hash != "" {
			hashes = append(hashes, hash)
		}
	}
	texts, err := documents(ctx, q, space.ID, hashes)
	if err != nil {
		return err
	}
	for _, hash := range rows.Documents {
		rows.Bodies = append(rows.Bodies, cutText(content.Plain(texts[hash].Document)))
	}
	return interpret(q.UpsertSearchPages(ctx, rows), "pages")
}

func cutText(text string) string {
	if len(text) <= maxSearchText {
		return text
	}
	end := maxSearchText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// FoundPage is a page that a search found. Rank is higher the better it matches.
type FoundPage struct {
	PageID string
	Title  string
	Path   string
	Rank   float32
}

// FoundSpace is a space in which a search found pages, with the best of them.
type FoundSpace struct {
	SpaceID string
	Title   string
	Best    float32
	Pages   []FoundPage
}

// SearchSpace finds pages of a space's current content by their words, the best match first.
func (s *Store) SearchSpace(ctx context.Context, spaceID, query string, after *Cursor[float32], size int) (Page[FoundPage], error) {
	from := after.orFirst(maxRank)
	total, err := s.queries.SearchSpaceTotal(ctx, db.SearchSpaceTotalParams{SpaceID: spaceID, Query: query})
	if err != nil {
		return Page[FoundPage]{}, interpret(err, "pages")
	}
	rows, err := s.queries.SearchSpace(ctx, db.SearchSpaceParams{
		SpaceID: spaceID, Query: query, After: -from.Key, AfterID: from.ID, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[FoundPage]{}, interpret(err, "pages")
	}
	pages := make([]FoundPage, len(rows))
	for i, row := range rows {
		pages[i] = FoundPage(row)
	}
	return pageOf(pages, size, total), nil
}

// SearchOrganization finds those of the spaces that the viewer may see whose current content has the words, the best match
// first.
func (s *Store) SearchOrganization(
	ctx context.Context, viewer Viewer, organizationID, query string, after *Cursor[float32], size int,
) (Page[FoundSpace], error) {
	role := viewer.Role.Nullable()
	from := after.orFirst(maxRank)
	total, err := s.queries.SearchOrganizationTotal(ctx, db.SearchOrganizationTotalParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, Query: query,
	})
	if err != nil {
		return Page[FoundSpace]{}, interpret(err, "spaces")
	}
	rows, err := s.queries.SearchOrganization(ctx, db.SearchOrganizationParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, Query: query, After: -from.Key, AfterID: from.ID,
		PageSize: pageSize(size),
	})
	if err != nil {
		return Page[FoundSpace]{}, interpret(err, "spaces")
	}
	var spaces []FoundSpace
	for _, row := range rows {
		if len(spaces) == 0 || spaces[len(spaces)-1].SpaceID != row.SpaceID {
			spaces = append(spaces, FoundSpace{SpaceID: row.SpaceID, Title: row.SpaceTitle, Best: row.Best})
		}
		space := &spaces[len(spaces)-1]
		space.Pages = append(space.Pages, FoundPage{PageID: row.PageID, Title: row.Title, Path: row.Path})
	}
	return pageOf(spaces, size, total), nil
}
