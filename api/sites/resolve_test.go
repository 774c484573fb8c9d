package sites_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// publicSite publishes our site. It returns the site's path in the API, its address, and a token of a front end.
func publicSite(h *apitest.Harness) (site, address, frontEnd string) {
	h.T.Helper()
	if _, err := h.Store.Sites.Publish(h.T.Context(), h.Ours.Site.ID, true); err != nil {
		h.T.Fatal(err)
	}
	return "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID, "https://docs.example.com/base/~/sites/" + h.Ours.Site.ID,
		storetest.Token(h.T, h.Store, store.NewToken{FrontEnd: true})
}

// resolved resolves an address by GET and by POST, and checks that both have the same result.
func resolved(h *apitest.Harness, token, address string) map[string]any {
	h.T.Helper()
	answer := h.Want(http.StatusOK, "POST", "/v1/urls/published", token,
		map[string]any{"url": address, "redirectOnError": true, "cacheBust": 0.5, "visitor": map[string]any{"type": "human", "unsignedClaims": map[string]any{}}})
	if again := h.Want(http.StatusOK, "GET", "/v1/urls/published?url="+address, token, nil); again["basePath"] != answer["basePath"] || again["apiToken"] != answer["apiToken"] {
		h.T.Errorf("GET %s: %v, POST: %v", address, again, answer)
	}
	return answer
}

