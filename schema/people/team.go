package people

import "time"

// Team is a group of members of an organization.
type Team struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Title   string `json:"title"`
	Members int64  `json:"members"`
	// Spaces is the number of spaces to which the team was given access, directly or through a collection.
	Spaces      int64           `json:"spaces"`
	CreatedAt   time.Time       `json:"createdAt"`
	Permissions TeamPermissions `json:"permissions"`
	// location is the address of a new team. It is not in the body, because teams have no member `urls` in the
	// contract.
	location string
}

// TeamPermissions are the caller's rights on a team.
type TeamPermissions struct {
	Admin bool `json:"admin"`
	View  bool `json:"view"`
}

// At returns the team with its address, for the response to the request that creates the team.
func (t Team) At(location string) Team {
	t.location = location
	return t
}

// Location returns the Location header of the response that creates the team.
func (t Team) Location() string { return t.location }

// TeamMember is an organization's member who is in a team.
type TeamMember struct {
	Organization Member                `json:"organization"`
	Team         TeamMembership        `json:"team"`
	Permissions  TeamMemberPermissions `json:"permissions"`
}

// TeamMembership is a member's role in a team.
type TeamMembership struct {
	Role string `json:"role" rules:"enum=teamRole"`
}

// TeamMemberPermissions are the caller's rights on a member of a team.
type TeamMemberPermissions struct {
	View bool `json:"view"`
}

// TeamRoles are the roles of members in a team.
func TeamRoles() []string { return []string{"owner", "member"} }
