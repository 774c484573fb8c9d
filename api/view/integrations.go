package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Integration presents an integration as a user sees it.
func (v Presenter) Integration(i store.Integration) (schema.Integration, error) {
	owner, err := v.owner(i.Owner, i.IsMember)
	if err != nil {
		return schema.Integration{}, err
	}
	resource := schema.Integration{
		Object: "integration", Name: i.Name, Version: i.Version, PreviewImages: make([]string, len(i.PreviewImages)),
		Verified: i.Verified, Owner: owner, IntegrationManifest: i.Manifest,
		URLs: schema.IntegrationURLs{
			Location: v.API("integrations", i.Name), App: v.App("integrations", i.Name),
			Assets: v.API("integrations", i.Name, "assets"), PublicEndpoint: v.API("integrations", i.Name, "public"),
		},
	}
	if i.IsMember {
		resource.Permissions.Admin = access.RightsOf(access.Access{Role: i.Owner.Role}).Has(access.RightAdmin)
	}
	for n, id := range i.PreviewImages {
		resource.PreviewImages[n] = v.API("integrations", i.Name, "assets", id)
	}
	if i.Icon != nil {
		resource.URLs.Icon = v.API("integrations", i.Name, "assets", *i.Icon)
	}
	return resource, nil
}

// owner presents an organization to anybody who may see what it published. Non-members see its name, but not its settings or who
// may join it.
func (v Presenter) owner(owner store.Membership, isMember bool) (schema.Organization, error) {
	resource, err := v.Organization(owner)
	if err != nil {
		return schema.Organization{}, err
	}
	if !isMember {
		resource.EmailDomains, resource.InviteLinks, resource.DefaultRole = []string{}, false, schema.RoleGuest
		resource.MergeRules = schema.MergeRules{Type: "none"}
		resource.Permissions = OrganizationPermissions(0)
	}
	return resource, nil
}

// Installation presents an installation. An integration is installed for a whole organization: the installation takes effect at
// once and covers everything in it.
func (v Presenter) Installation(i store.Installation) schema.IntegrationInstallation {
	row := i.Row
	return schema.IntegrationInstallation{
		ID: row.ID, Integration: row.Integration, Status: "active", SpaceSelection: "all", SiteSelection: "all", Spaces: i.Spaces,
		Configuration: map[string]any{}, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), ExternalIDs: []string{},
		Target: schema.IntegrationTarget{Organization: row.OrganizationID},
		URLs: schema.IntegrationInstallationURLs{
			Location:       v.API("integrations", row.Integration, "installations", row.ID),
			App:            v.App("orgs", row.OrganizationID, "integrations", row.Integration),
			PublicEndpoint: v.API("integrations", row.Integration, "installations", row.ID, "public"),
		},
	}
}