// payload decodes a site token as front ends do.
func payload(t testing.TB, token any) map[string]any {
	t.Helper()
	parts := strings.Split(token.(string), ".")
	if len(parts) != 3 {
		t.Fatalf("no JWT: %v", token)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestResolveASite resolves addresses of a site with one space. It reads the site and the space with the token in the
// answer.
func TestResolveASite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	root := resolved(h, token, address)
	base := strings.TrimPrefix(address, "https://docs.example.com") + "/"
	for member, want := range map[string]any{
		"organization": h.Ours.Organization.ID, "site": h.Ours.Site.ID, "space": h.Ours.Space.ID, "siteSection": nil, "complete": true,
		"pathname": "/", "basePath": base, "siteBasePath": base, "canonicalUrl": address, "shareKey": nil, "target": nil, "contextId": nil,
	} {
		if root[member] != want {
			t.Errorf("%s is %v, want %v", member, root[member], want)
		}
	}
	claims := payload(t, root["apiToken"])
	if claims["kind"] != "site" || claims["siteSpace"] != root["siteSpace"] || claims["exp"] == nil || len(claims["spaces"].([]any)) != 1 {
		t.Errorf("the token says %v", claims)
	}
	h.Want(http.StatusOK, "GET", site, root["apiToken"].(string), nil)
	h.Want(http.StatusOK, "GET", "/v1/spaces/"+h.Ours.Space.ID, root["apiToken"].(string), nil)
	page := resolved(h, token, "http://DOCS.example.com:8443"+base+"users/all")
	if page["pathname"] != "/users/all" || page["basePath"] != base || page["canonicalUrl"] != "http://DOCS.example.com:8443"+base+"users/all" ||
		page["apiToken"] != root["apiToken"] {
		t.Errorf("%v", page)
	}
	// The path of this page begins like a share key.
	if tips := resolved(h, token, address+"/~tips/all"); tips["pathname"] != "/~tips/all" || tips["shareKey"] != nil {
		t.Errorf("%v", tips)
	}
	// The address is also found on another host, and without the path of the base, which a proxy may have removed.
	if other := resolved(h, token, "https://other.example/~/sites/"+h.Ours.Site.ID+"/users"); other["pathname"] != "/users" ||
		other["siteBasePath"] != "/~/sites/"+h.Ours.Site.ID+"/" || other["canonicalUrl"] != address+"/users" {
		t.Errorf("%v", other)
	}
	// A user finds the published sites of the user's organizations.
	resolved(h, h.Ours.Tokens[schema.RoleRead], address)
	for name, test := range map[string]struct {
		token, address string
		want           int
	}{
		"another tenant": {h.Theirs.Tokens[schema.RoleAdmin], address, 404}, "a guest": {h.Ours.Tokens[schema.RoleGuest], address, 403},
		"not published": {token, "https://docs.example.com/base/~/sites/" + h.Theirs.Site.ID, 404}, "a prefix": {token, "https://docs.example.com/base/~/sites", 404},
		"unknown": {token, "https://docs.example.com/base/~/sites/nothing", 404}, "the root": {token, "https://docs.example.com/", 404},
		"no address":         {token, "docs.example.com", 400},
		"a key of nothing":   {token, address + "/~abcdefghijklmnopqrstuvwx23", 404},
		"a strange id":       {token, "https://h/~/sites/%00", 404},
		"no token":           {"", address, 401},
		"a site key":         {h.Ours.SiteKey, address, 403},
		"a site token":       {root["apiToken"].(string), address, 403},
		"nothing to preview": {token, address + "/~/changes", 404}, "an unknown revision": {token, address + "/~/revisions/nothing", 404},
	} {
		if a := h.Do("POST", "/v1/urls/published", test.token, map[string]any{"url": test.address}); a.Status != test.want {
			t.Errorf("%s: %d %s, want %d", name, a.Status, a.Body, test.want)
		}
	}
	h.WantError(h.Do("POST", "/v1/urls/published", token, `{}`), http.StatusBadRequest)
	h.WantError(h.Do("GET", "/v1/urls/published", token, nil), http.StatusBadRequest)
}

// TestResolveSections resolves the published addresses of a site with sections. The second section has two site spaces.
func TestResolveSections(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	section := h.Want(http.StatusCreated, "POST", site+"/sections", admin, map[string]any{"spaceId": h.FreshSpace(h.Ours, "API").ID, "title": "Reference"})
	variant := h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin,
		map[string]any{"spaceId": h.FreshSpace(h.Ours, "Old API").ID, "sectionId": section["id"]})
	root := resolved(h, token, address)
	if root["complete"] != false || root["siteSection"] == nil || root["space"] != h.Ours.Space.ID {
		t.Errorf("the root: %v", root)
	}
	// Addresses of the front end's own files lead to the default site space. The name of their folder begins with "~"
	// and is not a share key.
	if icon := resolved(h, token, address+"/~gitbook/icon"); icon["complete"] != true || icon["siteSpace"] != root["siteSpace"] || icon["pathname"] != "/~gitbook/icon" {
		t.Errorf("the icon: %v", icon)
	}
	reference := resolved(h, token, address+"/reference")
	if reference["complete"] != false || reference["siteSection"] != section["id"] || !strings.HasSuffix(reference["basePath"].(string), "/reference/") {
		t.Errorf("the section: %v", reference)
	}
	old := resolved(h, token, address+"/reference/old-api/users")
	if old["complete"] != true || old["siteSpace"] != variant["id"] || old["pathname"] != "/users" || !strings.HasSuffix(old["basePath"].(string), "/reference/old-api/") {
		t.Errorf("the variant: %v", old)
	}
	// Every published address that the structure shows leads to its site space, and is the canonical address.
	for _, item := range h.Want(http.StatusOK, "GET", site+"/structure", admin, nil)["structure"].([]any) {
		for _, part := range item.(map[string]any)["siteSpaces"].([]any) {
			published := part.(map[string]any)["urls"].(map[string]any)["published"].(string)
			if found := resolved(h, token, published); found["siteSpace"] != part.(map[string]any)["id"] || found["canonicalUrl"] != published {
				t.Errorf("%s leads to %v", published, found)
			}
		}
	}
	// An address that names the default site space leads to the same page. The canonical address omits the name.
	if explicit := resolved(h, token, address+"/reference/api/x"); explicit["siteSpace"] != reference["siteSpace"] || explicit["canonicalUrl"] != address+"/reference/x" {
		t.Errorf("the default by its path: %v", explicit)
	}
}

// TestReadersOfManySpacesSearch: the site token of a site with several spaces is longer than stored tokens. A reader
// with this token may send a body.
func TestReadersOfManySpacesSearch(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	for _, title := range []string{"One", "Two", "Three", "Four", "Five"} {
		h.Want(http.StatusCreated, "POST", site+"/site-spaces", h.Ours.Tokens[schema.RoleAdmin], map[string]any{"spaceId": h.FreshSpace(h.Ours, title).ID})
	}
	reader := resolved(h, token, address)["apiToken"].(string)
	if len(reader) <= 512 {
		t.Fatalf("the token has only %d bytes", len(reader))
	}
	h.Want(http.StatusOK, "POST", site+"/search", reader, map[string]any{"query": "hello", "mode": "all"})
}

