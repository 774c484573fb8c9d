package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPageView sends a front end's requests for a page view, in order. With its own token the front end finds the site
// and posts the event. The answer about the site has a site token. With that token the front end reads everything that
// the page shows.
func TestPageView(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	claims := published(h, h.Ours)
	admin, frontEnd := h.Ours.Tokens[schema.RoleAdmin], storetest.Token(t, h.Store, store.NewToken{FrontEnd: true})
	site, space := "/v1/orgs/"+claims.Organization+"/sites/"+claims.Site, "/v1/spaces/"+claims.Space
	request := h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, map[string]any{"subject": "Guides"})
	content := space + "/change-requests/" + request["id"].(string)
	h.Want(http.StatusOK, "POST", content+"/content", admin, `{"changes":[
		{"operation":"insert_page","title":"Guides","slug":"guides","document":{"markdown":"Read [how to `+
		`install](install.md).\n\n{% columns %}\n{% column %}\nleft\n{% endcolumn %}\n{% endcolumns %}"}},
		{"operation":"insert_page","title":"Install","slug":"install","document":{"markdown":"## On Linux\n\nRun `+"`make`"+`."}}]}`)
	h.Want(http.StatusOK, "POST", content+"/merge", admin, nil)
	h.Want(http.StatusCreated, "POST", site+"/sections", admin, map[string]any{"spaceId": h.FreshSpace(h.Ours, "API").ID, "title": "Reference"})

	address := "https://docs.example.com/base/~/sites/" + claims.Site
	resolve := func(address string) map[string]any {
		t.Helper()
		return h.Want(http.StatusOK, "POST", "/v1/urls/published", frontEnd, map[string]any{"url": address, "visitor": map[string]any{"type": "human"}})
	}
	// If the site has sections, the front end sends longer addresses until the answer says that the address is
	// complete.
	found := resolve(address + "/guides")
	if found["complete"] != true || found["pathname"] != "/guides" || found["space"] != claims.Space {
		t.Fatalf("%v", found)
	}
	token := found["apiToken"].(string)
	shown := h.Want(http.StatusOK, "GET", site+"/published", token, nil)
	structure := shown["structure"].(map[string]any)
	if section := found["siteSection"].(string); structure["type"] != "sections" || !strings.HasPrefix(section, "sec_") || !strings.Contains(string(h.Do("GET", site+"/published", token, nil).Body), `"id":"`+section+`"`) {
		t.Errorf("the structure %v does not have the section %s", structure, section)
	}
	if customizations := shown["customizations"].(map[string]any); customizations["siteSpaces"].(map[string]any)[found["siteSpace"].(string)] == nil {
		t.Errorf("no customization of %v: %v", found["siteSpace"], customizations)
	}
	revision := space + "/revisions/" + h.Want(http.StatusOK, "GET", space, token, nil)["revision"].(string)
	pages := h.Want(http.StatusOK, "GET", revision+"?metadata=true", token, nil)["pages"].([]any)
	id := func(slug string) string {
		for _, page := range pages {
			if page := page.(map[string]any); page["slug"] == slug {
				return page["id"].(string)
			}
		}
		t.Fatalf("no page %s in %v", slug, pages)
		return ""
	}
	page := revision + "/page/" + id("guides")
	document := h.Do("GET", page+"/document?evaluated=deterministic-only&dereferenced=reusable-contents", token, nil)
	if document.Status != http.StatusOK || !strings.Contains(string(document.Body), `"page":"`+id("install")+`"`) {
		t.Errorf("the link does not lead to the page: %d %s", document.Status, document.Body)
	}
	for query, shape := range map[string]string{
		"?evaluated=deterministic-only": `"type":"column"`, "": `"type":"paragraph"`,
	} {
		user := h.Do(
			"GET",
			page+"/document"+query,
			admin,
			nil,
		) // Only editors get text that can be written back.
		if columns := strings.Contains(string(user.Body), `"type":"column"`); columns != (query != "") ||
			!strings.Contains(string(document.Body), shape) {
			t.Errorf("the document %q has another shape: %s %s", query, user.Body, document.Body)
		}
	}
	if heading := h.Do("GET", revision+"/page/"+id("install")+"/document", token, nil); !strings.Contains(string(heading.Body), `"id":"on-linux"`) {
		t.Errorf("the heading has no anchor: %s", heading.Body)
	}
	h.Want(http.StatusOK, "GET", page+"/meta-links", token, nil)
	if text := h.Want(http.StatusOK, "GET", page+"?format=markdown&format.markdown.refs=stable", token, nil); !strings.Contains(text["markdown"].(string), "how to install") {
		t.Errorf("%v", text)
	}
	if at := h.Want(http.StatusOK, "GET", revision+"/path/guides", token, nil); at["id"] != id("guides") {
		t.Errorf("%v", at)
	}
	nowhere := h.Do("GET", site+"/redirect?source=/nowhere", token, nil)
	h.WantError(nowhere, http.StatusNotFound)
	// Front ends cache answers under these tags. They cache refusals only for a few seconds.
	for name, want := range map[string]string{"X-Gitbook-Cache-Tag": "site:" + claims.Site, "Cache-Control": "private, max-age=5"} {
		if got := nowhere.Header.Get(name); got != want {
			t.Errorf("a refusal has %s %q, want %q", name, got, want)
		}
	}
	if got := document.Header.Get("X-Gitbook-Cache-Tag"); got != "space:"+claims.Space {
		t.Errorf("a document has the tags %q", got)
	}
	if got := h.Do("GET", space, admin, nil).Header.Get("X-Gitbook-Cache-Tag"); got != "" {
		t.Errorf("a user's answer has the tags %q", got)
	}

	event := map[string]any{"events": []any{map[string]any{
		"type": "page_view", "session": map[string]any{"sessionId": "s", "visitorId": "v"},
		"location": map[string]any{"url": address + "/guides", "siteSection": found["siteSection"], "siteSpace": found["siteSpace"], "space": claims.Space, "page": id("guides")},
	}}}
	if a := h.Do("POST", site+"/insights/events", frontEnd, event); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	h.WantError(h.Do("POST", site+"/insights/events", token, event), http.StatusForbidden)
}
