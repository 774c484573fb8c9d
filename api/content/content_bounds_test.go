package content_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
)

// TestMarkdownIsReadOnce checks that Markdown is returned unchanged. It is converted to a document only once, when it
// is written.
func TestMarkdownIsReadOnce(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	const sent = "*  one\n*  two\n\n\n Text with   spaces __and__ marks  \n"
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID, fmt.Sprintf(`{"operation":"insert_page","title":"One","document":{"markdown":%q}}`, sent))
	large := strings.Repeat(`a\n\n`, schema.MaxDocumentNodes)
	e := h.WantError(h.Do("POST", h.RequestPath(request.ID)+"/content", h.Ours.Tokens[schema.RoleEdit],
		`{"changes":[{"operation":"insert_page","title":"Two","document":{"markdown":"`+large+`"}}]}`), http.StatusBadRequest)
	if e.Details[0].Field != "changes[0].document.markdown" {
		t.Errorf("%+v", e)
	}
	h.MergeNow(request.ID)
	page := "/v1/spaces/" + h.Ours.Space.ID + "/content/path/one?format="
	if got := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", page+"markdown", nil, 200); got.Markdown == nil || *got.Markdown != sent {
		t.Errorf("%+v", got.Markdown)
	}
	if got := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", page+"document", nil, 200); len(got.Document.Nodes) != 2 {
		t.Errorf("%+v", got.Document)
	}
	comments := "/v1/spaces/" + h.Ours.Space.ID + "/comments"
	comment := h.Send("comment", "POST", comments, fmt.Sprintf(`{"body":{"markdown":%q}}`, sent), commentShape)["id"].(string)
	nodes := func() int {
		shown := apitest.Ask[discussion.Comment](
			h, schema.RoleRead, "GET", comments+"/"+comment+"?format=document", nil, 200,
		)
		return len(shown.Body.Document.Nodes)
	}
	h.Exec(`update comment_documents set document = '{"object":"document","data":{},"nodes":[]}' where comment_id = $1`, comment)
	if got := nodes(); got != 0 {
		t.Errorf("the Markdown was read again: %d nodes", got)
	}
	// Older versions of Octavo stored no documents, so such rows still exist.
	for _, before := range []string{"delete from comment_documents where comment_id = $1",
		`update comments set body = '{"markdown":"a\n\nb"}' where id = $1`} {
		h.Exec(before, comment)
		if got := nodes(); got != 2 {
			t.Errorf("%s: %d nodes", before, got)
		}
		h.Exec(`do $$ begin assert (select count(*) from comment_documents) = 1, 'the document is not kept'; end $$`)
	}
	// Markdown that is too large is shown as plain text.
	h.Exec(`update comments set body = jsonb_build_object('markdown', repeat(E'a\n\n', 50001)) where id = $1`, comment)
	if got := nodes(); got != 1 {
		t.Errorf("%d nodes", got)
	}
}

// TestLinksAndConditionsAreChecked sends invalid links and conditions in members that were once not checked.
func TestLinksAndConditionsAreChecked(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	customization := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/customization"
	for _, link := range []string{
		"javascript:alert(1)", "javascript&colon;alert(1)", "//evil.example", `/\evil.example`, `\\evil.example`,
		"/\t/evil.example",
		"https://a:b@evil.example", "HTTP://a@evil.example/", `https:\\a:b@evil.example`,
	} {
		refuseLink(h, request.ID, customization, link)
	}
	for _, c := range []struct{ method, path, body, field string }{
		{"PUT", customization, `{"favicon":{},"header":{"links":[{"title":"a","to":null,"links":[],"condition":"((("}]}}`, "header.links[0].condition"},
		{"POST", h.RequestPath(request.ID) + "/content", `{"changes":[{"operation":"insert_page","title":"a","condition":"((("}]}`, "changes[0].condition"},
		{"POST", "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/redirects", `{"source":"/a","destination":{"kind":"url","url":"https://me:x@a.example"}}`, ""},
	} {
		e := h.WantError(h.Do(c.method, c.path, h.Ours.Tokens[schema.RoleAdmin], c.body), http.StatusBadRequest)
		if c.field != "" && (len(e.Details) == 0 || e.Details[0].Field != c.field) {
			t.Errorf("%s: want a detail on %s, got %+v", c.body, c.field, e)
		}
	}
}

// refuseLink sends a link in every part of the settings that shows links. It checks that each request is refused.
func refuseLink(h *apitest.Harness, request, customization, link string) {
	h.T.Helper()
	quoted, err := json.Marshal(link)
	if err != nil {
		h.T.Fatal(err)
	}
	to := `{"kind":"url","url":` + string(quoted) + `}`
	for _, c := range []struct{ method, path, body, field string }{
		{"PUT", customization, `{"favicon":{},"header":{"primaryLink":` + to + `}}`, "header.primaryLink.url"},
		{"PUT", customization, `{"favicon":{},"header":{"links":[{"title":"a","to":` + to + `,"links":[]}]}}`,
			"header.links[0].to.url"},
		{"PUT", customization, `{"favicon":{},"header":{"links":[{"title":"a","to":null,"links":[{"title":"b",` +
			`"to":` + to + `}]}]}}`, "header.links[0].links[0].to.url"},
		{"PUT", customization, `{"favicon":{},"footer":{"groups":[{"title":"a","links":[{"title":"b","to":` + to +
			`}]}]}}`, "footer.groups[0].links[0].to.url"},
		{"POST", h.RequestPath(request) + "/content",
			`{"changes":[{"operation":"insert_page","type":"link","title":"a","target":` + to +
				`}]}`, "changes[0].target.url"},
		{"POST", "/v1/orgs/" + h.Ours.Organization.ID + "/conversations",
			`{"id":"a","parts":[],"metadata":{"url":` + string(quoted) + `}}`, "metadata.url"},
		{"PUT", customization, `{"favicon":{},"announcement":{"enabled":true,"message":"News","style":"info",` +
			`"link":{"title":"b","to":` + to + `}}}`, "announcement.link.to.url"},
		{
			"POST", h.RequestPath(request) + "/content",
			`{"changes":[{"operation":"insert_page","type":"link","title":"a","target":{"kind":"url","url":"/a"}},` +
				`{"operation":"update_page","page":"p","target":` + to + `}]}`, "changes[1].target.url",
		},
		{
			"POST", "/v1/spaces/" + h.Ours.Space.ID + "/git/import",
			`{"url":"https://git.example/a","ref":"refs/heads/main","repoTreeURL":` + string(quoted) + `}`,
			"repoTreeURL",
		},
		{
			"POST", "/v1/spaces/" + h.Ours.Space.ID + "/git/export",
			`{"url":"https://git.example/a","ref":"refs/heads/main","commitMessage":"a","repoCommitURL":` +
				string(quoted) + `}`,
			"repoCommitURL",
		},
	} {
		e := h.WantError(h.Do(c.method, c.path, h.Ours.Tokens[schema.RoleAdmin], c.body), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != c.field {
			h.T.Errorf("%s: want a detail on %s, got %+v", c.body, c.field, e)
		}
	}
}
