package sites_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestPublished compares the operation that shows a whole site with the operations that read its parts.
func TestPublished(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	read := func(path string) map[string]any {
		t.Helper()
		return h.Want(200, "GET", path, h.Ours.Tokens[schema.RoleRead], nil)
	}
	published := func() map[string]any { return read(s.Base + "/published") }
	check := func(what string) {
		t.Helper()
		got := published()
		customizations := got["customizations"].(map[string]any)
		spaces := map[string]any{}
		for _, id := range s.Items("/site-spaces", "id") {
			spaces[id] = read(s.Base + "/site-spaces/" + id + "/customization")
		}
		for name, want := range map[string]any{
			"object": "published-content-site", "site": read(s.Base), "structure": read(s.Base + "/structure"), "scripts": []any{},
			"customizations": map[string]any{"site": read(s.Base + "/customization"), "siteSpaces": spaces},
		} {
			if diff := cmp.Diff(want, got[name]); diff != "" {
				t.Errorf("%s: %s: %s", what, name, diff)
			}
		}
		if len(customizations["siteSpaces"].(map[string]any)) != len(spaces) {
			t.Errorf("%s: %v", what, customizations)
		}
	}
	check("a site of nothing")
	one, two := s.AddSpace("One", ""), s.AddSpace("Two", "")
	check("site spaces")
	s.Ok("PUT", "/customization", `{"favicon":{"emoji":"1f4d8"},"title":"All"}`, 200)
	s.Ok("PATCH", "/site-spaces/"+two+"/customization", `{"title":"Second","styling":{"theme":"bold"}}`, 200)
	check("customizations")
	s.SectionTheRoot("Aa")
	b := s.AddSection("Bb")
	s.Ok("POST", "/section-groups", map[string]any{"title": "Group", "sections": []string{b}}, 201)
	check("sections and groups")
	spaces := published()["customizations"].(map[string]any)["siteSpaces"].(map[string]any)
	if len(spaces) != 3 || spaces[one].(map[string]any)["title"] != "All" || spaces[two].(map[string]any)["title"] != "Second" {
		encoded, _ := json.Marshal(spaces)
		t.Errorf("%s", encoded)
	}
	h.Want(404, "GET", s.Base+"/published", h.Theirs.Tokens[schema.RoleAdmin], nil)
}
