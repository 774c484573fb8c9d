package orgs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

var linkInviteShape = shape.Of{
	"object": shape.One("invite"), "id": shape.ID, "role": shape.One(append(shape.Role, nil)...), "redundant": shape.Boolean, "expiresAt": shape.InviteEnd,
}

func TestInviteByEmail(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	known, _ := storetest.User(t, h.Store, "Known")
	got := s.Invite(`{"emails":["ann@example.com",{"email":"bob@example.com","role":null},{"email":"Eve@example.com","role":"admin"},
		"KNOWN@example.com","ANN@example.com","ours-read@example.com"],"role":"edit","extra":1}`)
	if got.Invited != 4 || len(got.Users) != 4 || len(got.FailedSSOEmails) != 0 {
		t.Fatalf("%+v", got)
	}
	for email, want := range map[string]schema.Role{
		"ann@example.com": schema.RoleEdit, "bob@example.com": schema.RoleGuest, "eve@example.com": schema.RoleAdmin,
		"known@example.com": schema.RoleEdit,
	} {
		user, err := h.Store.Orgs.FindUser(t.Context(), email)
		if _, member := h.Role(user.ID); err != nil || member || !slices.Contains(got.Users, user.ID) {
			t.Errorf("%s is a member without having accepted: %v %v", email, member, err)
		}
		h.Accept(user.ID)
		h.Accept(user.ID)
		if role, ok := h.Role(user.ID); !ok || role != want {
			t.Errorf("%s: %q %v", email, role, ok)
		}
	}
	if !slices.Contains(got.Users, known.ID) {
		t.Errorf("a second account was made: %+v", got)
	}
	// Members who are invited again keep their roles.
	if again := s.Invite(`{"emails":["ann@example.com","ours-read@example.com"],"role":"admin"}`); again.Invited != 0 || len(again.Users) != 0 {
		t.Errorf("%+v", again)
	}
	if role, _ := h.Role(h.Ours.Users[schema.RoleRead].ID); role != schema.RoleRead {
		t.Errorf("role %q", role)
	}
	// If the request has no role, the person gets the organization's default role. null means that the person becomes a
	// guest.
	h.Want(200, "PATCH", s.Org, s.Token, `{"defaultRole":"comment"}`)
	for body, want := range map[string]schema.Role{
		`{"emails":["d1@example.com"]}`: schema.RoleComment, `{"emails":["d2@example.com"],"role":null}`: schema.RoleGuest,
		`{"emails":[{"email":"d3@example.com"}]}`: schema.RoleComment,
	} {
		user := s.Invite(body).Users[0]
		h.Accept(user)
		if role, ok := h.Role(user); !ok || role != want {
			t.Errorf("%s: %q", body, role)
		}
	}
}

func TestInviteToSSO(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	provider := "/saml/" + apitest.Examples["updateOrganizationSAMLProvider"].Make(h, h.Ours)["samlProviderId"]
	before := h.Rows()
	want := people.Invited{Users: []string{}, FailedSSOEmails: []string{"a@example.com", "b@example.com"}}
	if diff := cmp.Diff(want, s.Invite(`{"emails":["a@example.com",{"email":"b@example.com"}],"sso":true}`)); diff != "" {
		t.Error(diff)
	}
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
	_, certificate := testCertificate(t)
	h.Do("PATCH", s.Org+provider, s.Token, `{"entityID":"e","ssoURL":"https://idp.example.com","certificate":"`+certificate+`"}`)
	got := s.Invite(`{"emails":["a@example.com"],"sso":true}`)
	if got.Invited != 1 || len(got.FailedSSOEmails) != 0 {
		t.Errorf("%+v", got)
	}
	h.Accept(got.Users[0])
	h.Accept(s.Invite(`{"emails":["b@example.com"]}`).Users[0])
	h.Exec(`do $$ begin
		assert (select array_agg(m.sso order by u.email) from memberships m join users u on u.id = m.user_id
			where u.email in ('a@example.com', 'b@example.com')) = array[true, false];
	end $$`)
}

