package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// LinkInvite presents an organization's invite to a user who holds this role in it.
func (v Presenter) LinkInvite(held schema.Role, row store.LinkInvite) schema.LinkInvite {
	role := schema.RoleFromNullable(row.Role)
	invite := schema.LinkInvite{Object: "invite", ID: row.ID, Role: &role, Redundant: held.AtLeast(role), ExpiresAt: schema.UTC(row.ExpiresAt)}
	return invite.At(v.API("orgs", row.OrganizationID, "link-invites", row.ID))
}
