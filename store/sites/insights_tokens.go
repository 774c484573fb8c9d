package sites

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

const insightsToken = "read-only token"

// CreateInsightsToken creates a token that can read the insights of a site. It returns the token's secret and its row.
// Only the hash of the secret is stored. If `expires` is nil, the token is valid until it is revoked.
func (s *Store) CreateInsightsToken(
	ctx context.Context, siteID, name string, expires *time.Time,
) (secret string, row db.Token, err error) {
	secret = schema.NewToken()
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = postgres.InsertToken(ctx, q, secret, db.InsertTokenParams{
			ID: schema.NewID(), Kind: string(schema.TokenInsights), Name: name, SiteID: &siteID, ExpiresAt: expires,
		})
		if err != nil {
			return err
		}
		return s.db.Within(ctx, q, postgres.QuotaInsightsTokens, siteID)
	})
	return secret, row, err
}

// InsightsToken returns a read-only token of a site.
func (s *Store) InsightsToken(ctx context.Context, siteID, id string) (db.Token, error) {
	row, err := s.db.Queries.InsightsTokenByID(ctx, db.InsightsTokenByIDParams{ID: id, SiteID: &siteID})
	if err == nil && row.RevokedAt != nil {
		return db.Token{}, schema.NotFound(insightsToken)
	}
	return row, postgres.Interpret(err, insightsToken)
}

// RevokeInsightsToken revokes a read-only token of a site, if it exists.
func (s *Store) RevokeInsightsToken(ctx context.Context, siteID, id string) error {
	err := s.db.Queries.RevokeInsightsToken(ctx, db.RevokeInsightsTokenParams{ID: id, SiteID: &siteID})
	return postgres.Interpret(err, insightsToken)
}

// ListInsightsTokens lists a site's read-only tokens that are not revoked, the oldest first. The list begins after the
// id `after`.
func (s *Store) ListInsightsTokens(
	ctx context.Context, siteID, after string, size int,
) (postgres.Page[db.Token], error) {
	total, err := s.db.Queries.CountInsightsTokens(ctx, &siteID)
	if err != nil {
		return postgres.Page[db.Token]{}, postgres.Interpret(err, insightsToken)
	}
	rows, err := s.db.Queries.ListInsightsTokens(ctx, db.ListInsightsTokensParams{
		SiteID: &siteID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[db.Token]{}, postgres.Interpret(err, insightsToken)
	}
	return postgres.PageOf(rows, size, total), nil
}
