package content_test

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
	"sync/atomic"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

// outline returns a tree of pages in one line.
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

var pageURL = shape.Object(shape.Of{"app": shape.URI})

// pageShape returns the shape of a page. body is the shape of its text, if the text is read as a document.
func pageShape(body shape.Of) func(v any) error {
	document := shape.Of{
		"id": shape.ID, "kind": shape.One("sheet"), "type": shape.One("document"), "title": shape.Text(1, 1000), "emoji?": shape.Text(1, 50), "icon?": shape.Text(1, 50),
		"createdAt": shape.Timestamp, "updatedAt": shape.Timestamp, "urls": pageURL, "slug": shape.Text(1, 100), "path": shape.Text(1, 2000), "pages": pagesShape,
		"layout": anyObject, "description?": shape.Text(1, 1000), "documentId?": shape.Text(64, 64), "hidden?": shape.Boolean, "noIndex?": shape.Boolean,
		"noRobotsIndex?": shape.Boolean,
		"tags":           shape.List(shape.Object(shape.Of{"tag": anyObject, "primary?": shape.Boolean})),
	}
	maps.Copy(document, body)
	shapes := map[any]shape.Of{"document": document, "group": {
		"id": shape.ID, "kind": shape.One("group"), "type": shape.One("group"), "title": shape.Text(1, 1000), "emoji?": shape.Text(1, 50), "icon?": shape.Text(1, 50),
		"createdAt": shape.Timestamp, "updatedAt": shape.Timestamp, "slug": shape.Text(1, 100), "path": shape.Text(1, 2000), "pages": pagesShape,
		"hidden?": shape.Boolean, "noIndex?": shape.Boolean, "noRobotsIndex?": shape.Boolean,
	}, "link": {
		"id": shape.ID, "kind": shape.One("link"), "type": shape.One("link"), "title": shape.Text(1, 1000), "emoji?": shape.Text(1, 50), "icon?": shape.Text(1, 50),
		"createdAt": shape.Timestamp, "updatedAt": shape.Timestamp, "target": anyObject, "href?": shape.Text(1, 2000), "hidden?": shape.Boolean,
	}}
	return func(v any) error {
		page, _ := v.(map[string]any)
		return shape.Check(shapes[page["type"]], v)
	}
}

var revisionShape = shape.Of{
	"object": shape.One("revision"), "id": shape.ID, "type": shape.One("edits", "merge", "update"), "parents": shape.List(shape.ID), "pages": pagesShape,
	"files":            shape.List(shape.Object(shape.Of{"id": shape.ID, "name": shape.Text(1, 256), "contentType": shape.Text(3, 128), "downloadURL": shape.URI, "size": shape.Count})),
	"reusableContents": shape.List(shape.ID), "tags": shape.List(anyObject), "createdAt": shape.Timestamp,
	"urls":        shape.Object(shape.Of{"app": shape.URI, "published?": shape.URI, "public?": shape.URI}),
	"mergedFrom?": shape.Object(changeRequestShape),
}

func pagesShape(v any) error { return shape.List(pageShape(nil))(v) }

func TestContentOfChangeRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space := "/v1/spaces/" + h.Ours.Space.ID
	request := h.ChangeRequest(h.Ours)
	path := h.RequestPath(request.ID)
	changed := h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","type":"group","title":"Guides","ref":"guides"}`,
		`{"operation":"insert_page","into":"guides","title":"Getting started","document":{"markdown":"# Install\n\nRun **it**."},"ref":"start"}`,
		`{"operation":"insert_page","into":"start","title":"Getting started","hidden":true,"noIndex":true}`,
		`{"operation":"insert_page","into":"guides","at":0,"title":"Basics","emoji":"1f4d6","icon":"book","description":"All of it","slug":"first"}`,
		`{"operation":"insert_page","type":"link","title":"Site","target":{"kind":"url","url":"https://example.com/"}}`,
	)
	if changed.Revision == request.Revision || changed.RevisionInitial != request.Revision || changed.Outdated {
		t.Errorf("%+v", changed)
	}
	// The main content does not have these changes yet.
	if got := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", space+"/content/pages", nil, 200); len(got.Pages) != 0 {
		t.Errorf("%+v", got)
	}
	const want = "g:Guides@guides(d:Basics@guides/first d:Getting started@guides/getting-started(d:Getting started@guides/getting-started/getting-started)) l:Site"
	pages := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", path+"/content/pages", nil, 200).Pages
	if got := outline(pages); got != want {
		t.Errorf("%s", got)
	}
	for _, read := range []string{path + "/content", space + "/revisions/" + changed.Revision} {
		revision := shape.Want(t, revisionShape, h.Do("GET", read+"?metadata=false&computed=false", h.Ours.Tokens[schema.RoleRead], nil).Body)
		if revision["id"] != changed.Revision || revision["type"] != "edits" || fmt.Sprint(revision["parents"]) != "["+request.Revision+"]" {
			t.Errorf("%s: %v", read, revision)
		}
	}
	h.WantError(h.Do("GET", space+"/content/page/"+pages[0].ID, h.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	merged := h.MergeNow(request.ID)
	current := shape.Want(t, revisionShape, h.Do("GET", space+"/content", h.Ours.Tokens[schema.RoleRead], nil).Body)
	if current["id"] != merged.Revision || current["type"] != "merge" || current["mergedFrom"].(map[string]any)["id"] != request.ID ||
		len(current["parents"].([]any)) != 2 {
		t.Errorf("%v", current)
	}
	if got := apitest.Ask[schema.Space](h, schema.RoleRead, "GET", space, nil, 200); got.Revision != merged.Revision {
		t.Errorf("%+v", got)
	}

	start := pages[0].Pages[1]
	read := func(query string, body shape.Of) map[string]any {
		a := h.Do("GET", space+query, h.Ours.Tokens[schema.RoleRead], nil)
		value := map[string]any{}
		if err := pageShape(body)(apitest.DecodeInto(h, a, &value)); err != nil || a.Status != 200 {
			t.Errorf("%s: %d %v in %s", query, a.Status, err, a.Body)
		}
		return value
	}
	document, markdown := shape.Of{"document": anyObject}, shape.Of{"markdown": shape.Text(1, 1000)}
	for _, address := range []string{"/content/page/" + start.ID, "/content/path/guides/getting-started", "/content/path/guides%2Fgetting-started", "/content/path/guides%2fgetting-started/"} {
		for query, body := range map[string]shape.Of{"": document, "?format=document": document, "?format=markdown&evaluated=deterministic-only": markdown} {
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
		h.WantError(h.Do("GET", space+nothing, h.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	}
	h.WantError(h.Do("GET", space+"/content/page/"+start.ID+"?format=html", h.Ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest)
	h.WantError(h.Do("GET", space+"/content/page/"+start.ID+"?evaluated=x", h.Ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest)
	// A revision of another tenant is not found under a space of this tenant.
	_, _, foreign := h.MergedPage(h.Theirs)
	h.WantError(h.Do("GET", space+"/revisions/"+foreign, h.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	h.WantError(h.Do("POST", path+"/content", h.Ours.Tokens[schema.RoleEdit], `{"changes":[{"operation":"insert_page"}]}`), http.StatusConflict)

	// The second request updates, moves, deletes and reverts pages.
	second := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, second.ID,
		`{"operation":"update_page","page":"`+start.ID+`","into":null,"at":0,"title":"Start","document":{"document":{"nodes":[{"type":"paragraph"}]}}}`,
		`{"operation":"delete_page","page":"`+pages[0].Pages[0].ID+`"}`,
	)
	after := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.RequestPath(second.ID)+"/content/pages", nil, 200).Pages
	if got := outline(after); got != "d:Start@getting-started(d:Getting started@getting-started/getting-started) g:Guides@guides l:Site" {
		t.Errorf("%s", got)
	}
	h.ChangeContent(schema.RoleEdit, second.ID,
		`{"operation":"revert_page","page":"`+start.ID+`"}`, `{"operation":"update_page","page":"`+start.ID+`","into":"`+pages[0].ID+`"}`,
		`{"operation":"revert_page","page":"`+pages[0].Pages[0].ID+`","revision":"`+merged.Revision+`"}`)
	back := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.RequestPath(second.ID)+"/content/pages", nil, 200).Pages
	if got := outline(back); got != want {
		t.Errorf("%s", got)
	}
}

func TestContentIsAllOrNothing(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"insert_page","title":"Kept"}`)
	path := h.RequestPath(request.ID) + "/content"
	kept := apitest.Ask[schema.RevisionPages](h, schema.RoleEdit, "GET", path+"/pages", nil, 200).Pages[0].ID
	before, state := h.Rows(), h.Do("GET", h.RequestPath(request.ID), h.Ours.Tokens[schema.RoleEdit], nil)
	const good = `{"operation":"insert_page","title":"Good","document":{"markdown":"x"}}`
	for change, field := range map[string]string{
		`{}`:                          "changes[1].operation",
		`{"operation":"burn"}`:        "changes[1].operation",
		`{"operation":"update_page"}`: "changes[1].page",
		`{"operation":"delete_page","page":"nothing"}`:                                                  "changes[1].page",
		`{"operation":"revert_page","page":"` + kept + `","revision":"nothing"}`:                        "changes[1].revision",
		`{"operation":"revert_page","page":"` + kept + `","block":["b"]}`:                               "changes[1].block",
		`{"operation":"insert_page","into":"nothing"}`:                                                  "changes[1].into",
		`{"operation":"insert_page","parent":"` + kept + `"}`:                                           "changes[1].parent",
		`{"operation":"insert_page","before":{"page":"` + kept + `"}}`:                                  "changes[1].before",
		`{"operation":"update_page","page":"` + kept + `","after":"nothing"}`:                           "changes[1].after",
		`{"operation":"update_page","page":"` + kept + `","into":"nothing"}`:                            "changes[1].into",
		`{"operation":"update_page","page":"nothing","title":"x"}`:                                      "changes[1].page",
		`{"operation":"revert_page","page":"nothing"}`:                                                  "changes[1].page",
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
		e := h.WantError(h.Do("POST", path, h.Ours.Tokens[schema.RoleEdit], `{"changes":[`+good+`,`+change+`]}`), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v, want %s", change, e, field)
		}
	}
	many := `{"changes":[` + strings.Repeat(good+",", 50) + good + `]}`
	for _, body := range []string{`{}`, `{"changes":[]}`, `{"changes":null}`, many} {
		if e := h.WantError(h.Do("POST", path, h.Ours.Tokens[schema.RoleEdit], body), http.StatusBadRequest); e.Details[0].Field != "changes" {
			t.Errorf("%+v", e)
		}
	}
	if after := h.Rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
	// A change that changes nothing makes no revision.
	h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"update_page","page":"`+kept+`","title":"Kept"}`)
	if again := h.Do("GET", h.RequestPath(request.ID), h.Ours.Tokens[schema.RoleEdit], nil); string(again.Body) != string(state.Body) {
		t.Errorf("%s, before %s", again.Body, state.Body)
	}
}

// TestParallelContent lets several editors change one request concurrently. At the end, the request has the pages of
// all editors.
func TestParallelContent(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	const editors, each = 5, 4
	var wait sync.WaitGroup
	for i := range editors {
		wait.Go(func() {
			for range each {
				h.ChangeContent(schema.RoleEdit, request.ID, fmt.Sprintf(`{"operation":"insert_page","title":"Page %d","document":{"markdown":"same"}}`, i))
			}
		})
	}
	wait.Wait()
	pages := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.RequestPath(request.ID)+"/content/pages", nil, 200).Pages
	var slugs []string
	for _, p := range pages {
		slugs = append(slugs, p.Slug)
	}
	slices.Sort(slugs)
	if len(slices.Compact(slugs)) != editors*each {
		t.Errorf("%q", slugs)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	insert := func(title string) string { return `{"operation":"insert_page","title":"` + title + `"}` }
	update := func(id string) schema.MergeResult {
		return apitest.Ask[schema.MergeResult](h, schema.RoleEdit, "POST", h.RequestPath(id)+"/update", nil, 200)
	}
	get := func(id string) schema.ChangeRequest {
		return apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.RequestPath(id), nil, 200)
	}
	first, empty, rival := h.ChangeRequest(h.Ours), h.ChangeRequest(h.Ours), h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, first.ID, insert("First"))
	h.ChangeContent(schema.RoleEdit, rival.ID, insert("Rival"))
	before := get(rival.ID)
	// The main content has not changed, so the update changes nothing.
	if got := update(rival.ID); got.Result != "update" || got.Revision != before.Revision {
		t.Errorf("%+v", got)
	}
	head := h.MergeNow(first.ID).Revision
	if got := get(rival.ID); !got.Outdated || got.RevisionMergedAncestor != "" {
		t.Errorf("%+v", got)
	}
	if !get(empty.ID).Outdated {
		t.Error("the empty request is not outdated")
	}
	// The request has no changes, so the update gives it the main content.
	if got := update(empty.ID); got.Result != "update" || got.Revision != head {
		t.Errorf("%+v", got)
	}
	if got := get(empty.ID); got.Outdated || got.Revision != head || got.RevisionMergedAncestor != head || got.RevisionInitial != empty.RevisionInitial {
		t.Errorf("%+v", got)
	}
	// Both sides have added pages. The request now has all of these pages.
	if got := update(rival.ID); got.Result != "update" {
		t.Errorf("%+v", got)
	}
	revision := apitest.Ask[schema.Revision](h, schema.RoleRead, "GET", h.RequestPath(rival.ID)+"/content", nil, 200)
	if revision.Type != "update" || !slices.Contains(revision.Parents, head) || outline(revision.Pages) != "d:First@first d:Rival@rival" {
		t.Errorf("%+v", revision)
	}
	// The main content has a new revision with the same content. The changes of the request are applied to this
	// revision.
	late := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, late.ID, insert("Late"))
	head = h.MergeNow(empty.ID).Revision
	if got := update(late.ID); got.Result != "update" || got.Revision == head {
		t.Errorf("%+v", got)
	}
	if got := h.MergeNow(late.ID); got.Result != "merge" {
		t.Errorf("%+v", got)
	}
	if got := h.MergeNow(rival.ID); got.Result != "merge" {
		t.Errorf("%+v", got)
	}
	pages := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/pages", nil, 200)
	if got := outline(pages.Pages); got != "d:First@first d:Late@late d:Rival@rival" && got != "d:First@first d:Rival@rival d:Late@late" {
		t.Errorf("%s", got)
	}
}

