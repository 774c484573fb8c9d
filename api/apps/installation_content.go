package apps

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// contentInstallationOperations returns the operations that put an installation on spaces and sites, change it there,
// and remove it.
func contentInstallationOperations(h *installations) []frame.Operation {
	const one = "/integrations/{integrationName}/installations/{installationId}"
	read := access.Having(access.RightAccess, access.OnInstallation).OrInstallation(schema.ScopeInstallation).OrIntegration()
	change := access.Having(access.RightAdmin, access.OnInstallation).
		OrInstallation(schema.ScopeInstallation, "configuration", "externalIds").OrIntegration()
	admin := access.Having(access.RightAdmin, access.OnInstallation)
	var all []frame.Operation
	for _, on := range []struct {
		what, path, param                     string
		list, install, get, update, uninstall string
		handlers                              contentHandlers
	}{
		{
			"space", "/spaces", "spaceId", "listIntegrationInstallationSpaces", "installIntegrationOnSpace", "getIntegrationSpaceInstallation",
			"updateIntegrationSpaceInstallation", "uninstallIntegrationFromSpace", spaceHandlers(h),
		},
		{
			"site", "/sites", "siteId", "listIntegrationInstallationSites", "installIntegrationOnSite", "getIntegrationSiteInstallation",
			"updateIntegrationSiteInstallation", "uninstallIntegrationFromSite", siteHandlers(h),
		},
	} {
		each := one + on.path + "/{" + on.param + "}"
		all = append(all, []frame.Operation{
			{
				Method: http.MethodGet, Path: one + on.path, ID: on.list, Tag: "integrations",
				Doc:   "List the " + on.what + "s that an installation was put on. Only admins see the configurations.",
				Scope: read, Status: http.StatusOK, Handler: on.handlers.list,
			},
			{
				Method: http.MethodPost, Path: one + on.path, ID: on.install, Tag: "integrations",
				Doc:   "Put an installation on a " + on.what + ".",
				Scope: admin, Status: http.StatusCreated, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: on.handlers.install,
			},
			{
				Method: http.MethodGet, Path: each, ID: on.get, Tag: "integrations",
				Doc:   "Read the installation on a " + on.what + ". Only admins see its configuration.",
				Scope: read, Status: http.StatusOK, Handler: on.handlers.get,
			},
			{
				Method: http.MethodPatch, Path: each, ID: on.update, Tag: "integrations",
				Doc:   "Change the configuration or the external ids of the installation on a " + on.what + ".",
				Scope: change, Status: http.StatusOK, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: on.handlers.update,
			},
			{
				Method: http.MethodDelete, Path: each, ID: on.uninstall, Tag: "integrations",
				Doc:   "Take an installation from a " + on.what + ".",
				Scope: admin.OrAlreadyGone(), Status: http.StatusNoContent, Handler: on.handlers.uninstall,
			},
		}...)
	}
	return all
}

// contentHandlers has the functions of the operations on one kind of content.
type contentHandlers struct{ list, install, get, update, uninstall frame.Handler }

type contentInstallationChange struct {
	Configuration map[string]any `json:"configuration"`
	ExternalIDs   []string       `json:"externalIds" rules:"len=..5" each:"len=..255"`
}

type (
	onSpaceRequest struct {
		Space string `path:"spaceId"`
	}
	onSiteRequest struct {
		Site string `path:"siteId"`
	}
	installOnSpaceRequest struct {
		Body struct {
			Space *string `json:"space" rules:"required,len=1.."`
		} `body:"json"`
	}
	installOnSiteRequest struct {
		Body struct {
			Site *string `json:"siteId" rules:"required,len=1.."`
		} `body:"json"`
	}
	updateOnSpaceRequest struct {
		onSpaceRequest
		Body contentInstallationChange `body:"json"`
	}
	updateOnSiteRequest struct {
		onSiteRequest
		Body contentInstallationChange `body:"json"`
	}
)

