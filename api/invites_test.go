package api

import (
	"encoding/json"
	"fmt"
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

func invitesExamples() {
	make := func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		// Whoever follows it is what they were: the loops compare roles.
		return map[string]string{"inviteId": h.linkInvite(tenant, `{"role":null}`).ID}
	}
	examples["inviteUsersToOrganization"] = example{body: `{"emails":["new@example.com"]}`}
	examples["createOrganizationInvite"] = example{body: `{"role":"edit"}`}
	examples["updateOrganizationInviteById"] = example{body: `{"role":"edit"}`, make: make}
	pending := func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		invited, err := h.st.InviteByEmail(h.t.Context(), tenant.Organization.ID, tenant.Users[schema.RoleAdmin].ID,
			[]store.PersonToInvite{{Email: schema.NewID() + "@example.com"}}, false)
		return map[string]string{"inviteId": created(h.t, invited.Users[0], err)}
	}
	examples["deleteOrganizationInvite"] = example{make: pending}
	for _, id := range []string{"joinOrganizationWithInvite", "getOrganizationInviteLink", "deleteOrganizationInviteById"} {
		examples[id] = example{make: make}
	}
}

var linkInviteShape = shape{
	"object": one("invite"), "id": id, "role": one(append(role, nil)...), "redundant": boolean, "expiresAt": inviteEnd,
}

func (h *harness) linkInvite(tenant *storetest.Tenant, body string) schema.LinkInvite {
	h.t.Helper()
	a := h.do("POST", "/v1/orgs/"+tenant.Organization.ID+"/link-invites", tenant.Tokens[schema.RoleAdmin], body)
	if a.status != http.StatusCreated {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
	var invite schema.LinkInvite
	if err := json.Unmarshal(a.body, &invite); err != nil {
		h.t.Fatal(err)
	}
	return invite
}

// role reads what a user is in our organization; ok is false for strangers.
func (h *harness) role(userID string) (role schema.Role, ok bool) {
	h.t.Helper()
	m, err := h.st.Organization(h.t.Context(), userID, h.ours.Organization.ID)
	return m.Role, err == nil
}

func (s support) invite(body string) schema.Invited {
	s.h.t.Helper()
	a := s.h.do("POST", s.org+"/invites", s.token, body)
	if a.status != 200 {
		s.h.t.Fatalf("%d %s", a.status, a.body)
	}
	wantShape(s.h.t, shape{"users": list(id), "invited": count, "failedSSOEmails": list(text(3, 254))}, a.body)
	var invited schema.Invited
	if err := json.Unmarshal(a.body, &invited); err != nil {
		s.h.t.Fatal(err)
	}
	return invited
}

// accept has a user accept the invite by e-mail to our organization.
func (h *harness) accept(userID string) {
	h.t.Helper()
	token := storetest.Token(h.t, h.st, store.NewToken{User: userID})
	if a := h.do("POST", "/v1/orgs/"+h.ours.Organization.ID+"/invites/"+userID, token, nil); a.status != 200 || string(a.body) != "{}" {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
}

func TestInviteByEmail(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	known, _ := storetest.User(t, h.st, "Known")
	got := s.invite(`{"emails":["ann@example.com",{"email":"bob@example.com","role":null},{"email":"Eve@example.com","role":"admin"},
		"KNOWN@example.com","ANN@example.com","ours-read@example.com"],"role":"edit","extra":1}`)
	if got.Invited != 4 || len(got.Users) != 4 || len(got.FailedSSOEmails) != 0 {
		t.Fatalf("%+v", got)
	}
	for email, want := range map[string]schema.Role{
		"ann@example.com": schema.RoleEdit, "bob@example.com": schema.RoleGuest, "eve@example.com": schema.RoleAdmin,
		"known@example.com": schema.RoleEdit,
	} {
		user, err := h.st.FindUser(t.Context(), email)
		if _, member := h.role(user.ID); err != nil || member || !slices.Contains(got.Users, user.ID) {
			t.Errorf("%s is a member without having accepted: %v %v", email, member, err)
		}
		h.accept(user.ID)
		h.accept(user.ID)
		if role, ok := h.role(user.ID); !ok || role != want {
			t.Errorf("%s: %q %v", email, role, ok)
		}
	}
	if !slices.Contains(got.Users, known.ID) {
		t.Errorf("a second account was made: %+v", got)
	}
	// Members stay what they are.
	if again := s.invite(`{"emails":["ann@example.com","ours-read@example.com"],"role":"admin"}`); again.Invited != 0 || len(again.Users) != 0 {
		t.Errorf("%+v", again)
	}
	if role, _ := h.role(h.ours.Users[schema.RoleRead].ID); role != schema.RoleRead {
		t.Errorf("role %q", role)
	}
	// Without a role, the organization's own counts; null is a guest.
	h.exec("update organizations set default_role = 'comment' where id = $1", h.ours.Organization.ID)
	for body, want := range map[string]schema.Role{
		`{"emails":["d1@example.com"]}`: schema.RoleComment, `{"emails":["d2@example.com"],"role":null}`: schema.RoleGuest,
		`{"emails":[{"email":"d3@example.com"}]}`: schema.RoleComment,
	} {
		user := s.invite(body).Users[0]
		h.accept(user)
		if role, ok := h.role(user); !ok || role != want {
			t.Errorf("%s: %q", body, role)
		}
	}
}

func TestInviteToSSO(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	provider := "/saml/" + examples["updateOrganizationSAMLProvider"].make(h, h.ours)["samlProviderId"]
	before := h.rows()
	want := schema.Invited{Users: []string{}, FailedSSOEmails: []string{"a@example.com", "b@example.com"}}
	if diff := cmp.Diff(want, s.invite(`{"emails":["a@example.com",{"email":"b@example.com"}],"sso":true}`)); diff != "" {
		t.Error(diff)
	}
	if after := h.rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
	_, certificate := testCertificate(t)
	h.do("PATCH", s.org+provider, s.token, `{"entityID":"e","ssoURL":"https://idp.example.com","certificate":"`+certificate+`"}`)
	got := s.invite(`{"emails":["a@example.com"],"sso":true}`)
	if got.Invited != 1 || len(got.FailedSSOEmails) != 0 {
		t.Errorf("%+v", got)
	}
	h.accept(got.Users[0])
	h.accept(s.invite(`{"emails":["b@example.com"]}`).Users[0])
	h.exec(`do $$ begin
		assert (select array_agg(m.sso order by u.email) from memberships m join users u on u.id = m.user_id
			where u.email in ('a@example.com', 'b@example.com')) = array[true, false];
	end $$`)
}

// TestInvitesInParallel invites the same new people from many sides: each has one account and one invite.
func TestInvitesInParallel(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	before := h.rows()
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			emails := []string{"p1@example.com", "P2@example.com", "p3@example.com", "p4@example.com"}
			if worker%2 == 0 {
				slices.Reverse(emails)
			}
			body, _ := json.Marshal(map[string]any{"emails": emails})
			if got := s.invite(string(body)); got.Invited != 4 {
				t.Errorf("%+v", got)
			}
		})
	}
	wait.Wait()
	before["users"], before["email_invites"] = before["users"]+4, before["email_invites"]+4
	if diff := cmp.Diff(before, h.rows()); diff != "" {
		t.Error(diff)
	}
}

