package apitest

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/audit"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

func accessExamples() {
	collection := func(h *Harness, tenant *storetest.Tenant) made {
		return made{"collectionId": h.Collection(tenant, nil)}
	}
	space := func(h *Harness, tenant *storetest.Tenant) made {
		row, err := h.Store.CreateSpace(h.T.Context(), store.NewSpace{
			OrganizationID: tenant.Organization.ID, Title: "Space", Emoji: "1f4d6", EditMode: "live",
		})
		return made{"spaceId": Created(h.T, row.ID, err)}
	}
	granted := func(h *Harness, tenant *storetest.Tenant) made {
		ids := made{
			"collectionId": h.Collection(tenant, nil), "userId": tenant.Users[schema.RoleRead].ID, "teamId": h.Team(tenant),
		}
		h.Grant(tenant, ids["collectionId"], store.Subjects{Users: []string{ids["userId"]}, Teams: []string{ids["teamId"]}}, "edit")
		return ids
	}
	grantedSpace := func(h *Harness, tenant *storetest.Tenant) made {
		ids := made{
			"spaceId": space(h, tenant)["spaceId"], "userId": tenant.Users[schema.RoleRead].ID,
			"teamId": h.Team(tenant),
		}
		to := store.Subjects{Users: []string{ids["userId"]}, Teams: []string{ids["teamId"]}}
		h.GrantSpace(tenant, ids["spaceId"], to, "edit")
		return ids
	}
	for id, ex := range map[string]example{
		"listCollectionsInOrganizationById":    {},
		"createSpace":                          {body: `{}`, Needs: access.RightCreate},
		"createCollection":                     {body: `{}`, Needs: access.RightCreate},
		"getCollectionById":                    {Make: collection},
		"updateCollectionById":                 {Make: collection, body: `{"title":"Renamed"}`},
		"deleteCollectionById":                 {Make: collection},
		"listSpacesInCollectionById":           {Make: collection},
		"inviteToCollection":                   {Make: granted, body: `{"role":"edit","users":["{userId}"],"teams":["{teamId}"]}`},
		"listUserPermissionsInCollection":      {Make: granted},
		"listTeamPermissionsInCollection":      {Make: granted},
		"listPermissionsAggregateInCollection": {Make: granted},
		"updateUserPermissionInCollection":     {Make: granted, body: `{"role":"read"}`},
		"updateTeamPermissionInCollection":     {Make: granted, body: `{"role":"read"}`},
		"removeUserFromCollection":             {Make: granted},
		"removeTeamFromCollection":             {Make: granted},
		"inviteToSpace": {
			Make: grantedSpace, body: `{"role":"edit","users":["{userId}"],"teams":["{teamId}"]}`,
		},
		"listUserPermissionsInSpace":      {Make: grantedSpace},
		"listTeamPermissionsInSpace":      {Make: grantedSpace},
		"listPermissionsAggregateInSpace": {Make: grantedSpace},
		"updateUserPermissionInSpace":     {Make: grantedSpace, body: `{"role":"read"}`},
		"updateTeamPermissionInSpace":     {Make: grantedSpace, body: `{"role":"read"}`},
		"removeUserFromSpace":             {Make: grantedSpace},
		"removeTeamFromSpace":             {Make: grantedSpace},
		"updateOrganizationById":          {body: `{"title":"Renamed"}`},
		"updateSpaceById":                 {Make: space, body: `{"title":"Renamed"}`},
		"deleteSpaceById":                 {Make: space},
		"createOrganizationTeam": {body: `{"title":"{title}"}`, Make: func(*Harness, *storetest.Tenant) made {
			return made{"title": schema.NewID()}
		}},
		"moveCollection": {body: `{"parent":"{parentId}"}`, Make: func(h *Harness, tenant *storetest.Tenant) made {
			return made{"collectionId": h.Collection(tenant, nil), "parentId": h.Collection(tenant, nil)}
		}},
		"transferCollection": {body: `{"organization":"{targetId}"}`, Make: func(h *Harness, tenant *storetest.Tenant) made {
			return made{"collectionId": h.Collection(tenant, nil), "targetId": h.Organization(tenant)}
		}},
		"getTeamInOrganizationById": {Make: func(h *Harness, tenant *storetest.Tenant) made {
			return made{"teamId": h.Team(tenant)}
		}},
		"listTeamMembersInOrganizationById": {Make: func(h *Harness, tenant *storetest.Tenant) made {
			return made{"teamId": h.Team(tenant, tenant.Users[schema.RoleEdit].ID)}
		}},
		"updateMembersInOrganizationTeam": {
			body: `{"add":["{userId}"],"memberships":{"{userId}":{"role":"owner"}},"remove":[]}`, Needs: access.RightAdmin,
			Make: func(h *Harness, tenant *storetest.Tenant) made {
				return made{"teamId": h.Team(tenant), "userId": tenant.Users[schema.RoleEdit].ID}
			},
		},
		"getMemberInOrganizationById": {Make: func(_ *Harness, tenant *storetest.Tenant) made {
			return made{"userId": tenant.Users[schema.RoleEdit].ID}
		}},
		"updateMemberInOrganizationById": {body: `{"role":"review"}`, Make: func(h *Harness, tenant *storetest.Tenant) made {
			return made{"userId": h.Member(tenant, schema.RoleRead)}
		}},
		"getUserById": {Make: func(_ *Harness, tenant *storetest.Tenant) made {
			return made{"userId": tenant.Users[schema.RoleEdit].ID}
		}},
		"getSubdomain": {Make: func(h *Harness, tenant *storetest.Tenant) made {
			name := "o" + schema.NewID()
			_, err := h.Store.Orgs.Update(h.T.Context(), tenant.Organization.ID, orgs.Change{Hostname: &name})
			return made{"subdomain": Created(h.T, name, err)}
		}},
	} {
		Examples[id] = ex
	}
}