// TestResolveShareLinks: readers with a share key find a site that is published by share links, at all its addresses.
func TestResolveShareLinks(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"visibility": "share-link"})
	link := h.Want(http.StatusCreated, "POST", site+"/share-links", admin, map[string]any{"name": "Partners"})
	shared := link["urls"].(map[string]any)["published"].(string)
	h.WantError(h.Do("POST", "/v1/urls/published", token, map[string]any{"url": address}), http.StatusNotFound)
	found := resolved(h, token, shared+"/users")
	key := found["shareKey"].(string)
	if shared != address+"/~"+key || found["pathname"] != "/users" || found["canonicalUrl"] != shared+"/users" || !strings.HasSuffix(found["basePath"].(string), "/~"+key+"/") {
		t.Errorf("%v", found)
	}
	api := found["apiToken"].(string)
	structure := h.Want(http.StatusOK, "GET", site+"/structure", api, nil)
	first := structure["structure"].([]any)[0].(map[string]any)
	if first["urls"].(map[string]any)["published"] != shared {
		t.Errorf("the reader's site space is at %v", first["urls"])
	}
	h.Want(http.StatusOK, "PATCH", site+"/share-links/"+link["id"].(string), admin, map[string]any{"active": false})
	h.WantError(h.Do("POST", "/v1/urls/published", token, map[string]any{"url": shared}), http.StatusNotFound)
}

// TestResolvePreviews: members can open drafts, and readers can open older revisions.
func TestResolvePreviews(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	request := h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, map[string]any{"subject": "Plans"})["id"].(string)
	other := h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, map[string]any{"subject": "Others"})["id"].(string)
	h.ChangeContent(schema.RoleAdmin, request, `{"operation":"insert_page","title":"Plans","document":{"markdown":"Secret"}}`)
	draft := h.Want(http.StatusOK, "GET", space+"/change-requests/"+request, admin, nil)["revision"].(string)
	preview := address + "/~/changes/" + request + "/plans"
	h.WantError(h.Do("POST", "/v1/urls/published", token, map[string]any{"url": preview}), http.StatusNotFound)
	found := resolved(h, admin, preview)
	if found["changeRequest"] != request || found["pathname"] != "/plans" || !strings.HasSuffix(found["basePath"].(string), "/~/changes/"+request+"/") {
		t.Errorf("%v", found)
	}
	api := found["apiToken"].(string)
	for path, want := range map[string]int{
		space + "/change-requests/" + request: 200, space + "/change-requests/1": 200, space + "/change-requests/" + other: 404,
		space + "/change-requests/" + request + "/content": 200, space + "/change-requests/" + request + "/comments": 403,
		space + "/revisions/" + draft: 200, site: 200,
	} {
		if a := h.Do("GET", path, api, nil); a.Status != want {
			t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, want)
		}
	}
	head := h.Want(http.StatusOK, "GET", space, admin, nil)["revision"].(string)
	if found := resolved(h, token, address+"/~/revisions/"+head); found["revision"] != head || found["pathname"] != "/" {
		t.Errorf("%v", found)
	}
	h.WantError(h.Do("POST", "/v1/urls/published", token, map[string]any{"url": address + "/~/revisions/" + draft}), http.StatusNotFound)
}

