package orgs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

var emailInviteShape = shape.Of{
	"object": shape.One("invite"), "id": shape.ID, "email": shape.Text(3, 254), "role": shape.One(append(shape.Role, nil)...), "sso": shape.Boolean,
	"createdAt": shape.Timestamp, "expiresAt": shape.InviteEnd, "mail?": apitest.InviteMailShape,
	"organization?": shape.Object(shape.Of{"id": shape.ID, "title": shape.Text(2, 255)}),
}

// TestNobodyIsMadeAMember invites a user. Until the user accepts, the user does not see the organization, and the
// organization does not see the user.
func TestNobodyIsMadeAMember(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	stranger, token := storetest.User(t, h.Store, "stranger")
	h.Exec("update users set photo_url = 'https://example.com/face.png', display_name = 'Sam Stranger' where id = $1", stranger.ID)
	user := s.Invite(`{"emails":["Stranger@Example.com"],"role":"admin"}`).Users[0]
	if user != stranger.ID {
		t.Fatalf("invited %s, want %s", user, stranger.ID)
	}
	unseen := func(when string) {
		t.Helper()
		for _, path := range []string{"/v1/users/" + stranger.ID, s.Org + "/members/" + stranger.ID} {
			h.WantError(h.Do("GET", path, s.Token, nil), 404)
		}
		h.WantError(h.Do("PATCH", s.Org+"/members/"+stranger.ID, s.Token, `{"role":"read"}`), 404)
		if slices.Contains(h.IDs(s.Org+"/members", s.Token), stranger.ID) {
			t.Errorf("%s: the stranger is listed", when)
		}
		if got := h.IDs("/v1/orgs", token); len(got) != 0 {
			t.Errorf("%s: the stranger's organizations %v", when, got)
		}
		for _, path := range []string{s.Org, s.Org + "/members", "/v1/spaces/" + h.Ours.Space.ID, "/v1/users/" + h.Ours.Users[schema.RoleAdmin].ID} {
			h.WantError(h.Do("GET", path, token, nil), 404)
		}
		h.WantError(h.Do("POST", "/v1/collections/"+h.Collection(h.Ours, nil)+"/permissions", s.Token,
			map[string]any{"role": "read", "users": []string{stranger.ID}}), 404)
		h.WantError(h.Do("PUT", s.Org+"/teams", s.Token, map[string]any{"title": "Team", "members": []string{stranger.ID}}), 400)
	}
	unseen("invited")
	pending := h.Do("GET", s.Org+"/invites", s.Token, nil)
	listed := shape.Want(t, shape.ListOf(emailInviteShape), pending.Body)
	if l := apitest.Line(listed["items"].([]any)[0].(map[string]any), "id", "email", "role", "organization"); l != stranger.ID+" Stranger@Example.com admin <nil>" {
		t.Error(l)
	}
	if strings.Contains(string(pending.Body), "Sam") || strings.Contains(string(pending.Body), "face") {
		t.Errorf("the list tells of the account: %s", pending.Body)
	}
	own := shape.Want(t, shape.ListOf(emailInviteShape), h.Do("GET", "/v1/user/invites", token, nil).Body)
	if l := apitest.Line(own["items"].([]any)[0].(map[string]any), "organization.id", "organization.title", "id"); l != h.Ours.Organization.ID+" ours "+stranger.ID {
		t.Error(l)
	}
	// Another user cannot accept the invite.
	_, other := storetest.User(t, h.Store, "other")
	for _, who := range []string{other, h.Theirs.Tokens[schema.RoleAdmin]} {
		h.WantError(h.Do("POST", s.Org+"/invites/"+stranger.ID, who, nil), 404)
	}
	h.WantError(h.Do("POST", "/v1/orgs/"+h.Theirs.Organization.ID+"/invites/"+stranger.ID, token, nil), 404)
	// An invite ends when the user declines it, when an admin revokes it, and when it expires.
	for _, end := range []func(){
		func() { h.Want(204, "DELETE", "/v1/user/invites/"+h.Ours.Organization.ID, token, nil) },
		func() { h.Want(204, "DELETE", s.Org+"/invites/"+stranger.ID, s.Token, nil) },
		func() { h.Exec("update email_invites set expires_at = now() - interval '1 second'") },
	} {
		end()
		end()
		for _, list := range []apitest.Answer{h.Do("GET", s.Org+"/invites", s.Token, nil), h.Do("GET", "/v1/user/invites", token, nil)} {
			if got := shape.Want(t, shape.ListOf(emailInviteShape), list.Body); got["count"] != 0.0 {
				t.Errorf("%v", got)
			}
		}
		if a := h.Do("POST", s.Org+"/invites/"+stranger.ID, token, nil); a.Status != 404 && a.Status != 403 {
			t.Errorf("an invite that has ended: %d %s", a.Status, a.Body)
		}
		unseen("ended")
		s.Invite(`{"emails":["stranger@example.com"],"role":"edit"}`)
	}
	if a := h.Do("POST", s.Org+"/invites/"+stranger.ID, token, nil); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if got := h.Want(200, "GET", s.Org+"/members/"+stranger.ID, s.Token, nil); got["role"] != "edit" {
		t.Errorf("%v", got)
	}
	if got := h.IDs("/v1/orgs", token); !cmp.Equal(got, []string{h.Ours.Organization.ID}) {
		t.Errorf("%v", got)
	}
	if got := h.Want(200, "GET", s.Org+"/invites", s.Token, nil); got["count"] != 0.0 {
		t.Errorf("%v", got)
	}
}

