package hooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// WebhookEvent is a row of the table webhook_events.
type WebhookEvent = db.WebhookEvent

// WebhookDelivery is a delivery with its event.
type WebhookDelivery = db.WebhookDeliveryRow

const (
	// webhookEventKept is the time for which events and their deliveries can be read and sent again.
	webhookEventKept = 14 * 24 * time.Hour
	// webhookEventBatch is the largest number of events that one statement deletes. It is small, because each event has
	// a delivery for each webhook.
	webhookEventBatch = 200
	// webhookFailingKept is the longest time for which a webhook may fail without a success. Then it is disabled.
	webhookFailingKept = 3 * 24 * time.Hour
	// webhookDeliveryAge is the longest time for which a delivery may wait. Then it fails.
	webhookDeliveryAge = 3 * 24 * time.Hour
	// webhookLease is the time after which another job is enqueued for a webhook whose job did not finish.
	webhookLease = 10 * time.Minute
	// mostByHand is the largest number of a webhook's waiting deliveries that users have requested.
	mostByHand = 100
	// webhookAskBatch is the largest number of new deliveries, and of due webhooks, that one statement reads.
	webhookAskBatch = 1000
)

// WebhookDeliveryFilter narrows a list of deliveries. A nil field does not filter.
type WebhookDeliveryFilter struct {
	State *string
	Type  *string
}

// ListWebhookDeliveries lists the deliveries of a webhook, the newest first. `after` is the id of the previous page's
// last delivery, or "" for the first page.
func (s *Store) ListWebhookDeliveries(
	ctx context.Context, organizationID, webhookID string, f WebhookDeliveryFilter, after string, size int,
) (postgres.Page[WebhookDelivery], error) {
	if _, err := s.Webhook(ctx, organizationID, webhookID); err != nil {
		return postgres.Page[WebhookDelivery]{}, err
	}
	if after == "" {
		after = postgres.LastID
	}
	total, err := s.db.Planned.CountWebhookDeliveries(ctx, db.CountWebhookDeliveriesParams{
		WebhookID: webhookID, State: f.State, Type: f.Type,
	})
	if err != nil {
		return postgres.Page[WebhookDelivery]{}, postgres.Interpret(err, "deliveries")
	}
	rows, err := s.db.Planned.ListWebhookDeliveries(ctx, db.ListWebhookDeliveriesParams{
		WebhookID: webhookID, Before: after, State: f.State, Type: f.Type, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[WebhookDelivery]{}, postgres.Interpret(err, "deliveries")
	}
	deliveries := make([]WebhookDelivery, len(rows))
	for i, row := range rows {
		deliveries[i] = WebhookDelivery(row)
	}
	return postgres.PageOf(deliveries, size, total), nil
}

// WebhookDelivery reads a delivery of an organization's webhook.
func (s *Store) WebhookDelivery(ctx context.Context, organizationID, webhookID, id string) (WebhookDelivery, error) {
	if _, err := s.Webhook(ctx, organizationID, webhookID); err != nil {
		return WebhookDelivery{}, err
	}
	return webhookDelivery(ctx, s.db.Queries, webhookID, id)
}

func webhookDelivery(ctx context.Context, q *db.Queries, webhookID, id string) (WebhookDelivery, error) {
	row, err := q.WebhookDelivery(ctx, db.WebhookDeliveryParams{WebhookID: webhookID, ID: id})
	return row, postgres.Interpret(err, "delivery")
}

// PingWebhook creates an event that only this webhook receives.
func (s *Store) PingWebhook(ctx context.Context, organizationID, webhookID, userID string) (WebhookDelivery, error) {
	return s.deliverByHand(ctx, organizationID, webhookID, func(q *db.Queries) (string, error) {
		return q.InsertPing(ctx, db.InsertPingParams{
			Type: schema.WebhookPing, Actor: &userID, ID: webhookID, OrganizationID: organizationID,
		})
	})
}

// Redeliver creates a new delivery of a delivery's event. If the old delivery is still pending, Redeliver creates no
// delivery, and the pending delivery is sent next.
func (s *Store) Redeliver(ctx context.Context, organizationID, webhookID, id string) (WebhookDelivery, error) {
	return s.deliverByHand(ctx, organizationID, webhookID, func(q *db.Queries) (string, error) {
		delivery, err := webhookDelivery(ctx, q, webhookID, id)
		if err != nil {
			return "", err
		}
		if delivery.WebhookDelivery.State == schema.DeliveryPending {
			return id, q.HastenDelivery(ctx, id)
		}
		return q.RedeliverEvent(ctx, id)
	})
}

// deliverByHand calls `deliver` for a delivery that a user has requested. It returns an error if the webhook is not
// active. It also ends the webhook's pause after failures.
func (s *Store) deliverByHand(
	ctx context.Context, organizationID, webhookID string, deliver func(*db.Queries) (id string, err error),
) (delivery WebhookDelivery, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		webhook, err := q.WebhookByID(ctx, db.WebhookByIDParams{ID: webhookID, OrganizationID: organizationID})
		if err != nil {
			return postgres.Interpret(err, "webhook")
		}
		if !webhook.Active {
			return schema.Conflict("the webhook is not active")
		}
		waiting, err := q.CountDeliveriesByHand(ctx, db.CountDeliveriesByHandParams{
			WebhookID: webhookID, Bound: mostByHand,
		})
		if err != nil {
			return postgres.Interpret(err, "deliveries")
		}
		if waiting >= mostByHand {
			return schema.TooManyRequests(
				fmt.Sprintf("%d deliveries that were asked for wait already", waiting), time.Minute)
		}
		id, err := deliver(q)
		if err != nil {
			return postgres.Interpret(err, "delivery")
		}
		if err := q.LiftWebhookHold(ctx, webhookID); err != nil {
			return postgres.Interpret(err, "webhook")
		}
		delivery, err = webhookDelivery(ctx, q, webhookID, id)
		return err
	})
	return delivery, err
}

