package store

import (
	"context"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// SitePages reads the pages of the given spaces of a site. If `spaces` is nil, it reads the pages of all spaces of
// the site. It leaves out links and groups, because visitors cannot open them. `ok` is false if there are more than
// `most` pages, links and groups.
func (s *Store) SitePages(
	ctx context.Context, siteID string, spaces []string, most int,
) (pages []schema.SitePage, ok bool, err error) {
	all, err := s.db.Queries.SpaceIDsOfSite(ctx, siteID)
	if err != nil {
		return nil, false, postgres.Interpret(err, "spaces")
	}
	all = slices.DeleteFunc(all, func(id string) bool { return spaces != nil && !slices.Contains(spaces, id) })
	rows, err := s.db.Queries.PagesOfSpaces(ctx, db.PagesOfSpacesParams{
		Spaces: all, Most: int32(most) + 1, // callers pass at most some tens of thousands
	})
	if err != nil || len(rows) > most {
		return nil, false, postgres.Interpret(err, "pages")
	}
	type place struct{ space, page string }
	at := make(map[place]int, len(rows))
	for i, row := range rows {
		at[place{row.SpaceID, row.PageID}] = i
	}
	paths := make([]string, len(rows))
	var pathOf func(i int) string
	pathOf = func(i int) string {
		above, nested := at[place{rows[i].SpaceID, rows[i].ParentID}]
		if paths[i] == "" {
			if paths[i] = rows[i].Slug; nested {
				paths[i] = pathOf(above) + "/" + rows[i].Slug
			}
		}
		return paths[i]
	}
	for i, row := range rows {
		if row.Kind == tree.KindLink || row.Kind == tree.KindGroup {
			continue
		}
		page := schema.SitePage{
			Space: row.SpaceID, ID: row.PageID, Title: row.Title, Path: pathOf(i), EditedAt: row.EditedAt.UTC(),
			Words: int(row.Words),
		}
		if row.OwnerID != "" {
			page.Owner = &schema.SitePageOwner{ID: row.OwnerID, DisplayName: row.OwnerName}
		}
		pages = append(pages, page)
	}
	return pages, true, nil
}
