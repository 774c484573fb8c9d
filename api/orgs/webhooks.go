package orgs

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/postgres"
)

// webhooks has the operations on the addresses that receive an organization's events.
type webhooks struct {
	store *store.Store
	view  view.Presenter
}

func webhookOperations(h *webhooks) []frame.Operation {
	const (
		many       = "/orgs/{organizationId}/webhooks"
		one        = many + "/{webhookId}"
		deliveries = one + "/deliveries"
	)
	scope := access.Having(access.RightAdmin, access.OnOrganization)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listWebhooks", Tag: "webhooks",
			Doc: "List the webhooks of an organization.", Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createWebhook", Tag: "webhooks",
			Doc:   "Create a webhook: an address that hears of what happens in the organization. The answer has its secret, which is not shown again.",
			Scope: scope, Status: http.StatusCreated, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getWebhook", Tag: "webhooks", Doc: "Read a webhook.",
			Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateWebhook", Tag: "webhooks",
			Doc: "Change a webhook. A webhook that becomes active again, or that gets another address, is sent what " +
				"waits for it at once.",
			Scope: scope, Status: http.StatusOK, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteWebhook", Tag: "webhooks", Doc: "Delete a webhook. Nothing more is sent to it.",
			Scope: scope, Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
		{
			Method: http.MethodPost, Path: one + "/rotate-secret", ID: "rotateWebhookSecret", Tag: "webhooks",
			Doc:   "Make another secret for a webhook. For a day, what is sent is signed with the former one as well.",
			Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.rotate),
		},
		{
			Method: http.MethodPost, Path: one + "/ping", ID: "pingWebhook", Tag: "webhooks",
			Doc:   "Send a webhook.ping to a webhook, to try it. The answer is the delivery, which tells later what came of it.",
			Scope: scope, Status: http.StatusCreated, Handler: frame.Handle(h.ping),
		},
		{
			Method: http.MethodGet, Path: deliveries, ID: "listWebhookDeliveries", Tag: "webhooks",
			Doc:   "List what was sent to a webhook, and what waits, the newest first. Deliveries are kept for two weeks.",
			Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.deliveries),
		},
		{
			Method: http.MethodGet, Path: deliveries + "/{deliveryId}", ID: "getWebhookDelivery", Tag: "webhooks",
			Doc: "Read a delivery.", Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.delivery),
		},
		{
			Method: http.MethodPost, Path: deliveries + "/{deliveryId}/redeliver", ID: "redeliverWebhookDelivery", Tag: "webhooks",
			Doc:   "Send an event to a webhook once more, with the same webhook-id. The answer is a new delivery, or the same if it still waits: then it is sent now.",
			Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.redeliver),
		},
	}
}

func (h *webhooks) list(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.Webhook], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, "webhooks "+organization, *r,
		func(after string, size int) (postgres.Page[hooks.Webhook], error) {
			return h.store.Hooks.ListWebhooks(ctx, organization, after, size)
		},
		h.view.Webhook, func(row hooks.Webhook) string { return row.ID })
}

type createWebhookRequest struct {
	Body struct {
		URL         *string  `json:"url" rules:"required,len=..2048,pattern=reachableURL"`
		Description *string  `json:"description" rules:"len=..1000"`
		Events      []string `json:"events" rules:"len=..100" each:"enum=webhookEvent"`
		Active      *bool    `json:"active"`
	} `body:"json"`
}

func (h *webhooks) create(ctx context.Context, c *access.Caller, r *createWebhookRequest) (schema.Webhook, error) {
	row, secret, err := h.store.Hooks.CreateWebhook(ctx, hooks.NewWebhook{
		OrganizationID: c.Organization.Organization.ID, URL: *r.Body.URL,
		Description: schema.Or(r.Body.Description, ""), Events: r.Body.Events, Active: schema.Or(r.Body.Active, true),
	})
	return h.withSecret(row, secret, err)
}

func (h *webhooks) withSecret(row hooks.Webhook, secret string, err error) (schema.Webhook, error) {
	if err != nil {
		return schema.Webhook{}, err
	}
	webhook := h.view.Webhook(row)
	webhook.Secret = secret
	return webhook, nil
}

type webhookRequest struct {
	ID string `path:"webhookId"`
}

