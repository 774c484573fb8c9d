package content_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
)

var conflictShape = shape.Of{
	"object": shape.One("change-request-conflict"), "id": shape.ID, "kind": shape.One("edit", "delete", "place", "cycle", "parent", "slug", "size", "document"),
	"status": shape.One("open", "resolved"), "page?": anyObject, "pages?": anyValue, "field?": shape.Text(1, 100), "block?": shape.Text(1, 64), "part?": shape.Text(1, 500),
	"base?": anyValue, "ours?": anyValue, "theirs?": anyValue, "takes": anyValue, "resolution?": anyObject,
}

func anyValue(any) error { return nil }

// conflictList returns the conflicts of a change request. It checks the shape of each conflict.
func conflictList(h *apitest.Harness, request, query string) []map[string]any {
	h.T.Helper()
	a := h.Do("GET", h.RequestPath(request)+"/conflicts"+query, h.Ours.Tokens[schema.RoleRead], nil)
	if a.Status != http.StatusOK {
		h.T.Fatalf("%d %s", a.Status, a.Body)
	}
	var list struct {
		Items []map[string]any
		Count int
		Next  *struct{ Page string }
	}
	if err := json.Unmarshal(a.Body, &list); err != nil {
		h.T.Fatal(err)
	}
	for _, item := range list.Items {
		text, err := json.Marshal(item)
		if err != nil {
			h.T.Fatal(err)
		}
		shape.Want(h.T, conflictShape, text)
	}
	if list.Next != nil {
		join := "?"
		if strings.Contains(query, "?") {
			join = "&"
		}
		query, _, _ = strings.Cut(query, "&page=")
		list.Items = append(list.Items, conflictList(h, request, strings.TrimSuffix(query, join)+"&page="+list.Next.Page)...)
	}
	return list.Items
}

func conflictAt(h *apitest.Harness, request, field string) map[string]any {
	h.T.Helper()
	list := conflictList(h, request, "")
	at := slices.IndexFunc(list, func(c map[string]any) bool { return c["field"] == field })
	if at < 0 {
		h.T.Fatalf("no conflict of %s among %v", field, list)
	}
	return list[at]
}

func resolve(h *apitest.Harness, request string, conflict any, body string, status int) apitest.Answer {
	h.T.Helper()
	a := h.Do("POST", fmt.Sprintf("%s/conflicts/%v", h.RequestPath(request), conflict), h.Ours.Tokens[schema.RoleEdit], body)
	if a.Status != status {
		h.T.Fatalf("%s: %d %s, want %d", body, a.Status, a.Body, status)
	}
	return a
}

