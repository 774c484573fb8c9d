package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// siteRoot is the published address of the site.
func (s *siteOf) siteRoot() string {
	return "https://docs.example.com/base/~/sites/" + s.base[strings.LastIndex(s.base, "/")+1:]
}

func TestShareLinks(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{"visibility":"share-link"}`)
	got := s.ok("POST", "/share-links", `{"name":"Partners"}`, 201)
	if err := checkShape(shareLinkShape, got); err != nil {
		t.Error(err)
	}
	if l := line(got, "name", "active", "urls.published"); l != "Partners true <nil>" {
		t.Errorf("before the site is published: %s", l)
	}
	s.ok("POST", "/publish", nil, 200)
	s.ok("POST", "/share-links", `{"name":"Press"}`, 201)
	links := s.ok("GET", "/share-links", nil, 200)["items"].([]any)
	partners, press := links[0].(map[string]any), links[1].(map[string]any)
	address := line(partners, "urls.published")
	key, ok := strings.CutPrefix(address, s.siteRoot()+"/~")
	if !ok || len(key) < 26 || address == line(press, "urls.published") {
		t.Fatalf("address %q", address)
	}
	for search, want := range map[string]string{"PART": "Partners", key: "Partners", key[3:20]: "Partners", "~" + key: "Partners", address: "Partners", address + "/faq": "Partners", "r": "Partners Press", "nothing%": ""} {
		got := s.items("/share-links?search="+url.QueryEscape(search), "name")
		if search == "r" && len(got) < 2 { // Keys may hold it, too.
			t.Errorf("search %q: %q", search, got)
		} else if search != "r" && strings.Join(got, " ") != want {
			t.Errorf("search %q: %q", search, got)
		}
	}

	s.addSection("Guide")
	s.addSection("Api")
	s.addSpace("Faq", "")
	home := []string{"", "/api", "", "/faq", "/api"}
	check := func(query string, root string) {
		t.Helper()
		got := append(s.items("/sections"+query, "urls.published"), s.items("/site-spaces"+query, "urls.published")...)
		for i, path := range home {
			want := root + path
			if root == "" {
				want = "<nil>"
			}
			if got[i] != want {
				t.Errorf("published %q, want %q", got[i], want)
			}
		}
		structure := s.ok("GET", "/structure"+query, nil, 200)["structure"].([]any)
		want := root + "/api"
		if root == "" {
			want = "<nil>"
		}
		if got := line(structure[1].(map[string]any), "urls.published"); got != want {
			t.Errorf("published in the structure %q, want %q", got, want)
		}
	}
	check("", "")
	check("?shareKey="+key, address)
	check("?shareKey=wrong", "")
	foreign := h.newSite(`{"visibility":"share-link"}`)
	foreign.ok("POST", "/publish", nil, 200)
	other := line(foreign.ok("POST", "/share-links", `{"name":"x"}`, 201), "urls.published")
	check("?shareKey="+other[strings.LastIndex(other, "~")+1:], "")

	one := "/share-links/" + partners["id"].(string)
	got = s.ok("PATCH", one, `{"active":false,"name":""}`, 200)
	if l := line(got, "name", "active", "urls.published"); l != " false <nil>" {
		t.Error(l)
	}
	check("?shareKey="+key, "")
	if got := s.ok("PATCH", one, `{"active":true}`, 200); line(got, "urls.published") != address {
		t.Errorf("switched on again: %v", got)
	}
	check("?shareKey="+key, address)
	check("?shareKey=~"+key, address)
	check("?shareKey="+url.QueryEscape(address), address)
	s.ok("PATCH", "", `{"visibility":"public"}`, 200)
	check("?shareKey=wrong", s.siteRoot())
	s.ok("PATCH", "", `{"visibility":"share-link"}`, 200)
	s.ok("DELETE", one, nil, 204)
	s.ok("DELETE", one, nil, 204)
	check("?shareKey="+key, "")
	s.ok("POST", "/unpublish", nil, 200)
	if got := s.items("/share-links", "name", "urls.published"); len(got) != 1 || got[0] != "Press <nil>" {
		t.Errorf("after unpublishing: %q", got)
	}
	for _, bad := range [][3]string{
		{"POST", `{}`, "name"}, {"POST", `{"name":"` + strings.Repeat("x", 51) + `"}`, "name"},
		{"PATCH", `{}`, ""}, {"PATCH", `{"active":null}`, "active"}, {"PATCH", `{"active":1}`, "active"},
	} {
		path := "/share-links"
		if bad[0] == "PATCH" {
			path += "/" + press["id"].(string)
		}
		e := s.wantError(s.do(bad[0], s.base+path, s.token, bad[1]), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != bad[2] {
			t.Errorf("%v: %+v", bad, e)
		}
	}
	s.refused("PATCH", one, `{"active":true}`, 404, "")
	// Whoever may only read the site does not get the keys.
	s.token = h.ours.Tokens[schema.RoleReview]
	s.refused("GET", "/share-links", nil, 403, "")
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	s.addSection("Home")
	section := s.addSection("Guide")
	page := s.addSpace("Faq", section)
	h.exec(`update revisions r set pages = '[{"id":"g","type":"group","slug":"first","pages":[{"id":"p","type":"document","slug":"steps","pages":[]}]}]'
		from spaces s where s.revision = r.id and s.id = $1`, spaceOf(s, page))
	make := func(source, destination string) map[string]any {
		t.Helper()
		got := s.ok("POST", "/redirects", `{"source":"`+source+`","destination":`+destination+`}`, 201)
		if err := checkShape(redirectShape, got); err != nil {
			t.Error(err)
		}
		return got
	}
	target := func(source, want string) {
		t.Helper()
		got := s.ok("GET", "/redirect?source="+url.QueryEscape(source), nil, 200)
		if err := checkShape(redirectShape, got["redirect"]); err != nil {
			t.Error(err)
		}
		if got["target"] != want {
			t.Errorf("%s leads to %v, want %s", source, got["target"], want)
		}
	}
	toSection := make("/old", `{"kind":"site-section","siteSectionId":"`+section+`","url":null,"pageId":"ignored"}`)
	if l := line(toSection, "destination.kind", "destination.siteSectionId", "destination.pageId"); l != "site-section "+section+" <nil>" {
		t.Error(l)
	}
	make("/old/Space", `{"kind":"site-space","siteSpaceId":"`+page+`"}`)
	make("/caf%c3%a9/%41-page", `{"kind":"site-page","siteSpaceId":"`+page+`","pageId":"p"}`)
	external := make("/away", `{"kind":"external","url":"https://example.com/x?y#z"}`)
	target("/old", "/guide")
	target("/old/Space", "/guide/faq")
	target("/caf%C3%A9/A-page", "/guide/faq/first/steps")
	target("/away", "https://example.com/x?y#z")
	for _, none := range []string{"/OLD", "/old/space", "/caf%c3%a9/a-page", "/none"} {
		s.refused("GET", "/redirect?source="+url.QueryEscape(none), nil, 404, "")
	}
	for _, bad := range []string{"", "old", "/old/", "//old", "/a%2", "/a b", "/a?b", "/" + strings.Repeat("x", 512)} {
		s.refused("GET", "/redirect?source="+url.QueryEscape(bad), nil, 400, "source")
		s.refused("POST", "/redirects", map[string]any{"source": bad, "destination": map[string]any{"kind": "external", "url": "https://example.com"}}, 400, "source")
	}
	s.refused("GET", "/redirect", nil, 400, "source")

	// Everything is resolved at the moment of asking.
	s.ok("POST", "/publish", nil, 200)
	s.ok("PATCH", "/sections/"+section, `{"path":"manual"}`, 200)
	s.ok("PATCH", "/site-spaces/"+page, `{"path":"q-a"}`, 200)
	target("/old", s.siteRoot()+"/manual")
	target("/caf%C3%A9/A-page", s.siteRoot()+"/manual/q-a/first/steps")
	s.ok("PATCH", "", map[string]any{"defaultSiteSection": section, "defaultSiteSpace": page}, 200)
	target("/old", s.siteRoot())
	target("/caf%C3%A9/A-page", s.siteRoot()+"/first/steps")
	s.ok("PATCH", "", `{"visibility":"share-link"}`, 200)
	target("/old", "/")
	address := line(s.ok("POST", "/share-links", `{"name":"x"}`, 201), "urls.published")
	got := s.ok("GET", "/redirect?source=/old/Space&shareKey="+address[strings.LastIndex(address, "~")+1:], nil, 200)
	if got["target"] != address {
		t.Errorf("with a key: %v", got)
	}

	one := "/redirects/" + external["id"].(string)
	s.refused("POST", "/redirects", `{"source":"/%6Fld","destination":{"kind":"external","url":"https://example.com"}}`, 409, "")
	s.refused("PATCH", one, `{"source":"/old"}`, 409, "")
	s.ok("PATCH", one, `{"source":"/%61way"}`, 200)
	got = s.ok("PATCH", one, `{"destination":{"kind":"site-section","siteSectionId":"`+section+`"}}`, 200)
	if l := line(got, "source", "destination.kind", "destination.url"); l != "/%61way site-section <nil>" {
		t.Error(l)
	}
	target("/away", "/")
	other := h.newSite(`{}`)
	foreign := other.addSection("Foreign")
	for destination, field := range map[string]string{
		`null`:                    "destination",
		`{}`:                      "destination.kind",
		`{"kind":"elsewhere"}`:    "destination.kind",
		`{"kind":"site-section"}`: "destination.siteSectionId",
		`{"kind":"site-section","siteSectionId":"` + foreign + `"}`:            "destination.siteSectionId",
		`{"kind":"site-space","siteSpaceId":"` + section + `"}`:                "destination.siteSpaceId",
		`{"kind":"site-page","siteSpaceId":"` + page + `"}`:                    "destination.pageId",
		`{"kind":"site-page","siteSpaceId":"nowhere","pageId":"p"}`:            "destination.siteSpaceId",
		`{"kind":"site-page","siteSpaceId":"` + page + `","pageId":"nowhere"}`: "destination.pageId",
		`{"kind":"external"}`:                                                     "destination.url",
		`{"kind":"external","url":"javascript:alert(1)"}`:                         "destination.url",
		`{"kind":"external","url":"https://x/` + strings.Repeat("x", 2048) + `"}`: "destination.url",
	} {
		s.refused("POST", "/redirects", `{"source":"/new","destination":`+destination+`}`, 400, field)
		if destination != "null" {
			s.refused("PATCH", one, `{"destination":`+destination+`}`, 400, field)
		}
	}
	s.refused("PATCH", "/redirects/nowhere", `{}`, 404, "")
	wantLines(t, s.items("/redirects?search=OLD", "source"), "/old", "/old/Space")
	wantLines(t, s.items("/redirects?search=%25", "source"), "/caf%c3%a9/%41-page", "/%61way")

	// A destination that has gone stays in the redirect and is found no more.
	s.ok("DELETE", "/site-spaces/"+page, nil, 204)
	for _, gone := range []string{"/old/Space", "/caf%C3%A9/A-page"} {
		s.refused("GET", "/redirect?source="+url.QueryEscape(gone), nil, 404, "")
	}
	if got := s.ok("GET", "/redirects", nil, 200); got["count"] != 4.0 {
		t.Errorf("count %v", got["count"])
	}
	s.ok("DELETE", one, nil, 204)
	s.ok("DELETE", one, nil, 204)
	s.refused("GET", "/redirect?source=/away", nil, 404, "")
}

// TestRedirectsIntoClosedSpaces asks for pages of a space that the caller may not read: a page that is there and one that is
// not get the same answers, and no slug of a page is told.
func TestRedirectsIntoClosedSpaces(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	s.addSection("Home")
	id := s.addSpace("Secret", s.addSection("Guide"))
	space := spaceOf(s, id)
	h.exec(`update revisions r set pages = '[{"id":"p","type":"document","slug":"layoffs","pages":[]}]'
		from spaces s where s.revision = r.id and s.id = $1`, space)
	to := func(page string) string {
		return `{"kind":"site-page","siteSpaceId":"` + id + `","pageId":"` + page + `"}`
	}
	there := s.ok("POST", "/redirects", `{"source":"/there","destination":`+to("p")+`}`, 201)
	s.ok("POST", "/redirects", `{"source":"/gone","destination":`+to("p")+`}`, 201)
	h.exec("update site_redirects set page_id = 'gone' where source = '/gone'")
	h.exec("update spaces set default_level = null where id = $1", space)
	s.token = h.ours.Tokens[schema.RoleCreate]
	for _, source := range []string{"/there", "/gone"} {
		if got := s.ok("GET", "/redirect?source="+source, nil, 200); got["target"] != "/guide/secret" {
			t.Errorf("%s leads to %v", source, got["target"])
		}
	}
	for _, page := range []string{"p", "gone"} {
		s.refused("POST", "/redirects", `{"source":"/new","destination":`+to(page)+`}`, 400, "destination.pageId")
		s.refused("PATCH", "/redirects/"+there["id"].(string), `{"destination":`+to(page)+`}`, 400, "destination.pageId")
	}
	// The site space itself is no secret.
	s.ok("POST", "/redirects", `{"source":"/space","destination":{"kind":"site-space","siteSpaceId":"`+id+`"}}`, 201)
	s.token = h.ours.Tokens[schema.RoleAdmin]
	if got := s.ok("GET", "/redirect?source=/there", nil, 200); got["target"] != "/guide/secret/layoffs" {
		t.Errorf("to whoever may read it, it leads to %v", got["target"])
	}
	s.refused("GET", "/redirect?source=/gone", nil, 404, "")
}
