package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/saml/samltest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestRemovedMembersHaveNothing removes a member who has every kind of access and objects of every kind. It checks that
// the member has no access any more.
func TestRemovedMembersHaveNothing(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	user, token := h.Ours.Users[schema.RoleCreate], h.Ours.Tokens[schema.RoleCreate]
	team, collection := h.Team(h.Ours, user.ID, h.Ours.Users[schema.RoleRead].ID), h.Collection(h.Ours, nil)
	h.Grant(h.Ours, collection, store.Subjects{Users: []string{user.ID}}, schema.RoleAdmin)
	path, request := apitest.ReviewPath(h)
	h.Want(200, "POST", path+"/requested-reviewers", admin, map[string]any{"users": []string{user.ID}})
	h.ChangeContent(schema.RoleCreate, request.ID, `{"operation":"insert_page","title":"Kept"}`)
	h.Want(200, "PATCH", org+"/members/"+user.ID, admin, `{"role":"admin"}`)
	link := h.Want(201, "POST", org+"/link-invites", token, `{"role":"admin"}`)["id"].(string)
	others := h.LinkInvite(h.Ours, `{"role":"read"}`).ID
	h.Want(200, "POST", org+"/invites", token, `{"emails":["second-self@example.com"],"role":"admin"}`)
	member := org + "/members/" + user.ID
	h.Want(403, "DELETE", member, h.Ours.Tokens[schema.RoleReview], nil)
	h.Want(404, "DELETE", member, h.Theirs.Tokens[schema.RoleAdmin], nil)
	for range 2 {
		h.Want(204, "DELETE", member, admin, nil)
	}
	h.Want(204, "DELETE", org+"/members/nobody", admin, nil)
	h.Want(404, "GET", member, admin, nil)
	// The member's work still shows the member's name. The user object has no other data of the member.
	want := map[string]any{
		"object": "user", "id": user.ID, "displayName": user.DisplayName,
		"urls": map[string]any{"location": "https://docs.example.com/base/v1/users/" + user.ID},
	}
	if got := h.Want(200, "GET", "/v1/users/"+user.ID, admin, nil); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	for _, gone := range []string{org, org + "/members", "/v1/collections/" + collection, "/v1/spaces/" + h.Ours.Space.ID, path} {
		h.Want(404, "GET", gone, token, nil)
	}
	if got := h.IDs("/v1/orgs", token); len(got) != 0 {
		t.Errorf("organizations %v", got)
	}
	if got := h.Want(200, "GET", org+"/teams/"+team, admin, nil); got["members"] != 1.0 {
		t.Errorf("%v", got)
	}
	for _, list := range []string{"/v1/collections/" + collection + "/permissions/users", path + "/requested-reviewers", org + "/invites"} {
		if got := h.Want(200, "GET", list, admin, nil); got["count"] != 0.0 {
			t.Errorf("%s: %v", list, got)
		}
	}
	// Invite links that the member created are invalid now, so the member cannot join again with them. Links of other
	// members stay valid, and the member's work stays.
	h.Want(404, "POST", org+"/invites/"+link, token, nil)
	if got := h.Want(200, "GET", path, admin, nil); got["id"] != request.ID {
		t.Errorf("%v", got)
	}
	h.Want(200, "POST", org+"/invites/"+others, token, nil)
	if got := h.Want(200, "GET", org, token, nil); got["permissions"].(map[string]any)["admin"] != false {
		t.Error("coming back brought the old role back")
	}
	// Members may remove themselves.
	h.Want(204, "DELETE", org+"/members/"+h.Ours.Users[schema.RoleGuest].ID, h.Ours.Tokens[schema.RoleGuest], nil)
	h.Want(404, "GET", org, h.Ours.Tokens[schema.RoleGuest], nil)
	if e := h.WantError(h.Do("DELETE", org+"/members/"+h.Ours.Users[schema.RoleAdmin].ID, admin, nil), 409); !strings.Contains(e.Message, "without an admin") {
		t.Error(e.Message)
	}
}

