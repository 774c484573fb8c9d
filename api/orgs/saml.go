package orgs

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/saml"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// samlProviders has the operations on an organization's SAML identity providers.
type samlProviders struct {
	store *store.Store
	view  view.Presenter
}

func samlOperations(h *samlProviders) []frame.Operation {
	const many, one = "/orgs/{organizationId}/saml", "/orgs/{organizationId}/saml/{samlProviderId}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listSAMLProvidersInOrganizationById", Tag: "sso",
			Doc:   "List the SAML providers of an organization.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createOrganizationSAMLProvider", Tag: "sso",
			Doc:   "Create a SAML provider; it is pending until all that a login needs is known.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getOrganizationSAMLProviderById", Tag: "sso", Doc: "Read a SAML provider.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateOrganizationSAMLProvider", Tag: "sso",
			Doc:   "Change a SAML provider. `certificate` may hold up to four certificates as PEM, so that logins go on while the identity provider changes its key.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteOrganizationSAMLProvider", Tag: "sso",
			Doc: "Delete a SAML provider.", Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusNoContent,
			Handler: frame.Handle(h.delete),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/sso", ID: "listSSOProviderLoginsInOrganization", Tag: "sso",
			Doc:   "List the ways to log in to an organization.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.logins),
		},
	}
}

func (h *samlProviders) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.SAMLProvider], error) {
	organization := c.Organization.Organization.ID
	var teams map[string]orgs.TeamRow
	return frame.ListPage(ctx, "saml "+organization, *r,
		func(after string, size int) (postgres.Page[orgs.SAMLProvider], error) {
			page, err := h.store.Orgs.ListSAMLProviders(ctx, organization, after, size)
			if err != nil {
				return page, err
			}
			teams, err = h.store.Orgs.DefaultTeams(ctx, c.Principal.UserID, page.Rows...)
			return page, err
		},
		func(row orgs.SAMLProvider) people.SAMLProvider { return h.view.SAMLProvider(c.Rights, row, teams) },
		func(row orgs.SAMLProvider) string { return row.ID })
}

// resource returns the API form of a provider for the caller.
func (h *samlProviders) resource(
	ctx context.Context, c *access.Caller, row orgs.SAMLProvider,
) (people.SAMLProvider, error) {
	teams, err := h.store.Orgs.DefaultTeams(ctx, c.Principal.UserID, row)
	if err != nil {
		return people.SAMLProvider{}, err
	}
	return h.view.SAMLProvider(c.Rights, row, teams), nil
}

// areCertificatesOrEmpty reports whether a text is empty or has only certificates. An administrator may paste a private
// key by mistake. The key must not be stored, because other people would see it.
func areCertificatesOrEmpty(text string) bool { return text == "" || areCertificates(text) }

func areCertificates(text string) bool {
	_, err := saml.ParseCertificates(text)
	return err == nil
}

func isSSOURL(text string) bool {
	return text == people.NoSSOURL || schema.AbsoluteURL(text) && schema.WithoutCredentials(text) == text
}

// SAMLSettings has the values that an administrator copies from the identity provider. Null removes a value. Empty text
// and people.NoSSOURL also remove a value, because answers show them for missing values.
type SAMLSettings struct {
	EntityID    schema.Opt[string] `json:"entityID" rules:"len=..1024"`
	Certificate schema.Opt[string] `json:"certificate" rules:"len=..10000,pattern=certificate"`
	SSOURL      schema.Opt[string] `json:"ssoURL" rules:"len=..2048,pattern=ssoURL"`
	DefaultRole schema.Opt[string] `json:"defaultRole" rules:"enum=role"`
	DefaultTeam schema.Opt[string] `json:"defaultTeam"`
}

func emptyIsNone(o schema.Opt[string]) schema.Opt[string] {
	if o.Value != nil && (*o.Value == "" || *o.Value == people.NoSSOURL) {
		o.Value = nil
	}
	return o
}

type createSAMLProviderRequest struct {
	Body struct {
		Label *string `json:"label" rules:"required,len=1..30"`
		SAMLSettings
	} `body:"json"`
}

func (h *samlProviders) create(
	ctx context.Context, c *access.Caller, r *createSAMLProviderRequest,
) (people.SAMLProvider, error) {
	row, err := h.store.Orgs.CreateSAMLProvider(ctx, orgs.NewSAMLProvider{
		OrganizationID: c.Organization.Organization.ID, Label: *r.Body.Label, EntityID: emptyIsNone(r.Body.EntityID).Value,
		Certificate: emptyIsNone(r.Body.Certificate).Value, CertificateUsable: areCertificates(schema.Or(r.Body.Certificate.Value, "")),
		SSOURL: emptyIsNone(r.Body.SSOURL).Value, DefaultRole: r.Body.DefaultRole.Value, DefaultTeam: r.Body.DefaultTeam.Value,
	})
	if err != nil {
		return people.SAMLProvider{}, err
	}
	return h.resource(ctx, c, row)
}

type samlProviderRequest struct {
	ID string `path:"samlProviderId"`
}

func (h *samlProviders) get(
	ctx context.Context, c *access.Caller, r *samlProviderRequest,
) (people.SAMLProvider, error) {
	row, err := h.store.Orgs.SAMLProvider(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return people.SAMLProvider{}, err
	}
	return h.resource(ctx, c, row)
}

type updateSAMLProviderRequest struct {
	ID   string `path:"samlProviderId"`
	Body struct {
		Label *string `json:"label" rules:"len=1..30"`
		SAMLSettings
	} `body:"json"`
}

func (h *samlProviders) update(
	ctx context.Context, c *access.Caller, r *updateSAMLProviderRequest,
) (people.SAMLProvider, error) {
	row, err := h.store.Orgs.UpdateSAMLProvider(ctx, c.Organization.Organization.ID, r.ID, orgs.SAMLProviderChange{
		Label: r.Body.Label, EntityID: emptyIsNone(r.Body.EntityID), Certificate: emptyIsNone(r.Body.Certificate),
		CertificateUsable: areCertificates(schema.Or(r.Body.Certificate.Value, "")),
		SSOURL:            emptyIsNone(r.Body.SSOURL), DefaultRole: r.Body.DefaultRole, DefaultTeam: r.Body.DefaultTeam,
	})
	if err != nil {
		return people.SAMLProvider{}, err
	}
	return h.resource(ctx, c, row)
}

func (h *samlProviders) delete(ctx context.Context, c *access.Caller, r *samlProviderRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.DeleteSAMLProvider(ctx, c.Organization.Organization.ID, r.ID)
}

// logins lists the addresses at which any member can log in. It does not show the settings of the providers.
func (h *samlProviders) logins(ctx context.Context, c *access.Caller, _ *struct{}) (people.SSOLogins, error) {
	organization := c.Organization.Organization.ID
	rows, err := h.store.Orgs.SSOLogins(ctx, organization)
	if err != nil {
		return people.SSOLogins{}, err
	}
	logins := people.SSOLogins{Items: make([]people.SSOLogin, len(rows))}
	for i, row := range rows {
		logins.Items[i] = people.SSOLogin{
			ID: row.ID, Label: row.Label, StartURL: h.view.SAMLService(organization, row.ID).StartURL,
		}
	}
	return logins, nil
}
