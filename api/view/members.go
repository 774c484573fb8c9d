package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
)

func (v Presenter) Member(row orgs.MemberRow) people.Member {
	m := row.Membership
	return people.Member{
		Object: "member", ID: row.User.ID, Role: schema.RoleFromNullable(m.Role), User: v.User(row.User),
		JoinedAt: m.JoinedAt.UTC(), SSO: m.Sso, Spaces: row.Spaces, Teams: row.Teams,
		LastSeenAt: schema.UTC(m.LastSeenAt),
	}
}
