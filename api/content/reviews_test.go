package content_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/content"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

var (
	reviewerShape = shape.Of{
		"object": shape.One("change-request-requested-reviewer"), "kind": shape.One("user"), "user": shape.Object(shape.User), "revision": shape.ID,
		"requestedBy": shape.Object(shape.User), "createdAt": shape.Timestamp,
	}
	reviewShape = shape.Of{
		"object": shape.One("change-request-review"), "id": shape.ID, "revision": shape.ID, "reviewer": shape.Object(shape.User), "requestedBy?": shape.Object(shape.User),
		"status": shape.One("changes-requested", "approved"), "outdated": shape.Boolean, "comment?": shape.Object(commentShape), "createdAt": shape.Timestamp,
		"updatedAt": shape.Timestamp, "urls": shape.Object(shape.Of{"location": shape.URI}),
	}
	reviewersShape = shape.Of{"users": shape.List(shape.Object(reviewerShape))}
)

// TestRequestedReviewers requests reviewers, requests them again, and removes them.
func TestRequestedReviewers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, request := apitest.ReviewPath(h)
	user := func(role schema.Role) string { return h.Ours.Users[role].ID }
	ask := func(role schema.Role, body string) map[string]any {
		t.Helper()
		return h.Send(role, "POST", path+"/requested-reviewers", body, reviewersShape)
	}
	ids := func(answer map[string]any, member string) []string {
		found := []string{}
		for _, r := range answer[member].([]any) {
			found = append(found, r.(map[string]any)["user"].(map[string]any)["id"].(string))
		}
		return found
	}
	first := ask("edit", fmt.Sprintf(`{"users":[%q,%q,%q],"subject":"Better","description":{"nodes":[{"type":"paragraph"}]}}`,
		user("review"), user("create"), user("review")))
	if diff := cmp.Diff([]string{user("review"), user("create")}, ids(first, "users")); diff != "" {
		t.Error(diff)
	}
	again := ask("admin", fmt.Sprintf(`{"users":[%q,%q]}`, user("review"), user("create")))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("asked twice: %s", diff)
	}
	ask("admin", `{"users":[]}`)
	listed := h.Send("read", "GET", path+"/requested-reviewers", nil, shape.ListOf(reviewerShape))
	want := []string{user("review"), user("create")}
	slices.Sort(want)
	if diff := cmp.Diff(want, ids(listed, "items")); diff != "" || listed["count"] != 2.0 {
		t.Errorf("%v %s", listed["count"], diff)
	}
	page := h.Send("read", "GET", path+"/requested-reviewers?limit=1", nil, shape.ListOf(reviewerShape))
	rest := h.Send("read", "GET", path+"/requested-reviewers?page="+page["next"].(map[string]any)["page"].(string), nil, shape.ListOf(reviewerShape))
	if got := append(ids(page, "items"), ids(rest, "items")...); !slices.Equal(got, want) || rest["next"] != nil {
		t.Errorf("in pages: %q", got)
	}
	after, err := h.Store.ChangeRequest(t.Context(), request.SpaceID, request.ID)
	if err != nil || after.Subject != "Better" || after.Description == nil || after.Status != "draft" || !after.UpdatedAt.After(request.UpdatedAt) {
		t.Errorf("%+v %v", after, err)
	}
	for range 2 {
		h.Send("edit", "DELETE", path+"/requested-reviewers/"+user("create"), nil, nil)
	}
	h.Send("edit", "DELETE", path+"/requested-reviewers/nobody", nil, nil)
	listed = h.Send("read", "GET", path+"/requested-reviewers", nil, shape.ListOf(reviewerShape))
	if diff := cmp.Diff([]string{user("review")}, ids(listed, "items")); diff != "" {
		t.Error(diff)
	}

	// The request is refused if one user may not review, is the author, is in another tenant, or does not exist.
	for body, fields := range map[string][]string{
		fmt.Sprintf(`{"users":[%q,%q,"nobody"]}`, user("review"), h.Theirs.Users["admin"].ID): {"users[1]", "users[2]"},
		fmt.Sprintf(`{"users":[%q,%q,%q]}`, user("read"), user("edit"), user("admin")):        {"users[0]", "users[1]", "users[2]"},
		`{"users":[],"description":{"markdown":"x"}}`:                                         {"description.nodes"},
		`{"users":[],"description":{}}`:                                                       {"description.nodes"},
		fmt.Sprintf(`{"users":[%q],"subject":"Worse"}`, user("")):                             {"users[0]"},
		`{"users":"x"}`:    {"users"},
		`{"users":[null]}`: {"users[0]"},
		`{"users":[""]}`:   {"users[0]"},
		`{"subject":"x"}`:  {"users"},
		`{"users":[],"subject":"` + strings.Repeat("x", 101) + `"}`:                  {"subject"},
		`{"users":[],"description":"text"}`:                                          {"description"},
		`{"users":[],"description":{"nodes":[{"object":"block","type":"nothing"}]}}`: {"description.nodes[0].type"},
	} {
		e := h.WantError(h.Do("POST", path+"/requested-reviewers", h.Ours.Tokens["admin"], body), http.StatusBadRequest)
		got := []string{}
		for _, d := range e.Details {
			got = append(got, d.Field)
		}
		if !slices.Equal(got, fields) {
			t.Errorf("%s: %q, want %q", body, got, fields)
		}
	}
	if got, err := h.Store.ChangeRequest(t.Context(), request.SpaceID, request.ID); err != nil || got.Subject != "Better" {
		t.Errorf("a refused request changed something: %+v %v", got, err)
	}
	if got := h.Send("read", "GET", path+"/requested-reviewers", nil, shape.ListOf(reviewerShape)); !cmp.Equal(got, listed) {
		t.Errorf("a refused request asked somebody: %s", cmp.Diff(listed, got))
	}
	for _, status := range []string{"archived", "merged"} {
		h.Exec("update change_requests set status = $2 where id = $1", request.ID, status)
		h.WantError(h.Do("POST", path+"/requested-reviewers", h.Ours.Tokens["admin"], `{"users":[]}`), http.StatusConflict)
		h.WantError(h.Do("POST", path+"/reviews", h.Ours.Tokens["admin"], `{"status":"approved"}`), http.StatusConflict)
		// The discussion stays open, so users can still comment.
		h.Send("comment", "POST", path+"/comments", `{"body":{"markdown":"a"}}`, commentShape)
	}
}

