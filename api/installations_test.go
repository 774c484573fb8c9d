package api_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// installationsMay lists the operations that each scope allows. The test compares this list with the table of
// operations, and so finds an operation that names a wrong scope.
var installationsMay = map[string][]string{
	schema.ScopeSpaceContentRead: {
		"getChangeRequestById", "getChangeRequestChanges", "getCurrentRevision", "getDocumentById", "getPageById", "getPageByPath",
		"getPageDocumentInRevisionById", "getPageInChangeRequestById", "getPageInChangeRequestByPath", "getPageInRevisionById",
		"getPageInRevisionByPath", "getRevisionById", "getRevisionOfChangeRequestById", "getRevisionSemanticChanges",
		"listChangeRequestConflicts", "listChangeRequestPageMetaLinks", "listChangeRequestsForSpace", "listPages", "listPagesInChangeRequest",
		"listPagesInRevisionById", "listRevisionPageMetaLinks", "listSpacePageMetaLinks", "searchSpaceContent",
	},
	schema.ScopeSpaceContentWrite: {
		"createChangeRequest", "mergeChangeRequest", "resolveChangeRequestConflict", "updateChangeRequest", "updateChangeRequestById",
		"updateChangeRequestContent",
	},
	schema.ScopeSpaceMetadataRead:  {"getSpaceById"},
	schema.ScopeSpaceMetadataWrite: {"updateSpaceById"},
	schema.ScopeSpaceGitSync: {
		"cancelGitOperation", "exportToGitRepository", "getSpaceGitInfo", "importGitRepository", "listGitOperations",
	},
	schema.ScopeSiteMetadataRead: {
		"getPublishedContentSite", "getSiteById", "getSiteCustomizationById", "getSiteRedirectBySource", "getSiteSpaceCustomizationById",
		"getSiteStructure", "listSiteRedirects", "listSiteSectionGroups", "listSiteSections", "listSiteSpaces",
	},
	schema.ScopeSiteViewsRead: {
		"aggregateSiteEvents", "getSiteAnnotation", "getSiteEventsFunnel", "getSiteEventsRetention",
		"getSiteEventsTransitions",
		"getSiteInsightsAccess", "getSiteInsightsSettings", "getSiteLiveInsights", "listSiteAnnotations",
		"listSiteInsightsPages",
		"listSiteVisitorSegments", "querySiteInsights",
	},
	schema.ScopeOpenAPIRead: {
		"getLatestOpenAPISpecVersion", "getLatestOpenAPISpecVersionContent", "getOpenAPISpecBySlug",
		"getOpenAPISpecVersionById", "getOpenAPISpecVersionContentById", "listOpenAPISpecVersions", "listOpenAPISpecs",
	},
	schema.ScopeOpenAPIWrite:        {"createOpenAPISpec", "createOrUpdateOpenAPISpecBySlug", "deleteOpenAPISpecBySlug"},
	schema.ScopeConversationsIngest: {"ingestConversation"},
	schema.ScopeInstallation: {
		"getIntegrationInstallationById", "getIntegrationSiteInstallation", "getIntegrationSpaceInstallation", "listIntegrationInstallationSites",
		"listIntegrationInstallationSpaces", "updateIntegrationInstallation", "updateIntegrationSiteInstallation", "updateIntegrationSpaceInstallation",
	},
}

// TestScopesOpenTheirOperations calls every operation with installations' tokens of different scopes. A token with a
// scope may call the operations whose rows name the scope, on the installation's spaces and sites. Other operations and
// objects of other tenants or installations are refused.
func TestScopesOpenTheirOperations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	token := func(scopes ...string) string {
		return h.InstallationToken(h.Ours, h.Installed(h.Ours, "i-"+schema.NewID(), scopes...))
	}
	tokens := map[string]string{}
	for _, scope := range schema.IntegrationScopes() {
		tokens[scope.Name] = token(scope.Name)
	}
	none := token()
	opened := map[string][]string{}
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		path, body := h.Example(op, h.Ours)
		for scope, token := range tokens {
			if scope == op.Scope.Installation || op.Scope.Installation == schema.ScopeInstallation {
				continue
			}
			if a := h.Do(op.Method, path, token, body); a.Status != http.StatusForbidden {
				t.Errorf("with %s: %d %s", scope, a.Status, a.Body)
			}
		}
		switch op.Scope.Installation {
		case "":
			h.WantError(h.Do(op.Method, path, none, body), http.StatusForbidden)
			return
		case schema.ScopeInstallation:
			// The token may not use installations of other integrations or in other organizations.
			h.WantError(h.Do(op.Method, path, none, body), http.StatusNotFound)
			h.WantError(h.Try(op, h.Theirs, none), http.StatusNotFound)
		default:
			h.WantError(h.Do(op.Method, path, none, body), http.StatusForbidden)
			token := tokens[op.Scope.Installation]
			if a := h.Do(op.Method, path, token, body); a.Status != op.Status && a.Status != http.StatusCreated {
				t.Errorf("with the scope: %d %s, want %d", a.Status, a.Body, op.Status)
			}
			foreign, unknown := h.Try(op, h.Theirs, token), h.Try(op, apitest.Ghost(), token)
			h.WantError(foreign, http.StatusNotFound)
			if string(foreign.Body) != string(unknown.Body) {
				t.Errorf("foreign %s, unknown %s", foreign.Body, unknown.Body)
			}
		}
		opened[op.Scope.Installation] = append(opened[op.Scope.Installation], op.ID)
	})
	if !all {
		return
	}
	for _, scope := range append(schema.IntegrationScopes(), schema.IntegrationScope{Name: schema.ScopeInstallation}) {
		got, want := slices.Sorted(slices.Values(opened[scope.Name])), slices.Sorted(slices.Values(installationsMay[scope.Name]))
		if !slices.Equal(got, want) || scope.OpensNothing != (len(want) == 0) {
			t.Errorf("%s opens %q, want %q", scope.Name, got, want)
		}
	}
}

