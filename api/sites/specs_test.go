package sites_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/schema"
)

// TestReadersReadTheSpecsOfTheirSite: a reader of a site can read an OpenAPI specification only if it is on a page that
// this reader sees.
func TestReadersReadTheSpecsOfTheirSite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(_ *frame.Config, d *api.Deps) { d.Outbound = outboundtest.Policy(t, outboundtest.Loopback) })
	site, address, token := publicSite(h)
	admin, org, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID, "/v1/spaces/"+h.Ours.Space.ID
	for _, slug := range []string{"pets", "hooks", "models", "pro", "draft", "other", "unused", "text"} {
		h.Want(http.StatusCreated, "POST", org+"/openapi", admin,
			map[string]any{"slug": slug, "source": map[string]any{"text": `{"openapi":"3.0.0","info":{"title":"A","version":"1"},"paths":{}}`}})
	}
	operation := func(slug string) string {
		return fmt.Sprintf("{%% openapi-operation spec=%q path=\"/a\" method=\"get\" %%}\n[a](https://a.example)\n{%% endopenapi-operation %%}\n", slug)
	}
	insert := func(title, markdown string, more ...string) map[string]any {
		change := map[string]any{"operation": "insert_page", "title": title, "slug": strings.ToLower(title), "document": map[string]any{"markdown": markdown}}
		if len(more) > 0 {
			change["condition"] = more[0]
		}
		return change
	}
	revision := adaptive(h, site,
		insert("Pets", "Pets.\n\n"+operation("pets")+"\n`{% openapi-operation spec=\"text\" %}`\n"),
		insert("Deep", "{% if visitor.claims.unsigned.plan == \"pro\" %}\n"+operation("models")+"{% endif %}\n\n"+
			"{% openapi-webhook spec=\"hooks\" name=\"x\" method=\"post\" %}\n[a](https://a.example)\n{% endopenapi-webhook %}\n"),
		insert("Deeper", "{% if visitor.claims.unsigned.plan == \"pro\" %}\nA\n\n"+operation("models")+"{% endif %}\n"),
		insert("Pro", operation("pro"), "visitor.claims.unsigned.plan == 'pro'"),
	)
	// Two specifications are not on pages of the site: a draft of its space uses one, and a space of no site uses the
	// other.
	other := "/v1/spaces/" + h.FreshSpace(h.Ours, "Other").ID
	drafts := map[string]string{}
	for of, slug := range map[string]string{space: "draft", other: "other"} {
		id := h.Want(http.StatusCreated, "POST", of+"/change-requests", admin, "{}")["id"].(string)
		h.Want(http.StatusOK, "POST", of+"/change-requests/"+id+"/content", admin, map[string]any{"changes": []any{insert("New", operation(slug))}})
		drafts[slug] = id
	}
	h.Want(http.StatusOK, "POST", other+"/change-requests/"+drafts["other"]+"/merge", admin, nil)
	as := func(token, address string, claims map[string]any) string {
		t.Helper()
		return h.Want(http.StatusOK, "POST", "/v1/urls/published", token, map[string]any{"url": address, "visitor": map[string]any{"unsignedClaims": claims}})["apiToken"].(string)
	}
	check := func(name, token, want string) {
		t.Helper()
		var reads []string
		for _, slug := range []string{"pets", "hooks", "models", "pro", "draft", "other", "unused", "text", "nothing"} {
			switch a := h.Do("GET", org+"/openapi/"+slug+"/versions/latest/content", token, nil); a.Status {
			case http.StatusOK:
				reads = append(reads, slug)
			case http.StatusNotFound:
			default:
				t.Errorf("%s, %s: %d %s", name, slug, a.Status, a.Body)
			}
		}
		if got := strings.Join(reads, " "); got != want {
			t.Errorf("%s reads %q, want %q", name, got, want)
		}
	}
	check("a user", admin, "pets hooks models pro draft other unused text")
	reader := as(token, address, nil)
	check("a reader", reader, "pets hooks")
	check("a reader with a plan", as(token, address, map[string]any{"plan": "pro"}), "pets hooks models pro")
	check("who previews the draft", as(admin, address+"/~/changes/"+drafts["draft"], nil), "pets hooks draft")
	// The query string of a source's URL may contain a key, so readers do not see the URL.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"openapi":"3.1.0","info":{"title":"A","version":"2"},"paths":{}}`)
	}))
	t.Cleanup(server.Close)
	h.Want(http.StatusOK, "PUT", org+"/openapi/pets", admin, map[string]any{"source": map[string]any{"url": server.URL + "/openapi.json?key=secret"}})
	h.RunJobs()
	for token, shown := range map[string]bool{admin: true, reader: false} {
		a := h.Do("GET", org+"/openapi/pets/versions/latest/content", token, nil)
		if a.Status != http.StatusOK || strings.Contains(string(a.Body), "secret") != shown || !strings.Contains(string(a.Body), "3.1.0") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		// Front ends, which have tokens of readers, get the files as a list, because their parser needs this form.
		if listed := strings.Contains(string(a.Body),
			`"filesystem":[{"dir":"./","filename":"openapi.json"`); listed == shown {
			t.Errorf("listed %t: %s", listed, a.Body)
		}
	}
	if a := h.Do("GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/openapi/pets/versions/latest/content", reader, nil); a.Status != http.StatusNotFound {
		t.Errorf("another organization's: %d %s", a.Status, a.Body)
	}
	// When a page is deleted, readers no longer see its specification. When a draft is merged, readers see the
	// specification that it adds.
	page := h.Want(http.StatusOK, "GET", revision+"/path/pets", admin, nil)["id"].(string)
	adaptive(h, site, map[string]any{"operation": "delete_page", "page": page})
	check("a reader without the page", reader, "hooks")
	h.Want(http.StatusOK, "POST", space+"/change-requests/"+drafts["draft"]+"/update", admin, nil)
	h.Want(http.StatusOK, "POST", space+"/change-requests/"+drafts["draft"]+"/merge", admin, nil)
	check("a reader after the merge", reader, "hooks draft")
}
