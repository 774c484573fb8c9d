package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// TestVisitorSession requests a visitor's id with the headers that browsers send for pages of several origins.
func TestVisitorSession(t *testing.T) {
	t.Parallel()
	frontEnd := &url.URL{Scheme: "https", Host: "Front.example.net:8443"}
	h := apitest.New(t, func(_ *frame.Config, d *api.Deps) { d.FrontEnds = []*url.URL{frontEnd} })
	site, admin := "/v1/orgs/"+h.Ours.Organization.ID+"/sites/"+h.Ours.Site.ID, h.Ours.Tokens[schema.RoleAdmin]
	const path = "/__session/2/?proposed="
	published := func(on bool) {
		t.Helper()
		if _, err := h.Store.Sites.Publish(t.Context(), h.Ours.Site.ID, on); err != nil {
			t.Fatal(err)
		}
	}
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"hostname": "docs.example.org"})
	ask := func(id string, status int, header ...string) apitest.Answer {
		t.Helper()
		a := h.Do("GET", path+id, "", nil, header...)
		if a.Status != status {
			t.Errorf("%q: %d %s, want %d", header, a.Status, a.Body, status)
		}
		if credentials := a.Header.Get("Access-Control-Allow-Credentials"); status != http.StatusOK &&
			(credentials+a.Header.Get("Set-Cookie")) != "" {
			t.Errorf("%q: a refusal lets the page read it or sets a cookie: %v", header, a.Header)
		}
		return a
	}
	told := func(id, want string, header ...string) http.Header {
		t.Helper()
		a := ask(id, http.StatusOK, header...)
		if string(a.Body) != `{"deviceId":"`+want+`"}` {
			t.Errorf("%q: %s, want %s", header, a.Body, want)
		}
		return a.Header
	}
	ours := func(origin string) {
		t.Helper()
		got := told("a1R", "a1R", "Origin", origin)
		if got.Get("Access-Control-Allow-Origin") != origin || got.Get("Access-Control-Allow-Credentials") != "true" ||
			got.Get("Vary") != "Origin" ||
			got.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", origin, got)
		}
		const cookie = "__session=a1R; Path=/base/__session/2/; Max-Age=31536000; HttpOnly; Secure; " +
			"SameSite=None; Partitioned"
		if got.Get("Set-Cookie") != cookie {
			t.Errorf("%s sets %s", origin, got.Get("Set-Cookie"))
		}
		told("b2R", "a1R", "Origin", origin, "Cookie", "x=y; __session=a1R")
		for _, bad := range []string{`{"deviceId":"x"}`, "a b", "a/b", strings.Repeat("x", 129), ""} {
			told("b2R", "b2R", "Origin", origin, "Cookie", "__session="+bad)
		}
	}
	ours("https://front.example.net:8443")
	ours("https://docs.example.com") // This is the host of the base URL.
	foreign := []string{
		"https://front.example.net", "http://front.example.net:8443", "https://evil.test", "null",
		"https://front.example.net:8443.evil.test",
		"https://evil.test#front.example.net:8443", "https://docs.example.com@evil.test", ":",
		"front.example.net:8443", "http://docs.example.org",
	}
	for _, origin := range append(foreign, "https://docs.example.org") {
		ask("a1R", http.StatusForbidden, "Origin", origin)
	}

	// The host of a published site is also admitted, after the host is proved.
	published(true)
	ask("a1R", http.StatusForbidden, "Origin", "https://docs.example.org")
	if _, err := h.Store.Sites.ProveHostname(t.Context(), h.Ours.Site.ID, "docs.example.org", "dns"); err != nil {
		t.Fatal(err)
	}
	ours("https://docs.example.org")
	for _, origin := range foreign {
		ask("a1R", http.StatusForbidden, "Origin", origin)
	}
	h.Want(
		http.StatusOK,
		"PUT",
		site+"/customization",
		admin,
		map[string]any{"favicon": map[string]any{}, "insights": map[string]any{"trackingCookie": false}},
	)
	ask("a1R", http.StatusForbidden, "Origin", "https://docs.example.org")
	ask("a1R", http.StatusForbidden, "Host", "docs.example.org", "Sec-Fetch-Site", "same-origin")
	h.Want(http.StatusOK, "PUT", site+"/customization", admin, map[string]any{"favicon": map[string]any{}})
	ours("https://docs.example.org")
	got := told("a1R", "a1R", "Host", "docs.example.org", "Sec-Fetch-Site", "same-origin")
	if got.Get("Set-Cookie") == "" || got.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", got)
	}
	published(false)
	ask("a1R", http.StatusForbidden, "Origin", "https://docs.example.org")

	// If the request has no Origin, a page of another site may have caused it, for example by an image. Then the answer
	// sets no cookie.
	for _, header := range [][]string{nil, {"Sec-Fetch-Site", "cross-site"}, {"Host", "front.example.net:8443"}} {
		got := told("a1R", "a1R", append(header, "Cookie", "__session=c3R")...)
		if got.Get("Set-Cookie")+got.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v: %v", header, got)
		}
	}
	got = told("a1R", "a1R", "Host", "front.example.net:8443", "Sec-Fetch-Site", "same-origin")
	if got.Get("Set-Cookie") == "" {
		t.Errorf("%v", got)
	}

	for _, bad := range []string{"", strings.Repeat("x", 129), "a%20b", "%00", "a%3Bb", "%C3%A4", "a,b", "%22"} {
		e := h.WantError(
			ask(bad, http.StatusBadRequest, "Origin", "https://front.example.net:8443"),
			http.StatusBadRequest,
		)
		if len(e.Details) != 1 || e.Details[0].Field != "proposed" {
			t.Errorf("%q: %+v", bad, e)
		}
	}
	told(strings.Repeat("x", 128), strings.Repeat("x", 128), "Origin", "https://front.example.net:8443")
}
