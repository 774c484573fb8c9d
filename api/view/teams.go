package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
)

// Team returns a function that returns the API form of a team. `rights` has the caller's rights in the organization.
func Team(rights access.Rights) func(orgs.TeamRow) people.Team {
	return func(row orgs.TeamRow) people.Team {
		t := row.Team
		return people.Team{
			Object: "team", ID: t.ID, Title: t.Title, Members: row.Members, Spaces: row.Spaces, CreatedAt: t.CreatedAt.UTC(),
			Permissions: people.TeamPermissions{
				Admin: rights.Has(access.RightAdmin) || row.ViewerRole == orgs.TeamOwner,
				View:  rights.Has(access.RightAccess) || row.ViewerRole != "",
			},
		}
	}
}

// TeamMember returns the API form of a member of a team, for a caller who may list the members.
func (v Presenter) TeamMember(row orgs.TeamMemberRow) people.TeamMember {
	return people.TeamMember{
		Organization: v.Member(row.MemberRow), Team: people.TeamMembership{Role: row.Role},
		Permissions: people.TeamMemberPermissions{View: true},
	}
}
