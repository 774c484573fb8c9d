package content_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

var changeRequestShape = shape.Of{
	"object": shape.One("change-request"), "id": shape.ID, "number": shape.Count, "status": shape.One("draft", "open", "archived", "merged"),
	"subject": shape.Text(0, 100), "description?": anyObject, "createdBy": shape.Object(shape.User), "createdAt": shape.Timestamp, "updatedAt": shape.Timestamp,
	"space": shape.ID, "revision": shape.ID, "revisionInitial": shape.ID, "revisionMergedAncestor?": shape.ID, "revisionMerged?": shape.ID, "comments": shape.Count,
	"outdated": shape.Boolean, "conversationsIssuesCluster?": shape.ID, "urls": shape.Object(shape.Of{"app": shape.URI, "location": shape.URI}),
}

// anyObject accepts any object. Other tests check the members of such objects.
func anyObject(v any) error {
	if _, ok := v.(map[string]any); !ok {
		return fmt.Errorf("%v is no object", v)
	}
	return nil
}

func TestChangeRequestLifecycle(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := "/v1/spaces/" + h.Ours.Space.ID + "/change-requests"
	a := h.Do("POST", base, h.Ours.Tokens[schema.RoleEdit], `{"subject":"Rewrite"}`)
	made := shape.Want(t, changeRequestShape, a.Body)
	if a.Status != http.StatusCreated || a.Header.Get("Location") != made["urls"].(map[string]any)["location"] {
		t.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	if made["status"] != "draft" || made["number"] != 1.0 || made["subject"] != "Rewrite" || made["outdated"] != false ||
		made["revision"] != made["revisionInitial"] || made["createdBy"].(map[string]any)["id"] != h.Ours.Users[schema.RoleEdit].ID {
		t.Errorf("%s", a.Body)
	}
	path := h.RequestPath(made["id"])
	byNumber := h.Do("GET", base+"/1", h.Ours.Tokens[schema.RoleRead], nil)
	if byID := h.Do("GET", path, h.Ours.Tokens[schema.RoleRead], nil); string(byID.Body) != string(byNumber.Body) || byID.Status != 200 {
		t.Errorf("by id %s, by number %s", byID.Body, byNumber.Body)
	}
	for _, other := range []string{"2", "0", "-1", "99999999999999", "x", "01", "+1", "1.0", "%201"} {
		h.WantError(h.Do("GET", base+"/"+other, h.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	}
	if got := h.Counters(); got != [3]int64{1, 0, 1} {
		t.Errorf("counters %v", got)
	}
	a = h.Do("PATCH", path, h.Ours.Tokens[schema.RoleEdit],
		`{"status":"open","description":{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"Why"}]}]}]}}`)
	patched := shape.Want(t, changeRequestShape, a.Body)
	if patched["status"] != "open" || !strings.Contains(string(a.Body), `"object":"leaf"`) || patched["subject"] != "Rewrite" {
		t.Errorf("%s", a.Body)
	}
	if got := h.Counters(); got != [3]int64{1, 1, 0} {
		t.Errorf("counters %v", got)
	}
	// An empty change does not change the time of the last change.
	a = h.Do("PATCH", path, h.Ours.Tokens[schema.RoleEdit], `{}`)
	if same := shape.Want(t, changeRequestShape, a.Body); same["updatedAt"] != patched["updatedAt"] {
		t.Errorf("%s, before %s", same["updatedAt"], patched["updatedAt"])
	}
	if gone := apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "PATCH", path, `{"description":null,"status":"archived"}`, 200); gone.Description != nil {
		t.Errorf("%+v", gone)
	}
	if got := h.Counters(); got != [3]int64{1, 0, 0} {
		t.Errorf("counters %v", got)
	}
	for _, action := range []string{"/merge", "/update"} {
		h.WantError(h.Do("POST", path+action, h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusConflict)
	}
	apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "PATCH", path, `{"status":"draft"}`, 200)
	h.WantError(h.Do("POST", path+"/merge", h.Ours.Tokens[schema.RoleEdit], nil), http.StatusForbidden)
	merged := apitest.Ask[schema.MergeResult](h, schema.RoleReview, "POST", path+"/merge", nil, 200)
	if merged.Result != "merge" || merged.Revision == "" {
		t.Errorf("%+v", merged)
	}
	done := apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", path, nil, 200)
	if done.Status != "merged" || done.RevisionMerged != merged.Revision || done.Outdated {
		t.Errorf("%+v", done)
	}
	if got := h.Counters(); got != [3]int64{1, 0, 0} {
		t.Errorf("counters %v", got)
	}
	for _, body := range []string{`{"status":"open"}`, `{"status":"draft","subject":"x"}`} {
		h.WantError(h.Do("PATCH", path, h.Ours.Tokens[schema.RoleEdit], body), http.StatusConflict)
	}
	h.WantError(h.Do("POST", path+"/merge", h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusConflict)
	if after := apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "PATCH", path, `{"subject":"After"}`, 200); after.Subject != "After" {
		t.Errorf("%+v", after)
	}
}

func TestBadChangeRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base, path := "/v1/spaces/"+h.Ours.Space.ID+"/change-requests", h.RequestPath(h.ChangeRequest(h.Ours).ID)
	before := h.Rows()
	long := strings.Repeat("x", 101)
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", base, `{"subject":"` + long + `"}`, "subject"},
		{"POST", base, `{"subject":7}`, "subject"},
		{"POST", base, `{"template":{"id":"t","params":{"contentRefs":{"a":{"kind":"file","file":"f"}}}}}`, "template.params.contentRefs"},
		{"POST", base, `{"template":{"id":"t"}}`, "template.id"},
		{"POST", base, `{"template":{"id":"a b","params":{}}}`, "template.id"},
		{"POST", base, `{"template":{}}`, "template.id"},
		{"PATCH", path, `{"subject":"` + long + `"}`, "subject"},
		{"PATCH", path, `{"status":"merged"}`, "status"},
		{"PATCH", path, `{"description":{"nodes":[{"type":"nothing"}]}}`, "description.nodes[0].type"},
		{"GET", path + "/pdf?only=true", "", "page"},
		{"GET", base + "?status=gone", "", "status"},
		{"GET", base + "?orderBy=number", "", "orderBy"},
		{"GET", "/v1/orgs/" + h.Ours.Organization.ID + "/change-requests?status=open,x", "", "status"},
	} {
		e := h.WantError(h.Do(test.method, test.path, h.Ours.Tokens[schema.RoleAdmin], test.body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s %s: %+v, want %s", test.method, test.body, e, test.field)
		}
	}
	if after := h.Rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
}

func TestListsOfChangeRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	create := func(role schema.Role, status string) string {
		r := apitest.Ask[schema.ChangeRequest](h, role, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/change-requests", `{}`, 201)
		apitest.Ask[schema.ChangeRequest](h, role, "PATCH", h.RequestPath(r.ID), `{"status":"`+status+`"}`, 200)
		return r.ID
	}
	open1, open2 := create(schema.RoleAdmin, "open"), create(schema.RoleEdit, "open")
	draft, archived := create(schema.RoleEdit, "draft"), create(schema.RoleAdmin, "archived")
	h.Exec("update change_requests set cluster_id = 'c1' where id = $1", draft)
	apitest.Ask[json.RawMessage](h, schema.RoleAdmin, "POST", h.RequestPath(open2)+"/requested-reviewers", `{"users":["`+h.Ours.Users[schema.RoleReview].ID+`"]}`, 200)
	// The edit of another user moves the older request to the beginning of the list. This user becomes a contributor.
	h.ChangeContent(schema.RoleReview, open1, `{"operation":"insert_page","title":"New"}`)
	admin, editor, reviewer := h.Ours.Users[schema.RoleAdmin].ID, h.Ours.Users[schema.RoleEdit].ID, h.Ours.Users[schema.RoleReview].ID
	for _, list := range []string{"/v1/spaces/" + h.Ours.Space.ID, "/v1/orgs/" + h.Ours.Organization.ID} {
		list += "/change-requests"
		for query, want := range map[string][]string{
			"":                                            {open1, open2},
			"?orderBy=createdAt":                          {open2, open1},
			"?orderBy=updatedAt":                          {open1, open2},
			"?status=draft":                               {draft},
			"?status=merged":                              {},
			"?status=draft&status=archived":               {archived, draft},
			"?status=draft,archived,open":                 {open1, open2, archived, draft},
			"?creator=" + admin:                           {open1},
			"?creator=" + editor:                          {open2},
			"?contributor=" + reviewer:                    {open1},
			"?requestedReviewer=" + reviewer:              {open2},
			"?requestedReviewer=" + admin:                 {},
			"?contributor=" + admin:                       {open1},
			"?contributor=nobody":                         {},
			"?conversationsIssuesCluster=c1":              {},
			"?status=draft&creator=" + editor:             {draft},
			"?conversationsIssuesCluster=c1&status=draft": {draft},
		} {
			page := apitest.ReadPage(t, h, list+query)
			got := []string{}
			for _, item := range page.Items {
				got = append(got, item.ID)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || page.Count != int64(len(want)) {
				t.Errorf("%s%s: %v of %d, want %v", list, query, got, page.Count, want)
			}
		}
		var walked []string
		for page := ""; ; {
			got := apitest.ReadPage(t, h, list+"?status=draft,archived,open&limit=1&page="+page)
			walked = append(walked, got.Items[0].ID)
			if got.Next == nil {
				break
			}
			page = got.Next.Page
		}
		if fmt.Sprint(walked) != fmt.Sprint([]string{open1, open2, archived, draft}) {
			t.Errorf("%s by pages: %v", list, walked)
		}
		token := apitest.ReadPage(t, h, list+"?limit=1").Next.Page
		h.WantError(h.Do("GET", list+"?status=draft&page="+token, h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusBadRequest)
		for _, time := range []string{"never", "-1", "9223372036854775807"} {
			h.WantError(h.Do("GET", list+"?page="+apitest.Forged(token, time, open1), h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusBadRequest)
		}
	}
	// Only admins see a space without a default level.
	h.CloseSpace(h.Ours.Space.ID)
	list := "/v1/orgs/" + h.Ours.Organization.ID + "/change-requests"
	if got := apitest.Ask[apitest.IdPage](h, schema.RoleEdit, "GET", list, nil, 200); got.Count != 0 || len(got.Items) != 0 {
		t.Errorf("%+v", got)
	}
	if got := apitest.Ask[apitest.IdPage](h, schema.RoleAdmin, "GET", list, nil, 200); got.Count != 2 {
		t.Errorf("%+v", got)
	}
	// A guest with a grant sees the space too.
	h.GrantSpace(h.Ours, h.Ours.Space.ID,
		store.Subjects{Users: []string{h.Ours.Users[schema.RoleEdit].ID, h.Ours.Users[schema.RoleGuest].ID}}, schema.RoleRead)
	sees := func(role schema.Role, want int64) {
		t.Helper()
		for _, query := range []string{"", "?orderBy=createdAt"} {
			if got := apitest.Ask[apitest.IdPage](h, role, "GET", list+query, nil, 200); got.Count != want || len(got.Items) != int(want) {
				t.Errorf("%s%s: %+v, want %d", role, query, got, want)
			}
		}
	}
	sees(schema.RoleEdit, 2)
	sees(schema.RoleGuest, 2)
	sees(schema.RoleCreate, 0)
	// If a space inherits from a collection without access for members, the space is not visible either.
	closed := h.Collection(h.Ours, nil)
	h.Exec("update spaces set default_level = 'inherit', parent_id = $2 where id = $1", h.Ours.Space.ID, closed)
	sees(schema.RoleCreate, 2)
	h.CloseCollection(closed)
	sees(schema.RoleCreate, 0)
	sees(schema.RoleEdit, 2)
	sees(schema.RoleAdmin, 2)
}

// TestParallelChangeRequests writes to one space from many goroutines. All numbers of requests are different, and the
// counters match the rows. Merges succeed if they started from one revision and changed different pages.
func TestParallelChangeRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := "/v1/spaces/" + h.Ours.Space.ID + "/change-requests"
	const writers = 6
	ids := make([]string, writers)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			ids[i] = apitest.Ask[schema.ChangeRequest](h, schema.RoleAdmin, "POST", base, `{}`, 201).ID
			for j, status := range []string{"open", "archived", "draft", "open"} {
				if (i+j)%3 != 0 {
					apitest.Ask[schema.ChangeRequest](h, schema.RoleAdmin, "PATCH", h.RequestPath(ids[i]), `{"status":"`+status+`"}`, 200)
				}
			}
			apitest.Ask[schema.ChangeRequest](h, schema.RoleAdmin, "PATCH", h.RequestPath(ids[i]), `{"status":"open"}`, 200)
			h.ChangeContent(schema.RoleAdmin, ids[i], fmt.Sprintf(`{"operation":"insert_page","title":"Page %d"}`, i))
		})
	}
	wait.Wait()
	if got := h.Counters(); got != [3]int64{writers, writers, 0} {
		t.Errorf("counters %v", got)
	}
	results := make(chan string, writers)
	for _, id := range ids {
		wait.Go(func() {
			results <- apitest.Ask[schema.MergeResult](h, schema.RoleAdmin, "POST", h.RequestPath(id)+"/merge", nil, 200).Result
		})
	}
	wait.Wait()
	close(results)
	seen := map[string]int{}
	for result := range results {
		seen[result]++
	}
	if seen["merge"] != writers {
		t.Errorf("%v", seen)
	}
	if got := h.Counters(); got != [3]int64{writers, 0, 0} {
		t.Errorf("counters %v", got)
	}
	// Two calls merge the same change request concurrently. The server refuses the second of these calls.
	request := h.ChangeRequest(h.Ours)
	statuses := make(chan int, 2)
	for range 2 {
		wait.Go(func() {
			statuses <- h.Do("POST", h.RequestPath(request.ID)+"/merge", h.Ours.Tokens[schema.RoleAdmin], nil).Status
		})
	}
	wait.Wait()
	if got := (<-statuses) + (<-statuses); got != 200+409 {
		t.Errorf("statuses add up to %d", got)
	}
}

