package sites_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// member returns the member of an answer at a path with dots, such as urls.published, or nil if the member is absent.
func member(of map[string]any, path string) any {
	var value any = of
	for name := range strings.SplitSeq(path, ".") {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

// orNil returns nil for an empty text, because answers omit empty members.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// TestPlaces checks the visibility and the addresses of sites and their spaces. It tests each kind of site, each kind
// of host, and several base addresses of the server. Every published address leads to its site and its space.
func TestPlaces(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, _, frontEnd := publicSite(h)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	site, space := org+"/sites/"+h.Ours.Site.ID, "/v1/spaces/"+h.Ours.Space.ID
	link := h.Want(http.StatusCreated, "POST", site+"/share-links", admin, map[string]any{"name": "Partners"})["id"].(string)
	key := h.Want(http.StatusOK, "GET", site+"/publishing/auth", admin, nil)["privateKey"].(string)
	visitor := map[string]any{"jwtToken": signed(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"exp": time.Now().Add(time.Hour).Unix()})}
	for kind, visibility := range map[string]string{
		"public": "public", "unlisted": "unlisted", "by share links": "share-link", "for visitors": "visitor-auth", "not published": "public",
	} {
		for host, set := range map[string]string{
			"no host": "hostname = null, hostname_proved_by = null, hostname_proved_at = null, proxy = null", "claimed": "hostname = 'a.example.net', hostname_proved_by = null, hostname_proved_at = null, proxy = null",
			"proved": "hostname = 'a.example.net', hostname_proved_by = 'dns', hostname_proved_at = now(), proxy = null", "proxy": "hostname = null, hostname_proved_by = null, hostname_proved_at = null, proxy = 'b.example.net/docs'",
		} {
			published := kind != "not published"
			h.Exec("update sites set "+set+", visibility = $2, published = $3 where id = $1", h.Ours.Site.ID, visibility, published)
			for _, base := range []string{"https://docs.example.com/base", "https://docs.example.org", "http://127.0.0.1:8080"} {
				t.Run(kind+"/"+host+"/"+base, func(t *testing.T) {
					h := h.In(t) // Sessions are very short, so each row has its own server.
					h.Serve(nil, func(c *frame.Config, _ *api.Deps) { c.BaseURL = base })
					here := base + "/~/sites/" + h.Ours.Site.ID
					root := map[string]string{"no host": here, "claimed": here, "proved": "https://a.example.net", "proxy": "https://b.example.net/docs"}[host]
					visibility, open, public := visibility, root, ""
					switch kind {
					case "not published":
						visibility, open = "private", ""
					case "by share links":
						open = "" // Members have no share key.
					case "public":
						public = root
					}
					check := func(what string, space map[string]any, visibility, open, public string) {
						t.Helper()
						if space["visibility"] != visibility || member(space, "urls.published") != orNil(open) || member(space, "urls.public") != orNil(public) {
							t.Errorf("%s: %v %v, want %s %q", what, space["visibility"], space["urls"], visibility, open)
						}
					}
					first := func(list string) map[string]any {
						t.Helper()
						for _, item := range h.Want(http.StatusOK, "GET", list, admin, nil)["items"].([]any) {
							if item := item.(map[string]any); item["id"] == h.Ours.Space.ID || item["id"] == h.Ours.Site.ID {
								return item
							}
						}
						t.Fatal(list)
						return nil
					}
					check("space", h.Want(http.StatusOK, "GET", space, admin, nil), visibility, open, public)
					check("list", first(org+"/spaces"), visibility, open, public)
					part := h.Want(http.StatusOK, "GET", site+"/structure", admin, nil)["structure"].([]any)[0].(map[string]any)
					check("structure", part["space"].(map[string]any), visibility, open, public)
					for what, got := range map[string]any{
						"site": member(h.Want(http.StatusOK, "GET", site, admin, nil), "urls.published"), "sites": member(first(org+"/sites"), "urls.published"),
						"site space": member(part, "urls.published"), "revision": member(h.Want(http.StatusOK, "GET", space+"/content", admin, nil), "urls.published"),
					} {
						if got != orNil(open) {
							t.Errorf("%s: %v, want %q", what, got, open)
						}
					}
					if !published {
						h.WantError(h.Do("POST", "/v1/urls/published", frontEnd, map[string]any{"url": root}), http.StatusNotFound)
						return
					}
					if kind == "by share links" {
						shared := member(h.Want(http.StatusOK, "GET", site+"/share-links", admin, nil)["items"].([]any)[0].(map[string]any), "urls.published").(string)
						key := shared[strings.LastIndex(shared, "~")+1:]
						part := h.Want(http.StatusOK, "GET", site+"/structure?shareKey="+key, admin, nil)["structure"].([]any)[0].(map[string]any)
						check("structure with the key", part["space"].(map[string]any), visibility, shared, "")
						if open = shared; shared != root+"/~"+key {
							t.Errorf("%s is at %s", link, shared)
						}
					}
					// A proxy in front of a site requests pages at the site's address on our host.
					asked := open
					if host == "proxy" {
						asked = here + strings.TrimPrefix(open, root)
					}
					found := h.Want(http.StatusOK, "POST", "/v1/urls/published", frontEnd, map[string]any{"url": asked, "visitor": visitor})
					if found["site"] != h.Ours.Site.ID || found["space"] != h.Ours.Space.ID || found["pathname"] != "/" || found["canonicalUrl"] != open {
						t.Errorf("%s leads to %v, want %s", asked, found, open)
					}
					reader := found["apiToken"].(string)
					check("the reader's space", h.Want(http.StatusOK, "GET", space, reader, nil), visibility, open, public)
					shown := h.Want(http.StatusOK, "GET", site+"/published", reader, nil)
					check("the reader's structure", member(shown, "structure").(map[string]any)["structure"].([]any)[0].(map[string]any)["space"].(map[string]any), visibility, open, public)
					if got := []any{member(shown, "site.urls.published"), member(h.Want(http.StatusOK, "GET", site, reader, nil), "urls.published")}; got[0] != open || got[1] != open {
						t.Errorf("the reader's site is at %v", got)
					}
				})
			}
		}
	}
}

// TestPlacesOfParts: the published address of every space leads to the site space that shows it. This is so with and
// without sections, and whatever the paths are. If several sites show a space, its address is on the site that most
// readers may read.
func TestPlacesOfParts(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, frontEnd := publicSite(h)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	spaces := map[string]string{}
	add := func(title string, section any) map[string]any {
		t.Helper()
		spaces[title] = h.FreshSpace(h.Ours, title).ID
		return h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin, map[string]any{"spaceId": spaces[title], "sectionId": section})
	}
	check := func(title, want string) {
		t.Helper()
		space := h.Want(http.StatusOK, "GET", "/v1/spaces/"+spaces[title], admin, nil)
		published, _ := member(space, "urls.published").(string)
		if published != want {
			t.Errorf("%s is at %s, want %s", title, published, want)
		}
		found := resolved(h, frontEnd, published+"/users")
		if found["space"] != spaces[title] || found["pathname"] != "/users" || found["canonicalUrl"] != published+"/users" {
			t.Errorf("%s leads to %v", published, found)
		}
	}
	spaces["Home"] = h.Ours.Space.ID
	add("API", nil)
	check("Home", address)
	check("API", address+"/api")
	spaces["Reference"] = h.FreshSpace(h.Ours, "Reference").ID
	section := h.Want(http.StatusCreated, "POST", site+"/sections", admin, map[string]any{"spaceId": spaces["Reference"], "title": "Reference"})
	add("Old", section["id"])
	check("API", address+"/api")
	check("Reference", address+"/reference")
	check("Old", address+"/reference/old")
	// A section may have the path of a site space of the default section. Then only an address that names the default
	// section reaches the site space.
	h.Want(http.StatusOK, "PATCH", site+"/sections/"+section["id"].(string), admin, map[string]any{"path": "api"})
	main := h.Want(http.StatusOK, "GET", site+"/sections", admin, nil)["items"].([]any)[0].(map[string]any)["path"].(string)
	check("API", address+"/"+main+"/api")
	check("Home", address)
	check("Old", address+"/api/old")
	for _, part := range h.Want(http.StatusOK, "GET", site+"/site-spaces", admin, nil)["items"].([]any) {
		part := part.(map[string]any)
		if member(part, "urls.published") != member(part, "space.urls.published") {
			t.Errorf("the site space %v shows its space at %v", part["urls"], member(part, "space.urls"))
		}
	}
	// Another site shows the same space to fewer readers. The space's address stays on the first site until fewer
	// readers may read that site.
	other := h.Want(http.StatusCreated, "POST", org+"/sites", admin, map[string]any{"title": "Other", "visibility": "unlisted", "spaces": []string{spaces["Old"]}})
	second := org + "/sites/" + other["id"].(string)
	elsewhere := strings.Replace(address, h.Ours.Site.ID, other["id"].(string), 1)
	h.Want(http.StatusOK, "POST", second+"/publish", admin, nil)
	check("Old", address+"/api/old")
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"visibility": "share-link"})
	check("Old", elsewhere)
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"visibility": "public"})
	check("Old", address+"/api/old")
	h.Want(http.StatusOK, "POST", site+"/unpublish", admin, nil)
	check("Old", elsewhere)
	// If no published site shows the space, it has no address. Members of other organizations cannot see it at all.
	h.Want(http.StatusOK, "PATCH", "/v1/spaces/"+spaces["Old"], admin, map[string]any{"defaultLevel": nil})
	h.WantError(h.Do("GET", "/v1/spaces/"+spaces["Old"], h.Theirs.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	h.Want(http.StatusOK, "POST", second+"/unpublish", admin, nil)
	if space := h.Want(http.StatusOK, "GET", "/v1/spaces/"+spaces["Old"], admin, nil); space["visibility"] != "private" || member(space, "urls.published") != nil {
		t.Errorf("%v", space)
	}
}