// TestInstallationsSendTheirMembersOnly calls each operation that changes an object and that an installation may call.
// With the installation's token or the integration's token, the body may have only the members that the row lists.
func TestInstallationsSendTheirMembersOnly(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	h.Want(
		200,
		"PATCH",
		space,
		admin,
		`{"mergeRules":{"type":"rules","rules":[{"rule":"require_at_least_one_approved_review"}]}}`,
	)
	var scopes []string
	for _, scope := range schema.IntegrationScopes() {
		scopes = append(scopes, scope.Name)
	}
	everything := h.InstallationToken(h.Ours, h.Installed(h.Ours, "everything", scopes...))
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Installation == "" || op.Method != http.MethodPatch {
			return
		}
		if op.Scope.Members == nil {
			t.Fatal("the row does not say which members an installation may send")
		}
		body, _ := op.Handler.Request.FieldByName("Body")
		members := []string{"visibility", "permissions"} // The bodies of other versions have these names.
		for _, field := range reflect.VisibleFields(body.Type) {
			members = append(members, rules.MemberName(field))
		}
		for _, allowed := range op.Scope.Members {
			if !slices.Contains(members, allowed) {
				t.Errorf("the body has no %s", allowed)
			}
		}
		for _, member := range members {
			if slices.Contains(op.Scope.Members, member) {
				continue
			}
			for _, value := range []any{nil, "x", true, map[string]any{}} {
				path, _ := h.Example(op, h.Ours)
				token := everything
				if op.Scope.Installation == schema.ScopeInstallation { // The example creates its own installation.
					parts := strings.Split(path, "/")
					token = h.InstallationToken(
						h.Ours,
						map[string]string{"integrationName": parts[3], "installationId": parts[5]},
					)
				}
				a := h.Do(op.Method, path, token, map[string]any{member: value})
				if a.Status == http.StatusBadRequest && value != nil { // The member has another type than this value.
					continue
				}
				if h.WantError(a, http.StatusForbidden); !strings.Contains(string(a.Body), member) {
					t.Errorf("%s: %s", member, a.Body)
				}
			}
		}
	})
	before := h.Want(200, "GET", space, admin, nil)
	for member, value := range map[string]any{
		"mergeRules": map[string]string{"type": "none"}, "defaultLevel": "admin", "editMode": "locked",
		"visibility": "public",
	} {
		a := h.Do("PATCH", space, everything, map[string]any{"title": "Taken over", member: value})
		if h.WantError(a, http.StatusForbidden); !strings.Contains(string(a.Body), member) {
			t.Errorf("%s: %s", member, a.Body)
		}
	}
	if after := h.Want(200, "GET", space, admin, nil); !reflect.DeepEqual(before, after) {
		t.Errorf("%v, before %v", after, before)
	}
	for _, body := range []string{
		`{"title":"Renamed","emoji":"1f600"}`, `{"icon":"https://example.com/icon.png"}`, `{"language":"de"}`,
	} {
		h.Want(200, "PATCH", space, everything, body)
	}
}

