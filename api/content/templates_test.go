package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var templateShape = shape.Of{
	"object": shape.One("change-request-template"), "id": shape.ID, "title": shape.Text(1, 100), "description?": anyObject, "pages": anyValue,
	"createdAt": shape.Timestamp, "urls": shape.Object(shape.Of{"location": shape.URI}),
}

// TestTemplatesFillChangeRequests makes change requests from templates. The requests have the subject, the description
// and the pages of the template.
func TestTemplatesFillChangeRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space := "/v1/spaces/" + h.Ours.Space.ID
	const description = `{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"Check the dates"}]}]}]}`
	made := h.Send(schema.RoleEdit, "POST", space+"/change-request-templates", `{"title":"Release","description":`+description+`,"pages":[
		{"ref":"r","title":"Release notes","emoji":"1f680","document":{"markdown":"What is new:"}}, {"title":"Upgrading","into":"r","hidden":true}]}`, templateShape)
	bare := h.Send(schema.RoleEdit, "POST", space+"/change-request-templates", `{"title":"Fix"}`, templateShape)
	if ids := h.IDs(space+"/change-request-templates", h.Ours.Tokens[schema.RoleRead]); fmt.Sprint(ids) != fmt.Sprint([]any{made["id"], bare["id"]}) {
		t.Errorf("listed %v", ids)
	}
	if got := h.Send(schema.RoleRead, "GET", fmt.Sprintf("%s/change-request-templates/%v", space, made["id"]), nil, templateShape); fmt.Sprint(got) != fmt.Sprint(made) {
		t.Errorf("%v, made %v", got, made)
	}
	create := func(body string) schema.ChangeRequest {
		t.Helper()
		return apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "POST", space+"/change-requests", body, 201)
	}
	for i := range 2 { // for the second request, the paths of the pages are already in use
		r := create(fmt.Sprintf(`{"template":{"id":%q,"params":{"contentRefs":{}}}}`, made["id"]))
		read := h.Want(200, "GET", h.RequestPath(r.ID), h.Ours.Tokens[schema.RoleRead], nil)
		if r.Subject != "Release" || r.Status != "draft" || r.Outdated || r.Revision == r.RevisionInitial || read["revision"] != r.Revision ||
			!strings.Contains(fmt.Sprint(read["description"]), "Check the dates") {
			t.Errorf("%+v, read %v", r, read)
		}
		pages, err := h.Store.Pages(t.Context(), h.Ours.Space.ID, r.Revision)
		if err != nil {
			t.Fatal(err)
		}
		notes := pages[len(pages)-1]
		if len(pages) != i+1 || notes.Title != "Release notes" || notes.Emoji != "1f680" || notes.Document == "" || len(notes.Pages) != 1 ||
			notes.Pages[0].Title != "Upgrading" || !notes.Pages[0].Hidden || notes.Slug != []string{"release-notes", "release-notes-1"}[i] {
			t.Errorf("%d: %+v", i, pages)
		}
		if got := h.MergeNow(r.ID); got.Result != "merge" {
			t.Errorf("%+v", got)
		}
	}
	if r := create(fmt.Sprintf(`{"subject":"Mine","template":{"id":%q}}`, bare["id"])); r.Subject != "Mine" || r.Description != nil || r.Revision != r.RevisionInitial {
		t.Errorf("%+v", r)
	}
	if got := h.Counters(); got != [3]int64{3, 0, 1} {
		t.Errorf("counters %v", got)
	}
	before := h.Rows()
	for body, field := range map[string]string{
		`{}`: "title", `{"title":" "}`: "title", `{"title":"` + strings.Repeat("x", 101) + `"}`: "title",
		`{"title":"a","description":{"nodes":[{"type":"moon"}]}}`:                                   "description.nodes[0].type",
		`{"title":"a","pages":[{}]}`:                                                                "pages[0].title",
		`{"title":"a","pages":[{"title":"b","into":"x"}]}`:                                          "pages[0].into",
		`{"title":"a","pages":[{"title":"b","ref":"x"},{"title":"c","ref":"x"}]}`:                   "pages[1].ref",
		`{"title":"a","pages":[{"title":"b","document":{"document":{"nodes":[{"type":"moon"}]}}}]}`: "pages[0].document.document.nodes[0].type",
	} {
		if e := h.WantError(h.Do("POST", space+"/change-request-templates", h.Ours.Tokens[schema.RoleEdit], body), 400); len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v, want %s", body, e, field)
		}
	}
	theirs := fmt.Sprintf(`{"template":{"id":%q}}`, made["id"])
	h.WantError(h.Do("POST", "/v1/spaces/"+h.Theirs.Space.ID+"/change-requests", h.Theirs.Tokens[schema.RoleAdmin], theirs), 400)
	if after := h.Rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
	for range 2 {
		h.Want(204, "DELETE", fmt.Sprintf("%s/change-request-templates/%v", space, made["id"]), h.Ours.Tokens[schema.RoleEdit], nil)
	}
	h.WantError(h.Do("POST", space+"/change-requests", h.Ours.Tokens[schema.RoleEdit], theirs), 400)
}
