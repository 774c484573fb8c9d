package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

const specText = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {}\n"

func specBody(text string) map[string]any {
	return map[string]any{"source": map[string]any{"text": text}}
}

func specExamples() {
	fresh := func(h *harness, tenant *storetest.Tenant) map[string]string {
		slug := "s-" + schema.NewID()
		body := specBody(specText)
		body["slug"] = slug
		a := h.do("POST", "/v1/orgs/"+tenant.Organization.ID+"/openapi", tenant.Tokens[schema.RoleAdmin], body)
		var made schema.OpenAPISpec
		if err := json.Unmarshal(a.body, &made); err != nil || a.status != 201 {
			h.t.Fatalf("%d %s", a.status, a.body)
		}
		return map[string]string{"specSlug": slug, "versionId": made.LastVersion}
	}
	text, _ := json.Marshal(specText)
	examples["createOpenAPISpec"] = example{body: `{"slug":"{slug}","source":{"text":` + string(text) + `}}`,
		make: func(*harness, *storetest.Tenant) map[string]string {
			return map[string]string{"slug": "s-" + schema.NewID()}
		}}
	examples["createOrUpdateOpenAPISpecBySlug"] = example{body: `{"source":{"text":` + string(text) + `}}`, make: fresh}
	for _, id := range []string{
		"getOpenAPISpecBySlug", "listOpenAPISpecVersions", "getLatestOpenAPISpecVersion", "getLatestOpenAPISpecVersionContent",
		"getOpenAPISpecVersionById", "getOpenAPISpecVersionContentById",
	} {
		examples[id] = example{make: fresh}
	}
}

var (
	openAPISpecShape = shape{
		"object": one("openapi-spec"), "id": id, "createdAt": timestamp, "updatedAt": timestamp, "slug": text(1, 100),
		"processingState": one("pending", "progress", "complete"), "permissions": booleans("view edit"),
		"urls": object(shape{"location": uri, "app": uri, "published?": uri}), "sourceURL?": text(1, 2048), "lastVersion?": id,
		"visibility?": one("private", "public"), "lastProcessedAt?": timestamp,
		"lastProcessErrorCode?": one("FETCH_TIMEOUT", "FETCH_ERROR", "PARSE_ERROR"),
		"lastProcessedErrors?":  list(object(shape{"message": text(1, 1000), "code?": aString})),
	}
	openAPIVersionShape = shape{
		"object": one("openapi-spec-version"), "id": id, "createdAt": timestamp, "url": uri, "urls": object(shape{"location": uri}),
	}
)

