package orgs_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	crewjam "github.com/crewjam/saml"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/saml/samltest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// tokenOf returns the token on the page with which a login ends.
func tokenOf(t testing.TB, a apitest.Answer) string {
	t.Helper()
	found := regexp.MustCompile(`value="(oct_[a-z0-9]+)"`).FindSubmatch(a.Body)
	if a.Status != 200 || found == nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return string(found[1])
}

// ownDomain gives our organization an e-mail domain, and proves it.
func ownDomain(h *apitest.Harness, domain string) {
	h.T.Helper()
	organization := h.Ours.Organization.ID
	if _, err := h.Store.Orgs.Update(h.T.Context(), organization, orgs.Change{
		EmailDomains: []string{domain},
	}); err != nil {
		h.T.Fatal(err)
	}
	if err := h.Store.Orgs.ProveDomain(h.T.Context(), organization, domain, postgres.ProvedByOperator); err != nil {
		h.T.Fatal(err)
	}
}

// idpSession makes the identity provider believe that every visitor is the same person, who is logged in.
type idpSession struct{ person crewjam.Session }

func (s idpSession) GetSession(http.ResponseWriter, *http.Request, *crewjam.IdpAuthnRequest) *crewjam.Session {
	return &s.person
}

// serviceList tells the identity provider our metadata, whichever service it looks up.
type serviceList struct{ descriptor *crewjam.EntityDescriptor }

func (s serviceList) GetServiceProvider(*http.Request, string) (*crewjam.EntityDescriptor, error) {
	return s.descriptor, nil
}