func consentExamples() {
	Examples["declineOrganizationInvite"] = example{}
	Examples["proveEmailDomainInOrganization"] = example{Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		domain := schema.NewID() + ".example"
		organization, err := h.Store.Orgs.Update(h.T.Context(), tenant.Organization.ID, orgs.Change{
			EmailDomains: []string{domain},
		})
		if err != nil {
			h.T.Fatal(err)
		}
		domains, err := h.Store.Orgs.EmailDomains(h.T.Context(), organization)
		if err != nil {
			h.T.Fatal(err)
		}
		h.DNS.Set(domain, "octavo-domain-verification="+domains[0].Token)
		return map[string]string{"domain": domain}
	}}
}

func organizationsExamples() {
	Examples["createOrganization"] = example{body: `{"title":"Fresh"}`}
}

func invitesExamples() {
	make := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		// This invite gives no role. Tests accept it with a user of each role, and the user's role must not change.
		return map[string]string{"inviteId": h.LinkInvite(tenant, `{"role":null}`).ID}
	}
	Examples["inviteUsersToOrganization"] = example{body: `{"emails":["new@example.com"]}`}
	Examples["createOrganizationInvite"] = example{body: `{"role":"edit"}`}
	Examples["updateOrganizationInviteById"] = example{body: `{"role":"edit"}`, Make: make}
	pending := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		invited,
			err := h.Store.Orgs.InviteByEmail(h.T.Context(), tenant.Organization.ID, tenant.Users[schema.RoleAdmin].ID,
			[]orgs.PersonToInvite{{Email: schema.NewID() + "@example.com"}}, false)
		return map[string]string{"inviteId": Created(h.T, invited.Users[0], err)}
	}
	Examples["deleteOrganizationInvite"] = example{Make: pending}
	Examples["resendOrganizationInvite"] = example{Make: pending}
	linked := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		return map[string]string{"link": h.InviteLink(tenant, pending(h, tenant)["inviteId"])}
	}
	Examples["showInvitePage"] = example{Make: linked, query: "?link={link}"}
	Examples["acceptInvitePage"] = example{Make: linked, query: "?link={link}", body: "name=Ann"}
	for _, id := range []string{"joinOrganizationWithInvite", "getOrganizationInviteLink", "deleteOrganizationInviteById"} {
		Examples[id] = example{Make: make}
	}
}