// TestConflicts merges two requests that change the title of one page. The second request is in conflict, and it also
// changes another page. No change of the second request is merged.
func TestConflicts(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	id, _, _ := h.MergedPage(h.Ours)
	title := func(title string) string {
		return `{"operation":"update_page","page":"` + id + `","title":"` + title + `"}`
	}
	first, second := h.ChangeRequest(h.Ours), h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, first.ID, title("One"))
	h.ChangeContent(schema.RoleEdit, second.ID, title("Two"), `{"operation":"insert_page","title":"New"}`)
	if got := h.MergeNow(first.ID); got.Result != "merge" {
		t.Errorf("%+v", got)
	}
	stale := apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.RequestPath(second.ID), nil, 200)
	rows := h.Rows()
	for _, operation := range []string{"/update", "/merge"} {
		got := apitest.Ask[schema.MergeResult](h, schema.RoleAdmin, "POST", h.RequestPath(second.ID)+operation, nil, 200)
		if got.Result != "conflicts" || got.Revision != stale.Revision {
			t.Errorf("%s: %+v", operation, got)
		}
	}
	now := apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.RequestPath(second.ID), nil, 200)
	if fmt.Sprint(now) != fmt.Sprint(stale) || fmt.Sprint(h.Rows()) != fmt.Sprint(rows) {
		t.Errorf("%+v, before %+v", now, stale)
	}
	// The author of the second request takes over the title of the main content.
	h.ChangeContent(schema.RoleEdit, second.ID, title("One"))
	if got := h.MergeNow(second.ID); got.Result != "merge" {
		t.Errorf("%+v", got)
	}
	pages := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/pages", nil, 200)
	if got := outline(pages.Pages); got != "d:One@hello d:New@new" {
		t.Errorf("%s", got)
	}
}

