package sites_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

func TestStructure(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	s.WantOutline("siteSpaces", "")
	one, two := s.AddSpace("One", ""), s.AddSpace("Two", "")
	s.WantOutline("siteSpaces", "One* Two")
	if got := s.SortItem("site-space", two, "before", "site-space", one); got["object"] != "site-space" || got["id"] != two {
		t.Errorf("sorted %v", got)
	}
	s.WantOutline("siteSpaces", "Two One*")
	a := s.SectionTheRoot("Aa")
	s.WantOutline("sections", "Aa*[Two One*]")
	b, c, d := s.AddSection("Bb"), s.AddSection("Cc"), s.AddSection("Dd")

	got := s.Ok("POST", "/section-groups", map[string]any{"title": "Group", "icon": "folder", "sections": []string{c, a}}, 201)
	if err := shape.Check(groupShape, got); err != nil {
		t.Error(err)
	}
	group := got["id"].(string)
	if apitest.SiteOutline(got["sections"].([]any)) != "Cc[Cc*] Aa*[Two One*]" || got["icon"] != "folder" {
		t.Errorf("new group %v", got)
	}
	s.WantOutline("sections", "Bb[Bb*] Dd[Dd*] Group(Cc[Cc*] Aa*[Two One*])")
	wantLines(t, s.Items("/sections", "title", "sectionGroup"), "Bb <nil>", "Dd <nil>", "Cc "+group, "Aa "+group)
	got = s.SortItem("site-section-group", group, "before", "site-section", d)
	if apitest.SiteOutline([]any{got}) != "Group(Cc[Cc*] Aa*[Two One*])" {
		t.Errorf("sorted %v", got)
	}
	wantLines(t, s.Items("/sections?limit=3", "title"), "Bb", "Cc", "Aa")
	if got, want := h.IDs(s.Base+"/sections", h.Ours.Tokens[schema.RoleAdmin]), s.Items("/sections", "id"); !slices.Equal(got, want) {
		t.Errorf("in pages %v, at once %v", got, want)
	}
	inner := s.Ok("POST", "/section-groups", map[string]any{"title": "Inner", "parent": group}, 201)["id"].(string)
	s.SortItem("site-section-group", inner, "after", "site-section", c)
	if got := s.Ok("POST", "/section-groups/"+inner+"/sections", map[string]any{"sectionId": b}, 201); apitest.SiteOutline([]any{got}) != "Inner(Bb[Bb*])" {
		t.Errorf("added %v", got)
	}
	s.WantOutline("sections", "Group(Cc[Cc*] Inner(Bb[Bb*]) Aa*[Two One*]) Dd[Dd*]")
	wantLines(t, s.Items("/sections", "title"), "Cc", "Bb", "Aa", "Dd")
	wantLines(t, s.Items("/site-spaces", "title"), "Cc", "Bb", "Two", "One", "Dd")
	wantLines(t, s.Items("/section-groups", "title", "sectionGroup"), "Group <nil>", "Inner "+group)
	if got := s.SortItem("site-section", d, "before", "site-section-group", inner); got["sectionGroup"] != group {
		t.Errorf("sorted %v", got)
	}
	s.WantOutline("sections", "Group(Cc[Cc*] Dd[Dd*] Inner(Bb[Bb*]) Aa*[Two One*])")

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
		s.Refused(bad.method, bad.path, bad.body, bad.status, bad.field)
	}

	if got := s.Ok("PATCH", "/section-groups/"+inner, `{"title":"Renamed","icon":null}`, 200); got["title"] != "Renamed" {
		t.Errorf("renamed %v", got)
	}
	s.Ok("DELETE", "/section-groups/"+inner+"/sections/"+a, nil, 204) // The section is not in this group.
	s.Ok("DELETE", "/section-groups/"+group+"/sections/"+c, nil, 204)
	s.WantOutline("sections", "Group(Dd[Dd*] Renamed(Bb[Bb*]) Aa*[Two One*]) Cc[Cc*]")
	s.Ok("DELETE", "/section-groups/"+group, nil, 204)
	s.Ok("DELETE", "/section-groups/"+group, nil, 204)
	s.WantOutline("sections", "Dd[Dd*] Renamed(Bb[Bb*]) Aa*[Two One*] Cc[Cc*]")
	s.Ok("PATCH", "/structure/sort", `{"item":{"type":"site-section","id":"`+b+`"}}`, 200)
	s.WantOutline("sections", "Dd[Dd*] Renamed() Aa*[Two One*] Cc[Cc*] Bb[Bb*]")
}

// TestManyBetween inserts many times at the same position. The order stays right when the ranks between two neighbours
// are used up.
func TestManyBetween(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	first, second, third := s.AddSpace("First", ""), s.AddSpace("Second", ""), s.AddSpace("Third", "")
	for range 20 {
		s.SortItem("site-space", third, "after", "site-space", first)
		s.WantOutline("siteSpaces", "First* Third Second")
		s.SortItem("site-space", second, "after", "site-space", first)
		s.WantOutline("siteSpaces", "First* Second Third")
	}
	group, a, b := h.FreshGroupIn(s), s.SectionTheRoot("Aa"), s.AddSection("Bb")
	for range 20 {
		s.SortItem("site-section-group", group, "before", "site-section", b)
		s.WantOutline("sections", "Aa*[First* Second Third] x() Bb[Bb*]")
		s.SortItem("site-section", a, "before", "site-section", b)
		s.WantOutline("sections", "x() Aa*[First* Second Third] Bb[Bb*]")
	}
}

func TestGroupsNestToADepth(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	parent := ""
	for depth := 1; ; depth++ {
		body := map[string]any{"title": fmt.Sprint(depth)}
		if parent != "" {
			body["parent"] = parent
		}
		if depth == 11 {
			s.Refused("POST", "/section-groups", body, 400, "parent")
			break
		}
		parent = s.Ok("POST", "/section-groups", body, 201)["id"].(string)
	}
	other := h.FreshGroupIn(s)
	inOther := s.Ok("POST", "/section-groups", map[string]any{"title": "y", "parent": other}, 201)["id"].(string)
	body := `{"item":{"type":"site-section-group","id":"` + other + `"},"position":{"after":{"type":"site-section-group","id":"` + parent + `"}}}`
	s.Refused("PATCH", "/structure/sort", body, 400, "position")
	s.SortItem(schema.SiteItemGroup, inOther, "after", schema.SiteItemGroup, parent)
}
