package schema

import "time"

// Team is a group of members of an organization.
type Team struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Title   string `json:"title"`
	Members int64  `json:"members"`
	// Spaces counts those that were given to the team, by themselves or with a collection.
	Spaces      int64           `json:"spaces"`
	CreatedAt   time.Time       `json:"createdAt"`
	Permissions TeamPermissions `json:"permissions"`
	// location is where a creation finds it; the contract gives teams no urls.
	location string
}

// TeamPermissions say what the caller may do with a team.
type TeamPermissions struct {
	Admin bool `json:"admin"`
	View  bool `json:"view"`
}

// At gives the team with the address that its creation answers with.
func (t Team) At(location string) Team {
	t.location = location
	return t
}

// Location is the address that a creation answers with.
func (t Team) Location() string { return t.location }

// TeamRoles are what a member can be in a team.
func TeamRoles() []string { return []string{"owner", "member"} }
