package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/storetest"
)

func contentExamples() {
	examples["updateChangeRequestContent"] = example{
		body: `{"changes":[{"operation":"insert_page","title":"Hello","document":{"markdown":"# Hi"}}]}`,
		make: func(h *harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{"changeRequestId": h.changeRequest(tenant).ID}
		},
	}
	page := func(h *harness, tenant *storetest.Tenant) map[string]string {
		id, path, revision := h.mergedPage(tenant)
		return map[string]string{"pageId": id, "pagePath": path, "revisionId": revision}
	}
	for _, id := range []string{"getPageById", "getPageByPath", "getRevisionById"} {
		examples[id] = example{make: page}
	}
	examples["searchSpaceContent"] = example{query: "?query=hello"}
	examples["searchOrganizationContent"] = example{query: "?query=hello"}
	signed := func(path string) example {
		return example{query: "?{signed}", make: func(h *harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{"signed": h.signed(tenant, path)}
		}}
	}
	examples["downloadPDF"], examples["downloadFile"] = signed("/exports/pdf"), signed("/exports/file")
}

// mergedPage makes a page in a tenant's main content, past HTTP.
func (h *harness) mergedPage(tenant *storetest.Tenant) (id, path, revision string) {
	h.t.Helper()
	request, title := h.changeRequest(tenant), "Hello"
	user := tenant.Users[schema.RoleAdmin].ID
	row, err := h.st.ChangeContent(h.t.Context(), request, store.ContentChange{
		UserID: user, Pages: []tree.Change{tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &title}}},
		Names: []string{"x"}, Files: []store.NewFile{{Name: "a.txt", ContentType: "text/plain", Content: []byte("content")}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	merged, err := h.st.MergeChangeRequest(h.t.Context(), row.ChangeRequest, user, false)
	if err != nil || merged.Conflicts {
		h.t.Fatal(merged, err)
	}
	read, err := h.st.Revision(h.t.Context(), tenant.Space.ID, merged.Revision)
	if err != nil {
		h.t.Fatal(err)
	}
	page := read.Pages[len(read.Pages)-1]
	return page.ID, page.Slug, merged.Revision
}

// signed gives the query of a signed address.
func (h *harness) signed(tenant *storetest.Tenant, path string) string {
	h.t.Helper()
	_, _, revision := h.mergedPage(tenant)
	token := tenant.Tokens[schema.RoleAdmin]
	var address string
	if path == "/exports/file" {
		a := h.do("GET", "/v1/spaces/"+tenant.Space.ID+"/revisions/"+revision, token, nil)
		address = decode[schema.Revision](h, a).Files[0].DownloadURL
	} else {
		a := h.do("GET", "/v1/spaces/"+tenant.Space.ID+"/change-requests/1/pdf", token, nil)
		address = decode[schema.ExportURL](h, a).URL
	}
	_, query, _ := strings.Cut(address, "?")
	return query
}

// decode reads an answer that must be a success.
func decode[T any](h *harness, a answer) T {
	h.t.Helper()
	var value T
	decodeInto(h, a, &value)
	return value
}

func decodeInto[T any](h *harness, a answer, into *T) T {
	h.t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil || a.status >= 300 {
		h.t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return *into
}

// changeContent applies changes, given as JSON objects, to a change request.
func (h *harness) changeContent(role schema.Role, request string, changes ...string) schema.ChangeRequest {
	h.t.Helper()
	return ask[schema.ChangeRequest](h, role, "POST", h.requestPath(request)+"/content", `{"changes":[`+strings.Join(changes, ",")+`]}`, 200)
}

func (h *harness) mergeNow(request string) schema.MergeResult {
	h.t.Helper()
	return ask[schema.MergeResult](h, schema.RoleAdmin, "POST", h.requestPath(request)+"/merge", nil, 200)
}

// outline writes a tree in one line.
func outline(pages []schema.RevisionPage) string {
	var parts []string
	for _, p := range pages {
		part := p.Type[:1] + ":" + p.Title
		if p.Path != "" {
			part += "@" + p.Path
		}
		if len(p.Pages) > 0 {
			part += "(" + outline(p.Pages) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

var pageURL = object(shape{"app": uri})

// pageShape is what a page may be; body is the text that a read of a document has.
func pageShape(body shape) func(v any) error {
	document := shape{
		"id": id, "kind": one("sheet"), "type": one("document"), "title": text(1, 1000), "emoji?": text(1, 50), "icon?": text(1, 50),
		"createdAt": timestamp, "updatedAt": timestamp, "urls": pageURL, "slug": text(1, 100), "path": text(1, 2000), "pages": pagesShape,
		"layout": anyObject, "description?": text(1, 1000), "documentId?": text(64, 64), "hidden?": boolean, "noIndex?": boolean,
		"noRobotsIndex?": boolean,
	}
	maps.Copy(document, body)
	shapes := map[any]shape{"document": document, "group": {
		"id": id, "kind": one("group"), "type": one("group"), "title": text(1, 1000), "emoji?": text(1, 50), "icon?": text(1, 50),
		"createdAt": timestamp, "updatedAt": timestamp, "slug": text(1, 100), "path": text(1, 2000), "pages": pagesShape,
		"hidden?": boolean, "noIndex?": boolean, "noRobotsIndex?": boolean,
	}, "link": {
		"id": id, "kind": one("link"), "type": one("link"), "title": text(1, 1000), "emoji?": text(1, 50), "icon?": text(1, 50),
		"createdAt": timestamp, "updatedAt": timestamp, "target": anyObject, "href?": text(1, 2000), "hidden?": boolean,
	}}
	return func(v any) error {
		page, _ := v.(map[string]any)
		return checkShape(shapes[page["type"]], v)
	}
}

var revisionShape = shape{
	"object": one("revision"), "id": id, "type": one("edits", "merge", "update"), "parents": list(id), "pages": pagesShape,
	"files":            list(object(shape{"id": id, "name": text(1, 256), "contentType": text(3, 128), "downloadURL": uri, "size": count})),
	"reusableContents": list(id), "createdAt": timestamp, "urls": object(shape{"app": uri, "published?": uri, "public?": uri}),
	"mergedFrom?": object(changeRequestShape),
}

func pagesShape(v any) error { return list(pageShape(nil))(v) }

func TestContentOfChangeRequests(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	space := "/v1/spaces/" + h.ours.Space.ID
	request := h.changeRequest(h.ours)
	path := h.requestPath(request.ID)
	changed := h.changeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","type":"group","title":"Guides","ref":"guides"}`,
		`{"operation":"insert_page","into":"guides","title":"Getting started","document":{"markdown":"# Install\n\nRun **it**."},"ref":"start"}`,
		`{"operation":"insert_page","into":"start","title":"Getting started","hidden":true,"noIndex":true}`,
		`{"operation":"insert_page","into":"guides","at":0,"title":"Basics","emoji":"1f4d6","icon":"book","description":"All of it","slug":"first"}`,
		`{"operation":"insert_page","type":"link","title":"Site","target":{"kind":"url","url":"https://example.com/"}}`,
	)
	if changed.Revision == request.Revision || changed.RevisionInitial != request.Revision || changed.Outdated {
		t.Errorf("%+v", changed)
	}
	// The main content has none of it yet.
	if got := ask[schema.RevisionPages](h, schema.RoleRead, "GET", space+"/content/pages", nil, 200); len(got.Pages) != 0 {
		t.Errorf("%+v", got)
	}
	const want = "g:Guides@guides(d:Basics@guides/first d:Getting started@guides/getting-started(d:Getting started@guides/getting-started/getting-started)) l:Site"
	pages := ask[schema.RevisionPages](h, schema.RoleRead, "GET", path+"/content/pages", nil, 200).Pages
	if got := outline(pages); got != want {
		t.Errorf("%s", got)
	}
	for _, read := range []string{path + "/content", space + "/revisions/" + changed.Revision} {
		revision := wantShape(t, revisionShape, h.do("GET", read+"?metadata=false&computed=false", h.ours.Tokens[schema.RoleRead], nil).body)
		if revision["id"] != changed.Revision || revision["type"] != "edits" || fmt.Sprint(revision["parents"]) != "["+request.Revision+"]" {
			t.Errorf("%s: %v", read, revision)
		}
	}
	h.wantError(h.do("GET", space+"/content/page/"+pages[0].ID, h.ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	merged := h.mergeNow(request.ID)
	current := wantShape(t, revisionShape, h.do("GET", space+"/content", h.ours.Tokens[schema.RoleRead], nil).body)
	if current["id"] != merged.Revision || current["type"] != "merge" || current["mergedFrom"].(map[string]any)["id"] != request.ID ||
		len(current["parents"].([]any)) != 2 {
		t.Errorf("%v", current)
	}
	if got := ask[schema.Space](h, schema.RoleRead, "GET", space, nil, 200); got.Revision != merged.Revision {
		t.Errorf("%+v", got)
	}

	start := pages[0].Pages[1]
	read := func(query string, body shape) map[string]any {
		a := h.do("GET", space+query, h.ours.Tokens[schema.RoleRead], nil)
		value := map[string]any{}
		if err := pageShape(body)(decodeInto(h, a, &value)); err != nil || a.status != 200 {
			t.Errorf("%s: %d %v in %s", query, a.status, err, a.body)
		}
		return value
	}
	document, markdown := shape{"document": anyObject}, shape{"markdown": text(1, 1000)}
	for _, address := range []string{"/content/page/" + start.ID, "/content/path/guides/getting-started", "/content/path/guides%2Fgetting-started", "/content/path/guides%2fgetting-started/"} {
		for query, body := range map[string]shape{"": document, "?format=document": document, "?format=markdown&evaluated=deterministic-only": markdown} {
			if got := read(address+query, body); got["id"] != start.ID || got["path"] != "guides/getting-started" {
				t.Errorf("%s: %v", address, got)
			}
		}
	}
	if got := read("/content/page/"+start.ID+"?format=markdown", markdown)["markdown"]; strings.TrimSpace(got.(string)) != "# Install\n\nRun **it**." {
		t.Errorf("%q", got)
	}
	if got := read("/content/path/guides", nil); got["type"] != "group" {
		t.Errorf("%v", got)
	}
	if got := read("/content/page/"+pages[1].ID, nil); got["href"] != "https://example.com/" {
		t.Errorf("%v", got)
	}
	for _, nothing := range []string{"/content/path/nothing", "/content/path/", "/content/path/%ff", "/content/page/nothing", "/revisions/nothing"} {
		h.wantError(h.do("GET", space+nothing, h.ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	}
	h.wantError(h.do("GET", space+"/content/page/"+start.ID+"?format=html", h.ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest)
	h.wantError(h.do("GET", space+"/content/page/"+start.ID+"?evaluated=x", h.ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest)
	// Another tenant's revision is not found below our space.
	_, _, foreign := h.mergedPage(h.theirs)
	h.wantError(h.do("GET", space+"/revisions/"+foreign, h.ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	h.wantError(h.do("POST", path+"/content", h.ours.Tokens[schema.RoleEdit], `{"changes":[{"operation":"insert_page"}]}`), http.StatusConflict)

	// Update, move, delete and revert in a second request.
	second := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, second.ID,
		`{"operation":"update_page","page":"`+start.ID+`","into":null,"at":0,"title":"Start","document":{"document":{"nodes":[{"type":"paragraph"}]}}}`,
		`{"operation":"delete_page","page":"`+pages[0].Pages[0].ID+`"}`,
	)
	after := ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.requestPath(second.ID)+"/content/pages", nil, 200).Pages
	if got := outline(after); got != "d:Start@getting-started(d:Getting started@getting-started/getting-started) g:Guides@guides l:Site" {
		t.Errorf("%s", got)
	}
	h.changeContent(schema.RoleEdit, second.ID,
		`{"operation":"revert_page","page":"`+start.ID+`"}`, `{"operation":"update_page","page":"`+start.ID+`","into":"`+pages[0].ID+`"}`,
		`{"operation":"revert_page","page":"`+pages[0].Pages[0].ID+`","revision":"`+merged.Revision+`"}`)
	back := ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.requestPath(second.ID)+"/content/pages", nil, 200).Pages
	if got := outline(back); got != want {
		t.Errorf("%s", got)
	}
}

func TestContentIsAllOrNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	request := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, request.ID, `{"operation":"insert_page","title":"Kept"}`)
	path := h.requestPath(request.ID) + "/content"
	kept := ask[schema.RevisionPages](h, schema.RoleEdit, "GET", path+"/pages", nil, 200).Pages[0].ID
	before, state := h.rows(), h.do("GET", h.requestPath(request.ID), h.ours.Tokens[schema.RoleEdit], nil)
	const good = `{"operation":"insert_page","title":"Good","document":{"markdown":"x"}}`
	for change, field := range map[string]string{
		`{}`:                          "changes[1].operation",
		`{"operation":"burn"}`:        "changes[1].operation",
		`{"operation":"update_page"}`: "changes[1].page",
		`{"operation":"delete_page","page":"nothing"}`:                                                  "changes[1].page",
		`{"operation":"revert_page","page":"` + kept + `","revision":"nothing"}`:                        "changes[1].revision",
		`{"operation":"revert_page","page":"` + kept + `","block":["b"]}`:                               "changes[1].block",
		`{"operation":"insert_page","into":"nothing"}`:                                                  "changes[1].into",
		`{"operation":"insert_page","at":-1}`:                                                           "changes[1].at",
		`{"operation":"insert_page","slug":"a/b"}`:                                                      "changes[1].slug",
		`{"operation":"insert_page","slug":"kept"}`:                                                     "changes[1].slug",
		`{"operation":"insert_page","title":" "}`:                                                       "changes[1].title",
		`{"operation":"insert_page","title":""}`:                                                        "changes[1].title",
		`{"operation":"insert_page","type":"computed"}`:                                                 "changes[1].type",
		`{"operation":"insert_page","type":"link"}`:                                                     "changes[1].target",
		`{"operation":"insert_page","type":"link","target":{"kind":"odd"}}`:                             "changes[1].target.kind",
		`{"operation":"insert_page","type":"group","document":{"markdown":"x"}}`:                        "changes[1].document",
		`{"operation":"insert_page","document":{"markdown":"x","document":{}}}`:                         "changes[1].document.document.nodes",
		`{"operation":"insert_page","document":{"markdown":"x","document":{"nodes":[]}}}`:               "changes[1].document",
		`{"operation":"insert_page","document":{"document":{"nodes":[{"type":"odd"}]}}}`:                "changes[1].document.document.nodes[0].type",
		`{"operation":"update_page","page":"` + kept + `","into":"` + kept + `"}`:                       "changes[1].into",
		`{"operation":"insert_files"}`:                                                                  "changes[1].files",
		`{"operation":"insert_files","files":[{"name":"x","url":"https://example.com/x.png"}]}`:         "changes[1].files[0].url",
		`{"operation":"insert_files","files":[{"name":"x","base64":"?"}]}`:                              "changes[1].files[0].base64",
		`{"operation":"insert_files","files":[{"name":"x"}]}`:                                           "changes[1].files[0].base64",
		`{"operation":"insert_files","files":[{"base64":"eA=="}]}`:                                      "changes[1].files[0].name",
		`{"operation":"insert_files","files":[{"name":"x","base64":"eA==","contentType":"a\nb: c/d"}]}`: "changes[1].files[0].contentType",
	} {
		e := h.wantError(h.do("POST", path, h.ours.Tokens[schema.RoleEdit], `{"changes":[`+good+`,`+change+`]}`), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v, want %s", change, e, field)
		}
	}
	many := `{"changes":[` + strings.Repeat(good+",", 50) + good + `]}`
	for _, body := range []string{`{}`, `{"changes":[]}`, `{"changes":null}`, many} {
		if e := h.wantError(h.do("POST", path, h.ours.Tokens[schema.RoleEdit], body), http.StatusBadRequest); e.Details[0].Field != "changes" {
			t.Errorf("%+v", e)
		}
	}
	if after := h.rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
	// Changes that come to nothing make no revision.
	h.changeContent(schema.RoleEdit, request.ID, `{"operation":"update_page","page":"`+kept+`","title":"Kept"}`)
	if again := h.do("GET", h.requestPath(request.ID), h.ours.Tokens[schema.RoleEdit], nil); string(again.body) != string(state.body) {
		t.Errorf("%s, before %s", again.body, state.body)
	}
}

// TestParallelContent has several editors on one request: every one's page is there in the end.
func TestParallelContent(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	request := h.changeRequest(h.ours)
	const editors, each = 5, 4
	var wait sync.WaitGroup
	for i := range editors {
		wait.Go(func() {
			for range each {
				h.changeContent(schema.RoleEdit, request.ID, fmt.Sprintf(`{"operation":"insert_page","title":"Page %d","document":{"markdown":"same"}}`, i))
			}
		})
	}
	wait.Wait()
	pages := ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.requestPath(request.ID)+"/content/pages", nil, 200).Pages
	var slugs []string
	for _, p := range pages {
		slugs = append(slugs, p.Slug)
	}
	slices.Sort(slugs)
	if len(slices.Compact(slugs)) != editors*each {
		t.Errorf("%q", slugs)
	}
}

func TestUpdateAndConflicts(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	insert := func(title string) string { return `{"operation":"insert_page","title":"` + title + `"}` }
	update := func(id string) schema.MergeResult {
		return ask[schema.MergeResult](h, schema.RoleEdit, "POST", h.requestPath(id)+"/update", nil, 200)
	}
	get := func(id string) schema.ChangeRequest {
		return ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.requestPath(id), nil, 200)
	}
	first, empty, rival := h.changeRequest(h.ours), h.changeRequest(h.ours), h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, first.ID, insert("First"))
	h.changeContent(schema.RoleEdit, rival.ID, insert("Rival"))
	before := get(rival.ID)
	// Main did not move: there is nothing to do.
	if got := update(rival.ID); got.Result != "update" || got.Revision != before.Revision {
		t.Errorf("%+v", got)
	}
	head := h.mergeNow(first.ID).Revision
	if got := get(rival.ID); !got.Outdated || got.RevisionMergedAncestor != "" {
		t.Errorf("%+v", got)
	}
	if !get(empty.ID).Outdated {
		t.Error("the empty request is not outdated")
	}
	// Without changes of its own, a request takes what main has.
	if got := update(empty.ID); got.Result != "update" || got.Revision != head {
		t.Errorf("%+v", got)
	}
	if got := get(empty.ID); got.Outdated || got.Revision != head || got.RevisionMergedAncestor != head || got.RevisionInitial != empty.RevisionInitial {
		t.Errorf("%+v", got)
	}
	// Both sides moved: nothing changes, and the answer says so.
	stale := get(rival.ID)
	rows := h.rows()
	if got := update(rival.ID); got.Result != "conflicts" || got.Revision != stale.Revision {
		t.Errorf("%+v", got)
	}
	if got := h.mergeNow(rival.ID); got.Result != "conflicts" || got.Revision != stale.Revision {
		t.Errorf("%+v", got)
	}
	if got := get(rival.ID); fmt.Sprint(got) != fmt.Sprint(stale) || fmt.Sprint(h.rows()) != fmt.Sprint(rows) {
		t.Errorf("%+v, before %+v", got, stale)
	}
	// Main moved without another content: the request's changes go on top of it.
	late := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, late.ID, insert("Late"))
	head = h.mergeNow(empty.ID).Revision
	if got := update(late.ID); got.Result != "update" || got.Revision == head {
		t.Errorf("%+v", got)
	}
	revision := ask[schema.Revision](h, schema.RoleRead, "GET", h.requestPath(late.ID)+"/content", nil, 200)
	if revision.Type != "update" || !slices.Contains(revision.Parents, head) || outline(revision.Pages) != "d:First@first d:Late@late" {
		t.Errorf("%+v", revision)
	}
	if got := h.mergeNow(late.ID); got.Result != "merge" {
		t.Errorf("%+v", got)
	}
	pages := ask[schema.RevisionPages](h, schema.RoleRead, "GET", "/v1/spaces/"+h.ours.Space.ID+"/content/pages", nil, 200)
	if outline(pages.Pages) != "d:First@first d:Late@late" {
		t.Errorf("%s", outline(pages.Pages))
	}
}

// TestMergeRulesAreAsked merges only what the space's rules, or those it inherits, allow.
func TestMergeRulesAreAsked(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	request := h.changeRequest(h.ours)
	const rules = `{"mergeRules":{"type":"rules","rules":[{"rule":"require_at_least_one_review"}]}}`
	ask[json.RawMessage](h, schema.RoleAdmin, "PATCH", "/v1/orgs/"+h.ours.Organization.ID, rules, 200)
	merge := h.requestPath(request.ID) + "/merge"
	if got := h.do("POST", merge, h.ours.Tokens[schema.RoleAdmin], nil); got.status != http.StatusConflict ||
		!strings.Contains(string(got.body), "require_at_least_one_review") {
		t.Errorf("%d %s", got.status, got.body)
	}
	ask[json.RawMessage](h, schema.RoleAdmin, "PATCH", "/v1/spaces/"+h.ours.Space.ID, `{"mergeRules":{"type":"none"}}`, 200)
	// A request that changed after it was judged is not merged.
	if _, err := h.st.EditChangeRequest(t.Context(), request, store.ChangeRequestEdit{Subject: new(string)}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.st.MergeChangeRequest(t.Context(), request, request.CreatedBy, false); !schema.IsCode(err, schema.CodeConflict) {
		t.Errorf("%v", err)
	}
	if got := h.mergeNow(request.ID); got.Result != schema.ResultMerge {
		t.Errorf("%+v", got)
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	request := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"Top","ref":"top","document":{"markdown":"# Words"}}`, `{"operation":"insert_page","title":"Below","into":"top"}`,
		`{"operation":"insert_files","files":[{"name":"ä \"b\".png","base64":"`+base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nxx"))+`"},`+
			`{"name":"page.html","contentType":"text/html","base64":"`+base64.StdEncoding.EncodeToString([]byte("<script>"))+`"}]}`)
	path := h.requestPath(request.ID)
	revision := ask[schema.Revision](h, schema.RoleRead, "GET", path+"/content", nil, 200)
	fetch := func(address string) answer {
		t.Helper()
		local, ok := strings.CutPrefix(address, "https://docs.example.com/base")
		if !ok {
			t.Fatalf("address %q", address)
		}
		return h.do("GET", local, "", nil)
	}
	page := revision.Pages[0].ID
	sizes := map[string]int{}
	for _, query := range []string{"", "?page=" + page, "?only=true&page=" + page, "?only=false"} {
		a := fetch(ask[schema.ExportURL](h, schema.RoleRead, "GET", path+"/pdf"+query, nil, 200).URL)
		if a.status != 200 || a.header.Get("Content-Type") != "application/pdf" || !strings.HasPrefix(string(a.body), "%PDF-") {
			t.Errorf("%s: %d %v", query, a.status, a.header)
		}
		sizes[query] = len(a.body)
	}
	if sizes["?only=true&page="+page] >= sizes["?page="+page] {
		t.Errorf("one page is no smaller than with those below it: %v", sizes)
	}
	h.wantError(h.do("GET", path+"/pdf?page=nothing", h.ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	good := ask[schema.ExportURL](h, schema.RoleRead, "GET", path+"/pdf", nil, 200).URL
	spoil := func(name, value string) string {
		u, err := url.Parse(good)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
		return u.String()
	}
	for _, bad := range []string{
		spoil("revision", h.ours.Space.Revision), spoil("space", h.theirs.Space.ID), spoil("expires", "9999999999"), spoil("page", page),
		spoil("only", "true"), spoil("signature", "AAAA"), spoil("signature", "?"), strings.Replace(good, "/exports/pdf", "/exports/file", 1) + "&file=x",
	} {
		h.wantError(fetch(bad), http.StatusForbidden)
	}
	h.wantError(h.do("GET", "/v1/exports/pdf", "", nil), http.StatusBadRequest)

	if len(revision.Files) != 2 || revision.Files[0].ContentType != "image/png" || revision.Files[0].Size != 10 {
		t.Fatalf("%+v", revision.Files)
	}
	for i, content := range []string{"\x89PNG\r\n\x1a\nxx", "<script>"} {
		a := fetch(revision.Files[i].DownloadURL)
		if a.status != 200 || string(a.body) != content || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment; filename") ||
			a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Content-Type") != revision.Files[i].ContentType {
			t.Errorf("%d %v %q", a.status, a.header, a.body)
		}
	}
	h.mergeNow(request.ID)
	if merged := ask[schema.Revision](h, schema.RoleRead, "GET", "/v1/spaces/"+h.ours.Space.ID+"/content", nil, 200); len(merged.Files) != 2 {
		t.Errorf("%+v", merged.Files)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	request := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"Installing","ref":"i","document":{"markdown":"Run the **command** twice."}}`,
		`{"operation":"insert_page","title":"Commands","into":"i","document":{"markdown":"What to install."}}`,
		`{"operation":"insert_page","title":"Secret command","noIndex":true}`,
		`{"operation":"insert_page","title":"Über uns","document":{"markdown":"Wir sind viele."}}`,
	)
	search := "/v1/spaces/" + h.ours.Space.ID + "/search?query="
	titles := func(query string) string {
		list := ask[schema.List[schema.SearchPageResult]](h, schema.RoleRead, "GET", search+query, nil, 200)
		var found []string
		for _, page := range list.Items {
			found = append(found, page.Title+"@"+page.Path)
		}
		if list.Count != int64(len(found)) {
			t.Errorf("%s: count %d", query, list.Count)
		}
		return strings.Join(found, " ")
	}
	if got := titles("command"); got != "" {
		t.Errorf("what is not merged is found: %s", got)
	}
	h.mergeNow(request.ID)
	for query, want := range map[string]string{
		"command":                      "Commands@installing/commands Installing@installing",
		"install":                      "Installing@installing Commands@installing/commands",
		"%C3%BCber":                    "Über uns@über-uns",
		"viele":                        "Über uns@über-uns",
		"nothing":                      "",
		"":                             "",
		url.QueryEscape(`"run the"`):   "Installing@installing",
		url.QueryEscape(`'&|!():*\ "`): "",
		"command+-twice":               "Commands@installing/commands",
	} {
		if got := titles(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	a := h.do("GET", search+"command&limit=1", h.ours.Tokens[schema.RoleRead], nil)
	wantShape(t, listShape(shape{"id": id, "title": text(1, 100), "path": text(1, 100), "urls": pageURL}), a.body)
	first := decode[schema.List[schema.SearchPageResult]](h, a)
	second := ask[schema.List[schema.SearchPageResult]](h, schema.RoleRead, "GET", search+"command&limit=1&page="+first.Next.Page, nil, 200)
	if second.Next != nil || len(second.Items) != 1 || second.Items[0].Title != "Installing" || first.Items[0].Title != "Commands" {
		t.Errorf("%+v %+v", first, second)
	}
	for _, bad := range []string{"/v1/spaces/" + h.ours.Space.ID + "/search", search + strings.Repeat("x", 513)} {
		if e := h.wantError(h.do("GET", bad, h.ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest); e.Details[0].Field != "query" {
			t.Errorf("%+v", e)
		}
	}
	// Over the organization, the pages come by their spaces, and those of others do not.
	h.mergedPage(h.theirs)
	organization := "/v1/orgs/" + h.ours.Organization.ID + "/search?query="
	a = h.do("GET", organization+"command", h.ours.Tokens[schema.RoleRead], nil)
	wantShape(t, listShape(shape{"id": id, "title": text(1, 100), "pages": list(anyObject)}), a.body)
	if spaces := decode[schema.List[schema.SearchSpaceResult]](h, a); len(spaces.Items) != 1 || spaces.Count != 1 || len(spaces.Items[0].Pages) != 2 {
		t.Errorf("%s", a.body)
	}
	if got := ask[schema.List[schema.SearchSpaceResult]](h, schema.RoleRead, "GET", organization+"hello", nil, 200); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	// A page that is gone or has another text is found so.
	next := h.changeRequest(h.ours)
	pages := ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.requestPath(next.ID)+"/content/pages", nil, 200).Pages
	h.changeContent(schema.RoleEdit, next.ID, `{"operation":"delete_page","page":"`+pages[0].Pages[0].ID+`"}`,
		`{"operation":"update_page","page":"`+pages[0].ID+`","document":{"markdown":"Only once."}}`)
	h.mergeNow(next.ID)
	if got := titles("command") + titles("once"); got != "Installing@installing" {
		t.Errorf("%q", got)
	}
}
