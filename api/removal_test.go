package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func removalExamples() {
	examples["removeMemberFromOrganizationById"] = example{needs: RightAdmin, make: func(h *harness, tenant *storetest.Tenant) made {
		return made{"userId": h.member(tenant, schema.RoleAdmin)}
	}}
	examples["removeTeamFromOrganizationById"] = example{make: func(h *harness, tenant *storetest.Tenant) made {
		return made{"teamId": h.team(tenant)}
	}}
	examples["deleteOrganizationById"] = example{make: func(h *harness, tenant *storetest.Tenant) made {
		id := h.organization(tenant)
		for role, user := range tenant.Users {
			if err := h.st.SetMember(h.t.Context(), id, user.ID, role); err != nil {
				h.t.Fatal(err)
			}
		}
		return made{"organizationId": id}
	}}
}

// TestRemovedMembersHaveNothing removes a member who has something in every way, and looks at what is left.
func TestRemovedMembersHaveNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, org := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID
	user, token := h.ours.Users[schema.RoleCreate], h.ours.Tokens[schema.RoleCreate]
	team, collection := h.team(h.ours, user.ID, h.ours.Users[schema.RoleRead].ID), h.collection(h.ours, nil)
	h.grant(h.ours, collection, store.Subjects{Users: []string{user.ID}}, schema.RoleAdmin)
	path, request := reviewPath(h)
	h.want(200, "POST", path+"/requested-reviewers", admin, map[string]any{"users": []string{user.ID}})
	h.changeContent(schema.RoleCreate, request.ID, `{"operation":"insert_page","title":"Kept"}`)
	h.want(200, "PATCH", org+"/members/"+user.ID, admin, `{"role":"admin"}`)
	link := h.want(201, "POST", org+"/link-invites", token, `{"role":"admin"}`)["id"].(string)
	others := h.linkInvite(h.ours, `{"role":"read"}`).ID
	h.want(200, "POST", org+"/invites", token, `{"emails":["second-self@example.com"],"role":"admin"}`)
	member := org + "/members/" + user.ID
	h.want(403, "DELETE", member, h.ours.Tokens[schema.RoleReview], nil)
	h.want(404, "DELETE", member, h.theirs.Tokens[schema.RoleAdmin], nil)
	for range 2 {
		h.want(204, "DELETE", member, admin, nil)
	}
	h.want(204, "DELETE", org+"/members/nobody", admin, nil)
	h.want(404, "GET", member, admin, nil)
	h.want(404, "GET", "/v1/users/"+user.ID, admin, nil)
	for _, gone := range []string{org, org + "/members", "/v1/collections/" + collection, "/v1/spaces/" + h.ours.Space.ID, path} {
		h.want(404, "GET", gone, token, nil)
	}
	if got := h.ids("/v1/orgs", token); len(got) != 0 {
		t.Errorf("organizations %v", got)
	}
	if got := h.want(200, "GET", org+"/teams/"+team, admin, nil); got["members"] != 1.0 {
		t.Errorf("%v", got)
	}
	for _, list := range []string{"/v1/collections/" + collection + "/permissions/users", path + "/requested-reviewers", org + "/invites"} {
		if got := h.want(200, "GET", list, admin, nil); got["count"] != 0.0 {
			t.Errorf("%s: %v", list, got)
		}
	}
	// No link that the member made leads back; those of others stay, and so does the member's work.
	h.want(404, "POST", org+"/invites/"+link, token, nil)
	if got := h.want(200, "GET", path, admin, nil); got["id"] != request.ID {
		t.Errorf("%v", got)
	}
	h.want(200, "POST", org+"/invites/"+others, token, nil)
	if got := h.want(200, "GET", org, token, nil); got["permissions"].(map[string]any)["admin"] != false {
		t.Error("coming back brought the old role back")
	}
	// Oneself may leave.
	h.want(204, "DELETE", org+"/members/"+h.ours.Users[schema.RoleGuest].ID, h.ours.Tokens[schema.RoleGuest], nil)
	h.want(404, "GET", org, h.ours.Tokens[schema.RoleGuest], nil)
	if e := h.wantError(h.do("DELETE", org+"/members/"+h.ours.Users[schema.RoleAdmin].ID, admin, nil), 409); !strings.Contains(e.Message, "without an admin") {
		t.Error(e.Message)
	}
}

