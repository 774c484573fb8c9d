package schema

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Role is the role of a person in an organization or on a piece of content. The empty role is the role of a guest. It
// is null in JSON. A guest is a member who has only rights that were granted individually.
type Role string

// These are the roles, from the highest to the lowest.
const (
	RoleAdmin   Role = "admin"
	RoleCreate  Role = "create"
	RoleReview  Role = "review"
	RoleEdit    Role = "edit"
	RoleComment Role = "comment"
	RoleRead    Role = "read"
	RoleGuest   Role = ""
)

// roles has all roles, in the order of their ranks.
var roles = []Role{RoleGuest, RoleRead, RoleComment, RoleEdit, RoleReview, RoleCreate, RoleAdmin}

// Roles returns the roles that requests may have, from the lowest to the highest.
func Roles() []Role { return slices.Clone(roles[1:]) }

// RoleNames returns the names of the roles that requests may have.
func RoleNames() []string {
	names := make([]string, 0, len(roles)-1)
	for _, role := range roles[1:] {
		names = append(names, string(role))
	}
	return names
}

// LevelNames returns the names of default levels that requests may have.
func LevelNames() []string { return append(RoleNames(), string(LevelInherit)) }

// Rank returns the rank of a role. A role has all rights of the roles with lower ranks. The guest has the rank 0. An
// unknown role has the rank -1.
func (r Role) Rank() int { return slices.Index(roles, r) }

// RoleOfRank returns the role with a rank. The guest has the rank 0.
func RoleOfRank(rank int) Role { return roles[rank] }

// AtLeast reports whether r has all rights of `minimum`.
func (r Role) AtLeast(minimum Role) bool { return r.Rank() >= minimum.Rank() }

// Valid reports whether r is a role or the guest.
func (r Role) Valid() bool { return r.Rank() >= 0 }

// MarshalJSON writes the guest as null.
func (r Role) MarshalJSON() ([]byte, error) {
	if r == RoleGuest {
		return []byte("null"), nil
	}
	return jsontext.AppendQuote(nil, string(r))
}

// RoleFromNullable returns a role from its form in a nullable database column.
func RoleFromNullable(r *string) Role {
	if r == nil {
		return RoleGuest
	}
	return Role(*r)
}

// Nullable returns the form of a role in a nullable database column.
func (r Role) Nullable() *string {
	if r == RoleGuest {
		return nil
	}
	text := string(r)
	return &text
}

// LevelInherit is the default level of content that inherits access from its parent.
const LevelInherit Level = "inherit"

// Level is the access that content gives to all members of its organization: a role, `inherit`, or no access. The empty
// level means no access. It is null in JSON.
type Level string

// MarshalJSON writes the empty level as null.
func (l Level) MarshalJSON() ([]byte, error) {
	if l == "" {
		return []byte("null"), nil
	}
	return jsontext.AppendQuote(nil, string(l))
}
