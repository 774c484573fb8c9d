package schema

import "time"

// Member is a user in an organization.
type Member struct {
	Object string `json:"object"`
	// ID is the user's.
	ID       string    `json:"id"`
	Role     Role      `json:"role"`
	User     User      `json:"user"`
	Disabled bool      `json:"disabled"`
	JoinedAt time.Time `json:"joinedAt"`
	SSO      bool      `json:"sso"`
	// Spaces counts those that the member has access to, Teams those that the member is in.
	Spaces     int64      `json:"spaces"`
	Teams      int64      `json:"teams"`
	LastSeenAt *time.Time `json:"lastSeenAt,omitempty"`
}

// Ping answers that a member was seen. Octavo signs no claims for visitors, so it has nothing to say.
type Ping struct{}

// MemberRoles are the values that members are listed by: the roles, and the guest by that name.
func MemberRoles() []string {
	names := []string{"guest"}
	for _, role := range Roles() {
		names = append(names, string(role))
	}
	return names
}

// MemberSorts are the members of a Member that a list can be sorted by.
func MemberSorts() []string { return []string{"joinedAt", "lastSeenAt"} }
