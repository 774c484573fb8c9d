package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// requests has request bodies for an operation. A body in `widen` lets more people read the site. A body in `keep` does
// not.
type requests struct{ widen, keep []string }

// widening has, by id, the operations that can let more people read a site. Before each request, only authenticated
// visitors can read the site. {first} and {second} are the ids of the site's two site spaces.
var widening = map[string]requests{
	"updateSiteById": {
		widen: []string{
			`{"visibility":"public"}`, `{"visibility":"unlisted"}`, `{"visibility":"share-link"}`,
			`{"title":"Open","visibility":"public"}`,
			`{"adaptiveContent":{"enabled":true}}`, `{"hostname":"open.example.com"}`,
			`{"proxy":"open.example.com/docs"}`,
		},
		keep: []string{
			`{"visibility":"visitor-auth"}`,
			`{"title":"Closed"}`,
			`{"hostname":null,"proxy":null}`,
			`{"adaptiveContent":{"enabled":false}}`,
		},
	},
	"publishSite":         {widen: []string{""}},
	"listSiteShareLinks":  {widen: []string{""}},
	"createSiteShareLink": {widen: []string{`{"name":"Partners"}`}},
	"updateSiteShareLinkById": {
		widen: []string{`{"name":"Friends"}`, `{"active":true}`},
		keep:  []string{`{"active":false}`},
	},
	"updateSiteSpaceById": {
		widen: []string{`{"condition":"visitor.claims.x"}`, `{"condition":null}`},
		keep:  []string{`{"hidden":true}`},
	},
	"updateSiteSectionById": {
		widen: []string{`{"condition":"visitor.claims.x"}`, `{"condition":null}`},
		keep:  []string{`{"icon":"book"}`},
	},
	"moveSiteSpace": {
		widen: []string{
			`{"position":{"before":{"siteSpace":"{first}"}}}`,
			`{"position":{"after":{"siteSpace":"{first}"}}}`,
		},
		keep: []string{`{}`, `{"position":{}}`},
	},
	"sortSiteStructure": {
		widen: []string{
			`{"item":{"type":"site-space","id":"{second}"},"position":{"before":{"type":"site-space","id":"{first}"}}}`,
		},
		keep: []string{`{"item":{"type":"site-space","id":"{second}"},"position":{}}`},
	},
}

// closeSite restricts a tenant's site to authenticated visitors. The site shows two spaces, and only admins see the
// second space. It returns the ids of both site spaces and of the hidden space.
func closeSite(h *apitest.Harness, tenant *storetest.Tenant) (first, second, hidden string) {
	h.T.Helper()
	admin, site := tenant.Tokens[schema.RoleAdmin], "/v1/orgs/"+tenant.Organization.ID+"/sites/"+tenant.Site.ID
	hidden = h.FreshSpace(tenant, "Layoffs").ID
	first = h.SiteSpace(tenant)
	second = h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin,
		map[string]string{"spaceId": hidden})["id"].(string)
	h.Want(http.StatusOK, "PATCH", site, admin, `{"visibility":"visitor-auth"}`)
	h.Want(http.StatusOK, "PATCH", "/v1/spaces/"+hidden, admin, `{"defaultLevel":null}`)
	return first, second, hidden
}

// whoReads returns everything in the database that decides who can read a tenant's site, including the keys of share
// links.
func whoReads(h *apitest.Harness, tenant *storetest.Tenant) string {
	h.T.Helper()
	const all = `select jsonb_build_array(
		(select jsonb_build_array(published, visibility, adaptive_content, hostname, proxy) from sites where id = $1),
		(select jsonb_agg(l.* order by id) from share_links l where site_id = $1 and active),
		(select jsonb_agg(jsonb_build_array(p.space_id, p.condition, c.condition) order by p.id)
		 from site_spaces p left join site_sections c on c.id = p.section_id where p.site_id = $1))::text`
	var text string
	if err := h.DB.QueryRow(h.T.Context(), all, tenant.Site.ID).Scan(&text); err != nil {
		h.T.Fatal(err)
	}
	return text
}

