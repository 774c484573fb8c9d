package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
)

func TestSections(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	space := h.freshSpace(h.ours, "Getting Started")
	got := s.ok("POST", "/sections", map[string]any{"spaceId": space.ID, "title": nil, "icon": "book"}, 201)
	if err := checkShape(sectionShape, got); err != nil {
		t.Error(err)
	}
	if l := line(got, "title", "path", "default", "icon"); l != "Getting Started getting-started true book" {
		t.Error(l)
	}
	id := got["id"].(string)
	inside := got["siteSpaces"].([]any)
	if len(inside) != 1 || line(inside[0].(map[string]any), "space.id", "default", "section", "title") != space.ID+" true "+id+" Getting Started" {
		t.Errorf("site spaces of the new section: %v", inside)
	}
	short := s.ok("POST", "/sections", map[string]any{"spaceId": h.freshSpace(h.ours, "A").ID}, 201)
	if l := line(short, "title", "path", "default"); l != "Section A section-a false" {
		t.Error(l)
	}
	nameless := s.ok("POST", "/sections", map[string]any{"spaceId": h.freshSpace(h.ours, "").ID}, 201)
	if l := line(nameless, "title", "path"); l != "Section section" {
		t.Error(l)
	}
	s.ok("DELETE", "/sections/"+nameless["id"].(string), nil, 204)
	same := s.ok("POST", "/sections", map[string]any{"spaceId": space.ID, "title": "Getting started!"}, 201)
	if l := line(same, "path"); l != "getting-started-2" {
		t.Error(l)
	}

	one := "/sections/" + id
	got = s.ok("PATCH", one, `{"title":"Guide","path":"Guide_1","condition":"visitor.claims.unsigned.beta == true","icon":"map","description":"All of it"}`, 200)
	if l := line(got, "title", "path", "condition", "icon", "description"); l != "Guide Guide_1 visitor.claims.unsigned.beta == true map All of it" {
		t.Error(l)
	}
	got = s.ok("PATCH", one, `{}`, 200)
	if got["condition"] == nil || got["icon"] == nil || got["description"] == nil {
		t.Errorf("absent members were removed: %v", got)
	}
	got = s.ok("PATCH", one, `{"condition":null,"icon":null,"description":null}`, 200)
	for _, name := range []string{"condition", "icon", "description"} {
		if _, there := got[name]; there {
			t.Errorf("%s is there after null", name)
		}
	}
	s.ok("PATCH", one, `{"condition":"true","icon":"map","description":"All"}`, 200)
	got = s.ok("PATCH", one, `{"condition":"","icon":"","description":""}`, 200)
	for _, name := range []string{"condition", "icon", "description"} {
		if _, there := got[name]; there {
			t.Errorf("%s is there after the empty text", name)
		}
	}
	if l := line(got, "title", "path"); l != "Guide Guide_1" {
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
		{"POST", "/sections", `{"spaceId":"` + h.theirs.Space.ID + `"}`, 400, "spaceId"},
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
		s.refused(bad.method, bad.path, bad.body, bad.status, bad.field)
	}

	second := s.addSpace("Reference", id)
	got = s.ok("PATCH", one, map[string]any{"defaultSiteSpace": second}, 200)
	lines := []string{}
	for _, item := range got["siteSpaces"].([]any) {
		lines = append(lines, line(item.(map[string]any), "title", "default"))
	}
	wantLines(t, lines, "Getting Started false", "Reference true")
	s.ok("DELETE", one, nil, 204)
	s.ok("DELETE", one, nil, 204)
	wantLines(t, s.items("/sections", "title", "default"), "Section A true", "Getting started! false")
	wantLines(t, s.items("/site-spaces", "title"), "A", "Getting Started")
}