func spaceHandlers(h *installations) contentHandlers {
	show := h.view.SpaceInstallation
	return contentHandlers{
		list: frame.Handle(func(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.IntegrationSpaceInstallation], error) {
			return listContent(ctx, h, c, true, *r, show)
		}),
		install: frame.Handle(func(ctx context.Context, c *access.Caller, r *installOnSpaceRequest) (schema.IntegrationSpaceInstallation, error) {
			row, err := h.store.InstallOn(ctx, *c.Installation, store.ContentRef{Space: *r.Body.Space})
			return show(row), err
		}),
		get: frame.Handle(func(ctx context.Context, c *access.Caller, r *onSpaceRequest) (schema.IntegrationSpaceInstallation, error) {
			row, err := h.store.ContentInstallation(ctx, *c.Installation, store.ContentRef{Space: r.Space})
			return show(row), err
		}),
		update: frame.Handle(func(ctx context.Context, c *access.Caller, r *updateOnSpaceRequest) (schema.IntegrationSpaceInstallation, error) {
			row, err := h.updateOn(ctx, c, store.ContentRef{Space: r.Space}, r.Body)
			return show(row), err
		}),
		uninstall: frame.Handle(func(ctx context.Context, c *access.Caller, r *onSpaceRequest) (frame.NoContent, error) {
			return frame.NoContent{}, h.store.UninstallFrom(ctx, *c.Installation, store.ContentRef{Space: r.Space})
		}),
	}
}

func siteHandlers(h *installations) contentHandlers {
	show := h.view.SiteInstallation
	return contentHandlers{
		list: frame.Handle(func(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.IntegrationSiteInstallation], error) {
			return listContent(ctx, h, c, false, *r, show)
		}),
		install: frame.Handle(func(ctx context.Context, c *access.Caller, r *installOnSiteRequest) (schema.IntegrationSiteInstallation, error) {
			row, err := h.store.InstallOn(ctx, *c.Installation, store.ContentRef{Site: *r.Body.Site})
			return show(row), err
		}),
		get: frame.Handle(func(ctx context.Context, c *access.Caller, r *onSiteRequest) (schema.IntegrationSiteInstallation, error) {
			row, err := h.store.ContentInstallation(ctx, *c.Installation, store.ContentRef{Site: r.Site})
			return show(row), err
		}),
		update: frame.Handle(func(ctx context.Context, c *access.Caller, r *updateOnSiteRequest) (schema.IntegrationSiteInstallation, error) {
			row, err := h.updateOn(ctx, c, store.ContentRef{Site: r.Site}, r.Body)
			return show(row), err
		}),
		uninstall: frame.Handle(func(ctx context.Context, c *access.Caller, r *onSiteRequest) (frame.NoContent, error) {
			return frame.NoContent{}, h.store.UninstallFrom(ctx, *c.Installation, store.ContentRef{Site: r.Site})
		}),
	}
}

func listContent[R any](
	ctx context.Context, h *installations, c *access.Caller, spaces bool, page schema.PageRequest, show func(store.ContentInstallation) R,
) (schema.List[R], error) {
	what := "sites"
	if spaces {
		what = "spaces"
	}
	return frame.ListPage(ctx, what+" of installation "+c.Installation.Row.ID, page,
		func(after string, size int) (postgres.Page[store.ContentInstallation], error) {
			return h.store.ListContentInstallations(ctx, *c.Installation, spaces, after, size)
		},
		show, func(row store.ContentInstallation) string {
			return schema.Or(row.Row.SpaceID, schema.Or(row.Row.SiteID, ""))
		})
}

func (h *installations) updateOn(ctx context.Context, c *access.Caller, ref store.ContentRef, change contentInstallationChange) (store.ContentInstallation, error) {
	asked := c.Installation.Manifest.Configurations.Of(ref.Level())
	if details := asked.Check("configuration", change.Configuration); len(details) > 0 {
		return store.ContentInstallation{}, schema.InvalidAll(details)
	}
	return h.store.UpdateContentInstallation(ctx, *c.Installation, ref, change.Configuration, change.ExternalIDs)
}
