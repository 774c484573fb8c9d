package postgres

import "github.com/octavo-docs/octavo/schema"

// ContentAccess has the facts from which api.RightsOf decides what a member may do with a collection or space.
type ContentAccess struct {
	// Role is the member's role in the organization.
	Role schema.Role
	// Level is the content's own level. If the content inherits, it is the level of the nearest collection above that
	// does not inherit.
	Level schema.Level
	// Grant is the highest role that grants give to the member or the member's teams, on the content or a collection
	// above. It is "" if there is no grant.
	Grant schema.Role
	// Reader is true if the viewer is not a member, but a visitor of a published site that shows the content. If Reader
	// is true, all other fields are empty.
	Reader bool
}

// AccessOf makes a ContentAccess from three columns that statements return with a content.
func AccessOf(role *string, level string, grantRank int32) ContentAccess {
	return ContentAccess{
		Role: schema.RoleFromNullable(role), Level: schema.Level(level), Grant: schema.RoleOfRank(int(grantRank)),
	}
}

// Viewer is the member for whom content is listed. The list has only content that this member sees.
type Viewer struct {
	UserID string
	Role   schema.Role
}