func removalExamples() {
	Examples["removeMemberFromOrganizationById"] = example{Needs: access.RightAdmin, Make: func(h *Harness, tenant *storetest.Tenant) made {
		return made{"userId": h.Member(tenant, schema.RoleAdmin)}
	}}
	Examples["removeTeamFromOrganizationById"] = example{Make: func(h *Harness, tenant *storetest.Tenant) made {
		return made{"teamId": h.Team(tenant)}
	}}
	Examples["deleteOrganizationById"] = example{Make: func(h *Harness, tenant *storetest.Tenant) made {
		id := h.Organization(tenant)
		for role, user := range tenant.Users {
			if err := h.Store.Orgs.SetMember(h.T.Context(), id, user.ID, role); err != nil {
				h.T.Fatal(err)
			}
		}
		return made{"organizationId": id}
	}}
}

func samlExamples() {
	make := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		row, err := h.Store.Orgs.CreateSAMLProvider(h.T.Context(), orgs.NewSAMLProvider{
			OrganizationID: tenant.Organization.ID, Label: "Okta",
		})
		if err != nil {
			h.T.Fatal(err)
		}
		return map[string]string{"samlProviderId": row.ID}
	}
	Examples["createOrganizationSAMLProvider"] = example{body: `{"label":"Okta"}`}
	Examples["updateOrganizationSAMLProvider"] = example{body: `{"label":"Entra"}`, Make: make}
	for _, id := range []string{"getOrganizationSAMLProviderById", "deleteOrganizationSAMLProvider"} {
		Examples[id] = example{Make: make}
	}
}

func jobsExamples() {
	Examples["retryJob"] = example{Make: func(h *Harness, tenant *storetest.Tenant) made {
		return made{"jobId": h.FailedJob(tenant)}
	}}
}

func webhookExamples() {
	webhook := func(h *Harness, tenant *storetest.Tenant) string {
		h.T.Helper()
		row, _, err := h.Store.Hooks.CreateWebhook(h.T.Context(), hooks.NewWebhook{
			OrganizationID: tenant.Organization.ID, URL: "https://receiver.example.com/hook", Active: true,
		})
		return Created(h.T, row.ID, err)
	}
	one := func(h *Harness, tenant *storetest.Tenant) made { return made{"webhookId": webhook(h, tenant)} }
	Examples["createWebhook"] = example{body: `{"url":"https://receiver.example.com/hook","events":["comment.created"]}`}
	Examples["updateWebhook"] = example{body: `{"description":"Tells the chat"}`, Make: one}
	for _, id := range []string{"getWebhook", "deleteWebhook", "rotateWebhookSecret", "pingWebhook", "listWebhookDeliveries"} {
		Examples[id] = example{Make: one}
	}
	for _, id := range []string{"getWebhookDelivery", "redeliverWebhookDelivery"} {
		Examples[id] = example{Make: func(h *Harness, tenant *storetest.Tenant) made {
			h.T.Helper()
			id := webhook(h, tenant)
			row, err := h.Store.Hooks.PingWebhook(
				h.T.Context(), tenant.Organization.ID, id, tenant.Users[schema.RoleAdmin].ID,
			)
			return made{"webhookId": id, "deliveryId": Created(h.T, row.WebhookDelivery.ID, err)}
		}}
	}
}

func auditExamples() {
	Examples["getAuditLogEntry"] = example{Make: func(h *Harness, tenant *storetest.Tenant) made {
		page, err := h.Store.Audit.ListAuditEntries(h.T.Context(), tenant.Organization.ID, audit.AuditFilter{}, nil, 1)
		if err != nil || len(page.Rows) == 0 {
			h.T.Fatal("the audit log is empty", err)
		}
		return made{"entryId": page.Rows[0].ID}
	}}
}