func TestLinkInvite(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	a := h.do("POST", s.org+"/link-invites", s.token, `{"role":"edit"}`)
	made := wantShape(t, linkInviteShape, a.body)
	one := "/link-invites/" + made["id"].(string)
	if a.status != 201 || a.header.Get("Location") != "https://docs.example.com/base"+s.org+one || made["role"] != "edit" || made["redundant"] != true {
		t.Fatalf("%d %s", a.status, a.body)
	}
	join := "/v1/orgs/" + h.ours.Organization.ID + "/invites/" + made["id"].(string)
	user, token := storetest.User(t, h.st, "stranger")
	for range 2 {
		if a := h.do("POST", join, token, nil); a.status != 200 || string(a.body) != "{}" {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if role, ok := h.role(user.ID); !ok || role != schema.RoleEdit {
		t.Errorf("role %q", role)
	}
	// A role is raised and never lowered; a guest becomes a member.
	for _, who := range []struct{ is, becomes schema.Role }{
		{schema.RoleGuest, schema.RoleEdit}, {schema.RoleRead, schema.RoleEdit}, {schema.RoleReview, schema.RoleReview}, {schema.RoleAdmin, schema.RoleAdmin},
	} {
		h.do("POST", join, h.ours.Tokens[who.is], nil)
		if role, _ := h.role(h.ours.Users[who.is].ID); role != who.becomes {
			t.Errorf("%q became %q", who.is, role)
		}
	}
	// What it gives can change; whoever followed it before keeps what they got.
	changed := wantShape(t, linkInviteShape, h.do("PATCH", s.org+one, s.token, `{"role":null}`).body)
	if changed["role"] != nil || !cmp.Equal(changed, wantShape(t, linkInviteShape, h.do("GET", s.org+one, s.token, nil).body)) {
		t.Errorf("%v", changed)
	}
	if role, _ := h.role(user.ID); role != schema.RoleEdit {
		t.Errorf("role %q", role)
	}
	late, lateToken := storetest.User(t, h.st, "late")
	h.do("POST", join, lateToken, nil)
	if role, ok := h.role(late.ID); !ok || role != schema.RoleGuest {
		t.Errorf("role %q %v", role, ok)
	}
	listed := wantShape(t, listShape(linkInviteShape), h.do("GET", s.org+"/link-invites", s.token, nil).body)
	if diff := cmp.Diff([]any{changed}, listed["items"]); diff != "" || listed["count"] != 1.0 {
		t.Error(diff)
	}
	// An organization that has turned its links off makes none, and says so to whoever follows one.
	lostUser, lost := storetest.User(t, h.st, "lost")
	h.want(200, "PATCH", s.org, s.token, `{"inviteLinks":false}`)
	for _, e := range []schema.ErrorObject{
		h.wantError(h.do("POST", join, lost, nil), 403), h.wantError(h.do("POST", s.org+"/link-invites", s.token, `{"role":"edit"}`), 403),
	} {
		if !strings.Contains(e.Message, "invite links") || !strings.Contains(e.Message, "off") {
			t.Errorf("%+v", e)
		}
	}
	h.want(200, "PATCH", s.org, s.token, `{"inviteLinks":true}`)
	// A link ends by itself.
	h.exec("update link_invites set expires_at = now() - interval '1 second'")
	if e := h.wantError(h.do("POST", join, lost, nil), 403); !strings.Contains(e.Message, "ended") {
		t.Errorf("%+v", e)
	}
	if _, member := h.role(lostUser.ID); member {
		t.Error("a link that is off or has ended made a member")
	}
	h.wantError(h.do("POST", "/v1/orgs/"+h.theirs.Organization.ID+"/invites/"+made["id"].(string), lost, nil), 404)
	for range 2 {
		if a := h.do("DELETE", s.org+one, s.token, nil); a.status != 204 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	h.wantError(h.do("POST", join, lost, nil), 404)
	h.wantError(h.do("GET", s.org+one, s.token, nil), 404)
	h.wantError(h.do("PATCH", s.org+one, s.token, `{"role":"read"}`), 404)
}

// TestFollowInParallel has one stranger follow a link for a low and one for a high role again and again: the high one stays.
func TestFollowInParallel(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	low, high := h.linkInvite(h.ours, `{"role":"read"}`), h.linkInvite(h.ours, `{"role":"create"}`)
	user, token := storetest.User(t, h.st, "stranger")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			invite := []schema.LinkInvite{low, high}[i%2]
			if a := h.do("POST", "/v1/orgs/"+h.ours.Organization.ID+"/invites/"+invite.ID, token, nil); a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wait.Wait()
	if role, ok := h.role(user.ID); !ok || role != schema.RoleCreate {
		t.Errorf("role %q", role)
	}
}

func TestBadInvites(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	one := "/link-invites/" + h.linkInvite(h.ours, `{"role":"read"}`).ID
	before := h.rows()
	long := fmt.Sprintf("%0250d@example.com", 0)
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", "/invites", `{}`, "emails"},
		{"POST", "/invites", `{"emails":"a@example.com"}`, "emails"},
		{"POST", "/invites", `{"emails":["ok@example.com","nobody"]}`, "emails[1]"},
		{"POST", "/invites", `{"emails":["Ann <ann@example.com>"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":[" ann@example.com"]}`, "emails[0]"},
		{"POST", "/invites", `{"emails":["a@example.com\u0000"]}`, "emails[0]"},
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
		{"POST", "/link-invites", `{"level":"read","space":"` + h.theirs.Space.ID + `"}`, "space"},
		{"POST", "/link-invites", `{"level":"read","collection":"nothing"}`, "collection"},
		{"POST", "/link-invites", `{"level":"read","collection":{}}`, "collection"},
		{"PATCH", one, `{}`, ""},
		{"PATCH", one, `{"level":"read"}`, "level"},
		{"PATCH", one, `{"role":"king"}`, "role"},
	} {
		e := h.wantError(h.do(test.method, s.org+test.path, s.token, test.body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s %s: %+v", test.path, test.body, e)
		}
	}
	if after := h.rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

// TestLinkInviteToContent gives access to a space and to a collection, to a stranger and to members.
func TestLinkInviteToContent(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	collection, err := h.st.CreateCollection(t.Context(), store.NewCollection{OrganizationID: h.ours.Organization.ID, Title: "Guides"})
	if err != nil {
		t.Fatal(err)
	}
	inside, err := h.st.CreateSpace(t.Context(), store.NewSpace{
		OrganizationID: h.ours.Organization.ID, ParentID: &collection.ID, Title: "Inside", Emoji: "1f4d6", EditMode: "live",
	})
	if err != nil {
		t.Fatal(err)
	}
	invitedCollection := shape{
		"object": one("collection"), "id": id, "title": text(0, 50), "description?": text(0, 100), "organization": id, "parent?": id,
		"defaultLevel": one(append(role, nil, "inherit")...), "urls": object(shape{"location": uri, "app": uri}),
		"permissions": booleans("view admin viewInviteLinks create"),
	}
	h.exec("update spaces set default_level = null where id = $1", h.ours.Space.ID)
	h.exec("update collections set default_level = null where id = $1", collection.ID)
	for _, test := range []struct {
		name, id, reads string
		shape           shape
	}{
		{"space", h.ours.Space.ID, h.ours.Space.ID, spaceShape}, {"collection", collection.ID, inside.ID, invitedCollection},
	} {
		form := shape{"object": one("invite"), "id": id, "level": one(append(role, nil)...), "redundant": boolean, "expiresAt": inviteEnd, test.name: object(test.shape)}
		a := h.do("POST", s.org+"/link-invites", s.token, fmt.Sprintf(`{"level":"comment",%q:%q}`, test.name, test.id))
		made := wantShape(t, form, a.body)
		if a.status != 201 || made["level"] != "comment" || made["redundant"] != true || made[test.name].(map[string]any)["id"] != test.id {
			t.Fatalf("%d %s", a.status, a.body)
		}
		one := s.org + "/link-invites/" + made["id"].(string)
		join := s.org + "/invites/" + made["id"].(string)
		stranger, token := storetest.User(t, h.st, "stranger-"+test.name)
		space := func(token string) (got schema.Space, ok bool) {
			t.Helper()
			a := h.do("GET", "/v1/spaces/"+test.reads, token, nil)
			return got, a.status == 200 && json.Unmarshal(a.body, &got) == nil
		}
		for _, who := range []string{token, h.ours.Tokens[schema.RoleRead]} {
			if _, ok := space(who); ok {
				t.Errorf("%s: access without an invite", test.name)
			}
			for range 2 {
				if a := h.do("POST", join, who, nil); a.status != 200 || string(a.body) != "{}" {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
			if got, ok := space(who); !ok || !got.Permissions.Comment || got.Permissions.Edit {
				t.Errorf("%s: %v %+v", test.name, ok, got.Permissions)
			}
		}
		if role, ok := h.role(stranger.ID); !ok || role != schema.RoleGuest {
			t.Errorf("role %q %v", role, ok)
		}
		// A higher level raises, a lower one does not take away.
		for _, level := range []string{`"edit"`, `"read"`, `null`} {
			changed := wantShape(t, form, h.do("PATCH", one, s.token, `{"level":`+level+`}`).body)
			if !cmp.Equal(changed, wantShape(t, form, h.do("GET", one, s.token, nil).body)) {
				t.Errorf("%v", changed)
			}
			h.do("POST", join, token, nil)
			if got, ok := space(token); !ok || !got.Permissions.Edit || got.Permissions.Review {
				t.Errorf("%s: %v %+v", test.name, ok, got.Permissions)
			}
		}
		e := h.wantError(h.do("PATCH", one, s.token, `{"role":"read"}`), 400)
		if e.Details[0].Field != "role" {
			t.Errorf("%+v", e)
		}
		if a := h.do("DELETE", one, s.token, nil); a.status != 204 {
			t.Errorf("%d %s", a.status, a.body)
		}
		if _, ok := space(token); !ok {
			t.Error("the invite took back what it gave")
		}
	}
	if listed := wantShape(t, listShape(linkInviteShape), h.do("GET", s.org+"/link-invites", s.token, nil).body); listed["count"] != 0.0 {
		t.Errorf("%v", listed)
	}
}
