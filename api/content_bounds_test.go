package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// TestListsAreBoundedByBytes walks a list whose objects are of all sizes: a page has something, is no larger than the bound
// unless it is one object, and goes on until each object came once.
func TestListsAreBoundedByBytes(t *testing.T) {
	t.Parallel()
	const rows = 120
	size := func(row int) int { return []int{10, maxListBytes / 3, 5000, 10, 5000, 2 * maxListBytes, 10, 10}[row%8] }
	read := func(after string, size int) (store.Page[int], error) {
		from, _ := strconv.Atoi(after)
		page := store.Page[int]{Total: rows, More: from+size < rows}
		for row := from + 1; row <= min(from+size, rows); row++ {
			page.Rows = append(page.Rows, row)
		}
		return page, nil
	}
	type object struct{ ID, Text string }
	resource := func(row int) object { return object{strconv.Itoa(row), strings.Repeat("x", size(row))} }
	list := func(ctx context.Context, limit int, page string) (schema.List[object], error) {
		return listPage(ctx, "l", schema.PageRequest{Page: page, Limit: &limit}, read, resource, func(o object) string { return o.ID })
	}
	for _, limit := range []int{1, 7, 1000} {
		seen, page := 0, ""
		for {
			got, err := list(t.Context(), limit, page)
			bytes := encodedSize(got.Items)
			if err != nil || got.Count != rows || len(got.Items) == 0 || len(got.Items) > limit ||
				len(got.Items) > 1 && bytes > maxListBytes+len(got.Items)+2 {
				t.Fatalf("limit %d: %d objects in %d bytes, count %d, %v", limit, len(got.Items), bytes, got.Count, err)
			}
			for _, o := range got.Items {
				if seen++; o.ID != strconv.Itoa(seen) {
					t.Fatalf("limit %d: %s after %d", limit, o.ID, seen-1)
				}
			}
			if got.Next == nil {
				break
			}
			page = got.Next.Page
		}
		if seen != rows {
			t.Errorf("limit %d: %d objects", limit, seen)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := list(ended, 10, ""); err == nil {
		t.Error("a list goes on behind its deadline")
	}
}

// TestPDFRenderersAreFew: who finds none free waits for a while, is refused then, and takes none.
func TestPDFRenderersAreFew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newExports(nil, links{})
		for range maxRenderers {
			if err := h.takeRenderer(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		err := h.takeRenderer(t.Context())
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || e.RetryAfterSeconds() == 0 {
			t.Errorf("%v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.takeRenderer(gone); err == nil {
			t.Error("a caller who has gone got a renderer")
		}
		<-h.renderers
		if err := h.takeRenderer(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestWorkEndsWithItsCaller closes the client's side of a connection.
func TestWorkEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if closedByPeer(conn) {
		t.Error("an open connection counts as closed")
	}
	ctx, stop := (&Caller{conn: conn}).untilGone(t.Context())
	defer stop()
	if ctx.Err() != nil {
		t.Error("ended too early")
	}
	_ = client.Close()
	<-ctx.Done()
}

// TestMarkdownIsReadOnce: what is sent as Markdown comes back as it was, and as the document that was made of it when it came.
func TestMarkdownIsReadOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const sent = "*  one\n*  two\n\n\n Text with   spaces __and__ marks  \n"
	request := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, request.ID, fmt.Sprintf(`{"operation":"insert_page","title":"One","document":{"markdown":%q}}`, sent))
	large := strings.Repeat(`a\n\n`, schema.MaxDocumentNodes)
	e := h.wantError(h.do("POST", h.requestPath(request.ID)+"/content", h.ours.Tokens[schema.RoleEdit],
		`{"changes":[{"operation":"insert_page","title":"Two","document":{"markdown":"`+large+`"}}]}`), http.StatusBadRequest)
	if e.Details[0].Field != "changes[0].document.markdown" {
		t.Errorf("%+v", e)
	}
	h.mergeNow(request.ID)
	page := "/v1/spaces/" + h.ours.Space.ID + "/content/path/one?format="
	if got := ask[schema.RevisionPage](h, schema.RoleRead, "GET", page+"markdown", nil, 200); got.Markdown == nil || *got.Markdown != sent {
		t.Errorf("%+v", got.Markdown)
	}
	if got := ask[schema.RevisionPage](h, schema.RoleRead, "GET", page+"document", nil, 200); len(got.Document.Nodes) != 2 {
		t.Errorf("%+v", got.Document)
	}
	comments := "/v1/spaces/" + h.ours.Space.ID + "/comments"
	comment := h.send("comment", "POST", comments, fmt.Sprintf(`{"body":{"markdown":%q}}`, sent), commentShape)["id"].(string)
	nodes := func() int {
		return len(ask[schema.Comment](h, schema.RoleRead, "GET", comments+"/"+comment+"?format=document", nil, 200).Body.Document.Nodes)
	}
	h.exec(`update comment_documents set document = '{"object":"document","data":{},"nodes":[]}' where comment_id = $1`, comment)
	if got := nodes(); got != 0 {
		t.Errorf("the Markdown was read again: %d nodes", got)
	}
	// As it was written before documents were kept, and by a program that does not keep them.
	for _, before := range []string{"delete from comment_documents where comment_id = $1",
		`update comments set body = '{"markdown":"a\n\nb"}' where id = $1`} {
		h.exec(before, comment)
		if got := nodes(); got != 2 {
			t.Errorf("%s: %d nodes", before, got)
		}
		h.exec(`do $$ begin assert (select count(*) from comment_documents) = 1, 'the document is not kept'; end $$`)
	}
	// What is too large stands as the text that it is.
	h.exec(`update comments set body = jsonb_build_object('markdown', repeat(E'a\n\n', 20001)) where id = $1`, comment)
	if got := nodes(); got != 1 {
		t.Errorf("%d nodes", got)
	}
}

// TestLinksAndConditionsAreChecked has the places that took anything.
func TestLinksAndConditionsAreChecked(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	request := h.changeRequest(h.ours)
	customization := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/customization"
	to := `{"kind":"url","url":"javascript:alert(1)"}`
	for _, c := range []struct{ method, path, body, field string }{
		{"PUT", customization, `{"favicon":{},"header":{"primaryLink":` + to + `}}`, "header.primaryLink.url"},
		{"PUT", customization, `{"favicon":{},"header":{"links":[{"title":"a","to":` + to + `,"links":[]}]}}`, "header.links[0].to.url"},
		{"PUT", customization, `{"favicon":{},"header":{"links":[{"title":"a","to":null,"links":[{"title":"b","to":` + to + `}]}]}}`, "header.links[0].links[0].to.url"},
		{"PUT", customization, `{"favicon":{},"footer":{"groups":[{"title":"a","links":[{"title":"b","to":` + to + `}]}]}}`, "footer.groups[0].links[0].to.url"},
		{"PUT", customization, `{"favicon":{},"header":{"links":[{"title":"a","to":null,"links":[],"condition":"((("}]}}`, "header.links[0].condition"},
		{"POST", h.requestPath(request.ID) + "/content", `{"changes":[{"operation":"insert_page","type":"link","title":"a","target":` + to + `}]}`, "changes[0].target.url"},
		{"POST", h.requestPath(request.ID) + "/content", `{"changes":[{"operation":"insert_page","title":"a","condition":"((("}]}`, "changes[0].condition"},
		{"POST", "/v1/orgs/" + h.ours.Organization.ID + "/conversations", `{"id":"a","parts":[],"metadata":{"url":"data:text/html,x"}}`, "metadata.url"},
		{"POST", "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/redirects", `{"source":"/a","destination":{"kind":"url","url":"https://me:x@a.example"}}`, ""},
	} {
		e := h.wantError(h.do(c.method, c.path, h.ours.Tokens[schema.RoleAdmin], c.body), http.StatusBadRequest)
		if c.field != "" && (len(e.Details) == 0 || e.Details[0].Field != c.field) {
			t.Errorf("%s: want a detail on %s, got %+v", c.body, c.field, e)
		}
	}
}

func TestEmoji(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"👍": true, "👍🏽": true, "❤️": true, "👩‍💻": true, "🏴‍☠️": true, "🇩🇪": true, "1️⃣": true, "🏴󠁧󠁢󠁥󠁮󠁧󠁿": true, "1f44d": true, "1F468-200d-1f4bb": true, "2764": true, "2764-fe0f": true,
		"": false, "x": false, "ab": false, ":+1:": false, "not an emoji": false, "👍👍": false, "🇩": false, "1": false, "1f44d-": false, "d800": false, "👍x": false,
	} {
		if isEmoji(text) != ok {
			t.Errorf("%q: %t", text, !ok)
		}
	}
}
