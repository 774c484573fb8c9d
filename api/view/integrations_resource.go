package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// integrationResource shows an integration as a user sees it.
func (l Presenter) Integration(i store.Integration) schema.Integration {
	resource := schema.Integration{
		Object: "integration", Name: i.Name, Version: i.Version, PreviewImages: make([]string, len(i.PreviewImages)),
		Verified: i.Verified, Owner: l.owner(i.Owner, i.IsMember), IntegrationManifest: i.Manifest,
		URLs: schema.IntegrationURLs{
			Location: l.API("integrations", i.Name), App: l.App("integrations", i.Name),
			Assets: l.API("integrations", i.Name, "assets"), PublicEndpoint: l.API("integrations", i.Name, "public"),
		},
	}
	if i.IsMember {
		resource.Permissions.Admin = access.RightsOf(access.Access{Role: i.Owner.Role}).Has(access.RightAdmin)
	}
	for n, id := range i.PreviewImages {
		resource.PreviewImages[n] = l.API("integrations", i.Name, "assets", id)
	}
	if i.Icon != nil {
		resource.URLs.Icon = l.API("integrations", i.Name, "assets", *i.Icon)
	}
	return resource
}

// ownerResource shows an organization to anybody who may see what it published. Whoever is no member learns who it is, and
// not how it is set up or who may join it.
func (l Presenter) owner(owner store.Membership, isMember bool) schema.Organization {
	resource := l.Organization(owner)
	if !isMember {
		resource.EmailDomains, resource.InviteLinks, resource.DefaultRole = []string{}, false, schema.RoleGuest
		resource.MergeRules = schema.MergeRules{Type: "none"}
		resource.Permissions = access.OrganizationPermissions(0)
	}
	return resource
}

// installationResource shows an installation. An integration is installed for a whole organization, which takes effect at
// once and covers everything in it.
func (l Presenter) Installation(i store.Installation) schema.IntegrationInstallation {
	row := i.Row
	return schema.IntegrationInstallation{
		ID: row.ID, Integration: row.Integration, Status: "active", SpaceSelection: "all", SiteSelection: "all", Spaces: i.Spaces,
		Configuration: map[string]any{}, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), ExternalIDs: []string{},
		Target: schema.IntegrationTarget{Organization: row.OrganizationID},
		URLs: schema.IntegrationInstallationURLs{
			Location:       l.API("integrations", row.Integration, "installations", row.ID),
			App:            l.App("orgs", row.OrganizationID, "integrations", row.Integration),
			PublicEndpoint: l.API("integrations", row.Integration, "installations", row.ID, "public"),
		},
	}
}
