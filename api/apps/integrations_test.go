package apps_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var (
	configurationShape = shape.Either(shape.Object(shape.Of{"componentId": shape.String}), shape.Object(shape.Of{
		"required?": shape.List(shape.String), "properties": func(v any) error {
			for _, property := range v.(map[string]any) {
				err := shape.Check(shape.Of{"type": shape.One("string", "number", "boolean", "button"), "title?": shape.Text(0, 30), "description?": shape.Text(0, 100),
					"default?": func(any) error { return nil }, "completion_url?": shape.String, "enum?": shape.List(shape.String), "callback_url?": shape.String,
					"button_text?": shape.String}, property)
				if err != nil {
					return err
				}
			}
			return nil
		}}))
	integrationShape = shape.Of{
		"object": shape.One("integration"), "name": shape.Text(1, 100), "version": shape.Count, "title": shape.Text(2, 30), "description": shape.Text(0, 100),
		"summary?": shape.Text(0, 2048), "runtime": shape.One("v1", "v2"), "previewImages": shape.List(shape.URI),
		"target": shape.One("all", "site", "space", "organization"), "verified": shape.Boolean, "visibility": shape.One("public", "private", "unlisted"),
		"scopes": shape.List(shape.String), "categories": shape.List(shape.String), "externalLinks": shape.List(shape.Object(shape.Of{"url": shape.String, "label": shape.String})),
		"blocks?": shape.List(shape.Object(shape.Of{"id": shape.String, "title": shape.Text(2, 40), "description?": shape.Text(0, 150), "icon?": shape.String,
			"urlUnfurl?": shape.List(shape.String), "markdown?": shape.Object(shape.Of{"codeblock": shape.String, "body": shape.String})})),
		"contentSources?": shape.List(shape.Object(shape.Of{"id": shape.String, "title": shape.Text(2, 40), "description?": shape.Text(0, 150), "icon?": shape.String,
			"configuration": shape.Object(shape.Of{"componentId": shape.String})})),
		"configurations?":        shape.Object(shape.Of{"account?": configurationShape, "space?": configurationShape, "site?": configurationShape}),
		"contentSecurityPolicy?": shape.Either(shape.String, func(v any) error { _ = v.(map[string]any); return nil }),
		"owner":                  shape.Object(shape.Organization), "permissions": shape.Booleans("admin"),
		"urls": shape.Object(shape.Of{"location": shape.URI, "app": shape.URI, "assets": shape.URI, "publicEndpoint": shape.URI, "icon?": shape.URI}),
	}
	installationShape = shape.Of{
		"id": shape.ID, "integration": shape.Text(1, 100), "status": shape.One("active", "pending", "paused"), "space_selection": shape.One("all", "selected"),
		"site_selection": shape.One("all", "selected"), "spaces": shape.Count, "scopes": shape.List(shape.String), "configuration": shape.Object(shape.Of{}), "createdAt": shape.Timestamp,
		"updatedAt": shape.Timestamp, "urls": shape.Object(shape.Of{"location": shape.URI, "app": shape.URI, "publicEndpoint": shape.URI}), "externalIds": shape.List(shape.String),
		"target": shape.Object(shape.Of{"organization": shape.ID}),
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
	h := apitest.New(t)
	admin, stranger := h.Ours.Tokens[schema.RoleAdmin], h.Theirs.Tokens[schema.RoleAdmin]
	a := h.Do("POST", "/v1/integrations/linear.app_1", admin, fmt.Sprintf(fullIntegration, h.Ours.Organization.ID, apitest.PNG, apitest.PNG))
	made := shape.Want(t, integrationShape, a.Body)
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
	if a.Status != 200 || made["version"] != 1.0 || strings.Contains(string(a.Body), "s3cr3t") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if diff := cmp.Diff(made, shape.Want(t, integrationShape, h.Do("GET", "/v1/integrations/linear.app_1", admin, nil).Body)); diff != "" {
		t.Error(diff)
	}
	// A new version replaces the previous version completely.
	second := shape.Want(t, integrationShape, h.Do("POST", "/v1/integrations/linear.app_1", admin, apitest.PublishBody(h.Ours.Organization.ID)).Body)
	if second["version"] != 2.0 || second["visibility"] != "private" || second["target"] != "all" || second["blocks"] != nil {
		t.Errorf("%v", second)
	}
	h.WantError(h.Do("GET", "/v1/integrations/linear.app_1", stranger, nil), http.StatusNotFound)
	// The name is in use by a private integration. The error must not reveal this, so it is the same as for an
	// organization that the caller cannot see.
	e := h.WantError(h.Do("POST", "/v1/integrations/linear.app_1", stranger, apitest.PublishBody(h.Theirs.Organization.ID)), http.StatusNotFound)
	if e.Message != "integration not found" {
		t.Error(e.Message)
	}
	unlisted := apitest.PublishBody(h.Ours.Organization.ID)
	unlisted["visibility"] = "unlisted"
	h.Want(200, "POST", "/v1/integrations/linear.app_1", admin, unlisted)
	h.WantError(h.Do("POST", "/v1/integrations/linear.app_1", stranger, apitest.PublishBody(h.Theirs.Organization.ID)), http.StatusForbidden)
	// Another tenant's organization gets the same "not found" as a missing organization.
	for _, organization := range []string{h.Theirs.Organization.ID, "nobody"} {
		h.WantError(h.Do("POST", "/v1/integrations/other", admin, apitest.PublishBody(organization)), http.StatusNotFound)
	}
	h.WantError(h.Do("GET", "/v1/integrations/nothing", admin, nil), http.StatusNotFound)
	secrets, err := h.Store.IntegrationSecrets(t.Context(), "linear.app_1")
	if err != nil || secrets != nil {
		t.Errorf("the secrets of an old version are kept: %v %v", secrets, err)
	}
}

func TestIntegrationSecretsAreSealed(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	body := apitest.PublishBody(h.Ours.Organization.ID)
	body["secrets"] = map[string]string{"TOKEN": "s3cr3t-value"}
	a := h.Do("POST", "/v1/integrations/sealed", h.Ours.Tokens[schema.RoleAdmin], body)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	secrets, err := h.Store.IntegrationSecrets(t.Context(), "sealed")
	if err != nil || secrets["TOKEN"] != "s3cr3t-value" {
		t.Errorf("%v %v", secrets, err)
	}
	h.Exec(`do $$ begin assert not exists (select 1 from integrations i where i::text like '%s3cr3t%'
		or encode(secrets, 'escape') like '%s3cr3t%'), 'a secret is in clear'; end $$`)
	if strings.Contains(h.Log.String(), "s3cr3t") {
		t.Error("a secret is in the log")
	}
}

// TestPublishersTogether publishes an integration many times at the same time. Each request creates its own version
// with its own script.
func TestPublishersTogether(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	var mu sync.Mutex
	var versions []int32
	scripts := map[string]string{}
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			body := apitest.PublishBody(h.Ours.Organization.ID)
			body["script"] = fmt.Sprint("script ", i)
			a := h.Do("POST", "/v1/integrations/busy", h.Ours.Tokens[schema.RoleAdmin], body)
			var got schema.Integration
			if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			mu.Lock()
			defer mu.Unlock()
			versions = append(versions, got.Version)
			scripts[fmt.Sprint(got.Version)] = fmt.Sprint("script ", i)
		})
	}
	wait.Wait()
	slices.Sort(versions)
	for i, version := range versions {
		if version != int32(i+1) {
			t.Fatalf("versions %v", versions)
		}
	}
	for version, script := range scripts {
		if got := h.Want(200, "GET", "/v1/integrations/busy/versions/"+version, h.Ours.Tokens[schema.RoleAdmin], nil); got["script"] != script {
			t.Errorf("version %s has the script %v, want %s", version, got["script"], script)
		}
	}
}

