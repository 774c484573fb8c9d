package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

const (
	sessionPath = "/o/session"
	linkPath    = sessionPath + "/link"
)

// browser is a client that sends the session's cookie, like a browser.
type browser struct {
	h      *apitest.Harness
	cookie string
}

// do sends a request like our page. The given headers replace the page's headers.
func (b *browser) do(method, path string, body any, header ...string) apitest.Answer {
	b.h.T.Helper()
	own := []string{"Cookie", b.cookie, "Octavo-Browser", "1", "Sec-Fetch-Site", "same-origin", "Origin", b.h.Base}
	return b.h.Do(method, path, "", body, append(own, header...)...)
}

// who requests the caller's own user, and checks the status of the answer.
func (b *browser) who(status int, header ...string) {
	b.h.T.Helper()
	if a := b.do(http.MethodGet, "/v1/user", nil, header...); a.Status != status {
		b.h.T.Errorf("with %v: %d %s, want %d", header, a.Status, a.Body, status)
	}
}

// signedIn returns the browser that the answer signs in.
func signedIn(h *apitest.Harness, a apitest.Answer) *browser {
	h.T.Helper()
	if a.Status != http.StatusOK {
		h.T.Fatalf("%d %s", a.Status, a.Body)
	}
	cookies := (&http.Response{Header: a.Header}).Cookies()
	if len(cookies) != 1 {
		h.T.Fatalf("%v", a.Header)
	}
	return &browser{h, cookies[0].Name + "=" + cookies[0].Value}
}

// newHarness serves the API without a cache of tokens, so that a session or token is refused as soon as it has ended.
func newHarness(t *testing.T, base string) *apitest.Harness {
	t.Helper()
	return apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.AuthTTL, c.BaseURL = time.Nanosecond, base })
}

// TestSession signs in with a token. The attributes of the cookie must prevent scripts and other sites from using it.
// The session must have the token's rights, and must end with the sign-out.
func TestSession(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://docs.example.com/base": "; Path=/base/; Expires=; HttpOnly; Secure; SameSite=Strict",
		"http://docs.example.com":       "; Path=/; Expires=; HttpOnly; SameSite=Strict",
	} {
		h := newHarness(t, base)
		token := h.Ours.Tokens[schema.RoleAdmin]
		a := h.Do(http.MethodPost, sessionPath, token, nil)
		b := signedIn(h, a)
		_, attributes, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
		before, rest, _ := strings.Cut(attributes, "Expires=")
		end, after, _ := strings.Cut(rest, ";")
		if got := ";" + before + "Expires=;" + after; got != want {
			t.Errorf("%s: the cookie is %q, want %q", base, got, want)
		}
		at, err := time.Parse(http.TimeFormat, end)
		if left := time.Until(at); err != nil || left > 12*time.Hour || left < 11*time.Hour {
			t.Errorf("the cookie ends at %q: %v", end, err)
		}
		if strings.Contains(string(a.Body), strings.TrimPrefix(b.cookie, access.BrowserCookie+"=")) {
			t.Error("scripts can read the secret")
		}
		b.who(http.StatusOK)
		// The secret of the cookie cannot be used as a token.
		secret := strings.TrimPrefix(b.cookie, access.BrowserCookie+"=")
		h.WantError(h.Do(http.MethodGet, "/v1/user", secret, nil), http.StatusUnauthorized)
		// A session cannot create another session, and so cannot extend itself.
		h.WantError(b.do(http.MethodPost, sessionPath, nil), http.StatusForbidden)
		// If a request has a token and a cookie, the token applies.
		b.who(http.StatusUnauthorized, "Authorization", "Bearer "+schema.NewToken())

		h.WantError(b.do(http.MethodDelete, sessionPath, nil, "Octavo-Browser", ""), http.StatusForbidden)
		b.who(http.StatusOK)
		out := b.do(http.MethodDelete, sessionPath, nil)
		if out.Status != http.StatusNoContent || !strings.Contains(out.Header.Get("Set-Cookie"), "=; ") ||
			!strings.Contains(out.Header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("%d %v", out.Status, out.Header)
		}
		b.who(http.StatusUnauthorized)
	}
}

