package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// siteToken creates a token for the readers of a site.
func siteToken(h *apitest.Harness, claims access.SiteClaims) string {
	h.T.Helper()
	text, err := access.NewSiteTokens(h.Store).Make(h.T.Context(), claims, time.Now())
	if err != nil {
		h.T.Fatal(err)
	}
	return text
}

// published publishes a tenant's site and returns the claims for a token of its readers.
func published(h *apitest.Harness, tenant *storetest.Tenant) access.SiteClaims {
	h.T.Helper()
	if _, err := h.Store.Sites.Publish(h.T.Context(), tenant.Site.ID, true); err != nil {
		h.T.Fatal(err)
	}
	return access.SiteClaims{
		Organization: tenant.Organization.ID, Site: tenant.Site.ID, Space: tenant.Space.ID, Spaces: []string{tenant.Space.ID},
	}
}

// readersMay lists the operations that readers of a site may call. The test compares this list with the table of
// operations, and so finds an operation that is wrongly open to readers.
var readersMay = []string{
	"getSiteById", "getSiteStructure", "getSiteRedirectBySource", "getSiteCustomizationById", "getSiteSpaceCustomizationById",
	"getSpaceById", "getCurrentRevision", "listPages", "getPageById", "getPageByPath", "getRevisionById",
	"searchSpaceContent", "searchSiteContent", "getPublishedContentSite",
	"listPagesInRevisionById", "getPageInRevisionById", "getPageInRevisionByPath", "getPageDocumentInRevisionById",
	"listSpacePageMetaLinks", "listRevisionPageMetaLinks", "getRevisionSemanticChanges",
	"getEmbedByUrlInSpace", "getUserById",
	// These operations need a token that previews the change request.
	"getChangeRequestById", "getRevisionOfChangeRequestById", "listPagesInChangeRequest", "getLatestOpenAPISpecVersionContent",
	"getPageInChangeRequestById", "getPageInChangeRequestByPath", "listChangeRequestPageMetaLinks",
	"getChangeRequestChanges",
}

// TestSiteTokenReadsItsSite calls every operation with a site token. The token may call exactly the operations whose
// rows are for readers, and only on its site.
func TestSiteTokenReadsItsSite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	token := siteToken(h, published(h, h.Ours))
	published(h, h.Theirs)
	var marked []string
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		if !op.Scope.Readers {
			h.WantError(h.Try(op, h.Ours, token), http.StatusForbidden)
			return
		}
		marked = append(marked, op.ID)
		path, body := h.Example(op, h.Ours)
		a := h.Do(op.Method, path, token, body)
		want := op.Status
		if op.Scope.Object == access.OnChangeRequest {
			want = http.StatusNotFound
		}
		if a.Status != want {
			t.Errorf("%d %s, want %d", a.Status, a.Body, want)
		}
		for name, user := range h.Ours.Users {
			if strings.Contains(string(a.Body), user.ID) && op.ID != "getUserById" || strings.Contains(string(a.Body), "@") {
				t.Errorf("the answer names the %s: %s", name, a.Body)
			}
		}
		foreign, unknown := h.Try(op, h.Theirs, token), h.Try(op, apitest.Ghost(), token)
		h.WantError(foreign, http.StatusNotFound)
		if foreign.Status != unknown.Status || string(foreign.Body) != string(unknown.Body) {
			t.Errorf("foreign %d %s, unknown %d %s", foreign.Status, foreign.Body, unknown.Status, unknown.Body)
		}
	})
	slices.Sort(marked)
	if want := slices.Sorted(slices.Values(readersMay)); all && !slices.Equal(marked, want) {
		t.Errorf("readers may call %q, want %q", marked, want)
	}
	if h.Intake.Bodies != nil {
		t.Error("events reached the intake")
	}
}

// TestFrontEndTokenOpensEventsAndAddresses calls every operation with a front end's token.
func TestFrontEndTokenOpensEventsAndAddresses(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	token := storetest.Token(t, h.Store, store.NewToken{FrontEnd: true, Name: "renderer"})
	published(h, h.Ours)
	var may []string
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		a := h.Try(op, h.Ours, token)
		if !op.Scope.FrontEnd {
			h.WantError(a, http.StatusForbidden)
			return
		}
		may = append(may, op.ID)
		if a.Status != op.Status {
			t.Errorf("%d %s, want %d", a.Status, a.Body, op.Status)
		}
		if op.Scope.Object != nil { // The other tenant's site is not published.
			h.WantError(h.Try(op, h.Theirs, token), http.StatusNotFound)
			h.WantError(h.Try(op, apitest.Ghost(), token), http.StatusNotFound)
			mixed := *h.Theirs
			mixed.Site = h.Ours.Site
			h.WantError(h.Try(op, &mixed, token), http.StatusNotFound)
		}
	})
	if slices.Sort(may); all && !slices.Equal(may, []string{"getPublishedContentByUrl", "resolvePublishedContentByUrl", "trackEventsInSiteById"}) {
		t.Errorf("a front end may call %q", may)
	}
}

