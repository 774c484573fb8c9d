package api

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func translationsExamples() {
	const body = `{"source":{"space":"{spaceId}","language":"en"},"language":"fr"}`
	make := func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		row, err := h.st.CreateTranslation(h.t.Context(), store.NewTranslation{
			OrganizationID: tenant.Organization.ID, SourceSpaceID: tenant.Space.ID, SourceLanguage: "en", Language: "de",
			Instructions: []byte(`{"object":"document","data":{},"nodes":[]}`),
		})
		if err != nil {
			h.t.Fatal(err)
		}
		return map[string]string{"translationId": row.ID}
	}
	examples["createTranslation"] = example{body: body}
	examples["updateTranslation"] = example{body: `{"instructions":{"object":"document","data":{},"nodes":[]}}`, make: make}
	for _, id := range []string{"getTranslation", "deleteTranslation", "runTranslation"} {
		examples[id] = example{make: make}
	}
}

var translationShape = shape{
	"object": one("translation"), "id": id, "status": one("pending", "running", "completed"),
	"source": object(shape{"space": id, "language": text(2, 5)}), "language": text(2, 5), "instructions": goodDocument,
	"createdAt": timestamp, "updatedAt": timestamp,
	"stats": object(shape{
		"runs": count, "totalWords": count, "totalPages": count, "totalDuration": count, "latestRunDuration": count,
		"latestPages": count, "latestWords": count,
	}),
	"lastRun?":    object(shape{"state": one("queued"), "reason": text(10, 200), "requestedAt": timestamp}),
	"permissions": booleans("view edit"), "urls": object(shape{"location": uri}),
}

func TestTranslation(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	token := h.ours.Tokens[schema.RoleCreate]
	path := "/v1/orgs/" + h.ours.Organization.ID + "/translations"
	a := h.do("POST", path, token, fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"pt-br","extra":1}`, h.ours.Space.ID))
	made := wantShape(t, translationShape, a.body)
	one := path + "/" + made["id"].(string)
	if a.status != 201 || a.header.Get("Location") != "https://docs.example.com/base"+one || made["status"] != "pending" || made["lastRun"] != nil {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if diff := cmp.Diff(map[string]any{"object": "document", "data": map[string]any{"schemaVersion": 1.0}, "nodes": []any{}}, made["instructions"]); diff != "" {
		t.Error(diff)
	}
	// Instructions are completed to what the grammar wants.
	a = h.do("PUT", one, token, `{"instructions":{"nodes":[{"type":"paragraph","nodes":[{"object":"text","leaves":[{"text":"Be polite."}]}]}]}}`)
	changed := wantShape(t, translationShape, a.body)
	var document schema.Document
	raw, _ := json.Marshal(changed["instructions"])
	if err := json.Unmarshal(raw, &document); err != nil || a.status != 200 || len(document.Problems("")) > 0 || document.Nodes[0].Nodes[0].Leaves[0].Text != "Be polite." {
		t.Errorf("%d %s %v", a.status, a.body, document.Problems(""))
	}
	// Runs are counted, also those that are asked for at once, and say why nothing happens.
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			if a := h.do("POST", one+"/run", token, nil); a.status != 204 || len(a.body) != 0 {
				t.Errorf("run: %d %s", a.status, a.body)
			}
		})
	}
	wait.Wait()
	read := wantShape(t, translationShape, h.do("GET", one, h.ours.Tokens[schema.RoleRead], nil).body)
	if read["stats"].(map[string]any)["runs"] != 0.0 || read["lastRun"] == nil || read["permissions"].(map[string]any)["edit"] != false {
		t.Errorf("%v", read)
	}
	listed := wantShape(t, listShape(translationShape), h.do("GET", path, h.ours.Tokens[schema.RoleRead], nil).body)
	if diff := cmp.Diff([]any{read}, listed["items"]); diff != "" || listed["count"] != 1.0 {
		t.Error(diff)
	}
	for range 2 {
		if a := h.do("DELETE", one, token, nil); a.status != 204 {
			t.Errorf("delete: %d %s", a.status, a.body)
		}
	}
	h.wantError(h.do("GET", one, token, nil), 404)
	h.wantError(h.do("POST", one+"/run", token, nil), 404)
	h.wantError(h.do("PUT", one, token, `{"instructions":{"nodes":[]}}`), 404)
}

// TestTranslationOfHiddenSpace names spaces that the caller has no access to.
func TestTranslationOfHiddenSpace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.exec("update spaces set default_level = null where id = $1", h.ours.Space.ID)
	path := "/v1/orgs/" + h.ours.Organization.ID + "/translations"
	body := func(space string) string {
		return fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"fr"}`, space)
	}
	for token, space := range map[string]string{
		h.ours.Tokens[schema.RoleCreate]: h.ours.Space.ID, h.ours.Tokens[schema.RoleAdmin]: h.theirs.Space.ID,
	} {
		e := h.wantError(h.do("POST", path, token, body(space)), 400)
		if e.Details[0].Field != "source.space" {
			t.Errorf("%+v", e)
		}
	}
	if a := h.do("POST", path, h.ours.Tokens[schema.RoleAdmin], body(h.ours.Space.ID)); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestBadTranslations(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	values := examples["updateTranslation"].make(h, h.ours)
	path := "/v1/orgs/" + h.ours.Organization.ID + "/translations"
	source := fmt.Sprintf(`"source":{"space":%q,"language":"en"}`, h.ours.Space.ID)
	before := h.rows()
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
		e := h.wantError(h.do(test.method, test.path, h.ours.Tokens[schema.RoleAdmin], test.body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s: %+v", test.body, e)
		}
	}
	if after := h.rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}
