package orgs

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/mergerules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// organizations has the operations on organizations.
type organizations struct {
	store *store.Store
	view  view.Presenter
}

func organizationOperations(h *organizations) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/orgs", ID: "createOrganization", Tag: "organizations",
			Doc:   "Create an organization; its creator becomes its first admin.",
			Scope: access.AnyUser(), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs", ID: "listOrganizationsForAuthenticatedUser", Tag: "organizations",
			Doc: "List the organizations that the caller is a member of.", Scope: access.AnyUser(), Status: http.StatusOK,
			Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}", ID: "getOrganizationById", Tag: "organizations",
			Doc: "Read an organization.", Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK,
			Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: "/orgs/{organizationId}", ID: "updateOrganizationById", Tag: "organizations",
			Doc: "Change an organization's settings.", Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: "/orgs/{organizationId}", ID: "deleteOrganizationById", Tag: "organizations",
			Doc:   "Delete an organization and everything in it. Its sites' events stay stored, but nobody can query them.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization).OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
		{
			Method: http.MethodGet, Path: "/subdomains/{subdomain}", ID: "getSubdomain", Tag: "organizations",
			Doc: "Find the organization whose hostname this is.", Scope: access.AnyUser(), Status: http.StatusOK,
			Handler: frame.Handle(h.subdomain),
		},
	}
}

type createOrganizationRequest struct {
	Body struct {
		Title        *string  `json:"title" rules:"required,len=2..255,pattern=text"`
		EmailDomains []string `json:"emailDomains" rules:"len=..100" each:"len=1..253,pattern=domain"`
		// OnboardingPreferences has what a new user answered in the published client. The values are validated, and not
		// used.
		OnboardingPreferences *struct {
			Source    *string  `json:"source" rules:"enum=onboardingSource"`
			Audience  *string  `json:"audience" rules:"enum=onboardingAudience"`
			Interests []string `json:"interests" each:"enum=onboardingInterest"`
		} `json:"onboardingPreferences"`
	} `body:"json"`
}

func (h *organizations) create(ctx context.Context, c *access.Caller, r *createOrganizationRequest) (schema.Organization, error) {
	membership, err := h.store.Orgs.Create(ctx, c.Principal.UserID, orgs.NewOrganization{
		Title: *r.Body.Title, EmailDomains: r.Body.EmailDomains,
	})
	if err != nil {
		return schema.Organization{}, err
	}
	return h.view.Organization(membership)
}

func (h *organizations) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.Organization], error) {
	return frame.ListMadePage(ctx, "orgs", *r,
		func(after string, size int) (postgres.Page[orgs.Membership], error) {
			return h.store.Orgs.List(ctx, c.Principal.UserID, after, size)
		},
		h.view.Organization, func(row orgs.Membership) string { return row.Organization.ID })
}

func (h *organizations) get(_ context.Context, c *access.Caller, _ *struct{}) (schema.Organization, error) {
	return h.view.Organization(*c.Organization)
}

type updateOrganizationRequest struct {
	Body struct {
		Title          *string                            `json:"title" rules:"len=2..255,pattern=text"`
		EmailDomains   []string                           `json:"emailDomains" rules:"len=..100" each:"len=1..253,pattern=domain"`
		Hostname       *string                            `json:"hostname" rules:"len=3..32,pattern=subdomain"`
		DefaultRole    schema.Opt[string]                 `json:"defaultRole" rules:"enum=role"`
		DefaultContent schema.Opt[contentSetting]         `json:"defaultContent"`
		Logo           schema.Opt[string]                 `json:"logo" rules:"len=..2048,pattern=uri"`
		MergeRules     *mergerules.OrganizationMergeRules `json:"mergeRules"`
		SSO            *bool                              `json:"sso"`
		AI             *bool                              `json:"ai"`
		InviteLinks    *bool                              `json:"inviteLinks"`
	} `body:"json"`
}

// contentSetting names the site that visitors of an organization's address see.
type contentSetting struct {
	Type *string `json:"type" rules:"required,enum=contentTarget"`
	Site *string `json:"site" rules:"required"`
}

func (r *updateOrganizationRequest) Validate() []schema.Detail {
	var c rules.Checker
	if rules := r.Body.MergeRules; rules != nil {
		mergerules.Check(&c, *rules.Type, rules.Rules)
	}
	return c.Details
}

func (h *organizations) update(ctx context.Context, c *access.Caller, r *updateOrganizationRequest) (schema.Organization, error) {
	id := c.Organization.Organization.ID
	change := orgs.Change{
		Title: r.Body.Title, EmailDomains: r.Body.EmailDomains, Hostname: r.Body.Hostname, DefaultRole: r.Body.DefaultRole,
		DefaultSite: schema.Opt[string]{Set: r.Body.DefaultContent.Set}, Logo: r.Body.Logo,
		SSO: r.Body.SSO, AI: r.Body.AI, InviteLinks: r.Body.InviteLinks,
	}
	if content := r.Body.DefaultContent.Value; content != nil {
		change.DefaultSite.Value = content.Site
	}
	if rules := r.Body.MergeRules; rules != nil {
		encoded, err := mergerules.Encode(
			ctx, h.store, id, c.Organization.Organization.MergeRules, *rules.Type, rules.Rules)
		if err != nil {
			return schema.Organization{}, err
		}
		change.MergeRules = encoded
	}
	row, err := h.store.Orgs.Update(ctx, id, change)
	if err != nil {
		return schema.Organization{}, err
	}
	return h.view.Organization(orgs.Membership{Organization: row, Role: c.Organization.Role})
}

func (h *organizations) remove(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.Delete(ctx, c.Organization.Organization.ID)
}

func (h *organizations) subdomain(ctx context.Context, _ *access.Caller, r *struct {
	Subdomain string `path:"subdomain"`
}) (schema.Subdomain, error) {
	// A text of another form is not the hostname of any organization, so it need not be looked up.
	if !subdomainForm.Match(r.Subdomain) {
		return schema.Subdomain{}, schema.NotFound("subdomain")
	}
	organization, err := h.store.Orgs.BySubdomain(ctx, r.Subdomain)
	if err != nil {
		return schema.Subdomain{}, err
	}
	return schema.Subdomain{
		Object: "subdomain", Subdomain: r.Subdomain, IsActive: true,
		Target: schema.SubdomainTarget{Type: "organization", Organization: organization},
	}, nil
}
