package jobs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/octavo-docs/octavo/api/remote/webhooks"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/hooks"
)

// Webhooks sends events to the addresses of webhooks.
type Webhooks interface {
	Send(ctx context.Context, m webhooks.Message) webhooks.Result
}

// webhookTurn is the time that a webhook may occupy a worker while other webhooks are waiting.
const webhookTurn = 20 * time.Second

// These are the pauses before retries of webhooks (back-off): after the first failure, the second failure and so on.
// Each pause is extended by up to a tenth at random. So deliveries that failed at the same time are retried at
// different times. deliveryPauses are for a single delivery: if the attempt after the last pause fails, it is not
// retried. webhookPauses are for all deliveries of a webhook: the last pause is repeated until the webhook is disabled.
// webhookFailingKept (store/hooks/webhook_deliveries.go) decides when failures disable it.
//
// The first pauses of a delivery and of its webhook are equal, so a short outage of the receiver does not change the
// order of deliveries. Later pauses of the webhook are shorter. So if the receiver always refuses one delivery, other
// deliveries are sent before it is retried. While a receiver is down, there is only one attempt after each pause, even
// if many deliveries wait.
var (
	deliveryPauses = []time.Duration{
		5 * time.Second, 30 * time.Second, 10 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
	webhookPauses = []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
	}
)

// deliverWebhooks sends the due deliveries of a webhook in order, until all are sent or webhookTurn is over. If the
// process ends during an attempt, the attempt is not recorded. The receiver may then get the same body with the same id
// again.
func deliverWebhooks(ctx context.Context, d Deps, args schema.DeliverWebhooks) error {
	if d.Webhooks == nil {
		return GiveUp(&schema.Error{Code: schema.CodeUnavailable, Message: "the node that ran the job delivers no webhooks"})
	}
	for began := time.Now(); time.Since(began) < webhookTurn; {
		due, ok, err := d.Store.Hooks.NextDelivery(ctx, args.Webhook)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		payload, err := d.View.WebhookPayload(due.Event)
		if err != nil {
			return err
		}
		body, err := schema.EncodeJSON(payload)
		if err != nil {
			return err
		}
		sent := d.Webhooks.Send(ctx, webhooks.Message{ID: due.Event.ID, URL: due.Webhook.Url, Keys: due.Keys, Body: body})
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.Store.Hooks.RecordDelivery(ctx, args.Webhook, due.Delivery.ID, judge(due, sent)); err != nil {
			return err
		}
	}
	return d.Store.Hooks.RestWebhook(ctx, args.Webhook)
}

// judge returns what the store records about an attempt: its result, and when the delivery and the webhook may be tried
// again.
func judge(due hooks.DueDelivery, sent webhooks.Result) hooks.DeliveryResult {
	r := hooks.DeliveryResult{
		URL: due.Webhook.Url, At: sent.At, Took: sent.Took, StatusCode: sent.StatusCode, Reason: sent.Reason,
		Response: sent.Response,
	}
	if r.Reason == "" {
		return r
	}
	// Both pauses are extended by the same fraction. So equal pauses end at the same time, and the order of deliveries
	// stays.
	more := 1 + rand.Float64()/10
	after := func(pause time.Duration) time.Duration {
		return max(time.Duration(float64(pause)*more), sent.RetryAfter)
	}
	r.Hold = after(pauseOf(webhookPauses, int(due.Webhook.Failures)))
	if failed := int(due.Delivery.Attempts); failed < len(deliveryPauses) {
		pause := after(deliveryPauses[failed])
		r.Pause = &pause
	}
	switch {
	case sent.Gone:
		r.Pause, r.Disable = nil, sent.Reason
	case due.GivesUp:
		r.Pause = nil
		hours := int(time.Since(*due.Webhook.FailingSince).Hours())
		r.Disable = fmt.Sprintf("nothing was delivered for %d hours; the last failure: %s", hours, sent.Reason)
	}
	return r
}

// pauseOf returns the pause after a failure. `failures` is the number of failures before it.
func pauseOf(pauses []time.Duration, failures int) time.Duration {
	return pauses[min(failures, len(pauses)-1)]
}