// encoded returns a picture of this size in base64, in each format that publishers send.
func encoded(t *testing.T, width, height int) map[string]string {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range picture.Pix {
		picture.Pix[i] = byte(i*7 | 1)
	}
	all := map[string]string{}
	for format, encode := range map[string]func(*bytes.Buffer) error{
		"png":  func(out *bytes.Buffer) error { return png.Encode(out, picture) },
		"jpeg": func(out *bytes.Buffer) error { return jpeg.Encode(out, picture, nil) },
		"gif":  func(out *bytes.Buffer) error { return gif.Encode(out, picture, nil) },
	} {
		var out bytes.Buffer
		if err := encode(&out); err != nil {
			t.Fatal(err)
		}
		all[format] = base64.StdEncoding.EncodeToString(out.Bytes())
	}
	all["webp"] = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA" // The picture has one pixel.
	return all
}

// TestOfficialManifests publishes integrations in the forms that the published command line sends for GitBook's
// official integrations. Their manifests have content security policies of several lines, and screenshots of 1 MiB and
// of 6.4 megapixels.
func TestOfficialManifests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	for name, policy := range map[string]any{
		"one-line":   "default-src 'self'; img-src *",
		"text-block": "script-src https://cdn.example.com;\nconnect-src cdn.example.com\n  api.example.com;\n",
		"windows":    "script-src cdn.example.com;\r\n\timg-src *;\r\n",
		"line-each": map[string]any{"script-src": "https://cdn.example.com;\n",
			"connect-src": "cdn.example.com;\napi.example.com;\n"},
		"many-lines": map[string]any{"img-src": "data:\nblob:\nwww.example.com\n*.example.com;\n",
			"connect-src": "example.com\nabout:;\n"},
		"quoted": map[string]any{"style-src": "'self'\n'unsafe-inline'\nfonts.example.com\n  *.example.com;\n",
			"script-src": "*"},
		"empty":        map[string]any{},
		"empty-values": map[string]any{"img-src": "", "font-src": "\n"},
	} {
		body := apitest.PublishBody(h.Ours.Organization.ID)
		body["contentSecurityPolicy"] = policy
		made := shape.Want(t, integrationShape, h.Do("POST", "/v1/integrations/"+name, admin, body).Body)
		read := shape.Want(t, integrationShape, h.Do("GET", "/v1/integrations/"+name, admin, nil).Body)
		if diff := cmp.Diff(policy, made["contentSecurityPolicy"]); diff != "" || !cmp.Equal(made, read) {
			t.Errorf("%s: %s %v", name, diff, read)
		}
	}

	noise := image.NewGray(image.Rect(0, 0, 1024, 1000))
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise.Pix) // Read never returns an error.
	var full, wide bytes.Buffer
	large := image.NewGray(image.Rect(0, 0, 3248, 1974))
	for out, picture := range map[*bytes.Buffer]image.Image{&full: noise, &wide: large} {
		if err := png.Encode(out, picture); err != nil {
			t.Fatal(err)
		}
	}
	// The file is filled with zeros after the picture, so that it has 1 MiB.
	full.Write(make([]byte, 1<<20-full.Len()))
	largest := base64.StdEncoding.EncodeToString(full.Bytes())
	body := apitest.PublishBody(h.Ours.Organization.ID)
	body["previewImages"] = []string{largest, largest, base64.StdEncoding.EncodeToString(wide.Bytes())}
	body["script"] = strings.Repeat("x", 4<<20)
	if made := h.Want(200, "POST", "/v1/integrations/screens", admin, body); len(made["previewImages"].([]any)) != 3 {
		t.Errorf("%v", made["previewImages"])
	}
	body["previewImages"] = []string{largest + "AAAA"}
	refused := h.WantError(h.Do("POST", "/v1/integrations/screens", admin, body), http.StatusBadRequest)
	if e := refused; e.Details[0].Field != "previewImages[0]" {
		t.Errorf("%+v", e)
	}
}

