package hooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Webhook is a row of its table.
type Webhook = db.Webhook

const (
	// WebhookSecretPrefix is the prefix of every secret, as the Standard Webhooks specification requires.
	WebhookSecretPrefix = "whsec_"
	// webhookSecretBytes is the size of a secret; the specification requires 24 to 64.
	webhookSecretBytes = 32
	// webhookSecretOverlap is the time that a secret stays valid after the next secret was made.
	webhookSecretOverlap = 24 * time.Hour
)

// NewWebhook has the values of a new webhook.
type NewWebhook struct {
	OrganizationID string
	URL            string
	Description    string
	Events         []string
	Active         bool
}

// webhookSecret makes a secret for a webhook. It returns the text that users see and the encrypted form that is stored.
func (s *Store) webhookSecret(ctx context.Context, webhookID string) (secret string, sealed []byte, err error) {
	key := make([]byte, webhookSecretBytes)
	_, _ = rand.Read(key) // crypto/rand.Read never fails: it ends the process instead.
	sealed, err = s.db.Seal(ctx, "webhook "+webhookID, key)
	return WebhookSecretPrefix + base64.StdEncoding.EncodeToString(key), sealed, err
}

// CreateWebhook adds a webhook and returns its secret, which cannot be read again.
func (s *Store) CreateWebhook(ctx context.Context, n NewWebhook) (row Webhook, secret string, err error) {
	id := schema.NewID()
	secret, sealed, err := s.webhookSecret(ctx, id)
	if err != nil {
		return Webhook{}, "", err
	}
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.InsertWebhook(ctx, db.InsertWebhookParams{
			ID: id, OrganizationID: n.OrganizationID, Url: n.URL, Description: n.Description,
			Events: postgres.NotNil(n.Events),
			Active: n.Active, Secret: sealed,
		})
		if err != nil {
			return postgres.Interpret(err, "webhook")
		}
		return s.db.Within(ctx, q, postgres.QuotaWebhooks, n.OrganizationID)
	})
	return row, secret, err
}

// Webhook reads a webhook of an organization.
func (s *Store) Webhook(ctx context.Context, organizationID, id string) (Webhook, error) {
	row, err := s.db.Queries.WebhookByID(ctx, db.WebhookByIDParams{ID: id, OrganizationID: organizationID})
	return row, postgres.Interpret(err, "webhook")
}

// WebhookChange has the new values of a webhook. Nil fields leave the value unchanged. If a webhook becomes active or
// gets another address, its earlier failures no longer count, and its pending deliveries are sent at once.
type WebhookChange struct {
	URL         *string
	Description *string
	Events      []string
	Active      *bool
}

// UpdateWebhook changes a webhook of an organization.
func (s *Store) UpdateWebhook(
	ctx context.Context, organizationID, id string, c WebhookChange,
) (row Webhook, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.UpdateWebhook(ctx, db.UpdateWebhookParams{
			OrganizationID: organizationID, ID: id, Url: c.URL, Description: c.Description, Events: c.Events,
			Active: c.Active,
		})
		if err != nil {
			return postgres.Interpret(err, "webhook")
		}
		return postgres.Interpret(q.HastenDeliveries(ctx, id), "deliveries")
	})
	return row, err
}

// RotateWebhookSecret makes a new secret. For a day, requests are signed with both secrets.
func (s *Store) RotateWebhookSecret(
	ctx context.Context, organizationID, id string,
) (row Webhook, secret string, err error) {
	secret, sealed, err := s.webhookSecret(ctx, id)
	if err != nil {
		return Webhook{}, "", err
	}
	row, err = s.db.Queries.RotateWebhookSecret(ctx, db.RotateWebhookSecretParams{
		OrganizationID: organizationID, ID: id, Secret: sealed, FormerUntil: time.Now().Add(webhookSecretOverlap),
	})
	return row, secret, postgres.Interpret(err, "webhook")
}

// DeleteWebhook deletes a webhook, if it exists. No more events are sent to it. Its deliveries are deleted later.
func (s *Store) DeleteWebhook(ctx context.Context, organizationID, id string) error {
	err := s.db.Queries.DeleteWebhook(ctx, db.DeleteWebhookParams{ID: id, OrganizationID: organizationID})
	return postgres.Interpret(err, "webhook")
}

// ListWebhooks lists an organization's webhooks in the order they were made, after the id `after`.
func (s *Store) ListWebhooks(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[Webhook], error) {
	total, err := s.db.Queries.CountWebhooks(ctx, organizationID)
	if err != nil {
		return postgres.Page[Webhook]{}, postgres.Interpret(err, "webhooks")
	}
	rows, err := s.db.Queries.ListWebhooks(ctx, db.ListWebhooksParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Webhook]{}, postgres.Interpret(err, "webhooks")
	}
	return postgres.PageOf(rows, size, total), nil
}