// TestWhoPostsEvents: a front end posts events for all published sites. A site key posts only for its own site. Readers
// cannot post events.
func TestWhoPostsEvents(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.AuthTTL = time.Nanosecond })
	frontEnd := storetest.Token(t, h.Store, store.NewToken{FrontEnd: true, Name: "renderer"})
	reader := siteToken(h, published(h, h.Ours))
	expect := func(who, token string, ours, theirs int) {
		t.Helper()
		for tenant, want := range map[*storetest.Tenant]int{h.Ours: ours, h.Theirs: theirs} {
			before := len(h.Intake.Sites)
			a := h.Do(http.MethodPost, "/v1/orgs/"+tenant.Organization.ID+"/sites/"+tenant.Site.ID+"/insights/events", token, `{"events":[]}`)
			if a.Status != want {
				t.Errorf("%s, %s: %d %s, want %d", who, tenant.Organization.Title, a.Status, a.Body, want)
			}
			if taken := h.Intake.Sites[before:]; (len(taken) == 1 && taken[0].SiteID == tenant.Site.ID) != (want == http.StatusNoContent) {
				t.Errorf("%s, %s: the intake has %v", who, tenant.Organization.Title, taken)
			}
		}
	}
	expect("reader", reader, http.StatusForbidden, http.StatusForbidden)
	expect("nobody", "", http.StatusUnauthorized, http.StatusUnauthorized)
	expect("front end", frontEnd, http.StatusNoContent, http.StatusNotFound)
	published(h, h.Theirs)
	expect("reader", reader, http.StatusForbidden, http.StatusForbidden)
	expect("front end, both published", frontEnd, http.StatusNoContent, http.StatusNoContent)
	expect("site key", h.Ours.SiteKey, http.StatusNoContent, http.StatusNotFound)
	if _, err := h.Store.Sites.Publish(t.Context(), h.Ours.Site.ID, false); err != nil {
		t.Fatal(err)
	}
	expect("front end, one unpublished", frontEnd, http.StatusNotFound, http.StatusNoContent)
	expect("site key, unpublished", h.Ours.SiteKey, http.StatusNoContent, http.StatusNotFound)
}

// TestSiteTokensEnd: a site token becomes invalid when it expires and when the site's key changes. It also becomes
// invalid when the site is unpublished or deleted, or when its share link ends.
func TestSiteTokensEnd(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	ctx := t.Context()
	claims := published(h, h.Ours)
	path := "/v1/orgs/" + claims.Organization + "/sites/" + claims.Site
	// A server caches a token for some time, so each check uses a new token.
	looks := 0
	status := func(claims access.SiteClaims) int {
		looks++
		claims.Claims = map[string]any{"look": looks}
		return h.Do(http.MethodGet, path, siteToken(h, claims), nil).Status
	}
	expect := func(when string, claims access.SiteClaims, want int) {
		t.Helper()
		if got := status(claims); got != want {
			t.Errorf("%s: %d, want %d", when, got, want)
		}
	}
	visibility := func(to string) {
		t.Helper()
		if _, err := h.Store.Sites.Update(ctx, claims.Site, sites.Change{Visibility: &to}); err != nil {
			t.Fatal(err)
		}
	}
	link, err := h.Store.Sites.CreateShareLink(ctx, claims.Site, "Partners")
	if err != nil {
		t.Fatal(err)
	}
	shared, foreign := claims, claims
	shared.ShareLink = link.ID
	foreign.Organization = h.Theirs.Organization.ID
	authenticated := claims
	authenticated.VisitorType = access.VisitorAuthenticated
	expect("a public site", claims, http.StatusOK)
	expect("another organization's", foreign, http.StatusUnauthorized)
	visibility(schema.VisibilityShareLink)
	expect("a site for share links, without one", claims, http.StatusUnauthorized)
	expect("a site for share links", shared, http.StatusOK)
	off := false
	if _, err := h.Store.Sites.UpdateShareLink(
		ctx, claims.Site, link.ID, sites.ShareLinkChange{Active: &off},
	); err != nil {
		t.Fatal(err)
	}
	expect("the link is off", shared, http.StatusUnauthorized)
	visibility(schema.VisibilityVisitorAuth)
	expect("a site for authenticated visitors", claims, http.StatusUnauthorized)
	expect("an authenticated visitor", authenticated, http.StatusOK)
	visibility("unlisted")
	expect("unlisted", claims, http.StatusOK)
	old := siteToken(h, claims)
	if err := h.Store.Sites.EndTokens(ctx); err != nil {
		t.Fatal(err)
	}
	h.Serve(nil) // This server has not read the key yet.
	if a := h.Do(http.MethodGet, path, old, nil); a.Status != http.StatusUnauthorized {
		t.Errorf("a token of the key before: %d", a.Status)
	}
	expect("a token of the new key", claims, http.StatusOK)
	if _, err := h.Store.Sites.Publish(ctx, claims.Site, false); err != nil {
		t.Fatal(err)
	}
	expect("not published", claims, http.StatusUnauthorized)
	if err := h.Store.Sites.Delete(ctx, claims.Site); err != nil {
		t.Fatal(err)
	}
	expect("deleted", claims, http.StatusUnauthorized)
}

