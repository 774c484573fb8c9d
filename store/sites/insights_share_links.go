package sites

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// InsightsShareLink is a row of the table insights_share_links: a link to a part of a site's insights.
type InsightsShareLink = db.InsightsShareLink

const insightsShareLink = "share link"

// NewInsightsShareLink has the values of a new share link. Filters and Ranges are JSON, or "".
type NewInsightsShareLink struct {
	Name      string
	Password  *string // the hash of the password
	Filters   string
	Segments  []string
	Ranges    string
	Timezone  string
	ExpiresAt *time.Time
	Creator   *string
}

// CreateInsightsShareLink adds a share link to a site. It returns the link's secret. Only the hash of the secret is
// stored.
func (s *Store) CreateInsightsShareLink(
	ctx context.Context, siteID string, n NewInsightsShareLink,
) (secret string, row InsightsShareLink, err error) {
	secret = schema.NewToken()
	hash := schema.HashToken([]byte(secret))
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.InsertInsightsShareLink(ctx, db.InsertInsightsShareLinkParams{
			ID: schema.NewID(), SiteID: siteID, Name: n.Name, Hash: hash[:], Password: n.Password, Filters: n.Filters,
			Segments: n.Segments, Ranges: n.Ranges, Timezone: n.Timezone, ExpiresAt: n.ExpiresAt, CreatedBy: n.Creator,
		})
		if err != nil {
			return postgres.Interpret(err, insightsShareLink)
		}
		return s.db.Within(ctx, q, postgres.QuotaInsightsShareLinks, siteID)
	})
	return secret, row, err
}

// InsightsShareLink returns a share link of a site.
func (s *Store) InsightsShareLink(ctx context.Context, siteID, id string) (InsightsShareLink, error) {
	row, err := s.db.Queries.InsightsShareLinkByID(ctx, db.InsightsShareLinkByIDParams{ID: id, SiteID: siteID})
	return row, postgres.Interpret(err, insightsShareLink)
}

// SharedInsights is a share link that has not expired, with its site.
type SharedInsights struct {
	InsightsShareLink
	Site schema.EventSite
}

// InsightsShareLinkOf returns the share link with a secret. It returns not_found if the link has expired.
func (s *Store) InsightsShareLinkOf(ctx context.Context, secret string) (SharedInsights, error) {
	hash := schema.HashToken([]byte(secret))
	row, err := s.db.Queries.InsightsShareLinkByHash(ctx, hash[:])
	return SharedInsights{row.InsightsShareLink, schema.EventSite{
		OrganizationID: row.OrganizationID, SiteID: row.InsightsShareLink.SiteID,
	}}, postgres.Interpret(err, insightsShareLink)
}

// InsightsShareLinkInUse returns the share link of a session. It returns not_found if the link has expired.
func (s *Store) InsightsShareLinkInUse(ctx context.Context, id string) (SharedInsights, error) {
	row, err := s.db.Queries.InsightsShareLinkInUse(ctx, id)
	return SharedInsights{row.InsightsShareLink, schema.EventSite{
		OrganizationID: row.OrganizationID, SiteID: row.InsightsShareLink.SiteID, StoreClearIDs: row.StoreClearIds,
	}}, postgres.Interpret(err, insightsShareLink)
}

// InsightsShareLinkChange has the new values of a share link. Nil and unset fields leave the value unchanged.
type InsightsShareLinkChange struct {
	Name     *string
	Filters  *string
	Segments []string
	Ranges   *string
	Timezone *string
	// If Expires or Password is set to null, the value is removed. Password is the hash of the password.
	Expires  schema.Opt[time.Time]
	Password schema.Opt[string]
}

// UpdateInsightsShareLink changes a share link. If the password changes, the link's sessions end.
func (s *Store) UpdateInsightsShareLink(
	ctx context.Context, siteID, id string, change InsightsShareLinkChange,
) (InsightsShareLink, error) {
	row, err := s.db.Queries.UpdateInsightsShareLink(ctx, db.UpdateInsightsShareLinkParams{
		ID: id, SiteID: siteID, Name: change.Name, Filters: change.Filters, Segments: change.Segments,
		Ranges: change.Ranges, Timezone: change.Timezone,
		SetsExpiry: change.Expires.Set, ExpiresAt: change.Expires.Value,
		SetsPassword: change.Password.Set, Password: change.Password.Value,
	})
	return row, postgres.Interpret(err, insightsShareLink)
}

// DeleteInsightsShareLink deletes a share link, if it exists. The link's sessions end immediately.
func (s *Store) DeleteInsightsShareLink(ctx context.Context, siteID, id string) error {
	err := s.db.Queries.DeleteInsightsShareLink(ctx, db.DeleteInsightsShareLinkParams{ID: id, SiteID: siteID})
	return postgres.Interpret(err, insightsShareLink)
}

// ListInsightsShareLinks lists a site's share links in the order of their creation. The list begins after the id
// `after`.
func (s *Store) ListInsightsShareLinks(
	ctx context.Context, siteID, after string, size int,
) (postgres.Page[InsightsShareLink], error) {
	total, err := s.db.Queries.CountInsightsShareLinks(ctx, siteID)
	if err != nil {
		return postgres.Page[InsightsShareLink]{}, postgres.Interpret(err, insightsShareLink)
	}
	rows, err := s.db.Queries.ListInsightsShareLinks(ctx, db.ListInsightsShareLinksParams{
		SiteID: siteID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[InsightsShareLink]{}, postgres.Interpret(err, insightsShareLink)
	}
	return postgres.PageOf(rows, size, total), nil
}
