package access

import (
	"github.com/octavo-docs/octavo/schema"
)

func OrganizationPermissions(r Rights) schema.OrganizationPermissions {
	return schema.OrganizationPermissions{
		View:                r.Has(RightView),
		Access:              r.Has(RightAccess),
		Admin:               r.Has(RightAdmin),
		OwnTeam:             r.Has(RightAdmin),
		CreateContent:       r.Has(RightCreate),
		CreateOpenAPISpec:   r.Has(RightCreate),
		IngestConversations: r.Has(RightCreate),
		ViewBilling:         r.Has(RightAdmin),
		ListMembers:         r.Has(RightAccess),
		ListTeams:           r.Has(RightAccess),
		ListIntegrations:    r.Has(RightAccess),
		ListInstallations:   r.Has(RightAccess),
		InstallIntegration:  r.Has(RightAdmin),
	}
}

func SpacePermissions(r Rights) schema.SpacePermissions {
	return schema.SpacePermissions{
		View:               r.Has(RightView),
		Access:             r.Has(RightAccess),
		Admin:              r.Has(RightAdmin),
		ViewInviteLinks:    r.Has(RightAdmin),
		Edit:               r.Has(RightEdit),
		TriggerGitSync:     r.Has(RightCreate),
		Comment:            r.Has(RightComment),
		Merge:              r.Has(RightMerge),
		Review:             r.Has(RightReview),
		InstallIntegration: r.Has(RightAdmin),
	}
}

func CollectionPermissions(r Rights) schema.CollectionPermissions {
	return schema.CollectionPermissions{
		View:            r.Has(RightView),
		Admin:           r.Has(RightAdmin),
		ViewInviteLinks: r.Has(RightAdmin),
		Create:          r.Has(RightCreate),
	}
}