// TestLoginAtARealProvider does all steps of a browser in a login at an identity provider that is not our code. This
// provider reads our metadata, gets our request by HTTP and answers with a form.
func TestLoginAtARealProvider(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	ownDomain(h, "acme.example")
	idp := &crewjam.IdentityProvider{
		Key: samltest.Ours().Key, Certificate: samltest.Ours().Certificate, SignatureMethod: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
		SessionProvider: idpSession{crewjam.Session{
			ID: "s", CreateTime: time.Now(), ExpireTime: time.Now().Add(time.Hour), Index: "1", NameID: "u-1",
			NameIDFormat: string(crewjam.PersistentNameIDFormat), UserEmail: "Bo@acme.example", UserCommonName: "Bo Ek",
		}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { idp.Handler().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	base, _ := url.Parse(server.URL)
	idp.MetadataURL, idp.SSOURL = *base, *base
	idp.MetadataURL.Path, idp.SSOURL.Path = "/metadata", "/sso"
	entity, address, role := idp.MetadataURL.String(), idp.SSOURL.String(), string(schema.RoleEdit)
	team, err := h.Store.Orgs.CreateTeam(t.Context(), h.Ours.Organization.ID, "Staff", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.NewSAML(h, h.Ours, func(p *orgs.NewSAMLProvider) {
		p.EntityID, p.SSOURL, p.DefaultRole, p.DefaultTeam = &entity, &address, &role, &team.ID
	})
	metadata := h.Do("GET", s.Path+"/metadata", "", nil)
	descriptor := &crewjam.EntityDescriptor{}
	if err := unmarshalXML(metadata.Body, descriptor); err != nil || descriptor.EntityID != s.Service.EntityID {
		t.Fatalf("%v %s", err, metadata.Body)
	}
	idp.ServiceProviderProvider = serviceList{descriptor}

	started := h.Do("GET", s.Path+"/start", "", nil)
	set := started.Header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "Secure", "SameSite=None", "Path=/base" + s.Path + ";"} {
		if !strings.Contains(set, part) {
			t.Errorf("cookie %s lacks %s", set, part)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	response, err := server.Client().Get(started.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	form := readAll(t, response.Body)
	found := regexp.MustCompile(`name="SAMLResponse" value="([^"]+)"`).FindStringSubmatch(form)
	if found == nil {
		t.Fatalf("%d %s", response.StatusCode, form)
	}
	page := s.Post(html.UnescapeString(found[1]), cookie, "Accept", "text/html")
	token := tokenOf(t, page)
	if page.Header.Get("Cache-Control") != "no-store" || !strings.Contains(page.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%v", page.Header)
	}
	me := h.Want(200, "GET", "/v1/user", token, nil)
	member := h.Want(200, "GET", "/v1/orgs/"+h.Ours.Organization.ID+"/members/"+me["id"].(string), token, nil)
	if me["displayName"] != "Bo Ek" || me["email"] != "Bo@acme.example" || member["role"] != "edit" || member["sso"] != true || member["teams"] != 1.0 {
		t.Errorf("%v %v", me, member)
	}
	// The answer of the provider was already used, so no browser can log in with it again.
	for _, again := range []string{cookie, ""} {
		h.WantError(s.Post(html.UnescapeString(found[1]), again), 400)
	}
}

// TestKeyChange: logins are possible while an identity provider changes its key. The administrator adds the new
// certificate before the change, and removes the old one afterwards.
func TestKeyChange(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSAML(h, h.Ours, nil)
	s.Known("anna", h.Ours.Users[schema.RoleRead].ID)
	before, after := s.IdP, samltest.Other()
	for _, step := range []struct {
		certificates string
		good, bad    []*samltest.IdP
	}{
		{before.PEM(), []*samltest.IdP{before}, []*samltest.IdP{after}},
		{before.PEM() + after.PEM(), []*samltest.IdP{before, after}, nil},
		{after.PEM(), []*samltest.IdP{after}, []*samltest.IdP{before}},
	} {
		h.Want(200, "PATCH", s.Path, h.Ours.Tokens[schema.RoleAdmin], map[string]string{"certificate": step.certificates})
		for _, s.IdP = range step.good {
			tokenOf(t, s.LogIn(samltest.Person{NameID: "anna"}))
		}
		for _, s.IdP = range step.bad {
			if a := s.LogIn(samltest.Person{NameID: "anna"}); a.Status != 400 || !strings.Contains(string(a.Body), "signature is wrong") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
	}
}

// TestWhoIsLinked: a login finds an existing account by its e-mail address only at the first login. The domain of the
// address must be proved for this organization.
func TestWhoIsLinked(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	ownDomain(h, "acme.example")
	role := string(schema.RoleComment)
	s := apitest.NewSAML(h, h.Ours, func(p *orgs.NewSAMLProvider) { p.DefaultRole = &role })
	org := "/v1/orgs/" + h.Ours.Organization.ID
	h.Want(200, "POST", org+"/invites", h.Ours.Tokens[schema.RoleAdmin], `{"emails":[{"email":"invited@acme.example","role":"review"}],"sso":true}`)
	s.Start("", "") // The first login creates the key that signs requests.
	before := h.Rows()
	for name, who := range map[string]samltest.Person{
		"a stranger's address":          {NameID: "1", Email: "x@elsewhere.example"},
		"the admin of another tenant":   {NameID: "2", Email: schema.Or(h.Theirs.Users[schema.RoleAdmin].Email, "")},
		"an own admin, domain unproved": {NameID: "3", Email: schema.Or(h.Ours.Users[schema.RoleAdmin].Email, "")},
		"no address":                    {NameID: "4"},
		"a domain at the front":         {NameID: "5", Email: "x@acme.example@elsewhere.example"},
		"no real address":               {NameID: "6", Email: "Bo <bo@acme.example>"},
		"a subdomain":                   {NameID: "7", Email: "x@sub.acme.example"},
	} {
		if a := s.LogIn(who); a.Status != 403 && a.Status != 400 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("refused logins were stored: %s", diff)
	}
	for email, want := range map[string]string{"invited@acme.example": "review", "new@acme.example": "comment"} {
		token := tokenOf(t, s.LogIn(samltest.Person{NameID: email, Email: email}))
		me := h.Want(200, "GET", "/v1/user", token, nil)["id"].(string)
		if got := h.Want(200, "GET", org+"/members/"+me, token, nil); got["role"] != want || got["sso"] != true {
			t.Errorf("%s: %v", email, got)
		}
		// After the first login, the NameID identifies the person, even if the address changes. Another NameID is
		// another person.
		if again := h.Want(200, "GET", "/v1/user", tokenOf(t, s.LogIn(samltest.Person{NameID: email, Email: "x@elsewhere.example"})), nil); again["id"] != me {
			t.Errorf("%s became %v", email, again)
		}
	}
	// If a person has an invite and becomes a member in another way, the next login still gives the role of the invite.
	// The invite then ends.
	late := h.Want(200, "POST", org+"/invites", h.Ours.Tokens[schema.RoleAdmin], `{"emails":[{"email":"late@acme.example","role":"review"}],"sso":true}`)
	id := late["users"].([]any)[0].(string)
	h.Exec("insert into memberships (user_id, organization_id, role) values ($1, $2, 'read')", id, h.Ours.Organization.ID)
	token := tokenOf(t, s.LogIn(samltest.Person{NameID: "late", Email: "late@acme.example"}))
	if got := h.Want(200, "GET", org+"/members/"+id, token, nil); got["role"] != "review" {
		t.Errorf("the invite of a member was lost: %v", got)
	}
	// The same NameID at another provider is another person.
	other := apitest.NewSAML(h, h.Theirs, nil)
	if a := other.LogIn(samltest.Person{NameID: "new@acme.example", Email: "new@acme.example"}); a.Status != 403 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestSessionsKeepToTheirOrganization: a session of single sign-on is valid only for its organization, even if its user
// is an admin of another organization.
func TestSessionsKeepToTheirOrganization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSAML(h, h.Ours, nil)
	user := h.Theirs.Users[schema.RoleAdmin].ID
	h.Exec("insert into memberships (user_id, organization_id, role) values ($1, $2, 'admin')", user, h.Ours.Organization.ID)
	s.Known("anna", user)
	token := tokenOf(t, s.LogIn(samltest.Person{NameID: "anna"}))
	site := func(tenantOrg, id string) string { return "/v1/orgs/" + tenantOrg + "/sites/" + id }
	for path, status := range map[string]int{
		"/v1/user": 200, "/v1/orgs/" + h.Ours.Organization.ID: 200, "/v1/spaces/" + h.Ours.Space.ID: 200, site(h.Ours.Organization.ID, h.Ours.Site.ID): 200,
		"/v1/orgs": 403, "/v1/integrations": 403,
		"/v1/orgs/" + h.Theirs.Organization.ID: 404, "/v1/spaces/" + h.Theirs.Space.ID: 404, site(h.Theirs.Organization.ID, h.Theirs.Site.ID): 404,
	} {
		if a := h.Do("GET", path, token, nil); a.Status != status {
			t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, status)
		}
	}
	h.WantError(h.Do("POST", "/v1/orgs", token, `{"title":"Mine"}`), 403)
	collection := h.Want(201, "POST", "/v1/orgs/"+h.Ours.Organization.ID+"/collections", token, `{"title":"Ours"}`)["id"].(string)
	h.WantError(h.Do("POST", "/v1/collections/"+collection+"/transfer", token, map[string]string{"organization": h.Theirs.Organization.ID}), 404)
	h.WantError(h.Do("POST", site(h.Theirs.Organization.ID, h.Theirs.Site.ID)+"/insights/events", token, `{"events":[]}`), 404)
	if a := h.Do("POST", site(h.Ours.Organization.ID, h.Ours.Site.ID)+"/insights/events", token, `{"events":[]}`); a.Status != 204 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// The session sees the other organization's public integrations in the same way as a user who is not a member.
	both, target := h.Theirs.Tokens[schema.RoleAdmin], map[string]string{"organization": h.Ours.Organization.ID}
	h.Want(200, "PATCH", "/v1/orgs/"+h.Theirs.Organization.ID, both, `{"emailDomains":["secret.example"]}`)
	for name, visibility := range map[string]string{"shared": "public", "hidden": "private"} {
		body := apitest.PublishBody(h.Theirs.Organization.ID)
		body["visibility"] = visibility
		h.Want(200, "POST", "/v1/integrations/"+name, both, body)
	}
	h.WantError(h.Do("POST", "/v1/integrations/hidden/installations", both, target), 403)
	h.WantError(h.Do("POST", "/v1/integrations/hidden/installations", token, target), 404)
	h.Want(201, "POST", "/v1/integrations/shared/installations", token, target)
	for bearer, member := range map[string]bool{both: true, token: false} {
		a := h.Do("GET", "/v1/orgs/"+h.Ours.Organization.ID+"/installations", bearer, nil)
		if a.Status != 200 || !strings.Contains(string(a.Body), "shared") || strings.Contains(string(a.Body), "secret.example") != member {
			t.Errorf("a member: %t, %d %s", member, a.Status, a.Body)
		}
	}
}

// TestSessionsEnd: the user of a session and an admin can end it. It also ends when its provider or the membership is
// deleted, and when it expires.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	user := h.Ours.Users[schema.RoleRead].ID
	logIn := func() (*apitest.SAML, string) {
		s := apitest.NewSAML(h, h.Ours, nil)
		s.Known("anna", user)
		return s, tokenOf(t, s.LogIn(samltest.Person{NameID: "anna"}))
	}
	own := func(token string) map[string]any {
		t.Helper()
		return h.Want(200, "GET", org+"/sessions", token, nil)
	}
	_, token := logIn()
	listed := own(token)["items"].([]any)[0].(map[string]any)
	if listed["current"] != true || listed["user"] != user || listed["provider"].(map[string]any)["label"] != "Okta" {
		t.Errorf("%v", listed)
	}
	if got := h.Want(200, "GET", org+"/members/"+user+"/sessions", admin, nil); got["count"] != 1.0 || got["items"].([]any)[0].(map[string]any)["current"] != false {
		t.Errorf("%v", got)
	}
	h.WantError(h.Do("GET", org+"/members/"+user+"/sessions", token, nil), 403)
	ended := func(name, token string) {
		t.Helper()
		// A node may accept a cached token a little longer, so this asks the store, not the server.
		if _, err := h.Store.Authenticate(t.Context(), schema.HashToken([]byte(token))); !schema.IsCode(err, schema.CodeUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.Want(204, "DELETE", org+"/sessions/"+listed["id"].(string), token, nil)
	ended("by its user", token)
	_, token = logIn()
	h.Want(204, "DELETE", org+"/members/"+user+"/sessions", admin, nil)
	ended("by an admin", token)
	s, token := logIn()
	h.Want(204, "DELETE", s.Path, admin, nil)
	ended("with its provider", token)
	s, token = logIn()
	h.Want(204, "DELETE", org+"/members/"+user, admin, nil)
	ended("with its member", token)
	h.WantError(h.Do("GET", org, token, nil), 401)
	if a := s.LogIn(samltest.Person{NameID: "anna"}); a.Status != 403 {
		t.Errorf("the identity outlived the member: %d %s", a.Status, a.Body)
	}
	user = h.Ours.Users[schema.RoleEdit].ID
	_, token = logIn()
	h.Exec("update sessions set expires_at = now() - interval '1 second'")
	ended("by time", token)
	if err := h.Store.Orgs.DeleteEndedSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := h.Rows()["sessions"].Count; n != 0 {
		t.Errorf("%d sessions are kept", n)
	}
}

// TestCodes: a front end gets a code, for which it gets the token of the session. The code can be used only once.
func TestCodes(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSAML(h, h.Ours, nil)
	s.Known("anna", h.Ours.Users[schema.RoleRead].ID)
	for _, foreign := range []string{"https://evil.example/", "https://docs.example.com.evil.example/", "https://docs.example.com@evil.example/", "javascript:alert(1)", "//evil.example", "http://docs.example.com/", "https://docs.example.com/#x"} {
		a := h.Do("GET", s.Path+"/start?returnTo="+url.QueryEscape(foreign), "", nil)
		if e := h.WantError(a, 400); len(e.Details) == 0 || e.Details[0].Field != "returnTo" {
			t.Errorf("%s: %s", foreign, a.Body)
		}
	}
	request, cookie := s.Start("?returnTo="+url.QueryEscape("https://docs.example.com/in?a=b"), "")
	a := s.Post(s.IdP.Good(s.Service, request, samltest.Person{NameID: "anna"}), cookie)
	target, err := url.Parse(a.Header.Get("Location"))
	if err != nil || a.Status != 303 || !strings.HasPrefix(target.String(), "https://docs.example.com/in?") || target.Query().Get("a") != "b" {
		t.Fatalf("%d %v %v", a.Status, a.Header, err)
	}
	code := target.Query().Get("code")
	h.WantError(h.Do("GET", "/v1/user", code, nil), 401)
	var opened atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			a := h.Do("POST", "/v1/sso/token", "", `{"code":"`+code+`"}`)
			if a.Status != 200 {
				return
			}
			opened.Add(1)
			var got people.SessionToken
			if err := json.Unmarshal(a.Body, &got); err != nil || h.Do("GET", "/v1/user", got.Token, nil).Status != 200 {
				t.Errorf("%v %s", err, a.Body)
			}
		})
	}
	wait.Wait()
	if opened.Load() != 1 {
		t.Errorf("the code opened %d sessions", opened.Load())
	}
}

// TestCodesOfPages: a page of this server can exchange only the code of its own browser's login. Otherwise a link with
// a code would sign its reader in as the person who made the link.
func TestCodesOfPages(t *testing.T) {
	t.Parallel()
	const frontEnd = "https://app.example.com/in"
	h := apitest.New(t, func(c *frame.Config, d *api.Deps) {
		c.BaseURL, d.SSO.ReturnTo = "https://docs.example.com/base", []string{"https://app.example.com"}
	})
	s := apitest.NewSAML(h, h.Ours, nil)
	s.Known("anna", h.Ours.Users[schema.RoleRead].ID)
	// logIn logs in, and returns the code and the browser's cookie for it.
	logIn := func(returnTo string) (code string, cookie *http.Cookie) {
		request, started := s.Start("?returnTo="+url.QueryEscape(returnTo), "")
		a := s.Post(s.IdP.Good(s.Service, request, samltest.Person{NameID: "anna"}), started)
		target, err := url.Parse(a.Header.Get("Location"))
		if err != nil || a.Status != 303 {
			t.Fatalf("%d %v %v", a.Status, a.Header, err)
		}
		for _, c := range (&http.Response{Header: a.Header}).Cookies() {
			if c.Name == "octavo_sso_code" {
				cookie = c
			}
		}
		return target.Query().Get("code"), cookie
	}
	exchange := func(code string, header ...string) apitest.Answer {
		return h.Do("POST", "/v1/sso/token", "", map[string]string{"code": code}, header...)
	}
	code, cookie := logIn("https://docs.example.com/base/")
	if cookie == nil || cookie.Path != "/base/v1/sso/token" || !cookie.HttpOnly || !cookie.Secure ||
		cookie.SameSite != http.SameSiteStrictMode || cookie.MaxAge < 60 || strings.Contains(cookie.Value, code) {
		t.Fatalf("%+v", cookie)
	}
	other, otherCookie := logIn("https://DOCS.example.com/base/?site=1")
	for name, sent := range map[string]string{
		"no cookie": "", "the cookie of another login": otherCookie.Value, "the code as the cookie": code,
	} {
		a := exchange(code, "Octavo-Browser", "1", "Cookie", "octavo_sso_code="+sent)
		if e := h.WantError(a, 400); len(e.Details) != 1 || e.Details[0].Field != "code" {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	if a := exchange(code, "Octavo-Browser", "1", "Cookie", "octavo_sso_code="+cookie.Value); a.Status != 200 {
		t.Errorf("with its own cookie: %d %s", a.Status, a.Body)
	}
	// A server at our own origin has no browser.
	if a := exchange(other); a.Status != 200 {
		t.Errorf("without a browser: %d %s", a.Status, a.Body)
	}
	if code, cookie = logIn(frontEnd); cookie != nil {
		t.Errorf("the browser of a front end gets %v", cookie)
	}
	// The dashboard at a second name of the server learns why it cannot sign in.
	const where = "the page is not at the public address of the server"
	e := h.WantError(exchange(code, "Octavo-Browser", "1"), 400)
	if len(e.Details) != 1 || !strings.Contains(e.Details[0].Problem, where) {
		t.Errorf("%+v", e)
	}
	if a := exchange(code); a.Status != 200 {
		t.Errorf("a front end: %d %s", a.Status, a.Body)
	}
}

// TestRefusedAnswers: a response that does not answer a request of this browser is refused, and nothing is stored.
func TestRefusedAnswers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSAML(h, h.Ours, nil)
	s.Known("anna", h.Ours.Users[schema.RoleRead].ID)
	second := apitest.NewSAML(h, h.Ours, nil)
	pending := apitest.NewSAML(h, h.Ours, func(p *orgs.NewSAMLProvider) { p.SSOURL = nil })
	anna := samltest.Person{NameID: "anna"}
	request, cookie := s.Start("", "")
	good := s.IdP.Good(s.Service, request, anna)
	before := h.Rows()
	for name, a := range map[string]apitest.Answer{
		"no cookie":               s.Post(good, ""),
		"a cookie of nobody":      s.Post(good, "octavo_sso=e30.AAAA"),
		"the cookie of another":   func() apitest.Answer { _, other := s.Start("", ""); return s.Post(good, other) }(),
		"at another provider":     second.Post(good, cookie),
		"signed by another":       s.Post(samltest.Other().Good(s.Service, request, anna), cookie),
		"for another service":     s.Post(s.IdP.Good(second.Service, request, anna), cookie),
		"started at the provider": s.Post(s.IdP.Good(s.Service, "", anna), cookie),
		"junk":                    s.Post("junk", cookie),
	} {
		if a.Status != 400 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	// Without an unfinished login, a response is refused before it is parsed.
	for _, cookie := range []string{"", "octavo_sso=e30.AAAA"} {
		a := s.Post("junk", cookie)
		if a.Status != 400 || !strings.Contains(string(a.Body), "not started by this browser") {
			t.Errorf("%q: %d %s", cookie, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/start", "/acs"} {
		method, body := "GET", any(nil)
		if path == "/acs" {
			method, body = "POST", apitest.Form{Body: "SAMLResponse=x"}
		}
		h.WantError(h.Do(method, pending.Path+path, "", body), 404)
		h.WantError(h.Do(method, "/v1/orgs/"+h.Theirs.Organization.ID+"/saml/"+s.Provider.ID+path, "", body), 404)
		h.WantError(h.Do(method, "/v1/orgs/x/saml/%00"+path, "", body), 404)
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("stored: %s", diff)
	}
	// If the same response is posted several times at once, exactly one of the requests logs in. A login that was
	// started in a second tab does not prevent the login in the first tab.
	_, both := s.Start("", cookie)
	var in atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if s.Post(good, both).Status == 200 {
				in.Add(1)
			}
		})
	}
	wait.Wait()
	if in.Load() != 1 {
		t.Errorf("one answer logged in %d times", in.Load())
	}
}

// TestAuditOfLogins: the audit log's entry about a session names its user as the actor. The entry about the account
// that the login creates has no known actor.
func TestAuditOfLogins(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	ownDomain(h, "acme.example")
	s := apitest.NewSAML(h, h.Ours, nil)
	admin, log := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID+"/audit-log"
	entries := func(query string) (lines []string) {
		t.Helper()
		for _, item := range h.Want(200, "GET", log+query, admin, nil)["items"].([]any) {
			entry := item.(map[string]any)
			actor, target := entry["actor"].(map[string]any), entry["target"].(map[string]any)
			if entry["token"] != nil || entry["address"] == nil || entry["requestId"] == nil {
				t.Errorf("%v", entry)
			}
			lines = append(lines, fmt.Sprint(entry["action"], " ", target["type"], " ", entry["operation"], " by ", actor["type"], " ", actor["displayName"]))
		}
		return lines
	}
	var me string
	for range 2 { // The second login finds the account that the first login has created.
		token := tokenOf(t, s.LogIn(samltest.Person{NameID: "1", Email: "new@acme.example", Name: "Nora New"}))
		me = h.Want(200, "GET", "/v1/user", token, nil)["id"].(string)
	}
	const opened = "create session finishSAMLLogin by user Nora New"
	if got := entries("?actor=" + me); !slices.Equal(got, []string{opened, opened}) {
		t.Errorf("%q", got)
	}
	if got := entries("?objectType=member&objectId=" + me); !slices.Equal(got, []string{"create member finishSAMLLogin by anonymous <nil>"}) {
		t.Errorf("%q", got)
	}
}

func unmarshalXML(text []byte, into any) error { return xml.Unmarshal(text, into) }

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
