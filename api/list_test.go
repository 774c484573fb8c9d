package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/sites"
)

// TestPagesNeitherSkipNorRepeat reads all pages of every list, with pages of various sizes. Between pages it creates
// and deletes objects. An object that exists all the time is listed exactly once. The items are in order, and no object
// is listed twice.
func TestPagesNeitherSkipNorRepeat(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	lists := map[string]struct {
		path   string
		create func() string
		one    string
	}{
		"orgs": {"/v1/orgs", func() string {
			m, err := h.Store.Orgs.Create(
				t.Context(), h.Ours.Users[schema.RoleAdmin].ID, orgs.NewOrganization{Title: "Org"},
			)
			return apitest.Created(t, m.Organization.ID, err)
		}, "/v1/orgs/"},
		"sites": {"/v1/orgs/" + h.Ours.Organization.ID + "/sites", func() string {
			s, err := h.Store.Sites.Create(t.Context(), sites.NewSite{
				OrganizationID: h.Ours.Organization.ID, Type: "basic", Title: "Site", Visibility: "public",
			})
			return apitest.Created(t, s.Site.ID, err)
		}, "/v1/orgs/" + h.Ours.Organization.ID + "/sites/"},
		"spaces": {"/v1/orgs/" + h.Ours.Organization.ID + "/spaces", func() string {
			s, err := h.Store.CreateSpace(t.Context(), store.NewSpace{
				OrganizationID: h.Ours.Organization.ID, Title: "Space", Emoji: "1f4d6", EditMode: "live",
			})
			return apitest.Created(t, s.ID, err)
		}, "/v1/spaces/"},
	}
	for name, l := range lists {
		stable := allIDs(t, h, l.path)
		for range 7 {
			stable = append(stable, l.create())
		}
		var passing []string
		rapid.Check(t, func(rt *rapid.T) {
			limit := rapid.IntRange(1, 12).Draw(rt, name+" limit")
			var seen []string
			for page := ""; ; {
				got := apitest.ReadPage(t, h, fmt.Sprintf("%s?limit=%d&page=%s", l.path, limit, page))
				if len(got.Items) > limit {
					rt.Fatalf("%d items on a page of %d", len(got.Items), limit)
				}
				if want := len(stable) + len(passing); got.Count != int64(want) {
					rt.Fatalf("count %d, want %d", got.Count, want)
				}
				for _, item := range got.Items {
					seen = append(seen, item.ID)
				}
				if got.Next == nil {
					break
				}
				page = got.Next.Page
				switch rapid.IntRange(0, 2).Draw(rt, "between") {
				case 0:
					passing = append(passing, l.create())
				case 1:
					if len(passing) > 0 {
						i := rapid.IntRange(0, len(passing)-1).Draw(rt, "gone")
						h.Want(204, "DELETE", l.one+passing[i], admin, nil)
						passing = slices.Delete(passing, i, i+1)
					}
				}
			}
			if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
				rt.Fatalf("out of order or twice: %q", seen)
			}
			for _, id := range stable {
				if !slices.Contains(seen, id) {
					rt.Fatalf("%s was skipped", id)
				}
			}
			if len(passing) > 20 {
				for _, id := range passing {
					h.Want(204, "DELETE", l.one+id, admin, nil)
				}
				passing = nil
			}
		})
	}
	// A page token contains the position of the last object of the page before. It is still valid after this object is
	// deleted.
	path := lists["sites"].path
	first := apitest.ReadPage(t, h, path+"?limit=2")
	h.Want(204, "DELETE", path+"/"+first.Items[1].ID, admin, nil)
	second := h.Do(http.MethodGet, path+"?limit=2&page="+first.Next.Page, admin, nil)
	if second.Status != 200 {
		t.Errorf("%d %s", second.Status, second.Body)
	}
	// A page token is valid only for its list and filters.
	for _, other := range []string{path + "?title=s&page=", path + "?published=false&page=", "/v1/orgs?page="} {
		h.WantError(h.Do(http.MethodGet, other+first.Next.Page, admin, nil), http.StatusBadRequest)
	}
}

func allIDs(t testing.TB, h *apitest.Harness, path string) []string {
	t.Helper()
	var ids []string
	for _, item := range apitest.ReadPage(t, h, path+"?limit=1000").Items {
		ids = append(ids, item.ID)
	}
	return ids
}
