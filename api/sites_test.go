package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func sitesExamples() {
	type maker = func(h *harness, tenant *storetest.Tenant) map[string]string
	ids := func(name string, make func(h *harness, tenant *storetest.Tenant) string) maker {
		return func(h *harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{name: make(h, tenant)}
		}
	}
	space := ids("newSpace", func(h *harness, t *storetest.Tenant) string { return h.freshSpace(t, "Fresh").ID })
	siteSpace := ids("siteSpaceId", (*harness).freshSiteSpace)
	section := ids("siteSectionId", (*harness).freshSection)
	group := ids("siteSectionGroupId", (*harness).freshGroup)
	groupAndSection := func(h *harness, t *storetest.Tenant) map[string]string {
		return map[string]string{"siteSectionGroupId": h.freshGroup(t), "siteSectionId": h.freshSection(t)}
	}
	link := ids("shareLinkId", func(h *harness, t *storetest.Tenant) string {
		row, err := h.st.CreateShareLink(h.t.Context(), t.Site.ID, "Partners")
		return created(h.t, row.ID, err)
	})
	redirect := func(h *harness, t *storetest.Tenant) map[string]string {
		source := "/" + schema.NewID()
		url := "https://example.com/"
		row, err := h.st.CreateSiteRedirect(h.t.Context(), t.Site.ID, store.NewSiteRedirect{
			Source: source, Destination: schema.SiteRedirectDestination{Kind: schema.RedirectToExternal, URL: &url},
		})
		return map[string]string{"siteRedirectId": created(h.t, row.ID, err), "source": source}
	}
	source := ids("source", func(*harness, *storetest.Tenant) string { return "/" + schema.NewID() })
	freshSite := ids("siteId", func(h *harness, t *storetest.Tenant) string {
		row, err := h.st.CreateSite(h.t.Context(), store.NewSite{
			OrganizationID: t.Organization.ID, Type: "basic", Title: "Fresh", Visibility: "public",
		})
		return created(h.t, row.Site.ID, err)
	})
	for id, ex := range map[string]example{
		"updateSiteById":          {body: `{"title":"Renamed"}`},
		"deleteSiteById":          {make: freshSite},
		"addSpaceToSite":          {body: `{"spaceId":"{newSpace}"}`, make: space},
		"updateSiteSpaceById":     {body: `{"hidden":true}`, make: siteSpace},
		"deleteSiteSpaceById":     {make: siteSpace},
		"moveSiteSpace":           {body: `{}`, make: siteSpace},
		"addSectionToSite":        {body: `{"spaceId":"{newSpace}"}`, make: space},
		"updateSiteSectionById":   {body: `{"icon":"book"}`, make: section},
		"deleteSiteSectionById":   {make: section},
		"moveSiteSection":         {body: `{}`, make: section},
		"sortSiteStructure":       {body: `{"item":{"type":"site-section","id":"{siteSectionId}"},"position":{}}`, make: section},
		"addSectionGroupToSite":   {body: `{"title":"Guides"}`},
		"createSiteShareLink":     {body: `{"name":"Partners"}`},
		"updateSiteShareLinkById": {body: `{"active":false}`, make: link},
		"deleteSiteShareLinkById": {make: link},
		"createSiteRedirect": {
			body: `{"source":"{source}","destination":{"kind":"external","url":"https://example.com/new"}}`, make: source,
		},
		"updateSiteRedirectById":     {body: `{}`, make: redirect},
		"deleteSiteRedirectById":     {make: redirect},
		"getSiteRedirectBySource":    {query: "?source={source}", make: redirect},
		"updateSiteSectionGroupById": {body: `{"title":"More"}`, make: group},
		"deleteSiteSectionGroupById": {make: group},
		"addSectionToGroup":          {body: `{"sectionId":"{siteSectionId}"}`, make: groupAndSection},
		"removeSectionFromGroup":     {make: groupAndSection},
	} {
		examples[id] = ex
	}
}