// TestDefaultFollowsTheNext deletes defaults in the middle, at the end and last of all.
func TestDefaultFollowsTheNext(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for kind, add := range map[string]func(s *siteOf, title string) string{
		"/site-spaces": func(s *siteOf, title string) string { return s.addSpace(title, "") },
		"/sections":    func(s *siteOf, title string) string { return s.addSection(title) },
	} {
		s := h.newSite(`{}`)
		ids := map[string]string{}
		for _, title := range []string{"One", "Two", "Three"} {
			ids[title] = add(s, title)
		}
		member := map[string]string{"/site-spaces": "defaultSiteSpace", "/sections": "defaultSiteSection"}[kind]
		s.ok("PATCH", "", map[string]any{member: ids["Two"]}, 200)
		for _, step := range []struct{ gone, want string }{{"Two", "Three"}, {"Three", "One"}, {"One", ""}} {
			s.ok("DELETE", kind+"/"+ids[step.gone], nil, 204)
			got := s.items(kind, "title", "default")
			if i := slices.Index(got, step.want+" true"); step.want != "" && i < 0 {
				t.Errorf("%s: after %s: %q, want %s", kind, step.gone, got, step.want)
			}
		}
	}
	// A space that goes away with all its site spaces leaves a default behind, too.
	s := h.newSite(`{}`)
	space := h.freshSpace(h.ours, "Gone")
	s.ok("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 201)
	s.addSpace("Stays", "")
	h.exec("delete from spaces where id = $1", space.ID)
	wantLines(t, s.items("/site-spaces", "title", "default"), "Stays true")
}

func TestSiteSpaces(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	space := h.freshSpace(h.ours, "Guide")
	got := s.ok("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 201)
	if err := checkShape(siteSpaceShape, got); err != nil {
		t.Error(err)
	}
	if l := line(got, "title", "path", "default", "hidden", "section", "space.id", "space.permissions.admin"); l != "Guide guide true false <nil> "+space.ID+" true" {
		t.Error(l)
	}
	id := got["id"].(string)
	s.refused("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 409, "")
	other := s.ok("POST", "/site-spaces", map[string]any{"spaceId": h.freshSpace(h.ours, "Guide").ID, "sectionId": nil}, 201)
	if l := line(other, "path", "default"); l != "guide-2 false" {
		t.Error(l)
	}
	one := "/site-spaces/" + id
	got = s.ok("PATCH", one, `{"path":"v1","condition":"true","hidden":true}`, 200)
	if l := line(got, "path", "condition", "hidden"); l != "v1 true true" {
		t.Error(l)
	}
	if got = s.ok("PATCH", one, `{"condition":""}`, 200); got["condition"] != nil {
		t.Errorf("empty condition: %v", got["condition"])
	}
	newer := h.freshSpace(h.ours, "Newer")
	got = s.ok("PATCH", one, map[string]any{"condition": nil, "spaceId": newer.ID, "hidden": false}, 200)
	if l := line(got, "path", "condition", "hidden", "space.id", "title"); l != "v1 <nil> false "+newer.ID+" Newer" {
		t.Error(l)
	}
	for _, bad := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"POST", "/site-spaces", `{}`, 400, "spaceId"},
		{"POST", "/site-spaces", `{"spaceId":"` + h.theirs.Space.ID + `"}`, 400, "spaceId"},
		{"POST", "/site-spaces", `{"spaceId":"` + h.ours.Space.ID + `","sectionId":"nowhere"}`, 400, "sectionId"},
		{"PATCH", one, `{"spaceId":"` + h.theirs.Space.ID + `"}`, 400, "spaceId"},
		{"PATCH", one, `{"spaceId":"` + other["space"].(map[string]any)["id"].(string) + `"}`, 409, ""},
		{"PATCH", one, `{"path":"guide-2"}`, 409, ""},
		{"PATCH", one, `{"path":"a b"}`, 400, "path"},
		{"PATCH", one, `{"hidden":"yes"}`, 400, "hidden"},
		{"PATCH", "/site-spaces/nowhere", `{"hidden":true}`, 404, ""},
		{"GET", "/site-spaces?default=maybe", "", 400, "default"},
	} {
		s.refused(bad.method, bad.path, bad.body, bad.status, bad.field)
	}
	s.ok("DELETE", "/site-spaces/nowhere", nil, 204)
}

// TestSpacesThatTheCallerMayNotSee shows their id and title and no more, wherever a site shows spaces, and lets nobody add one.
func TestSpacesThatTheCallerMayNotSee(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	section := s.addSection("Home")
	id := s.addSpace("Secret", section)
	group := s.ok("POST", "/section-groups", map[string]any{"title": "Group", "sections": []string{section}}, 201)
	space := spaceOf(s, id)
	h.exec(`update spaces set default_level = null, emoji = '1f5dd', icon = 'https://icons.example.com/secret', language = 'fr',
		edit_mode = 'locked', visibility = 'public', merge_rules = '{"type":"rules","rules":[{"rule":"allow_bypass","users":["secret"]}]}',
		git_sync = '{"repoName":"secret","url":"https://git.example.com/secret"}', open_comments = 7, change_requests = 7,
		change_requests_open = 7, change_requests_draft = 7, updated_at = now() + interval '1 hour',
		parent_id = $2 where id = $1`, space, h.collection(h.ours, nil))
	s.token = h.ours.Tokens[schema.RoleCreate]
	links := map[string]any{"location": "https://docs.example.com/base/v1/spaces/" + space, "app": "https://docs.example.com/base/app/spaces/" + space}
	closed := maps.Clone(spaceShape)
	closed["revision"] = one("")
	seen := func(what string, siteSpace any) {
		t.Helper()
		shown, _ := siteSpace.(map[string]any)["space"].(map[string]any)
		if err := checkShape(closed, shown); err != nil {
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
			"object": "space", "id": space, "title": "Secret", "organization": h.ours.Organization.ID, "emoji": "1f4d6",
			"visibility": "private", "mergeRules": map[string]any{"type": "inherit"}, "urls": links, "revision": "", "defaultLevel": nil,
			"comments": 0.0, "changeRequests": 0.0, "changeRequestsOpen": 0.0, "changeRequestsDraft": 0.0,
		}
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	last := func(list any) map[string]any { items := list.([]any); return items[len(items)-1].(map[string]any) }
	seen("listSiteSpaces", last(s.ok("GET", "/site-spaces", nil, 200)["items"]))
	seen("listSiteSections", last(last(s.ok("GET", "/sections", nil, 200)["items"])["siteSpaces"]))
	inGroup := last(s.ok("GET", "/section-groups", nil, 200)["items"])
	seen("listSiteSectionGroups", last(last(inGroup["sections"])["siteSpaces"]))
	seen("listSiteSectionGroups", last(last(inGroup["children"])["siteSpaces"]))
	seen("getSiteStructure", last(last(last(s.ok("GET", "/structure", nil, 200)["structure"])["sections"])["siteSpaces"]))
	path := "/site-spaces/" + id
	seen("updateSiteSpaceById", s.ok("PATCH", path, `{"hidden":false}`, 200))
	seen("moveSiteSpace", s.ok("POST", path+"/move", nil, 200))
	seen("updateSiteSectionById", last(s.ok("PATCH", "/sections/"+section, `{"icon":"x"}`, 200)["siteSpaces"]))
	seen("sortSiteStructure", s.ok("PATCH", "/structure/sort", map[string]any{"item": map[string]any{"type": "site-space", "id": id}}, 200))
	seen("updateSiteSectionGroupById", last(last(s.ok("PATCH", "/section-groups/"+group["id"].(string), `{"title":"New"}`, 200)["sections"])["siteSpaces"]))

	s.refused("POST", "/sections", map[string]any{"spaceId": space}, 400, "spaceId")
	s.refused("POST", "/site-spaces", map[string]any{"spaceId": space}, 400, "spaceId")
	s.refused("PATCH", path, map[string]any{"spaceId": space}, 400, "spaceId")
	a := h.do("POST", s.base[:strings.LastIndex(s.base, "/")], s.token, map[string]any{"spaces": []string{space}})
	if e := h.wantError(a, http.StatusBadRequest); e.Details[0].Field != "spaces[0]" {
		t.Errorf("%+v", e)
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	a, b, c := s.addSection("Aa"), s.addSection("Bb"), s.addSection("Cc")
	move := func(path, kind string, before, after string) map[string]any {
		position := map[string]any{}
		member := map[string]string{"site-section": "siteSection", "site-space": "siteSpace"}[kind]
		if before != "" {
			position["before"] = map[string]any{"type": kind, member: before}
		}
		if after != "" {
			position["after"] = map[string]any{"type": kind, member: after}
		}
		return s.ok("POST", path+"/move", map[string]any{"position": position}, 200)
	}
	order := func(want ...string) {
		t.Helper()
		wantLines(t, s.items("/sections", "title"), want...)
	}
	if got := move("/sections/"+c, "site-section", a, ""); got["id"] != c {
		t.Errorf("moved %v", got)
	}
	order("Cc", "Aa", "Bb")
	move("/sections/"+c, "site-section", "", a)
	order("Aa", "Cc", "Bb")
	move("/sections/"+b, "site-section", c, a)
	order("Aa", "Bb", "Cc")
	s.ok("POST", "/sections/"+a+"/move", nil, 200)
	order("Bb", "Cc", "Aa")
	move("/sections/"+a, "site-section", "", "")
	order("Bb", "Cc", "Aa")
	wantLines(t, s.items("/sections?limit=1", "title", "default"), "Bb false")

	x, y := s.addSpace("Xx", a), s.addSpace("Yy", a)
	z := s.addSpace("Xx", b)
	spaces := func(want ...string) {
		t.Helper()
		wantLines(t, s.items("/site-spaces", "title", "section", "default", "path"), want...)
	}
	got := move("/site-spaces/"+y, "site-space", x, "")
	if l := line(got, "id", "section", "default"); l != y+" "+a+" false" {
		t.Error(l)
	}
	move("/site-spaces/"+z, "site-space", "", x)
	spaces("Bb "+b+" true bb", "Cc "+c+" true cc", "Aa "+a+" true aa", "Yy "+a+" false yy", "Xx "+a+" false xx", "Xx "+a+" false xx-2")
	// The default of a section leaves it, and what stays there has one again; where nothing stays, nothing is it.
	first := s.items("/site-spaces?default=true", "id")
	move("/site-spaces/"+first[2], "site-space", first[0], "")
	move("/site-spaces/"+first[1], "site-space", "", first[0])
	spaces("Aa "+b+" false aa", "Bb "+b+" true bb", "Cc "+b+" false cc", "Yy "+a+" true yy", "Xx "+a+" false xx", "Xx "+a+" false xx-2")
	s.ok("POST", "/site-spaces/"+y+"/move", `{}`, 200)
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
		s.refused("POST", bad.path, bad.body, bad.status, bad.field)
	}
	// The same space stands once in a section.
	twice := s.ok("POST", "/sections", map[string]any{"spaceId": spaceOf(s, x), "title": "Twice"}, 201)
	inTwice := twice["siteSpaces"].([]any)[0].(map[string]any)["id"].(string)
	s.refused("POST", "/site-spaces/"+inTwice+"/move", pointer("site-space", "siteSpace", x), 400, "position")
}

func spaceOf(s *siteOf, siteSpace string) string {
	s.t.Helper()
	for _, l := range s.items("/site-spaces", "id", "space.id") {
		if id, space, _ := strings.Cut(l, " "); id == siteSpace {
			return space
		}
	}
	s.t.Fatal("no such site space")
	return ""
}
