package store

import (
	"context"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/store/content"
	"github.com/octavo-docs/octavo/store/db"
)

// maxSearchText bounds the bytes of a page's text that can be searched: Postgres takes 1 MiB of words with their positions.
const maxSearchText = 200 << 10

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