func (h *harness) freshSpace(tenant *storetest.Tenant, title string) store.Space {
	h.t.Helper()
	space, err := h.st.CreateSpace(h.t.Context(), store.NewSpace{
		OrganizationID: tenant.Organization.ID, Title: title, Emoji: "1f4d6", EditMode: "live",
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return space
}

func (h *harness) freshSiteSpace(tenant *storetest.Tenant) string {
	h.t.Helper()
	row, err := h.st.AddSiteSpace(h.t.Context(), tenant.Site.ID, h.freshSpace(tenant, "Fresh").ID, nil)
	return created(h.t, row.SiteSpace.ID, err)
}

func (h *harness) freshSection(tenant *storetest.Tenant) string {
	h.t.Helper()
	row, err := h.st.AddSection(h.t.Context(), tenant.Site.ID, store.NewSection{SpaceID: h.freshSpace(tenant, "Fresh").ID})
	return created(h.t, row.Section.ID, err)
}

func (h *harness) freshGroup(tenant *storetest.Tenant) string {
	h.t.Helper()
	row, err := h.st.AddSectionGroup(h.t.Context(), tenant.Site.ID, store.NewSectionGroup{Title: "Guides"})
	return created(h.t, row.ID, err)
}

var (
	siteSpaceShape = shape{
		"object": one("site-space"), "id": id, "path": text(1, 100), "section?": id, "space": object(spaceShape),
		"title": text(0, 50), "default": boolean, "condition?": text(0, 1024), "hasAdvancedCustomizationFeature": boolean,
		"hidden": boolean, "urls": object(shape{"published?": uri}),
	}
	sectionShape = shape{
		"object": one("site-section"), "id": id, "title": text(2, 128), "description?": text(0, 256), "default": boolean,
		"path": text(1, 100), "condition?": text(0, 1024), "sectionGroup?": id, "icon?": text(0, 50),
		"siteSpaces": list(object(siteSpaceShape)), "urls": object(shape{"published?": uri}),
	}
	groupShape = shape{
		"object": one("site-section-group"), "id": id, "title": text(1, 100), "sectionGroup?": id, "icon?": text(0, 50),
		"sections": list(object(sectionShape)), "children": list(func(any) error { return nil }),
	}
	shareLinkShape = shape{
		"object": one("share-link"), "id": id, "createdAt": timestamp, "name": text(0, 50), "active": boolean,
		"urls": object(shape{"published?": uri}),
	}
	redirectShape = shape{
		"object": one("site-redirect"), "id": id, "source": text(2, 512), "destination": object(shape{
			"kind":           one("site-section", "site-space", "site-page", "external"),
			"siteSectionId?": id, "siteSpaceId?": id, "pageId?": id, "url?": text(1, 2048),
		}),
	}
)

// siteOf calls operations on one site as one user.
type siteOf struct {
	*harness
	base, token string
}

// newSite makes a site without spaces.
func (h *harness) newSite(body string) *siteOf {
	h.t.Helper()
	org := "/v1/orgs/" + h.ours.Organization.ID
	s := &siteOf{harness: h, token: h.ours.Tokens[schema.RoleAdmin]}
	s.base = org + "/sites"
	s.base += "/" + s.ok("POST", "", body, 201)["id"].(string)
	return s
}

// ok calls and wants success; a body of an answer comes back decoded.
func (s *siteOf) ok(method, path string, body any, status int) map[string]any {
	s.t.Helper()
	a := s.do(method, s.base+path, s.token, body)
	if a.status != status {
		s.t.Fatalf("%s %s %v: %d %s, want %d", method, path, body, a.status, a.body, status)
	}
	var value map[string]any
	if len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &value); err != nil {
			s.t.Fatal(err)
		}
	}
	return value
}

// refused calls and wants a refusal that names the field, if the field is not empty.
func (s *siteOf) refused(method, path string, body any, status int, field string) {
	s.t.Helper()
	e := s.wantError(s.do(method, s.base+path, s.token, body), status)
	if field != "" && (len(e.Details) == 0 || e.Details[0].Field != field) {
		s.t.Errorf("%s %s %v: want a detail on %q, got %+v", method, path, body, field, e)
	}
}

func (s *siteOf) addSpace(title, section string) string {
	s.t.Helper()
	body := map[string]any{"spaceId": s.freshSpace(s.ours, title).ID}
	if section != "" {
		body["sectionId"] = section
	}
	return s.ok("POST", "/site-spaces", body, 201)["id"].(string)
}

func (s *siteOf) addSection(title string) string {
	s.t.Helper()
	return s.ok("POST", "/sections", map[string]any{"spaceId": s.freshSpace(s.ours, title).ID}, 201)["id"].(string)
}

// sectionTheRoot makes the first section of the site spaces at the root: it is that of the home page's space.
func (s *siteOf) sectionTheRoot(title string) string {
	s.t.Helper()
	home := s.items("/site-spaces?default=true", "space.id")[0]
	return s.ok("POST", "/sections", map[string]any{"spaceId": home, "title": title}, 201)["id"].(string)
}

// items lists all of a list's members as "member member ..." lines.
func (s *siteOf) items(path string, members ...string) []string {
	s.t.Helper()
	lines := []string{}
	for _, item := range s.ok("GET", path, nil, 200)["items"].([]any) {
		lines = append(lines, line(item.(map[string]any), members...))
	}
	return lines
}

// line picks members of a resource; "a.b" is a member of a member.
func line(item map[string]any, members ...string) string {
	words := make([]string, len(members))
	for i, member := range members {
		var value any = item
		for name := range strings.SplitSeq(member, ".") {
			value = value.(map[string]any)[name]
		}
		words[i] = fmt.Sprint(value)
	}
	return strings.Join(words, " ")
}

