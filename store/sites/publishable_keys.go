package sites

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// PublishableKey is a row of the table publishable_keys.
type PublishableKey = db.PublishableKey

// NewPublishableKey has the values of a new publishable key. Hosts are in the form of [schema.CanonicalHost].
type NewPublishableKey struct {
	Name       string
	Hosts      []string
	DailyCap   int64
	RespectGPC bool
}

// CreatePublishableKey adds a publishable key to a site.
func (s *Store) CreatePublishableKey(ctx context.Context, siteID string, n NewPublishableKey) (row PublishableKey,
	err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.InsertPublishableKey(ctx, db.InsertPublishableKeyParams{
			ID: schema.NewID(), SiteID: siteID, Name: n.Name, Hosts: n.Hosts, DailyCap: n.DailyCap,
			RespectGpc: n.RespectGPC,
		})
		if err != nil {
			return postgres.Interpret(err, "site")
		}
		return s.db.Within(ctx, q, postgres.QuotaPublishableKeys, siteID)
	})
	return row, err
}

// PublishableKey returns a publishable key of a site.
func (s *Store) PublishableKey(ctx context.Context, siteID, id string) (PublishableKey, error) {
	row, err := s.db.Queries.PublishableKeyByID(ctx, db.PublishableKeyByIDParams{SiteID: siteID, ID: id})
	return row, postgres.Interpret(err, "publishable key")
}

// PostingKey is a publishable key with the data that is needed to accept a browser's batch.
type PostingKey struct {
	PublishableKey
	Site schema.EventSite
}

// PostingKey returns the publishable key whose id a browser has sent.
func (s *Store) PostingKey(ctx context.Context, id string) (PostingKey, error) {
	row, err := s.db.Queries.PublishableKeyWithSite(ctx, id)
	return PostingKey{row.PublishableKey, schema.EventSite{
		OrganizationID: row.OrganizationID, SiteID: row.PublishableKey.SiteID, StoreClearIDs: row.StoreClearIds,
	}}, postgres.Interpret(err, "publishable key")
}

// Ends returns the time at which the text of the publishable key in a generation becomes invalid. Each rotation
// begins a new generation. The zero time means that the text is valid until the next rotation. `works` is false if
// the text is already invalid.
func (k PostingKey) Ends(generation int) (at time.Time, works bool) {
	switch current := int(k.Generation); {
	case generation == current:
		return time.Time{}, true
	case generation == current-1 && k.PreviousEndsAt != nil:
		return *k.PreviousEndsAt, true
	}
	return time.Time{}, false
}

// PublishableKeyChange has the new values of a publishable key. Nil fields leave the value unchanged.
type PublishableKeyChange struct {
	Name       *string
	Hosts      []string
	DailyCap   *int64
	RespectGPC *bool
}

// UpdatePublishableKey changes a publishable key.
func (s *Store) UpdatePublishableKey(
	ctx context.Context, siteID, id string, change PublishableKeyChange,
) (PublishableKey, error) {
	row, err := s.db.Queries.UpdatePublishableKey(ctx, db.UpdatePublishableKeyParams{
		SiteID: siteID, ID: id, Name: change.Name, Hosts: change.Hosts, DailyCap: change.DailyCap,
		RespectGpc: change.RespectGPC,
	})
	return row, postgres.Interpret(err, "publishable key")
}

// RotatePublishableKey gives a publishable key a new text. The present text stays valid until the given time. Older
// texts become invalid now.
func (s *Store) RotatePublishableKey(ctx context.Context, siteID, id string, until time.Time) (PublishableKey, error) {
	row, err := s.db.Queries.RotatePublishableKey(ctx, db.RotatePublishableKeyParams{
		SiteID: siteID, ID: id, PreviousEndsAt: until, Most: schema.MaxKeyGeneration,
	})
	if err = postgres.Interpret(err, "publishable key"); !schema.IsCode(err, schema.CodeNotFound) {
		return row, err
	}
	if _, err := s.PublishableKey(ctx, siteID, id); err != nil {
		return row, err
	}
	return row, schema.Conflict("the key has had as many texts as a key can have: make another key")
}

// DeletePublishableKey deletes a publishable key, if it exists. All texts of the key become invalid.
func (s *Store) DeletePublishableKey(ctx context.Context, siteID, id string) error {
	err := s.db.Queries.DeletePublishableKey(ctx, db.DeletePublishableKeyParams{SiteID: siteID, ID: id})
	return postgres.Interpret(err, "publishable key")
}

// ListPublishableKeys lists a site's publishable keys in the order of their creation. The list begins after the id
// `after`.
func (s *Store) ListPublishableKeys(
	ctx context.Context, siteID, after string, size int,
) (postgres.Page[PublishableKey], error) {
	total, err := s.db.Queries.CountPublishableKeys(ctx, siteID)
	if err != nil {
		return postgres.Page[PublishableKey]{}, postgres.Interpret(err, "publishable keys")
	}
	rows, err := s.db.Queries.ListPublishableKeys(ctx, db.ListPublishableKeysParams{
		SiteID: siteID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[PublishableKey]{}, postgres.Interpret(err, "publishable keys")
	}
	return postgres.PageOf(rows, size, total), nil
}
