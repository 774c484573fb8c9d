package postgres

import "github.com/octavo-docs/octavo/schema"

// ContentAccess has the facts that decide a member's access to one piece of content. The rule is api.RightsOf.
type ContentAccess struct {
	// Role is the member's role in the organization.
	Role schema.Role
	// Level is the content's own level, or the level of the nearest collection above that does not inherit.
	Level schema.Level
	// Grant is the highest grant of the member or of the member's teams, on the content or its ancestors. It is empty
	// if there is no grant.
	Grant schema.Role
	// Reader reports that the viewer is not a member but a reader of a published site that shows the content. The
	// rest is then empty.
	Reader bool
}

// AccessOf makes a ContentAccess of the columns of a row.
func AccessOf(role *string, level string, grantRank int32) ContentAccess {
	return ContentAccess{
		Role: schema.RoleFromNullable(role), Level: schema.Level(level), Grant: schema.RoleOfRank(int(grantRank)),
	}
}

// Viewer is the member whose view of content is listed.
type Viewer struct {
	UserID string
	Role   schema.Role
}