// TestInstallationIsForWhatIsSelected: a token may use the spaces and sites that an admin has selected for the
// installation. A change of the selection has effect at once.
func TestInstallationIsForWhatIsSelected(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	installed := h.Installed(h.Ours, "picky", schema.ScopeSpaceMetadataRead, schema.ScopeSiteMetadataRead, schema.ScopeSiteViewsRead)
	path := "/v1/integrations/picky/installations/" + installed["installationId"]
	token, other := h.InstallationToken(h.Ours, installed), h.FreshSpace(h.Ours, "Other").ID
	site := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID
	expect := func(when string, space, fresh, siteWant int) {
		t.Helper()
		for path, want := range map[string]int{
			"/v1/spaces/" + h.Ours.Space.ID: space, "/v1/spaces/" + other: fresh, site: siteWant, site + "/insights/visitor-segments": siteWant,
			"/v1/spaces/" + h.Theirs.Space.ID: http.StatusNotFound,
		} {
			if a := h.Do("GET", path, token, nil); a.Status != want {
				t.Errorf("%s: %s: %d %s, want %d", when, path, a.Status, a.Body, want)
			}
		}
	}
	expect("all", 200, 200, 200)
	h.Want(200, "PATCH", path, admin, `{"space_selection":"selected","site_selection":"selected"}`)
	expect("none selected", 404, 404, 404)
	h.Want(201, "POST", path+"/spaces", admin, map[string]string{"space": other})
	h.Want(201, "POST", path+"/sites", admin, map[string]string{"siteId": h.Ours.Site.ID})
	expect("one of each", 404, 200, 200)
	if got := h.Want(200, "GET", path, admin, nil); got["spaces"] != 1.0 {
		t.Errorf("%v", got)
	}
	h.Want(204, "DELETE", path+"/spaces/"+other, admin, nil)
	expect("a site", 404, 404, 200)
	h.Want(200, "PATCH", path, admin, `{"space_selection":"all","status":"paused"}`)
	expect("paused", 404, 404, 404) // The node caches tokens for a short time, but not selections.
	h.WantError(h.Do("POST", path+"/tokens", admin, nil), http.StatusConflict)
	h.Want(200, "PATCH", path, admin, `{"status":"active"}`)
	expect("active again", 200, 200, 200)
}

// TestInstallationTokensEnd: a token becomes invalid when it expires, when its installation or integration is deleted,
// when the installation is paused, and when its scope is revoked.
func TestInstallationTokensEnd(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.AuthTTL = time.Nanosecond })
	admin := h.Ours.Tokens[schema.RoleAdmin]
	space := "/v1/spaces/" + h.Ours.Space.ID
	status := func(token string) int { return h.Do("GET", space, token, nil).Status }
	for name, test := range map[string]struct {
		end  func(path string, installed map[string]string)
		want int
	}{
		"uninstalled": {func(path string, _ map[string]string) { h.Want(204, "DELETE", path, admin, nil) }, 401},
		"unpublished": {func(_ string, i map[string]string) {
			h.Want(204, "DELETE", "/v1/integrations/"+i["integrationName"], admin, nil)
		}, 401},
		"paused": {func(path string, _ map[string]string) { h.Want(200, "PATCH", path, admin, `{"status":"paused"}`) }, 401},
		"not asked": {func(_ string, i map[string]string) {
			h.Want(200, "POST", "/v1/integrations/"+i["integrationName"], admin, apitest.PublishBody(h.Ours.Organization.ID))
		}, 403},
		"taken back": {func(path string, _ map[string]string) { h.Want(200, "PATCH", path, admin, `{"scopes":[]}`) }, 403},
		"expired": {func(_ string, i map[string]string) {
			h.Exec("update integration_tokens set expires_at = now() where installation_id = $1", i["installationId"])
		}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			installed := h.Installed(h.Ours, "i-"+schema.NewID(), schema.ScopeSpaceMetadataRead)
			token := h.InstallationToken(h.Ours, installed)
			if got := status(token); got != 200 {
				t.Fatal(got)
			}
			test.end("/v1/integrations/"+installed["integrationName"]+"/installations/"+installed["installationId"], installed)
			if got := status(token); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

// TestDeletedOrganizationHasNoInstallations: deleting an organization ends the tokens of integrations that it has
// installed from other organizations.
func TestDeletedOrganizationHasNoInstallations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.AuthTTL = time.Nanosecond })
	body := apitest.PublishBody(h.Theirs.Organization.ID)
	body["visibility"], body["scopes"] = "public", []string{schema.ScopeSpaceMetadataRead}
	publisher := h.Theirs.Tokens[schema.RoleAdmin]
	h.Want(200, "POST", "/v1/integrations/theirs", publisher, body)
	made := h.Want(201, "POST", "/v1/integrations/theirs/installations", h.Ours.Tokens[schema.RoleAdmin], map[string]string{"organization": h.Ours.Organization.ID})
	path := "/v1/integrations/theirs/installations/" + made["id"].(string)
	// The organization that has installed the integration cannot create tokens. Only the integration's own organization
	// can.
	h.WantError(h.Do("POST", path+"/tokens", h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusForbidden)
	token := h.Want(200, "POST", path+"/tokens", publisher, nil)["token"].(string)
	space := "/v1/spaces/" + h.Ours.Space.ID
	h.Want(200, "GET", space, token, nil)
	h.Want(204, "DELETE", "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin], nil)
	h.WantError(h.Do("GET", space, token, nil), http.StatusUnauthorized)
	h.WantError(h.Do("POST", path+"/tokens", publisher, nil), http.StatusNotFound)
}
