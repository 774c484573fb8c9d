package access

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Rights is a set of rights on one object.
type Rights uint16

// The rights. What an operation needs is a right, and what a `permissions` member says is a right, so that they agree.
const (
	// RightView is to know that the object exists; guests of an organization have only this.
	RightView Rights = 1 << iota
	// RightAccess is to read what is in it.
	RightAccess
	// RightComment is to take part in discussions.
	RightComment
	// RightEdit is to change content, live or through change requests.
	RightEdit
	// RightReview is to review change requests.
	RightReview
	// RightMerge is to merge change requests.
	RightMerge
	// RightCreate is to add and remove content.
	RightCreate
	// RightAdmin is to change settings, members and who may do what.
	RightAdmin
)

// lowestRole gives for every right the lowest role that has it: the only place that says so.
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

// Has says whether the set holds every one of the rights.
func (r Rights) Has(rights Rights) bool { return r&rights == rights }

// Access is everything about one member and one object that decides what the member may do with it. Users who are not members of
// the object's organization have no Access: to them the object does not exist.
type Access struct {
	// Role is the member's role in the organization.
	Role schema.Role
	// Level is the level that holds for the content; nil for what has none, such as the organization itself or a site.
	Level *schema.Level
	// Grant is the highest of the roles that the member, or a team of the member, was given on the content or on a collection
	// above it; empty is none.
	Grant schema.Role
}

// RightsOf is the one function of user and object that says what the user may do. The rule:
//
//  1. On an organization and its sites, the member's role in the organization decides. A guest, who has no role, may only know
//     that the organization exists.
//  2. Content, that is collections and spaces, has a default level. It gives members a role there, which replaces
//     their role in the organization, upwards or downwards; or nothing, as null; or, as `inherit`, what they have in the
//     collection that holds it, and at the top their role in the organization. A guest gets nothing from any level.
//  3. A grant gives a member or a team a role on a space, or on a collection and everything in it at any depth. The highest of
//     the grants and of what the level gives counts: a grant never lowers a role, and a level further down does not take a
//     grant back.
//  4. An admin of the organization is an admin of everything in it.
//  5. Somebody who has no role on a piece of content by these rules does not see it: it is not found.
//  6. A role may do everything that a lower one may (lowestRole).
//
// The store finds the level that holds (the nearest one up the parents that does not inherit) and the highest grant, in one
// statement. Lists leave out what the caller does not see, by the same rule in SQL (access_rank). A test compares
// the two on every case.
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

// EffectiveRole gives the role that somebody has on an object, if any.
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

// levelRole is what a content's level gives to a member; a guest and the empty level get nothing.
func levelRole(role schema.Role, level schema.Level) schema.Role {
	if role == schema.RoleGuest || level == schema.LevelInherit {
		return role
	}
	return schema.Role(level)
}

func ContentRights(a store.ContentAccess) Rights {
	return RightsOf(Access{Role: a.Role, Level: &a.Level, Grant: a.Grant})
}
