package access

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Rights is a set of rights on one object.
type Rights uint16

// The rights. Operations require these rights, and `permissions` in answers show them. So `permissions` always agree
// with what a caller may do.
const (
	// RightView allows knowing that an object exists. Guests have only this right on their organization.
	RightView Rights = 1 << iota
	// RightAccess allows reading the content.
	RightAccess
	// RightComment allows taking part in discussions.
	RightComment
	// RightEdit allows changing content, live or through change requests.
	RightEdit
	// RightReview allows reviewing change requests.
	RightReview
	// RightMerge allows merging change requests.
	RightMerge
	// RightCreate allows adding and removing content.
	RightCreate
	// RightAdmin allows changing settings, members and permissions.
	RightAdmin
)

// lowestRole has the lowest role with each right. No other code decides which role has which right.
var lowestRole = []struct {
	right Rights
	role  schema.Role
}{
	{RightView, schema.RoleGuest},
	{RightAccess, schema.RoleRead},
	{RightComment, schema.RoleComment},
	{RightEdit, schema.RoleEdit},
	{RightReview, schema.RoleReview},
	{RightMerge, schema.RoleReview},
	{RightCreate, schema.RoleCreate},
	{RightAdmin, schema.RoleAdmin},
}

// Has reports whether the set contains all of the given rights.
func (r Rights) Has(rights Rights) bool { return r&rights == rights }

// Access has all facts that decide what a member of an organization may do with an object of the organization. For
// users who are not members, the object does not exist.
type Access struct {
	// Role is the member's role in the organization.
	Role schema.Role
	// Level is the effective level of the content; nil for objects without a level, such as the organization itself or
	// a site.
	Level *schema.Level
	// Grant is the highest granted role on the content or on a collection above it. The role may be granted to the
	// member or to a team of the member. Empty means that no role is granted.
	Grant schema.Role
}

// RightsOf is the single function that decides what a user may do with an object. The rules:
//
//  1. On an organization and its sites, the member's role in the organization decides. A guest, who has no role, may
//     only know that the organization exists.
//  2. Content, that is collections and spaces, has a default level. The level gives members a role there, which
//     replaces their role in the organization, upwards or downwards. A null level gives nothing. The level `inherit`
//     gives members the role that they have on the parent collection. At the top, it gives them their role in the
//     organization. A guest gets nothing from any level.
//  3. A grant gives a member or a team a role on a space, or on a collection and everything in it at any depth. The
//     highest role among the grants and the level's role counts. So a grant never lowers a role, and a lower level does
//     not revoke a grant.
//  4. An admin of the organization is an admin of everything in it.
//  5. If these rules give a user no role on a piece of content, the content is not found.
//  6. A role may do everything that a lower role may do (lowestRole).
//
// The store finds the effective level and the highest grant in a single statement. The effective level is the level of
// the content, or of the nearest parent whose level is not `inherit`. Lists apply the same rules in SQL (access_rank),
// and omit content that the caller does not see. A test compares RightsOf with access_rank for every combination.
func RightsOf(access Access) Rights {
	role, any := EffectiveRole(access)
	if !any {
		return 0
	}
	return rightsOfRole(role)
}

func rightsOfRole(role schema.Role) Rights {
	var rights Rights
	for _, row := range lowestRole {
		if role.AtLeast(row.role) {
			rights |= row.right
		}
	}
	return rights
}

// EffectiveRole returns the user's role on an object. `any` is false if the user has no role there.
func EffectiveRole(access Access) (role schema.Role, any bool) {
	if access.Level == nil || access.Role == schema.RoleAdmin {
		return access.Role, true
	}
	role = access.Grant
	if fromLevel := levelRole(access.Role, *access.Level); !role.AtLeast(fromLevel) {
		role = fromLevel
	}
	return role, role != schema.RoleGuest
}

// levelRole returns the role that a content's level gives a member. The role is empty for a guest, and for an empty
// level.
func levelRole(role schema.Role, level schema.Level) schema.Role {
	if role == schema.RoleGuest || level == schema.LevelInherit {
		return role
	}
	return schema.Role(level)
}

// readerRights are the rights that the readers of a published site have on the site and on its spaces.
const readerRights = RightView | RightAccess

func ContentRights(a postgres.ContentAccess) Rights {
	if a.Reader {
		return readerRights
	}
	return RightsOf(Access{Role: a.Role, Level: &a.Level, Grant: a.Grant})
}
