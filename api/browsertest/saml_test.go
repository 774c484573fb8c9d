package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/saml/samltest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
)

// Each constant is the selector of an element that only one page of a login has.
const (
	tokenPage = `input[aria-label="Token"]`
	errorPage = `small` // the element has the request's id
)

// sites are the three sites of a login: our site behind a proxy, the identity provider, and a front end. Our site has
// the host localhost, and the identity provider has 127.0.0.1, so a browser treats them as different sites.
type sites struct {
	h *apitest.Harness
	// base is the public address of our site. start is the address that starts a login. path is the path of the
	// operations for the identity provider.
	base, start, path string
	frontEnd          *httptest.Server
	// person is the user who logs in at the identity provider.
	person atomic.Pointer[samltest.Person]
	// arrived has the requests that the front end received.
	arrived chan *http.Request
}

// serve starts the sites. listen is httptest.NewServer, or httptest.NewTLSServer as in production.
func serve(t *testing.T, listen func(http.Handler) *httptest.Server) *sites {
	t.Helper()
	s := &sites{arrived: make(chan *http.Request, 10)}
	s.person.Store(&samltest.Person{NameID: "anna"})
	onLocalhost := func(handler http.Handler) *httptest.Server {
		server := listen(handler)
		t.Cleanup(server.Close)
		server.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
		return server
	}
	s.frontEnd = onLocalhost(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			s.arrived <- r
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<title>Front end</title><p id="in">Welcome back</p>`)
	}))
	var octavo atomic.Pointer[http.Handler]
	proxy := onLocalhost(http.StripPrefix("/docs", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*octavo.Load()).ServeHTTP(w, r)
	})))
	s.h = apitest.New(t, func(c *frame.Config, d *api.Deps) {
		c.BaseURL, d.SSO.ReturnTo = proxy.URL+"/docs", []string{s.frontEnd.URL}
	})
	target, err := url.Parse(s.h.Base)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = httputil.NewSingleHostReverseProxy(target)
	octavo.Store(&handler)

	idp := listen(samltest.Ours().Handler(func() samltest.Person { return *s.person.Load() }))
	t.Cleanup(idp.Close)
	address := idp.URL + "/sso"
	provider := apitest.NewSAML(s.h, s.h.Ours, func(p *orgs.NewSAMLProvider) { p.SSOURL = &address })
	provider.Known("anna", s.h.Ours.Users[schema.RoleRead].ID)
	s.base, s.path = proxy.URL+"/docs", provider.Path
	s.start = s.base + s.path + "/start"
	return s
}

// attack returns the address of a page on another site. The page posts a valid answer of the identity provider, which
// belongs to a login of another browser.
func (s *sites) attack(t *testing.T) string {
	t.Helper()
	started := s.h.Do(http.MethodGet, s.path+"/start", "", nil)
	if started.Status != http.StatusFound {
		t.Fatalf("%d %s", started.Status, started.Body)
	}
	return started.Header.Get("Location")
}

// TestLogin logs in with a browser. The browser opens the identity provider on another site. The provider's form posts
// the answer to our site, which then shows the page with the token.
func TestLogin(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]func(http.Handler) *httptest.Server{
		"https": httptest.NewTLSServer,
		// Without TLS, the cookie has no SameSite attribute. Chromium sends such a cookie with cross-site posts in the
		// first two minutes.
		"http": httptest.NewServer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := newTab(t), serve(t, listen)
			b.open(s.start, tokenPage)
			token := ask(b, chromedp.Value(chromedp.CSS(tokenPage)))
			if me := s.h.In(t).Want(200, "GET", "/v1/user", token, nil); me["id"] != s.h.Ours.Users[schema.RoleRead].ID {
				t.Errorf("%v", me)
			}
			if text := b.text(); !strings.Contains(text, "You are logged in") || !strings.Contains(text, "It is shown once") {
				t.Errorf("%s", text)
			}
			if held := b.cookies(); len(held) > 0 {
				t.Errorf("the browser still holds %v", held)
			}
			b.looksFine("token-" + name)

			// A reload posts the same answer again, which must be refused.
			b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(errorPage)))
			if text := b.text(); !strings.Contains(text, "400 Bad Request") || !strings.Contains(text, "finished already, or took too long: start again.") {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestLoginReturns checks that a login redirects the browser to a front end, and that the front end can exchange the
// code for a token.
func TestLoginReturns(t *testing.T) {
	t.Parallel()
	b, s := newTab(t), serve(t, httptest.NewTLSServer)
	b.open(s.start+"?returnTo="+url.QueryEscape(s.frontEnd.URL+"/in?page=7"), "#in")
	arrived := <-s.arrived
	code := arrived.URL.Query().Get("code")
	if !strings.HasPrefix(b.location(), s.frontEnd.URL+"/in?") || arrived.Method != http.MethodGet || arrived.URL.Query().Get("page") != "7" {
		t.Errorf("%s %s", arrived.Method, b.location())
	}
	for _, header := range []string{"Referer", "Cookie"} {
		if sent := arrived.Header.Get(header); sent != "" {
			t.Errorf("the front end learns %s: %s", header, sent)
		}
	}
	session := s.h.Want(200, "POST", "/v1/sso/token", "", map[string]string{"code": code})
	s.h.Want(200, "GET", "/v1/user", session["token"].(string), nil)
	if held := b.cookies(); len(held) > 0 {
		t.Errorf("the browser still holds %v", held)
	}
}

// TestLoginOfThePage signs in to our own page by single sign-on. A browser that opens an address with the code of
// another browser's login must not be signed in.
func TestLoginOfThePage(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]func(http.Handler) *httptest.Server{
		"https": httptest.NewTLSServer, "http": httptest.NewServer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			victim, s := newTab(t), serve(t, listen)
			victim.open(s.base+"/?code="+s.codeOf(t), "#wrong:not(:empty), header.top")
			if text := victim.text(); !strings.Contains(text, "The link was used, has expired or never was") {
				t.Errorf("%s", text)
			}
			if held := victim.cookies(); len(held) > 0 {
				t.Errorf("the browser holds %v", held)
			}
			if sessions := s.h.Rows()["browser_sessions"].Count; sessions != 0 {
				t.Errorf("%d sessions", sessions)
			}
			victim.open(s.start+"?returnTo="+url.QueryEscape(s.base+"/"), "header.top")
			if sessions := s.h.Rows()["browser_sessions"].Count; sessions != 1 {
				t.Errorf("%d sessions", sessions)
			}
		})
	}
}

// codeOf logs in in another browser, and returns the code with which our page would exchange the login for a session.
func (s *sites) codeOf(t *testing.T) string {
	t.Helper()
	b := newTab(t)
	// The attacker's browser stops before our page exchanges the code.
	b.block("*://*:*/*/app.*")
	b.do(chromedp.Navigate(s.start + "?returnTo=" + url.QueryEscape(s.base+"/")))
	b.until(`location.pathname === '/docs/' && location.search`)
	at, err := url.Parse(b.location())
	if err != nil {
		t.Fatal(err)
	}
	return at.Query().Get("code")
}

// TestLoginRefused checks that the page of a refused login shows the reason and the next step.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	b, s := newTab(t), serve(t, httptest.NewTLSServer)
	s.person.Store(&samltest.Person{NameID: "mallory", Email: "mallory@elsewhere.example"})
	for name, test := range map[string]struct {
		path string
		say  []string
	}{
		"refused-person":    {s.start, []string{"403 Forbidden", "The domain of your e-mail address is not proved"}},
		"refused-return-to": {s.start + "?returnTo=https://evil.example/", []string{"400 Bad Request", "returnTo must be an address of this service"}},
		"refused-provider":  {strings.Replace(s.start, "/start", "x/start", 1), []string{"404 Not Found", "SAML provider"}},
	} {
		b.open(test.path, errorPage)
		text := b.text()
		for _, say := range test.say {
			if !strings.Contains(text, say) {
				t.Errorf("%s does not say %q: %s", name, say, text)
			}
		}
		b.looksFine(name)
	}
	if sessions := s.h.Rows()["sessions"].Count; sessions != 0 {
		t.Errorf("%d sessions", sessions)
	}
}

// TestLoginOfAnother opens a page that posts a valid answer for another user. Nobody must be logged in, because this
// browser did not start the login.
func TestLoginOfAnother(t *testing.T) {
	t.Parallel()
	b, s := newTab(t), serve(t, httptest.NewTLSServer)
	b.open(s.attack(t), errorPage)
	if text := b.text(); !strings.Contains(text, "400 Bad Request") || !strings.Contains(text, "was not started by this browser") {
		t.Errorf("%s", text)
	}
	b.looksFine("refused-forged")
}

// TestInvitation accepts an invitation with the form on our page. The page's content security policy must allow the
// form.
func TestInvitation(t *testing.T) {
	t.Parallel()
	b, s := newTab(t), serve(t, httptest.NewTLSServer)
	invited := s.h.Want(200, "POST", "/v1/orgs/"+s.h.Ours.Organization.ID+"/invites", s.h.Ours.Tokens[schema.RoleAdmin],
		`{"emails":[{"email":"bo@elsewhere.example","role":"review"}]}`)
	link := s.h.InviteLink(s.h.Ours, invited["users"].([]any)[0].(string))
	b.open(s.base+"/v1/invites/accept?link="+link, "button")
	b.looksFine("invitation")
	b.do(chromedp.SendKeys(chromedp.CSS("input"), "Bo Ek"), chromedp.Click(chromedp.CSS("button")), chromedp.WaitVisible(chromedp.CSS("input[readonly]")))
	if me := s.h.Want(200, "GET", "/v1/user", ask(b, chromedp.Value(chromedp.CSS("input"))), nil); me["displayName"] != "Bo Ek" {
		t.Errorf("%v", me)
	}
	b.looksFine("welcome")
}