func TestUpdateSite(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{"title":"Docs"}`)
	root := "https://docs.example.com/base/~/sites/" + s.base[strings.LastIndex(s.base, "/")+1:]
	got := s.ok("PATCH", "", `{"title":"Manual","visibility":"unlisted","basename":"manual","adaptiveContent":{"enabled":true},
		"agentsContext":"excluded","proxy":"acme.com/docs"}`, 200)
	if err := checkShape(siteShape, got); err != nil {
		t.Error(err)
	}
	want := "Manual unlisted manual true excluded acme.com/docs " + root
	if l := line(got, "title", "visibility", "basename", "adaptiveContent.enabled", "agentsContext", "proxy.origin", "proxy.target"); l != want {
		t.Errorf("got %s, want %s", l, want)
	}
	if got := s.ok("POST", "/publish", nil, 200); got["published"] != true || line(got, "urls.published") != "https://acme.com/docs" {
		t.Errorf("published behind a proxy: %v", got)
	}
	got = s.ok("PATCH", "", `{"proxy":null}`, 200)
	if got["proxy"] != nil || line(got, "urls.published") != root {
		t.Errorf("without the proxy: %v", got)
	}
	if got := s.ok("POST", "/unpublish", nil, 200); got["published"] != false || line(got, "urls.published") != "<nil>" {
		t.Errorf("unpublished: %v", got)
	}
	other := h.newSite(`{}`)
	other.refused("PATCH", "", `{"basename":"manual"}`, 409, "")
	for _, bad := range [][2]string{
		{`{"title":"x"}`, "title"}, {`{"visibility":"secret"}`, "visibility"}, {`{"basename":"a/b"}`, "basename"},
		{`{"basename":""}`, "basename"}, {`{"adaptiveContent":{}}`, "adaptiveContent.enabled"}, {`{"agentsContext":"maybe"}`, "agentsContext"},
		{`{"proxy":"acme.com"}`, "proxy"}, {`{"defaultSiteSpace":"nowhere"}`, "defaultSiteSpace"},
		{`{"defaultSiteSection":"nowhere"}`, "defaultSiteSection"},
	} {
		s.refused("PATCH", "", bad[0], 400, bad[1])
	}
	s.ok("DELETE", "", nil, 204)
	s.ok("DELETE", "", nil, 204)
	s.refused("GET", "", nil, 404, "")
}

func TestDefaultsOfSite(t *testing.T) {
	t.Parallel()
	s := newHarness(t).newSite(`{}`)
	s.addSpace("One", "")
	two := s.addSpace("Two", "")
	s.ok("PATCH", "", map[string]any{"defaultSiteSpace": two}, 200)
	wantLines(t, s.items("/site-spaces", "title", "default"), "One false", "Two true")
	first, second := s.addSection("First"), s.addSection("Second")
	// What was at the root is in a section of its own now, and the home page is what it was.
	wantLines(t, s.items("/sections", "title", "default", "path"), "Two true two", "First false first", "Second false second")
	front := s.items("/sections", "id")[0]
	wantLines(t, s.items("/site-spaces", "title", "default", "section"),
		"One false "+front, "Two true "+front, "First true "+first, "Second true "+second)
	inSecond := s.addSpace("Third", second)
	s.refused("PATCH", "", map[string]any{"defaultSiteSpace": inSecond}, 400, "defaultSiteSpace")
	s.ok("PATCH", "", map[string]any{"defaultSiteSpace": inSecond, "defaultSiteSection": second}, 200)
	wantLines(t, s.items("/sections", "title", "default"), "Two false", "First false", "Second true")
	wantLines(t, s.items("/site-spaces?default=true", "title"), "Two", "First", "Third")
	wantLines(t, s.items("/site-spaces?default=false", "title"), "One", "Second")
	s.ok("DELETE", "/sections/"+first, nil, 204)
	wantLines(t, s.items("/site-spaces", "title"), "One", "Two", "Second", "Third")
}

// TestFirstSectionOfASpaceAtTheRoot: a space of the site makes no second one, and no second section if it is the home page.
func TestFirstSectionOfASpaceAtTheRoot(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	s.addSpace("Guide", "")
	reference := h.freshSpace(h.ours, "Reference").ID
	s.ok("POST", "/site-spaces", map[string]any{"spaceId": reference}, 201)
	s.ok("POST", "/sections", map[string]any{"spaceId": reference, "title": "API"}, 201)
	wantLines(t, s.items("/sections", "title", "default"), "Guide true", "API false")
	wantLines(t, s.items("/site-spaces", "title", "default"), "Guide true", "Reference true")
	home := h.newSite(`{}`)
	guide := h.freshSpace(h.ours, "Guide").ID
	home.ok("POST", "/site-spaces", map[string]any{"spaceId": guide}, 201)
	home.addSpace("Reference", "")
	home.ok("POST", "/sections", map[string]any{"spaceId": guide, "title": "All"}, 201)
	wantLines(t, home.items("/sections", "title", "default"), "All true")
	wantLines(t, home.items("/site-spaces", "title", "default"), "Guide true", "Reference false")
}

func wantLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func decodeAnswer(t testing.TB, body []byte) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s: %v", body, err)
	}
	return value
}