// TestConflictsAreShownAndResolved resolves the conflicts of a request with the main content, and merges the request.
// In one of two runs, the request is updated before the merge.
func TestConflictsAreShownAndResolved(t *testing.T) {
	t.Parallel()
	for _, byUpdate := range []bool{true, false} {
		t.Run(fmt.Sprint("update ", byUpdate), func(t *testing.T) {
			t.Parallel()
			h := apitest.New(t)
			first := h.ChangeRequest(h.Ours).ID
			h.ChangeContent(schema.RoleEdit, first, `{"operation":"insert_page","title":"Guides","ref":"g"},{"operation":"insert_page","title":"Start","into":"g",
				"document":{"markdown":"First words here.\n\nLast words here."}}`)
			h.MergeNow(first)
			pages, err := h.Store.Pages(t.Context(), h.Ours.Space.ID, apitest.Ask[schema.Space](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID, nil, 200).Revision)
			if err != nil {
				t.Fatal(err)
			}
			page := pages[len(pages)-1].Pages[0].ID
			edit := func(request, title, emoji, first, last string) {
				h.ChangeContent(schema.RoleEdit, request, fmt.Sprintf(`{"operation":"update_page","page":%q,"title":%q,"emoji":%q,"document":{"markdown":%q}}`,
					page, title, emoji, first+"\n\n"+last))
			}
			request, other := h.ChangeRequest(h.Ours).ID, h.ChangeRequest(h.Ours).ID
			edit(request, "Begin", "1f4d6", "My words here.", "Last words here.")
			edit(other, "Onset", "1f680", "Your words here.", "Last words there.")
			if list := conflictList(h, request, ""); len(list) != 0 {
				t.Fatalf("conflicts before there is anything else: %v", list)
			}
			h.MergeNow(other)

			before := apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.RequestPath(request), nil, 200)
			for _, action := range []string{"/merge", "/update"} {
				got := apitest.Ask[schema.MergeResult](h, schema.RoleAdmin, "POST", h.RequestPath(request)+action, nil, 200)
				if got != (schema.MergeResult{Revision: before.Revision, Result: "conflicts"}) {
					t.Errorf("%s: %+v", action, got)
				}
			}
			list := conflictList(h, request, "?limit=1")
			if len(list) != 3 || !before.Outdated {
				t.Fatalf("%v", list)
			}
			for _, c := range list {
				at := c["page"].(map[string]any)
				if c["status"] != "open" || c["kind"] != "edit" || at["id"] != page || at["title"] != "Begin" || at["path"] != "guides/start" || len(c["takes"].([]any)) != 3 {
					t.Errorf("%v", c)
				}
			}
			title := conflictAt(h, request, "title")
			if title["base"] != "Start" || title["ours"] != "Begin" || title["theirs"] != "Onset" {
				t.Errorf("%v", title)
			}
			text := conflictAt(h, request, "document")
			if text["part"] != "text" || text["block"] == nil || !strings.Contains(fmt.Sprint(text["ours"]), "My") || !strings.Contains(fmt.Sprint(text["theirs"]), "Your") ||
				!strings.Contains(fmt.Sprint(text["base"]), "First") {
				t.Errorf("%v", text)
			}

			// After a choice, an earlier review is outdated.
			review := apitest.Ask[discussion.Review](
				h, schema.RoleReview, "POST", h.RequestPath(request)+"/reviews", `{"status":"approved"}`, 201,
			)
			made := shape.Want(t, conflictShape, resolve(h, request, title["id"], `{"take":"ours"}`, 200).Body)
			resolution := made["resolution"].(map[string]any)
			if made["status"] != "resolved" || resolution["take"] != "ours" || resolution["resolvedBy"].(map[string]any)["id"] != h.Ours.Users[schema.RoleEdit].ID {
				t.Errorf("%v", made)
			}
			if is := apitest.Ask[discussion.Review](
				h, schema.RoleRead, "GET", h.RequestPath(request)+"/reviews/"+review.ID, nil, 200,
			); !is.Outdated {
				t.Errorf("the review still counts: %+v", is)
			}
			// If the same choice is sent again, it does not make the review outdated.
			review = apitest.Ask[discussion.Review](
				h, schema.RoleReview, "POST", h.RequestPath(request)+"/reviews", `{"status":"approved"}`, 201,
			)
			resolve(h, request, title["id"], `{"take":"ours","value":5}`, 200)
			if is := apitest.Ask[discussion.Review](
				h, schema.RoleRead, "GET", h.RequestPath(request)+"/reviews/"+review.ID, nil, 200,
			); is.Outdated {
				t.Errorf("the review no longer counts: %+v", is)
			}
			// A choice can be changed.
			resolve(h, request, title["id"], `{"take":"theirs"}`, 200)
			resolve(h, request, title["id"], `{"take":"value","value":"Opening"}`, 200)
			resolve(h, request, conflictAt(h, request, "emoji")["id"], `{"take":"theirs"}`, 200)
			if open := conflictList(h, request, "?status=open"); len(open) != 1 || open[0]["id"] != text["id"] {
				t.Errorf("open: %v", open)
			}
			if done := conflictList(h, request, "?status=resolved&limit=1"); len(done) != 2 {
				t.Errorf("resolved: %v", done)
			}
			if got := apitest.Ask[schema.MergeResult](h, schema.RoleAdmin, "POST", h.RequestPath(request)+"/update", nil, 200); got.Result != "conflicts" {
				t.Errorf("%+v", got)
			}
			resolve(h, request, text["id"], `{"take":"value","value":{"type":"paragraph","nodes":[{"leaves":[{"text":"Our words here."}]}]}}`, 200)
			if byUpdate {
				got := apitest.Ask[schema.MergeResult](h, schema.RoleEdit, "POST", h.RequestPath(request)+"/update", nil, 200)
				if after := apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.RequestPath(request), nil, 200); got.Result != "update" || after.Outdated || after.Revision != got.Revision {
					t.Errorf("%+v, %+v", got, after)
				}
				if left := conflictList(h, request, ""); len(left) != 0 {
					t.Errorf("after the update: %v", left)
				}
				h.WantError(resolve(h, request, text["id"], `{"take":"ours"}`, 404), 404)
			}
			if got := h.MergeNow(request); got.Result != "merge" {
				t.Fatalf("%+v", got)
			}
			is := h.Want(200, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/page/"+page+"?format=markdown", h.Ours.Tokens[schema.RoleRead], nil)
			if is["title"] != "Opening" || is["emoji"] != "1f680" || strings.TrimSpace(fmt.Sprint(is["markdown"])) != "Our words here.\n\nLast words there." {
				t.Errorf("%v", is)
			}
			if left := conflictList(h, request, ""); len(left) != 0 {
				t.Errorf("after the merge: %v", left)
			}
			h.WantError(resolve(h, request, text["id"], `{"take":"ours"}`, 409), 409)
			if rows := h.Rows()["conflict_choices"]; rows.Count != 0 {
				t.Errorf("%d choices are left", rows.Count)
			}
		})
	}
}