// TestNamedUsersAreFound removes a member to whom resources of every kind refer. It then transfers the content to
// another organization. For every user in an answer, the address in the answer still leads to that user.
func TestNamedUsersAreFound(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	space := "/v1/spaces/" + h.Ours.Space.ID
	user, token := h.Ours.Users[schema.RoleReview], h.Ours.Tokens[schema.RoleReview]
	made := func(path string, body any) string {
		t.Helper()
		a := h.Do("POST", path, token, body)
		var value struct{ ID string }
		if err := json.Unmarshal(a.Body, &value); err != nil || a.Status >= 300 || value.ID == "" {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		return path + "/" + value.ID
	}
	const words = `{"body":{"markdown":"Words"}}`
	comment := made(space+"/comments", words)
	reply := made(comment+"/replies", words)
	h.Want(200, "PUT", comment, token, `{"addedReactions":["👍"]}`)
	h.Want(200, "PUT", comment, token, `{"resolved":true}`)
	request := made(space+"/change-requests", `{"subject":"Mine"}`)
	inRequest := made(request+"/comments", words)
	others, _ := apitest.ReviewPath(h)
	asked := map[string]any{"users": []string{h.Ours.Users[schema.RoleCreate].ID}}
	h.Want(200, "POST", others+"/requested-reviewers", token, asked)
	review := made(others+"/reviews", `{"status":"approved"}`)
	conflicting, conflict := h.Conflicting(h.Ours)
	conflicts := h.RequestPath(conflicting.ID) + "/conflicts"
	h.Want(200, "POST", conflicts+"/"+conflict, token, `{"take":"theirs"}`)
	h.Want(204, "DELETE", org+"/members/"+user.ID, admin, nil)

	// check checks that each answer names the user, and that each named user can be read at the address in the answer.
	check := func(token string) {
		t.Helper()
		for _, path := range []string{
			comment, space + "/comments?status=all", comment + "/replies", reply, request,
			space + "/change-requests?status=draft", inRequest, request + "/comments",
			others + "/requested-reviewers", others + "/reviews", review,
			conflicts + "?status=all",
		} {
			named := false
			for _, shown := range usersIn(h.Want(200, "GET", path, token, nil)) {
				named = named || shown["id"] == user.ID
				location, err := url.Parse(shown["urls"].(map[string]any)["location"].(string))
				if err != nil {
					t.Fatal(err)
				}
				got := h.Want(200, "GET", strings.TrimPrefix(location.Path, "/base"), token, nil)
				if got["id"] != shown["id"] || got["displayName"] != shown["displayName"] {
					t.Errorf("%s: %v leads to %v", path, shown, got)
				}
			}
			if !named {
				t.Errorf("%s does not name the user", path)
			}
		}
	}
	check(admin)
	// The migration also stores users who were removed before it ran.
	migration, err := os.ReadFile("../store/migrations/00012_access_and_former_members.sql")
	_, insert, found := strings.Cut(string(migration), "insert into remembered_users")
	if err != nil || !found {
		t.Fatal(err, found)
	}
	h.Exec("delete from remembered_users")
	h.Want(404, "GET", "/v1/users/"+user.ID, admin, nil)
	h.Exec("insert into remembered_users" + insert)
	check(admin)
	h.Want(404, "GET", "/v1/users/"+user.ID, h.Theirs.Tokens[schema.RoleAdmin], nil)
	h.Want(404, "GET", "/v1/users/"+h.Ours.Users[schema.RoleAdmin].ID, token, nil)

	collection := h.Collection(h.Ours, nil)
	h.Exec("delete from site_spaces where space_id = $1", h.Ours.Space.ID)
	h.Exec("update spaces set parent_id = $1 where id = $2", collection, h.Ours.Space.ID)
	target := h.Theirs.Organization.ID
	if err := h.Store.Orgs.SetMember(
		t.Context(), target, h.Ours.Users[schema.RoleAdmin].ID, schema.RoleAdmin,
	); err != nil {
		t.Fatal(err)
	}
	h.Want(200, "POST", "/v1/collections/"+collection+"/transfer", admin, map[string]any{"organization": target})
	check(h.Theirs.Tokens[schema.RoleAdmin])
	h.Want(404, "GET", "/v1/users/"+h.Ours.Users[schema.RoleGuest].ID, h.Theirs.Tokens[schema.RoleAdmin], nil)
}

// usersIn returns all user objects in an answer, at any depth.
func usersIn(value any) (found []map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		if v["object"] == "user" {
			found = append(found, v)
		}
		for _, member := range v {
			found = append(found, usersIn(member)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, usersIn(item)...)
		}
	}
	return found
}