// TestWideningTakesTheRightToRead calls every operation that can let more people read a site. The call is refused if
// the caller may not read all spaces of the site. When the caller may read all spaces, the call succeeds.
func TestWideningTakesTheRightToRead(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	create, admin := h.Ours.Tokens[schema.RoleCreate], h.Ours.Tokens[schema.RoleAdmin]
	site := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID
	first, second, hidden := closeSite(h, h.Ours)
	h.WantError(h.Do("GET", "/v1/spaces/"+hidden, create, nil), http.StatusNotFound)
	fill := strings.NewReplacer("{first}", first, "{second}", second)
	var marked []string
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if !op.Scope.Widens {
			return
		}
		marked = append(marked, op.ID)
		ask := func(token, body string) apitest.Answer {
			path, _ := h.Example(op, h.Ours)
			if body == "" {
				return h.Do(op.Method, path, token, nil)
			}
			return h.Do(op.Method, path, token, fill.Replace(body))
		}
		rows := widening[op.ID]
		for _, body := range rows.widen {
			h.Want(http.StatusOK, "PATCH", "/v1/spaces/"+hidden, admin, `{"defaultLevel":null}`)
			path, _ := h.Example(op, h.Ours)
			before := whoReads(h, h.Ours)
			var sent any
			if body != "" {
				sent = fill.Replace(body)
			}
			a := h.Do(op.Method, path, create, sent)
			h.WantError(a, http.StatusForbidden)
			if text := string(a.Body); !strings.Contains(text, "read every space that the site shows") ||
				strings.Contains(text, hidden) ||
				strings.Contains(text, "Layoffs") {
				t.Errorf("%s: %s", body, text)
			}
			if after := whoReads(h, h.Ours); after != before {
				t.Errorf("%s: stored\n%s\nbefore\n%s", body, after, before)
			}
			h.Want(http.StatusOK, "PATCH", "/v1/spaces/"+hidden, admin, `{"defaultLevel":"inherit"}`)
			for who, token := range map[string]string{"create": create, "admin": admin} {
				if a := ask(token, body); a.Status != op.Status {
					t.Errorf("%s as %s who may read the spaces: %d %s", body, who, a.Status, a.Body)
				}
			}
			h.Want(
				http.StatusOK,
				"PATCH",
				site,
				admin,
				`{"visibility":"visitor-auth","adaptiveContent":{"enabled":false},"hostname":null,"proxy":null}`,
			)
		}
		h.Want(http.StatusOK, "PATCH", "/v1/spaces/"+hidden, admin, `{"defaultLevel":null}`)
		for _, body := range rows.keep {
			if a := ask(create, body); a.Status != op.Status {
				t.Errorf("%s lets nobody in: %d %s", body, a.Status, a.Body)
			}
		}
	})
	slices.Sort(marked)
	if want := slices.Sorted(maps.Keys(widening)); all && !slices.Equal(marked, want) {
		t.Errorf("marked are %q, want %q", marked, want)
	}
}

// TestUnmarkedOperationsWidenNothing calls each operation on sites for which the table of operations does not set
// Scope.Widens. The caller has the role create, and may not read the hidden space that the site shows. The calls must
// not change who can read the site. The test leaves out GET requests, and the operations in `narrows`, which let fewer
// people read the site.
func TestUnmarkedOperationsWidenNothing(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	create := h.Ours.Tokens[schema.RoleCreate]
	_, _, hidden := closeSite(h, h.Ours)
	narrows := []string{
		"deleteSiteById",
		"deleteSiteShareLinkById",
		"deleteSiteSpaceById",
		"deleteSiteSectionById",
		"unpublishSite",
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Object != access.OnSite || op.Scope.Widens || op.Method == http.MethodGet ||
			slices.Contains(narrows, op.ID) {
			return
		}
		path, body := h.Example(op, h.Ours)
		before := whoReads(h, h.Ours)
		h.Do(op.Method, path, create, body)
		after := whoReads(h, h.Ours)
		if op.Scope.Right == access.RightCreate && (op.ID == "addSpaceToSite" || op.ID == "addSectionToSite") {
			// The example adds a space that the caller may read, so it may change the state. With the hidden space, the
			// same operation is refused.
			a := h.Do(op.Method, path, create, map[string]string{"spaceId": hidden})
			if h.WantError(a, http.StatusBadRequest); whoReads(h, h.Ours) != after {
				t.Errorf("shows the hidden space once more: %s", whoReads(h, h.Ours))
			}
			return
		}
		if after != before {
			t.Errorf("is not marked, and changes who reads the site:\n%s\nbefore\n%s", after, before)
		}
	})
}

// TestNarrowingDoesNotWiden: the store refuses a change of visibility if the site has changed since the rights were
// checked. Otherwise a change that did not let more people in at the time of the check could do so when it is stored.
func TestNarrowingDoesNotWiden(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	was := h.Ours.Site
	closed, shared := schema.VisibilityVisitorAuth, schema.VisibilityShareLink
	if _, err := h.Store.Sites.Update(t.Context(), was.ID, sites.Change{Visibility: &closed}); err != nil {
		t.Fatal(err)
	}
	_, err := h.Store.Sites.Update(t.Context(), was.ID, sites.Change{Visibility: &shared, Was: &was})
	if !schema.IsCode(err, schema.CodeConflict) {
		t.Errorf("%v", err)
	}
}
