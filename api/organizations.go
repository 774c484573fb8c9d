package api

import (
	"context"
	"fmt"
	"net/http"
	"regexp"

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
		Title                 *string  `json:"title"`
		EmailDomains          []string `json:"emailDomains"`
		OnboardingPreferences *struct {
			Source    *string  `json:"source"`
			Audience  *string  `json:"audience"`
			Interests []string `json:"interests"`
		} `json:"onboardingPreferences"`
	} `body:"json"`
}

// titleWithText is the contract's pattern for titles of organizations: blanks alone are no title.
var titleWithText = regexp.MustCompile(`\S.*\S`)

func (r *createOrganizationRequest) Validate() []schema.Detail {
	var c checker
	body := &r.Body
	c.required("title", body.Title, 2, 255)
	if len(c.details) == 0 && !titleWithText.MatchString(*body.Title) {
		c.add("title", "must not be blank")
	}
	if len(body.EmailDomains) > 100 {
		c.add("emailDomains", "must have at most 100 entries")
	}
	for i := range body.EmailDomains {
		c.text(fmt.Sprintf("emailDomains[%d]", i), &body.EmailDomains[i], 1, 253)
	}
	// The answers of the published client's onboarding are checked and have no effect here.
	if p := body.OnboardingPreferences; p != nil {
		c.enum("onboardingPreferences.source", p.Source, []string{"markdown-in-git", "import", "template"})
		c.enum("onboardingPreferences.audience", p.Audience, []string{"public", "mixed", "protected", "internal"})
		for i := range p.Interests {
			c.enum(fmt.Sprintf("onboardingPreferences.interests[%d]", i), &p.Interests[i],
				[]string{"adaptive-content", "api-docs", "proactive-agent"})
		}
	}
	return c.details
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
