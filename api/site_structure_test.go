package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// siteOutline writes a structure as text: groups as title(...), sections as title[site spaces], defaults with a star.
func siteOutline(items []any) string {
	words := []string{}
	for _, item := range items {
		m := item.(map[string]any)
		word := m["title"].(string)
		if m["default"] == true {
			word += "*"
		}
		switch m["object"] {
		case "site-section-group":
			word += "(" + siteOutline(m["children"].([]any)) + ")"
		case "site-section":
			word += "[" + siteOutline(m["siteSpaces"].([]any)) + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (s *siteOf) wantOutline(kind, want string) {
	s.t.Helper()
	got := s.ok("GET", "/structure", nil, 200)
	if o := siteOutline(got["structure"].([]any)); o != want || got["type"] != kind {
		s.t.Errorf("%s %s, want %s %s", got["type"], o, kind, want)
	}
}

func (s *siteOf) sortItem(kind, id, where, besideKind, beside string) map[string]any {
	s.t.Helper()
	body := fmt.Sprintf(`{"item":{"type":%q,"id":%q},"position":{%q:{"type":%q,"id":%q}}}`, kind, id, where, besideKind, beside)
	return s.ok("PATCH", "/structure/sort", body, 200)
}

func TestStructure(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	s.wantOutline("siteSpaces", "")
	one, two := s.addSpace("One", ""), s.addSpace("Two", "")
	s.wantOutline("siteSpaces", "One* Two")
	if got := s.sortItem("site-space", two, "before", "site-space", one); got["object"] != "site-space" || got["id"] != two {
		t.Errorf("sorted %v", got)
	}
	s.wantOutline("siteSpaces", "Two One*")
	a := s.sectionTheRoot("Aa")
	s.wantOutline("sections", "Aa*[Two One*]")
	b, c, d := s.addSection("Bb"), s.addSection("Cc"), s.addSection("Dd")

	got := s.ok("POST", "/section-groups", map[string]any{"title": "Group", "icon": "folder", "sections": []string{c, a}}, 201)
	if err := checkShape(groupShape, got); err != nil {
		t.Error(err)
	}
	group := got["id"].(string)
	if siteOutline(got["sections"].([]any)) != "Cc[Cc*] Aa*[Two One*]" || got["icon"] != "folder" {
		t.Errorf("new group %v", got)
	}
	s.wantOutline("sections", "Bb[Bb*] Dd[Dd*] Group(Cc[Cc*] Aa*[Two One*])")
	wantLines(t, s.items("/sections", "title", "sectionGroup"), "Bb <nil>", "Dd <nil>", "Cc "+group, "Aa "+group)
	got = s.sortItem("site-section-group", group, "before", "site-section", d)
	if siteOutline([]any{got}) != "Group(Cc[Cc*] Aa*[Two One*])" {
		t.Errorf("sorted %v", got)
	}
	wantLines(t, s.items("/sections?limit=3", "title"), "Bb", "Cc", "Aa")
	inner := s.ok("POST", "/section-groups", map[string]any{"title": "Inner", "parent": group}, 201)["id"].(string)
	s.sortItem("site-section-group", inner, "after", "site-section", c)
	if got := s.ok("POST", "/section-groups/"+inner+"/sections", map[string]any{"sectionId": b}, 201); siteOutline([]any{got}) != "Inner(Bb[Bb*])" {
		t.Errorf("added %v", got)
	}
	s.wantOutline("sections", "Group(Cc[Cc*] Inner(Bb[Bb*]) Aa*[Two One*]) Dd[Dd*]")
	wantLines(t, s.items("/sections", "title"), "Cc", "Bb", "Aa", "Dd")
	wantLines(t, s.items("/site-spaces", "title"), "Cc", "Bb", "Two", "One", "Dd")
	wantLines(t, s.items("/section-groups", "title", "sectionGroup"), "Group <nil>", "Inner "+group)
	if got := s.sortItem("site-section", d, "before", "site-section-group", inner); got["sectionGroup"] != group {
		t.Errorf("sorted %v", got)
	}
	s.wantOutline("sections", "Group(Cc[Cc*] Dd[Dd*] Inner(Bb[Bb*]) Aa*[Two One*])")

	for _, bad := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"PATCH", "/structure/sort", `{}`, 400, "item"},
		{"PATCH", "/structure/sort", `{"item":{"type":"space","id":"x"}}`, 400, "item.type"},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-section"}}`, 400, "item.id"},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-section","id":"nowhere"},"position":{}}`, 404, ""},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-space","id":"` + a + `"},"position":{}}`, 404, ""},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-section","id":"` + a + `"},"position":{"before":{"type":"site-space","id":"` + one + `"}}}`, 400, "position.before"},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-space","id":"` + one + `"},"position":{"after":{"type":"site-section","id":"` + a + `"}}}`, 400, "position.after"},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-section-group","id":"` + group + `"},"position":{"after":{"type":"site-section","id":"` + b + `"}}}`, 400, "position"},
		{"PATCH", "/structure/sort", `{"item":{"type":"site-section-group","id":"` + group + `"},"position":{"after":{"type":"site-section","id":"` + a + `"}}}`, 400, "position"},
		{"POST", "/section-groups", `{"title":""}`, 400, "title"},
		{"POST", "/section-groups", `{"title":"x","parent":"nowhere"}`, 400, "parent"},
		{"POST", "/section-groups", `{"title":"x","sections":["nowhere"]}`, 400, "sections[0]"},
		{"POST", "/section-groups", `{"title":"x","sections":["` + a + `","` + a + `"]}`, 400, "sections[1]"},
		{"POST", "/section-groups/nowhere/sections", `{"sectionId":"` + a + `"}`, 404, ""},
		{"POST", "/section-groups/" + group + "/sections", `{"sectionId":"nowhere"}`, 400, "sectionId"},
		{"PATCH", "/section-groups/nowhere", `{"title":"x"}`, 404, ""},
	} {
		s.refused(bad.method, bad.path, bad.body, bad.status, bad.field)
	}

	if got := s.ok("PATCH", "/section-groups/"+inner, `{"title":"Renamed","icon":null}`, 200); got["title"] != "Renamed" {
		t.Errorf("renamed %v", got)
	}
	s.ok("DELETE", "/section-groups/"+inner+"/sections/"+a, nil, 204) // It is not in this group.
	s.ok("DELETE", "/section-groups/"+group+"/sections/"+c, nil, 204)
	s.wantOutline("sections", "Group(Dd[Dd*] Renamed(Bb[Bb*]) Aa*[Two One*]) Cc[Cc*]")
	s.ok("DELETE", "/section-groups/"+group, nil, 204)
	s.ok("DELETE", "/section-groups/"+group, nil, 204)
	s.wantOutline("sections", "Dd[Dd*] Renamed(Bb[Bb*]) Aa*[Two One*] Cc[Cc*]")
	s.ok("PATCH", "/structure/sort", `{"item":{"type":"site-section","id":"`+b+`"}}`, 200)
	s.wantOutline("sections", "Dd[Dd*] Renamed() Aa*[Two One*] Cc[Cc*] Bb[Bb*]")
}

