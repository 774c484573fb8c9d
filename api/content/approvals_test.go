package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestApprovalsCountWhileTheirReviewersMayReview combines each rule about reviews with each way in which a reviewer can
// lose the right to review. After this, an approval of the reviewer no longer allows the merge, and a refusal no longer
// blocks it.
func TestApprovalsCountWhileTheirReviewersMayReview(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	space := "/v1/spaces/" + h.Ours.Space.ID
	// The other admin is the author of the change requests, so this admin cannot approve them.
	otherAdmin := storetest.Token(t, h.Store, store.NewToken{User: h.Member(h.Ours, schema.RoleAdmin), Name: "admin"})
	losses := map[string]func(user string){
		"removed": func(user string) { h.Want(http.StatusNoContent, "DELETE", org+"/members/"+user, admin, nil) },
		"demoted": func(user string) { h.Want(http.StatusOK, "PATCH", org+"/members/"+user, admin, `{"role":"read"}`) },
	}
	for _, rule := range []string{
		"require_specific_reviewers", "require_one_of_specific_reviewers", "require_at_least_one_review",
		"require_at_least_one_approved_review", "require_all_reviews_approved", "custom",
	} {
		for how, lose := range losses {
			t.Run(rule+"/"+how, func(t *testing.T) {
				h := h.In(t)
				path, request := apitest.ReviewPath(h)
				h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"insert_page","title":"`+rule+how+`"}`)
				user := h.Member(h.Ours, schema.RoleReview)
				token := storetest.Token(t, h.Store, store.NewToken{User: user, Name: "reviewer"})
				stored := map[string]any{"rule": rule}
				switch {
				case strings.Contains(rule, "specific"):
					stored["users"] = []string{user}
				case rule == "custom":
					stored["expression"] = `reviews.exists(r, r.status == "approved")`
				}
				rules := map[string]any{"mergeRules": map[string]any{"type": "rules", "rules": []any{stored}}}
				h.Want(http.StatusOK, "PATCH", space, admin, rules)
				blocks := rule == "require_all_reviews_approved"
				status := "approved"
				if blocks {
					status = "changes-requested"
				}
				h.Want(http.StatusCreated, "POST", path+"/reviews", token, map[string]string{"status": status})
				if blocks {
					h.Want(http.StatusConflict, "POST", path+"/merge", admin, nil)
				}
				lose(user)
				h.Want(http.StatusOK, "PATCH", space, admin, rules) // rules that name a former member stay valid
				if !blocks {
					a := h.Do("POST", path+"/merge", admin, nil)
					h.WantError(a, http.StatusConflict)
					if strings.Contains(rule, "specific") &&
						!strings.Contains(string(a.Body), "("+user+") may not review any more") {
						t.Errorf("%s", a.Body)
					}
					if strings.Contains(rule, "specific") { // the approval of an admin replaces the missing approval
						h.Want(
							http.StatusCreated,
							"POST",
							path+"/reviews",
							h.Ours.Tokens[schema.RoleCreate],
							`{"status":"approved"}`,
						)
						h.Want(http.StatusConflict, "POST", path+"/merge", admin, nil)
					}
					h.Want(http.StatusCreated, "POST", path+"/reviews", otherAdmin, `{"status":"approved"}`)
				}
				h.Want(http.StatusOK, "POST", path+"/merge", admin, nil)
			})
		}
	}
}

// TestMissingApprovalsAreNamed checks the error when a merge is refused. The error names the users whose approvals are
// missing, with names and ids. A former member is not named if other reviewers remain.
func TestMissingApprovalsAreNamed(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	path, _ := apitest.ReviewPath(h)
	reviewer, creator, left := h.Ours.Users[schema.RoleReview], h.Ours.Users[schema.RoleCreate], h.Member(
		h.Ours,
		schema.RoleReview,
	)
	for _, rule := range []string{"require_specific_reviewers", "require_one_of_specific_reviewers"} {
		h.Want(
			http.StatusOK,
			"PATCH",
			"/v1/spaces/"+h.Ours.Space.ID,
			admin,
			map[string]any{"mergeRules": map[string]any{
				"type":  "rules",
				"rules": []any{map[string]any{"rule": rule, "users": []string{reviewer.ID, creator.ID, left}}},
			}},
		)
		h.Do("DELETE", "/v1/orgs/"+h.Ours.Organization.ID+"/members/"+left, admin, nil)
		a := h.Do("POST", path+"/merge", admin, nil)
		h.WantError(a, http.StatusConflict)
		for _, user := range []orgs.User{reviewer, creator} {
			if !strings.Contains(string(a.Body), user.DisplayName+" ("+user.ID+")") {
				t.Errorf("%s: %s", rule, a.Body)
			}
		}
		if strings.Contains(string(a.Body), left) {
			t.Errorf("%s: %s", rule, a.Body)
		}
	}
	// Rules cannot name a user who was never a member.
	h.WantError(h.Do("PATCH", "/v1/spaces/"+h.Ours.Space.ID, admin, map[string]any{"mergeRules": map[string]any{
		"type":  "rules",
		"rules": []any{map[string]any{"rule": "allow_bypass", "users": []string{h.Theirs.Users[schema.RoleAdmin].ID}}},
	}}), http.StatusBadRequest)
}

// TestReviewsAreOfTheRevisionSeen checks reviews and merges that name a revision. They are refused if there is a newer
// revision.
func TestReviewsAreOfTheRevisionSeen(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, request := apitest.ReviewPath(h)
	review, admin := h.Ours.Tokens[schema.RoleReview], h.Ours.Tokens[schema.RoleAdmin]
	at := func() string { return h.Want(http.StatusOK, "GET", path, admin, nil)["revision"].(string) }
	h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"insert_page","title":"Good"}`)
	seen := at()
	body := func(revision string) map[string]string {
		return map[string]string{"status": "approved", "revision": revision}
	}
	if got := h.Want(http.StatusCreated, "POST", path+"/reviews", review, body(seen)); got["revision"] != seen {
		t.Errorf("%v", got)
	}
	h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"insert_page","title":"Evil"}`)
	for _, revision := range []string{seen, schema.NewID()} {
		h.WantError(h.Do("POST", path+"/reviews", review, body(revision)), http.StatusConflict)
		h.WantError(h.Do("POST", path+"/merge?revision="+revision, admin, nil), http.StatusConflict)
	}
	h.WantError(h.Do("POST", path+"/reviews", review, body("")), http.StatusBadRequest)
	if got := h.IDs(path+"/reviews", admin); len(got) != 1 {
		t.Errorf("%q", got)
	}
	h.Want(http.StatusCreated, "POST", path+"/reviews", review, body(at()))
	h.Want(http.StatusOK, "POST", path+"/merge?revision="+at(), admin, nil)
}