// TestChoicesAreForTheirVersions makes a choice and then changes one side. The conflict has new versions, so it is open
// again.
func TestChoicesAreForTheirVersions(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	row, conflict := h.Conflicting(h.Ours)
	request := row.ID
	resolve(h, request, conflict, `{"take":"ours"}`, 200)
	page := conflictAt(h, request, "title")["page"].(map[string]any)["id"]
	title := func(request, title string) {
		h.ChangeContent(schema.RoleEdit, request, fmt.Sprintf(`{"operation":"update_page","page":%q,"title":%q}`, page, title))
	}
	is := func(status, ours, theirs string) {
		t.Helper()
		list := conflictList(h, request, "")
		if len(list) != 1 || list[0]["status"] != status || list[0]["ours"] != ours || list[0]["theirs"] != theirs {
			t.Errorf("%v, want %s %s %s", list, status, ours, theirs)
		}
	}
	is("resolved", "One", "Another")
	title(request, "Two")
	is("open", "Two", "Another")
	h.WantError(resolve(h, request, conflict, `{"take":"ours"}`, 404), 404)
	resolve(h, request, conflictAt(h, request, "title")["id"], `{"take":"theirs"}`, 200)
	if rows := h.Rows()["conflict_choices"]; rows.Count != 1 {
		t.Errorf("%d choices: that of the other versions is kept", rows.Count)
	}
	other := h.ChangeRequest(h.Ours).ID
	title(other, "Third")
	h.MergeNow(other)
	is("open", "Two", "Third")
	if got := h.MergeNow(request); got.Result != "conflicts" {
		t.Errorf("%+v", got)
	}
	// An archived request shows its conflicts, but accepts no choices.
	apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "PATCH", h.RequestPath(request), `{"status":"archived"}`, 200)
	is("open", "Two", "Third")
	h.WantError(resolve(h, request, conflictAt(h, request, "title")["id"], `{"take":"ours"}`, 409), 409)
	// The main content becomes equal to the request, so no conflict remains.
	other = h.ChangeRequest(h.Ours).ID
	title(other, "Two")
	h.MergeNow(other)
	if list := conflictList(h, request, ""); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// TestBadChoices sends values that the field in conflict cannot have. The response is a 400 with the name of the
