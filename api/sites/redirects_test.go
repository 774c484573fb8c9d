package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

func TestShareLinks(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{"visibility":"share-link"}`)
	got := s.Ok("POST", "/share-links", `{"name":"Partners"}`, 201)
	if err := shape.Check(shareLinkShape, got); err != nil {
		t.Error(err)
	}
	if l := apitest.Line(got, "name", "active", "urls.published"); l != "Partners true <nil>" {
		t.Errorf("before the site is published: %s", l)
	}
	s.Ok("POST", "/publish", nil, 200)
	s.Ok("POST", "/share-links", `{"name":"Press"}`, 201)
	links := s.Ok("GET", "/share-links", nil, 200)["items"].([]any)
	partners, press := links[0].(map[string]any), links[1].(map[string]any)
	address := apitest.Line(partners, "urls.published")
	key, ok := strings.CutPrefix(address, s.SiteRoot()+"/~")
	if !ok || len(key) < 26 || address == apitest.Line(press, "urls.published") {
		t.Fatalf("address %q", address)
	}
	for search, want := range map[string]string{"PART": "Partners", key: "Partners", key[3:20]: "Partners", "~" + key: "Partners", address: "Partners", address + "/faq": "Partners", "r": "Partners Press", "nothing%": ""} {
		got := s.Items("/share-links?search="+url.QueryEscape(search), "name")
		if search == "r" && len(got) < 2 { // The search also finds keys, which may contain the letter r.
			t.Errorf("search %q: %q", search, got)
		} else if search != "r" && strings.Join(got, " ") != want {
			t.Errorf("search %q: %q", search, got)
		}
	}

	s.AddSection("Guide")
	s.AddSection("Api")
	s.AddSpace("Faq", "")
	home := []string{"", "/api", "", "/faq", "/api"}
	check := func(query string, root string) {
		t.Helper()
		got := append(s.Items("/sections"+query, "urls.published"), s.Items("/site-spaces"+query, "urls.published")...)
		for i, path := range home {
			want := root + path
			if root == "" {
				want = "<nil>"
			}
			if got[i] != want {
				t.Errorf("published %q, want %q", got[i], want)
			}
		}
		structure := s.Ok("GET", "/structure"+query, nil, 200)["structure"].([]any)
		want := root + "/api"
		if root == "" {
			want = "<nil>"
		}
		if got := apitest.Line(structure[1].(map[string]any), "urls.published"); got != want {
			t.Errorf("published in the structure %q, want %q", got, want)
		}
	}
	check("", "")
	check("?shareKey="+key, address)
	check("?shareKey=wrong", "")
	foreign := h.NewSite(`{"visibility":"share-link"}`)
	foreign.Ok("POST", "/publish", nil, 200)
	other := apitest.Line(foreign.Ok("POST", "/share-links", `{"name":"x"}`, 201), "urls.published")
	check("?shareKey="+other[strings.LastIndex(other, "~")+1:], "")

	one := "/share-links/" + partners["id"].(string)
	got = s.Ok("PATCH", one, `{"active":false,"name":""}`, 200)
	if l := apitest.Line(got, "name", "active", "urls.published"); l != " false <nil>" {
		t.Error(l)
	}
	check("?shareKey="+key, "")
	if got := s.Ok("PATCH", one, `{"active":true}`, 200); apitest.Line(got, "urls.published") != address {
		t.Errorf("switched on again: %v", got)
	}
	check("?shareKey="+key, address)
	check("?shareKey=~"+key, address)
	check("?shareKey="+url.QueryEscape(address), address)
	s.Ok("PATCH", "", `{"visibility":"public"}`, 200)
	check("?shareKey=wrong", s.SiteRoot())
	s.Ok("PATCH", "", `{"visibility":"share-link"}`, 200)
	s.Ok("DELETE", one, nil, 204)
	s.Ok("DELETE", one, nil, 204)
	check("?shareKey="+key, "")
	s.Ok("POST", "/unpublish", nil, 200)
	if got := s.Items("/share-links", "name", "urls.published"); len(got) != 1 || got[0] != "Press <nil>" {
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
		e := s.WantError(s.Do(bad[0], s.Base+path, s.Token, bad[1]), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != bad[2] {
			t.Errorf("%v: %+v", bad, e)
		}
	}
	s.Refused("PATCH", one, `{"active":true}`, 404, "")
	// A caller who may only read the site must not list its share links, because they contain the keys.
	s.Token = h.Ours.Tokens[schema.RoleReview]
	s.Refused("GET", "/share-links", nil, 403, "")
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	s.AddSection("Home")
	section := s.AddSection("Guide")
	page := s.AddSpace("Faq", section)
	h.Exec(`insert into branch_pages (branch, page_id, since, parent_id, slug, page)
		values ($1, 'g', 1, '', 'first', '{"type":"group"}'), ($1, 'p', 1, 'g', 'steps', '{"type":"document"}')`, spaceOf(s, page))
	make := func(source, destination string) map[string]any {
		t.Helper()
		got := s.Ok("POST", "/redirects", `{"source":"`+source+`","destination":`+destination+`}`, 201)
		if err := shape.Check(redirectShape, got); err != nil {
			t.Error(err)
		}
		return got
	}
	target := func(source, want string) {
		t.Helper()
		got := s.Ok("GET", "/redirect?source="+url.QueryEscape(source), nil, 200)
		if err := shape.Check(redirectShape, got["redirect"]); err != nil {
			t.Error(err)
		}
		if got["target"] != want {
			t.Errorf("%s leads to %v, want %s", source, got["target"], want)
		}
	}
	toSection := make("/old", `{"kind":"site-section","siteSectionId":"`+section+`","url":null,"pageId":"ignored"}`)
	if l := apitest.Line(toSection, "destination.kind", "destination.siteSectionId", "destination.pageId"); l != "site-section "+section+" <nil>" {
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
		s.Refused("GET", "/redirect?source="+url.QueryEscape(none), nil, 404, "")
	}
	for _, bad := range []string{"", "old", "/old/", "//old", "/a%2", "/a b", "/a?b", "/" + strings.Repeat("x", 512)} {
		s.Refused("GET", "/redirect?source="+url.QueryEscape(bad), nil, 400, "source")
		s.Refused("POST", "/redirects", map[string]any{"source": bad, "destination": map[string]any{"kind": "external", "url": "https://example.com"}}, 400, "source")
	}
	s.Refused("GET", "/redirect", nil, 400, "source")

	// A redirect leads to the present address of its destination.
	s.Ok("POST", "/publish", nil, 200)
	s.Ok("PATCH", "/sections/"+section, `{"path":"manual"}`, 200)
	s.Ok("PATCH", "/site-spaces/"+page, `{"path":"q-a"}`, 200)
	target("/old", s.SiteRoot()+"/manual")
	target("/caf%C3%A9/A-page", s.SiteRoot()+"/manual/q-a/first/steps")
	s.Ok("PATCH", "", map[string]any{"defaultSiteSection": section, "defaultSiteSpace": page}, 200)
	target("/old", s.SiteRoot())
	target("/caf%C3%A9/A-page", s.SiteRoot()+"/first/steps")
	s.Ok("PATCH", "", `{"visibility":"share-link"}`, 200)
	target("/old", "/")
	address := apitest.Line(s.Ok("POST", "/share-links", `{"name":"x"}`, 201), "urls.published")
	got := s.Ok("GET", "/redirect?source=/old/Space&shareKey="+address[strings.LastIndex(address, "~")+1:], nil, 200)
	if got["target"] != address {
		t.Errorf("with a key: %v", got)
	}

	one := "/redirects/" + external["id"].(string)
	s.Refused("POST", "/redirects", `{"source":"/%6Fld","destination":{"kind":"external","url":"https://example.com"}}`, 409, "")
	s.Refused("PATCH", one, `{"source":"/old"}`, 409, "")
	s.Ok("PATCH", one, `{"source":"/%61way"}`, 200)
	got = s.Ok("PATCH", one, `{"destination":{"kind":"site-section","siteSectionId":"`+section+`"}}`, 200)
	if l := apitest.Line(got, "source", "destination.kind", "destination.url"); l != "/%61way site-section <nil>" {
		t.Error(l)
	}
	target("/away", "/")
	other := h.NewSite(`{}`)
	foreign := other.AddSection("Foreign")
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
		s.Refused("POST", "/redirects", `{"source":"/new","destination":`+destination+`}`, 400, field)
		if destination != "null" {
			s.Refused("PATCH", one, `{"destination":`+destination+`}`, 400, field)
		}
	}
	s.Refused("PATCH", "/redirects/nowhere", `{}`, 404, "")
	wantLines(t, s.Items("/redirects?search=OLD", "source"), "/old", "/old/Space")
	wantLines(t, s.Items("/redirects?search=%25", "source"), "/caf%c3%a9/%41-page", "/%61way")

	// If its destination is deleted, a redirect is still listed, but it leads nowhere.
	s.Ok("DELETE", "/site-spaces/"+page, nil, 204)
	for _, gone := range []string{"/old/Space", "/caf%C3%A9/A-page"} {
		s.Refused("GET", "/redirect?source="+url.QueryEscape(gone), nil, 404, "")
	}
	if got := s.Ok("GET", "/redirects", nil, 200); got["count"] != 4.0 {
		t.Errorf("count %v", got["count"])
	}
	s.Ok("DELETE", one, nil, 204)
	s.Ok("DELETE", one, nil, 204)
	s.Refused("GET", "/redirect?source=/away", nil, 404, "")
}

// TestDraftsStayBack creates drafts. A redirect that is a draft leads nowhere until `draft` is false. Operations
// without drafts refuse `draft: true`, and name the member in the error.
func TestDraftsStayBack(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	section := s.AddSection("Home")
	s.Ok("POST", "/publish", nil, 200)
	const to = `"destination":{"kind":"external","url":"https://example.com/new"}`
	resolve := func(source string) any {
		t.Helper()
		return h.Want(200, "POST", "/v1/urls/published", s.Token,
			map[string]any{"url": s.SiteRoot() + source})["redirect"]
	}
	live := s.Ok("POST", "/redirects", `{"source":"/live",`+to+`,"captureWildcard":false,"draft":null}`, 201)
	draft := s.Ok("POST", "/redirects", `{"source":"/draft",`+to+`,"draft":true}`, 201)
	for _, made := range []map[string]any{live, draft} {
		if err := shape.Check(redirectShape, made); err != nil {
			t.Error(err)
		}
	}
	wantLines(t, s.Items("/redirects", "source", "draft"), "/live false", "/draft true")
	stays := func() {
		t.Helper()
		s.Refused("GET", "/redirect?source=/draft", nil, 404, "")
		if got := resolve("/draft"); got != nil {
			t.Errorf("a draft leads to %v", got)
		}
	}
	leads := func(source string) {
		t.Helper()
		if got := s.Ok("GET", "/redirect?source="+source, nil, 200)["target"]; got != "https://example.com/new" ||
			resolve(source) != got {
			t.Errorf("%s leads to %v and %v", source, got, resolve(source))
		}
	}
	stays()
	leads("/live")
	one := "/redirects/" + draft["id"].(string)
	s.Refused("POST", "/redirects", `{"source":"/draft",`+to+`}`, 409, "")
	if got := s.Ok("PATCH", one, `{"source":"/draft"}`, 200); got["draft"] != true {
		t.Errorf("%v", got)
	}
	stays()
	s.Ok("PATCH", one, `{"draft":false}`, 200)
	leads("/draft")
	s.Ok("PATCH", one, `{"draft":true}`, 200)
	stays()

	// The site's only redirect is now a draft.
	s.Ok("DELETE", "/redirects/"+live["id"].(string), nil, 204)
	stays()

	group := s.Ok("POST", "/section-groups", `{"title":"Group","draft":false}`, 201)["id"].(string)
	siteSpace := s.AddSpace("Faq", section)
	space := h.FreshSpace(h.Ours, "Fresh").ID
	before := h.Rows()
	for _, refused := range []struct{ method, path, body, field string }{
		{"POST", "/redirects", `{"source":"/x",` + to + `,"captureWildcard":true}`, "captureWildcard"},
		{"PATCH", one, `{"captureWildcard":true}`, "captureWildcard"},
		{"POST", "/sections", `{"spaceId":"` + space + `","draft":true}`, "draft"},
		{"PATCH", "/sections/" + section, `{"draft":true}`, "draft"},
		{"POST", "/section-groups", `{"title":"Group","draft":true}`, "draft"},
		{"PATCH", "/section-groups/" + group, `{"draft":true}`, "draft"},
		{"POST", "/site-spaces", `{"spaceId":"` + space + `","draft":true}`, "draft"},
		{"PATCH", "/site-spaces/" + siteSpace, `{"draft":true}`, "draft"},
	} {
		s.Refused(refused.method, refused.path, refused.body, 400, refused.field)
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}

// TestRedirectsIntoClosedSpaces uses redirects to pages of a space that the caller may not read. The answers are the
// same for existing and for missing pages, and contain no slug of a page.
func TestRedirectsIntoClosedSpaces(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	s.AddSection("Home")
	id := s.AddSpace("Secret", s.AddSection("Guide"))
	space := spaceOf(s, id)
	h.Exec(`insert into branch_pages (branch, page_id, since, slug, page) values ($1, 'p', 1, 'layoffs', '{"type":"document"}')`, space)
	to := func(page string) string {
		return `{"kind":"site-page","siteSpaceId":"` + id + `","pageId":"` + page + `"}`
	}
	there := s.Ok("POST", "/redirects", `{"source":"/there","destination":`+to("p")+`}`, 201)
	s.Ok("POST", "/redirects", `{"source":"/gone","destination":`+to("p")+`}`, 201)
	h.Exec("update site_redirects set page_id = 'gone' where source = '/gone'")
	h.CloseSpace(space)
	s.Token = h.Ours.Tokens[schema.RoleCreate]
	for _, source := range []string{"/there", "/gone"} {
		if got := s.Ok("GET", "/redirect?source="+source, nil, 200); got["target"] != "/guide/secret" {
			t.Errorf("%s leads to %v", source, got["target"])
		}
	}
	for _, page := range []string{"p", "gone"} {
		s.Refused("POST", "/redirects", `{"source":"/new","destination":`+to(page)+`}`, 400, "destination.pageId")
		s.Refused("PATCH", "/redirects/"+there["id"].(string), `{"destination":`+to(page)+`}`, 400, "destination.pageId")
	}
	// A redirect to the site space itself is allowed, because site spaces are not secret.
	s.Ok("POST", "/redirects", `{"source":"/space","destination":{"kind":"site-space","siteSpaceId":"`+id+`"}}`, 201)
	s.Token = h.Ours.Tokens[schema.RoleAdmin]
	if got := s.Ok("GET", "/redirect?source=/there", nil, 200); got["target"] != "/guide/secret/layoffs" {
		t.Errorf("to whoever may read it, it leads to %v", got["target"])
	}
	s.Refused("GET", "/redirect?source=/gone", nil, 404, "")
}
