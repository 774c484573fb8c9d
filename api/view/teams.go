package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
)

// Team presents teams to a member with these rights in the organization.
func Team(rights access.Rights) func(orgs.TeamRow) schema.Team {
	return func(row orgs.TeamRow) schema.Team {
		t := row.Team
		return schema.Team{
			Object: "team", ID: t.ID, Title: t.Title, Members: row.Members, Spaces: row.Spaces, CreatedAt: t.CreatedAt.UTC(),
			Permissions: schema.TeamPermissions{
				Admin: rights.Has(access.RightAdmin) || row.ViewerRole == orgs.TeamOwner,
				View:  rights.Has(access.RightAccess) || row.ViewerRole != "",
			},
		}
	}
}

// TeamMember presents a member of a team to somebody who may list the members.
func (v Presenter) TeamMember(row orgs.TeamMemberRow) schema.TeamMember {
	return schema.TeamMember{
		Organization: v.Member(row.MemberRow), Team: schema.TeamMembership{Role: row.Role},
		Permissions: schema.TeamMemberPermissions{View: true},
	}
}
