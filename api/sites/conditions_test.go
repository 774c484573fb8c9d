package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// adaptive turns on adaptive content for a site, and merges changes into the main content of its space. It returns the
// path of the merged revision.
func adaptive(h *apitest.Harness, site string, changes ...any) string {
	h.T.Helper()
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	h.Want(http.StatusOK, "PATCH", site, admin, `{"adaptiveContent":{"enabled":true}}`)
	request := space + "/change-requests/" + h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, "{}")["id"].(string)
	h.Want(http.StatusOK, "POST", request+"/content", admin, map[string]any{"changes": changes})
	h.Want(http.StatusOK, "POST", request+"/merge", admin, nil)
	h.RunJobs()
	return space + "/revisions/" + h.Want(http.StatusOK, "GET", space, admin, nil)["revision"].(string)
}

// TestConditionalBlocks reads a page with a part for visitors who have a plan. Readers without this claim do not see
// the part: as a document, as Markdown and by path, and searches do not find it. Users see all parts.
func TestConditionalBlocks(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	revision := adaptive(h, site, map[string]any{
		"operation": "insert_page", "title": "Limits", "slug": "limits",
		"document": map[string]any{"markdown": "## For everybody\n\nTen pages.\n\n{% if visitor.claims.unsigned.plan == \"pro\" %}\n## Unlimited\n\nA thousand pages.\n{% endif %}\n\nThe end.\n"},
	})
	page := revision + "/page/" + h.Want(http.StatusOK, "GET", revision+"/path/limits", admin, nil)["id"].(string)
	reader := func(claims map[string]any) string {
		return h.Want(http.StatusOK, "POST", "/v1/urls/published", token, map[string]any{"url": address, "visitor": map[string]any{"unsignedClaims": claims}})["apiToken"].(string)
	}
	for name, test := range map[string]struct {
		token string
		sees  bool
		tags  bool
	}{
		"a user":             {admin, true, true},
		"with the claim":     {reader(map[string]any{"plan": "pro"}), true, false},
		"with another claim": {reader(map[string]any{"plan": "free"}), false, false},
		"without any claim":  {reader(nil), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := h.In(t)
			for _, path := range []string{
				page + "/document", page, page + "?format=markdown", revision + "/path/limits", space + "/content/path/limits?format=markdown",
				space + "/content/page/" + strings.TrimPrefix(page, revision+"/page/") + "?format=markdown&format.markdown.refs=stable",
			} {
				a := h.Do("GET", path, test.token, nil)
				text := string(a.Body)
				if a.Status != http.StatusOK || !strings.Contains(text, "Ten pages.") || !strings.Contains(text, "The end.") {
					t.Errorf("%s: %d %s", path, a.Status, text)
				}
				if strings.Contains(text, "A thousand pages.") != test.sees || strings.Contains(text, "endif") != test.tags {
					t.Errorf("%s: %s", path, text)
				}
			}
			ofSite := func(query string) apitest.Answer {
				return h.Do("POST", site+"/search", test.token, map[string]any{"query": query})
			}
			for query, sees := range map[string]bool{
				"ten pages": true, "unlimited": test.sees, `"a thousand pages"`: test.sees, "ten thousand": test.sees,
			} {
				for name, a := range map[string]apitest.Answer{
					"space": h.Do("GET", space+"/search?query="+url.QueryEscape(query), test.token, nil),
					"site":  ofSite(query),
				} {
					text, count := string(a.Body), map[bool]string{true: `"count":1`, false: `"count":0`}[sees]
					if a.Status != http.StatusOK || strings.Contains(text, `"Limits"`) != sees ||
						strings.Contains(text, "thousand") || !strings.Contains(text, count) {
						t.Errorf("search of the %s for %s: %d %s", name, query, a.Status, text)
					}
				}
			}
		})
	}
}

