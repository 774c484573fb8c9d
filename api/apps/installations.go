package apps

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// installations has the operations on integrations in organizations.
type installations struct {
	store *store.Store
	view  view.Presenter
}

func installationOperations(h *installations) []frame.Operation {
	const all = "/integrations/{integrationName}/installations"
	const one = all + "/{installationId}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: all, ID: "listIntegrationInstallations", Tag: "integrations",
			Doc:   "List the installations of an integration, as an admin of the organization that published it.",
			Scope: access.Having(access.RightAdmin, access.OnIntegration).OrIntegration(), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: all, ID: "installIntegration", Tag: "integrations",
			Doc:   "Install an integration in an organization, as its admin. That allows the scopes that the integration asks for now.",
			Scope: access.HavingNamed(access.RightAdmin, access.OrganizationInBody), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.install),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getIntegrationInstallationById", Tag: "integrations",
			Doc:   "Read an installation, as a member of its organization. Only admins see its configuration.",
			Scope: access.Having(access.RightAccess, access.OnInstallation).OrInstallation(schema.ScopeInstallation).OrIntegration(), Status: http.StatusOK,
			Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateIntegrationInstallation", Tag: "integrations",
			Doc: "Change an installation's configuration or external ids. Admins also choose what it is for, " +
				"change the scopes that they allow, and pause it.",
			Scope: access.Having(access.RightAdmin, access.OnInstallation).
				OrInstallation(schema.ScopeInstallation, "configuration", "externalIds").OrIntegration(),
			Status:    http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "uninstallIntegration", Tag: "integrations",
			Doc:   "Uninstall an integration from an organization, which ends its tokens there.",
			Scope: access.Having(access.RightAdmin, access.OnInstallation).OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.uninstall),
		},
		{
			Method: http.MethodPost, Path: one + "/tokens", ID: "createIntegrationInstallationToken", Tag: "integrations",
			Doc:   "Make a token of an installation, as an admin of the organization that published the integration. It is good for an hour, for what the scopes of the installation say.",
			Scope: access.Having(access.RightAdmin, access.OnIntegration).OrIntegration(), Status: http.StatusOK, Handler: frame.Handle(h.token),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/installations", ID: "listOrganizationInstallations", Tag: "integrations",
			Doc:   "List what is installed in an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listInstalled),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/integrations/{integrationName}/installation_status",
			ID: "getOrganizationIntegrationStatus", Tag: "integrations", Doc: "Read the state of an integration in an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.state),
		},
	}
}

type listInstallationsRequest struct {
	schema.PageRequest
	ExternalID *string `query:"externalId"`
}

func (h *installations) list(
	ctx context.Context, c *access.Caller, r *listInstallationsRequest,
) (schema.List[schema.IntegrationInstallation], error) {
	name := c.Integration.Name
	return frame.ListPage(ctx, fmt.Sprintf("installations of %s %q", name, schema.Or(r.ExternalID, "")), r.PageRequest,
		func(after string, size int) (postgres.Page[store.Installation], error) {
			return h.store.ListInstallations(ctx, *c.Integration, r.ExternalID, after, size)
		},
		func(row store.Installation) schema.IntegrationInstallation {
			// The publisher's admins may see the configuration, because the integration's script gets it.
			row.Role = schema.RoleAdmin
			return h.view.Installation(row)
		},
		func(row store.Installation) string { return row.Row.ID })
}

type installIntegrationRequest struct {
	Name string `path:"integrationName"`
	Body struct {
		Organization *string `json:"organization" rules:"required,len=1.."`
	} `body:"json"`
}

func (h *installations) install(
	ctx context.Context, c *access.Caller, r *installIntegrationRequest,
) (schema.IntegrationInstallation, error) {
	// A private integration can be installed only in its own organization.
	integration, err := h.store.Integration(ctx, c.Principal.UserID, r.Name)
	if err != nil {
		return schema.IntegrationInstallation{}, err
	}
	target := *c.Organization
	if *integration.Manifest.Visibility == "private" && integration.Owner.Organization.ID != target.Organization.ID {
		if err := c.KeepTo(integration.Owner.Organization.ID, "integration"); err != nil {
			return schema.IntegrationInstallation{}, err
		}
		return schema.IntegrationInstallation{}, schema.Forbidden("a private integration can be installed in its own organization only")
	}
	row, err := h.store.InstallIntegration(ctx, integration, target)
	if err != nil {
		return schema.IntegrationInstallation{}, err
	}
	return h.view.Installation(row), nil
}

