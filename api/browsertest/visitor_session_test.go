package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// readersPage is a page that requests the visitor's id like the pages of the front end. The page proposes an id.
const readersPage = `<!doctype html><title>Docs</title><p></p><script>
const proposed = crypto.randomUUID() + 'R'
fetch(%q + '/__session/2/?proposed=' + proposed, {credentials: 'include', cache: 'no-cache', mode: 'cors'})
	.then((answer) => answer.ok ? answer.json() : {deviceId: 'status ' + answer.status})
	.catch((e) => ({deviceId: String(e)}))
	.then((visitor) => { const p = document.querySelector('p'); p.id = 'asked'; p.textContent = visitor.deviceId })
</script>`

// TestOneVisitor opens pages of readers' sites in a browser. The API and each site have different host names. All pages
// that a reader opens on a site must get the same visitor id. On another site, the same reader must get another id.
func TestOneVisitor(t *testing.T) {
	t.Parallel()
	b := newTab(t, "host-resolver-rules", "MAP *.test 127.0.0.1")
	tls := func(host string, handler http.Handler) string {
		server := httptest.NewTLSServer(handler)
		t.Cleanup(server.Close)
		return strings.Replace(server.URL, "127.0.0.1", host, 1)
	}
	var proxy http.Handler
	octavo := tls(
		"api.octavo.test",
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { proxy.ServeHTTP(w, r) }),
	)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, readersPage, octavo)
	})
	frontEnd, published := tls("front.example.test", page), tls("docs.reader.test", page)
	stranger := tls("evil.test", page)
	h := apitest.New(t, func(c *frame.Config, d *api.Deps) {
		address, err := url.Parse(frontEnd)
		if err != nil {
			t.Fatal(err)
		}
		c.BaseURL, d.FrontEnds = octavo, []*url.URL{address}
	})
	target, err := url.Parse(h.Base)
	if err != nil {
		t.Fatal(err)
	}
	proxy = httputil.NewSingleHostReverseProxy(target)
	site, admin := "/v1/orgs/"+h.Ours.Organization.ID+"/sites/"+h.Ours.Site.ID, h.Ours.Tokens[schema.RoleAdmin]
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"hostname": "docs.reader.test"})
	if _, err := h.Store.Sites.ProveHostname(t.Context(), h.Ours.Site.ID, "docs.reader.test", "dns"); err != nil {
		t.Fatal(err)
	}
	h.Want(http.StatusOK, "POST", site+"/publish", admin, nil)
	visitor := func(address string) string {
		t.Helper()
		b.open(address, "#asked")
		return ask(b, chromedp.Text(chromedp.CSS("#asked")))
	}
	seen := map[string]string{}
	for _, address := range []string{frontEnd, published, frontEnd + "/b", published + "/c", published + "/d"} {
		host := strings.SplitN(address, "/", 4)[2]
		id := visitor(address)
		if !strings.HasSuffix(id, "R") || seen[host] != "" && seen[host] != id {
			t.Errorf("%s is opened by %s, before by %s", address, id, seen[host])
		}
		seen[host] = id
	}
	if len(seen) != 2 ||
		seen[strings.TrimPrefix(frontEnd, "https://")] == seen[strings.TrimPrefix(published, "https://")] {
		t.Errorf("%v", seen)
	}
	if id := visitor(stranger); !strings.Contains(id, "Failed to fetch") {
		t.Errorf("a page of nobody's reads %s", id)
	}
	h.Want(
		http.StatusOK,
		"PUT",
		site+"/customization",
		admin,
		map[string]any{"favicon": map[string]any{}, "insights": map[string]any{"trackingCookie": false}},
	)
	if id := visitor(published); !strings.Contains(id, "Failed to fetch") {
		t.Errorf("a site without tracking cookies reads %s", id)
	}
}
