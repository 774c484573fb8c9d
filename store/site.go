package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
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

// NewSite is a site to create. Spaces are the ids of spaces of the same organization to attach.
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
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		if row, err = insertSite(ctx, q, site); err != nil {
			return err
		}
		return s.db.Within(ctx, q, postgres.QuotaSites, site.OrganizationID)
	})
	return row, err
}

func insertSite(ctx context.Context, q *db.Queries, site NewSite) (SiteRow, error) {
	row, err := q.InsertSite(ctx, db.InsertSiteParams{
		ID: schema.NewID(), OrganizationID: site.OrganizationID, Type: site.Type, Title: site.Title, Visibility: site.Visibility,
	})
	if err != nil {
		return SiteRow{}, postgres.Interpret(err, "site")
	}
	// Nobody else can see the site yet, so it needs no lock.
	w := &structure{ctx: ctx, q: q, site: row}
	made := SiteRow{Site: row, SiteSpaces: int64(len(site.Spaces))}
	if len(site.Spaces) == 0 {
		return made, nil
	}
	spaces, err := w.spaces(func(i int) string { return fmt.Sprintf("spaces[%d]", i) }, site.Spaces...)
	if err != nil {
		return SiteRow{}, err
	}
	if _, err := w.attach(nil, nil, spaces...); err != nil {
		return SiteRow{}, err
	}
	return made, w.rank()
}

// SiteChange is what a request changes of a site; nil members stay as they are.
type SiteChange struct {
	Title              *string
	Visibility         *string
	Basename           *string
	AdaptiveContent    *bool
	AgentsContext      *string
	DefaultSiteSpace   *string
	DefaultSiteSection *string
	Proxy              schema.Opt[string]
	// Hostname is in lower case.
	Hostname        schema.Opt[string]
	AnonymousEvents *bool
	// Was is the site for which the change adds no readers; nil if the change may add readers. A site whose readers
	// were changed since then stays as it is.
	Was *Site
}

// stale reports whether somebody changed who reads the site since the change was judged.
func (c SiteChange) stale(now Site) bool {
	return c.Was != nil && (c.Visibility != nil && c.Was.Visibility != now.Visibility ||
		c.AdaptiveContent != nil && schema.Or(c.Was.AdaptiveContent, false) != schema.Or(now.AdaptiveContent, false))
}

// UpdateSite changes a site. The default site space is that of the root, or of the section that is the default once the
// change is done.
func (s *Store) UpdateSite(ctx context.Context, siteID string, change SiteChange) (Site, error) {
	var row Site
	err := s.inSite(ctx, siteID, func(w *structure) (err error) {
		if change.stale(w.site) {
			return schema.Conflict("the site's readers were changed meanwhile: read the site and try again")
		}
		if change.DefaultSiteSection != nil {
			section, err := w.section("defaultSiteSection", *change.DefaultSiteSection)
			if err != nil {
				return err
			}
			if err := w.q.ClearDefaultSection(ctx, siteID); err != nil {
				return postgres.Interpret(err, "site section")
			}
			if err := w.q.SetDefaultSection(ctx, section.ID); err != nil {
				return postgres.Interpret(err, "site section")
			}
		}
		if change.DefaultSiteSpace != nil {
			if err := w.setDefaultOfSite(*change.DefaultSiteSpace); err != nil {
				return err
			}
		}
		if err := w.mayClaim(change.Hostname.Value); err != nil {
			return err
		}
		row, err = w.q.UpdateSite(ctx, db.UpdateSiteParams{
			ID: siteID, Title: change.Title, Visibility: change.Visibility, Basename: change.Basename,
			AdaptiveContent: change.AdaptiveContent, AgentsContext: change.AgentsContext,
			SetProxy: change.Proxy.Set, Proxy: change.Proxy.Value,
			SetHostname: change.Hostname.Set, Hostname: change.Hostname.Value, AnonymousEvents: change.AnonymousEvents,
		})
		return postgres.Interpret(err, "site with this basename")
	})
	return row, err
}

func (w *structure) setDefaultOfSite(siteSpace string) error {
	section, err := w.defaultSection()
	if err != nil {
		return err
	}
	if section == nil {
		return w.defaultTo("defaultSiteSpace", siteSpace, nil, "names no site space of this site")
	}
	return w.defaultTo("defaultSiteSpace", siteSpace, &section.ID, "names no site space of the default section")
}

// PublishSite makes a site readable at its published address, or ends that.
func (s *Store) PublishSite(ctx context.Context, siteID string, published bool) (Site, error) {
	row, err := s.db.Queries.SetSitePublished(ctx, db.SetSitePublishedParams{ID: siteID, Published: published})
	return row, postgres.Interpret(err, "site")
}

// DeleteSite removes a site and its structure; its spaces stay.
func (s *Store) DeleteSite(ctx context.Context, siteID string) error {
	return postgres.Interpret(s.db.Queries.DeleteSite(ctx, siteID), "site")
}

// Site reads a site of an organization that the user is in; any other is not found.
func (s *Store) Site(ctx context.Context, userID, organizationID, siteID string) (SiteAccess, error) {
	row, err := s.db.Queries.SiteForUser(ctx, db.SiteForUserParams{
		SiteID: siteID, OrganizationID: organizationID, UserID: userID,
	})
	if err != nil {
		return SiteAccess{}, postgres.Interpret(err, "site")
	}
	return SiteAccess{
		SiteRow: SiteRow{Site: row.Site, SiteSpaces: row.SiteSpaces}, Role: schema.RoleFromNullable(row.Role),
	}, nil
}

// SiteByID reads a site for a caller whose right to it is already known, such as the site's own key.
func (s *Store) SiteByID(ctx context.Context, siteID string) (Site, error) {
	row, err := s.db.Queries.SiteByID(ctx, siteID)
	return row, postgres.Interpret(err, "site")
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
) (postgres.Page[SiteRow], error) {
	total, err := s.db.Planned.CountSites(ctx, db.CountSitesParams{
		OrganizationID: organizationID, Title: filter.Title, Published: filter.Published, Types: filter.Types, Space: filter.Space,
	})
	if err != nil {
		return postgres.Page[SiteRow]{}, postgres.Interpret(err, "sites")
	}
	rows, err := s.db.Planned.ListSites(ctx, db.ListSitesParams{
		OrganizationID: organizationID, Title: filter.Title, Published: filter.Published, Types: filter.Types, Space: filter.Space,
		After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[SiteRow]{}, postgres.Interpret(err, "sites")
	}
	sites := make([]SiteRow, len(rows))
	for i, row := range rows {
		sites[i] = SiteRow{Site: row.Site, SiteSpaces: row.SiteSpaces}
	}
	return postgres.PageOf(sites, size, total), nil
}
