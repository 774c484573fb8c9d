package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
)

// Organization returns the API form of an organization for a member.
func (v Presenter) Organization(m orgs.Membership) (schema.Organization, error) {
	o := m.Organization
	mergeRules, err := schema.DecodeJSON[schema.MergeRules](o.MergeRules)
	if err != nil {
		return schema.Organization{}, err
	}
	resource := schema.Organization{
		Object: "organization", ID: o.ID, Title: o.Title, CreatedAt: o.CreatedAt.UTC(), EmailDomains: o.EmailDomains,
		Type: o.Type, InviteLinks: o.InviteLinks, Plan: o.Plan, MergeRules: mergeRules,
		DefaultRole: schema.RoleFromNullable(o.DefaultRole), Hostname: schema.Or(o.Hostname, ""), SSO: o.Sso, AI: o.Ai,
		Trial: schema.Trial{Status: "notapplicable"}, URLs: v.organizationURLs(o),
		Permissions: OrganizationPermissions(access.RightsOf(access.Access{Role: m.Role})),
	}
	if o.DefaultSite != nil {
		resource.DefaultContent = &schema.DefaultContent{Type: "site", Site: *o.DefaultSite}
	}
	return resource, nil
}
