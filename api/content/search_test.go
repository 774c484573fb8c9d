package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSearchSite searches a site with two sections. The first section has two variants. Each space of the site has a
// visible page and a hidden page with the same word.
func TestSearchSite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site := h.NewSite(`{"title":"Docs"}`)
	spaces, siteSpaces := map[string]store.Space{}, map[string]string{}
	fill := func(title string) store.Space {
		space := h.FreshSpace(h.Ours, title)
		request, err := h.Store.CreateChangeRequest(t.Context(), store.NewChangeRequest{SpaceID: space.ID, UserID: h.Ours.Users[schema.RoleAdmin].ID})
		if err != nil {
			t.Fatal(err)
		}
		name, secret := "Wombats of "+title, "Hidden wombats"
		row, err := h.Store.ChangeContent(t.Context(), request, store.ContentChange{
			UserID: h.Ours.Users[schema.RoleAdmin].ID, Names: []string{"a", "b"}, Pages: []tree.Change{
				tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &name}},
				tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &secret, Hidden: new(true)}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		admin := h.Ours.Users[schema.RoleAdmin].ID
		_, err = h.Store.MergeChangeRequest(t.Context(), row.ChangeRequest, admin, storetest.Allow)
		if err != nil {
			t.Fatal(err)
		}
		spaces[title] = space
		return space
	}
	section := site.Ok("POST", "/sections", map[string]any{"spaceId": fill("A").ID}, 201)["id"]
	site.Ok("POST", "/sections", map[string]any{"spaceId": fill("B").ID}, 201)
	site.Ok("POST", "/site-spaces", map[string]any{"spaceId": fill("A2").ID, "sectionId": section}, 201)
	fill("elsewhere")
	rows, err := h.Store.Sites.ListSiteSpaces(t.Context(), site.Base[strings.LastIndex(site.Base, "/")+1:], nil, "", 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows.Rows {
		siteSpaces[row.Space.Title] = row.SiteSpace.ID
	}
	h.RunJobs()
	search := func(role schema.Role, body map[string]any) string {
		t.Helper()
		body["query"] = "wombat"
		list := apitest.Ask[schema.List[schema.SearchSpaceResult]](h, role, "POST", site.Base+"/search", body, 200)
		var found []string
		for _, space := range list.Items {
			if len(space.Pages) != 1 || space.Score <= 1 || space.Score != space.Pages[0].Score || space.Pages[0].Title != "Wombats of "+space.Title || space.ID != spaces[space.Title].ID {
				t.Errorf("%+v", space)
			}
			found = append(found, space.Title)
			// all pages match equally well, so their ranks follow the order of the list
			if got := space.Pages[0].Rank; got != int64(len(found)) {
				t.Errorf("%v: page %d has the rank %d", body, len(found), got)
			}
		}
		if list.Count != int64(len(found)) {
			t.Errorf("%v: count %d of %q", body, list.Count, found)
		}
		return strings.Join(slices.Sorted(slices.Values(found)), " ")
	}
	for _, test := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{}, "A A2 B"},
		{map[string]any{"mode": "all"}, "A A2 B"},
		{map[string]any{"mode": "current", "siteSpaceId": siteSpaces["A2"]}, "A2 B"},
		{map[string]any{"mode": "current", "siteSpaceId": siteSpaces["B"]}, "A B"},
		{map[string]any{"mode": "specific", "siteSpaceIds": []string{siteSpaces["A2"], siteSpaces["B"], "nothing"}}, "A2 B"},
		{map[string]any{"siteSpaceIds": []string{siteSpaces["A"]}}, "A"},
		{map[string]any{"mode": "specific", "siteSpaceIds": []string{}}, ""},
		{map[string]any{"scope": map[string]any{"mode": "all"}}, "A A2 B"},
		{map[string]any{"scope": map[string]any{"mode": "specific", "siteSpaceIds": []string{siteSpaces["B"]}}}, "B"},
		{map[string]any{"scope": map[string]any{"mode": "default"}}, "A B"},
		{map[string]any{"scope": map[string]any{"mode": "default", "currentSiteSpace": siteSpaces["A"]}}, "A B"},
		{map[string]any{"scope": map[string]any{"mode": "default", "currentSiteSpace": siteSpaces["A2"]}}, "A2 B"},
		{map[string]any{"scope": map[string]any{"mode": "default", "currentSiteSpace": siteSpaces["A2"], "restrictTo": "currentSiteSpace"}}, "A2"},
		{map[string]any{"scope": map[string]any{"mode": "default", "currentSiteSpace": siteSpaces["A2"], "restrictTo": "otherSiteSpaces"}}, "B"},
		{map[string]any{"scope": map[string]any{"mode": "default", "currentSiteSpace": siteSpaces["B"], "restrictTo": "otherSiteSpaces"}}, "A"},
	} {
		if got := search(schema.RoleRead, test.body); got != test.want {
			t.Errorf("%v: %q, want %q", test.body, got, test.want)
		}
	}
	for field, body := range map[string]string{
		"query":              `{"mode":"all"}`,
		"mode":               `{"query":"x","mode":"some"}`,
		"siteSpaceId":        `{"query":"x","mode":"current"}`,
		"siteSpaceIds":       `{"query":"x","mode":"specific"}`,
		"scope.mode":         `{"query":"x","scope":{}}`,
		"scope.siteSpaceIds": `{"query":"x","scope":{"mode":"specific"}}`,
		// These requests name an unknown site space, or set restrictTo to a value that is not allowed here.
		"siteSpaceId ":            `{"query":"x","mode":"current","siteSpaceId":"nothing"}`,
		"scope.currentSiteSpace":  `{"query":"x","scope":{"mode":"default","currentSiteSpace":"nothing"}}`,
		"scope.currentSiteSpace ": `{"query":"x","scope":{"mode":"default","restrictTo":"otherSiteSpaces"}}`,
		"scope.restrictTo":        `{"query":"x","scope":{"mode":"default","currentSiteSpace":"x","restrictTo":"some"}}`,
		"scope.restrictTo ":       `{"query":"x","scope":{"mode":"all","restrictTo":"otherSiteSpaces"}}`,
	} {
		field = strings.TrimSpace(field)
		if e := h.WantError(h.Do("POST", site.Base+"/search", site.Token, body), http.StatusBadRequest); e.Details[0].Field != field {
			t.Errorf("%s: %+v", body, e)
		}
	}
	// A page token is valid only for the same search.
	first := apitest.Ask[schema.List[schema.SearchSpaceResult]](h, schema.RoleRead, "POST", site.Base+"/search?limit=2", `{"query":"wombat"}`, 200)
	next := site.Base + "/search?limit=2&page=" + first.Next.Page
	if second := apitest.Ask[schema.List[schema.SearchSpaceResult]](h, schema.RoleRead, "POST", next, `{"query":"wombat"}`, 200); len(first.Items) != 2 || len(second.Items) != 1 || second.Next != nil {
		t.Errorf("%+v %+v", first, second)
	}
	h.WantError(h.Do("POST", next, site.Token, `{"query":"wombats"}`), http.StatusBadRequest)

	// Spaces that the member may not see are not found, and spaces that the site hides are not found. A request that
	// names them does not find them either.
	h.CloseSpace(spaces["A"].ID)
	site.Ok("PATCH", "/site-spaces/"+siteSpaces["B"], `{"hidden":true}`, 200)
	for role, want := range map[schema.Role]string{schema.RoleRead: "A2", schema.RoleAdmin: "A A2"} {
		if got := search(role, map[string]any{}); got != want {
			t.Errorf("%s: %q, want %q", role, got, want)
		}
	}
	if got := search(schema.RoleRead, map[string]any{"mode": "specific", "siteSpaceIds": []string{siteSpaces["A"]}}); got != "" {
		t.Errorf("found in a closed space: %q", got)
	}
	organization := "/v1/orgs/" + h.Ours.Organization.ID + "/search?query=wombat"
	for role, want := range map[schema.Role]float64{schema.RoleRead: 3, schema.RoleAdmin: 4} {
		if got := h.Want(200, "GET", organization, h.Ours.Tokens[role], nil)["count"]; got != want {
			t.Errorf("%s: found in %v spaces, want %v", role, got, want)
		}
	}
	h.WantError(h.Do("POST", site.Base+"/search", h.Theirs.Tokens[schema.RoleAdmin], `{"query":"wombat"}`), http.StatusNotFound)
}