// TestManyBetween puts things into the same place until there is no room, and again.
func TestManyBetween(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	first, second, third := s.addSpace("First", ""), s.addSpace("Second", ""), s.addSpace("Third", "")
	for range 20 {
		s.sortItem("site-space", third, "after", "site-space", first)
		s.wantOutline("siteSpaces", "First* Third Second")
		s.sortItem("site-space", second, "after", "site-space", first)
		s.wantOutline("siteSpaces", "First* Second Third")
	}
	group, a, b := h.freshGroupIn(s), s.sectionTheRoot("Aa"), s.addSection("Bb")
	for range 20 {
		s.sortItem("site-section-group", group, "before", "site-section", b)
		s.wantOutline("sections", "Aa*[First* Second Third] x() Bb[Bb*]")
		s.sortItem("site-section", a, "before", "site-section", b)
		s.wantOutline("sections", "x() Aa*[First* Second Third] Bb[Bb*]")
	}
}

func TestGroupsNestToADepth(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	parent := ""
	for depth := 1; ; depth++ {
		body := map[string]any{"title": fmt.Sprint(depth)}
		if parent != "" {
			body["parent"] = parent
		}
		if depth == 11 {
			s.refused("POST", "/section-groups", body, 400, "parent")
			break
		}
		parent = s.ok("POST", "/section-groups", body, 201)["id"].(string)
	}
	other := h.freshGroupIn(s)
	inOther := s.ok("POST", "/section-groups", map[string]any{"title": "y", "parent": other}, 201)["id"].(string)
	body := `{"item":{"type":"site-section-group","id":"` + other + `"},"position":{"after":{"type":"site-section-group","id":"` + parent + `"}}}`
	s.refused("PATCH", "/structure/sort", body, 400, "position")
	s.sortItem(schema.SiteItemGroup, inOther, "after", schema.SiteItemGroup, parent)
}

func (h *harness) freshGroupIn(s *siteOf) string {
	h.t.Helper()
	return s.ok("POST", "/section-groups", map[string]any{"title": "x"}, 201)["id"].(string)
}
