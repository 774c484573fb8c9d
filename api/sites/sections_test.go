package sites_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

func TestSections(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	space := h.FreshSpace(h.Ours, "Getting Started")
	got := s.Ok("POST", "/sections", map[string]any{"spaceId": space.ID, "title": nil, "icon": "book"}, 201)
	if err := shape.Check(sectionShape, got); err != nil {
		t.Error(err)
	}
	if l := apitest.Line(got, "title", "path", "default", "icon"); l != "Getting Started getting-started true book" {
		t.Error(l)
	}
	id := got["id"].(string)
	inside := got["siteSpaces"].([]any)
	if len(inside) != 1 || apitest.Line(inside[0].(map[string]any), "space.id", "default", "section", "title") != space.ID+" true "+id+" Getting Started" {
		t.Errorf("site spaces of the new section: %v", inside)
	}
	short := s.Ok("POST", "/sections", map[string]any{"spaceId": h.FreshSpace(h.Ours, "A").ID}, 201)
	if l := apitest.Line(short, "title", "path", "default"); l != "Section A section-a false" {
		t.Error(l)
	}
	nameless := s.Ok("POST", "/sections", map[string]any{"spaceId": h.FreshSpace(h.Ours, "").ID}, 201)
	if l := apitest.Line(nameless, "title", "path"); l != "Section section" {
		t.Error(l)
	}
	s.Ok("DELETE", "/sections/"+nameless["id"].(string), nil, 204)
	same := s.Ok("POST", "/sections", map[string]any{"spaceId": space.ID, "title": "Getting started!"}, 201)
	if l := apitest.Line(same, "path"); l != "getting-started-2" {
		t.Error(l)
	}

	one := "/sections/" + id
	got = s.Ok("PATCH", one, `{"title":"Guide","path":"Guide_1","condition":"visitor.claims.unsigned.beta == true","icon":"map","description":"All of it"}`, 200)
	if l := apitest.Line(got, "title", "path", "condition", "icon", "description"); l != "Guide Guide_1 visitor.claims.unsigned.beta == true map All of it" {
		t.Error(l)
	}
	got = s.Ok("PATCH", one, `{}`, 200)
	if got["condition"] == nil || got["icon"] == nil || got["description"] == nil {
		t.Errorf("absent members were removed: %v", got)
	}
	got = s.Ok("PATCH", one, `{"condition":null,"icon":null,"description":null}`, 200)
	for _, name := range []string{"condition", "icon", "description"} {
		if _, there := got[name]; there {
			t.Errorf("%s is there after null", name)
		}
	}
	s.Ok("PATCH", one, `{"condition":"true","icon":"map","description":"All"}`, 200)
	got = s.Ok("PATCH", one, `{"condition":"","icon":"","description":""}`, 200)
	for _, name := range []string{"condition", "icon", "description"} {
		if _, there := got[name]; there {
			t.Errorf("%s is there after the empty text", name)
		}
	}
	if l := apitest.Line(got, "title", "path"); l != "Guide Guide_1" {
		t.Error(l)
	}
	elsewhere := short["siteSpaces"].([]any)[0].(map[string]any)["id"].(string)
	for _, bad := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"POST", "/sections", `{}`, 400, "spaceId"},
		{"POST", "/sections", `{"spaceId":"nowhere"}`, 400, "spaceId"},
		{"POST", "/sections", `{"spaceId":"` + h.Theirs.Space.ID + `"}`, 400, "spaceId"},
		{"POST", "/sections", `{"spaceId":"` + space.ID + `","title":"x"}`, 400, "title"},
		{"POST", "/sections", `{"spaceId":"` + space.ID + `","icon":"` + strings.Repeat("x", 51) + `"}`, 400, "icon"},
		{"PATCH", one, `{"path":""}`, 400, "path"},
		{"PATCH", one, `{"path":null}`, 400, "path"},
		{"PATCH", one, `{"icon":null,"title":null}`, 400, "title"},
		{"PATCH", one, `null`, 400, ""},
		{"PATCH", one, `{"path":"a/b"}`, 400, "path"},
		{"PATCH", one, `{"path":"~key"}`, 400, "path"},
		{"PATCH", one, `{"path":".."}`, 400, "path"},
		{"PATCH", one, `{"path":"` + strings.Repeat("x", 101) + `"}`, 400, "path"},
		{"PATCH", one, `{"path":"section-a"}`, 409, ""},
		{"PATCH", one, `{"title":"x"}`, 400, "title"},
		{"PATCH", one, `{"condition":"` + strings.Repeat("x", 1025) + `"}`, 400, "condition"},
		{"PATCH", one, `{"description":"` + strings.Repeat("x", 257) + `"}`, 400, "description"},
		{"PATCH", one, `{"defaultSiteSpace":"nowhere"}`, 400, "defaultSiteSpace"},
		{"PATCH", one, `{"defaultSiteSpace":"` + elsewhere + `"}`, 400, "defaultSiteSpace"},
		{"PATCH", "/sections/nowhere", `{"title":"Nowhere"}`, 404, ""},
	} {
		s.Refused(bad.method, bad.path, bad.body, bad.status, bad.field)
	}

	second := s.AddSpace("Reference", id)
	got = s.Ok("PATCH", one, map[string]any{"defaultSiteSpace": second}, 200)
	lines := []string{}
	for _, item := range got["siteSpaces"].([]any) {
		lines = append(lines, apitest.Line(item.(map[string]any), "title", "default"))
	}
	wantLines(t, lines, "Getting Started false", "Reference true")
	s.Ok("DELETE", one, nil, 204)
	s.Ok("DELETE", one, nil, 204)
	wantLines(t, s.Items("/sections", "title", "default"), "Section A true", "Getting started! false")
	wantLines(t, s.Items("/site-spaces", "title"), "A", "Getting Started")
}