// AskForDeliveries enqueues a job for each webhook that has new deliveries, or whose time for the next job has come.
func (s *Store) AskForDeliveries(ctx context.Context) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		fresh, err := q.AskAboutNewDeliveries(ctx, webhookAskBatch)
		if err != nil {
			return postgres.Interpret(err, "deliveries")
		}
		due, err := q.AskAboutDueWebhooks(ctx, db.AskAboutDueWebhooksParams{
			Size: webhookAskBatch, Lease: postgres.Interval(webhookLease),
		})
		if err != nil {
			return postgres.Interpret(err, "webhooks")
		}
		for _, webhook := range inOrder(fresh, due) {
			if err := postgres.Enqueue(ctx, q, webhook); err != nil {
				return err
			}
		}
		return nil
	})
}

// inOrder merges two lists of webhooks that are sorted by id. The result is sorted too, because all transactions must
// enqueue jobs in the same order (see Enqueue).
func inOrder(fresh []db.AskAboutNewDeliveriesRow, due []db.AskAboutDueWebhooksRow) (jobs []schema.DeliverWebhooks) {
	for len(fresh) > 0 || len(due) > 0 {
		var next schema.DeliverWebhooks
		if len(due) == 0 || len(fresh) > 0 && fresh[0].ID <= due[0].ID {
			next = schema.DeliverWebhooks{Organization: fresh[0].OrganizationID, Webhook: fresh[0].ID}
		} else {
			next = schema.DeliverWebhooks{Organization: due[0].OrganizationID, Webhook: due[0].ID}
		}
		if len(fresh) > 0 && fresh[0].ID == next.Webhook {
			fresh = fresh[1:]
		}
		if len(due) > 0 && due[0].ID == next.Webhook {
			due = due[1:]
		}
		jobs = append(jobs, next)
	}
	return jobs
}

// DueDelivery is the next delivery to send to a webhook.
type DueDelivery struct {
	Webhook  Webhook
	Delivery db.WebhookDelivery
	Event    db.WebhookEvent
	// Keys are the secrets with which the request is signed, the newest first.
	Keys [][]byte
	// GivesUp is true if the webhook has been failing for so long that the next failure disables it.
	GivesUp bool
}

// NextDelivery returns the next delivery that must be sent now. `ok` is false if there is no such delivery.
func (s *Store) NextDelivery(ctx context.Context, webhookID string) (due DueDelivery, ok bool, err error) {
	row, err := s.db.Queries.NextWebhookDelivery(ctx, db.NextWebhookDeliveryParams{
		WebhookID: webhookID, Patience: postgres.Interval(webhookFailingKept),
	})
	if err = postgres.Interpret(err, "delivery"); schema.IsCode(err, schema.CodeNotFound) {
		return DueDelivery{}, false, nil
	} else if err != nil {
		return DueDelivery{}, false, err
	}
	due = DueDelivery{
		Webhook: row.Webhook, Delivery: row.WebhookDelivery, Event: row.WebhookEvent, GivesUp: row.GivesUp,
	}
	sealed := [][]byte{row.Webhook.Secret}
	if row.Webhook.FormerUntil != nil && row.Webhook.FormerUntil.After(time.Now()) {
		sealed = append(sealed, row.Webhook.FormerSecret)
	}
	for _, secret := range sealed {
		key, err := s.db.Unseal(ctx, "webhook "+webhookID, secret)
		if err != nil {
			return DueDelivery{}, false, err
		}
		due.Keys = append(due.Keys, key)
	}
	return due, true, nil
}

