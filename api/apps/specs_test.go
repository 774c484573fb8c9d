package apps_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/apispecs"
	"github.com/octavo-docs/octavo/store/queue"
)

var (
	openAPISpecShape = shape.Of{
		"object": shape.One("openapi-spec"), "id": shape.ID, "createdAt": shape.Timestamp, "updatedAt": shape.Timestamp, "slug": shape.Text(1, 100),
		"processingState": shape.One("pending", "progress", "complete"), "permissions": shape.Booleans("view edit"),
		"urls": shape.Object(shape.Of{"location": shape.URI, "app": shape.URI, "published?": shape.URI}), "sourceURL?": shape.Text(1, 2048), "lastVersion?": shape.ID,
		"visibility": shape.One("private", "public"), "lastProcessedAt?": shape.Timestamp,
		"lastProcessErrorCode?": shape.One("FETCH_TIMEOUT", "FETCH_ERROR", "PARSE_ERROR"),
		"lastProcessedErrors?":  shape.List(shape.Object(shape.Of{"message": shape.Text(1, 1000), "code?": shape.String})),
	}
	openAPIVersionShape = shape.Of{
		"object": shape.One("openapi-spec-version"), "id": shape.ID, "createdAt": shape.Timestamp, "url": shape.Text(1, 2048), "urls": shape.Object(shape.Of{"location": shape.URI}),
	}
)

// TestSpecVisibility: a specification is private until an editor makes its newest version public.
func TestSpecVisibility(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	editor, path := h.Ours.Tokens[schema.RoleCreate], "/v1/orgs/"+h.Ours.Organization.ID+"/openapi/pets"
	set := func(visibility string) map[string]any {
		t.Helper()
		return shape.Want(t, openAPISpecShape, h.Do("PATCH", path, editor, `{"visibility":"`+visibility+`"}`).Body)
	}
	h.WantError(h.Do("PATCH", path, editor, `{"visibility":"public"}`), 404)
	made := shape.Want(t, openAPISpecShape, h.Do("PUT", path, editor, apitest.SpecBody(apitest.SpecText)).Body)
	if made["visibility"] != "private" || made["urls"].(map[string]any)["published"] != nil {
		t.Errorf("%v", made)
	}
	h.WantError(h.Do("GET", path+"/published", "", nil), 404)
	for body, field := range map[string]string{`{}`: "visibility", `{"visibility":"unlisted"}`: "visibility", `{"visibility":null}`: "visibility"} {
		if e := h.WantError(h.Do("PATCH", path, editor, body), 400); len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", body, e)
		}
	}
	h.WantError(h.Do("PATCH", path, h.Ours.Tokens[schema.RoleEdit], `{"visibility":"public"}`), 403)
	got := set("public")
	if got["visibility"] != "public" || got["urls"].(map[string]any)["published"] != "https://docs.example.com/base"+path+"/published" || got["lastVersion"] != made["lastVersion"] {
		t.Errorf("%v", got)
	}
	if again := set("public"); again["updatedAt"] != got["updatedAt"] {
		t.Errorf("%v, then %v", got, again)
	}
	// Anybody can read the newest version without a token, from pages of any origin. The answer is 304 if the version
	// has not changed.
	a := h.Do("GET", path+"/published", "", nil)
	if a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") || a.Header.Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(string(a.Body), `"openapi"`) {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	if same := h.Do("GET", path+"/published", "", nil, "If-None-Match", a.Header.Get("Etag")); same.Status != 304 {
		t.Errorf("%d", same.Status)
	}
	newer := shape.Want(t, openAPISpecShape, h.Do("PUT", path, editor, apitest.SpecBody(apitest.SpecText+"x-newer: true\n")).Body)
	if b := h.Do("GET", path+"/published", "", nil, "If-None-Match", a.Header.Get("Etag")); newer["visibility"] != "public" || b.Status != 200 || !strings.Contains(string(b.Body), "x-newer") {
		t.Errorf("%v %d %s", newer, b.Status, b.Body)
	}
	for _, unknown := range []string{"/v1/orgs/" + h.Theirs.Organization.ID + "/openapi/pets/published", "/v1/orgs/x/openapi/pets/published", path + "x/published", "/v1/orgs/%00/openapi/%00/published"} {
		h.WantError(h.Do("GET", unknown, "", nil), 404)
	}
	set("private")
	h.WantError(h.Do("GET", path+"/published", "", nil), 404)
}