// TestParallelMergesStayUpToDate merges many requests concurrently. A rule allows only merges of requests that are up
// to date. Only the first merge succeeds. All other requests are then outdated, although they have no conflict.
func TestParallelMergesStayUpToDate(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Want(200, "PATCH", "/v1/spaces/"+h.Ours.Space.ID, h.Ours.Tokens[schema.RoleAdmin],
		`{"mergeRules":{"type":"rules","rules":[{"rule":"require_up_to_date_change_request"}]}}`)
	const writers = 6
	statuses := make(chan int, writers)
	var wait sync.WaitGroup
	// All requests are created first. A request that is created after a merge would be up to date.
	paths := make([]string, writers)
	for i := range paths {
		paths[i] = h.RequestPath(h.ChangeRequest(h.Ours).ID) + "/merge"
	}
	for _, path := range paths {
		wait.Go(func() { statuses <- h.Do("POST", path, h.Ours.Tokens[schema.RoleAdmin], nil).Status })
	}
	wait.Wait()
	close(statuses)
	seen := map[int]int{}
	for status := range statuses {
		seen[status]++
	}
	if seen[200] != 1 || seen[409] != writers-1 {
		t.Errorf("statuses %v", seen)
	}
}

// TestCountsAndOutdated follows requests through merges, updates and choices. After each step, the counters of the
// space equal the numbers of requests in the lists. A request is outdated if the main content has changes that the
// request does not have, and only then.
func TestCountsAndOutdated(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space := "/v1/spaces/" + h.Ours.Space.ID
	create := func() string {
		return apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "POST", space+"/change-requests", `{}`, 201).ID
	}
	insert := func(request, title string) {
		h.ChangeContent(schema.RoleEdit, request, fmt.Sprintf(`{"operation":"insert_page","title":%q}`, title))
	}
	status := func(request, status string) {
		apitest.Ask[schema.ChangeRequest](h, schema.RoleEdit, "PATCH", h.RequestPath(request), `{"status":"`+status+`"}`, 200)
	}
	comment := func(request string) string {
		return h.Want(200, "POST", h.RequestPath(request)+"/comments", h.Ours.Tokens[schema.RoleEdit], `{"body":{"markdown":"Why?"}}`)["id"].(string)
	}
	check := func(step string, comments map[string]int64, outdated ...string) {
		t.Helper()
		list := space + "/change-requests?status="
		count := func(statuses string) int64 { return apitest.ReadPage(t, h, list+statuses).Count }
		if got, want := h.Counters(), [3]int64{count("draft,open,archived,merged"), count("open"), count("draft")}; got != want {
			t.Errorf("%s: counters %v, listed %v", step, got, want)
		}
		for _, item := range apitest.ReadPage(t, h, list+"draft,open,archived,merged").Items {
			r := apitest.Ask[schema.ChangeRequest](h, schema.RoleRead, "GET", h.RequestPath(item.ID), nil, 200)
			if r.Comments != comments[r.ID] || r.Outdated != slices.Contains(outdated, r.ID) {
				t.Errorf("%s: request %d has %d comments, want %d, outdated %t", step, r.Number, r.Comments, comments[r.ID], r.Outdated)
			}
		}
	}
	a, b, c := create(), create(), create()
	insert(a, "A")
	insert(b, "B")
	check("created", nil)
	first, second := comment(b), comment(b)
	comment(a)
	status(a, "open")
	check("commented", map[string]int64{a: 1, b: 2})
	h.Want(200, "PUT", h.RequestPath(b)+"/comments/"+first, h.Ours.Tokens[schema.RoleEdit], `{"resolved":true}`)
	h.MergeNow(a)
	check("merged", map[string]int64{a: 1, b: 1}, b, c)
	status(b, "archived")
	check("archived", map[string]int64{a: 1, b: 1}, b, c)
	status(b, "open")
	apitest.Ask[schema.MergeResult](h, schema.RoleEdit, "POST", h.RequestPath(b)+"/update", nil, 200)
	apitest.Ask[schema.MergeResult](h, schema.RoleEdit, "POST", h.RequestPath(c)+"/update", nil, 200)
	check("updated", map[string]int64{a: 1, b: 1})
	if a := h.Do("DELETE", h.RequestPath(b)+"/comments/"+second, h.Ours.Tokens[schema.RoleEdit], nil); a.Status != 204 && a.Status != 205 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	h.MergeNow(c) // the merge changes no page, but makes a new revision of the main content
	check("merged without changes", map[string]int64{a: 1}, b)
	h.MergeNow(b)
	check("all merged", map[string]int64{a: 1})
	request, conflict := h.Conflicting(h.Ours)
	check("in conflict", map[string]int64{a: 1}, request.ID)
	resolve(h, request.ID, conflict, `{"take":"ours"}`, 200)
	check("resolved", map[string]int64{a: 1}, request.ID)
	apitest.Ask[schema.MergeResult](h, schema.RoleEdit, "POST", h.RequestPath(request.ID)+"/update", nil, 200)
	check("resolved and updated", map[string]int64{a: 1})
	h.MergeNow(request.ID)
	check("resolved and merged", map[string]int64{a: 1})
}