// DeliveryResult is the result of an attempt to send a delivery. It also says what happens next.
type DeliveryResult struct {
	// URL is the address of the attempt. If the webhook has another address now, the result says nothing about the
	// new address.
	URL        string
	At         time.Time
	Took       time.Duration
	StatusCode *int
	// Reason is the reason for a failure. It is "" for a success.
	Reason   string
	Response string
	// Pause is the time until a failed delivery is sent again; nil if it will not be sent again. Postgres's clock
	// measures the pause, because a node's clock may be wrong.
	Pause *time.Duration
	// Hold is the pause of the webhook after a failure.
	Hold time.Duration
	// Disable is the reason for making the webhook inactive. If it is "", the webhook stays active.
	Disable string
}

// RecordDelivery stores the result of an attempt. If the attempt failed and the webhook has another address now, the
// delivery is sent again at once.
func (s *Store) RecordDelivery(ctx context.Context, webhookID, id string, r DeliveryResult) error {
	params := db.RecordDeliveryParams{
		ID: id, State: schema.DeliveryDelivered, AttemptedAt: r.At,
		DurationMs: int32(min(r.Took.Milliseconds(), 1<<30)), // min limits the value to an int32
		Reason:     postgres.UnlessEmpty(r.Reason), Response: postgres.UnlessEmpty(r.Response),
		Pause: postgres.IntervalOf(r.Pause),
	}
	if r.StatusCode != nil {
		code := int32(*r.StatusCode) // a status code has three digits
		params.StatusCode = &code
	}
	if r.Reason != "" {
		params.State = schema.DeliveryFailed
		if r.Pause != nil {
			params.State = schema.DeliveryPending
		}
	}
	disabled := false
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if err := q.RecordDelivery(ctx, params); err != nil {
			return postgres.Interpret(err, "delivery")
		}
		if r.Reason == "" {
			return postgres.Interpret(q.RecordWebhookSuccess(ctx, db.RecordWebhookSuccessParams{
				ID: webhookID, Url: r.URL,
			}), "webhook")
		}
		counted, err := q.RecordWebhookFailure(ctx, db.RecordWebhookFailureParams{
			ID: webhookID, Hold: postgres.Interval(r.Hold), Url: r.URL,
		})
		switch {
		case err != nil:
			return postgres.Interpret(err, "webhook")
		case counted == 0:
			return postgres.Interpret(q.RetryDelivery(ctx, id), "delivery")
		case r.Disable == "":
			return nil
		}
		disabled = true
		return postgres.Interpret(q.DisableWebhook(ctx, db.DisableWebhookParams{
			ID: webhookID, Reason: r.Disable,
		}), "webhook")
	})
	if err != nil || !disabled {
		return err
	}
	return s.failDeliveries(ctx, webhookID, "the webhook was disabled: "+r.Disable, nil)
}

// RestWebhook sets the time of the webhook's next job. It marks deliveries that have waited too long as failed.
func (s *Store) RestWebhook(ctx context.Context, webhookID string) error {
	waited := webhookDeliveryAge
	err := s.failDeliveries(ctx, webhookID, "it could not be delivered within three days", &waited)
	if err != nil {
		return err
	}
	return postgres.Interpret(s.db.Queries.RestWebhook(ctx, webhookID), "webhook")
}

// failDeliveries marks deliveries as failed if they have waited for at least the time `waited`. If `waited` is nil, it
// marks all waiting deliveries. Each statement handles a limited number, because the deliveries of several days may be
// waiting.
func (s *Store) failDeliveries(ctx context.Context, webhookID, reason string, waited *time.Duration) error {
	err := postgres.PurgeAll([]func() (int64, error){func() (int64, error) {
		return s.db.Queries.FailDeliveries(ctx, db.FailDeliveriesParams{
			WebhookID: webhookID, Reason: reason, Waited: postgres.IntervalOf(waited), Size: postgres.PurgeRows,
		})
	}})
	return postgres.Interpret(err, "deliveries")
}

// DeleteOldWebhookEvents deletes events that are two weeks old, with their deliveries, up to a limited number. `more`
// is true if more such events may be left.
func (s *Store) DeleteOldWebhookEvents(ctx context.Context) (more bool, err error) {
	n, err := s.db.Queries.DeleteOldWebhookEvents(ctx, db.DeleteOldWebhookEventsParams{
		Kept: postgres.Interval(webhookEventKept), Size: webhookEventBatch,
	})
	return n == webhookEventBatch, postgres.Interpret(err, "webhook events")
}
