package api

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func consentExamples() {
	examples["declineOrganizationInvite"] = example{}
	examples["proveEmailDomainInOrganization"] = example{make: func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		domain := schema.NewID() + ".example"
		organization, err := h.st.UpdateOrganization(h.t.Context(), tenant.Organization.ID, store.OrganizationChange{EmailDomains: []string{domain}})
		if err != nil {
			h.t.Fatal(err)
		}
		domains, err := h.st.EmailDomains(h.t.Context(), organization)
		if err != nil {
			h.t.Fatal(err)
		}
		h.dns.set(domain, "octavo-domain-verification="+domains[0].Token)
		return map[string]string{"domain": domain}
	}}
}

// txtRecords is a name server with these records.
type txtRecords struct {
	mu      sync.Mutex
	records map[string][]string
	down    bool
}

func (r *txtRecords) set(domain string, values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records == nil {
		r.records = map[string][]string{}
	}
	r.records[domain+"."] = values
}

func (r *txtRecords) LookupTXT(ctx context.Context, name string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, bounded := ctx.Deadline(); !bounded {
		return nil, &net.DNSError{Err: "the look-up has no deadline"}
	}
	if r.down {
		return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
	}
	if values, ok := r.records[name]; ok {
		return values, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

var emailInviteShape = shape{
	"object": one("invite"), "id": id, "email": text(3, 254), "role": one(append(role, nil)...), "sso": boolean,
	"createdAt": timestamp, "expiresAt": inviteEnd,
	"organization?": object(shape{"id": id, "title": text(2, 255)}),
}

// TestNobodyIsMadeAMember invites a stranger: until the stranger accepts, neither sees anything of the other.
func TestNobodyIsMadeAMember(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	stranger, token := storetest.User(t, h.st, "stranger")
	h.exec("update users set photo_url = 'https://example.com/face.png', display_name = 'Sam Stranger' where id = $1", stranger.ID)
	user := s.invite(`{"emails":["Stranger@Example.com"],"role":"admin"}`).Users[0]
	if user != stranger.ID {
		t.Fatalf("invited %s, want %s", user, stranger.ID)
	}
	unseen := func(when string) {
		t.Helper()
		for _, path := range []string{"/v1/users/" + stranger.ID, s.org + "/members/" + stranger.ID} {
			h.wantError(h.do("GET", path, s.token, nil), 404)
		}
		h.wantError(h.do("PATCH", s.org+"/members/"+stranger.ID, s.token, `{"role":"read"}`), 404)
		if slices.Contains(h.ids(s.org+"/members", s.token), stranger.ID) {
			t.Errorf("%s: the stranger is listed", when)
		}
		if got := h.ids("/v1/orgs", token); len(got) != 0 {
			t.Errorf("%s: the stranger's organizations %v", when, got)
		}
		for _, path := range []string{s.org, s.org + "/members", "/v1/spaces/" + h.ours.Space.ID, "/v1/users/" + h.ours.Users[schema.RoleAdmin].ID} {
			h.wantError(h.do("GET", path, token, nil), 404)
		}
		h.wantError(h.do("POST", "/v1/collections/"+h.collection(h.ours, nil)+"/permissions", s.token,
			map[string]any{"role": "read", "users": []string{stranger.ID}}), 404)
		h.wantError(h.do("PUT", s.org+"/teams", s.token, map[string]any{"title": "Team", "members": []string{stranger.ID}}), 400)
	}
	unseen("invited")
	pending := h.do("GET", s.org+"/invites", s.token, nil)
	listed := wantShape(t, listShape(emailInviteShape), pending.body)
	if l := line(listed["items"].([]any)[0].(map[string]any), "id", "email", "role", "organization"); l != stranger.ID+" Stranger@Example.com admin <nil>" {
		t.Error(l)
	}
	if strings.Contains(string(pending.body), "Sam") || strings.Contains(string(pending.body), "face") {
		t.Errorf("the list tells of the account: %s", pending.body)
	}
	own := wantShape(t, listShape(emailInviteShape), h.do("GET", "/v1/user/invites", token, nil).body)
	if l := line(own["items"].([]any)[0].(map[string]any), "organization.id", "organization.title", "id"); l != h.ours.Organization.ID+" ours "+stranger.ID {
		t.Error(l)
	}
	// The invite is nobody else's to accept.
	_, other := storetest.User(t, h.st, "other")
	for _, who := range []string{other, h.theirs.Tokens[schema.RoleAdmin]} {
		h.wantError(h.do("POST", s.org+"/invites/"+stranger.ID, who, nil), 404)
	}
	h.wantError(h.do("POST", "/v1/orgs/"+h.theirs.Organization.ID+"/invites/"+stranger.ID, token, nil), 404)
	// It can be declined, and taken back.
	for _, end := range []func(){
		func() { h.want(204, "DELETE", "/v1/user/invites/"+h.ours.Organization.ID, token, nil) },
		func() { h.want(204, "DELETE", s.org+"/invites/"+stranger.ID, s.token, nil) },
		func() { h.exec("update email_invites set expires_at = now() - interval '1 second'") },
	} {
		end()
		end()
		for _, list := range []answer{h.do("GET", s.org+"/invites", s.token, nil), h.do("GET", "/v1/user/invites", token, nil)} {
			if got := wantShape(t, listShape(emailInviteShape), list.body); got["count"] != 0.0 {
				t.Errorf("%v", got)
			}
		}
		if a := h.do("POST", s.org+"/invites/"+stranger.ID, token, nil); a.status != 404 && a.status != 403 {
			t.Errorf("an invite that has ended: %d %s", a.status, a.body)
		}
		unseen("ended")
		s.invite(`{"emails":["stranger@example.com"],"role":"edit"}`)
	}
	if a := h.do("POST", s.org+"/invites/"+stranger.ID, token, nil); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got := h.want(200, "GET", s.org+"/members/"+stranger.ID, s.token, nil); got["role"] != "edit" {
		t.Errorf("%v", got)
	}
	if got := h.ids("/v1/orgs", token); !cmp.Equal(got, []string{h.ours.Organization.ID}) {
		t.Errorf("%v", got)
	}
	if got := h.want(200, "GET", s.org+"/invites", s.token, nil); got["count"] != 0.0 {
		t.Errorf("%v", got)
	}
}

// TestEndedInvitesAreDeleted leaves what has no end or has not come to it.
func TestEndedInvitesAreDeleted(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	s.invite(`{"emails":["a@example.com","b@example.com","c@example.com"]}`)
	h.exec("update email_invites set expires_at = now() - interval '1 second' where email = 'a@example.com'")
	h.exec("update email_invites set expires_at = null where email = 'b@example.com'")
	if err := h.st.DeleteEndedInvites(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.rows()["email_invites"]; got != 2 {
		t.Errorf("%d invites are left", got)
	}
	if got := h.want(200, "GET", s.org+"/invites", s.token, nil); got["count"] != 2.0 {
		t.Errorf("%v", got)
	}
}

// TestEmailDomains proves domains by their records, and lets nobody in by one that is not proved.
func TestEmailDomains(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	theirs, theirAdmin := "/v1/orgs/"+h.theirs.Organization.ID, h.theirs.Tokens[schema.RoleAdmin]
	domainShape := shape{
		"object": one("email-domain"), "domain": text(3, 253), "proved": boolean, "provedBy?": one("dns", "operator"), "provedAt?": timestamp,
		"record": object(shape{"type": one("TXT"), "name": text(3, 253), "value": text(40, 100)}),
	}
	list := func(org, token string) []any {
		t.Helper()
		return wantShape(t, listShape(domainShape), h.do("GET", org+"/email-domains", token, nil).body)["items"].([]any)
	}
	join := func(want int) string {
		t.Helper()
		user, token := storetest.User(t, h.st, schema.NewID())
		h.want(want, "POST", s.org+"/join", token, nil)
		return user.ID
	}
	h.want(200, "PATCH", s.org, s.token, `{"emailDomains":["Example.COM","example.com","other.example"],"defaultRole":"comment"}`)
	h.want(200, "PATCH", theirs, theirAdmin, `{"emailDomains":["example.com"]}`)
	join(404)
	domains := list(s.org, s.token)
	if len(domains) != 2 || line(domains[0].(map[string]any), "domain", "proved") != "example.com false" {
		t.Fatalf("%v", domains)
	}
	record, foreign := line(domains[0].(map[string]any), "record.value"), line(list(theirs, theirAdmin)[0].(map[string]any), "record.value")
	if !strings.HasPrefix(record, "octavo-domain-verification=") || record == foreign || record == line(domains[1].(map[string]any), "record.value") {
		t.Errorf("records %s, %s", record, foreign)
	}
	prove := func(want int) {
		t.Helper()
		a := h.do("POST", s.org+"/email-domains/example.COM/prove", s.token, nil)
		if a.status != want {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if want == 200 {
			if got := wantShape(t, domainShape, a.body); line(got, "proved", "provedBy") != "true dns" {
				t.Errorf("%v", got)
			}
		}
	}
	prove(412)
	h.dns.set("example.com", "v=spf1 -all", foreign, "x"+record)
	prove(412)
	h.dns.down = true
	prove(412)
	h.dns.down = false
	join(404)
	h.dns.set("example.com", "v=spf1 -all", record)
	prove(200)
	h.dns.set("example.com")
	prove(200)
	member := join(204)
	if got := h.want(200, "GET", s.org+"/members/"+member, s.token, nil); got["role"] != "comment" {
		t.Errorf("%v", got)
	}
	h.wantError(h.do("POST", s.org+"/email-domains/elsewhere.example/prove", s.token, nil), 404)
	if err := h.st.ProveDomain(t.Context(), h.ours.Organization.ID, "elsewhere.example", store.ProvedByOperator); !schema.IsCode(err, schema.CodeNotFound) {
		t.Errorf("a domain that the organization does not name: %v", err)
	}
	// Changing other settings leaves the proof; naming the domain again does not bring it back. Members stay.
	h.want(200, "PATCH", s.org, s.token, `{"title":"Still"}`)
	join(204)
	h.want(200, "PATCH", s.org, s.token, `{"emailDomains":["other.example"]}`)
	h.want(200, "PATCH", s.org, s.token, `{"emailDomains":["other.example","example.com"]}`)
	join(404)
	h.want(200, "GET", s.org+"/members/"+member, s.token, nil)
	// The operator may vouch instead.
	if err := h.st.ProveDomain(t.Context(), h.ours.Organization.ID, "EXAMPLE.com", store.ProvedByOperator); err != nil {
		t.Fatal(err)
	}
	join(204)
	for _, bad := range []string{"@x", "x", "a b.example", "-a.example", "a-.example", "example.com.", "1.2.3.4", "https://a.example", "a@b.example", "a..example", "ä.example"} {
		for _, call := range [][2]string{{"PATCH", s.org}, {"POST", "/v1/orgs"}} {
			body := map[string]any{"title": "Title", "emailDomains": []string{"fine.example", bad}}
			if e := h.wantError(h.do(call[0], call[1], s.token, body), 400); len(e.Details) != 1 || e.Details[0].Field != "emailDomains[1]" {
				t.Errorf("%s: %+v", bad, e)
			}
		}
	}
}
