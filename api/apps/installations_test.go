package apps_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

// configured is the manifest of an integration that needs a configuration. The configuration has `key` and `color` for
// the organization, and `channel` for each space.
const configured = `{"title":"Tool","description":"","script":"x","organization":"%s","visibility":"%s","scopes":["space:metadata:read","openapi:read"],
	"configurations":{"account":{"properties":{"key":{"type":"string"},"color":{"type":"string","enum":["red","blue"],"default":"red"},
		"times":{"type":"number"},"on":{"type":"boolean"},"go":{"type":"button","callback_url":"/","button_text":"Go"}},"required":["key","color","go"]},
	"space":{"properties":{"channel":{"type":"string"}},"required":["channel"]}, "site":{"componentId":"asks-itself"}}}`

// TestInstallationConfiguration: an installation is pending until its configuration has all required members. Unknown
// members and wrong values are refused.
func TestInstallationConfiguration(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.Want(200, "POST", "/v1/integrations/tool", admin, fmt.Sprintf(configured, h.Ours.Organization.ID, "private"))
	made := h.Want(201, "POST", "/v1/integrations/tool/installations", admin, map[string]string{"organization": h.Ours.Organization.ID})
	path := "/v1/integrations/tool/installations/" + made["id"].(string)
	if made["status"] != "pending" || fmt.Sprint(made["scopes"]) != "[space:metadata:read openapi:read]" {
		t.Errorf("%v", made)
	}
	before := h.Rows()
	for _, test := range []struct{ body, field string }{
		{`{"configuration":{"other":"x"}}`, "configuration.other"}, {`{"configuration":{"key":7}}`, "configuration.key"},
		{`{"configuration":{"color":"green"}}`, "configuration.color"}, {`{"configuration":{"times":"7"}}`, "configuration.times"},
		{`{"configuration":{"on":"yes"}}`, "configuration.on"}, {`{"configuration":{"go":true}}`, "configuration.go"},
		{`{"configuration":{"key":"\u0000"}}`, "configuration.key"}, {`{"configuration":{"key":"` + strings.Repeat("x", 70_000) + `"}}`, "configuration"},
		{`{"configuration":{"key":null}}`, "configuration.key"}, {`{"configuration":"x"}`, "configuration"}, {`{"externalIds":["a","b","c","d","e","f"]}`, "externalIds"}, {`{"externalIds":[7]}`, "externalIds[0]"},
		{`{"space_selection":"some"}`, "space_selection"}, {`{"site_selection":"some"}`, "site_selection"}, {`{"status":"pending"}`, "status"},
		{`{"scopes":["openapi:write"]}`, "scopes"}, {`{"scopes":["all"]}`, "scopes[0]"},
	} {
		e := h.WantError(h.Do("PATCH", path, admin, test.body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%.60s: %+v, want %s", test.body, e.Details, test.field)
		}
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
	changed := shape.Want(t, installationShapeWith(t), h.Do("PATCH", path, admin, `{"configuration":{"key":"k","times":2.5,"on":false},"externalIds":["a","b"],"scopes":["openapi:read"],"site_selection":"selected"}`).Body)
	if changed["status"] != "active" || fmt.Sprintf("%v %v %v %v", changed["externalIds"], changed["scopes"], changed["site_selection"], changed["space_selection"]) != "[a b] [openapi:read] selected all" {
		t.Errorf("%v", changed)
	}
	if diff := cmp.Diff(changed, h.Want(200, "GET", path, admin, nil)); diff != "" {
		t.Error(diff)
	}
	// Members who are not admins see the installation without its configuration.
	if seen := h.Want(200, "GET", path, h.Ours.Tokens[schema.RoleRead], nil); len(seen["configuration"].(map[string]any)) != 0 {
		t.Errorf("a member sees %v", seen)
	}
	// A new version that requires more configuration makes the installation pending again.
	h.Want(200, "POST", "/v1/integrations/tool", admin, strings.Replace(fmt.Sprintf(configured, h.Ours.Organization.ID, "private"), `["key",`, `["key","times","on",`, 1))
	h.Want(200, "PATCH", path, admin, `{"configuration":{"key":"k"}}`)
	state := "/v1/orgs/" + h.Ours.Organization.ID + "/integrations/tool/installation_status"
	if got := h.Want(200, "GET", state, h.Ours.Tokens[schema.RoleRead], nil); got["status"] != "pending" {
		t.Errorf("%v", got)
	}
	h.WantError(h.Do("GET", "/v1/orgs/"+h.Ours.Organization.ID+"/integrations/nothing/installation_status", admin, nil), http.StatusNotFound)
}

func installationShapeWith(*testing.T) shape.Of {
	with := shape.Of{}
	for name, check := range installationShape {
		with[name] = check
	}
	with["configuration"] = func(v any) error { _ = v.(map[string]any); return nil }
	return with
}

// TestInstallOnContent installs an integration on spaces and sites, each with its own configuration.
func TestInstallOnContent(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.Want(200, "POST", "/v1/integrations/tool", admin, fmt.Sprintf(configured, h.Ours.Organization.ID, "private"))
	made := h.Want(201, "POST", "/v1/integrations/tool/installations", admin, map[string]string{"organization": h.Ours.Organization.ID})
	path := "/v1/integrations/tool/installations/" + made["id"].(string)
	on := h.Want(201, "POST", path+"/spaces", admin, map[string]string{"space": h.Ours.Space.ID})
	if on["status"] != "pending" || on["space"] != h.Ours.Space.ID {
		t.Errorf("%v", on)
	}
	h.WantError(h.Do("POST", path+"/spaces", admin, map[string]string{"space": h.Ours.Space.ID}), http.StatusConflict)
	for _, nowhere := range []string{"nothing", h.Theirs.Space.ID, h.Ours.Site.ID, "a\x00b"} {
		if a := h.Do("POST", path+"/spaces", admin, map[string]string{"space": nowhere}); a.Status != 404 && a.Status != 400 {
			t.Errorf("%q: %d %s", nowhere, a.Status, a.Body)
		}
	}
	space := path + "/spaces/" + h.Ours.Space.ID
	e := h.WantError(h.Do("PATCH", space, admin, `{"configuration":{"key":"x"}}`), http.StatusBadRequest)
	if e.Details[0].Field != "configuration.key" {
		t.Errorf("%+v", e)
	}
	changed := h.Want(200, "PATCH", space, admin, `{"configuration":{"channel":"C1"},"externalIds":["T1"]}`)
	if changed["status"] != "active" || fmt.Sprint(changed["configuration"], changed["externalIds"]) != "map[channel:C1] [T1]" {
		t.Errorf("%v", changed)
	}
	h.Want(201, "POST", path+"/sites", admin, map[string]string{"siteId": h.Ours.Site.ID})
	// If the manifest names a component, the configuration is not checked, because only the integration knows its form.
	site := h.Want(200, "PATCH", path+"/sites/"+h.Ours.Site.ID, admin, `{"configuration":{"anything":{"a":[1]}}}`)
	if site["status"] != "active" || site["site"] != h.Ours.Site.ID {
		t.Errorf("%v", site)
	}
	var spaces []string
	for range 4 {
		id := h.FreshSpace(h.Ours, "More").ID
		h.Want(201, "POST", path+"/spaces", admin, map[string]string{"space": id})
		spaces = append(spaces, id)
	}
	page := h.Want(200, "GET", path+"/spaces?limit=3", admin, nil)
	next := h.Want(200, "GET", path+"/spaces?limit=3&page="+page["next"].(map[string]any)["page"].(string), admin, nil)
	if len(page["items"].([]any)) != 3 || len(next["items"].([]any)) != 2 || next["next"] != nil || page["count"] != 5.0 {
		t.Errorf("%v %v", page, next)
	}
	if got := h.Want(200, "GET", path+"/sites", h.Ours.Tokens[schema.RoleRead], nil); got["count"] != 1.0 || len(got["items"].([]any)[0].(map[string]any)["configuration"].(map[string]any)) != 0 {
		t.Errorf("%v", got)
	}
	for range 2 {
		h.Want(204, "DELETE", path+"/spaces/"+spaces[0], admin, nil)
	}
	h.WantError(h.Do("GET", path+"/spaces/"+spaces[0], admin, nil), http.StatusNotFound)
	// The deletion of a space deletes the installation on it.
	h.Want(204, "DELETE", "/v1/spaces/"+spaces[1], admin, nil)
	if got := h.Want(200, "GET", path+"/spaces", admin, nil); got["count"] != 3.0 {
		t.Errorf("%v", got)
	}
}

// TestListInstallations lists all installations of an integration, which its publisher may do, and all installations in
// an organization, which its members may do.
func TestListInstallations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, theirs := h.Ours.Tokens[schema.RoleAdmin], h.Theirs.Tokens[schema.RoleAdmin]
	h.Want(200, "POST", "/v1/integrations/tool", admin, fmt.Sprintf(configured, h.Ours.Organization.ID, "public"))
	install := func(token, organization string) string {
		return h.Want(201, "POST", "/v1/integrations/tool/installations", token, map[string]string{"organization": organization})["id"].(string)
	}
	here, there := install(admin, h.Ours.Organization.ID), install(theirs, h.Theirs.Organization.ID)
	h.Installed(h.Theirs, "secret-one")
	if ids := h.IDs("/v1/integrations/tool/installations", admin); fmt.Sprint(ids) != fmt.Sprint([]string{here, there}) {
		t.Errorf("%q", ids)
	}
	h.Want(200, "PATCH", "/v1/integrations/tool/installations/"+there, theirs, `{"externalIds":["T9"],"configuration":{"key":"k"}}`)
	found := h.Want(200, "GET", "/v1/integrations/tool/installations?externalId=T9", admin, nil)
	if found["count"] != 1.0 || found["items"].([]any)[0].(map[string]any)["id"] != there {
		t.Errorf("%v", found)
	}
	h.WantError(h.Do("GET", "/v1/integrations/tool/installations", theirs, nil), http.StatusForbidden)
	names := func(token, query string) string {
		var names []string
		for _, item := range h.Want(200, "GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/installations"+query, token, nil)["items"].([]any) {
			pair := item.(map[string]any)
			names = append(names, pair["integration"].(map[string]any)["name"].(string))
			if pair["installation"].(map[string]any)["target"].(map[string]any)["organization"] != h.Theirs.Organization.ID {
				t.Errorf("%v", pair)
			}
		}
		return strings.Join(names, " ")
	}
	if got := names(h.Theirs.Tokens[schema.RoleRead], ""); got != "tool secret-one" {
		t.Error(got)
	}
	if got := names(theirs, "?search=SECRET"); got != "secret-one" {
		t.Error(got)
	}
	h.WantError(h.Do("GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/installations", admin, nil), http.StatusNotFound)
	// The organization with the installation can uninstall it, and the publisher cannot.
	h.WantError(h.Do("PATCH", "/v1/integrations/tool/installations/"+there, admin, `{"externalIds":[]}`), http.StatusNotFound)
	h.Want(204, "DELETE", "/v1/integrations/tool/installations/"+there, admin, nil)
	h.Want(200, "GET", "/v1/integrations/tool/installations/"+there, theirs, nil)
	h.Want(204, "DELETE", "/v1/integrations/tool/installations/"+there, theirs, nil)
	h.WantError(h.Do("GET", "/v1/integrations/tool/installations/"+there, theirs, nil), http.StatusNotFound)
	install(theirs, h.Theirs.Organization.ID)
}

// TestUnpublish: when an integration is unpublished, its installations, tokens and versions are deleted, and its name
// is free again.
func TestUnpublish(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, theirs := h.Ours.Tokens[schema.RoleAdmin], h.Theirs.Tokens[schema.RoleAdmin]
	body := apitest.PublishBody(h.Ours.Organization.ID)
	body["visibility"] = "public"
	h.Want(200, "POST", "/v1/integrations/gone", admin, body)
	h.Want(201, "POST", "/v1/integrations/gone/installations", theirs, map[string]string{"organization": h.Theirs.Organization.ID})
	h.WantError(h.Do("DELETE", "/v1/integrations/gone", theirs, nil), http.StatusForbidden)
	h.WantError(h.Do("DELETE", "/v1/integrations/gone", h.Ours.Tokens[schema.RoleCreate], nil), http.StatusForbidden)
	for range 2 {
		h.Want(204, "DELETE", "/v1/integrations/gone", admin, nil)
	}
	h.WantError(h.Do("GET", "/v1/integrations/gone", admin, nil), http.StatusNotFound)
	if got := h.Want(200, "GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/installations", theirs, nil); got["count"] != 0.0 {
		t.Errorf("%v", got)
	}
	again := h.Want(200, "POST", "/v1/integrations/gone", theirs, apitest.PublishBody(h.Theirs.Organization.ID))
	if again["version"] != 1.0 {
		t.Errorf("%v", again)
	}
	for i := range 3 {
		h.Want(200, "POST", "/v1/integrations/gone", theirs, strings.Replace(fmt.Sprintf(configured, h.Theirs.Organization.ID, "private"), `"script":"x"`, fmt.Sprintf(`"script":"x%d"`, i), 1))
	}
	versions := h.Want(200, "GET", "/v1/integrations/gone/versions?limit=3", theirs, nil)
	items := versions["items"].([]any)
	first, second := items[0].(map[string]any), items[1].(map[string]any)
	if versions["count"] != 4.0 || first["version"] != 4.0 || second["version"] != 3.0 || first["scriptHash"] == second["scriptHash"] ||
		first["publishedBy"] != h.Theirs.Users[schema.RoleAdmin].ID || first["scriptBytes"] != 2.0 {
		t.Errorf("%v", versions)
	}
	next := h.Want(200, "GET", "/v1/integrations/gone/versions?limit=3&page="+versions["next"].(map[string]any)["page"].(string), theirs, nil)
	if got := next["items"].([]any); len(got) != 1 || got[0].(map[string]any)["version"] != 1.0 || next["next"] != nil {
		t.Errorf("%v", next)
	}
	// Older versions still have their scripts.
	for number, script := range map[string]string{"1": "export {}", "2": "x0", "3": "x1", "4": "x2"} {
		if got := h.Want(200, "GET", "/v1/integrations/gone/versions/"+number, theirs, nil); fmt.Sprint(got["version"]) != number || got["script"] != script || got["scriptHash"] == "" {
			t.Errorf("version %s is %v", number, got)
		}
	}
	h.WantError(h.Do("GET", "/v1/integrations/gone/versions/1", admin, nil), http.StatusNotFound)
	for _, number := range []string{"0", "5", "-1", "x", "4294967297"} {
		h.WantError(h.Do("GET", "/v1/integrations/gone/versions/"+number, theirs, nil), http.StatusNotFound)
	}
	for range 20 {
		h.Want(200, "POST", "/v1/integrations/gone", theirs, apitest.PublishBody(h.Theirs.Organization.ID))
	}
	for number, kept := range map[string]bool{"4": false, "5": true, "24": true} {
		if got := h.Want(200, "GET", "/v1/integrations/gone/versions/"+number, theirs, nil); (got["script"] != nil) != kept {
			t.Errorf("version %s is %v", number, got)
		}
	}
	for _, key := range []string{"x", "0", "-1", "4294967296", "4294967298"} {
		e := h.WantError(h.Do("GET", "/v1/integrations/gone/versions?page="+schema.PageToken("versions of integration gone", key), theirs, nil), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != "page" {
			t.Errorf("%s: %+v", key, e)
		}
	}
}

// TestConversationsOfInstallations: a conversation's source is the installation that ingested it. Conversation ids are
// unique within a source.
func TestConversationsOfInstallations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	installed := h.Installed(h.Ours, "desk", schema.ScopeConversationsIngest)
	token := h.InstallationToken(h.Ours, installed)
	s.Send(said("1", "By mail, I cannot log in."))
	for range 2 {
		h.Want(204, "POST", s.Org+"/conversations", token, said("1", "The invoice is blank."))
	}
	h.RunJobs()
	source := "integration:desk:" + installed["installationId"]
	for query, want := range map[string]string{"": "email " + source, "?source=email": "email", "?source=" + source: source, "?source=integration:desk:x": ""} {
		var sources []string
		for _, c := range apitest.Get[schema.List[schema.Conversation]](s, shape.ListOf(apitest.ConversationShape), "/conversations"+query).Items {
			sources = append(sources, c.Source)
		}
		if got := strings.Join(sources, " "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	h.WantError(h.Do("GET", s.Org+"/conversations", token, nil), http.StatusForbidden)
}