func (h *webhooks) get(ctx context.Context, c *access.Caller, r *webhookRequest) (schema.Webhook, error) {
	row, err := h.store.Hooks.Webhook(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.Webhook{}, err
	}
	return h.view.Webhook(row), nil
}

type updateWebhookRequest struct {
	webhookRequest
	Body struct {
		URL         *string              `json:"url" rules:"len=..2048,pattern=reachableURL"`
		Description schema.Opt[string]   `json:"description" rules:"len=..1000"`
		Events      schema.Opt[[]string] `json:"events" rules:"len=..100" each:"enum=webhookEvent"`
		Active      *bool                `json:"active"`
	} `body:"json"`
}

func (h *webhooks) update(ctx context.Context, c *access.Caller, r *updateWebhookRequest) (schema.Webhook, error) {
	change := hooks.WebhookChange{URL: r.Body.URL, Active: r.Body.Active}
	if r.Body.Description.Set {
		text := schema.Or(r.Body.Description.Value, "")
		change.Description = &text
	}
	if r.Body.Events.Set {
		change.Events = append([]string{}, schema.Or(r.Body.Events.Value, nil)...)
	}
	row, err := h.store.Hooks.UpdateWebhook(ctx, c.Organization.Organization.ID, r.ID, change)
	if err != nil {
		return schema.Webhook{}, err
	}
	return h.view.Webhook(row), nil
}

func (h *webhooks) delete(ctx context.Context, c *access.Caller, r *webhookRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Hooks.DeleteWebhook(ctx, c.Organization.Organization.ID, r.ID)
}

func (h *webhooks) rotate(ctx context.Context, c *access.Caller, r *webhookRequest) (schema.Webhook, error) {
	return h.withSecret(h.store.Hooks.RotateWebhookSecret(ctx, c.Organization.Organization.ID, r.ID))
}

func (h *webhooks) ping(ctx context.Context, c *access.Caller, r *webhookRequest) (schema.WebhookDelivery, error) {
	row, err := h.store.Hooks.PingWebhook(ctx, c.Organization.Organization.ID, r.ID, c.Principal.UserID)
	if err != nil {
		return schema.WebhookDelivery{}, err
	}
	return h.view.WebhookDelivery(row)
}

type listWebhookDeliveriesRequest struct {
	webhookRequest
	schema.PageRequest
	State *string `query:"state" rules:"enum=webhookDeliveryState"`
	Type  *string `query:"type" rules:"len=..100"`
}

func (h *webhooks) deliveries(
	ctx context.Context, c *access.Caller, r *listWebhookDeliveriesRequest,
) (schema.List[schema.WebhookDelivery], error) {
	name := fmt.Sprintf("webhook deliveries %s %q %q", r.ID, schema.Or(r.State, ""), schema.Or(r.Type, ""))
	filter := hooks.WebhookDeliveryFilter{State: r.State, Type: r.Type}
	return frame.ListMadePage(ctx, name, r.PageRequest,
		func(after string, size int) (postgres.Page[hooks.WebhookDelivery], error) {
			return h.store.Hooks.ListWebhookDeliveries(ctx, c.Organization.Organization.ID, r.ID, filter, after, size)
		},
		h.view.WebhookDelivery, func(row hooks.WebhookDelivery) string { return row.WebhookDelivery.ID })
}

type webhookDeliveryRequest struct {
	webhookRequest
	DeliveryID string `path:"deliveryId"`
}

func (h *webhooks) delivery(ctx context.Context, c *access.Caller, r *webhookDeliveryRequest) (schema.WebhookDelivery, error) {
	row, err := h.store.Hooks.WebhookDelivery(ctx, c.Organization.Organization.ID, r.ID, r.DeliveryID)
	if err != nil {
		return schema.WebhookDelivery{}, err
	}
	return h.view.WebhookDelivery(row)
}

func (h *webhooks) redeliver(ctx context.Context, c *access.Caller, r *webhookDeliveryRequest) (schema.WebhookDelivery, error) {
	row, err := h.store.Hooks.Redeliver(ctx, c.Organization.Organization.ID, r.ID, r.DeliveryID)
	if err != nil {
		return schema.WebhookDelivery{}, err
	}
	return h.view.WebhookDelivery(row)
}