// TestPreviewsOfMembers: a site token that a member requested can read the drafts of the site's spaces, while the
// member may read the spaces. So front ends can show drafts, although they resolve only the part of an address before
// /~/changes. They also show drafts at addresses of previews.
func TestPreviewsOfMembers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, address, frontEnd := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	request := h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, map[string]any{"subject": "Plans"})["id"].(string)
	h.ChangeContent(schema.RoleAdmin, request, `{"operation":"insert_page","title":"Plans","slug":"plans","document":{"markdown":"Secret"}}`)
	draft := h.Want(http.StatusOK, "GET", space+"/change-requests/"+request, admin, nil)["revision"].(string)
	theirs := "/v1/spaces/" + h.Theirs.Space.ID + "/change-requests/" + h.ChangeRequest(h.Theirs).ID
	check := func(token string, want int) {
		t.Helper()
		for _, path := range []string{
			space + "/change-requests/" + request, space + "/change-requests/" + request + "/changes?limit=100",
			space + "/revisions/" + draft + "?metadata=true", space + "/revisions/" + draft + "/path/plans",
		} {
			if a := h.Do("GET", path, token, nil); a.Status != want {
				t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, want)
			}
		}
		for path, want := range map[string]int{space + "/change-requests/" + request + "/comments": http.StatusForbidden, theirs: http.StatusNotFound} {
			if a := h.Do("GET", path, token, nil); a.Status != want {
				t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, want)
			}
		}
	}
	at := "https://previews.example.com/preview/" + h.Ours.Site.ID
	found := resolved(h, admin, at+"/plans")
	if found["siteBasePath"] != "/preview/"+h.Ours.Site.ID+"/" || found["pathname"] != "/plans" {
		t.Errorf("%v", found)
	}
	if drafted := resolved(h, admin, at+"/~/changes/"+request+"/plans"); drafted["canonicalUrl"] != at+"/plans" || drafted["changeRequest"] != request {
		t.Errorf("links lead out of the preview: %v", drafted)
	}
	check(found["apiToken"].(string), http.StatusOK)
	older := "https://preview/" + h.Ours.Site.ID
	found = resolved(h, admin, older+"/plans")
	if found["siteBasePath"] != "/"+h.Ours.Site.ID+"/" || found["pathname"] != "/plans" || found["canonicalUrl"] != older+"/plans" {
		t.Errorf("%v", found)
	}
	check(found["apiToken"].(string), http.StatusOK)
	h.WantError(h.Do("POST", "/v1/urls/published", admin, map[string]any{"url": "https://preview/nothing"}), http.StatusNotFound)
	check(resolved(h, admin, address)["apiToken"].(string), http.StatusOK)
	check(resolved(h, frontEnd, at)["apiToken"].(string), http.StatusNotFound)
	reader := resolved(h, h.Ours.Tokens[schema.RoleRead], at)["apiToken"].(string)
	check(reader, http.StatusOK)
	h.CloseSpace(h.Ours.Space.ID)
	check(reader, http.StatusNotFound)
	h.WantError(h.Do("POST", "/v1/urls/published", h.Theirs.Tokens[schema.RoleAdmin], map[string]any{"url": at}), http.StatusNotFound)
}

// TestResolveRedirects: a redirect of a path has an effect if no page has this path.
func TestResolveRedirects(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	first := h.Want(http.StatusOK, "GET", site+"/structure", admin, nil)["structure"].([]any)[0].(map[string]any)
	redirect := func(source string, destination map[string]any) {
		t.Helper()
		h.Want(http.StatusCreated, "POST", site+"/redirects", admin, map[string]any{"source": source, "destination": destination})
	}
	redirect("/old", map[string]any{"kind": "site-space", "siteSpaceId": first["id"]})
	redirect("/away", map[string]any{"kind": "external", "url": "https://example.com/x"})
	if found := resolved(h, token, address+"/old"); found["target"] != "content" || found["redirect"] != address || found["apiToken"] != nil {
		t.Errorf("%v", found)
	}
	// The redirect keeps the port of the requested address.
	asked := "http://docs.example.com:8443" + strings.TrimPrefix(address, "https://docs.example.com")
	if found := resolved(h, token, asked+"/old"); found["redirect"] != asked {
		t.Errorf("%v", found)
	}
	if found := resolved(h, token, address+"/away"); found["target"] != "external" || found["redirect"] != "https://example.com/x" {
		t.Errorf("%v", found)
	}
	request := h.Want(http.StatusCreated, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/change-requests", admin, nil)["id"].(string)
	h.ChangeContent(schema.RoleAdmin, request, `{"operation":"insert_page","title":"Here","document":{"markdown":"I am."}}`)
	h.Want(http.StatusOK, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/change-requests/"+request+"/merge", admin, nil)
	redirect("/here", map[string]any{"kind": "external", "url": "https://example.com/x"})
	if found := resolved(h, token, address+"/here"); found["pathname"] != "/here" || found["apiToken"] == nil {
		t.Errorf("a redirect hides a page: %v", found)
	}
	if found := resolved(h, token, address+"/elsewhere"); found["pathname"] != "/elsewhere" {
		t.Errorf("%v", found)
	}
	// If a path has a redirect and was the path of a page before, the redirect has precedence.
	page := h.Want(http.StatusOK, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/path/here", admin, nil)["id"].(string)
	request = h.Want(http.StatusCreated, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/change-requests", admin, nil)["id"].(string)
	h.ChangeContent(schema.RoleAdmin, request, `{"operation":"update_page","page":"`+page+`","slug":"there"}`)
	h.Want(http.StatusOK, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/change-requests/"+request+"/merge", admin, nil)
	if found := resolved(h, token, address+"/here"); found["redirect"] != "https://example.com/x" {
		t.Errorf("%v", found)
	}
}
