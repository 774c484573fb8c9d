package people

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Member is a user in an organization.
type Member struct {
	Object string `json:"object"`
	// ID is the id of the user.
	ID       string      `json:"id"`
	Role     schema.Role `json:"role"`
	User     schema.User `json:"user"`
	Disabled bool        `json:"disabled"`
	JoinedAt time.Time   `json:"joinedAt"`
	SSO      bool        `json:"sso"`
	// Spaces is the number of spaces that the member can access, and Teams the number of the member's teams.
	Spaces     int64      `json:"spaces"`
	Teams      int64      `json:"teams"`
	LastSeenAt *time.Time `json:"lastSeenAt,omitempty"`
}

// Ping is the response to a member's ping. It is empty, because Octavo signs no claims for visitors.
type Ping struct{}

// MemberRoles are the roles by which a list of members can be filtered, including `guest`.
func MemberRoles() []string {
	names := []string{"guest"}
	for _, role := range schema.Roles() {
		names = append(names, string(role))
	}
	return names
}

// MemberSorts are the fields by which a member list can be sorted.
func MemberSorts() []string { return []string{"joinedAt", "lastSeenAt"} }