// TestConditionalPages reads a page for visitors who have a plan, a page below it without a condition, and a redirect
// to the lower page. Readers who do not meet the condition see neither page: in the tree, by id and path, below the
// parent page, and in searches, changes and redirects. Users see both pages.
func TestConditionalPages(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	page := func(title, into, condition string) map[string]any {
		insert := map[string]any{
			"operation": "insert_page", "title": title, "slug": strings.ToLower(title), "ref": title,
			"document": map[string]any{"markdown": "About wombats.\n"},
		}
		if into != "" {
			insert["into"] = into
		}
		if condition != "" {
			insert["condition"] = condition
		}
		return insert
	}
	revision := adaptive(h, site,
		page("Open", "", ""), page("Paid", "Open", `visitor.claims.unsigned.plan == "pro"`), page("Below", "Paid", ""),
		page("Free", "", `visitor.claims.unsigned.plan != "pro"`))
	id := func(path string) string {
		return h.Want(http.StatusOK, "GET", revision+"/path/"+path, admin, nil)["id"].(string)
	}
	below, free := id("open/paid/below"), id("free")
	siteSpace := h.Want(http.StatusOK, "GET", site+"/site-spaces", admin, nil)["items"].([]any)[0].(map[string]any)["id"]
	h.Want(http.StatusCreated, "POST", site+"/redirects", admin, map[string]any{
		"source": "/old", "destination": map[string]any{"kind": "site-page", "siteSpaceId": siteSpace, "pageId": below},
	})
	reader := func(claims map[string]any) string {
		return h.Want(http.StatusOK, "POST", "/v1/urls/published", token, map[string]any{"url": address, "visitor": map[string]any{"unsignedClaims": claims}})["apiToken"].(string)
	}
	for name, test := range map[string]struct {
		token      string
		paid, free bool
	}{
		"a user":             {admin, true, true},
		"with the claim":     {reader(map[string]any{"plan": "pro"}), true, false},
		"with another claim": {reader(map[string]any{"plan": "basic"}), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := h.In(t)
			shows := func(method, path string, body any) {
				t.Helper()
				a := h.Do(method, path, test.token, body)
				text := string(a.Body)
				if a.Status != http.StatusOK || !strings.Contains(text, "Open") || strings.Contains(text, "Paid") != test.paid ||
					strings.Contains(text, "Below") != test.paid {
					t.Errorf("%s: %d %s", path, a.Status, text)
				}
			}
			for _, path := range []string{
				revision, revision + "/pages", space + "/content", space + "/content/pages", revision + "/path/open",
				revision + "/page/" + id("open"), revision + "/changes?limit=100", space + "/search?query=wombats",
			} {
				shows("GET", path, nil)
			}
			shows("POST", site+"/search", map[string]any{"query": "wombats", "mode": "all"})
			opens := func(path string, may bool, status int) {
				t.Helper()
				if may {
					status = http.StatusOK
				}
				if a := h.Do("GET", path, test.token, nil); a.Status != status {
					t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, status)
				}
			}
			for page, may := range map[string]bool{below: test.paid, free: test.free} {
				for _, path := range []string{"", "/document", "/meta-links"} {
					opens(revision+"/page/"+page+path, may, http.StatusNotFound)
				}
			}
			opens(revision+"/path/open/paid", test.paid, http.StatusNotFound)
			opens(space+"/content/path/open/paid/below", test.paid, http.StatusNotFound)
			opens(site+"/redirect?source=/old", test.paid, http.StatusNotFound)
			found := h.Want(http.StatusOK, "GET", space+"/search?query=wombats&limit=1", test.token, nil)
			want := 1.0
			for page, may := range map[string]bool{"Paid": test.paid, "Below": test.paid, "Free": test.free} {
				if may {
					want++
				}
				if a := string(h.Do("GET", space+"/search?query=wombats", test.token, nil).Body); strings.Contains(a, page) != may {
					t.Errorf("%s: %s", page, a)
				}
			}
			if found["count"] != want {
				t.Errorf("found %v pages, want %v", found["count"], want)
			}
		})
	}
	for claim, want := range map[string]int{"pro": http.StatusOK, "basic": http.StatusNotFound} {
		a := h.Do("POST", "/v1/urls/published", token, map[string]any{
			"url": address + "/old", "visitor": map[string]any{"unsignedClaims": map[string]any{"plan": claim}},
		})
		if leads := strings.Contains(string(a.Body), "open/paid/below"); leads != (want == http.StatusOK) {
			t.Errorf("%s: %d %s", claim, a.Status, a.Body)
		}
	}
}