// TestChangesOfASeenRevision changes the content of one change request twice, after both writers have read the same
// revision. With this revision, the later change is refused, because it would remove the text of the earlier one.
func TestChangesOfASeenRevision(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	page, _, _ := h.MergedPage(h.Ours)
	request := h.ChangeRequest(h.Ours)
	path := h.RequestPath(request.ID) + "/content"
	token := h.Ours.Tokens[schema.RoleEdit]
	change := func(seen, markdown string) apitest.Answer {
		return h.Do("POST", path+"?revision="+seen, token, map[string]any{"changes": []any{map[string]any{
			"operation": "update_page", "page": page, "document": map[string]any{"markdown": markdown},
		}}})
	}
	text := func() string {
		a := h.Do("GET", path+"/page/"+page+"?format=markdown", token, nil)
		return fmt.Sprint(apitest.DecodeInto(h, a, &map[string]any{})["markdown"])
	}
	seen := request.Revision
	first := change(seen, "One, by Ann.\n\nTwo.\n")
	if first.Status != http.StatusOK {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	var now schema.ChangeRequest
	apitest.DecodeInto(h, first, &now)
	late := h.WantError(change(seen, "One.\n\nTwo, by Bob.\n"), http.StatusConflict)
	if !strings.Contains(late.Message, now.Revision) {
		t.Errorf("%+v", late)
	}
	if got := text(); got != "One, by Ann.\n\nTwo.\n" {
		t.Errorf("%q", got)
	}
	if a := change(now.Revision, "One, by Ann.\n\nTwo, by Bob.\n"); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	} else {
		apitest.DecodeInto(h, a, &now)
	}
	// Of simultaneous changes, one succeeds.
	var changed atomic.Int32
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			switch a := change(now.Revision, fmt.Sprintf("By writer %d.\n", i)); a.Status {
			case http.StatusOK:
				changed.Add(1)
			case http.StatusConflict:
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	if changed.Load() != 1 {
		t.Errorf("%d changes of one revision succeeded", changed.Load())
	}
}

// TestMergesByBlock merges requests that have changed different blocks or different words of one page. If requests have
// changed the same words, they are not merged.
func TestMergesByBlock(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	id, _, _ := h.MergedPage(h.Ours)
	write := func(text string) string {
		request := h.ChangeRequest(h.Ours)
		h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"update_page","page":"`+id+`","document":{"markdown":`+fmt.Sprintf("%q", text)+`}}`)
		return request.ID
	}
	if got := h.MergeNow(write("# Steps\n\nFirst, take a large bowl and wash it.\n\nLast, rest.\n")); got.Result != "merge" {
		t.Fatalf("%+v", got)
	}
	requests := []string{
		write("# Steps\n\nFirst, take a small bowl and wash it.\n\nLast, rest.\n"),
		write("# Steps\n\nFirst, take a large bowl and dry it.\n\nLast, rest.\n"),
		write("# Steps\n\nFirst, take a large bowl and wash it.\n\nStir.\n\nLast, rest well.\n"),
		write("# Steps\n\nFirst, take a huge bowl and wash it.\n\nLast, rest.\n"),
	}
	for i, request := range requests {
		want := map[bool]string{true: "merge", false: "conflicts"}[i < 3]
		if got := h.MergeNow(request); got.Result != want {
			t.Errorf("request %d: %+v, want %s", i, got, want)
		}
	}
	page := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/page/"+id+"?format=markdown", nil, 200)
	if want := "# Steps\n\nFirst, take a small bowl and dry it.\n\nStir.\n\nLast, rest well."; page.Markdown == nil || strings.TrimSpace(*page.Markdown) != want {
		t.Errorf("%+v, want %q", page.Markdown, want)
	}
}

// TestMergeRulesAreAsked checks that a merge succeeds only if the rules allow it. The rules are set on the space, or
// inherited.
func TestMergeRulesAreAsked(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	const rules = `{"mergeRules":{"type":"rules","rules":[{"rule":"require_at_least_one_review"}]}}`
	apitest.Ask[json.RawMessage](h, schema.RoleAdmin, "PATCH", "/v1/orgs/"+h.Ours.Organization.ID, rules, 200)
	merge := h.RequestPath(request.ID) + "/merge"
	if got := h.Do("POST", merge, h.Ours.Tokens[schema.RoleAdmin], nil); got.Status != http.StatusConflict ||
		!strings.Contains(string(got.Body), "require_at_least_one_review") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	apitest.Ask[json.RawMessage](h, schema.RoleAdmin, "PATCH", "/v1/spaces/"+h.Ours.Space.ID, `{"mergeRules":{"type":"none"}}`, 200)
	if got := h.MergeNow(request.ID); got.Result != schema.ResultMerge {
		t.Errorf("%+v", got)
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"Top","ref":"top","document":{"markdown":"# Words"}}`, `{"operation":"insert_page","title":"Below","into":"top"}`,
		`{"operation":"insert_files","files":[{"name":"ä \"b\".png","base64":"`+base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nxx"))+`"},`+
			`{"name":"page.html","contentType":"text/html","base64":"`+base64.StdEncoding.EncodeToString([]byte("<script>"))+`"}]}`)
	path := h.RequestPath(request.ID)
	revision := apitest.Ask[schema.Revision](h, schema.RoleRead, "GET", path+"/content", nil, 200)
	fetch := func(address string) apitest.Answer {
		t.Helper()
		local, ok := strings.CutPrefix(address, "https://docs.example.com/base")
		if !ok {
			t.Fatalf("address %q", address)
		}
		return h.Do("GET", local, "", nil)
	}
	page := revision.Pages[0].ID
	sizes := map[string]int{}
	for _, query := range []string{"", "?page=" + page, "?only=true&page=" + page, "?only=false"} {
		address := apitest.Ask[schema.ExportURL](h, schema.RoleRead, "GET", path+"/pdf"+query, nil, 200).URL
		h.RunJobs()
		a := fetch(address)
		if a.Status != 200 || a.Header.Get("Content-Type") != "application/pdf" || !strings.HasPrefix(string(a.Body), "%PDF-") {
			t.Errorf("%s: %d %v", query, a.Status, a.Header)
		}
		sizes[query] = len(a.Body)
	}
	if sizes["?only=true&page="+page] >= sizes["?page="+page] {
		t.Errorf("one page is no smaller than with those below it: %v", sizes)
	}
	h.WantError(h.Do("GET", path+"/pdf?page=nothing", h.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	good := apitest.Ask[schema.ExportURL](h, schema.RoleRead, "GET", path+"/pdf", nil, 200).URL
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
		spoil("revision", h.Ours.Space.Revision), spoil("space", h.Theirs.Space.ID), spoil("expires", "9999999999"), spoil("page", page),
		spoil("only", "true"), spoil("signature", "AAAA"), spoil("signature", "?"), strings.Replace(good, "/exports/pdf", "/exports/file", 1) + "&file=x",
	} {
		h.WantError(fetch(bad), http.StatusForbidden)
	}
	h.WantError(h.Do("GET", "/v1/exports/pdf", "", nil), http.StatusBadRequest)

	if len(revision.Files) != 2 || revision.Files[0].ContentType != "image/png" || revision.Files[0].Size != 10 {
		t.Fatalf("%+v", revision.Files)
	}
	for i, content := range []string{"\x89PNG\r\n\x1a\nxx", "<script>"} {
		a := fetch(revision.Files[i].DownloadURL)
		if a.Status != 200 || string(a.Body) != content || !strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment; filename") ||
			a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Content-Type") != revision.Files[i].ContentType {
			t.Errorf("%d %v %q", a.Status, a.Header, a.Body)
		}
	}
	h.MergeNow(request.ID)
	if merged := apitest.Ask[schema.Revision](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content", nil, 200); len(merged.Files) != 2 {
		t.Errorf("%+v", merged.Files)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"Installing","ref":"i","document":{"markdown":"Run the **command** twice."}}`,
		`{"operation":"insert_page","title":"Commands","into":"i","description":"How it is done.","document":{"markdown":"What to install.\n\n## Flags\n\nFlags of each command, and a long text about what they do, which flag is the right one in which case, and why commands have flags at all."}}`,
		`{"operation":"insert_page","title":"Secret command","noIndex":true}`,
		`{"operation":"insert_page","title":"Über uns","document":{"markdown":"Wir sind viele."}}`,
	)
	search := "/v1/spaces/" + h.Ours.Space.ID + "/search?query="
	titles := func(query string) string {
		list := apitest.Ask[schema.List[schema.SearchPageResult]](h, schema.RoleRead, "GET", search+query, nil, 200)
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
	h.MergeNow(request.ID)
	if got := titles("command"); got != "" {
		t.Errorf("what is not indexed is found: %s", got)
	}
	h.RunJobs()
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
	a := h.Do("GET", search+"command&limit=1", h.Ours.Tokens[schema.RoleRead], nil)
	foundPage := shape.Of{
		"id": shape.ID, "title": shape.Text(1, 100), "description": shape.Text(0, 100), "path": shape.Text(1, 100), "score": shape.Score,
		"rank": shape.Count, "ancestors": shape.List(shape.Object(shape.Of{"title": shape.Text(1, 100)})), "urls": pageURL,
		"sections?": shape.List(shape.Object(shape.Of{
			"id": shape.Text(1, 100), "title": shape.Text(1, 100), "path": shape.Text(1, 100), "score": shape.Score, "body": shape.Text(1, 220), "urls": pageURL,
		})),
	}
	shape.Want(t, shape.ListOf(foundPage), a.Body)
	first := apitest.Decode[schema.List[schema.SearchPageResult]](h, a)
	second := apitest.Ask[schema.List[schema.SearchPageResult]](h, schema.RoleRead, "GET", search+"command&limit=1&page="+first.Next.Page, nil, 200)
	if second.Next != nil || len(second.Items) != 1 || second.Items[0].Title != "Installing" || first.Items[0].Title != "Commands" {
		t.Errorf("%+v %+v", first, second)
	}
	below, top := first.Items[0], second.Items[0]
	if below.Rank != 1 || top.Rank != 2 || below.Score <= top.Score || below.Description != "How it is done." ||
		len(below.Ancestors) != 1 || below.Ancestors[0].Title != "Installing" || len(top.Ancestors) != 0 {
		t.Errorf("%+v %+v", below, top)
	}
	flags := apitest.Ask[schema.List[schema.SearchPageResult]](h, schema.RoleRead, "GET", search+"command", nil, 200).Items[0].Sections
	if len(flags) != 1 || flags[0].Title != "Flags" || flags[0].Path != "installing/commands#flags" || flags[0].Score != below.Score ||
		!strings.HasPrefix(flags[0].Body, "Flags of each command, and a long text") || !strings.HasSuffix(flags[0].URLs.App, below.ID+"#flags") {
		t.Errorf("%+v", flags)
	}
	if top.Sections != nil {
		t.Errorf("sections of a page without headings: %+v", top.Sections)
	}
	for _, bad := range []string{"/v1/spaces/" + h.Ours.Space.ID + "/search", search + strings.Repeat("x", 513)} {
		if e := h.WantError(h.Do("GET", bad, h.Ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest); e.Details[0].Field != "query" {
			t.Errorf("%+v", e)
		}
	}
	// A search in the organization groups pages by space. It does not find spaces of other tenants.
	h.MergedPage(h.Theirs)
	h.RunJobs()
	organization := "/v1/orgs/" + h.Ours.Organization.ID + "/search?query="
	a = h.Do("GET", organization+"command", h.Ours.Tokens[schema.RoleRead], nil)
	shape.Want(t, shape.ListOf(shape.Of{
		"type": shape.One("space"), "id": shape.ID, "title": shape.Text(1, 100), "score": shape.Score, "pages": shape.List(shape.Object(foundPage)),
	}), a.Body)
	if spaces := apitest.Decode[schema.List[schema.SearchSpaceResult]](h, a); len(spaces.Items) != 1 || spaces.Count != 1 || len(spaces.Items[0].Pages) != 2 {
		t.Errorf("%s", a.Body)
	}
	if got := apitest.Ask[schema.List[schema.SearchSpaceResult]](h, schema.RoleRead, "GET", organization+"hello", nil, 200); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	// A search does not find deleted pages, and finds changed text.
	next := h.ChangeRequest(h.Ours)
	pages := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.RequestPath(next.ID)+"/content/pages", nil, 200).Pages
	h.ChangeContent(schema.RoleEdit, next.ID, `{"operation":"delete_page","page":"`+pages[0].Pages[0].ID+`"}`,
		`{"operation":"update_page","page":"`+pages[0].ID+`","document":{"markdown":"Only once."}}`)
	h.MergeNow(next.ID)
	h.RunJobs()
	if got := titles("command") + titles("once"); got != "Installing@installing" {
		t.Errorf("%q", got)
	}
}
