package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// ChangeRequest creates a draft change request as the tenant's admin.
func (h *Harness) ChangeRequest(tenant *storetest.Tenant) store.ChangeRequest {
	h.T.Helper()
	request, err := h.Store.CreateChangeRequest(h.T.Context(), store.NewChangeRequest{
		SpaceID: tenant.Space.ID, Subject: "Change", UserID: tenant.Users[schema.RoleAdmin].ID,
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return request
}

// Ask sends a request as the user with this role in our organization, checks the status, and decodes the response.
func Ask[T any](h *Harness, role schema.Role, method, path string, body any, status int) T {
	h.T.Helper()
	a := h.Do(method, path, h.Ours.Tokens[role], body)
	if a.Status != status {
		h.T.Fatalf("%s %s: %d %s, want %d", method, path, a.Status, a.Body, status)
	}
	return Decode[T](h, a)
}

// CloseSpace restricts a space of our organization to admins and to users with a grant.
func (h *Harness) CloseSpace(id string) {
	h.T.Helper()
	h.Want(http.StatusOK, http.MethodPatch, "/v1/spaces/"+id, h.Ours.Tokens[schema.RoleAdmin], `{"defaultLevel":null}`)
}

// CloseCollection restricts a collection of our organization to admins and to users with a grant.
func (h *Harness) CloseCollection(id string) {
	h.T.Helper()
	h.Want(http.StatusOK, http.MethodPatch, "/v1/collections/"+id, h.Ours.Tokens[schema.RoleAdmin], `{"defaultLevel":null}`)
}

func (h *Harness) RequestPath(id any) string {
	return fmt.Sprintf("/v1/spaces/%s/change-requests/%v", h.Ours.Space.ID, id)
}

func (h *Harness) Counters() [3]int64 {
	h.T.Helper()
	s := Ask[schema.Space](h, schema.RoleAdmin, "GET", "/v1/spaces/"+h.Ours.Space.ID, nil, 200)
	return [3]int64{s.ChangeRequests, s.ChangeRequestsOpen, s.ChangeRequestsDraft}
}

// discussed returns a function that creates a comment and a reply to it. If inRequest is true, the comment is on a new
// change request, otherwise on the tenant's space.
func discussed(inRequest bool) func(h *Harness, tenant *storetest.Tenant) map[string]string {
	return func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		place := store.Place{SpaceID: tenant.Space.ID}
		made := map[string]string{}
		if inRequest {
			made["changeRequestId"] = h.ChangeRequest(tenant).ID
			request := made["changeRequestId"]
			place.ChangeRequestID = &request
		}
		admin, body := tenant.Users[schema.RoleAdmin].ID, store.CommentBody{Sent: []byte(`{"markdown":"Why?"}`)}
		comment, err := h.Store.CreateComment(h.T.Context(), store.NewComment{Place: place, UserID: admin, Body: body})
		if err != nil {
			h.T.Fatal(err)
		}
		reply, err := h.Store.CreateReply(h.T.Context(), place, comment.ID, admin, body)
		if err != nil {
			h.T.Fatal(err)
		}
		made["commentId"], made["commentReplyId"] = comment.ID, reply.ID
		return made
	}
}

// Send sends a request as the user with this role, and checks that it succeeds. If `s` is not nil, Send decodes the
// response and checks its shape.
func (h *Harness) Send(role schema.Role, method, path string, body any, s shape.Of) map[string]any {
	h.T.Helper()
	a := h.Do(method, path, h.Ours.Tokens[role], body)
	if a.Status >= 300 {
		h.T.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	if s == nil {
		return nil
	}
	return shape.Want(h.T, s, a.Body)
}

// MergedPage creates a page with the store's functions and merges it into the main content of a tenant's space.
func (h *Harness) MergedPage(tenant *storetest.Tenant) (id, path, revision string) {
	h.T.Helper()
	request, title := h.ChangeRequest(tenant), "Hello"
	user := tenant.Users[schema.RoleAdmin].ID
	row, err := h.Store.ChangeContent(h.T.Context(), request, store.ContentChange{
		UserID: user, Pages: []tree.Change{tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &title}}},
		Names: []string{"x"}, Files: []store.NewFile{{Name: "a.txt", ContentType: "text/plain", Content: []byte("content")}},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	merged := h.merge(tenant, row.ChangeRequest)
	pages, err := h.Store.Pages(h.T.Context(), tenant.Space.ID, merged.Revision)
	if err != nil {
		h.T.Fatal(err)
	}
	page := pages[len(pages)-1]
	return page.ID, page.Slug, merged.Revision
}

// Rename gives a page of a tenant's space another slug. The page's path becomes a former path.
func (h *Harness) Rename(tenant *storetest.Tenant, page, slug string) {
	h.T.Helper()
	row, err := h.Store.ChangeContent(h.T.Context(), h.ChangeRequest(tenant), store.ContentChange{
		UserID: tenant.Users[schema.RoleAdmin].ID,
		Pages:  []tree.Change{tree.Update{Page: page, Attributes: tree.Attributes{Slug: &slug}}},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.merge(tenant, row.ChangeRequest)
}

// merge merges a change request as the tenant's admin.
func (h *Harness) merge(tenant *storetest.Tenant, request store.ChangeRequest) store.MergeResult {
	h.T.Helper()
	admin := tenant.Users[schema.RoleAdmin].ID
	merged, err := h.Store.MergeChangeRequest(h.T.Context(), request, admin, storetest.Allow)
	if err != nil || merged.Conflicts {
		h.T.Fatal(merged, err)
	}
	return merged
}

// writePage creates a change request with a new page that has this block. It returns the change request and the id of
// the page's document.
func (h *Harness) writePage(tenant *storetest.Tenant, block schema.Node) (request store.ChangeRequest, document string) {
	h.T.Helper()
	title := "Written"
	made, err := store.NewDocument(store.Text{Document: schema.NewDocument(block)})
	if err != nil {
		h.T.Fatal(err)
	}
	row, err := h.Store.ChangeContent(h.T.Context(), h.ChangeRequest(tenant), store.ContentChange{
		UserID: tenant.Users[schema.RoleAdmin].ID, Documents: []store.Document{made}, Names: []string{"x"},
		Pages: []tree.Change{tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &title, Document: &made.Hash}}},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return row.ChangeRequest, made.Hash
}

// Conflicting creates a change request with a conflict: a page has another title in the change request than in the main
// content. It returns the change request and the conflict's id.
func (h *Harness) Conflicting(tenant *storetest.Tenant) (request store.ChangeRequest, conflict string) {
	h.T.Helper()
	page, _, _ := h.MergedPage(tenant)
	user := tenant.Users[schema.RoleAdmin].ID
	titled := func(title string) store.ChangeRequest {
		row, err := h.Store.ChangeContent(h.T.Context(), h.ChangeRequest(tenant), store.ContentChange{
			UserID: user, Pages: []tree.Change{tree.Update{Page: page, Attributes: tree.Attributes{Title: &title}}}, Names: []string{"x"},
		})
		if err != nil {
			h.T.Fatal(err)
		}
		return row.ChangeRequest
	}
	request = titled("One")
	other := titled("Another")
	merged, err := h.Store.MergeChangeRequest(h.T.Context(), other, user, storetest.Allow)
	if err != nil || merged.Conflicts {
		h.T.Fatal(merged, err)
	}
	found, err := h.Store.Conflicts(h.T.Context(), request, merged.Revision)
	if err != nil {
		h.T.Fatal(err)
	}
	list, err := found.Page("all", nil, 10)
	if err != nil || len(list.Rows) != 1 {
		h.T.Fatalf("%+v, %v", list, err)
	}
	return request, list.Rows[0].ID
}

// signed returns the query string of a signed download URL, for a file or a PDF.
func (h *Harness) signed(tenant *storetest.Tenant, path string) string {
	h.T.Helper()
	_, _, revision := h.MergedPage(tenant)
	token := tenant.Tokens[schema.RoleAdmin]
	var address string
	if path == "/exports/file" {
		a := h.Do("GET", "/v1/spaces/"+tenant.Space.ID+"/revisions/"+revision, token, nil)
		address = Decode[schema.Revision](h, a).Files[0].DownloadURL
	} else {
		a := h.Do("GET", "/v1/spaces/"+tenant.Space.ID+"/change-requests/1/pdf", token, nil)
		address = Decode[schema.ExportURL](h, a).URL
		h.RunJobs()
	}
	_, query, _ := strings.Cut(address, "?")
	return query
}

// Decode checks that a response is a success and decodes its body.
func Decode[T any](h *Harness, a Answer) T {
	h.T.Helper()
	var value T
	DecodeInto(h, a, &value)
	return value
}

func DecodeInto[T any](h *Harness, a Answer, into *T) T {
	h.T.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil || a.Status >= 300 {
		h.T.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return *into
}

// ChangeContent sends changes of a change request's content. Each change is a JSON object.
func (h *Harness) ChangeContent(role schema.Role, request string, changes ...string) schema.ChangeRequest {
	h.T.Helper()
	return Ask[schema.ChangeRequest](h, role, "POST", h.RequestPath(request)+"/content", `{"changes":[`+strings.Join(changes, ",")+`]}`, 200)
}

func (h *Harness) MergeNow(request string) schema.MergeResult {
	h.T.Helper()
	return Ask[schema.MergeResult](h, schema.RoleAdmin, "POST", h.RequestPath(request)+"/merge", nil, 200)
}

const ImportBody = `{"url":"https://git.example/acme/docs.git","ref":"refs/heads/main"}`

// Synchronized stores the state of a space that the Git engine has synchronized.
func (h *Harness) Synchronized(space string) {
	h.Exec(`update spaces set git_sync = jsonb_build_object('repoName', 'acme/docs', 'installationProvider', 'gitlab', 'url',
		'https://git.example/acme/docs', 'updatedAt', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) where id = $1`, space)
}

var GlossaryShape = shape.Of{
	"object": shape.One("glossary-entry"), "id": shape.ID, "createdAt": shape.Timestamp, "updatedAt": shape.Timestamp, "urls": shape.Object(shape.Of{"location": shape.URI}),
	"translations": func(v any) error {
		for language, term := range v.(map[string]any) {
			if err := shape.Text(1, 255)(term); err != nil || !slices.Contains(schema.Languages(), language) {
				return fmt.Errorf("%s: %w", language, err)
			}
		}
		return nil
	},
}

func (s Support) Glossary(query string) []schema.GlossaryEntry {
	s.H.T.Helper()
	return Get[schema.List[schema.GlossaryEntry]](s, shape.ListOf(GlossaryShape), "/translations-glossary"+query).Items
}

func ReviewPath(h *Harness) (path string, request store.ChangeRequest) {
	request = h.ChangeRequest(h.Ours)
	return "/v1/spaces/" + h.Ours.Space.ID + "/change-requests/" + request.ID, request
}