// TestReviews submits reviews, and makes them outdated in every possible way.
func TestReviews(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, request := apitest.ReviewPath(h)
	submit := func(role schema.Role, body string) (string, map[string]any) {
		t.Helper()
		a := h.Do("POST", path+"/reviews", h.Ours.Tokens[role], body)
		if a.Status != http.StatusCreated {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		review := shape.Want(t, reviewShape, a.Body)
		location := review["urls"].(map[string]any)["location"].(string)
		if a.Header.Get("Location") != location {
			t.Errorf("Location %q, urls.location %q", a.Header.Get("Location"), location)
		}
		read := h.Send(role, "GET", strings.TrimPrefix(location, "https://docs.example.com/base"), nil, reviewShape)
		if diff := cmp.Diff(review, read); diff != "" {
			t.Error(diff)
		}
		return review["id"].(string), review
	}
	want := func(all, current []string) {
		t.Helper()
		if got := h.IDs(path+"/reviews", h.Ours.Tokens["read"]); !slices.Equal(got, all) {
			t.Errorf("all: %q, want %q", got, all)
		}
		if got := h.IDs(path+"/reviews?outdated=false", h.Ours.Tokens["read"]); !slices.Equal(got, current) {
			t.Errorf("current: %q, want %q", got, current)
		}
		old := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(current, id) })
		if got := h.IDs(path+"/reviews?outdated=true", h.Ours.Tokens["read"]); !slices.Equal(got, old) {
			t.Errorf("outdated: %q, want %q", got, old)
		}
	}
	ask := func(role schema.Role) {
		t.Helper()
		h.Send("admin", "POST", path+"/requested-reviewers", fmt.Sprintf(`{"users":[%q]}`, h.Ours.Users[role].ID), reviewersShape)
	}
	want([]string{}, []string{})
	ask("review")
	a, review := submit("review", `{"status":"changes-requested","comment":{"markdown":"No."}}`)
	if review["requestedBy"].(map[string]any)["displayName"] != "ours-admin" || review["revision"] != request.Revision || review["outdated"] != false {
		t.Errorf("%v", review)
	}
	comment := review["comment"].(map[string]any)
	if comment["target"].(map[string]any)["review"] != a || comment["body"].(map[string]any)["markdown"] != "No." {
		t.Errorf("%v", comment)
	}
	if got := h.IDs(path+"/comments", h.Ours.Tokens["read"]); !slices.Equal(got, []string{comment["id"].(string)}) {
		t.Errorf("%q", got)
	}
	b, review := submit("create", `{"status":"approved","comment":{}}`)
	if review["requestedBy"] != nil || review["comment"] != nil {
		t.Errorf("%v", review)
	}
	want([]string{a, b}, []string{a, b})
	c, _ := submit("review", `{"status":"approved"}`)
	want([]string{a, b, c}, []string{b, c})
	ask("create") // this requests another review from the same user
	want([]string{a, b, c}, []string{c})
	d, _ := submit("create", `{"status":"approved"}`)
	if got := h.IDs(path+"/requested-reviewers", h.Ours.Tokens["read"]); len(got) != 0 {
		t.Errorf("who has answered is still asked: %q", got)
	}
	h.Exec("insert into change_request_reviewers (change_request_id, user_id, revision, requested_by) values ($1, $2, $3, $2)",
		request.ID, h.Ours.Users["read"].ID, request.Revision) // this reviewer is another user
	want([]string{a, b, c, d}, []string{c, d})
	states := mergeFacts(h, request).Reviews
	if diff := cmp.Diff(map[string]schema.ReviewState{
		h.Ours.Users["review"].ID: {User: h.Ours.Users["review"].ID, Requested: true, Status: "approved"},
		h.Ours.Users["create"].ID: {User: h.Ours.Users["create"].ID, Requested: true, Status: "approved"},
		h.Ours.Users["read"].ID:   {User: h.Ours.Users["read"].ID, Requested: true},
	}, byUser(states)); diff != "" {
		t.Error(diff)
	}
	h.Exec("update change_requests set revision = 'next' where id = $1", request.ID)
	want([]string{a, b, c, d}, []string{})
	if states = mergeFacts(h, request).Reviews; states[0].Status+states[1].Status+states[2].Status != "" {
		t.Errorf("%+v", states)
	}
	// A review stays after its comment is deleted.
	h.Send("admin", "DELETE", path+"/comments/"+comment["id"].(string), nil, nil)
	if got := h.Send("read", "GET", path+"/reviews/"+a, nil, reviewShape); got["comment"] != nil {
		t.Errorf("%v", got)
	}
	h.WantError(h.Do("GET", path+"/reviews/nothing", h.Ours.Tokens["admin"], nil), http.StatusNotFound)
	other, _ := apitest.ReviewPath(h)
	h.WantError(h.Do("GET", other+"/reviews/"+a, h.Ours.Tokens["admin"], nil), http.StatusNotFound)
	for body, field := range map[string]string{
		`{}`: "status", `{"status":"fine"}`: "status", `{"status":null}`: "status", `{"status":"approved","comment":"x"}`: "comment",
		`{"status":"approved","comment":{"text":"x"}}`: "comment",
	} {
		e := h.WantError(h.Do("POST", path+"/reviews", h.Ours.Tokens["admin"], body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", body, e)
		}
	}
	h.WantError(h.Do("GET", path+"/reviews?outdated=maybe", h.Ours.Tokens["admin"], nil), http.StatusBadRequest)
}

