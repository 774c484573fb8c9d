package apps

import (
	"context"
	"net/http"
	"strconv"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// development has the operations for people who develop an integration: on its versions, its events and its development
// mode.
type development struct {
	store *store.Store
}

func developmentOperations(h *development) []frame.Operation {
	const one = "/integrations/{integrationName}"
	publisher := access.Having(access.RightAdmin, access.OnIntegration)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: one + "/versions", ID: "listIntegrationVersions", Tag: "integrations",
			Doc:   "List what was published under a name, the newest version first, with the hash of each script.",
			Scope: publisher, Status: http.StatusOK, Handler: frame.Handle(h.versions),
		},
		{
			Method: http.MethodGet, Path: one + "/versions/{version}", ID: "getIntegrationVersion", Tag: "integrations",
			Doc:   "Read what was published as a version. Scripts of the newest 20 versions are kept.",
			Scope: publisher, Status: http.StatusOK, Handler: frame.Handle(h.version),
		},
		{
			Method: http.MethodGet, Path: one + "/events", ID: "listIntegrationEvents", Tag: "integrations",
			Doc:   "List what happened to the installations of an integration, the newest first. The last 1000 events are kept.",
			Scope: publisher.OrIntegration(), Status: http.StatusOK, Handler: frame.Handle(h.events),
		},
		{
			Method: http.MethodGet, Path: one + "/events/{eventId}", ID: "getIntegrationEvent", Tag: "integrations",
			Doc:   "Read an event with the log of what became of it.",
			Scope: publisher.OrIntegration(), Status: http.StatusOK, Handler: frame.Handle(h.event),
		},
		{
			Method: http.MethodPut, Path: one + "/dev", ID: "setIntegrationDevelopmentMode", Tag: "integrations",
			Doc:   "Send the events of an integration to a tunnel: those of the organization that published it or, with all, those of every installation. Secrets are not sent.",
			Scope: publisher, Status: http.StatusNoContent, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.start),
		},
		{
			Method: http.MethodDelete, Path: one + "/dev", ID: "disableIntegrationDevelopmentMode", Tag: "integrations",
			Doc:   "Send the events of an integration nowhere any more.",
			Scope: publisher.OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.end),
		},
	}
}

func (h *development) versions(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.IntegrationVersion], error) {
	return frame.ListPage(ctx, "versions of integration "+c.Integration.Name, *r,
		func(before string, size int) (postgres.Page[store.IntegrationVersion], error) {
			return h.store.ListIntegrationVersions(ctx, c.Integration.Name, before, size)
		},
		view.IntegrationVersion, func(row store.IntegrationVersion) string { return strconv.Itoa(int(row.Version)) })
}

func (h *development) version(ctx context.Context, c *access.Caller, r *struct {
	Version string `path:"version"`
}) (schema.IntegrationScriptVersion, error) {
	row, err := h.store.IntegrationVersion(ctx, c.Integration.Name, r.Version)
	return view.IntegrationScriptVersion(row), err
}

func (h *development) events(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.IntegrationEvent], error) {
	return frame.ListMadePage(ctx, "events of integration "+c.Integration.Name, *r,
		func(before string, size int) (postgres.Page[store.IntegrationEvent], error) {
			return h.store.ListIntegrationEvents(ctx, c.Integration.Name, before, size)
		},
		view.IntegrationEvent, func(row store.IntegrationEvent) string { return row.ID })
}

func (h *development) event(ctx context.Context, c *access.Caller, r *struct {
	ID string `path:"eventId"`
}) (schema.TracedIntegrationEvent, error) {
	row, err := h.store.IntegrationEvent(ctx, c.Integration.Name, r.ID)
	if err != nil {
		return schema.TracedIntegrationEvent{}, err
	}
	return view.TracedIntegrationEvent(row)
}

type developmentRequest struct {
	Body struct {
		TunnelURL *string `json:"tunnelUrl" rules:"required,len=1..256,pattern=reachableURL"`
		All       *bool   `json:"all"`
	} `body:"json"`
}

func (h *development) start(ctx context.Context, c *access.Caller, r *developmentRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.SetIntegrationTunnel(ctx, c.Integration.Name, *r.Body.TunnelURL, schema.Or(r.Body.All, false))
}

func (h *development) end(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.SetIntegrationTunnel(ctx, c.Integration.Name, "", false)
}
