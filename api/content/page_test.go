package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// TestPagesOfRevisions reads pages of an older revision, of a change request and of the current content with each
// operation.
func TestPagesOfRevisions(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space := "/v1/spaces/" + h.Ours.Space.ID
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","type":"group","title":"Guides","ref":"guides"}`,
		`{"operation":"insert_page","into":"guides","title":"Install","ref":"install","document":{"markdown":"# Linux\n\nHere."}}`,
		`{"operation":"insert_page","into":"guides","title":"Start","document":{"markdown":"See [how](install.md#linux), [below](#more), [api](../api.md) and [none](gone.md).\n\n* kept   as it is"}}`,
		`{"operation":"insert_page","title":"API"}`,
		`{"operation":"insert_page","type":"link","title":"Site","target":{"kind":"url","url":"https://example.com/"}}`)
	first := h.MergeNow(request.ID).Revision
	tree := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", space+"/revisions/"+first+"/pages", nil, 200).Pages
	install, start, api, link := tree[0].Pages[0].ID, tree[0].Pages[1].ID, tree[1].ID, tree[2].ID
	second := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, second.ID, `{"operation":"update_page","page":"`+start+`","title":"Begin","slug":"begin","document":{"markdown":"New [how](ref:page/`+install+`)."}}`)

	read := func(path string) schema.RevisionPage {
		t.Helper()
		return apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", path, nil, 200)
	}
	old, theirs := space+"/revisions/"+first, h.RequestPath(second.ID)+"/content"
	for _, c := range []struct{ path, title, at string }{
		{old + "/page/" + start, "Start", "guides/start"},
		{old + "/path/guides%2Fstart", "Start", "guides/start"},
		{old + "/path/guides/start?metadata=false&computed=false", "Start", "guides/start"},
		{space + "/content/page/" + start, "Start", "guides/start"},
		{theirs + "/page/" + start + "?evaluated=deterministic-only&dereferenced=reusable-contents", "Begin", "guides/begin"},
		{theirs + "/path/guides%2Fbegin", "Begin", "guides/begin"},
	} {
		if got := read(c.path); got.ID != start || got.Title != c.title || got.Path != c.at || got.Document == nil || !keys.Complete(*got.Document) {
			t.Errorf("%s: %+v", c.path, got)
		}
	}
	if got := read(old + "/path/guides"); got.Type != "group" || len(got.Pages) != 2 || got.Document != nil {
		t.Errorf("%+v", got)
	}

	// These are the forms of links between pages.
	const stable = "See [how](/pages/%s#linux), [below](/pages/%s#more), [api](/pages/%s) and [none](gone.md).\n\n* kept   as it is"
	for path, want := range map[string]string{
		old + "/page/" + start + "?format=markdown&format.markdown.refs=relative": "See [how](install.md#linux), [below](#more), [api](../api.md) and [none](gone.md).\n\n* kept   as it is",
		old + "/page/" + start + "?format=markdown&format.markdown.refs=stable":   fmt.Sprintf(stable, install, start, api),
		// By default, links have the form in which they were written, so that an editor can send them back.
		old + "/page/" + start + "?format=markdown":                                       "See [how](install.md#linux), [below](#more), [api](../api.md) and [none](gone.md).\n\n* kept   as it is",
		theirs + "/page/" + start + "?format=markdown":                                    "New [how](ref:page/" + install + ").",
		theirs + "/page/" + start + "?format=markdown&format.markdown.refs=stable":        "New [how](/pages/" + install + ").",
		theirs + "/path/guides/begin?format=markdown&format.markdown.refs=relative":       "New [how](install.md).",
		space + "/content/page/" + start + "?format=markdown&format.markdown.refs=stable": fmt.Sprintf(stable, install, start, api),
	} {
		if got := read(path).Markdown; got == nil || strings.TrimSpace(*got) != want {
			t.Errorf("%s: %q, want %q", path, schema.Or(got, "nothing"), want)
		}
	}
	document := apitest.Ask[schema.Document](h, schema.RoleRead, "GET", old+"/page/"+start+"/document?evaluated=deterministic-only&dereferenced=reusable-contents", nil, 200)
	var refs []any
	for _, n := range document.Nodes[0].Nodes {
		if n.Type == "link" {
			refs = append(refs, n.Data["ref"])
		}
	}
	want := fmt.Sprint([]any{
		map[string]any{"kind": "anchor", "page": install, "anchor": "linux"}, map[string]any{"kind": "anchor", "page": start, "anchor": "more"},
		map[string]any{"kind": "page", "page": api}, map[string]any{"kind": "url", "url": "gone.md"},
	})
	if fmt.Sprint(refs) != want || !keys.Complete(document) || document.Object != "document" {
		t.Errorf("%v, want %s", refs, want)
	}
	if got := apitest.Ask[schema.Document](h, schema.RoleRead, "GET", old+"/page/"+install+"/document", nil, 200); got.Nodes[0].Meta["id"] != "linux" || got.Nodes[0].Key == "" {
		t.Errorf("%+v", got)
	}
	if got := apitest.Ask[schema.Document](h, schema.RoleRead, "GET", old+"/page/"+api+"/document", nil, 200); got.Nodes == nil || len(got.Nodes) > 0 {
		t.Errorf("a page without text: %+v", got)
	}
	by := apitest.Ask[schema.Document](h, schema.RoleRead, "GET", space+"/documents/"+read(old+"/page/"+install).DocumentID, nil, 200)
	if !keys.Complete(by) || by.Nodes[0].Meta["id"] != "linux" {
		t.Errorf("%+v", by)
	}
	for _, path := range []string{old, space + "/content", theirs} {
		if a := h.Do("GET", path+"/page/"+start+"/meta-links", h.Ours.Tokens[schema.RoleRead], nil); a.Status != 200 || string(a.Body) != "{}" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}

	for _, nothing := range []string{
		old + "/page/nothing", old + "/page/nothing/document", old + "/page/nothing/meta-links", old + "/path/guides/begin", old + "/path/", old + "/path/%ff",
		space + "/revisions/nothing/page/" + start, space + "/revisions/nothing/pages", space + "/revisions/nothing/path/guides", space + "/revisions/nothing/page/" + start + "/document",
		old + "/page/" + link + "/document", old + "/page/" + tree[0].ID + "/document",
		space + "/documents/nothing", theirs + "/path/guides/end", theirs + "/page/nothing",
	} {
		h.WantError(h.Do("GET", nothing, h.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	}
	for query, field := range map[string]string{
		"?format=html": "format", "?format.markdown.refs=x": "format.markdown.refs", "?dereferenced=all": "dereferenced", "?evaluated=maybe": "evaluated",
	} {
		if e := h.WantError(h.Do("GET", old+"/page/"+start+query, h.Ours.Tokens[schema.RoleRead], nil), http.StatusBadRequest); len(e.Details) != 1 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", query, e)
		}
	}
}
