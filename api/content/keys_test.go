package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/discussion"
)

// keysByText returns the keys of the top-level blocks of a document, by their texts.
func keysByText(d *schema.Document) map[string]string {
	found := map[string]string{}
	for _, n := range d.Nodes {
		if len(n.Nodes) > 0 && len(n.Nodes[0].Leaves) > 0 {
			found[n.Nodes[0].Leaves[0].Text] = n.Key
		}
	}
	return found
}

// TestBlocksHaveKeys writes a page as Markdown, writes the same text again, edits it, and writes a document.
func TestBlocksHaveKeys(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	first := h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"P","ref":"p","document":{"markdown":"# Getting started\n\none two three\n\n- a\n- b\n\n|A|\n|-|\n|x|"}}`)
	page := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", h.RequestPath(request.ID)+"/content/pages", nil, 200).Pages[0].ID
	update := func(body string) schema.ChangeRequest {
		return h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"update_page","page":"`+page+`","document":`+body+`}`)
	}
	if same := update(`{"markdown":"# Getting started\n\none two three\n\n- a\n- b\n\n|A|\n|-|\n|x|"}`); same.Revision != first.Revision {
		t.Error("the same text made a revision")
	}
	update(`{"markdown":"# Getting going\n\nnew\n\none two 3\n\n- a\n- b\n\n|A|\n|-|\n|y|\n|x|"}`)
	// A key in a sent document stays. If the document has a key twice, the key does not stay. If a request writes a
	// text twice, the text keeps its keys.
	h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"Q","slug":"q","ref":"q","document":{"document":{"nodes":[{"type":"paragraph","key":"mine","nodes":[{"leaves":[{"text":"m"}]}]},{"type":"paragraph","key":"mine","nodes":[{"leaves":[{"text":"n"}]}]}]}}}`,
		`{"operation":"update_page","page":"q","document":{"markdown":"zero\n\nm\n\nn"}}`)
	h.MergeNow(request.ID)
	read := func(path string) *schema.Document {
		got := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/path/"+path+"?format=document", nil, 200)
		if got.Document == nil || !keys.Complete(*got.Document) {
			t.Fatalf("%s: %+v", path, got.Document)
		}
		return got.Document
	}
	p, q := read("p"), read("q")
	if p.Nodes[0].Meta["id"] != "getting-started" {
		t.Errorf("the anchor of a heading changed with its text: %v", p.Nodes[0].Meta)
	}
	if got := keysByText(q); got["m"] != "mine" || got["n"] == "mine" || len(got["zero"]) != 10 {
		t.Errorf("%v", got)
	}
	// A comment may refer to a block of a page that was written as Markdown. The blocks of the comment have keys too.
	comments := "/v1/spaces/" + h.Ours.Space.ID + "/comments"
	comment := apitest.Ask[discussion.Comment](h, schema.RoleEdit, "POST", comments+"?format=document",
		`{"page":"`+page+`","node":"`+keysByText(p)["new"]+`","body":{"markdown":"Look:\n\n- here"}}`, 200)
	if comment.Body.Document == nil || !keys.Complete(*comment.Body.Document) {
		t.Errorf("%+v", comment.Body)
	}
	sent := apitest.Ask[discussion.Comment](h, schema.RoleEdit, "POST", comments+"?format=document",
		`{"body":{"document":{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"as a document"}]}]}]}}}`, 200)
	if sent.Body.Document == nil || !keys.Complete(*sent.Body.Document) {
		t.Errorf("%+v", sent.Body)
	}
	h.WantError(h.Do("POST", comments, h.Ours.Tokens[schema.RoleEdit], `{"page":"`+page+`","node":"`+strings.Repeat("0", 10)+`","body":{"markdown":"x"}}`), http.StatusBadRequest)
	// Later edits of the page do not change the key of the node to which the comment refers.
	next := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, next.ID, `{"operation":"update_page","page":"`+page+`","document":{"markdown":"# Getting going\n\nbefore\n\nnew and more\n\none two 3\n\n- a\n- b"}}`)
	h.MergeNow(next.ID)
	if after := keysByText(read("p")); after["new and more"] != keysByText(p)["new"] || after["one two 3"] != keysByText(p)["one two 3"] {
		t.Errorf("%v, before %v", after, keysByText(p))
	}
}