// TestIntegrationPictures: the server sends only the picture in an uploaded file and no other contents of the file. It
// accepts only complete pictures.
func TestIntegrationPictures(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	body := apitest.PublishBody(h.Ours.Organization.ID)
	pictures := encoded(t, 12, 7)
	sent, err := base64.StdEncoding.DecodeString(pictures["png"])
	if err != nil {
		t.Fatal(err)
	}
	body["icon"] = base64.StdEncoding.EncodeToString(append(sent, "<script>alert(1)</script>"...))
	body["previewImages"] = []string{pictures["jpeg"], pictures["gif"], pictures["webp"]}
	made := shape.Want(t, integrationShape, h.Do("POST", "/v1/integrations/pictures", admin, body).Body)
	urls := []any{made["urls"].(map[string]any)["icon"]}
	for i, want := range []struct {
		mediaType     string
		width, height int
	}{{"image/png", 12, 7}, {"image/jpeg", 12, 7}, {"image/png", 12, 7}, {"image/png", 1, 1}} {
		path, _ := strings.CutPrefix(append(urls, made["previewImages"].([]any)...)[i].(string), "https://docs.example.com/base")
		a := h.Do("GET", path, "", nil)
		got, _, err := image.Decode(bytes.NewReader(a.Body))
		if err != nil || a.Status != 200 || a.Header.Get("Content-Type") != want.mediaType || a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%d: %d %v %v", i, a.Status, a.Header, err)
		}
		if size := got.Bounds().Size(); size.X != want.width || size.Y != want.height || bytes.Contains(a.Body, []byte("script")) {
			t.Errorf("%d: %v %q", i, size, a.Body)
		}
	}
	listed := h.Want(200, "GET", "/v1/integrations/pictures/assets", admin, nil)["assets"].([]any)
	if len(listed) != 4 || !slices.ContainsFunc(listed, func(asset any) bool { return asset.(map[string]any)["url"] == urls[0] }) {
		t.Errorf("%v", listed)
	}
	// These files are refused: a small file with a picture of 4 gigapixels, an incomplete picture, and a picture in a
	// format that allows scripts.
	huge := append([]byte{}, sent...)
	binary.BigEndian.PutUint32(huge[16:], 65_536)
	binary.BigEndian.PutUint32(huge[20:], 65_536)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	for name, bad := range map[string][]byte{"huge": huge, "cut off": sent[:len(sent)-30], "SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)} {
		body["icon"] = base64.StdEncoding.EncodeToString(bad)
		if e := h.WantError(h.Do("POST", "/v1/integrations/pictures", admin, body), http.StatusBadRequest); e.Details[0].Field != "icon" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	// When a version without pictures is published, the former pictures are deleted.
	h.Want(200, "POST", "/v1/integrations/pictures", admin, apitest.PublishBody(h.Ours.Organization.ID))
	path, _ := strings.CutPrefix(urls[0].(string), "https://docs.example.com/base")
	h.WantError(h.Do("GET", path, "", nil), http.StatusNotFound)
}