// TestInvitesInParallel invites the same new people concurrently. Each person gets one account and one invite.
func TestInvitesInParallel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	before := h.Rows()
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			emails := []string{"p1@example.com", "P2@example.com", "p3@example.com", "p4@example.com"}
			if worker%2 == 0 {
				slices.Reverse(emails)
			}
			body, _ := json.Marshal(map[string]any{"emails": emails, "role": "edit"})
			if got := s.Invite(string(body)); got.Invited != 4 {
				t.Errorf("%+v", got)
			}
		})
	}
	wait.Wait()
	rows, err := h.DB.Query(t.Context(), `select
		concat_ws(' ', u.display_name, u.email, i.email, i.organization_id, i.role, i.sso, i.created_by,
			i.expires_at > now())
		from users u left join email_invites i on i.user_id = u.id where u.email ilike 'p_@example.com' order by lower(u.email)`)
	if err != nil {
		t.Fatal(err)
	}
	made, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"p1", "P2", "p3", "p4"} {
		want = append(want, fmt.Sprintf("%[1]s %[1]s@example.com %[1]s@example.com %[2]s edit f %[3]s t", name, h.Ours.Organization.ID, h.Ours.Users[schema.RoleAdmin].ID))
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	// After the invited people are deleted, the database is as before the invites.
	h.Exec("delete from users where email ilike 'p_@example.com'; delete from mail_counts; delete from secrets where name = 'invite-links'; delete from river_job where kind = 'send_invites'")
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Error(diff)
	}
}

