package content_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var (
	changedPage = shape.Of{"id": shape.ID, "type": shape.One("document", "group", "link"), "title": shape.Text(1, 100), "path?": shape.Text(1, 100)}
	changedText = shape.Object(shape.Of{"before?": shape.Text(1, 100), "after?": shape.Text(1, 100)})
	changeShape = shape.Either(
		shape.Object(shape.Of{"type": shape.One("page_created", "page_deleted"), "page": shape.Object(changedPage)}),
		shape.Object(shape.Of{"type": shape.One("page_edited"), "page": shape.Object(changedPage), "attributes": shape.Object(shape.Of{
			"title?": changedText, "description?": changedText, "slug?": changedText, "emoji?": changedText, "document?": changedText,
			"target?": shape.Object(shape.Of{"before?": anyObject, "after?": anyObject}),
		})}),
		shape.Object(shape.Of{"type": shape.One("page_moved"), "page": shape.Object(changedPage), "parent": shape.Object(shape.Of{
			"before?": shape.Object(changedPage), "after?": shape.Object(changedPage),
		})}),
		shape.Object(shape.Of{"type": shape.One("file_created", "file_deleted"), "file": shape.Object(shape.Of{
			"id": shape.ID, "name": shape.Text(1, 100), "contentType": shape.Text(1, 100), "downloadURL": shape.URI,
		})}),
	)
	changesShape = shape.Of{"changes": shape.List(changeShape), "more?": shape.Count, "mergedFrom?": anyObject}
)

// TestChanges reads the changes of a change request and of its revisions.
func TestChanges(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space := "/v1/spaces/" + h.Ours.Space.ID
	// lines returns a line for each change. Changes are sorted by id, so the test ignores their order.
	lines := func(path string) []string {
		t.Helper()
		a := h.Do("GET", path, h.Ours.Tokens[schema.RoleRead], nil)
		shape.Want(t, changesShape, a.Body)
		var lines []string
		text := func(name string, c *schema.ChangedText) string {
			if c == nil {
				return ""
			}
			return fmt.Sprintf(" %s %s>%s", name, c.Before, c.After)
		}
		place := func(p *schema.ChangedPage) string {
			if p == nil {
				return "/"
			}
			return p.Title + "@" + p.Path
		}
		for _, c := range apitest.Decode[schema.RevisionChanges](h, a).Changes {
			line := c.Type + " "
			if c.Page != nil {
				line += c.Page.Type + " " + place(c.Page)
			}
			if at := c.Attributes; at != nil {
				line += text("title", at.Title) + text("slug", at.Slug) + text("emoji", at.Emoji) + text("description", at.Description)
				if at.Document != nil && at.Document.After != at.Document.Before {
					line += " document"
				}
				if at.Target != nil {
					line += fmt.Sprint(" target ", at.Target.Before["url"], ">", at.Target.After["url"])
				}
			}
			if c.Parent != nil {
				line += " from " + place(c.Parent.Before) + " to " + place(c.Parent.After)
			}
			if c.File != nil {
				line += c.File.Name + " " + c.File.ContentType
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		return lines
	}
	want := func(what, path string, want ...string) {
		t.Helper()
		slices.Sort(want)
		if got := lines(path); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	first := h.ChangeRequest(h.Ours)
	want("a request without changes", h.RequestPath(first.ID)+"/changes?limit=100")
	file := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nxx"))
	h.ChangeContent(schema.RoleEdit, first.ID,
		`{"operation":"insert_page","title":"Guides","ref":"g","document":{"markdown":"Read."}}`,
		`{"operation":"insert_page","title":"Install","into":"g","document":{"markdown":"Run."}}`,
		`{"operation":"insert_page","title":"Below","into":"g"}`,
		`{"operation":"insert_page","title":"Old"}`,
		`{"operation":"insert_page","type":"link","title":"Away","target":{"kind":"url","url":"https://a.example"}}`,
		`{"operation":"insert_files","files":[{"name":"a.png","base64":"`+file+`"}]}`)
	created := []string{
		"page_created document Guides@guides", "page_created document Install@guides/install", "page_created document Below@guides/below",
		"page_created document Old@old", "page_created link Away@", "file_created a.png image/png",
	}
	want("a request", h.RequestPath(first.ID)+"/changes?limit=100", created...)
	want("its revision", space+"/revisions/"+h.ChangeContent(schema.RoleEdit, first.ID, `{"operation":"insert_page","title":"Late"}`).Revision+"/changes?limit=100",
		"page_created document Late@late")
	created = append(created, "page_created document Late@late")
	merged := space + "/revisions/" + h.MergeNow(first.ID).Revision + "/changes"
	want("the merge", merged+"?limit=100&computed=false&metadata=false", created...)
	want("a merged request", h.RequestPath(first.ID)+"/changes?limit=100", created...)
	shown := apitest.Ask[schema.RevisionChanges](h, schema.RoleRead, "GET", merged+"?limit=2", nil, 200)
	if len(shown.Changes) != 2 || shown.More != len(created)-2 || shown.MergedFrom == nil || shown.MergedFrom.ID != first.ID {
		t.Errorf("%+v", shown)
	}
	if none := apitest.Ask[schema.RevisionChanges](h, schema.RoleRead, "GET", merged+"?limit=0", nil, 200); none.More != len(created) {
		t.Errorf("%+v", none)
	}

	ids := map[string]string{}
	for _, page := range apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", space+"/content/pages", nil, 200).Pages {
		ids[page.Title] = page.ID
		for _, below := range page.Pages {
			ids[below.Title] = below.ID
		}
	}
	second := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, second.ID,
		`{"operation":"update_page","page":"`+ids["Guides"]+`","title":"Handbook","emoji":"1f600","description":"All of it."}`,
		`{"operation":"update_page","page":"`+ids["Install"]+`","slug":"setup","document":{"markdown":"Run it."},"into":null}`,
		`{"operation":"update_page","page":"`+ids["Below"]+`","hidden":true}`,
		`{"operation":"update_page","page":"`+ids["Away"]+`","target":{"kind":"url","url":"https://b.example"}}`,
		`{"operation":"update_page","page":"`+ids["Late"]+`","into":"`+ids["Guides"]+`","at":0}`,
		`{"operation":"delete_page","page":"`+ids["Old"]+`"}`)
	edits := []string{
		"page_edited document Handbook@guides title Guides>Handbook emoji >1f600 description >All of it.",
		"page_edited document Install@setup slug install>setup document",
		"page_moved document Install@setup from Guides@guides to /",
		"page_edited document Below@guides/below",
		"page_edited link Away@ target https://a.example>https://b.example",
		"page_moved document Late@guides/late from / to Handbook@guides",
		"page_deleted document Old@old",
	}
	want("edits", h.RequestPath(second.ID)+"/changes?limit=100", edits...)
	want("merged edits", space+"/revisions/"+h.MergeNow(second.ID).Revision+"/changes?limit=100", edits...)

	for path, status := range map[string]int{
		merged + "?limit=1001": http.StatusBadRequest, merged + "?limit=x": http.StatusBadRequest,
		space + "/revisions/nothing/changes": http.StatusNotFound, h.RequestPath("nothing") + "/changes": http.StatusNotFound,
	} {
		h.WantError(h.Do("GET", path, h.Ours.Tokens[schema.RoleRead], nil), status)
	}
	theirs := "/v1/spaces/" + h.Theirs.Space.ID + "/revisions/" + h.Ours.Space.Revision + "/changes"
	h.WantError(h.Do("GET", theirs, h.Theirs.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
}
