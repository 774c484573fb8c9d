package api

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// The shapes of who has access to what, facts §1.21 and §7.2.
var (
	collectionShape = shape{
		"object": one("collection"), "id": id, "title": text(0, 50), "description?": text(1, 100), "organization": id, "parent?": id,
		"defaultLevel": one(append(role, nil, "inherit")...), "urls": object(shape{"location": uri, "app": uri}),
		"permissions": booleans("view admin viewInviteLinks create"),
	}
	teamShape = shape{
		"object": one("team"), "id": id, "title": text(1, 64), "members": count, "spaces": count, "createdAt": timestamp,
		"permissions": booleans("admin view"),
	}
	memberShape = shape{
		"object": one("member"), "id": id, "role": one(append(role, nil)...), "user": object(userShape), "disabled": one(false),
		"joinedAt": timestamp, "sso": boolean, "spaces": count, "teams": count, "lastSeenAt?": timestamp,
	}
	userPermissionShape = shape{"permission": one(role...), "user": object(userShape)}
	teamPermissionShape = shape{"permission": one(role...), "team": object(teamShape)}
	subdomainShape      = shape{
		"object": one("subdomain"), "subdomain": text(3, 32), "isActive": one(true),
		"target": object(shape{"type": one("organization"), "organization": id}),
	}
)

type made = map[string]string

func accessExamples() {
	collection := func(h *harness, tenant *storetest.Tenant) made {
		return made{"collectionId": h.collection(tenant, nil)}
	}
	space := func(h *harness, tenant *storetest.Tenant) made {
		row, err := h.st.CreateSpace(h.t.Context(), store.NewSpace{
			OrganizationID: tenant.Organization.ID, Title: "Space", Emoji: "1f4d6", EditMode: "live",
		})
		return made{"spaceId": created(h.t, row.ID, err)}
	}
	granted := func(h *harness, tenant *storetest.Tenant) made {
		ids := made{
			"collectionId": h.collection(tenant, nil), "userId": tenant.Users[schema.RoleRead].ID, "teamId": h.team(tenant),
		}
		h.grant(tenant, ids["collectionId"], store.Subjects{Users: []string{ids["userId"]}, Teams: []string{ids["teamId"]}}, "edit")
		return ids
	}
	for id, ex := range map[string]example{
		"listCollectionsInOrganizationById":    {},
		"createSpace":                          {body: `{}`, needs: RightCreate},
		"createCollection":                     {body: `{}`, needs: RightCreate},
		"getCollectionById":                    {make: collection},
		"updateCollectionById":                 {make: collection, body: `{"title":"Renamed"}`},
		"deleteCollectionById":                 {make: collection},
		"listSpacesInCollectionById":           {make: collection},
		"inviteToCollection":                   {make: granted, body: `{"role":"edit","users":["{userId}"],"teams":["{teamId}"]}`},
		"listUserPermissionsInCollection":      {make: granted},
		"listTeamPermissionsInCollection":      {make: granted},
		"listPermissionsAggregateInCollection": {make: granted},
		"updateUserPermissionInCollection":     {make: granted, body: `{"role":"read"}`},
		"updateTeamPermissionInCollection":     {make: granted, body: `{"role":"read"}`},
		"removeUserFromCollection":             {make: granted},
		"removeTeamFromCollection":             {make: granted},
		"updateOrganizationById":               {body: `{"title":"Renamed"}`},
		"updateSpaceById":                      {make: space, body: `{"title":"Renamed"}`},
		"deleteSpaceById":                      {make: space},
		"createOrganizationTeam":               {body: `{"title":"Writers"}`},
		"moveCollection": {body: `{"parent":"{parentId}"}`, make: func(h *harness, tenant *storetest.Tenant) made {
			return made{"collectionId": h.collection(tenant, nil), "parentId": h.collection(tenant, nil)}
		}},
		"transferCollection": {body: `{"organization":"{targetId}"}`, make: func(h *harness, tenant *storetest.Tenant) made {
			return made{"collectionId": h.collection(tenant, nil), "targetId": h.organization(tenant)}
		}},
		"getTeamInOrganizationById": {make: func(h *harness, tenant *storetest.Tenant) made {
			return made{"teamId": h.team(tenant)}
		}},
		"updateMembersInOrganizationTeam": {
			body: `{"add":["{userId}"],"memberships":{"{userId}":{"role":"owner"}},"remove":[]}`, needs: RightAdmin,
			make: func(h *harness, tenant *storetest.Tenant) made {
				return made{"teamId": h.team(tenant), "userId": tenant.Users[schema.RoleEdit].ID}
			},
		},
		"getMemberInOrganizationById": {make: func(_ *harness, tenant *storetest.Tenant) made {
			return made{"userId": tenant.Users[schema.RoleEdit].ID}
		}},
		"updateMemberInOrganizationById": {body: `{"role":"review"}`, make: func(h *harness, tenant *storetest.Tenant) made {
			return made{"userId": h.member(tenant, schema.RoleRead)}
		}},
		"getUserById": {make: func(_ *harness, tenant *storetest.Tenant) made {
			return made{"userId": tenant.Users[schema.RoleEdit].ID}
		}},
		"getSubdomain": {make: func(h *harness, tenant *storetest.Tenant) made {
			name := "o" + schema.NewID()
			_, err := h.st.UpdateOrganization(h.t.Context(), tenant.Organization.ID, store.OrganizationChange{Hostname: &name})
			return made{"subdomain": created(h.t, name, err)}
		}},
	} {
		examples[id] = ex
	}
}

// collection makes a collection in a parent, or with nil at the top.
func (h *harness) collection(tenant *storetest.Tenant, parent *string) string {
	h.t.Helper()
	row, err := h.st.CreateCollection(h.t.Context(), store.NewCollection{
		OrganizationID: tenant.Organization.ID, ParentID: parent, Title: "Collection",
	})
	return created(h.t, row.ID, err)
}

func (h *harness) team(tenant *storetest.Tenant, members ...string) string {
	h.t.Helper()
	row, err := h.st.CreateTeam(h.t.Context(), tenant.Organization.ID, "Team", members)
	return created(h.t, row.ID, err)
}

// member makes a user who is in the tenant's organization.
func (h *harness) member(tenant *storetest.Tenant, role schema.Role) string {
	h.t.Helper()
	user, _ := storetest.User(h.t, h.st, schema.NewID())
	return created(h.t, user.ID, h.st.SetMember(h.t.Context(), tenant.Organization.ID, user.ID, role))
}

// organization makes one more organization, of which the tenant's admin is the admin.
func (h *harness) organization(tenant *storetest.Tenant) string {
	h.t.Helper()
	m, err := h.st.CreateOrganization(h.t.Context(), tenant.Users[schema.RoleAdmin].ID,
		store.NewOrganization{Title: "Another"})
	return created(h.t, m.Organization.ID, err)
}

func (h *harness) grant(tenant *storetest.Tenant, collection string, to store.Subjects, role schema.Role) {
	h.t.Helper()
	err := h.st.Grant(h.t.Context(), store.GrantTarget{OrganizationID: tenant.Organization.ID, CollectionID: &collection}, to, role)
	if err != nil {
		h.t.Fatal(err)
	}
}