func (h *installations) get(_ context.Context, c *access.Caller, _ *struct{}) (schema.IntegrationInstallation, error) {
	return h.view.Installation(*c.Installation), nil
}

type updateInstallationRequest struct {
	Body struct {
		Configuration  map[string]any `json:"configuration"`
		ExternalIDs    []string       `json:"externalIds" rules:"len=..5" each:"len=..255"`
		SpaceSelection *string        `json:"space_selection" rules:"enum=selection"`
		SiteSelection  *string        `json:"site_selection" rules:"enum=selection"`
		Scopes         []string       `json:"scopes" rules:"len=..100" each:"enum=integrationScope"`
		Status         *string        `json:"status" rules:"enum=installationState"`
	} `body:"json"`
}

func (h *installations) update(ctx context.Context, c *access.Caller, r *updateInstallationRequest) (schema.IntegrationInstallation, error) {
	b, row := &r.Body, c.Installation
	details := row.Manifest.Configurations.Of("account").Check("configuration", b.Configuration)
	if !row.AllowsScopes(b.Scopes) {
		details = append(details, schema.Detail{Field: "scopes", Problem: "must be scopes that the integration asks for", Allowed: row.Manifest.Scopes})
	}
	if len(details) > 0 {
		return schema.IntegrationInstallation{}, schema.InvalidAll(details)
	}
	change := store.InstallationChange{
		Configuration: b.Configuration, ExternalIDs: b.ExternalIDs, Scopes: b.Scopes, SpaceSelection: b.SpaceSelection, SiteSelection: b.SiteSelection,
	}
	if b.Status != nil {
		change.Paused = new(*b.Status == schema.InstallationPaused)
	}
	changed, err := h.store.UpdateInstallation(ctx, row.Row.Integration, row.Row.ID, change)
	if err != nil {
		return schema.IntegrationInstallation{}, err
	}
	changed.Role = row.Role
	return h.view.Installation(changed), nil
}

func (h *installations) uninstall(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Uninstall(ctx, c.Installation.Row.Integration, c.Installation.Row.ID)
}

type installationTokenRequest struct {
	ID string `path:"installationId"`
}

func (h *installations) token(ctx context.Context, c *access.Caller, r *installationTokenRequest) (schema.TemporaryToken, error) {
	row, err := h.store.InstallationOf(ctx, c.Integration.Name, r.ID)
	if err != nil {
		return schema.TemporaryToken{}, err
	}
	if row.Row.Paused {
		return schema.TemporaryToken{}, schema.Conflict("the installation is paused")
	}
	token, expiresAt, err := h.store.CreateIntegrationToken(ctx, c.Integration.Name, row.Row.ID)
	return schema.TemporaryToken{Token: token, ExpiresAt: expiresAt}, err
}

type listInstalledRequest struct {
	schema.PageRequest
	Search *string `query:"search"`
}

func (h *installations) listInstalled(
	ctx context.Context, c *access.Caller, r *listInstalledRequest,
) (schema.List[schema.InstalledIntegration], error) {
	name := fmt.Sprintf("installations in %s %q", c.Organization.Organization.ID, schema.Or(r.Search, ""))
	return frame.ListMadePage(ctx, name, r.PageRequest,
		func(after string, size int) (postgres.Page[store.Installed], error) {
			return h.store.ListInstalled(ctx, *c.Organization, c.Principal.UserID, r.Search, after, size)
		},
		func(row store.Installed) (schema.InstalledIntegration, error) {
			// IsMember stays true only for callers who may act in the publisher's organization.
			row.Integration.IsMember = row.Integration.IsMember && c.KeepTo(row.Integration.Owner.Organization.ID, "organization") == nil
			integration, err := h.view.Integration(row.Integration)
			return schema.InstalledIntegration{Installation: h.view.Installation(row.Installation), Integration: integration}, err
		},
		func(row store.Installed) string { return row.Installation.Row.ID })
}

func (h *installations) state(ctx context.Context, c *access.Caller, r *struct {
	Name string `path:"integrationName"`
}) (schema.IntegrationInstallationState, error) {
	row, err := h.store.InstalledIn(ctx, c.Organization.Organization.ID, r.Name)
	return schema.IntegrationInstallationState{Status: row.Status()}, err
}