// TestDefaultFollowsTheNext deletes the default section or site space: in the middle, at the end, and the only one. The
// next in order becomes the default.
func TestDefaultFollowsTheNext(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for kind, add := range map[string]func(s *apitest.SiteOf, title string) string{
		"/site-spaces": func(s *apitest.SiteOf, title string) string { return s.AddSpace(title, "") },
		"/sections":    func(s *apitest.SiteOf, title string) string { return s.AddSection(title) },
	} {
		s := h.NewSite(`{}`)
		ids := map[string]string{}
		for _, title := range []string{"One", "Two", "Three"} {
			ids[title] = add(s, title)
		}
		member := map[string]string{"/site-spaces": "defaultSiteSpace", "/sections": "defaultSiteSection"}[kind]
		s.Ok("PATCH", "", map[string]any{member: ids["Two"]}, 200)
		for _, step := range []struct{ gone, want string }{{"Two", "Three"}, {"Three", "One"}, {"One", ""}} {
			s.Ok("DELETE", kind+"/"+ids[step.gone], nil, 204)
			got := s.Items(kind, "title", "default")
			if i := slices.Index(got, step.want+" true"); step.want != "" && i < 0 {
				t.Errorf("%s: after %s: %q, want %s", kind, step.gone, got, step.want)
			}
		}
	}
	// If a space is deleted, its site spaces are deleted, too, and another site space becomes the default.
	s := h.NewSite(`{}`)
	space := h.FreshSpace(h.Ours, "Gone")
	s.Ok("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 201)
	s.AddSpace("Stays", "")
	h.Want(204, "DELETE", "/v1/spaces/"+space.ID, h.Ours.Tokens[schema.RoleAdmin], nil)
	wantLines(t, s.Items("/site-spaces", "title", "default"), "Stays true")
}

func TestSiteSpaces(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	space := h.FreshSpace(h.Ours, "Guide")
	got := s.Ok("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 201)
	if err := shape.Check(siteSpaceShape, got); err != nil {
		t.Error(err)
	}
	if l := apitest.Line(got, "title", "path", "default", "hidden", "section", "space.id", "space.permissions.admin"); l != "Guide guide true false <nil> "+space.ID+" true" {
		t.Error(l)
	}
	id := got["id"].(string)
	s.Refused("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 409, "")
	other := s.Ok("POST", "/site-spaces", map[string]any{"spaceId": h.FreshSpace(h.Ours, "Guide").ID, "sectionId": nil}, 201)
	if l := apitest.Line(other, "path", "default"); l != "guide-2 false" {
		t.Error(l)
	}
	one := "/site-spaces/" + id
	got = s.Ok("PATCH", one, `{"path":"v1","condition":"true","hidden":true}`, 200)
	if l := apitest.Line(got, "path", "condition", "hidden"); l != "v1 true true" {
		t.Error(l)
	}
	if got = s.Ok("PATCH", one, `{"condition":""}`, 200); got["condition"] != nil {
		t.Errorf("empty condition: %v", got["condition"])
	}
	newer := h.FreshSpace(h.Ours, "Newer")
	got = s.Ok("PATCH", one, map[string]any{"condition": nil, "spaceId": newer.ID, "hidden": false}, 200)
	if l := apitest.Line(got, "path", "condition", "hidden", "space.id", "title"); l != "v1 <nil> false "+newer.ID+" Newer" {
		t.Error(l)
	}
	for _, bad := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"POST", "/site-spaces", `{}`, 400, "spaceId"},
		{"POST", "/site-spaces", `{"spaceId":"` + h.Theirs.Space.ID + `"}`, 400, "spaceId"},
		{"POST", "/site-spaces", `{"spaceId":"` + h.Ours.Space.ID + `","sectionId":"nowhere"}`, 400, "sectionId"},
		{"PATCH", one, `{"spaceId":"` + h.Theirs.Space.ID + `"}`, 400, "spaceId"},
		{"PATCH", one, `{"spaceId":"` + other["space"].(map[string]any)["id"].(string) + `"}`, 409, ""},
		{"PATCH", one, `{"path":"guide-2"}`, 409, ""},
		{"PATCH", one, `{"path":"a b"}`, 400, "path"},
		{"PATCH", one, `{"hidden":"yes"}`, 400, "hidden"},
		{"PATCH", "/site-spaces/nowhere", `{"hidden":true}`, 404, ""},
		{"GET", "/site-spaces?default=maybe", "", 400, "default"},
	} {
		s.Refused(bad.method, bad.path, bad.body, bad.status, bad.field)
	}
	s.Ok("DELETE", "/site-spaces/nowhere", nil, 204)
}

// TestSpacesThatTheCallerMayNotSee: if a site shows a space that the caller may not see, the caller gets only its id
// and title. The caller cannot add such a space to a site.
func TestSpacesThatTheCallerMayNotSee(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	section := s.AddSection("Home")
	id := s.AddSpace("Secret", section)
	group := s.Ok("POST", "/section-groups", map[string]any{"title": "Group", "sections": []string{section}}, 201)
	space := spaceOf(s, id)
	h.Exec(`update spaces set default_level = null, emoji = '1f5dd', icon = 'https://icons.example.com/secret', language = 'fr',
		edit_mode = 'locked', visibility = 'public', merge_rules = '{"type":"rules","rules":[{"rule":"allow_bypass","users":["secret"]}]}',
		git_sync = '{"repoName":"secret","url":"https://git.example.com/secret"}', open_comments = 7, change_requests = 7,
		change_requests_open = 7, change_requests_draft = 7, updated_at = now() + interval '1 hour',
		parent_id = $2 where id = $1`, space, h.Collection(h.Ours, nil))
	s.Token = h.Ours.Tokens[schema.RoleCreate]
	links := map[string]any{"location": "https://docs.example.com/base/v1/spaces/" + space, "app": "https://docs.example.com/base/app/spaces/" + space}
	closed := maps.Clone(shape.Space)
	closed["revision"] = shape.One("")
	seen := func(what string, siteSpace any) {
		t.Helper()
		shown, _ := siteSpace.(map[string]any)["space"].(map[string]any)
		if err := shape.Check(closed, shown); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if shown["updatedAt"] != shown["createdAt"] {
			t.Errorf("%s tells when the space was changed", what)
		}
		delete(shown, "createdAt")
		delete(shown, "updatedAt")
		permissions, _ := shown["permissions"].(map[string]any)
		for right, has := range permissions {
			if has != false {
				t.Errorf("%s gives %s", what, right)
			}
		}
		delete(shown, "permissions")
		want := map[string]any{
			"object": "space", "id": space, "title": "Secret", "organization": h.Ours.Organization.ID, "emoji": "1f4d6",
			"visibility": "private", "mergeRules": map[string]any{"type": "inherit"}, "urls": links, "revision": "", "defaultLevel": nil,
			"comments": 0.0, "changeRequests": 0.0, "changeRequestsOpen": 0.0, "changeRequestsDraft": 0.0,
		}
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	last := func(list any) map[string]any { items := list.([]any); return items[len(items)-1].(map[string]any) }
	seen("listSiteSpaces", last(s.Ok("GET", "/site-spaces", nil, 200)["items"]))
	seen("listSiteSections", last(last(s.Ok("GET", "/sections", nil, 200)["items"])["siteSpaces"]))
	inGroup := last(s.Ok("GET", "/section-groups", nil, 200)["items"])
	seen("listSiteSectionGroups", last(last(inGroup["sections"])["siteSpaces"]))
	seen("listSiteSectionGroups", last(last(inGroup["children"])["siteSpaces"]))
	seen("getSiteStructure", last(last(last(s.Ok("GET", "/structure", nil, 200)["structure"])["sections"])["siteSpaces"]))
	path := "/site-spaces/" + id
	seen("updateSiteSpaceById", s.Ok("PATCH", path, `{"hidden":false}`, 200))
	seen("moveSiteSpace", s.Ok("POST", path+"/move", nil, 200))
	seen("updateSiteSectionById", last(s.Ok("PATCH", "/sections/"+section, `{"icon":"x"}`, 200)["siteSpaces"]))
	seen("sortSiteStructure", s.Ok("PATCH", "/structure/sort", map[string]any{"item": map[string]any{"type": "site-space", "id": id}}, 200))
	seen("updateSiteSectionGroupById", last(last(s.Ok("PATCH", "/section-groups/"+group["id"].(string), `{"title":"New"}`, 200)["sections"])["siteSpaces"]))

	s.Refused("POST", "/sections", map[string]any{"spaceId": space}, 400, "spaceId")
	s.Refused("POST", "/site-spaces", map[string]any{"spaceId": space}, 400, "spaceId")
	s.Refused("PATCH", path, map[string]any{"spaceId": space}, 400, "spaceId")
	a := h.Do("POST", s.Base[:strings.LastIndex(s.Base, "/")], s.Token, map[string]any{"spaces": []string{space}})
	if e := h.WantError(a, http.StatusBadRequest); e.Details[0].Field != "spaces[0]" {
		t.Errorf("%+v", e)
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	a, b, c := s.AddSection("Aa"), s.AddSection("Bb"), s.AddSection("Cc")
	move := func(path, kind string, before, after string) map[string]any {
		position := map[string]any{}
		member := map[string]string{"site-section": "siteSection", "site-space": "siteSpace"}[kind]
		if before != "" {
			position["before"] = map[string]any{"type": kind, member: before}
		}
		if after != "" {
			position["after"] = map[string]any{"type": kind, member: after}
		}
		return s.Ok("POST", path+"/move", map[string]any{"position": position}, 200)
	}
	order := func(want ...string) {
		t.Helper()
		wantLines(t, s.Items("/sections", "title"), want...)
	}
	if got := move("/sections/"+c, "site-section", a, ""); got["id"] != c {
		t.Errorf("moved %v", got)
	}
	order("Cc", "Aa", "Bb")
	move("/sections/"+c, "site-section", "", a)
	order("Aa", "Cc", "Bb")
	move("/sections/"+b, "site-section", c, a)
	order("Aa", "Bb", "Cc")
	s.Ok("POST", "/sections/"+a+"/move", nil, 200)
	order("Bb", "Cc", "Aa")
	move("/sections/"+a, "site-section", "", "")
	order("Bb", "Cc", "Aa")
	wantLines(t, s.Items("/sections?limit=1", "title", "default"), "Bb false")

	x, y := s.AddSpace("Xx", a), s.AddSpace("Yy", a)
	z := s.AddSpace("Xx", b)
	spaces := func(want ...string) {
		t.Helper()
		wantLines(t, s.Items("/site-spaces", "title", "section", "default", "path"), want...)
	}
	got := move("/site-spaces/"+y, "site-space", x, "")
	if l := apitest.Line(got, "id", "section", "default"); l != y+" "+a+" false" {
		t.Error(l)
	}
	move("/site-spaces/"+z, "site-space", "", x)
	spaces("Bb "+b+" true bb", "Cc "+c+" true cc", "Aa "+a+" true aa", "Yy "+a+" false yy", "Xx "+a+" false xx", "Xx "+a+" false xx-2")
	// When the default moves out of a section, another site space becomes its default, if any remains.
	first := s.Items("/site-spaces?default=true", "id")
	move("/site-spaces/"+first[2], "site-space", first[0], "")
	move("/site-spaces/"+first[1], "site-space", "", first[0])
	spaces("Aa "+b+" false aa", "Bb "+b+" true bb", "Cc "+b+" false cc", "Yy "+a+" true yy", "Xx "+a+" false xx", "Xx "+a+" false xx-2")
	s.Ok("POST", "/site-spaces/"+y+"/move", `{}`, 200)
	spaces("Aa "+b+" false aa", "Bb "+b+" true bb", "Cc "+b+" false cc", "Xx "+a+" false xx", "Xx "+a+" false xx-2", "Yy "+a+" true yy")

	pointer := func(kind, member, id string) string {
		return fmt.Sprintf(`{"position":{"before":{"type":%q,%q:%q}}}`, kind, member, id)
	}
	for _, bad := range []struct {
		path, body string
		status     int
		field      string
	}{
		{"/sections/nowhere/move", `{}`, 404, ""},
		{"/site-spaces/nowhere/move", `{}`, 404, ""},
		{"/sections/" + a + "/move", pointer("site-section", "siteSection", "nowhere"), 400, "position.before"},
		{"/sections/" + a + "/move", pointer("site-section", "siteSection", a), 400, "position.before"},
		{"/sections/" + a + "/move", pointer("site-space", "siteSection", b), 400, "position.before.type"},
		{"/sections/" + a + "/move", `{"position":{"after":{"type":"site-section"}}}`, 400, "position.after.siteSection"},
		{"/site-spaces/" + x + "/move", pointer("site-space", "siteSpace", x), 400, "position.before"},
		{"/site-spaces/" + x + "/move", pointer("site-space", "siteSpace", a), 400, "position.before"},
		{"/sections/" + b + "/move", fmt.Sprintf(`{"position":{"before":{"siteSection":%q},"after":{"siteSection":%q}}}`, c, a), 400, "position.after"},
	} {
		s.Refused("POST", bad.path, bad.body, bad.status, bad.field)
	}
	// A section can contain the same space only once.
	twice := s.Ok("POST", "/sections", map[string]any{"spaceId": spaceOf(s, x), "title": "Twice"}, 201)
	inTwice := twice["siteSpaces"].([]any)[0].(map[string]any)["id"].(string)
	s.Refused("POST", "/site-spaces/"+inTwice+"/move", pointer("site-space", "siteSpace", x), 400, "position")
}

func spaceOf(s *apitest.SiteOf, siteSpace string) string {
	s.T.Helper()
	for _, l := range s.Items("/site-spaces", "id", "space.id") {
		if id, space, _ := strings.Cut(l, " "); id == siteSpace {
			return space
		}
	}
	s.T.Fatal("no such site space")
	return ""
}