func byUser(states []schema.ReviewState) map[string]schema.ReviewState {
	users := map[string]schema.ReviewState{}
	for _, s := range states {
		users[s.User] = s
	}
	return users
}

// TestReviewsAtTheSameTime submits many reviews of one user concurrently. At most one of these reviews is not outdated
// afterwards.
func TestReviewsAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, _ := apitest.ReviewPath(h)
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			body := `{"status":"approved","comment":{"markdown":"a"}}`
			if i%3 == 0 {
				a := h.Do("POST", path+"/requested-reviewers", h.Ours.Tokens["admin"],
					fmt.Sprintf(`{"users":[%q,%q]}`, h.Ours.Users["review"].ID, h.Ours.Users["create"].ID))
				if a.Status != http.StatusOK {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				return
			}
			if a := h.Do("POST", path+"/reviews", h.Ours.Tokens["review"], body); a.Status != http.StatusCreated {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	if got := h.IDs(path+"/reviews", h.Ours.Tokens["read"]); len(got) != 8 {
		t.Errorf("%d reviews", len(got))
	}
	if got := h.IDs(path+"/reviews?outdated=false", h.Ours.Tokens["read"]); len(got) > 1 {
		t.Errorf("%d reviews of one user count", len(got))
	}
	if got := h.IDs(path+"/comments?status=open", h.Ours.Tokens["read"]); len(got) != 8 {
		t.Errorf("%d comments", len(got))
	}
}

// mergeFacts returns the facts on which a merge of the request depends.
func mergeFacts(h *apitest.Harness, request store.ChangeRequest) (facts store.MergeFacts) {
	h.T.Helper()
	refuse := func(f store.MergeFacts, _ bool) error {
		facts = f
		return schema.Conflict("judged, not merged")
	}
	_, err := h.Store.MergeChangeRequest(h.T.Context(), request, request.CreatedBy, refuse)
	if !schema.IsCode(err, schema.CodeConflict) {
		h.T.Fatal(err)
	}
	return facts
}

// TestCustomMergeRules sets rules with expressions. If an expression is invalid, the response is an error with the
// place in the expression. A merge evaluates the expressions with the current request.
func TestCustomMergeRules(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space, admin := "/v1/spaces/"+h.Ours.Space.ID, h.Ours.Tokens[schema.RoleAdmin]
	rules := func(expression string) map[string]any {
		return map[string]any{"mergeRules": map[string]any{"type": "rules", "rules": []any{map[string]any{"rule": "custom", "expression": expression}}}}
	}
	for expression, want := range map[string]string{
		"":                                   "is empty, at character 1",
		"changeRequest.subject ==":           "at character 25",
		"changeRequest.title == ''":          "undefined field 'title', at character 14",
		"visitor.claims.x":                   "undeclared reference to 'visitor', at character 1",
		"1 + 1":                              "must be true or false, not int, at character 1",
		strings.Repeat("x", 1025):            "at most 1024",
		"changeRequest.subject == 'a\u0000'": "",
	} {
		e := h.WantError(h.Do("PATCH", space, admin, rules(expression)), 400)
		if len(e.Details) != 1 || e.Details[0].Field != "mergeRules.rules[0].expression" || !strings.Contains(e.Details[0].Problem, want) {
			t.Errorf("%q: %+v, want %s", expression, e, want)
		}
	}
	const expression = `changeRequest.subject.startsWith("docs: ") && reviews.exists(r, r.status == "approved" && !r.contributor)`
	written := h.Want(200, "PATCH", space, admin, rules(expression))
	if got := written["mergeRules"].(map[string]any)["rules"].([]any)[0].(map[string]any); got["rule"] != "custom" || got["expression"] != expression {
		t.Errorf("%v", got)
	}
	path, _ := apitest.ReviewPath(h)
	refused := func() {
		t.Helper()
		e := h.WantError(h.Do("POST", path+"/merge", admin, nil), 409)
		if len(e.Details) != 1 || e.Details[0].Field != "custom" || !strings.Contains(e.Message, expression) {
			t.Errorf("%+v", e)
		}
	}
	refused()
	h.Want(200, "PATCH", path, admin, `{"subject":"docs: more"}`)
	refused()
	h.Want(201, "POST", path+"/reviews", h.Ours.Tokens[schema.RoleReview], `{"status":"approved"}`)
	if got := h.Want(200, "POST", path+"/merge", admin, nil); got["result"] != "merge" {
		t.Errorf("%v", got)
	}
}

// TestCheckMergeRules checks the decisions about merges with stored facts.
func TestCheckMergeRules(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, request := apitest.ReviewPath(h)
	// Only if the space has rules does the store determine which users may review.
	h.Want(
		200,
		"PATCH",
		"/v1/spaces/"+request.SpaceID,
		h.Ours.Tokens["admin"],
		`{"mergeRules":{"type":"rules","rules":[]}}`,
	)
	none := schema.MergeRules{Type: "none"}
	rules := schema.MergeRules{Type: "rules", Rules: []schema.MergeRule{
		{Rule: "require_at_least_one_review"}, {Rule: "require_change_request_description"}, {Rule: "allow_bypass", Users: []string{"root"}},
	}}
	check := func(actor string, space, organization schema.MergeRules) error {
		t.Helper()
		facts := mergeFacts(h, request)
		var err error
		if facts.SpaceRules, err = json.Marshal(space); err != nil {
			t.Fatal(err)
		}
		if facts.OrganizationRules, err = json.Marshal(organization); err != nil {
			t.Fatal(err)
		}
		return content.CheckMergeRules(t.Context(), actor, facts, false)
	}
	for name, err := range map[string]error{
		"none": check("x", none, rules), "inherited none": check("x", schema.MergeRules{Type: "inherit"}, none), "bypass": check("root", rules, none),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := schema.AsError(check("x", schema.MergeRules{Type: "inherit"}, rules))
	if e == nil || e.Code != schema.CodeConflict || len(e.Details) != 2 || !strings.Contains(e.Message, "require_at_least_one_review") {
		t.Fatalf("%v", e)
	}
	h.Send("review", "POST", path+"/reviews", `{"status":"changes-requested"}`, reviewShape)
	description, err := json.Marshal(map[string]any{"users": []string{}, "description": schema.NewDocument(schema.Block("paragraph", schema.Text("Why.")))})
	if err != nil {
		t.Fatal(err)
	}
	h.Send("edit", "POST", path+"/requested-reviewers", description, reviewersShape)
	if err := check("x", rules, none); err != nil {
		t.Error(err)
	}
}

// TestMergeRulesEndWithTheRequest evaluates an expression after its context has ended. The result is an error, and not
// a decision of the rule.
func TestMergeRulesEndWithTheRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller is gone")
	cancel(gone)
	rules, err := json.Marshal(schema.MergeRules{
		Type: "rules", Rules: []schema.MergeRule{{Rule: "custom", Expression: "true"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	facts := store.MergeFacts{SpaceRules: rules, OrganizationRules: []byte(`{"type":"none"}`)}
	if err := content.CheckMergeRules(t.Context(), "x", facts, false); err != nil {
		t.Error(err)
	}
	if err := content.CheckMergeRules(t.Context(), "x", facts, true); !errors.Is(err, store.ErrCostly) {
		t.Errorf("under the lock: %v", err)
	}
	if err := content.CheckMergeRules(ctx, "x", facts, false); !errors.Is(err, gone) {
		t.Errorf("after the end: %v", err)
	}
}

// TestNobodyApprovesTheirOwnWork lets a contributor add content, approve the request and merge it. The contributor has
// not created the change request. The approval does not count.
func TestNobodyApprovesTheirOwnWork(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, request := apitest.ReviewPath(h)
	contributor := h.Ours.Users[schema.RoleReview].ID
	named, either := map[string]any{"rule": "require_specific_reviewers", "users": []string{contributor}},
		map[string]any{"rule": "require_one_of_specific_reviewers", "users": []string{contributor, h.Ours.Users[schema.RoleCreate].ID}}
	h.ChangeContent(schema.RoleReview, request.ID, `{"operation":"insert_page","title":"Unseen"}`)
	h.Want(201, "POST", path+"/reviews", h.Ours.Tokens[schema.RoleReview], `{"status":"approved"}`)
	merge := func(rule any, status int) {
		t.Helper()
		h.Want(200, "PATCH", "/v1/spaces/"+request.SpaceID, h.Ours.Tokens[schema.RoleAdmin],
			map[string]any{"mergeRules": map[string]any{"type": "rules", "rules": []any{rule}}})
		h.Want(status, "POST", path+"/merge", h.Ours.Tokens[schema.RoleReview], nil)
	}
	one := map[string]any{"rule": "require_at_least_one_approved_review"}
	for _, rule := range []any{one, map[string]any{"rule": "require_at_least_one_review"}, named, either} {
		merge(rule, 409)
	}
	h.Want(201, "POST", path+"/reviews", h.Ours.Tokens[schema.RoleCreate], `{"status":"approved"}`)
	merge(named, 409)
	merge(either, 200)
}
