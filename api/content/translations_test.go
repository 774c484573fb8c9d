package content_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var translationShape = shape.Of{
	"object": shape.One("translation"), "id": shape.ID, "status": shape.One("pending", "running", "completed"),
	"source": shape.Object(shape.Of{"space": shape.ID, "language": shape.Text(2, 5)}), "language": shape.Text(2, 5), "instructions": shape.GoodDocument,
	"createdAt": shape.Timestamp, "updatedAt": shape.Timestamp,
	"stats": shape.Object(shape.Of{
		"runs": shape.Count, "totalWords": shape.Count, "totalPages": shape.Count, "totalDuration": shape.Count, "latestRunDuration": shape.Count,
		"latestPages": shape.Count, "latestWords": shape.Count,
	}),
	"lastRun?":    shape.Object(shape.Of{"state": shape.One("queued", "running", "done", "failed"), "reason?": shape.Text(10, 200), "requestedAt": shape.Timestamp}),
	"result?":     shape.Object(shape.Of{"space": shape.ID, "revision": shape.ID}),
	"permissions": shape.Booleans("view edit"), "urls": shape.Object(shape.Of{"location": shape.URI}),
}

var translationRunShape = shape.Of{
	"object": shape.One("translation-run"), "id": shape.ID, "state": shape.One("queued", "running", "done", "failed"), "reason?": shape.Text(10, 200),
	"requestedAt": shape.Timestamp, "startedAt?": shape.Timestamp, "finishedAt?": shape.Timestamp, "segments": shape.Count, "words": shape.Count,
	"pages": shape.Count, "duration?": shape.Count, "revision?": shape.ID, "reportCount": shape.Count,
	"reports?": shape.List(shape.Object(shape.Of{
		"kind": shape.One("correction-outdated", "correction-removed", "conflict", "term-missing", "placeholder-lost", "refused"), "page?": shape.ID, "segment?": shape.Text(1, 500), "text?": shape.Text(1, 101),
	})),
	"urls": shape.Object(shape.Of{"location": shape.URI}),
}

func TestTranslation(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	token := h.Ours.Tokens[schema.RoleCreate]
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/translations"
	a := h.Do("POST", path, token, fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"pt-br","extra":1}`, h.Ours.Space.ID))
	made := shape.Want(t, translationShape, a.Body)
	one := path + "/" + made["id"].(string)
	if a.Status != 201 || a.Header.Get("Location") != "https://docs.example.com/base"+one || made["status"] != "pending" || made["lastRun"] != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if diff := cmp.Diff(map[string]any{"object": "document", "data": map[string]any{"schemaVersion": 1.0}, "nodes": []any{}}, made["instructions"]); diff != "" {
		t.Error(diff)
	}
	// Members of the instructions that are missing get the values that the grammar requires.
	a = h.Do("PUT", one, token, `{"instructions":{"nodes":[{"type":"paragraph","nodes":[{"object":"text","leaves":[{"text":"Be polite."}]}]}]}}`)
	changed := shape.Want(t, translationShape, a.Body)
	var document schema.Document
	raw, _ := json.Marshal(changed["instructions"])
	if err := json.Unmarshal(raw, &document); err != nil || a.Status != 200 || len(document.Problems("")) > 0 || document.Nodes[0].Nodes[0].Leaves[0].Text != "Be polite." {
		t.Errorf("%d %s %v", a.Status, a.Body, document.Problems(""))
	}
	// A single waiting run serves all requests. It is counted when it is done.
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			if a := h.Do("POST", one+"/run", token, nil); a.Status != 204 || len(a.Body) != 0 {
				t.Errorf("run: %d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	read := shape.Want(t, translationShape, h.Do("GET", one, h.Ours.Tokens[schema.RoleRead], nil).Body)
	if read["stats"].(map[string]any)["runs"] != 0.0 || read["lastRun"] == nil || read["permissions"].(map[string]any)["edit"] != false {
		t.Errorf("%v", read)
	}
	runs := shape.Want(t, shape.ListOf(translationRunShape), h.Do("GET", one+"/runs", h.Ours.Tokens[schema.RoleRead], nil).Body)
	if runs["count"] != 1.0 || runs["items"].([]any)[0].(map[string]any)["state"] != "queued" {
		t.Errorf("runs: %v", runs)
	}
	listed := shape.Want(t, shape.ListOf(translationShape), h.Do("GET", path, h.Ours.Tokens[schema.RoleRead], nil).Body)
	if diff := cmp.Diff([]any{read}, listed["items"]); diff != "" || listed["count"] != 1.0 {
		t.Error(diff)
	}
	for range 2 {
		if a := h.Do("DELETE", one, token, nil); a.Status != 204 {
			t.Errorf("delete: %d %s", a.Status, a.Body)
		}
	}
	h.WantError(h.Do("GET", one, token, nil), 404)
	h.WantError(h.Do("POST", one+"/run", token, nil), 404)
	h.WantError(h.Do("PUT", one, token, `{"instructions":{"nodes":[]}}`), 404)
}

// TestTranslationTwice checks that a space has at most one translation into each language.
func TestTranslationTwice(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, token := "/v1/orgs/"+h.Ours.Organization.ID+"/translations", h.Ours.Tokens[schema.RoleCreate]
	body := func(language string) string {
		return fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":%q}`, h.Ours.Space.ID, language)
	}
	if a := h.Do("POST", path, token, body("de")); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	var made atomic.Int32
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			switch a := h.Do("POST", path, token, body("fr")); a.Status {
			case 201:
				made.Add(1)
			case 409:
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	if made.Load() != 1 {
		t.Errorf("%d translations into one language", made.Load())
	}
	h.WantError(h.Do("POST", path, token, body("de")), 409)
}