func TestListIntegrations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	publish := func(name, more string) {
		t.Helper()
		body := apitest.PublishBody(h.Ours.Organization.ID)
		body["visibility"] = "public"
		if err := json.Unmarshal([]byte(more), &body); err != nil {
			t.Fatal(err)
		}
		if a := h.Do("POST", "/v1/integrations/"+name, admin, body); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
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
		"blockDomain=figma.dev": "", "blockDomain=a.my_figma.dev": "beta", "blockDomain=a.my-figma.dev": "", "blockDomain=v": "", "blockDomain=www.figma.com": "",
		"owner=" + h.Theirs.Organization.ID: "", "blocks=false&contentSources=false": "alpha",
	} {
		for _, token := range []string{admin, h.Theirs.Tokens[schema.RoleRead]} {
			page := shape.Want(t, shape.ListOf(integrationShape), h.Do("GET", "/v1/integrations?"+query, token, nil).Body)
			var names []string
			for _, item := range page["items"].([]any) {
				names = append(names, item.(map[string]any)["name"].(string))
			}
			if got := strings.Join(names, " "); got != want || page["count"] != float64(len(names)) {
				t.Errorf("%q: %q, count %v, want %q", query, got, page["count"], want)
			}
		}
	}
	// Members of the organization that owns integrations also see its private ones.
	for token, want := range map[string]string{
		h.Ours.Tokens[schema.RoleRead]: "alpha beta gamma hidden unlisted", h.Theirs.Tokens[schema.RoleAdmin]: "alpha beta gamma",
	} {
		var names []string
		for page := ""; ; {
			list := shape.Want(t, shape.ListOf(integrationShape), h.Do("GET", "/v1/integrations?limit=2&owner="+h.Ours.Organization.ID+"&page="+page, token, nil).Body)
			for _, item := range list["items"].([]any) {
				names = append(names, item.(map[string]any)["name"].(string))
			}
			next, more := list["next"].(map[string]any)
			if !more {
				if list["count"] != float64(len(names)) {
					t.Errorf("count %v of %q", list["count"], names)
				}
				break
			}
			page = next["page"].(string)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	own := h.Want(200, "GET", "/v1/integrations?search=hid&owner="+h.Ours.Organization.ID, admin, nil)
	if own["count"] != 1.0 {
		t.Errorf("%v", own)
	}
	first := shape.Want(t, shape.ListOf(integrationShape), h.Do("GET", "/v1/integrations?limit=2", admin, nil).Body)
	next := first["next"].(map[string]any)["page"].(string)
	second := shape.Want(t, shape.ListOf(integrationShape), h.Do("GET", "/v1/integrations?limit=2&page="+next, admin, nil).Body)
	if items := second["items"].([]any); len(items) != 1 || items[0].(map[string]any)["name"] != "gamma" || second["next"] != nil {
		t.Errorf("%v", second)
	}
	h.WantError(h.Do("GET", "/v1/integrations?target=site&page="+next, admin, nil), http.StatusBadRequest)
	for _, bad := range []string{"category=fun", "scope=all", "target=moon", "blocks=1", "blockDomain=a/b", "blockDomain=" + strings.Repeat("a", 101)} {
		h.WantError(h.Do("GET", "/v1/integrations?"+bad, admin, nil), http.StatusBadRequest)
	}
	if a := h.Do("GET", "/v1/integrations/unlisted", h.Theirs.Tokens[schema.RoleRead], nil); a.Status != 200 {
		t.Errorf("unlisted: %d", a.Status)
	}
}

// TestOwnerAsTheCallerSeesIt compares the owner of an integration as a member of the organization sees it and as
// another user sees it.
func TestOwnerAsTheCallerSeesIt(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	body := apitest.PublishBody(h.Ours.Organization.ID)
	body["visibility"] = "public"
	h.Do("POST", "/v1/integrations/seen", h.Ours.Tokens[schema.RoleAdmin], body)
	h.Want(200, "PATCH", "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin],
		`{"emailDomains":["secret.example"],"inviteLinks":true,"defaultRole":"read"}`)
	for token, admin := range map[string]bool{
		h.Ours.Tokens[schema.RoleAdmin]: true, h.Ours.Tokens[schema.RoleRead]: false, h.Theirs.Tokens[schema.RoleAdmin]: false,
	} {
		got := shape.Want(t, integrationShape, h.Do("GET", "/v1/integrations/seen", token, nil).Body)
		if got["permissions"].(map[string]any)["admin"] != admin {
			t.Errorf("permissions %v, want %t", got["permissions"], admin)
		}
		owner, err := json.Marshal(got["owner"])
		if err != nil {
			t.Fatal(err)
		}
		if token == h.Theirs.Tokens[schema.RoleAdmin] {
			if strings.Contains(string(owner), "secret.example") || strings.Contains(string(owner), "true") {
				t.Errorf("a stranger learns %s", owner)
			}
			continue
		}
		var own any
		if err := json.Unmarshal(h.Do("GET", "/v1/orgs/"+h.Ours.Organization.ID, token, nil).Body, &own); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(own, got["owner"]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestInstallIntegration(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	body := apitest.PublishBody(h.Ours.Organization.ID)
	body["visibility"] = "unlisted"
	h.Do("POST", "/v1/integrations/tool", h.Ours.Tokens[schema.RoleAdmin], body)
	h.Do("POST", "/v1/integrations/own", h.Ours.Tokens[schema.RoleAdmin], apitest.PublishBody(h.Ours.Organization.ID))
	target := map[string]string{"organization": h.Theirs.Organization.ID}
	admin := h.Theirs.Tokens[schema.RoleAdmin]
	a := h.Do("POST", "/v1/integrations/tool/installations", admin, target)
	made := shape.Want(t, installationShape, a.Body)
	location, _ := strings.CutPrefix(a.Header.Get("Location"), "https://docs.example.com/base")
	if a.Status != 201 || made["spaces"] != 1.0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if diff := cmp.Diff(made, shape.Want(t, installationShape, h.Do("GET", location, h.Theirs.Tokens[schema.RoleRead], nil).Body)); diff != "" {
		t.Error(diff)
	}
	h.WantError(h.Do("GET", location, h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	h.WantError(h.Do("POST", "/v1/integrations/tool/installations", admin, target), http.StatusConflict)
	h.WantError(h.Do("POST", "/v1/integrations/tool/installations", h.Theirs.Tokens[schema.RoleEdit], target), http.StatusForbidden)
	h.WantError(h.Do("POST", "/v1/integrations/own/installations", admin, target), http.StatusNotFound)
	h.WantError(h.Do("POST", "/v1/integrations/nothing/installations", admin, target), http.StatusNotFound)
	h.WantError(h.Do("POST", "/v1/integrations/tool/installations", admin, map[string]string{"organization": h.Ours.Organization.ID}), http.StatusNotFound)
	// Even an admin of both organizations may not install a private integration of one organization in the other.
	if err := h.Store.Orgs.SetMember(
		t.Context(), h.Theirs.Organization.ID, h.Ours.Users[schema.RoleAdmin].ID, schema.RoleAdmin,
	); err != nil {
		t.Fatal(err)
	}
	h.WantError(h.Do("POST", "/v1/integrations/own/installations", h.Ours.Tokens[schema.RoleAdmin], target), http.StatusForbidden)
}

func TestBadIntegration(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	before := h.Rows()
	for _, test := range []struct{ member, field string }{
		{`"title":null`, "title"}, {`"title":"x"`, "title"}, {`"title":"` + strings.Repeat("x", 31) + `"`, "title"},
		{`"description":"` + strings.Repeat("x", 101) + `"`, "description"}, {`"script":""`, "script"}, {`"organization":null`, "organization"},
		{`"scopes":["all"]`, "scopes[0]"}, {`"categories":["fun"]`, "categories[0]"}, {`"visibility":"secret"`, "visibility"},
		{`"target":"moon"`, "target"}, {`"runtime":"v3"`, "runtime"}, {`"icon":"aGVsbG8="`, "icon"}, {`"icon":"%%%"`, "icon"},
		{`"previewImages":["` + apitest.PNG + `","` + apitest.PNG + `","` + apitest.PNG + `","` + apitest.PNG + `"]`, "previewImages"}, {`"previewImages":["x"]`, "previewImages[0]"},
		{`"blocks":[{"id":"b"}]`, "blocks[0].title"}, {`"blocks":[{"id":"b","title":"Bl","markdown":{"body":"x"}}]`, "blocks[0].markdown.codeblock"},
		{`"contentSources":[{"id":"c","title":"So"}]`, "contentSources[0].configuration"},
		{`"externalLinks":[{"url":"javascript:1","label":"x"}]`, "externalLinks[0].url"},
		{`"configurations":{"account":{"componentId":"x","properties":{}}}`, "configurations.account"},
		{`"configurations":{"space":{"properties":{"a":{"type":"moon"}}}}`, "configurations.space.properties.a.type"},
		{`"configurations":{"space":{"properties":{"a":{"type":"number","default":"x"}}}}`, "configurations.space.properties.a.default"},
		{`"configurations":{"space":{"properties":{"a":{"type":"string","default":"\u0000"}}}}`, "configurations.space.properties.a.default"},
		{`"configurations":{"space":{"properties":{"a":{"type":"button","button_text":"x"}}}}`, "configurations.space.properties.a.callback_url"},
		{`"configurations":{"site":{"properties":{},"required":["a"]}}`, "configurations.site.required[0]"},
		{`"contentSecurityPolicy":"a\u0007"`, "contentSecurityPolicy"},
		{`"contentSecurityPolicy":{"img-src":"a\u000b"}`, "contentSecurityPolicy.img-src"},
		{`"contentSecurityPolicy":{"Bad":"x"}`, "contentSecurityPolicy.Bad"},
		{`"contentSecurityPolicy":7`, "contentSecurityPolicy"}, {`"secrets":{"":"x"}`, "secrets"}, {`"secrets":["x"]`, "secrets"},
	} {
		body := apitest.PublishBody(h.Ours.Organization.ID)
		if err := json.Unmarshal([]byte("{"+test.member+"}"), &body); err != nil {
			t.Fatal(err)
		}
		e := h.WantError(h.Do("POST", "/v1/integrations/bad", admin, body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s: %+v, want %s", test.member, e.Details, test.field)
		}
	}
	for _, name := range []string{"a%20b", "ä", strings.Repeat("a", 101)} {
		e := h.WantError(h.Do("POST", "/v1/integrations/"+name, admin, apitest.PublishBody(h.Ours.Organization.ID)), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != "integrationName" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}
