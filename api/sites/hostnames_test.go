package sites_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TestHostnames: a host name leads to a site only after it is proved for this site. It leads to only one site.
func TestHostnames(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	if _, err := h.Store.Sites.Publish(t.Context(), h.Theirs.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	theirs, theirAdmin := "/v1/orgs/"+h.Theirs.Organization.ID+"/sites/"+h.Theirs.Site.ID, h.Theirs.Tokens[schema.RoleAdmin]
	ask := func(url string, want int) {
		t.Helper()
		if a := h.Do("POST", "/v1/urls/published", token, map[string]any{"url": url}); a.Status != want {
			t.Errorf("%s: %d %s, want %d", url, a.Status, a.Body, want)
		}
	}
	for _, name := range []string{"", "docs", "docs.example.com:80", "docs.example.com/x", "-a.example.com", "a..b.com", "127.0.0.1", "exa mple.com", "bücher.example", strings.Repeat("a", 64) + ".com"} {
		h.WantError(h.Do("PATCH", site, admin, map[string]any{"hostname": name}), http.StatusBadRequest)
	}
	h.WantError(h.Do("GET", site+"/hostname", admin, nil), http.StatusNotFound)
	h.WantError(h.Do("POST", site+"/hostname/prove", admin, nil), http.StatusNotFound)
	claimed := h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"hostname": "Docs.Example.org"})
	if claimed["hostname"] != "docs.example.org" || claimed["urls"].(map[string]any)["published"] != address {
		t.Errorf("claimed: %v", claimed)
	}
	ask("https://docs.example.org/", http.StatusNotFound)
	// Two sites may claim the same name before it is proved.
	h.Want(http.StatusOK, "PATCH", theirs, theirAdmin, map[string]any{"hostname": "docs.example.org"})
	shown := h.Want(http.StatusOK, "GET", site+"/hostname", admin, nil)
	record := shown["record"].(map[string]any)
	if shown["proved"] != false || record["name"] != "_octavo.docs.example.org" {
		t.Errorf("%v", shown)
	}
	h.WantError(h.Do("POST", site+"/hostname/prove", admin, nil), http.StatusPreconditionFailed)
	h.DNS.Set("_octavo.docs.example.org", record["value"].(string))
	// The DNS record proves the name for our site only.
	h.WantError(h.Do("POST", theirs+"/hostname/prove", theirAdmin, nil), http.StatusPreconditionFailed)
	if proved := h.Want(http.StatusOK, "POST", site+"/hostname/prove", admin, nil); proved["proved"] != true || proved["provedBy"] != "dns" {
		t.Errorf("%v", proved)
	}
	if now := h.Want(http.StatusOK, "GET", site, admin, nil); now["urls"].(map[string]any)["published"] != "https://docs.example.org" {
		t.Errorf("%v", now)
	}
	found := resolved(h, token, "https://DOCS.example.org/users")
	if found["site"] != h.Ours.Site.ID || found["siteBasePath"] != "/" || found["basePath"] != "/" || found["pathname"] != "/users" ||
		found["canonicalUrl"] != "https://docs.example.org/users" {
		t.Errorf("%v", found)
	}
	if found := resolved(h, token, address+"/users"); found["canonicalUrl"] != "https://docs.example.org/users" {
		t.Errorf("%v", found)
	}
	// Addresses on the host of a site lead to no other site.
	ask("https://docs.example.org/~/sites/"+h.Theirs.Site.ID, http.StatusNotFound)

	// Another site cannot get the name. The error does not reveal which site has it.
	refused := h.Do("PATCH", theirs, theirAdmin, map[string]any{"hostname": "DOCS.example.org"})
	h.WantError(refused, http.StatusConflict)
	if strings.Contains(string(refused.Body), h.Ours.Site.ID) || strings.Contains(string(refused.Body), h.Ours.Organization.ID) {
		t.Errorf("%s", refused.Body)
	}
	theirRecord := h.Want(http.StatusOK, "GET", theirs+"/hostname", theirAdmin, nil)["record"].(map[string]any)
	h.DNS.Set("_octavo.docs.example.org", theirRecord["value"].(string))
	h.WantError(h.Do("POST", theirs+"/hostname/prove", theirAdmin, nil), http.StatusConflict)
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"hostname": "docs.example.org", "title": "Same name"})
	ask("https://docs.example.org/", http.StatusOK)

	// A new host name of the site must be proved, too. Without a host name, the site has an address on our host.
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"hostname": "www.example.org"})
	ask("https://docs.example.org/", http.StatusNotFound)
	ask("https://www.example.org/", http.StatusNotFound)
	if _, err := h.Store.Sites.ProveHostname(
		t.Context(), h.Ours.Site.ID, "www.example.org", postgres.ProvedByOperator,
	); err != nil {
		t.Fatal(err)
	}
	ask("https://www.example.org/", http.StatusOK)
	// The first site has given up the name, so another site can prove it.
	h.Want(http.StatusOK, "POST", theirs+"/hostname/prove", theirAdmin, nil)
	if none := h.Want(http.StatusOK, "PATCH", site, admin, `{"hostname":null}`); none["hostname"] != nil || none["urls"].(map[string]any)["published"] != address {
		t.Errorf("%v", none)
	}
	ask("https://www.example.org/", http.StatusNotFound)
}
