package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// SiteRow is a site with the number of spaces attached to it.
type SiteRow struct {
	Site       Site
	SiteSpaces int64
}

// SiteAccess is a site as a member of its organization sees it.
type SiteAccess struct {
	SiteRow
	Role schema.Role
}

// NewSite is what a site is made of. Spaces are the ids of spaces of the same organization to attach.
type NewSite struct {
	OrganizationID string
	Type           string
	Title          string
	Visibility     string
	Spaces         []string
}

// CreateSite adds a site and attaches its spaces, all or nothing.
func (s *Store) CreateSite(ctx context.Context, site NewSite) (SiteRow, error) {
	var row SiteRow
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		row, err = insertSite(ctx, q, site)
		return err
	})
	return row, err
}

func insertSite(ctx context.Context, q *db.Queries, site NewSite) (SiteRow, error) {
	row, err := q.InsertSite(ctx, db.InsertSiteParams{
		ID: schema.NewID(), OrganizationID: site.OrganizationID, Type: site.Type, Title: site.Title, Visibility: site.Visibility,
	})
	if err != nil {
		return SiteRow{}, interpret(err, "site")
	}
	for i, space := range site.Spaces {
		attached, err := q.InsertSiteSpace(ctx, db.InsertSiteSpaceParams{
			ID: schema.NewID(), SiteID: row.ID, SpaceID: space, Position: int32(i), //nolint:gosec // Bounded by the body's limit.
		})
		if err != nil {
			return SiteRow{}, interpret(err, "site space")
		}
		if attached == 0 {
			return SiteRow{}, schema.Invalid(fmt.Sprintf("spaces[%d]", i), "names no space of this organization")
		}
	}
	return SiteRow{Site: row, SiteSpaces: int64(len(site.Spaces))}, nil
}

// Site reads a site of an organization that the user is in; any other is not found.
func (s *Store) Site(ctx context.Context, userID, organizationID, siteID string) (SiteAccess, error) {
	row, err := s.queries.SiteForUser(ctx, db.SiteForUserParams{
		SiteID: siteID, OrganizationID: organizationID, UserID: userID,
	})
	if err != nil {
		return SiteAccess{}, interpret(err, "site")
	}
	return SiteAccess{
		SiteRow: SiteRow{Site: row.Site, SiteSpaces: row.SiteSpaces}, Role: schema.RoleFromNullable(row.Role),
	}, nil
}

// SiteByID reads a site for a caller whose right to it is already known, such as the site's own key.
func (s *Store) SiteByID(ctx context.Context, siteID string) (Site, error) {
	row, err := s.queries.SiteByID(ctx, siteID)
	return row, interpret(err, "site")
}

// SiteFilter narrows a list of sites; nil members let everything through.
type SiteFilter struct {
	Space     *string
	Title     *string
	Published *bool
	Types     []string
}

// ListSites lists an organization's sites in the order they were made, after the id `after`.
func (s *Store) ListSites(
	ctx context.Context, organizationID string, filter SiteFilter, after string, size int,
) (Page[SiteRow], error) {
	total, err := s.queries.CountSites(ctx, db.CountSitesParams{
		OrganizationID: organizationID, Title: filter.Title, Published: filter.Published, Types: filter.Types, Space: filter.Space,
	})
	if err != nil {
		return Page[SiteRow]{}, interpret(err, "sites")
	}
	rows, err := s.queries.ListSites(ctx, db.ListSitesParams{
		OrganizationID: organizationID, Title: filter.Title, Published: filter.Published, Types: filter.Types, Space: filter.Space,
		After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[SiteRow]{}, interpret(err, "sites")
	}
	sites := make([]SiteRow, len(rows))
	for i, row := range rows {
		sites[i] = SiteRow{Site: row.Site, SiteSpaces: row.SiteSpaces}
	}
	return pageOf(sites, size, total), nil
}
