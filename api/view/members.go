package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Member(row store.MemberRow) schema.Member {
	m := row.Membership
	resource := schema.Member{
		Object: "member", ID: row.User.ID, Role: schema.RoleFromNullable(m.Role), User: v.User(row.User),
		JoinedAt: m.JoinedAt.UTC(), SSO: m.Sso, Spaces: row.Spaces, Teams: row.Teams,
	}
	if m.LastSeenAt != nil {
		at := m.LastSeenAt.UTC()
		resource.LastSeenAt = &at
	}
	return resource
}
