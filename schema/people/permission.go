package people

import "github.com/octavo-docs/octavo/schema"

// UserPermission is a user with their role on a piece of content.
type UserPermission struct {
	Permission schema.Role `json:"permission"`
	User       schema.User `json:"user"`
}

// TeamPermission is a team with the role granted to it on a piece of content.
type TeamPermission struct {
	Permission schema.Role `json:"permission"`
	Team       Team        `json:"team"`
}
