package api

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// organizations are the operations on tenants.
type organizations struct {
	store *store.Store
	urls  links
}

func organizationOperations(h *organizations) []Operation {
	return []Operation{
		{
			Method: http.MethodPost, Path: "/orgs", ID: "createOrganization", Tag: "organizations",
			Doc:   "Create an organization; its creator becomes its first admin.",
			Scope: anyUser(), Status: http.StatusCreated,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs", ID: "listOrganizationsForAuthenticatedUser", Tag: "organizations",
			Doc: "List the organizations that the caller is a member of.", Scope: anyUser(), Status: http.StatusOK,
			Handler: handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}", ID: "getOrganizationById", Tag: "organizations",
			Doc: "Read an organization.", Scope: having(RightView, onOrganization), Status: http.StatusOK,
			Handler: handle(h.get),
		},
	}
}

type createOrganizationRequest struct {
	Body struct {
		Title        *string  `json:"title" rules:"required,len=2..255,pattern=text"`
		EmailDomains []string `json:"emailDomains" rules:"len=..100" each:"len=1..253"`
		// The answers of the published client's onboarding are checked and have no effect here.
		OnboardingPreferences *struct {
			Source    *string  `json:"source" rules:"enum=onboardingSource"`
			Audience  *string  `json:"audience" rules:"enum=onboardingAudience"`
			Interests []string `json:"interests" each:"enum=onboardingInterest"`
		} `json:"onboardingPreferences"`
	} `body:"json"`
}

func (h *organizations) create(ctx context.Context, c *Caller, r *createOrganizationRequest) (schema.Organization, error) {
	membership, err := h.store.CreateOrganization(ctx, c.Principal.UserID, store.NewOrganization{
		Title: *r.Body.Title, EmailDomains: r.Body.EmailDomains,
	})
	if err != nil {
		return schema.Organization{}, err
	}
	return h.urls.organizationResource(membership), nil
}

type listOrganizationsRequest struct {
	schema.PageRequest
}

func (h *organizations) list(
	ctx context.Context, c *Caller, r *listOrganizationsRequest,
) (schema.List[schema.Organization], error) {
	return listPage("orgs", r.PageRequest,
		func(after string, size int) (store.Page[store.Membership], error) {
			return h.store.ListOrganizations(ctx, c.Principal.UserID, after, size)
		},
		h.urls.organizationResource, func(o schema.Organization) string { return o.ID })
}

func (h *organizations) get(_ context.Context, c *Caller, _ *struct{}) (schema.Organization, error) {
	return h.urls.organizationResource(*c.Organization), nil
}

func (l links) organizationResource(m store.Membership) schema.Organization {
	o := m.Organization
	return schema.Organization{
		Object: "organization", ID: o.ID, Title: o.Title, CreatedAt: o.CreatedAt.UTC(), EmailDomains: o.EmailDomains,
		Type: o.Type, InviteLinks: o.InviteLinks, Plan: o.Plan, MergeRules: schema.MergeRules{Type: "none"},
		DefaultRole: schema.RoleFromNullable(o.DefaultRole), Trial: schema.Trial{Status: "notapplicable"},
		URLs:        l.organization(o.ID),
		Permissions: organizationPermissions(RightsOf(Access{Role: m.Role})),
	}
}
