package api_test

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestDemotedMembersStayDemoted takes the role admin from a member who has made invites of every kind. It checks that
// the member gets no higher role by any of them.
func TestDemotedMembersStayDemoted(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"to a reader": `{"role":"read"}`, "to a guest": `{"role":null}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := apitest.New(t)
			admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
			user, token := h.Ours.Users[schema.RoleEdit], h.Ours.Tokens[schema.RoleEdit]
			collection, space := h.Collection(h.Ours, nil), h.Ours.Space.ID
			h.CloseCollection(collection)
			h.CloseSpace(space)
			h.Want(200, "PATCH", org+"/members/"+user.ID, admin, `{"role":"admin"}`)
			made := func(body any) string {
				t.Helper()
				return h.Want(201, "POST", org+"/link-invites", token, body)["id"].(string)
			}
			links := []string{
				made(`{"role":"admin"}`), made(map[string]any{"level": "admin", "space": space}),
				made(map[string]any{"level": "admin", "collection": collection}),
			}
			// A link of another admin whose role the member has raised.
			raised := h.LinkInvite(h.Ours, `{"role":"read"}`).ID
			h.Want(200, "PATCH", org+"/link-invites/"+raised, token, `{"role":"admin"}`)
			links = append(links, raised)
			others := h.LinkInvite(h.Ours, `{"role":null}`).ID
			second, secondToken := storetest.User(t, h.Store, schema.NewID())
			h.Want(200, "POST", org+"/invites", token, map[string]any{"emails": []any{second.Email}, "role": "admin"})
			h.Want(200, "PATCH", org+"/members/"+user.ID, admin, to)
			for _, link := range links {
				h.Want(404, "POST", org+"/invites/"+link, token, nil)
				h.Want(404, "GET", org+"/link-invites/"+link, admin, nil)
			}
			h.Want(404, "POST", org+"/invites/"+second.ID, secondToken, nil)
			h.Want(200, "POST", org+"/invites/"+others, token, nil)
			h.Want(403, "POST", org+"/link-invites", token, `{"role":"admin"}`)
			for _, closed := range []string{"/v1/spaces/" + space, "/v1/collections/" + collection} {
				h.Want(404, "GET", closed, token, nil)
			}
			if got := h.Want(200, "GET", org, token, nil); got["permissions"].(map[string]any)["admin"] != false {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestOldInvitesRaiseNobody invites people as admins by e-mail. They join by a link and ignore the mail. An admin then
// lowers the role of one, and removes the other. Both refuse the old invite.
func TestOldInvitesRaiseNobody(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	link := h.LinkInvite(h.Ours, `{"role":"create"}`).ID
	for _, end := range []struct {
		method string
		body   any
		role   schema.Role
		member bool
	}{{"PATCH", `{"role":"read"}`, schema.RoleRead, true}, {"DELETE", nil, "", false}} {
		user, token := storetest.User(t, h.Store, schema.NewID())
		h.Want(200, "POST", org+"/invites", admin, map[string]any{"emails": []any{user.Email}, "role": "admin"})
		h.Want(200, "POST", org+"/invites/"+link, token, nil)
		if a := h.Do(end.method, org+"/members/"+user.ID, admin, end.body); a.Status >= 300 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		h.Do("POST", org+"/invites/"+user.ID, token, nil)
		if role, member := h.Role(user.ID); role != end.role || member != end.member {
			t.Errorf("%s: %q %t", end.method, role, member)
		}
	}
}

// TestInvitesWhileARoleIsTaken makes, changes and follows invites of a member while another transaction takes the
// member's role admin. The member's request comes second, so it must have no effect.
func TestInvitesWhileARoleIsTaken(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]struct {
		method, path string
		body         any
		status       int
	}{
		"make a link":    {"POST", "/link-invites", `{"role":"admin"}`, 404},
		"change a link":  {"PATCH", "/link-invites/{link}", `{"role":"admin"}`, 404},
		"follow a link":  {"POST", "/invites/{own}", nil, 404},
		"invite by mail": {"POST", "/invites", `{"emails":["second-self@example.com"],"role":"admin"}`, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := apitest.New(t)
			org := "/v1/orgs/" + h.Ours.Organization.ID
			user, _ := storetest.User(t, h.Store, schema.NewID())
			err := h.Store.Orgs.SetMember(t.Context(), h.Ours.Organization.ID, user.ID, schema.RoleAdmin)
			if err != nil {
				t.Fatal(err)
			}
			token := storetest.Token(t, h.Store, store.NewToken{User: user.ID})
			own := h.Want(201, "POST", org+"/link-invites", token, `{"role":"admin"}`)["id"].(string)
			link := h.LinkInvite(h.Ours, `{"role":"read"}`).ID
			path := strings.NewReplacer("{own}", own, "{link}", link).Replace(org + request.path)
			demotion := h.Begin()
			demotion.Do("update memberships set role = 'read' where user_id = $1", user.ID)
			demotion.Do("delete from link_invites where created_by = $1", user.ID)
			answered := make(chan apitest.Answer, 1)
			go func() { answered <- h.Do(request.method, path, token, request.body) }()
			demotion.AwaitWaiting()
			demotion.Finish()
			if a := <-answered; a.Status != request.status {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if role, member := h.Role(user.ID); role != schema.RoleRead || !member {
				t.Errorf("the member has the role %q", role)
			}
			admin := h.Ours.Tokens[schema.RoleAdmin]
			if got := h.Want(200, "GET", org+"/link-invites/"+link, admin, nil); got["role"] != "read" {
				t.Errorf("%v", got)
			}
			for _, list := range []string{"/link-invites", "/invites"} {
				want := map[string]float64{"/link-invites": 1}[list]
				if got := h.Want(200, "GET", org+list, admin, nil); got["count"] != want {
					t.Errorf("%s: %v", list, got)
				}
			}
		})
	}
}

// TestInvitesAreAcceptedWhileARoleIsTaken lets a member accept an own pending invite by e-mail while another
// transaction changes the member's role, and then deletes the invite. The request must wait for the membership before
// it takes the invite. Otherwise the two would deadlock.
func TestInvitesAreAcceptedWhileARoleIsTaken(t *testing.T) {
	t.Parallel()
	for name, byMail := range map[string]bool{"by id": false, "by the link in a mail": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := apitest.New(t)
			organization, admin := h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin]
			org := "/v1/orgs/" + organization
			user, token := storetest.User(t, h.Store, schema.NewID())
			h.Want(200, "POST", org+"/invites", admin, map[string]any{"emails": []any{user.Email}, "role": "admin"})
			path, body, status := org+"/invites/"+user.ID, any(nil), 200
			if byMail {
				path, body, status = "/v1/invites/accept?link="+h.InviteLink(h.Ours, user.ID), apitest.Form{}, 404
			}
			if err := h.Store.Orgs.SetMember(t.Context(), organization, user.ID, schema.RoleCreate); err != nil {
				t.Fatal(err)
			}
			demotion := h.Begin()
			demotion.Do("update memberships set role = 'read' where user_id = $1", user.ID)
			answered := make(chan apitest.Answer, 1)
			go func() { answered <- h.Do("POST", path, token, body) }()
			demotion.AwaitWaiting()
			demotion.Do("select from email_invites where user_id = $1 for update nowait", user.ID)
			demotion.Do("delete from email_invites where user_id = $1", user.ID)
			demotion.Finish()
			if a := <-answered; a.Status != status {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if role, member := h.Role(user.ID); role != schema.RoleRead || !member {
				t.Errorf("the member has the role %q", role)
			}
		})
	}
}