func TestOpenAPISpec(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	editor, reader := h.ours.Tokens[schema.RoleCreate], h.ours.Tokens[schema.RoleRead]
	all := "/v1/orgs/" + h.ours.Organization.ID + "/openapi"
	path := all + "/pets"
	h.wantError(h.do("GET", path, reader, nil), http.StatusNotFound)
	h.wantError(h.do("GET", path+"/versions", reader, nil), http.StatusNotFound)
	first := h.do("PUT", path, editor, specBody(specText))
	made := wantShape(t, openAPISpecShape, first.body)
	if first.status != 201 || first.header.Get("Location") != "https://docs.example.com/base"+path || made["processingState"] != "complete" {
		t.Errorf("%d %v %s", first.status, first.header, first.body)
	}
	// The same text makes no new version, and another one does.
	same := h.do("PUT", path, editor, specBody(specText))
	if got := wantShape(t, openAPISpecShape, same.body); same.status != 200 || got["lastVersion"] != made["lastVersion"] || same.header.Get("Location") != "" {
		t.Errorf("%d %s", same.status, same.body)
	}
	second := wantShape(t, openAPISpecShape, h.do("PUT", path, editor, specBody(`{"swagger":"2.0","info":{"title":"B","version":"2"},"paths":{},"z":1,"a":2}`)).body)
	versions := wantShape(t, listShape(openAPIVersionShape), h.do("GET", path+"/versions", reader, nil).body)
	items := versions["items"].([]any)
	if len(items) != 2 || items[0].(map[string]any)["id"] != second["lastVersion"] || items[1].(map[string]any)["id"] != made["lastVersion"] {
		t.Errorf("%v", items)
	}
	for name, id := range map[string]any{"latest": second["lastVersion"], made["lastVersion"].(string): made["lastVersion"]} {
		version := wantShape(t, openAPIVersionShape, h.do("GET", path+"/versions/"+name, reader, nil).body)
		if version["id"] != id || version["url"] != version["urls"].(map[string]any)["location"].(string)+"/content" {
			t.Errorf("%s: %v", name, version)
		}
	}
	newest := string(h.do("GET", path+"/versions/latest/content", reader, nil).body)
	if want := `{"/openapi.json":{"content":{"swagger":"2.0","info":{"title":"B","version":"2"},"paths":{},"z":1,"a":2}}}`; !strings.Contains(newest, want) {
		t.Errorf("%s", newest)
	}
	oldest := wantShape(t, shape{"filesystem": object(shape{"/openapi.json": object(shape{"content": func(v any) error {
		if diff := cmp.Diff(map[string]any{"openapi": "3.0.0", "info": map[string]any{"title": "A", "version": "1"}, "paths": map[string]any{}}, v); diff != "" {
			return fmt.Errorf("%s", diff)
		}
		return nil
	}})}), "url": uri}, h.do("GET", path+"/versions/"+made["lastVersion"].(string)+"/content", reader, nil).body)
	// The url that the content names answers with it.
	own, _ := strings.CutPrefix(oldest["url"].(string), "https://docs.example.com/base")
	if a := h.do("GET", own, reader, nil); a.status != 200 {
		t.Errorf("%s: %d", own, a.status)
	}
	// Going back to an older text is a new version: versions tell what was when.
	third := wantShape(t, openAPISpecShape, h.do("PUT", path, editor, specBody(specText)).body)
	if third["lastVersion"] == made["lastVersion"] {
		t.Error("an old version became the newest again")
	}
	page := wantShape(t, listShape(openAPIVersionShape), h.do("GET", path+"/versions?limit=2", reader, nil).body)
	next := page["next"].(map[string]any)["page"].(string)
	rest := wantShape(t, listShape(openAPIVersionShape), h.do("GET", path+"/versions?limit=2&page="+next, reader, nil).body)
	if items := rest["items"].([]any); len(items) != 1 || items[0].(map[string]any)["id"] != made["lastVersion"] || rest["next"] != nil || rest["count"] != 3.0 {
		t.Errorf("%v", rest)
	}
	body := specBody(specText)
	body["slug"] = "pets"
	h.wantError(h.do("POST", all, editor, body), http.StatusConflict)
	// Another organization's specifications of the same name are not there.
	theirs := "/v1/orgs/" + h.theirs.Organization.ID + "/openapi/pets"
	h.do("PUT", theirs, h.theirs.Tokens[schema.RoleAdmin], specBody(specText))
	h.wantError(h.do("GET", theirs+"/versions/"+made["lastVersion"].(string), h.theirs.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	listed := wantShape(t, listShape(openAPISpecShape), h.do("GET", all, reader, nil).body)
	if listed["count"] != 1.0 {
		t.Errorf("%v", listed)
	}
}

// TestOpenAPISpecFromURL says honestly that nothing was fetched.
func TestOpenAPISpecFromURL(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	path := "/v1/orgs/" + h.ours.Organization.ID + "/openapi/far"
	a := h.do("PUT", path, admin, `{"source":{"url":"https://a.example/openapi.yaml"}}`)
	made := wantShape(t, openAPISpecShape, a.body)
	if a.status != 201 || made["processingState"] != "pending" || made["sourceURL"] != "https://a.example/openapi.yaml" || made["lastVersion"] != nil ||
		len(made["lastProcessedErrors"].([]any)) != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.wantError(h.do("GET", path+"/versions/latest", admin, nil), http.StatusNotFound)
	h.wantError(h.do("GET", path+"/versions/latest/content", admin, nil), http.StatusNotFound)
	if versions := wantShape(t, listShape(openAPIVersionShape), h.do("GET", path+"/versions", admin, nil).body); versions["count"] != 0.0 {
		t.Errorf("%v", versions)
	}
	// A text completes it; then a URL again leaves the versions that there are.
	done := wantShape(t, openAPISpecShape, h.do("PUT", path, admin, specBody(specText)).body)
	again := wantShape(t, openAPISpecShape, h.do("PUT", path, admin, `{"source":{"url":"https://a.example/2"}}`).body)
	if done["sourceURL"] != nil || done["lastProcessedErrors"] != nil || again["lastVersion"] != done["lastVersion"] || again["processingState"] != "pending" {
		t.Errorf("%v %v", done, again)
	}
}

// TestSpecsTogether sets one specification many times at once: it is created once, and no version is lost or made twice.
func TestSpecsTogether(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	path := "/v1/orgs/" + h.ours.Organization.ID + "/openapi/busy"
	var mu sync.Mutex
	created := 0
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			a := h.do("PUT", path, h.ours.Tokens[schema.RoleAdmin], specBody(fmt.Sprintf("%s# %d", specText, i)))
			mu.Lock()
			defer mu.Unlock()
			if a.status == 201 {
				created++
			} else if a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wait.Wait()
	versions := wantShape(t, listShape(openAPIVersionShape), h.do("GET", path+"/versions", h.ours.Tokens[schema.RoleAdmin], nil).body)
	if created != 1 || versions["count"] != 10.0 {
		t.Errorf("created %d times, %v versions", created, versions["count"])
	}
}

func TestBadOpenAPISpec(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	all := "/v1/orgs/" + h.ours.Organization.ID + "/openapi"
	before := h.rows()
	for _, test := range []struct {
		body           any
		field, problem string
	}{
		{`{"slug":"a"}`, "source", "required"},
		{`{"source":{"text":"x"}}`, "slug", "required"},
		{`{"slug":"A b","source":{"text":"x"}}`, "slug", "lowercase"},
		{`{"slug":"a","source":{}}`, "source", "either"},
		{`{"slug":"a","source":{"text":"x","url":"https://a.example"}}`, "source", "either"},
		{`{"slug":"a","source":{"url":"ftp://a.example"}}`, "source.url", "absolute"},
		{`{"slug":"a","source":{"url":"https://user:pass@a.example"}}`, "source.url", "without user"},
		{`{"slug":"a","source":{"text":""}}`, "source.text", "at least"},
		{`{"slug":"a","source":{"text":5}}`, "source.text", "string"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "{\n \"a\": }"}}, "source.text", "line 2, column 7"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "openapi: 3.0.0\ninfo:\n\t- x"}}, "source.text", "line 3"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "#" + strings.Repeat("x", 4<<20)}}, "source.text", "larger than 4 MiB"},
	} {
		e := h.wantError(h.do("POST", all, admin, test.body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field || !strings.Contains(e.Details[0].Problem, test.problem) {
			t.Errorf("%.80v: %+v, want %s %s", test.body, e.Details, test.field, test.problem)
		}
	}
	e := h.wantError(h.do("PUT", all+"/Bad%20slug", admin, specBody(specText)), http.StatusBadRequest)
	if len(e.Details) == 0 || e.Details[0].Field != "specSlug" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff(before, h.rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}