// member. No choice is stored.
func TestBadChoices(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	first := h.ChangeRequest(h.Ours).ID
	h.ChangeContent(schema.RoleEdit, first,
		`{"operation":"insert_page","title":"A","slug":"a","document":{"markdown":"One two three."}}`, `{"operation":"insert_page","title":"B","slug":"b"}`,
		`{"operation":"insert_page","title":"C","slug":"c"}`, `{"operation":"insert_page","title":"L","type":"link","target":{"kind":"url","url":"https://example.com"}}`)
	h.MergeNow(first)
	pages, err := h.Store.Pages(t.Context(), h.Ours.Space.ID, apitest.Ask[schema.Space](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID, nil, 200).Revision)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, p := range pages {
		ids[p.Title] = p.ID
	}
	request, other := h.ChangeRequest(h.Ours).ID, h.ChangeRequest(h.Ours).ID
	for i, request := range []string{request, other} {
		into := []string{"B", "C"}[i]
		h.ChangeContent(schema.RoleEdit, request, fmt.Sprintf(`{"operation":"update_page","page":%q,"title":"T%d","slug":"s%d","emoji":"1f60%d","icon":"i%d","description":"d%d",
			"condition":"visitor.claims.c%d","hidden":%t,"into":%q,"document":{"markdown":"One %d three."}}`,
			ids["A"], i, i, i, i, i, i, i == 0, ids[into], i), fmt.Sprintf(`{"operation":"update_page","page":%q,"target":{"kind":"url","url":"https://example.com/%d"}}`, ids["L"], i))
	}
	h.MergeNow(other)
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	before := h.Rows()
	for _, test := range []struct{ field, body, want string }{
		{"title", `{"take":"value"}`, "value"},
		{"title", `{"take":"value","value":7}`, "value"},
		{"title", `{"take":"value","value":" "}`, "value"},
		{"title", `{"take":"value","value":null}`, "value"},
		{"title", `{"take":"value","value":"a\u0000"}`, "value"},
		{"title", `{"take":"value","value":` + long(257) + `}`, "value"},
		{"title", `{"take":"mine"}`, "take"},
		{"title", `{}`, "take"},
		{"slug", `{"take":"value","value":"a b"}`, "value"},
		{"slug", `{"take":"value","value":""}`, "value"},
		{"slug", `{"take":"value","value":` + long(101) + `}`, "value"},
		{"emoji", `{"take":"value","value":` + long(51) + `}`, "value"},
		{"icon", `{"take":"value","value":["x"]}`, "value"},
		{"description", `{"take":"value","value":` + long(1001) + `}`, "value"},
		{"condition", `{"take":"value","value":"((("}`, "value"},
		{"place", `{"take":"value","value":{"parent":"nothing"}}`, "value"},
		{"place", `{"take":"value","value":{"parent":"` + ids["A"] + `"}}`, "value"},
		{"place", `{"take":"value","value":{"parent":"` + ids["L"] + `"}}`, "value"},
		{"place", `{"take":"value","value":"` + ids["B"] + `"}`, "value"},
		{"target", `{"take":"value","value":{"kind":"moon"}}`, "value.kind"},
		{"document", `{"take":"value","value":"words"}`, "value"},
		{"document", `{"take":"value","value":{"type":"moon"}}`, "value.type"},
		{"document", `{"take":"value","value":{"type":"paragraph","nodes":[{"leaves":[{"text":"x\u0000"}]}]}}`, "value"},
	} {
		a := resolve(h, request, conflictAt(h, request, test.field)["id"], test.body, 400)
		if e := h.WantError(a, 400); len(e.Details) == 0 || e.Details[0].Field != test.want {
			t.Errorf("%s %s: %+v, want %s", test.field, test.body, e, test.want)
		}
	}
	h.WantError(resolve(h, request, "nothing", `{"take":"ours"}`, 404), 404)
	if after := h.Rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
	// Users who may only read the space see conflicts, but cannot resolve them.
	conflict := fmt.Sprintf("%s/conflicts/%v", h.RequestPath(request), conflictAt(h, request, "title")["id"])
	h.WantError(h.Do("POST", conflict, h.Ours.Tokens[schema.RoleComment], `{"take":"ours"}`), 403)
	h.WantError(h.Do("POST", conflict, h.Theirs.Tokens[schema.RoleAdmin], `{"take":"ours"}`), 404)
	h.WantError(h.Do("GET", h.RequestPath(request)+"/conflicts?status=gone", h.Ours.Tokens[schema.RoleRead], nil), 400)
}
