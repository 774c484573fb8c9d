package store

import "github.com/octavo-docs/octavo/schema"

// ContentAccess is what decides about a member's access to one piece of content: see api.RightsOf for the rule.
type ContentAccess struct {
	// Role is the member's role in the organization.
	Role schema.Role
	// Level is the one that holds there: the content's own, or of the nearest collection above that does not inherit.
	Level schema.Level
	// Grant is the highest of the member's and the member's teams' grants there and above; empty is none.
	Grant schema.Role
}

func contentAccess(role *string, level string, grantRank int32) ContentAccess {
	return ContentAccess{
		Role: schema.RoleFromNullable(role), Level: schema.Level(level), Grant: schema.RoleOfRank(int(grantRank)),
	}
}

// Viewer is the member for whom content is listed.
type Viewer struct {
	UserID string
	Role   schema.Role
}