// TestTranslationOfHiddenSpace requests translations of spaces to which the caller has no access.
func TestTranslationOfHiddenSpace(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.CloseSpace(h.Ours.Space.ID)
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/translations"
	body := func(space string) string {
		return fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"fr"}`, space)
	}
	for token, space := range map[string]string{
		h.Ours.Tokens[schema.RoleCreate]: h.Ours.Space.ID, h.Ours.Tokens[schema.RoleAdmin]: h.Theirs.Space.ID,
	} {
		e := h.WantError(h.Do("POST", path, token, body(space)), 400)
		if e.Details[0].Field != "source.space" {
			t.Errorf("%+v", e)
		}
	}
	if a := h.Do("POST", path, h.Ours.Tokens[schema.RoleAdmin], body(h.Ours.Space.ID)); a.Status != 201 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestBadTranslations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	values := apitest.Examples["updateTranslation"].Make(h, h.Ours)
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/translations"
	source := fmt.Sprintf(`"source":{"space":%q,"language":"en"}`, h.Ours.Space.ID)
	before := h.Rows()
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", path, `{` + source + `}`, "language"},
		{"POST", path, `{"language":"fr"}`, "source"},
		{"POST", path, `{"language":"fr","source":{"language":"en"}}`, "source.space"},
		{"POST", path, `{"language":"fr","source":{"space":"x"}}`, "source.language"},
		{"POST", path, `{"language":"fr","source":{"space":"x","language":"en"}}`, "source.space"},
		{"POST", path, `{"language":"fr","source":{"space":"ä ","language":"en"}}`, "source.space"},
		{"POST", path, `{"language":"en",` + source + `}`, "language"},
		{"POST", path, `{"language":"tlh",` + source + `}`, "language"},
		{"POST", path, `{"language":"fr",` + source + `,"instructions":"be polite"}`, "instructions"},
		{"POST", path, `{"language":"fr",` + source + `,"instructions":{"nodes":[{"type":"nothing"}]}}`, "instructions.nodes[0].type"},
		{"PUT", path + "/" + values["translationId"], `{}`, "instructions"},
		{"PUT", path + "/" + values["translationId"], `{"instructions":null}`, "instructions"},
		{"PUT", path + "/" + values["translationId"], `{"instructions":[]}`, "instructions"},
	} {
		e := h.WantError(h.Do(test.method, test.path, h.Ours.Tokens[schema.RoleAdmin], test.body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s: %+v", test.body, e)
		}
	}
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}
