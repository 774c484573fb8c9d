package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// png is the smallest picture that is one.
var png = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n picture"))

func publishBody(organization string) map[string]any {
	return map[string]any{"title": "Linear", "description": "Issues.", "script": "export {}", "organization": organization}
}

func integrationsExamples() {
	fresh := func(h *harness, tenant *storetest.Tenant) map[string]string {
		name := "i-" + schema.NewID()
		body := publishBody(tenant.Organization.ID)
		body["icon"], body["visibility"] = png, "public"
		a := h.do("POST", "/v1/integrations/"+name, tenant.Tokens[schema.RoleAdmin], body)
		var made schema.Integration
		if err := json.Unmarshal(a.body, &made); err != nil || a.status != 200 {
			h.t.Fatalf("%d %s", a.status, a.body)
		}
		return map[string]string{"integrationName": name, "assetId": made.URLs.Icon[strings.LastIndexByte(made.URLs.Icon, '/')+1:]}
	}
	examples["publishIntegration"] = example{
		body: `{"title":"Linear","description":"Issues.","script":"export {}","organization":"{organizationId}"}`,
		make: func(*harness, *storetest.Tenant) map[string]string {
			return map[string]string{"integrationName": "i-" + schema.NewID()}
		},
	}
	examples["getIntegrationByName"] = example{make: fresh}
	examples["getIntegrationAsset"] = example{make: fresh}
	examples["installIntegration"] = example{body: `{"organization":"{organizationId}"}`, make: fresh}
	examples["getIntegrationInstallationById"] = example{needs: RightAccess, make: func(h *harness, tenant *storetest.Tenant) map[string]string {
		values := fresh(h, tenant)
		a := h.do("POST", "/v1/integrations/"+values["integrationName"]+"/installations", tenant.Tokens[schema.RoleAdmin],
			map[string]string{"organization": tenant.Organization.ID})
		var made schema.IntegrationInstallation
		if err := json.Unmarshal(a.body, &made); err != nil || a.status != 201 {
			h.t.Fatalf("%d %s", a.status, a.body)
		}
		values["installationId"] = made.ID
		return values
	}}
}

var (
	configurationShape = either(object(shape{"componentId": aString}), object(shape{
		"required?": list(aString), "properties": func(v any) error {
			for _, property := range v.(map[string]any) {
				err := checkShape(shape{"type": one("string", "number", "boolean", "button"), "title?": text(0, 30), "description?": text(0, 100),
					"default?": func(any) error { return nil }, "completion_url?": aString, "enum?": list(aString), "callback_url?": aString,
					"button_text?": aString}, property)
				if err != nil {
					return err
				}
			}
			return nil
		}}))
	integrationShape = shape{
		"object": one("integration"), "name": text(1, 100), "version": count, "title": text(2, 30), "description": text(0, 100),
		"summary?": text(0, 2048), "runtime": one("v1", "v2"), "previewImages": list(uri),
		"target": one("all", "site", "space", "organization"), "verified": boolean, "visibility": one("public", "private", "unlisted"),
		"scopes": list(aString), "categories": list(aString), "externalLinks": list(object(shape{"url": aString, "label": aString})),
		"blocks?": list(object(shape{"id": aString, "title": text(2, 40), "description?": text(0, 150), "icon?": aString,
			"urlUnfurl?": list(aString), "markdown?": object(shape{"codeblock": aString, "body": aString})})),
		"contentSources?": list(object(shape{"id": aString, "title": text(2, 40), "description?": text(0, 150), "icon?": aString,
			"configuration": object(shape{"componentId": aString})})),
		"configurations?":        object(shape{"account?": configurationShape, "space?": configurationShape, "site?": configurationShape}),
		"contentSecurityPolicy?": either(aString, func(v any) error { _ = v.(map[string]any); return nil }),
		"owner":                  object(organizationShape), "permissions": booleans("admin"),
		"urls": object(shape{"location": uri, "app": uri, "assets": uri, "publicEndpoint": uri, "icon?": uri}),
	}
	installationShape = shape{
		"id": id, "integration": text(1, 100), "status": one("active", "pending", "paused"), "space_selection": one("all", "selected"),
		"site_selection": one("all", "selected"), "spaces": count, "configuration": object(shape{}), "createdAt": timestamp,
		"updatedAt": timestamp, "urls": object(shape{"location": uri, "app": uri, "publicEndpoint": uri}), "externalIds": list(aString),
		"target": object(shape{"organization": id}),
	}
)

