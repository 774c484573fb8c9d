package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
)

// Integration returns the API form of an integration for a user.
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

// owner returns the API form of the organization that owns an integration. Users who are not members see the
// organization's name, but neither its settings nor the rules for joining it.
func (v Presenter) owner(owner orgs.Membership, isMember bool) (schema.Organization, error) {
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

// IntegrationAssets returns the API form of the pictures of an integration.
func (v Presenter) IntegrationAssets(name string, rows []store.IntegrationAsset) schema.IntegrationAssets {
	assets := make([]schema.IntegrationAsset, len(rows))
	for i, row := range rows {
		assets[i] = schema.IntegrationAsset{ID: row.ID, ContentType: row.ContentType, URL: v.API("integrations", name, "assets", row.ID)}
	}
	return schema.IntegrationAssets{Assets: assets}
}