func TestOpenAPISpec(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	editor, reader := h.Ours.Tokens[schema.RoleCreate], h.Ours.Tokens[schema.RoleRead]
	all := "/v1/orgs/" + h.Ours.Organization.ID + "/openapi"
	path := all + "/pets"
	h.WantError(h.Do("GET", path, reader, nil), http.StatusNotFound)
	h.WantError(h.Do("GET", path+"/versions", reader, nil), http.StatusNotFound)
	first := h.Do("PUT", path, editor, apitest.SpecBody(apitest.SpecText))
	made := shape.Want(t, openAPISpecShape, first.Body)
	if first.Status != 201 || first.Header.Get("Location") != "https://docs.example.com/base"+path || made["processingState"] != "complete" {
		t.Errorf("%d %v %s", first.Status, first.Header, first.Body)
	}
	// If the same text is sent again, there is no new version. Another text makes a new version.
	same := h.Do("PUT", path, editor, apitest.SpecBody(apitest.SpecText))
	if got := shape.Want(t, openAPISpecShape, same.Body); same.Status != 200 || got["lastVersion"] != made["lastVersion"] || same.Header.Get("Location") != "" {
		t.Errorf("%d %s", same.Status, same.Body)
	}
	second := shape.Want(t, openAPISpecShape, h.Do("PUT", path, editor, apitest.SpecBody(`{"swagger":"2.0","info":{"title":"B","version":"2"},"paths":{},"z":1,"a":2}`)).Body)
	versions := shape.Want(t, shape.ListOf(openAPIVersionShape), h.Do("GET", path+"/versions", reader, nil).Body)
	items := versions["items"].([]any)
	if len(items) != 2 || items[0].(map[string]any)["id"] != second["lastVersion"] || items[1].(map[string]any)["id"] != made["lastVersion"] {
		t.Errorf("%v", items)
	}
	for name, id := range map[string]any{"latest": second["lastVersion"], made["lastVersion"].(string): made["lastVersion"]} {
		version := shape.Want(t, openAPIVersionShape, h.Do("GET", path+"/versions/"+name, reader, nil).Body)
		if version["id"] != id || version["url"] != version["urls"].(map[string]any)["location"].(string)+"/content" {
			t.Errorf("%s: %v", name, version)
		}
	}
	newest := string(h.Do("GET", path+"/versions/latest/content", reader, nil).Body)
	if want := `"filesystem":{"openapi.json":{"dir":"./","filename":"openapi.json","isEntrypoint":true,` +
		`"references":[],"specification":{"swagger":"2.0","info":{"title":"B","version":"2"},"paths":{},"z":1,` +
		`"a":2}}}`; !strings.Contains(newest, want) {
		t.Errorf("%s", newest)
	}
	oldest := shape.Want(
		t,
		shape.Of{
			"filesystem": shape.Object(
				shape.Of{
					"openapi.json": shape.Object(
						shape.Of{
							"dir":          shape.One("./"),
							"filename":     shape.One("openapi.json"),
							"isEntrypoint": shape.One(true),
							"references":   shape.List(shape.String),
							"specification": func(v any) error {
								if diff := cmp.Diff(map[string]any{"openapi": "3.0.0",
									"info": map[string]any{"title": "A",
										"version": "1"}, "paths": map[string]any{}}, v); diff != "" {
									return fmt.Errorf("%s", diff)
								}
								return nil
							},
						},
					),
				},
			),
			"url":  shape.URI,
			"urls": shape.Object(shape.Of{"source": shape.URI, "public": shape.Either(shape.URI, shape.One(nil))}),
		},
		h.Do("GET", path+"/versions/"+made["lastVersion"].(string)+"/content", reader, nil).Body,
	)
	// The address in `url` of the content can be read.
	own, _ := strings.CutPrefix(oldest["url"].(string), "https://docs.example.com/base")
	if a := h.Do("GET", own, reader, nil); a.Status != 200 {
		t.Errorf("%s: %d", own, a.Status)
	}
	// If an older text is sent again, this makes a new version, because the versions are the history of the
	// specification.
	third := shape.Want(t, openAPISpecShape, h.Do("PUT", path, editor, apitest.SpecBody(apitest.SpecText)).Body)
	if third["lastVersion"] == made["lastVersion"] {
		t.Error("an old version became the newest again")
	}
	page := shape.Want(t, shape.ListOf(openAPIVersionShape), h.Do("GET", path+"/versions?limit=2", reader, nil).Body)
	next := page["next"].(map[string]any)["page"].(string)
	rest := shape.Want(t, shape.ListOf(openAPIVersionShape), h.Do("GET", path+"/versions?limit=2&page="+next, reader, nil).Body)
	if items := rest["items"].([]any); len(items) != 1 || items[0].(map[string]any)["id"] != made["lastVersion"] || rest["next"] != nil || rest["count"] != 3.0 {
		t.Errorf("%v", rest)
	}
	body := apitest.SpecBody(apitest.SpecText)
	body["slug"] = "pets"
	h.WantError(h.Do("POST", all, editor, body), http.StatusConflict)
	// A specification of another organization may have the same slug. Its versions are separate.
	theirs := "/v1/orgs/" + h.Theirs.Organization.ID + "/openapi/pets"
	h.Do("PUT", theirs, h.Theirs.Tokens[schema.RoleAdmin], apitest.SpecBody(apitest.SpecText))
	h.WantError(h.Do("GET", theirs+"/versions/"+made["lastVersion"].(string), h.Theirs.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	listed := shape.Want(t, shape.ListOf(openAPISpecShape), h.Do("GET", all, reader, nil).Body)
	if listed["count"] != 1.0 {
		t.Errorf("%v", listed)
	}
}

// TestOpenAPISpecFromURL creates a specification from a URL. It is pending until a job has fetched the document. The
// tests of package jobs check the job itself.
func TestOpenAPISpecFromURL(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/openapi/far"
	a := h.Do("PUT", path, admin, `{"source":{"url":"https://a.example/openapi.yaml"}}`)
	made := shape.Want(t, openAPISpecShape, a.Body)
	if a.Status != 201 || made["processingState"] != "pending" || made["sourceURL"] != "https://a.example/openapi.yaml" || made["lastVersion"] != nil ||
		made["lastProcessedErrors"] != nil || made["lastProcessErrorCode"] != nil {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if jobs, err := h.Store.Queue.List(
		t.Context(), h.Ours.Organization.ID, queue.Filter{}, "", 10,
	); err != nil || len(jobs.Rows) != 1 || jobs.Rows[0].Kind != "fetch_openapi" {
		t.Errorf("%+v %v", jobs, err)
	}
	h.WantError(h.Do("GET", path+"/versions/latest", admin, nil), http.StatusNotFound)
	h.WantError(h.Do("GET", path+"/versions/latest/content", admin, nil), http.StatusNotFound)
	if versions := shape.Want(t, shape.ListOf(openAPIVersionShape), h.Do("GET", path+"/versions", admin, nil).Body); versions["count"] != 0.0 {
		t.Errorf("%v", versions)
	}
	// Answers show the results of fetches: first a new version, and then the errors of a fetch that failed.
	begun, found, err := h.Store.Specs.StartFetch(t.Context(), h.Ours.Organization.ID, nil)
	if err != nil || !found {
		t.Fatal(err)
	}
	if got := shape.Want(t, openAPISpecShape, h.Do("GET", path, admin, nil).Body); got["processingState"] != "progress" {
		t.Errorf("%v", got)
	}
	if err := h.Store.Specs.EndFetch(t.Context(), begun, apispecs.Fetch{
		Document: []byte(`{"openapi":"3.0.0"}`),
	}); err != nil {
		t.Fatal(err)
	}
	read := shape.Want(t, openAPISpecShape, h.Do("GET", path, admin, nil).Body)
	version := shape.Want(t, openAPIVersionShape, h.Do("GET", path+"/versions/latest", admin, nil).Body)
	if read["processingState"] != "complete" || read["lastVersion"] != version["id"] || version["url"] != "https://a.example/openapi.yaml" {
		t.Errorf("%v %v", read, version)
	}
	if content := h.Want(http.StatusOK, "GET", path+"/versions/latest/content", admin, nil); content["url"] != "https://a.example/openapi.yaml" {
		t.Errorf("%v", content)
	}
	again := shape.Want(t, openAPISpecShape, h.Do("PUT", path, admin, `{"source":{"url":"https://a.example/2"}}`).Body)
	if again["lastVersion"] != version["id"] || again["processingState"] != "pending" {
		t.Errorf("%v", again)
	}
	if begun, found, err = h.Store.Specs.StartFetch(t.Context(), h.Ours.Organization.ID, nil); err != nil || !found {
		t.Fatal(err)
	}
	wrong := []schema.OpenAPISpecError{{Message: "line 1, column 1 (#): paths is missing", Code: schema.SpecParseError}}
	if err := h.Store.Specs.EndFetch(t.Context(), begun, apispecs.Fetch{Errors: wrong}); err != nil {
		t.Fatal(err)
	}
	failed := shape.Want(t, openAPISpecShape, h.Do("GET", path, admin, nil).Body)
	if failed["lastProcessErrorCode"] != "PARSE_ERROR" || failed["lastVersion"] != version["id"] ||
		!cmp.Equal(failed["lastProcessedErrors"], []any{map[string]any{"message": wrong[0].Message, "code": "PARSE_ERROR"}}) {
		t.Errorf("%v", failed)
	}
	// If a text replaces the URL, the specification is complete at once.
	done := shape.Want(t, openAPISpecShape, h.Do("PUT", path, admin, apitest.SpecBody(apitest.SpecText)).Body)
	if done["sourceURL"] != nil || done["lastProcessedErrors"] != nil || done["lastProcessErrorCode"] != nil || done["lastVersion"] == version["id"] {
		t.Errorf("%v", done)
	}
}

// TestDeleteOpenAPISpec deletes a specification with its versions. A new specification with the same slug has no former
// versions.
func TestDeleteOpenAPISpec(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/openapi/pets"
	before := h.Rows()
	h.Want(http.StatusCreated, "PUT", path, admin, apitest.SpecBody(apitest.SpecText))
	h.WantError(h.Do("DELETE", path, h.Ours.Tokens[schema.RoleRead], nil), http.StatusForbidden)
	for range 2 {
		h.Want(http.StatusNoContent, "DELETE", path, admin, nil)
	}
	after := h.Rows()
	after["front_end_changes"] = before["front_end_changes"] // The deletion notifies front ends.
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("something is left: %s", diff)
	}
	h.WantError(h.Do("GET", path, admin, nil), http.StatusNotFound)
	h.WantError(h.Do("GET", path+"/versions/latest", admin, nil), http.StatusNotFound)
	h.Want(http.StatusCreated, "PUT", path, admin, apitest.SpecBody(apitest.SpecText))
}

// TestSpecsTogether sets the same specification many times at once. It is created once, and no version is lost or
// duplicated.
func TestSpecsTogether(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/openapi/busy"
	var mu sync.Mutex
	created := 0
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			a := h.Do("PUT", path, h.Ours.Tokens[schema.RoleAdmin], apitest.SpecBody(fmt.Sprintf("%s# %d", apitest.SpecText, i)))
			mu.Lock()
			defer mu.Unlock()
			if a.Status == 201 {
				created++
			} else if a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	versions := shape.Want(t, shape.ListOf(openAPIVersionShape), h.Do("GET", path+"/versions", h.Ours.Tokens[schema.RoleAdmin], nil).Body)
	if created != 1 || versions["count"] != 10.0 {
		t.Errorf("created %d times, %v versions", created, versions["count"])
	}
}

func TestBadOpenAPISpec(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	all := "/v1/orgs/" + h.Ours.Organization.ID + "/openapi"
	before := h.Rows()
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
		{`{"slug":"a","source":{"url":"http://10.0.0.1/openapi.yaml"}}`, "source.url", "private network"},
		{`{"slug":"a","source":{"url":"http://[::ffff:127.0.0.1]/openapi.yaml"}}`, "source.url", "private network"},
		{`{"slug":"a","source":{"url":"http://169.254.169.254/latest/meta-data"}}`, "source.url", "private network"},
		{`{"slug":"a","source":{"url":"https://localhost/openapi.yaml"}}`, "source.url", "private network"},
		{`{"slug":"a","source":{"url":"https://a.example:25/openapi.yaml"}}`, "source.url", "the port 80"},
		{`{"slug":"a","source":{"url":"file:///etc/passwd"}}`, "source.url", "absolute"},
		{`{"slug":"a","source":{"text":""}}`, "source.text", "at least"},
		{`{"slug":"a","source":{"text":5}}`, "source.text", "string"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "{\n \"a\": }"}}, "source.text", "line 2, column 7"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "openapi: 3.0.0\ninfo:\n\t- x"}}, "source.text", "line 3"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths:\n  /pets:\n    get: {}"}}, "source.text",
			"line 5, column 10 (#/paths/~1pets/get): responses is missing"},
		{map[string]any{"slug": "a", "source": map[string]any{"text": strings.Replace(apitest.SpecText, "paths: {}", "paths: {/a: {$ref: 'file:///etc/passwd'}}", 1)}}, "source.text",
			`refers to another document, "file:///etc/passwd"`},
		{map[string]any{"slug": "a", "source": map[string]any{"text": "#" + strings.Repeat("x", 4<<20)}}, "source.text", "larger than 4 MiB"},
	} {
		e := h.WantError(h.Do("POST", all, admin, test.body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field || !strings.Contains(e.Details[0].Problem, test.problem) {
			t.Errorf("%.80v: %+v, want %s %s", test.body, e.Details, test.field, test.problem)
		}
	}
	e := h.WantError(h.Do("PUT", all+"/Bad%20slug", admin, apitest.SpecBody(apitest.SpecText)), http.StatusBadRequest)
	if len(e.Details) == 0 || e.Details[0].Field != "specSlug" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}