// TestSiteTokenShowsNoDrafts checks that readers see only revisions of the main content, and no comments or change
// requests.
func TestSiteTokenShowsNoDrafts(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	claims := published(h, h.Ours)
	token, admin := siteToken(h, claims), h.Ours.Tokens[schema.RoleAdmin]
	space := "/v1/spaces/" + claims.Space
	first := h.Want(http.StatusOK, "GET", space, admin, nil)["revision"].(string)
	request := h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, map[string]any{"subject": "Secret plans"})
	changed := h.Want(http.StatusOK, "POST", space+"/change-requests/"+request["id"].(string)+"/content", admin,
		`{"changes":[{"operation":"insert_page","title":"Secret","document":{"markdown":"Secret"}}]}`)
	draft := h.Want(http.StatusOK, "GET", space+"/change-requests/"+request["id"].(string), admin, nil)["revision"].(string)
	if draft == first {
		t.Fatalf("%v", changed)
	}
	h.WantError(h.Do("GET", space+"/revisions/"+draft, token, nil), http.StatusNotFound)
	h.WantError(h.Do("GET", space+"/revisions/nothing", token, nil), http.StatusNotFound)
	h.Want(http.StatusOK, "POST", space+"/change-requests/"+request["id"].(string)+"/merge", admin, nil)
	shown := h.Want(http.StatusOK, "GET", space, token, nil)
	merged := h.Want(http.StatusOK, "GET", space+"/revisions/"+shown["revision"].(string), token, nil)
	if merged["mergedFrom"] != nil || len(merged["parents"].([]any)) != 0 || len(merged["pages"].([]any)) == 0 {
		t.Errorf("the revision shows %v", merged)
	}
	if shown["changeRequests"] != 0.0 || shown["permissions"].(map[string]any)["comment"] != false || shown["permissions"].(map[string]any)["view"] != true {
		t.Errorf("the space shows %v", shown)
	}
	h.Want(http.StatusOK, "GET", space+"/revisions/"+first, token, nil)
}

// TestSiteTokenMeetsConditions: a part of a site that has a condition is shown only to visitors who meet the condition.
func TestSiteTokenMeetsConditions(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	claims := published(h, h.Ours)
	admin, site := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+claims.Organization+"/sites/"+claims.Site
	beta := h.FreshSpace(h.Ours, "Beta").ID
	added := h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin, map[string]any{"spaceId": beta})
	h.Want(http.StatusOK, "PATCH", site+"/site-spaces/"+added["id"].(string), admin, map[string]any{"condition": "visitor.claims.beta"})
	yes := claims
	yes.Claims = map[string]any{"beta": true}
	for name, test := range map[string]struct {
		token string
		sees  bool
	}{"claims": {siteToken(h, yes), true}, "no claims": {siteToken(h, claims), false}} {
		want := http.StatusNotFound
		if test.sees {
			want = http.StatusOK
		}
		for _, path := range []string{"/v1/spaces/" + beta, "/v1/spaces/" + beta + "/content/pages", site + "/site-spaces/" + added["id"].(string) + "/customization"} {
			if a := h.Do("GET", path, test.token, nil); a.Status != want {
				t.Errorf("%s: %s: %d, want %d", name, path, a.Status, want)
			}
		}
		a := h.Do("GET", site+"/structure", test.token, nil)
		if strings.Contains(string(a.Body), beta) != test.sees || !strings.Contains(string(a.Body), claims.Space) {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
}

// TestForgedSiteTokens changes a valid site token in many ways. The server refuses every changed token.
func TestForgedSiteTokens(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	claims := published(h, h.Ours)
	path, good := "/v1/orgs/"+claims.Organization+"/sites/"+claims.Site, siteToken(h, claims)
	if a := h.Do("GET", path, good, nil); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	parts := strings.Split(good, ".")
	none := "eyJhbGciOiJub25lIn0"
	for name, token := range map[string]string{
		"no signature": parts[0] + "." + parts[1] + ".", "another signature": parts[0] + "." + parts[1] + "." + strings.Repeat("A", 43),
		"no algorithm": none + "." + parts[1] + ".", "no payload": parts[0] + ".." + parts[2], "not JSON": "eyJ.eyJ.eyJ",
		"a changed payload": parts[0] + "." + parts[1][:len(parts[1])-2] + "x." + parts[2],
	} {
		if a := h.Do("GET", path, token, nil); a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	// A forged token can name the key of another week. The server does not look up or create such a key.
	var keys int
	err := h.DB.QueryRow(context.Background(), "select count(*) from site_token_keys").Scan(&keys)
	if err != nil || keys != 1 {
		t.Errorf("%d keys, %v", keys, err)
	}
}
