package sites

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Site is a row of the table sites.
type Site = db.Site

// Row is a site with the number of its site spaces.
type Row struct {
	Site       Site
	SiteSpaces int64
}

// Access has a site, and the role that a member of the site's organization has.
type Access struct {
	Row
	Role schema.Role
}

// NewSite has the values of a new site. Spaces are the ids of spaces of the same organization that the site will show.
type NewSite struct {
	OrganizationID string
	Type           string
	Title          string
	Visibility     string
	Spaces         []string
}

// Create adds a site with site spaces for its spaces. If a space cannot be added, no site is created.
func (s *Store) Create(ctx context.Context, site NewSite) (Row, error) {
	var row Row
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		if row, err = Insert(ctx, q, site); err != nil {
			return err
		}
		return s.db.Within(ctx, q, postgres.QuotaSites, site.OrganizationID)
	})
	return row, err
}

func Insert(ctx context.Context, q *db.Queries, site NewSite) (Row, error) {
	row, err := q.InsertSite(ctx, db.InsertSiteParams{
		ID: schema.NewID(), OrganizationID: site.OrganizationID, Type: site.Type, Title: site.Title,
		Visibility: site.Visibility,
	})
	if err != nil {
		return Row{}, postgres.Interpret(err, "site")
	}
	// Other transactions cannot see the site yet, so it needs no lock.
	w := &structure{ctx: ctx, q: q, site: row}
	made := Row{Site: row, SiteSpaces: int64(len(site.Spaces))}
	if len(site.Spaces) == 0 {
		return made, nil
	}
	spaces, err := w.spaces(func(i int) string { return fmt.Sprintf("spaces[%d]", i) }, site.Spaces...)
	if err != nil {
		return Row{}, err
	}
	if _, err := w.attach(nil, nil, spaces...); err != nil {
		return Row{}, err
	}
	return made, w.rank()
}

// Change has the new values of a site. Nil and unset fields leave the value unchanged.
type Change struct {
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
	// Was is the site at the time of the caller's check. The caller has checked that the change lets no more readers
	// see the site. If the site's readers have changed since that check, Update returns a conflict. Was is nil if the
	// change may let more readers see the site.
	Was *Site
}

// stale reports whether the site's readers have changed since the caller's check.
func (c Change) stale(now Site) bool {
	return c.Was != nil && (c.Visibility != nil && c.Was.Visibility != now.Visibility ||
		c.AdaptiveContent != nil && schema.Or(c.Was.AdaptiveContent, false) != schema.Or(now.AdaptiveContent, false))
}

// Update changes a site. The default site space must be at the root, or in the section that is the default after the
// change.
func (s *Store) Update(ctx context.Context, siteID string, change Change) (Site, error) {
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

// Publish publishes a site at its URL, or unpublishes it if `published` is false.
func (s *Store) Publish(ctx context.Context, siteID string, published bool) (row Site, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if row, err = q.LockSite(ctx, siteID); err != nil {
			return postgres.Interpret(err, "site")
		}
		if row.Published == published {
			return nil
		}
		if row, err = q.SetSitePublished(ctx, db.SetSitePublishedParams{ID: siteID, Published: published}); err != nil {
			return postgres.Interpret(err, "site")
		}
		occasion := PublishOccasion
		if !published {
			occasion = UnpublishOccasion
		}
		return s.Annotate(ctx, q, occasion, Happening{Site: siteID})
	})
	return row, err
}

// Delete deletes a site and its structure. Its spaces stay.
func (s *Store) Delete(ctx context.Context, siteID string) error {
	return postgres.Interpret(s.db.Queries.DeleteSite(ctx, siteID), "site")
}

// Site reads a site. It returns not_found if the user is not a member of the site's organization.
func (s *Store) Site(ctx context.Context, userID, organizationID, siteID string) (Access, error) {
	row, err := s.db.Queries.SiteForUser(ctx, db.SiteForUserParams{
		SiteID: siteID, OrganizationID: organizationID, UserID: userID,
	})
	if err != nil {
		return Access{}, postgres.Interpret(err, "site")
	}
	return Access{
		Row: Row{Site: row.Site, SiteSpaces: row.SiteSpaces}, Role: schema.RoleFromNullable(row.Role),
	}, nil
}

// ByID reads a site without checking rights. The caller must have checked them, for example by the site's key.
func (s *Store) ByID(ctx context.Context, siteID string) (Site, error) {
	row, err := s.db.Queries.SiteByID(ctx, siteID)
	return row, postgres.Interpret(err, "site")
}

// Filter narrows a list of sites. A nil field does not filter.
type Filter struct {
	Space     *string
	Title     *string
	Published *bool
	Types     []string
}

// List lists an organization's sites in the order of their creation. The list begins after the id `after`.
func (s *Store) List(
	ctx context.Context, organizationID string, filter Filter, after string, size int,
) (postgres.Page[Row], error) {
	total, err := s.db.Planned.CountSites(ctx, db.CountSitesParams{
		OrganizationID: organizationID, Title: filter.Title, Published: filter.Published, Types: filter.Types,
		Space: filter.Space,
	})
	if err != nil {
		return postgres.Page[Row]{}, postgres.Interpret(err, "sites")
	}
	rows, err := s.db.Planned.ListSites(ctx, db.ListSitesParams{
		OrganizationID: organizationID, Title: filter.Title, Published: filter.Published, Types: filter.Types,
		Space: filter.Space,
		After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Row]{}, postgres.Interpret(err, "sites")
	}
	sites := make([]Row, len(rows))
	for i, row := range rows {
		sites[i] = Row{Site: row.Site, SiteSpaces: row.SiteSpaces}
	}
	return postgres.PageOf(sites, size, total), nil
}
