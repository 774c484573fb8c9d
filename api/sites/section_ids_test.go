package sites_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestSectionIDs sends both forms of section ids in every request that can have a section id.
func TestSectionIDs(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	s.AddSpace("One", "")
	first := s.SectionTheRoot("Aa")
	second := s.AddSection("Bb")
	css := regexp.MustCompile(`^[a-z_][a-z0-9_-]*$`)
	for _, id := range append(s.Items("/sections", "id"), first, second) {
		if !css.MatchString(id) {
			t.Errorf("%s is no identifier in CSS", id)
		}
	}
	for _, form := range []func(string) string{func(id string) string { return id }, func(id string) string { return strings.TrimPrefix(id, "sec_") }} {
		a, b := form(first), form(second)
		is := func(what string, got any, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s with %s: %v, want %s", what, a, got, want)
			}
		}
		is("update", s.Ok("PATCH", "/sections/"+b, `{"icon":"book"}`, 200)["id"], second)
		is("move", s.Ok("POST", "/sections/"+b+"/move", `{"position":{"before":{"type":"site-section","siteSection":"`+a+`"}}}`, 200)["id"], second)
		is("sort", s.Ok("PATCH", "/structure/sort", `{"item":{"type":"site-section","id":"`+b+`"},"position":{"after":{"type":"site-section","id":"`+a+`"}}}`, 200)["id"], second)
		is("default", s.Ok("PATCH", "", `{"defaultSiteSection":"`+b+`"}`, 200)["object"], "site")
		is("default", s.Ok("PATCH", "", `{"defaultSiteSection":"`+a+`"}`, 200)["object"], "site")
		group := s.Ok("POST", "/section-groups", map[string]any{"title": "Group", "sections": []string{b}}, 201)
		is("group", group["sections"].([]any)[0].(map[string]any)["id"], second)
		s.Ok("DELETE", "/section-groups/"+group["id"].(string)+"/sections/"+b, nil, 204)
		is("add to group", s.Ok("POST", "/section-groups/"+group["id"].(string)+"/sections", map[string]any{"sectionId": b}, 201)["sections"].([]any)[0].(map[string]any)["id"], second)
		s.Ok("DELETE", "/section-groups/"+group["id"].(string), nil, 204)
		s.Refused("POST", "/section-groups", map[string]any{"title": "x", "sections": []string{first, a}}, 400, "sections[1]")
		space := h.Want(201, "POST", s.Base+"/site-spaces", h.Ours.Tokens[schema.RoleAdmin], map[string]any{"spaceId": h.FreshSpace(h.Ours, "More").ID, "sectionId": b})
		is("add site space", space["section"], second)
		redirect := s.Ok("POST", "/redirects", fmt.Sprintf(`{"source":"/%s","destination":{"kind":"site-section","siteSectionId":"%s"}}`, b, b), 201)
		is("redirect", redirect["destination"].(map[string]any)["siteSectionId"], second)
		found := s.Ok("GET", "/redirect?source=/"+b, nil, 200)
		is("redirect found", found["redirect"].(map[string]any)["destination"].(map[string]any)["siteSectionId"], second)
		gone := s.AddSection("Gone")
		s.Ok("DELETE", "/sections/"+form(gone), nil, 204)
		s.Refused("PATCH", "/sections/"+form(gone), `{"icon":"book"}`, 404, "")
	}
}
