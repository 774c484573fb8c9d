package access

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Rights is a set of rights on one object.
type Rights uint16

// The rights. What an operation needs is a right, and what a `permissions` member says is a right, so that they agree.
const (
	// RightView is to know the object and to see that it is there; guests of an organization have no more.
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

// Access is everything about one member and one object that decides what the member may do with it. Whoever is no member of
// the object's organization has no Access at all: to them the object does not exist.
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
//  1. An organization and its sites go by the member's role there. A guest, who has no role, may know of the organization
//     and no more.
//  2. Content, that is collections and spaces, has a default level. It says what members have there: a role, which replaces
//     that in the organization, upwards or downwards; nothing, as null; or, as `inherit`, what they have in the collection
//     that holds it, and at the top their role in the organization. A guest gets nothing from any level.
//  3. A grant gives a member or a team a role on a collection, with all that stands in it at any depth, or on a space. What
//     somebody has is the highest of the grants and of what the level gives: a grant never lowers, and a level below a
//     grant does not take it back.
//  4. An admin of the organization is an admin of everything in it.
//  5. Whoever has no role on a piece of content by all this does not see it: it is not found.
//  6. A role may do everything that a lower one may (lowestRole).
//
// The store finds the level that holds (the nearest one up the parents that does not inherit) and the highest grant, in one
// statement. Lists leave out what is not seen by the same rule in SQL, access_rank; a test compares both on every case.
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

// effectiveRole gives the role that somebody has on an object, if any.
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