const fullIntegration = `{"title":"Linear","description":"","summary":"# Hi","runtime":"v2","visibility":"public","target":"space",
	"scopes":["space:content:read"],"categories":["collaboration"],"script":"export {}","organization":"%s","icon":"%s",
	"previewImages":["%s"],"secrets":{"TOKEN":"s3cr3t-value"},"externalLinks":[{"url":"https://a.example","label":"Site"}],
	"blocks":[{"id":"b","title":"Issue","urlUnfurl":["https://linear.app/**","https://*.Linear.dev/x"],"markdown":{"codeblock":"l","body":"content"}}],
	"contentSources":[{"id":"c","title":"Source","configuration":{"componentId":"x"}}],
	"configurations":{"account":{"properties":{"key":{"type":"string","title":"Key","default":"a","enum":["a","b"]},
		"go":{"type":"button","callback_url":"/go","button_text":"Go"}},"required":["key"]},"space":{"componentId":"conf"}},
	"contentSecurityPolicy":{"default-src":"'self'"}}`

func TestPublishIntegration(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, stranger := h.ours.Tokens[schema.RoleAdmin], h.theirs.Tokens[schema.RoleAdmin]
	a := h.do("POST", "/v1/integrations/linear.app_1", admin, fmt.Sprintf(fullIntegration, h.ours.Organization.ID, png, png))
	made := wantShape(t, integrationShape, a.body)
	var sent map[string]any
	if err := json.Unmarshal([]byte(fullIntegration), &sent); err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"script", "organization", "secrets", "icon", "previewImages"} {
		delete(sent, hidden)
	}
	for member, want := range sent {
		if diff := cmp.Diff(want, made[member]); diff != "" {
			t.Errorf("%s: %s", member, diff)
		}
	}
	if a.status != 200 || made["version"] != 1.0 || strings.Contains(string(a.body), "s3cr3t") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if diff := cmp.Diff(made, wantShape(t, integrationShape, h.do("GET", "/v1/integrations/linear.app_1", admin, nil).body)); diff != "" {
		t.Error(diff)
	}
	// The next version replaces all of it.
	second := wantShape(t, integrationShape, h.do("POST", "/v1/integrations/linear.app_1", admin, publishBody(h.ours.Organization.ID)).body)
	if second["version"] != 2.0 || second["visibility"] != "private" || second["target"] != "all" || second["blocks"] != nil {
		t.Errorf("%v", second)
	}
	h.wantError(h.do("GET", "/v1/integrations/linear.app_1", stranger, nil), http.StatusNotFound)
	// The name is taken, for good. That it is private says as little as one that is nobody's.
	e := h.wantError(h.do("POST", "/v1/integrations/linear.app_1", stranger, publishBody(h.theirs.Organization.ID)), http.StatusNotFound)
	if e.Message != "integration not found" {
		t.Error(e.Message)
	}
	unlisted := publishBody(h.ours.Organization.ID)
	unlisted["visibility"] = "unlisted"
	h.want(200, "POST", "/v1/integrations/linear.app_1", admin, unlisted)
	h.wantError(h.do("POST", "/v1/integrations/linear.app_1", stranger, publishBody(h.theirs.Organization.ID)), http.StatusForbidden)
	// Another tenant's organization is as unknown as one that is nobody's.
	for _, organization := range []string{h.theirs.Organization.ID, "nobody"} {
		h.wantError(h.do("POST", "/v1/integrations/other", admin, publishBody(organization)), http.StatusNotFound)
	}
	h.wantError(h.do("GET", "/v1/integrations/nothing", admin, nil), http.StatusNotFound)
	secrets, err := h.st.IntegrationSecrets(t.Context(), "linear.app_1")
	if err != nil || secrets != nil {
		t.Errorf("the secrets of an old version are kept: %v %v", secrets, err)
	}
}