// TestEndedInvitesAreDeleted: DeleteEndedInvites deletes expired invites, and no others.
func TestEndedInvitesAreDeleted(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	s.Invite(`{"emails":["a@example.com","b@example.com","c@example.com"]}`)
	h.Exec("update email_invites set expires_at = now() - interval '1 second' where email = 'a@example.com'")
	h.Exec("update email_invites set expires_at = null where email = 'b@example.com'")
	if err := h.Store.Orgs.DeleteEndedInvites(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.Rows()["email_invites"].Count; got != 2 {
		t.Errorf("%d invites are left", got)
	}
	if got := h.Want(200, "GET", s.Org+"/invites", s.Token, nil); got["count"] != 2.0 {
		t.Errorf("%v", got)
	}
}

// TestEmailDomains proves e-mail domains by their DNS records. Nobody can join an organization by a domain that is not
// proved.
func TestEmailDomains(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	theirs, theirAdmin := "/v1/orgs/"+h.Theirs.Organization.ID, h.Theirs.Tokens[schema.RoleAdmin]
	domainShape := shape.Of{
		"object": shape.One("email-domain"), "domain": shape.Text(3, 253), "proved": shape.Boolean, "provedBy?": shape.One("dns", "operator"), "provedAt?": shape.Timestamp,
		"record": shape.Object(shape.Of{"type": shape.One("TXT"), "name": shape.Text(3, 253), "value": shape.Text(40, 100)}),
	}
	list := func(org, token string) []any {
		t.Helper()
		return shape.Want(t, shape.ListOf(domainShape), h.Do("GET", org+"/email-domains", token, nil).Body)["items"].([]any)
	}
	join := func(want int) string {
		t.Helper()
		user, token := storetest.User(t, h.Store, schema.NewID())
		h.Want(want, "POST", s.Org+"/join", token, nil)
		return user.ID
	}
	h.Want(200, "PATCH", s.Org, s.Token, `{"emailDomains":["Example.COM","example.com","other.example"],"defaultRole":"comment"}`)
	h.Want(200, "PATCH", theirs, theirAdmin, `{"emailDomains":["example.com"]}`)
	join(404)
	domains := list(s.Org, s.Token)
	if len(domains) != 2 || apitest.Line(domains[0].(map[string]any), "domain", "proved") != "example.com false" {
		t.Fatalf("%v", domains)
	}
	record, foreign := apitest.Line(domains[0].(map[string]any), "record.value"), apitest.Line(list(theirs, theirAdmin)[0].(map[string]any), "record.value")
	if !strings.HasPrefix(record, "octavo-domain-verification=") || record == foreign || record == apitest.Line(domains[1].(map[string]any), "record.value") {
		t.Errorf("records %s, %s", record, foreign)
	}
	prove := func(want int) {
		t.Helper()
		a := h.Do("POST", s.Org+"/email-domains/example.COM/prove", s.Token, nil)
		if a.Status != want {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if want == 200 {
			if got := shape.Want(t, domainShape, a.Body); apitest.Line(got, "proved", "provedBy") != "true dns" {
				t.Errorf("%v", got)
			}
		}
	}
	prove(412)
	h.DNS.Set("example.com", "v=spf1 -all", foreign, "x"+record)
	prove(412)
	h.DNS.Down = true
	prove(412)
	h.DNS.Down = false
	join(404)
	h.DNS.Set("example.com", "v=spf1 -all", record)
	prove(200)
	h.DNS.Set("example.com")
	prove(200)
	member := join(204)
	if got := h.Want(200, "GET", s.Org+"/members/"+member, s.Token, nil); got["role"] != "comment" {
		t.Errorf("%v", got)
	}
	h.WantError(h.Do("POST", s.Org+"/email-domains/elsewhere.example/prove", s.Token, nil), 404)
	if err := h.Store.Orgs.ProveDomain(
		t.Context(), h.Ours.Organization.ID, "elsewhere.example", postgres.ProvedByOperator,
	); !schema.IsCode(err, schema.CodeNotFound) {
		t.Errorf("a domain that the organization does not name: %v", err)
	}
	// If other settings change, the domain stays proved. If the domain is removed and set again, it must be proved
	// again. Members who joined before stay members.
	h.Want(200, "PATCH", s.Org, s.Token, `{"title":"Still"}`)
	join(204)
	h.Want(200, "PATCH", s.Org, s.Token, `{"emailDomains":["other.example"]}`)
	h.Want(200, "PATCH", s.Org, s.Token, `{"emailDomains":["other.example","example.com"]}`)
	join(404)
	h.Want(200, "GET", s.Org+"/members/"+member, s.Token, nil)
	// The operator can prove the domain without a DNS record.
	if err := h.Store.Orgs.ProveDomain(
		t.Context(), h.Ours.Organization.ID, "EXAMPLE.com", postgres.ProvedByOperator,
	); err != nil {
		t.Fatal(err)
	}
	join(204)
	for _, bad := range []string{"@x", "x", "a b.example", "-a.example", "a-.example", "example.com.", "1.2.3.4", "https://a.example", "a@b.example", "a..example", "ä.example"} {
		for _, call := range [][2]string{{"PATCH", s.Org}, {"POST", "/v1/orgs"}} {
			body := map[string]any{"title": "Title", "emailDomains": []string{"fine.example", bad}}
			if e := h.WantError(h.Do(call[0], call[1], s.Token, body), 400); len(e.Details) != 1 || e.Details[0].Field != "emailDomains[1]" {
				t.Errorf("%s: %+v", bad, e)
			}
		}
	}
}

// TestOwnInvitesHavePages: if several organizations invite a person, each invite is on exactly one page of the person's
// list.
func TestOwnInvitesHavePages(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, token := storetest.User(t, h.Store, "guest")
	var want []string
	for range 5 {
		m, err := h.Store.Orgs.Create(
			t.Context(), h.Ours.Users[schema.RoleAdmin].ID, orgs.NewOrganization{Title: "Org"},
		)
		want = append(want, apitest.Created(t, m.Organization.ID, err))
		h.Want(200, "POST", "/v1/orgs/"+m.Organization.ID+"/invites", h.Ours.Tokens[schema.RoleAdmin], map[string]any{"emails": []string{"guest@example.com"}, "role": "read"})
	}
	var got []string
	for path := "/v1/user/invites?limit=2"; path != ""; {
		page := h.Want(200, "GET", path, token, nil)
		if page["count"] != 5.0 {
			t.Errorf("count %v", page["count"])
		}
		for _, item := range page["items"].([]any) {
			got = append(got, apitest.Line(item.(map[string]any), "organization.id"))
		}
		path = ""
		if next, ok := page["next"].(map[string]any); ok {
			path = "/v1/user/invites?limit=2&page=" + next["page"].(string)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