// TestLastAdminStays lets two admins leave at once, many times: one is always left.
func TestLastAdminStays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	org := h.ours.Organization.ID
	admins := []string{h.ours.Users[schema.RoleAdmin].ID, h.member(h.ours, schema.RoleAdmin)}
	for range 10 {
		var group sync.WaitGroup
		for i, admin := range admins {
			group.Go(func() {
				var err error
				if i == 0 {
					err = h.st.RemoveMember(t.Context(), org, admin)
				} else {
					err = h.st.ChangeMemberRole(t.Context(), org, admin, schema.RoleRead)
				}
				if err != nil && !schema.IsCode(err, schema.CodeConflict) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		left := 0
		for _, admin := range admins {
			m, err := h.st.Organization(t.Context(), admin, org)
			if err == nil && m.Role == schema.RoleAdmin {
				left++
			}
			if err := h.st.SetMember(t.Context(), org, admin, schema.RoleAdmin); err != nil {
				t.Fatal(err)
			}
		}
		if left != 1 {
			t.Fatalf("%d admins are left", left)
		}
	}
}

func TestDeleteTeam(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, org := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID
	guest := h.ours.Users[schema.RoleGuest].ID
	team, foreign, collection := h.team(h.ours, guest), h.team(h.theirs), h.collection(h.ours, nil)
	h.grant(h.ours, collection, store.Subjects{Teams: []string{team}}, schema.RoleEdit)
	h.want(200, "GET", "/v1/collections/"+collection, h.ours.Tokens[schema.RoleGuest], nil)
	h.want(403, "DELETE", org+"/teams/"+team, h.ours.Tokens[schema.RoleCreate], nil)
	for _, id := range []string{team, team, foreign, "nothing"} {
		h.want(204, "DELETE", org+"/teams/"+id, admin, nil)
	}
	h.want(404, "GET", org+"/teams/"+team, admin, nil)
	h.want(404, "GET", "/v1/collections/"+collection, h.ours.Tokens[schema.RoleGuest], nil)
	h.want(200, "GET", org+"/members/"+guest, admin, nil)
	h.want(200, "GET", "/v1/orgs/"+h.theirs.Organization.ID+"/teams/"+foreign, h.theirs.Tokens[schema.RoleAdmin], nil)
}

// TestDeleteOrganization fills an organization, deletes it, and finds it gone for everybody at once, and from every table once
// it is purged. The other tenant keeps all that it has.
func TestDeleteOrganization(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	conn := h.connect()
	h.want(200, "PATCH", "/v1/orgs/"+h.theirs.Organization.ID, h.theirs.Tokens[schema.RoleAdmin], `{"title":"Kept"}`)
	before := h.rows()
	tenant := storetest.NewTenant(t, h.st, "doomed")
	// Every operation with an example leaves something there.
	for i := range h.table {
		op := &h.table[i]
		switch op.ID {
		case "deleteOrganizationById", "createOrganization", "transferCollection", "removeMemberFromOrganizationById", "updateMemberInOrganizationById":
			continue // They are about another organization, or about the members.
		}
		if op.Method == http.MethodPost || op.Method == http.MethodPut {
			h.try(op, tenant, tenant.Tokens[schema.RoleAdmin])
		}
	}
	admin, org := tenant.Tokens[schema.RoleAdmin], "/v1/orgs/"+tenant.Organization.ID
	h.want(200, "PATCH", org, admin, map[string]any{
		"hostname": "doomed", "emailDomains": []string{"doomed.example"}, "defaultContent": map[string]any{"type": "site", "site": tenant.Site.ID},
	})
	if err := h.st.ProveDomain(t.Context(), tenant.Organization.ID, "doomed.example", store.ProvedByOperator); err != nil {
		t.Fatal(err)
	}
	h.want(200, "POST", "/v1/integrations/doomed", admin, publishBody(tenant.Organization.ID))
	link := h.linkInvite(tenant, `{"role":"read"}`).ID
	h.want(200, "POST", org+"/invites", admin, map[string]any{"emails": []string{*h.ours.Users[schema.RoleAdmin].Email}})
	h.want(403, "DELETE", org, tenant.Tokens[schema.RoleCreate], nil)
	h.want(204, "DELETE", org, h.ours.Tokens[schema.RoleAdmin], nil)
	h.want(200, "GET", org, admin, nil)
	for range 2 {
		h.want(204, "DELETE", org, admin, nil)
	}
	gone := func() {
		t.Helper()
		for _, path := range []string{org, org + "/sites/" + tenant.Site.ID, "/v1/spaces/" + tenant.Space.ID, "/v1/subdomains/doomed", "/v1/integrations/doomed"} {
			h.want(404, "GET", path, admin, nil)
		}
		if got := h.ids("/v1/orgs", admin); slices.Contains(got, tenant.Organization.ID) {
			t.Errorf("organizations %v", got)
		}
		ours := h.ours.Tokens[schema.RoleAdmin]
		for _, id := range []string{link, h.ours.Users[schema.RoleAdmin].ID} {
			h.want(404, "POST", org+"/invites/"+id, ours, nil)
		}
		h.want(404, "POST", org+"/join", ours, nil)
		if got := h.want(200, "GET", "/v1/user/invites", ours, nil); got["count"] != 0.0 {
			t.Errorf("%v", got)
		}
		var keys int
		err := conn.QueryRow(t.Context(), "select count(*) from tokens where site_id = $1", tenant.Site.ID).Scan(&keys)
		if err != nil || keys != 0 {
			t.Errorf("%d keys of its site are left, %v", keys, err)
		}
	}
	gone()
	h.want(200, "PATCH", "/v1/orgs/"+h.ours.Organization.ID, h.ours.Tokens[schema.RoleAdmin], `{"hostname":"doomed"}`)
	h.want(200, "PATCH", "/v1/orgs/"+h.ours.Organization.ID, h.ours.Tokens[schema.RoleAdmin], `{"hostname":"another"}`)
	for range 2 {
		if err := h.st.PurgeOrganizations(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone()
	after := h.rows()
	// Accounts are no organization's, and secrets are the installation's.
	for _, table := range []string{"users", "tokens", "secrets"} {
		delete(before, table)
		delete(after, table)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if got := h.want(200, "GET", "/v1/orgs/"+h.theirs.Organization.ID, h.theirs.Tokens[schema.RoleAdmin], nil); got["title"] != "Kept" {
		t.Errorf("%v", got)
	}
}