// TestLastAdminStays removes an organization's first admin and gives its second admin another role at the same time. In
// each of many rounds, an admin stays.
func TestLastAdminStays(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	org := h.Ours.Organization.ID
	admins := []string{h.Ours.Users[schema.RoleAdmin].ID, h.Member(h.Ours, schema.RoleAdmin)}
	for range 10 {
		var group sync.WaitGroup
		for i, admin := range admins {
			group.Go(func() {
				var err error
				if i == 0 {
					err = h.Store.Orgs.RemoveMember(t.Context(), org, admin)
				} else {
					err = h.Store.Orgs.ChangeMemberRole(t.Context(), org, admin, schema.RoleRead)
				}
				if err != nil && !schema.IsCode(err, schema.CodeConflict) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		left := 0
		for _, admin := range admins {
			m, err := h.Store.Orgs.Organization(t.Context(), admin, org)
			if err == nil && m.Role == schema.RoleAdmin {
				left++
			}
			if err := h.Store.Orgs.SetMember(t.Context(), org, admin, schema.RoleAdmin); err != nil {
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
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	guest := h.Ours.Users[schema.RoleGuest].ID
	team, foreign, collection := h.Team(h.Ours, guest), h.Team(h.Theirs), h.Collection(h.Ours, nil)
	h.Grant(h.Ours, collection, store.Subjects{Teams: []string{team}}, schema.RoleEdit)
	h.Want(200, "GET", "/v1/collections/"+collection, h.Ours.Tokens[schema.RoleGuest], nil)
	h.Want(403, "DELETE", org+"/teams/"+team, h.Ours.Tokens[schema.RoleCreate], nil)
	for _, id := range []string{team, team, foreign, "nothing"} {
		h.Want(204, "DELETE", org+"/teams/"+id, admin, nil)
	}
	h.Want(404, "GET", org+"/teams/"+team, admin, nil)
	h.Want(404, "GET", "/v1/collections/"+collection, h.Ours.Tokens[schema.RoleGuest], nil)
	h.Want(200, "GET", org+"/members/"+guest, admin, nil)
	h.Want(200, "GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/teams/"+foreign, h.Theirs.Tokens[schema.RoleAdmin], nil)
}

// TestDeleteOrganization creates objects of every kind in an organization and deletes the organization. From then on
// nobody can find it. After the purge, no table has rows of the organization, and the other tenants' rows are
// unchanged.
func TestDeleteOrganization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Want(200, "PATCH", "/v1/orgs/"+h.Theirs.Organization.ID, h.Theirs.Tokens[schema.RoleAdmin], `{"title":"Kept"}`)
	h.Want(200, "PATCH", "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin], `{"hostname":"another"}`)
	before := h.Rows()
	tenant := storetest.NewTenant(t, h.Store, "doomed")
	// Call every operation that creates objects, so that the organization has rows in all tables.
	for i := range h.Table {
		op := &h.Table[i]
		switch op.ID {
		case "deleteOrganizationById", "createOrganization", "transferCollection", "removeMemberFromOrganizationById", "updateMemberInOrganizationById":
			continue // These operations affect another organization or the members.
		}
		if op.Method == http.MethodPost || op.Method == http.MethodPut {
			h.Try(op, tenant, tenant.Tokens[schema.RoleAdmin])
		}
	}
	admin, org := tenant.Tokens[schema.RoleAdmin], "/v1/orgs/"+tenant.Organization.ID
	h.Want(200, "PATCH", org, admin, map[string]any{
		"hostname": "doomed", "emailDomains": []string{"doomed.example"}, "defaultContent": map[string]any{"type": "site", "site": tenant.Site.ID},
	})
	if err := h.Store.Orgs.ProveDomain(
		t.Context(), tenant.Organization.ID, "doomed.example", postgres.ProvedByOperator,
	); err != nil {
		t.Fatal(err)
	}
	h.Want(200, "POST", "/v1/integrations/doomed", admin, apitest.PublishBody(tenant.Organization.ID))
	link := h.LinkInvite(tenant, `{"role":"read"}`).ID
	h.Want(200, "POST", org+"/invites", admin, map[string]any{"emails": []string{*h.Ours.Users[schema.RoleAdmin].Email}})
	h.Want(201, "PUT", org+"/openapi/shown", admin, apitest.SpecBody(apitest.SpecText))
	h.Want(200, "PATCH", org+"/openapi/shown", admin, `{"visibility":"public"}`)
	h.Want(200, "GET", org+"/openapi/shown/published", "", nil)
	sso := apitest.NewSAML(h, tenant, nil)
	request, cookie := sso.Start("", "")
	h.Want(403, "DELETE", org, tenant.Tokens[schema.RoleCreate], nil)
	h.Want(204, "DELETE", org, h.Ours.Tokens[schema.RoleAdmin], nil)
	h.Want(200, "GET", org, admin, nil)
	for range 2 {
		h.Want(204, "DELETE", org, admin, nil)
	}
	gone := func() {
		t.Helper()
		for _, path := range []string{org, org + "/sites/" + tenant.Site.ID, "/v1/spaces/" + tenant.Space.ID, "/v1/subdomains/doomed", "/v1/integrations/doomed"} {
			h.Want(404, "GET", path, admin, nil)
		}
		if got := h.IDs("/v1/orgs", admin); slices.Contains(got, tenant.Organization.ID) {
			t.Errorf("organizations %v", got)
		}
		ours := h.Ours.Tokens[schema.RoleAdmin]
		for _, id := range []string{link, h.Ours.Users[schema.RoleAdmin].ID} {
			h.Want(404, "POST", org+"/invites/"+id, ours, nil)
		}
		h.Want(404, "POST", org+"/join", ours, nil)
		if got := h.Want(200, "GET", "/v1/user/invites", ours, nil); got["count"] != 0.0 {
			t.Errorf("%v", got)
		}
		h.Want(404, "GET", org+"/openapi/shown/published", "", nil)
		// A login began before the deletion. Its end would add a member.
		if a := sso.Post(sso.IdP.Good(sso.Service, request, samltest.Person{NameID: "new"}), cookie); a.Status != 404 {
			t.Errorf("a login: %d %s", a.Status, a.Body)
		}
		var keys int
		err := h.DB.QueryRow(t.Context(), "select count(*) from tokens where site_id = $1", tenant.Site.ID).Scan(&keys)
		if err != nil || keys != 0 {
			t.Errorf("%d keys of its site are left, %v", keys, err)
		}
	}
	gone()
	h.Want(200, "PATCH", "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin], `{"hostname":"doomed"}`)
	h.Want(200, "PATCH", "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin], `{"hostname":"another"}`)
	for range 2 {
		if err := h.Store.Orgs.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Store.PurgeContent(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone()
	var told bool // Notifications for front ends stay until they are delivered.
	const hears = "select exists (select from front_end_changes where organization_id = $1 and tag = $2)"
	err := h.DB.QueryRow(t.Context(), hears,
		tenant.Organization.ID, schema.SiteTag(tenant.Site.ID)).Scan(&told)
	if err != nil || !told {
		t.Errorf("front ends do not hear that the site is gone: %v", err)
	}
	after := h.Rows()
	// Leave out the tables whose rows do not belong to an organization: accounts, their numbers of mails, and the
	// server's secrets. Also leave out notifications for front ends.
	for _, table := range []string{
		"mail_counts", "users", "tokens", "browser_sessions", "secrets", "site_token_keys", "front_end_changes",
	} {
		delete(before, table)
		delete(after, table)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if got := h.Want(200, "GET", "/v1/orgs/"+h.Theirs.Organization.ID, h.Theirs.Tokens[schema.RoleAdmin], nil); got["title"] != "Kept" {
		t.Errorf("%v", got)
	}
}
