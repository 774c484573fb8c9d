package view

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/hooks"
)

func (v Presenter) Webhook(row hooks.Webhook) schema.Webhook {
	w := schema.Webhook{
		Object: "webhook", ID: row.ID, URL: row.Url, Description: row.Description, Events: row.Events, Active: row.Active,
		Status: schema.WebhookActive, DisabledAt: schema.UTC(row.DisabledAt), DisabledReason: schema.Or(row.DisabledReason, ""),
		Failures: row.Failures, FailingSince: schema.UTC(row.FailingSince), CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URLs: schema.LocationURLs{Location: v.API("orgs", row.OrganizationID, "webhooks", row.ID)},
	}
	if !row.Active {
		w.Status = schema.WebhookPaused
		if row.DisabledAt != nil {
			w.Status = schema.WebhookDisabled
		}
	}
	now := time.Now()
	if row.HeldUntil != nil && row.HeldUntil.After(now) {
		w.HeldUntil = schema.UTC(row.HeldUntil)
	}
	if row.FormerUntil != nil && row.FormerUntil.After(now) {
		w.FormerSecretUntil = schema.UTC(row.FormerUntil)
	}
	return w
}

// WebhookPayload returns the form in which webhooks receive an event.
func (v Presenter) WebhookPayload(row hooks.WebhookEvent) (schema.WebhookPayload, error) {
	data, err := schema.DecodeJSON[map[string]any](row.Data)
	if err != nil {
		return schema.WebhookPayload{}, err
	}
	if path, ok := schema.WebhookLocation(row.Type, data); ok {
		data["urls"] = map[string]any{"location": v.API(path...)}
	}
	payload := schema.WebhookPayload{
		ID: row.ID, Type: row.Type, CreatedAt: row.CreatedAt.UTC(), Organization: row.OrganizationID, Data: data,
	}
	if row.Actor != nil {
		payload.Actor = &schema.WebhookActor{Object: "user", ID: *row.Actor}
	}
	return payload, nil
}

func (v Presenter) WebhookDelivery(row hooks.WebhookDelivery) (schema.WebhookDelivery, error) {
	payload, err := v.WebhookPayload(row.WebhookEvent)
	if err != nil {
		return schema.WebhookDelivery{}, err
	}
	d := row.WebhookDelivery
	delivery := schema.WebhookDelivery{
		Object: "webhook-delivery", ID: d.ID, Webhook: d.WebhookID, Event: payload, State: d.State, Attempts: d.Attempts,
		Redelivers: schema.Or(d.Redelivers, ""), NextAttemptAt: schema.UTC(d.NextAttemptAt), CreatedAt: d.CreatedAt.UTC(),
		FinishedAt: schema.UTC(d.SettledAt), Reason: schema.Or(d.Reason, ""),
		URLs: schema.LocationURLs{Location: v.API("orgs", payload.Organization, "webhooks", d.WebhookID, "deliveries", d.ID)},
	}
	if d.AttemptedAt != nil {
		delivery.LastAttempt = &schema.WebhookAttempt{
			At: d.AttemptedAt.UTC(), StatusCode: d.StatusCode, Duration: schema.Or(d.DurationMs, 0), Response: schema.Or(d.Response, ""),
		}
	}
	return delivery, nil
}