func TestIntegrationSecretsAreSealed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := publishBody(h.ours.Organization.ID)
	body["secrets"] = map[string]string{"TOKEN": "s3cr3t-value"}
	a := h.do("POST", "/v1/integrations/sealed", h.ours.Tokens[schema.RoleAdmin], body)
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	secrets, err := h.st.IntegrationSecrets(t.Context(), "sealed")
	if err != nil || secrets["TOKEN"] != "s3cr3t-value" {
		t.Errorf("%v %v", secrets, err)
	}
	h.exec(`do $$ begin assert not exists (select 1 from integrations i where i::text like '%s3cr3t%'
		or encode(secrets, 'escape') like '%s3cr3t%'), 'a secret is in clear'; end $$`)
	if strings.Contains(h.log.String(), "s3cr3t") {
		t.Error("a secret is in the log")
	}
}

// TestPublishersTogether publishes one name many times at once: every publisher gets a version of its own.
func TestPublishersTogether(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var mu sync.Mutex
	var versions []int32
	var wait sync.WaitGroup
	for range 12 {
		wait.Go(func() {
			a := h.do("POST", "/v1/integrations/busy", h.ours.Tokens[schema.RoleAdmin], publishBody(h.ours.Organization.ID))
			var got schema.Integration
			if err := json.Unmarshal(a.body, &got); err != nil || a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
			mu.Lock()
			defer mu.Unlock()
			versions = append(versions, got.Version)
		})
	}
	wait.Wait()
	slices.Sort(versions)
	for i, version := range versions {
		if version != int32(i+1) {
			t.Fatalf("versions %v", versions)
		}
	}
}

func TestIntegrationPictures(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := publishBody(h.ours.Organization.ID)
	body["icon"], body["previewImages"] = png, []string{png, base64.StdEncoding.EncodeToString([]byte("GIF89a other"))}
	made := wantShape(t, integrationShape, h.do("POST", "/v1/integrations/pictures", h.ours.Tokens[schema.RoleAdmin], body).body)
	icon := made["urls"].(map[string]any)["icon"].(string)
	images := made["previewImages"].([]any)
	if len(images) != 2 || images[0] != icon || images[1] == icon {
		t.Fatalf("%v, icon %s", images, icon)
	}
	path, _ := strings.CutPrefix(icon, "https://docs.example.com/base")
	a := h.do("GET", path, "", nil)
	want, _ := base64.StdEncoding.DecodeString(png)
	if a.status != 200 || string(a.body) != string(want) || a.header.Get("Content-Type") != "image/png" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v %q", a.status, a.header, a.body)
	}
	// A version without them takes them away.
	h.do("POST", "/v1/integrations/pictures", h.ours.Tokens[schema.RoleAdmin], publishBody(h.ours.Organization.ID))
	h.wantError(h.do("GET", path, "", nil), http.StatusNotFound)
}

