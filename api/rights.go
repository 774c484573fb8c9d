package api

import "github.com/octavo-docs/octavo/schema"

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
	// Level is the content's own level; nil for what has none, such as the organization itself or a site.
	Level *schema.Level
}

// RightsOf is the one function of user and object that says what the user may do.
func RightsOf(access Access) Rights {
	role, any := effectiveRole(access)
	if !any {
		return 0
	}
	var rights Rights
	for _, row := range lowestRole {
		if role.AtLeast(row.role) {
			rights |= row.right
		}
	}
	return rights
}

// effectiveRole applies the content's level: it replaces the role of a member, upwards or downwards, except that an admin
// stays one and that a guest gets nothing from it.
func effectiveRole(access Access) (role schema.Role, any bool) {
	switch {
	case access.Level == nil, access.Role == schema.RoleAdmin:
		return access.Role, true
	case access.Role == schema.RoleGuest, *access.Level == "":
		return schema.RoleGuest, false
	case *access.Level == schema.LevelInherit:
		return access.Role, true
	default:
		return schema.Role(*access.Level), true
	}
}

func organizationPermissions(r Rights) schema.OrganizationPermissions {
	return schema.OrganizationPermissions{
		View:                r.Has(RightView),
		Access:              r.Has(RightAccess),
		Admin:               r.Has(RightAdmin),
		OwnTeam:             r.Has(RightAdmin),
		CreateContent:       r.Has(RightCreate),
		CreateOpenAPISpec:   r.Has(RightCreate),
		IngestConversations: r.Has(RightCreate),
		ViewBilling:         r.Has(RightAdmin),
		ListMembers:         r.Has(RightAccess),
		ListTeams:           r.Has(RightAccess),
		ListIntegrations:    r.Has(RightAccess),
		ListInstallations:   r.Has(RightAccess),
		InstallIntegration:  r.Has(RightAdmin),
	}
}

func spacePermissions(r Rights) schema.SpacePermissions {
	return schema.SpacePermissions{
		View:               r.Has(RightView),
		Access:             r.Has(RightAccess),
		Admin:              r.Has(RightAdmin),
		ViewInviteLinks:    r.Has(RightAdmin),
		Edit:               r.Has(RightEdit),
		TriggerGitSync:     r.Has(RightCreate),
		Comment:            r.Has(RightComment),
		Merge:              r.Has(RightMerge),
		Review:             r.Has(RightReview),
		InstallIntegration: r.Has(RightAdmin),
	}
}