// TestForgery sends the cookie as a browser would if pages of other sites caused the requests. Such requests must be
// refused.
func TestForgery(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "https://docs.example.com/base")
	b := signedIn(h, h.Do(http.MethodPost, sessionPath, h.Ours.Tokens[schema.RoleAdmin], nil))
	for _, row := range []struct {
		status int
		header []string
	}{
		{http.StatusOK, nil},
		{http.StatusOK, []string{"Origin", "https://docs.example.com"}},
		{http.StatusOK, []string{"Origin", "https://DOCS.example.com"}},
		{http.StatusOK, []string{"Origin", ""}},
		{http.StatusOK, []string{"Sec-Fetch-Site", ""}},
		{http.StatusForbidden, []string{"Octavo-Browser", ""}},
		{http.StatusForbidden, []string{"Origin", "https://evil.test"}},
		{http.StatusForbidden, []string{"Origin", "null"}},
		{http.StatusForbidden, []string{"Origin", "https://docs.example.com.evil.test"}},
		{http.StatusForbidden, []string{"Origin", "https://docs.example.com:8443"}},
		{http.StatusForbidden, []string{"Origin", "http://docs.example.com"}},
		{http.StatusForbidden, []string{"Origin", "https://evil.test", "Sec-Fetch-Site", ""}},
		{http.StatusForbidden, []string{"Sec-Fetch-Site", "same-site"}},
		{http.StatusForbidden, []string{"Sec-Fetch-Site", "cross-site"}},
		{http.StatusForbidden, []string{"Sec-Fetch-Site", "none"}},
		{http.StatusUnauthorized, []string{"Cookie", access.BrowserCookie + "=" + schema.NewToken()}},
		{http.StatusUnauthorized, []string{"Cookie", access.BrowserCookie + "=x"}},
		{http.StatusUnauthorized, []string{"Cookie", ""}},
	} {
		b.who(row.status, row.header...)
		a := b.do(http.MethodPost, "/v1/orgs", map[string]any{"title": "Forged"}, row.header...)
		if want := map[int]int{http.StatusOK: http.StatusCreated}[row.status]; a.Status != max(want, row.status) {
			t.Errorf("a change with %v: %d %s", row.header, a.Status, a.Body)
		}
	}
	// CORS headers must not allow another origin to send the header Octavo-Browser or the cookie.
	a := h.Do(http.MethodOptions, "/v1/user", "", nil, "Origin", "https://evil.test",
		"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "octavo-browser")
	if strings.Contains(strings.ToLower(a.Header.Get("Access-Control-Allow-Headers")), "octavo-browser") ||
		a.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", a.Header)
	}
	link := h.BrowserLink(h.Ours.Tokens[schema.RoleAdmin])
	h.WantError(b.do(http.MethodPost, linkPath, map[string]any{"link": link}, "Origin", "https://evil.test"),
		http.StatusForbidden)
}

// TestLink opens a link twice, late, and after its token has ended.
func TestLink(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "https://docs.example.com")
	nobody := &browser{h, ""}
	open := func(link string) apitest.Answer {
		return nobody.do(http.MethodPost, linkPath, map[string]any{"link": link})
	}
	refused := func(link string) {
		t.Helper()
		if e := h.WantError(open(link), http.StatusBadRequest); len(e.Details) != 1 || e.Details[0].Field != "link" {
			t.Errorf("%+v", e)
		}
	}
	token := h.Ours.Tokens[schema.RoleAdmin]
	link := h.BrowserLink(token)
	// Before the link is opened, its secret is not valid as a session.
	(&browser{h, access.BrowserCookie + "=" + link}).who(http.StatusUnauthorized)
	b := signedIn(h, open(link))
	b.who(http.StatusOK)
	refused(link)
	refused(schema.NewToken())
	(&browser{h, access.BrowserCookie + "=" + link}).who(http.StatusUnauthorized)

	late := h.BrowserLink(token)
	h.Exec("update browser_sessions set link_expires_at = now() - interval '1 second' where not opened")
	refused(late)

	_, err := h.Store.CreateBrowserLink(t.Context(), h.Ours.SiteKey)
	if !schema.IsCode(err, schema.CodeForbidden) {
		t.Errorf("a link of a site key: %v", err)
	}
}

// TestSessionsEnd checks that a session ends when its time is over, and when its token is revoked or expires.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "https://docs.example.com")
	user := h.Ours.Users[schema.RoleRead]
	begin := func() (*browser, store.Token) {
		secret, row, err := h.Store.CreateToken(t.Context(), store.NewToken{User: user.ID})
		if err != nil {
			t.Fatal(err)
		}
		b := signedIn(h, h.Do(http.MethodPost, sessionPath, secret, nil))
		b.who(http.StatusOK)
		return b, row
	}
	b, row := begin()
	if err := h.Store.RevokeToken(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	b.who(http.StatusUnauthorized)

	b, row = begin()
	h.Exec("update tokens set expires_at = now() - interval '1 second' where id = '" + row.ID + "'")
	b.who(http.StatusUnauthorized)

	b, _ = begin()
	h.Exec("update browser_sessions set expires_at = now() - interval '1 second'")
	b.who(http.StatusUnauthorized)
	if err := h.Store.Orgs.DeleteEndedSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := h.Rows()["browser_sessions"].Count; n != 0 {
		t.Errorf("%d sessions are kept", n)
	}

	// A token that belongs to no user cannot sign in.
	h.WantError(h.Do(http.MethodPost, sessionPath, h.Ours.SiteKey, nil), http.StatusForbidden)
}