func TestLinkInvite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	a := h.Do("POST", s.Org+"/link-invites", s.Token, `{"role":"edit"}`)
	made := shape.Want(t, linkInviteShape, a.Body)
	one := "/link-invites/" + made["id"].(string)
	if a.Status != 201 || a.Header.Get("Location") != "https://docs.example.com/base"+s.Org+one || made["role"] != "edit" || made["redundant"] != true {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	join := "/v1/orgs/" + h.Ours.Organization.ID + "/invites/" + made["id"].(string)
	user, token := storetest.User(t, h.Store, "stranger")
	for range 2 {
		if a := h.Do("POST", join, token, nil); a.Status != 200 || string(a.Body) != "{}" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if role, ok := h.Role(user.ID); !ok || role != schema.RoleEdit {
		t.Errorf("role %q", role)
	}
	// A link raises the role of a member, and never lowers it. A guest gets the role of the link.
	for _, who := range []struct{ is, becomes schema.Role }{
		{schema.RoleGuest, schema.RoleEdit}, {schema.RoleRead, schema.RoleEdit}, {schema.RoleReview, schema.RoleReview}, {schema.RoleAdmin, schema.RoleAdmin},
	} {
		h.Do("POST", join, h.Ours.Tokens[who.is], nil)
		if role, _ := h.Role(h.Ours.Users[who.is].ID); role != who.becomes {
			t.Errorf("%q became %q", who.is, role)
		}
	}
	// The role of a link can be changed. Users who have used the link before the change keep their role.
	changed := shape.Want(t, linkInviteShape, h.Do("PATCH", s.Org+one, s.Token, `{"role":null}`).Body)
	if changed["role"] != nil || !cmp.Equal(changed, shape.Want(t, linkInviteShape, h.Do("GET", s.Org+one, s.Token, nil).Body)) {
		t.Errorf("%v", changed)
	}
	if role, _ := h.Role(user.ID); role != schema.RoleEdit {
		t.Errorf("role %q", role)
	}
	late, lateToken := storetest.User(t, h.Store, "late")
	h.Do("POST", join, lateToken, nil)
	if role, ok := h.Role(late.ID); !ok || role != schema.RoleGuest {
		t.Errorf("role %q %v", role, ok)
	}
	listed := shape.Want(t, shape.ListOf(linkInviteShape), h.Do("GET", s.Org+"/link-invites", s.Token, nil).Body)
	if diff := cmp.Diff([]any{changed}, listed["items"]); diff != "" || listed["count"] != 1.0 {
		t.Error(diff)
	}
	// If an organization turns invite links off, nobody can create or use links. The errors say why.
	lostUser, lost := storetest.User(t, h.Store, "lost")
	h.Want(200, "PATCH", s.Org, s.Token, `{"inviteLinks":false}`)
	for _, e := range []schema.ErrorObject{
		h.WantError(h.Do("POST", join, lost, nil), 403), h.WantError(h.Do("POST", s.Org+"/link-invites", s.Token, `{"role":"edit"}`), 403),
	} {
		if !strings.Contains(e.Message, "invite links") || !strings.Contains(e.Message, "off") {
			t.Errorf("%+v", e)
		}
	}
	h.Want(200, "PATCH", s.Org, s.Token, `{"inviteLinks":true}`)
	// Nobody can use a link that has expired.
	h.Exec("update link_invites set expires_at = now() - interval '1 second'")
	if e := h.WantError(h.Do("POST", join, lost, nil), 403); !strings.Contains(e.Message, "ended") {
		t.Errorf("%+v", e)
	}
	if _, member := h.Role(lostUser.ID); member {
		t.Error("a link that is off or has ended made a member")
	}
	h.WantError(h.Do("POST", "/v1/orgs/"+h.Theirs.Organization.ID+"/invites/"+made["id"].(string), lost, nil), 404)
	for range 2 {
		if a := h.Do("DELETE", s.Org+one, s.Token, nil); a.Status != 204 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	h.WantError(h.Do("POST", join, lost, nil), 404)
	h.WantError(h.Do("GET", s.Org+one, s.Token, nil), 404)
	h.WantError(h.Do("PATCH", s.Org+one, s.Token, `{"role":"read"}`), 404)
}

// TestFollowInParallel: if a user uses a link with a low role and a link with a high role at the same time, the user
// always gets the high role.
func TestFollowInParallel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	low, high := h.LinkInvite(h.Ours, `{"role":"read"}`), h.LinkInvite(h.Ours, `{"role":"create"}`)
	user, token := storetest.User(t, h.Store, "stranger")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			invite := []people.LinkInvite{low, high}[i%2]
			if a := h.Do("POST", "/v1/orgs/"+h.Ours.Organization.ID+"/invites/"+invite.ID, token, nil); a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	if role, ok := h.Role(user.ID); !ok || role != schema.RoleCreate {
		t.Errorf("role %q", role)
	}
}

func TestBadInvites(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	one := "/link-invites/" + h.LinkInvite(h.Ours, `{"role":"read"}`).ID
	before := h.Rows()
	long := fmt.Sprintf("%0250d@example.com", 0)
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", "/invites", `{}`, "emails"},
		{"POST", "/invites", `{"emails":"a@example.com"}`, "emails"},
		{"POST", "/invites", `{"emails":["ok@example.com","nobody"]}`, "emails[1]"},
		{"POST", "/invites", `{"emails":["Ann <ann@example.com>"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":[" ann@example.com"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@example.com\u0000"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@localhost"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@LocalHost"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@docs.localhost"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@[127.0.0.1]"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@[IPv6:::1]"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@127.0.0.1"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@10.0.0.10"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@2130706433"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@intranet"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@-x.example"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["` + long + `"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":[null]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":[{}]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":[7]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":[{"email":"x"}]}`, "emails[0].email"},
		{"POST", "/invites", `{"emails":[{"email":"a@example.com","role":"king"}]}`, "emails[0].role"},
		{"POST", "/invites", `{"emails":["a@example.com"],"role":"king"}`, "role"},
		{"POST", "/invites", `{"emails":["a@example.com"],"sso":"yes"}`, "sso"},
		{"POST", "/link-invites", `{}`, "role"},
		{"POST", "/link-invites", `{"role":"king"}`, "role"},
		{"POST", "/link-invites", `{"role":"read","level":"read","space":"x"}`, "role"},
		{"POST", "/link-invites", `{"level":"read"}`, "space"},
		{"POST", "/link-invites", `{"space":"x"}`, "level"},
		{"POST", "/link-invites", `{"level":"read","space":"x","collection":"x"}`, "collection"},
		{"POST", "/link-invites", `{"level":"king","space":"x"}`, "level"},
		{"POST", "/link-invites", `{"level":"read","space":"x y"}`, "space"},
		{"POST", "/link-invites", `{"level":"read","space":"` + h.Theirs.Space.ID + `"}`, "space"},
		{"POST", "/link-invites", `{"level":"read","collection":"nothing"}`, "collection"},
		{"POST", "/link-invites", `{"level":"read","collection":{}}`, "collection"},
		{"PATCH", one, `{}`, ""},
		{"PATCH", one, `{"level":"read"}`, "level"},
		{"PATCH", one, `{"role":"king"}`, "role"},
	} {
		e := h.WantError(h.Do(test.method, s.Org+test.path, s.Token, test.body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s %s: %+v", test.path, test.body, e)
		}
	}
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

// TestLinkInviteToContent gives access to a space and to a collection by links: to a user outside the organization, and
// to members.
func TestLinkInviteToContent(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	collection, err := h.Store.CreateCollection(t.Context(), store.NewCollection{OrganizationID: h.Ours.Organization.ID, Title: "Guides"})
	if err != nil {
		t.Fatal(err)
	}
	inside, err := h.Store.CreateSpace(t.Context(), store.NewSpace{
		OrganizationID: h.Ours.Organization.ID, ParentID: &collection.ID, Title: "Inside", Emoji: "1f4d6", EditMode: "live",
	})
	if err != nil {
		t.Fatal(err)
	}
	invitedCollection := shape.Of{
		"object": shape.One("collection"), "id": shape.ID, "title": shape.Text(0, 50), "description?": shape.Text(0, 100), "organization": shape.ID, "parent?": shape.ID,
		"defaultLevel": shape.One(append(shape.Role, nil, "inherit")...), "urls": shape.Object(shape.Of{"location": shape.URI, "app": shape.URI}),
		"permissions": shape.Booleans("view admin viewInviteLinks create"),
	}
	h.CloseSpace(h.Ours.Space.ID)
	h.CloseCollection(collection.ID)
	for _, test := range []struct {
		name, id, reads string
		shape           shape.Of
	}{
		{"space", h.Ours.Space.ID, h.Ours.Space.ID, shape.Space}, {"collection", collection.ID, inside.ID, invitedCollection},
	} {
		form := shape.Of{"object": shape.One("invite"), "id": shape.ID, "level": shape.One(append(shape.Role, nil)...), "redundant": shape.Boolean, "expiresAt": shape.InviteEnd, test.name: shape.Object(test.shape)}
		a := h.Do("POST", s.Org+"/link-invites", s.Token, fmt.Sprintf(`{"level":"comment",%q:%q}`, test.name, test.id))
		made := shape.Want(t, form, a.Body)
		if a.Status != 201 || made["level"] != "comment" || made["redundant"] != true || made[test.name].(map[string]any)["id"] != test.id {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		one := s.Org + "/link-invites/" + made["id"].(string)
		join := s.Org + "/invites/" + made["id"].(string)
		stranger, token := storetest.User(t, h.Store, "stranger-"+test.name)
		space := func(token string) (got schema.Space, ok bool) {
			t.Helper()
			a := h.Do("GET", "/v1/spaces/"+test.reads, token, nil)
			return got, a.Status == 200 && json.Unmarshal(a.Body, &got) == nil
		}
		for _, who := range []string{token, h.Ours.Tokens[schema.RoleRead]} {
			if _, ok := space(who); ok {
				t.Errorf("%s: access without an invite", test.name)
			}
			for range 2 {
				if a := h.Do("POST", join, who, nil); a.Status != 200 || string(a.Body) != "{}" {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			}
			if got, ok := space(who); !ok || !got.Permissions.Comment || got.Permissions.Edit {
				t.Errorf("%s: %v %+v", test.name, ok, got.Permissions)
			}
		}
		if role, ok := h.Role(stranger.ID); !ok || role != schema.RoleGuest {
			t.Errorf("role %q %v", role, ok)
		}
		// If a user uses the link again after its level has changed, a higher level raises the user's access. A lower
		// level does not lower it.
		for _, level := range []string{`"edit"`, `"read"`, `null`} {
			changed := shape.Want(t, form, h.Do("PATCH", one, s.Token, `{"level":`+level+`}`).Body)
			if !cmp.Equal(changed, shape.Want(t, form, h.Do("GET", one, s.Token, nil).Body)) {
				t.Errorf("%v", changed)
			}
			h.Do("POST", join, token, nil)
			if got, ok := space(token); !ok || !got.Permissions.Edit || got.Permissions.Review {
				t.Errorf("%s: %v %+v", test.name, ok, got.Permissions)
			}
		}
		e := h.WantError(h.Do("PATCH", one, s.Token, `{"role":"read"}`), 400)
		if e.Details[0].Field != "role" {
			t.Errorf("%+v", e)
		}
		if a := h.Do("DELETE", one, s.Token, nil); a.Status != 204 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if _, ok := space(token); !ok {
			t.Error("the invite took back what it gave")
		}
	}
	if listed := shape.Want(t, shape.ListOf(linkInviteShape), h.Do("GET", s.Org+"/link-invites", s.Token, nil).Body); listed["count"] != 0.0 {
		t.Errorf("%v", listed)
	}
}
