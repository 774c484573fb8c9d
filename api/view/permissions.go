package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// OrganizationPermissions returns rights as the booleans of an organization's `permissions`.
func OrganizationPermissions(r access.Rights) schema.OrganizationPermissions {
	return schema.OrganizationPermissions{
		View:                r.Has(access.RightView),
		Access:              r.Has(access.RightAccess),
		Admin:               r.Has(access.RightAdmin),
		OwnTeam:             r.Has(access.RightAdmin),
		CreateContent:       r.Has(access.RightCreate),
		CreateOpenAPISpec:   r.Has(access.RightCreate),
		IngestConversations: r.Has(access.RightCreate),
		ViewBilling:         r.Has(access.RightAdmin),
		ListMembers:         r.Has(access.RightAccess),
		ListTeams:           r.Has(access.RightAccess),
		ListIntegrations:    r.Has(access.RightAccess),
		ListInstallations:   r.Has(access.RightAccess),
		InstallIntegration:  r.Has(access.RightAdmin),
	}
}

// SpacePermissions returns, as booleans, what a member may do with a space. Only the organization's admins may install
// integrations and list invite links. A grant on the space does not give these two rights.
func SpacePermissions(a postgres.ContentAccess) schema.SpacePermissions {
	r, organization := access.ContentRights(a), access.RightsOf(access.Access{Role: a.Role})
	return schema.SpacePermissions{
		View:               r.Has(access.RightView),
		Access:             r.Has(access.RightAccess),
		Admin:              r.Has(access.RightAdmin),
		ViewInviteLinks:    organization.Has(access.RightAdmin),
		Edit:               r.Has(access.RightEdit),
		TriggerGitSync:     r.Has(access.RightCreate),
		Comment:            r.Has(access.RightComment),
		Merge:              r.Has(access.RightMerge),
		Review:             r.Has(access.RightReview),
		InstallIntegration: organization.Has(access.RightAdmin),
	}
}

// collectionPermissions returns, as booleans, what a member may do with a collection.
func collectionPermissions(a postgres.ContentAccess) schema.CollectionPermissions {
	r, organization := access.ContentRights(a), access.RightsOf(access.Access{Role: a.Role})
	return schema.CollectionPermissions{
		View:            r.Has(access.RightView),
		Admin:           r.Has(access.RightAdmin),
		ViewInviteLinks: organization.Has(access.RightAdmin),
		Create:          r.Has(access.RightCreate),
	}
}
