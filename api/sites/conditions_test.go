package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestConditionalBlocks has a page of which a part is for visitors with a plan. Readers see it only with the claim: as a document, as
// Markdown, by path, and in no excerpt of a search. Users see all of it.
func TestConditionalBlocks(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	h.Want(http.StatusOK, "PATCH", site, admin, `{"adaptiveContent":{"enabled":true}}`)
	request := space + "/change-requests/" + h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, "{}")["id"].(string)
	h.Want(http.StatusOK, "POST", request+"/content", admin, map[string]any{"changes": []any{map[string]any{
		"operation": "insert_page", "title": "Limits", "slug": "limits",
		"document": map[string]any{"markdown": "## For everybody\n\nTen pages.\n\n{% if visitor.claims.unsigned.plan == \"pro\" %}\n## Unlimited\n\nA thousand pages.\n{% endif %}\n\nThe end.\n"},
	}}})
	h.Want(http.StatusOK, "POST", request+"/merge", admin, nil)
	h.RunJobs()
	revision := space + "/revisions/" + h.Want(http.StatusOK, "GET", space, admin, nil)["revision"].(string)
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
			found := string(h.Do("GET", space+"/search?query="+url.QueryEscape("unlimited"), test.token, nil).Body)
			if !strings.Contains(found, `"Limits"`) || strings.Contains(found, "thousand") {
				t.Errorf("search: %s", found)
			}
		})
	}
}
