package sites

import (
	"context"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Redirect is a row of the table site_redirects.
type Redirect = db.SiteRedirect

// NewRedirect has the values of a new redirect.
type NewRedirect struct {
	Source      string
	Destination schema.SiteRedirectDestination
	// Draft is true for a redirect that has no effect yet.
	Draft bool
}

// normalSource returns the form in which sources are compared (RFC 3986, section 6.2.2). It replaces each unnecessary
// escape by the escaped character (`%41` becomes `A`). It writes the digits of other escapes in upper case (`%c3`
// becomes `%C3`). All other letters of a path are case-sensitive, so `/Docs` and `/docs` differ.
func normalSource(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] != '%' || i+2 >= len(source) {
			b.WriteByte(source[i])
			continue
		}
		escape := strings.ToUpper(source[i : i+3])
		if c := unhex(escape[1])<<4 | unhex(escape[2]); isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(escape)
		}
		i += 2
	}
	return b.String()
}

func unhex(c byte) byte {
	if c >= 'A' {
		return c - 'A' + 10
	}
	return c - '0'
}

func isUnreserved(c byte) bool {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		strings.IndexByte("-._~", c) >= 0
}

// CreateRedirect adds a redirect. It returns a conflict if the site already has a redirect with this source.
func (s *Store) CreateRedirect(ctx context.Context, siteID string, redirect NewRedirect) (row Redirect, err error) {
	to := redirect.Destination
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.InsertSiteRedirect(ctx, db.InsertSiteRedirectParams{
			ID: schema.NewID(), SiteID: siteID, Source: redirect.Source, SourceKey: normalSource(redirect.Source),
			Kind: to.Kind, SiteSectionID: to.SiteSectionID, SiteSpaceID: to.SiteSpaceID, PageID: to.PageID, Url: to.URL,
			Draft: redirect.Draft,
		})
		if err != nil {
			return postgres.Interpret(err, "redirect with this source")
		}
		return s.annotateRedirect(ctx, q, NewRedirectOccasion, row)
	})
	return row, err
}

// annotateRedirect adds an annotation about a redirect to its site, if the redirect is not a draft.
func (s *Store) annotateRedirect(ctx context.Context, q *db.Queries, o Occasion, row Redirect) error {
	if row.Draft {
		return nil
	}
	happened := Happening{Site: row.SiteID, Path: row.Source}
	if row.PageID != nil {
		happened.Pages = []string{*row.PageID}
	}
	return s.Annotate(ctx, q, o, happened)
}

// RedirectChange has the new values of a redirect. Nil fields leave the value unchanged.
type RedirectChange struct {
	Source      *string
	Destination *schema.SiteRedirectDestination
	Draft       *bool
}

// UpdateRedirect changes a redirect.
func (s *Store) UpdateRedirect(
	ctx context.Context, siteID, id string, change RedirectChange,
) (row Redirect, err error) {
	params := db.UpdateSiteRedirectParams{SiteID: siteID, ID: id, Source: change.Source, Draft: change.Draft}
	if change.Source != nil {
		key := normalSource(*change.Source)
		params.SourceKey = &key
	}
	if to := change.Destination; to != nil {
		params.Kind, params.SiteSectionID, params.SiteSpaceID = &to.Kind, to.SiteSectionID, to.SiteSpaceID
		params.PageID, params.Url = to.PageID, to.URL
	}
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		was, err := q.LockSiteRedirect(ctx, db.LockSiteRedirectParams{SiteID: siteID, ID: id})
		if err != nil {
			return postgres.Interpret(err, "redirect")
		}
		if row, err = q.UpdateSiteRedirect(ctx, params); err != nil {
			return postgres.Interpret(err, "redirect with this source")
		}
		if reflect.DeepEqual(was, row) {
			return nil
		}
		return s.annotateRedirect(ctx, q, ChangedRedirectOccasion, row)
	})
	return row, err
}

// DeleteRedirect removes a redirect, if it exists.
func (s *Store) DeleteRedirect(ctx context.Context, siteID, id string) error {
	return postgres.Interpret(s.db.Queries.DeleteSiteRedirect(ctx, db.DeleteSiteRedirectParams{
		SiteID: siteID, ID: id,
	}), "redirect")
}

// RedirectBySource returns the redirect of a site with a source. Differences in escaping do not matter. It finds no
// drafts.
func (s *Store) RedirectBySource(ctx context.Context, siteID, source string) (Redirect, error) {
	row, err := s.db.Queries.SiteRedirectBySource(ctx, db.SiteRedirectBySourceParams{
		SiteID: siteID, SourceKey: normalSource(source),
	})
	return row, postgres.Interpret(err, "redirect")
}

// ListRedirects lists a site's redirects, the oldest first. The list begins after the id `after`. If `search` is set,
// the list has only redirects whose source contains it.
func (s *Store) ListRedirects(
	ctx context.Context, siteID string, search *string, after string, size int,
) (postgres.Page[Redirect], error) {
	total, err := s.db.Planned.CountSiteRedirects(ctx, db.CountSiteRedirectsParams{SiteID: siteID, Search: search})
	if err != nil {
		return postgres.Page[Redirect]{}, postgres.Interpret(err, "redirects")
	}
	rows, err := s.db.Planned.ListSiteRedirects(ctx, db.ListSiteRedirectsParams{
		SiteID: siteID, Search: search, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Redirect]{}, postgres.Interpret(err, "redirects")
	}
	return postgres.PageOf(rows, size, total), nil
}