func TestListIntegrations(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	publish := func(name, more string) {
		t.Helper()
		body := publishBody(h.ours.Organization.ID)
		body["visibility"] = "public"
		if err := json.Unmarshal([]byte(more), &body); err != nil {
			t.Fatal(err)
		}
		if a := h.do("POST", "/v1/integrations/"+name, admin, body); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	publish("alpha", `{"title":"First","categories":["analytics","other"],"scopes":["openapi:read"],"target":"site"}`)
	publish("beta", `{"blocks":[{"id":"b","title":"Bl","urlUnfurl":["https://figma.com/**","https://*.figma.dev/**","https://*.my_figma.dev/**"]}]}`)
	publish("gamma", `{"contentSources":[{"id":"c","title":"So","configuration":{"componentId":"x"}}],"target":"space"}`)
	publish("hidden", `{"visibility":"private"}`)
	publish("unlisted", `{"visibility":"unlisted"}`)
	for query, want := range map[string]string{
		"": "alpha beta gamma", "search=ET": "beta", "search=first": "alpha", "search=%25": "", "category=other": "alpha", "category=content": "",
		"scope=openapi:read": "alpha", "target=site": "alpha", "target=all": "beta", "blocks=true": "beta", "blocks=false": "alpha gamma",
		"contentSources=true": "gamma", "contentSources=false": "alpha beta", "blockDomain=figma.com": "beta", "blockDomain=WWW.figma.dev": "beta",
		"blockDomain=figma.dev": "", "blockDomain=a.my_figma.dev": "beta", "blockDomain=a.my-figma.dev": "", "blockDomain=v": "", "blockDomain=www.figma.com": "", "owner=" + h.ours.Organization.ID: "alpha beta gamma",
		"owner=" + h.theirs.Organization.ID: "", "blocks=false&contentSources=false": "alpha",
	} {
		for _, token := range []string{admin, h.theirs.Tokens[schema.RoleRead]} {
			page := wantShape(t, listShape(integrationShape), h.do("GET", "/v1/integrations?"+query, token, nil).body)
			var names []string
			for _, item := range page["items"].([]any) {
				names = append(names, item.(map[string]any)["name"].(string))
			}
			if got := strings.Join(names, " "); got != want || page["count"] != float64(len(names)) {
				t.Errorf("%q: %q, count %v, want %q", query, got, page["count"], want)
			}
		}
	}
	first := wantShape(t, listShape(integrationShape), h.do("GET", "/v1/integrations?limit=2", admin, nil).body)
	next := first["next"].(map[string]any)["page"].(string)
	second := wantShape(t, listShape(integrationShape), h.do("GET", "/v1/integrations?limit=2&page="+next, admin, nil).body)
	if items := second["items"].([]any); len(items) != 1 || items[0].(map[string]any)["name"] != "gamma" || second["next"] != nil {
		t.Errorf("%v", second)
	}
	h.wantError(h.do("GET", "/v1/integrations?target=site&page="+next, admin, nil), http.StatusBadRequest)
	for _, bad := range []string{"category=fun", "scope=all", "target=moon", "blocks=1", "blockDomain=a/b", "blockDomain=" + strings.Repeat("a", 101)} {
		h.wantError(h.do("GET", "/v1/integrations?"+bad, admin, nil), http.StatusBadRequest)
	}
	if a := h.do("GET", "/v1/integrations/unlisted", h.theirs.Tokens[schema.RoleRead], nil); a.status != 200 {
		t.Errorf("unlisted: %d", a.status)
	}
}

// TestOwnerAsTheCallerSeesIt compares a member's view of the owner with a stranger's.
func TestOwnerAsTheCallerSeesIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := publishBody(h.ours.Organization.ID)
	body["visibility"] = "public"
	h.do("POST", "/v1/integrations/seen", h.ours.Tokens[schema.RoleAdmin], body)
	h.exec("update organizations set email_domains = '{secret.example}', invite_links = true, default_role = 'read' where id = $1", h.ours.Organization.ID)
	for token, admin := range map[string]bool{
		h.ours.Tokens[schema.RoleAdmin]: true, h.ours.Tokens[schema.RoleRead]: false, h.theirs.Tokens[schema.RoleAdmin]: false,
	} {
		got := wantShape(t, integrationShape, h.do("GET", "/v1/integrations/seen", token, nil).body)
		if got["permissions"].(map[string]any)["admin"] != admin {
			t.Errorf("permissions %v, want %t", got["permissions"], admin)
		}
		owner, err := json.Marshal(got["owner"])
		if err != nil {
			t.Fatal(err)
		}
		if token == h.theirs.Tokens[schema.RoleAdmin] {
			if strings.Contains(string(owner), "secret.example") || strings.Contains(string(owner), "true") {
				t.Errorf("a stranger learns %s", owner)
			}
			continue
		}
		var own any
		if err := json.Unmarshal(h.do("GET", "/v1/orgs/"+h.ours.Organization.ID, token, nil).body, &own); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(own, got["owner"]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestInstallIntegration(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := publishBody(h.ours.Organization.ID)
	body["visibility"] = "unlisted"
	h.do("POST", "/v1/integrations/tool", h.ours.Tokens[schema.RoleAdmin], body)
	h.do("POST", "/v1/integrations/own", h.ours.Tokens[schema.RoleAdmin], publishBody(h.ours.Organization.ID))
	target := map[string]string{"organization": h.theirs.Organization.ID}
	admin := h.theirs.Tokens[schema.RoleAdmin]
	a := h.do("POST", "/v1/integrations/tool/installations", admin, target)
	made := wantShape(t, installationShape, a.body)
	location, _ := strings.CutPrefix(a.header.Get("Location"), "https://docs.example.com/base")
	if a.status != 201 || made["spaces"] != 1.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if diff := cmp.Diff(made, wantShape(t, installationShape, h.do("GET", location, h.theirs.Tokens[schema.RoleRead], nil).body)); diff != "" {
		t.Error(diff)
	}
	h.wantError(h.do("GET", location, h.ours.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	h.wantError(h.do("POST", "/v1/integrations/tool/installations", admin, target), http.StatusConflict)
	h.wantError(h.do("POST", "/v1/integrations/tool/installations", h.theirs.Tokens[schema.RoleEdit], target), http.StatusForbidden)
	h.wantError(h.do("POST", "/v1/integrations/own/installations", admin, target), http.StatusNotFound)
	h.wantError(h.do("POST", "/v1/integrations/nothing/installations", admin, target), http.StatusNotFound)
	h.wantError(h.do("POST", "/v1/integrations/tool/installations", admin, map[string]string{"organization": h.ours.Organization.ID}), http.StatusNotFound)
	// Someone in both organizations may not carry a private one over.
	if err := h.st.SetMember(t.Context(), h.theirs.Organization.ID, h.ours.Users[schema.RoleAdmin].ID, schema.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	h.wantError(h.do("POST", "/v1/integrations/own/installations", h.ours.Tokens[schema.RoleAdmin], target), http.StatusForbidden)
}

func TestBadIntegration(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	before := h.rows()
	for _, test := range []struct{ member, field string }{
		{`"title":null`, "title"}, {`"title":"x"`, "title"}, {`"title":"` + strings.Repeat("x", 31) + `"`, "title"},
		{`"description":"` + strings.Repeat("x", 101) + `"`, "description"}, {`"script":""`, "script"}, {`"organization":null`, "organization"},
		{`"scopes":["all"]`, "scopes[0]"}, {`"categories":["fun"]`, "categories[0]"}, {`"visibility":"secret"`, "visibility"},
		{`"target":"moon"`, "target"}, {`"runtime":"v3"`, "runtime"}, {`"icon":"aGVsbG8="`, "icon"}, {`"icon":"%%%"`, "icon"},
		{`"previewImages":["` + png + `","` + png + `","` + png + `","` + png + `"]`, "previewImages"}, {`"previewImages":["x"]`, "previewImages[0]"},
		{`"blocks":[{"id":"b"}]`, "blocks[0].title"}, {`"blocks":[{"id":"b","title":"Bl","markdown":{"body":"x"}}]`, "blocks[0].markdown.codeblock"},
		{`"contentSources":[{"id":"c","title":"So"}]`, "contentSources[0].configuration"},
		{`"externalLinks":[{"url":"javascript:1","label":"x"}]`, "externalLinks[0].url"},
		{`"configurations":{"account":{"componentId":"x","properties":{}}}`, "configurations.account"},
		{`"configurations":{"space":{"properties":{"a":{"type":"moon"}}}}`, "configurations.space.properties.a.type"},
		{`"configurations":{"space":{"properties":{"a":{"type":"number","default":"x"}}}}`, "configurations.space.properties.a.default"},
		{`"configurations":{"space":{"properties":{"a":{"type":"string","default":"\u0000"}}}}`, "configurations.space.properties.a.default"},
		{`"configurations":{"space":{"properties":{"a":{"type":"button","button_text":"x"}}}}`, "configurations.space.properties.a.callback_url"},
		{`"configurations":{"site":{"properties":{},"required":["a"]}}`, "configurations.site.required[0]"},
		{`"contentSecurityPolicy":"a\r\nSet-Cookie: x"`, "contentSecurityPolicy"}, {`"contentSecurityPolicy":{"Bad":"x"}`, "contentSecurityPolicy.Bad"},
		{`"contentSecurityPolicy":7`, "contentSecurityPolicy"}, {`"secrets":{"":"x"}`, "secrets"}, {`"secrets":["x"]`, "secrets"},
	} {
		body := publishBody(h.ours.Organization.ID)
		if err := json.Unmarshal([]byte("{"+test.member+"}"), &body); err != nil {
			t.Fatal(err)
		}
		e := h.wantError(h.do("POST", "/v1/integrations/bad", admin, body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s: %+v, want %s", test.member, e.Details, test.field)
		}
	}
	for _, name := range []string{"a%20b", "ä", strings.Repeat("a", 101)} {
		e := h.wantError(h.do("POST", "/v1/integrations/"+name, admin, publishBody(h.ours.Organization.ID)), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != "integrationName" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if diff := cmp.Diff(before, h.rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}
