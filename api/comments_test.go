package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

var (
	targetIDShape = shape{"id": text(1, 256)}
	reactionShape = shape{
		"emoji": text(1, 50), "count": count,
		"users": list(object(shape{"user": object(userShape), "reactedAt": timestamp})),
	}
	replyShape = shape{
		"object": one("comment-reply"), "id": id, "postedBy": object(userShape), "postedAt": timestamp, "editedAt?": timestamp,
		"reactions": list(object(reactionShape)), "body": bodyShape, "urls": object(shape{"location": uri}),
		"permissions": booleans("view edit reply delete"),
	}
	commentShape = shape{
		"object": one("comment"), "id": id, "postedBy": object(userShape), "postedAt": timestamp, "editedAt?": timestamp,
		"reactions": list(object(reactionShape)), "replies": count,
		"repliers": list(object(shape{"updatedAt": timestamp, "count": count, "user": object(userShape)})),
		"body":     bodyShape,
		"target": object(shape{
			"space": id, "revision": id, "changeRequest?": id, "review?": id, "node?": object(targetIDShape), "page?": object(targetIDShape),
			"tableCell?": object(shape{"record": text(1, 256), "definition": text(1, 256)}),
		}),
		"urls": object(shape{"location": uri}), "permissions": booleans("view edit reply delete"),
		"status": one("open", "resolved"), "resolvedAt?": timestamp, "resolvedBy?": object(userShape),
	}
)

// bodyShape takes exactly one of the forms, or nothing.
func bodyShape(value any) error {
	body, ok := value.(map[string]any)
	if !ok || len(body) > 1 {
		return fmt.Errorf("%v is no body", value)
	}
	return checkShape(shape{"markdown?": text(0, schema.MaxMarkdown), "document?": func(v any) error {
		if d, ok := v.(map[string]any); !ok || d["object"] != "document" {
			return fmt.Errorf("%v is no document", v)
		}
		return nil
	}}, body)
}

// changeRequest makes a change request as the tenant's admin.
func changeRequest(h *harness, tenant *storetest.Tenant) store.ChangeRequest {
	h.t.Helper()
	row, err := h.st.CreateChangeRequest(h.t.Context(), store.NewChangeRequest{
		SpaceID: tenant.Space.ID, UserID: tenant.Users[schema.RoleAdmin].ID,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return row
}

// discussed makes a comment with a reply.
func discussed(inRequest bool) func(h *harness, tenant *storetest.Tenant) map[string]string {
	return func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		place := store.Place{SpaceID: tenant.Space.ID}
		made := map[string]string{}
		if inRequest {
			made["changeRequestId"] = changeRequest(h, tenant).ID
			request := made["changeRequestId"]
			place.ChangeRequestID = &request
		}
		admin, body := tenant.Users[schema.RoleAdmin].ID, store.CommentBody{Sent: []byte(`{"markdown":"Why?"}`)}
		comment, err := h.st.CreateComment(h.t.Context(), store.NewComment{Place: place, UserID: admin, Body: body})
		if err != nil {
			h.t.Fatal(err)
		}
		reply, err := h.st.CreateReply(h.t.Context(), place, comment.ID, admin, body)
		if err != nil {
			h.t.Fatal(err)
		}
		made["commentId"], made["commentReplyId"] = comment.ID, reply.ID
		return made
	}
}

func commentsExamples() {
	const words = `{"body":{"markdown":"Because."}}`
	for i, place := range []string{"InSpace", "InChangeRequest"} {
		objects := discussed(i == 1)
		for operation, ex := range map[string]example{
			"listComments": {}, "postComment": {body: words}, "getComment": {},
			"updateComment": {body: words, needs: RightAdmin}, "deleteComment": {needs: RightAdmin},
			"listCommentReplies": {}, "postCommentReply": {body: words}, "getCommentReply": {},
			"updateCommentReply": {body: words, needs: RightAdmin}, "deleteCommentReply": {needs: RightAdmin},
		} {
			ex.make = objects
			examples[operation+place] = ex
		}
	}
}

// commentPages makes two pages of the space, for comments to stand on. The text of the first has a node with the key n1.
func commentPages(h *harness) (first, second string) {
	h.t.Helper()
	request := h.changeRequest(h.ours)
	h.changeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"One","document":{"document":{"nodes":[{"type":"paragraph","key":"n1"}]}}}`,
		`{"operation":"insert_page","title":"Two"}`)
	h.mergeNow(request.ID)
	pages := ask[schema.RevisionPages](h, schema.RoleRead, "GET", "/v1/spaces/"+h.ours.Space.ID+"/content/pages", nil, 200).Pages
	return pages[0].ID, pages[1].ID
}

// places are where discussions stand, as paths of comments.
func places(h *harness) map[string]string {
	space := "/v1/spaces/" + h.ours.Space.ID
	return map[string]string{
		"space":          space + "/comments",
		"change request": space + "/change-requests/" + changeRequest(h, h.ours).ID + "/comments",
	}
}

// send calls as a member of this role and decodes what it answers with this shape.
func (h *harness) send(role schema.Role, method, path string, body any, s shape) map[string]any {
	h.t.Helper()
	a := h.do(method, path, h.ours.Tokens[role], body)
	if a.status >= 300 {
		h.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	if s == nil {
		return nil
	}
	return wantShape(h.t, s, a.body)
}

// TestCommentsAreShownAsTheyAre posts comments of all forms and finds them by their address and in their list, in both forms.
func TestCommentsAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	page, _ := commentPages(h)
	for name, path := range places(h) {
		var ids []string
		for i, body := range []string{
			`{"body":{"markdown":"Is this **right**?"}}`,
			`{"body":{"markdown":"x"},"node":"n1","page":"` + page + `","tableCell":{"record":"r","definition":"d"},"extra":1}`,
			`{"body":{"document":{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"plain"}]}]}]}},"node":null}`,
			`{"body":{"markdown":"y"},"node":"n1"}`,
		} {
			made := h.send("comment", "POST", path, body, commentShape)
			location := strings.TrimPrefix(made["urls"].(map[string]any)["location"].(string), "https://docs.example.com/base")
			if location != path+"/"+made["id"].(string) {
				t.Errorf("%s: location %s", name, location)
			}
			if diff := cmp.Diff(made, h.send("comment", "GET", location, nil, commentShape)); diff != "" {
				t.Errorf("%s: read: %s", name, diff)
			}
			wantBody := []string{"Is this **right**?", "x", "plain", "y"}[i]
			got, there := made["body"].(map[string]any)["markdown"].(string)
			if strings.TrimSpace(got) != wantBody || !there {
				t.Errorf("%s: %s: body %v", name, body, made["body"])
			}
			document := h.send("read", "GET", location+"?format=document", nil, commentShape)["body"].(map[string]any)
			if document["document"] == nil {
				t.Errorf("%s: %s as a document: %v", name, body, document)
			}
			target := made["target"].(map[string]any)
			if (target["node"] != nil) != (i == 1 || i == 3) || (target["page"] != nil) != (i == 1) || (target["tableCell"] != nil) != (i == 1) ||
				(target["changeRequest"] != nil) != (name == "change request") || target["space"] != h.ours.Space.ID {
				t.Errorf("%s: target %v", name, target)
			}
			if made["status"] != "open" || made["editedAt"] != nil || made["resolvedAt"] != nil || made["replies"] != 0.0 {
				t.Errorf("%s: %v", name, made)
			}
			ids = append(ids, made["id"].(string))
		}
		if got := h.ids(path+"?order=asc", h.ours.Tokens["admin"]); !slices.Equal(got, ids) {
			t.Errorf("%s: listed %q, want %q", name, got, ids)
		}
		slices.Reverse(ids)
		if got := h.ids(path, h.ours.Tokens["admin"]); !slices.Equal(got, ids) {
			t.Errorf("%s: listed %q, want %q", name, got, ids)
		}
	}
}

// TestCommentsStayInTheirPlace asks for comments and replies by the paths of other places.
func TestCommentsStayInTheirPlace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	type thread struct{ path, comment, reply string }
	var threads []thread
	for _, path := range places(h) {
		for range 2 {
			comment := h.send("admin", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
			reply := h.send("admin", "POST", path+"/"+comment+"/replies", `{"body":{"markdown":"b"}}`, replyShape)["id"].(string)
			threads = append(threads, thread{path, comment, reply})
		}
	}
	for _, a := range threads {
		for _, b := range threads {
			paths := []string{a.path + "/" + b.comment, a.path + "/" + b.comment + "/replies/" + b.reply}
			if a.path == b.path {
				paths = []string{a.path + "/" + b.reply, a.path + "/" + a.comment + "/replies/" + a.comment}
				if a != b {
					paths = append(paths, a.path+"/"+a.comment+"/replies/"+b.reply)
				}
			}
			for _, path := range paths {
				h.wantError(h.do("GET", path, h.ours.Tokens["admin"], nil), http.StatusNotFound)
				h.wantError(h.do("PUT", path, h.ours.Tokens["admin"], `{"addedReactions":["👍"]}`), http.StatusNotFound)
				h.send("admin", "DELETE", path, nil, nil)
			}
		}
	}
	for _, a := range threads {
		h.send("read", "GET", a.path+"/"+a.comment+"/replies/"+a.reply, nil, replyShape)
		h.wantError(h.do("POST", a.path+"/"+a.reply+"/replies", h.ours.Tokens["admin"], `{"body":{"markdown":"c"}}`), http.StatusNotFound)
		h.wantError(h.do("GET", a.path+"/"+a.reply+"/replies", h.ours.Tokens["admin"], nil), http.StatusNotFound)
	}
}

// TestCommentFilters has every filter alone and together.
func TestCommentFilters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	p1, p2 := commentPages(h)
	admin, editor := h.ours.Users["admin"].ID, h.ours.Users["edit"].ID
	for name, path := range places(h) {
		post := func(role schema.Role, page string) string {
			return h.send(role, "POST", path, fmt.Sprintf(`{"body":{"markdown":"a"},"page":%q}`, page), commentShape)["id"].(string)
		}
		a, b, c, d := post("admin", p1), post("admin", p2), post("edit", p1), post("comment", p2)
		h.send("admin", "PUT", path+"/"+b, `{"resolved":true}`, commentShape)
		h.send("admin", "PUT", path+"/"+c, `{"resolved":true}`, commentShape)
		for query, want := range map[string][]string{
			"":                                         {d, c, b, a},
			"?order=desc&status=all":                   {d, c, b, a},
			"?order=asc":                               {a, b, c, d},
			"?status=open":                             {d, a},
			"?status=open&order=asc":                   {a, d},
			"?status=resolved":                         {c, b},
			"?targetPage=" + p1:                        {c, a},
			"?targetPage=" + p1 + "&order=asc":         {a, c},
			"?targetPage=":                             {},
			"?targetPage=" + p1 + "&status=open":       {a},
			"?targetPage=nowhere":                      {},
			"?authors=" + admin:                        {b, a},
			"?authors=" + admin + "&status=open":       {a},
			"?authors=" + admin + "&authors=" + editor: {c, b, a},
			"?authors=" + admin + "," + editor + "&targetPage=" + p2 + "&order=asc": {b},
			"?authors=nobody": {},
			"?authors=" + editor + "&status=resolved&targetPage=" + p1 + "&order=asc": {c},
		} {
			if got := h.ids(path+query, h.ours.Tokens["read"]); !slices.Equal(got, want) {
				t.Errorf("%s%s: %q, want %q", name, query, got, want)
			}
		}
		// A token belongs to its order and filters.
		next := readPage(t, h, path+"?limit=1").Next.Page
		for _, other := range []string{"?order=asc", "?status=open", "?targetPage=" + p1, "?authors=" + admin, "?targetPage="} {
			h.wantError(h.do("GET", path+other+"&page="+next, h.ours.Tokens["admin"], nil), http.StatusBadRequest)
		}
		h.wantError(h.do("GET", path+"?page="+forged(next, "never", "x"), h.ours.Tokens["admin"], nil), http.StatusBadRequest)
	}
}

// TestCommentPermissions: words are their author's and the admins', resolving is also the editors', and reactions are
// everybody's who may comment. The booleans say the same.
func TestCommentPermissions(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, path := range places(h) {
		for _, author := range []schema.Role{"admin", "edit", "comment"} {
			comment := path + "/" + h.send(author, "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
			reply := comment + "/replies/" + h.send(author, "POST", comment+"/replies", `{"body":{"markdown":"b"}}`, replyShape)["id"].(string)
			for _, role := range schema.Roles() {
				rights := RightsOf(Access{Role: role})
				may := map[string]bool{
					`{"addedReactions":["👍"]}`:      rights.Has(RightComment),
					`{"removedReactions":["👍"]}`:    rights.Has(RightComment),
					`{"body":{"markdown":"c"}}`:     role == author || role == "admin",
					`{"resolved":true}`:             role == author || rights.Has(RightEdit),
					`{"resolved":false}`:            role == author || rights.Has(RightEdit),
					`{}`:                            rights.Has(RightComment),
					`{"body":null,"resolved":null}`: rights.Has(RightComment),
					`{"body":{"markdown":"c"},"resolved":true,"addedReactions":["1f680"]}`: role == author || role == "admin",
				}
				for body, allowed := range may {
					for _, target := range []string{comment, reply} {
						if target == reply && strings.Contains(body, "resolved\"") {
							continue
						}
						a := h.do("PUT", target, h.ours.Tokens[role], body)
						want := map[bool]int{true: 200, false: 403}[allowed]
						if a.status != want {
							t.Errorf("%s of %s: %s as %s: %d %s, want %d", name, author, body, role, a.status, a.body, want)
						}
					}
				}
				for target, s := range map[string]shape{comment: commentShape, reply: replyShape} {
					want := map[string]any{
						"view": true, "edit": role == author || role == "admin" || target == comment && rights.Has(RightEdit), "delete": role == author || role == "admin",
						"reply": rights.Has(RightComment),
					}
					if diff := cmp.Diff(want, h.send(role, "GET", target, nil, s)["permissions"]); diff != "" {
						t.Errorf("%s of %s as %s: %s", name, author, role, diff)
					}
					if role != author && role != "admin" {
						h.wantError(h.do("DELETE", target, h.ours.Tokens[role], nil), http.StatusForbidden)
					}
				}
			}
			h.send(author, "DELETE", reply, nil, nil)
			h.send(author, "DELETE", comment, nil, nil)
			h.wantError(h.do("GET", comment, h.ours.Tokens["admin"], nil), http.StatusNotFound)
			h.send("comment", "DELETE", comment, nil, nil)
		}
	}
}

// TestCommentLife follows one comment: edited, resolved, opened again, reacted to, replied to.
func TestCommentLife(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, path := range places(h) {
		made := h.send("edit", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)
		comment := path + "/" + made["id"].(string)
		put := func(role schema.Role, body string) map[string]any {
			t.Helper()
			got := h.send(role, "PUT", comment, body, commentShape)
			if diff := cmp.Diff(got, h.send(role, "GET", comment, nil, commentShape)); diff != "" {
				t.Errorf("%s: %s: read otherwise: %s", name, body, diff)
			}
			return got
		}
		user := func(v any) string { return v.(map[string]any)["displayName"].(string) }
		if got := put("edit", `{"body":{"markdown":"a"},"addedReactions":["👍"]}`); got["editedAt"] != nil {
			t.Errorf("%s: the same words are no edit: %v", name, got["editedAt"])
		}
		edited := put("edit", `{"body":{"markdown":"b"}}`)
		if edited["editedAt"] == nil || edited["body"].(map[string]any)["markdown"] != "b" || edited["postedAt"] != made["postedAt"] {
			t.Errorf("%s: %v", name, edited)
		}
		first := put("review", `{"resolved":true}`)
		again := put("admin", `{"resolved":true}`)
		if user(first["resolvedBy"]) != "ours-review" || !cmp.Equal(first, func() any { again["permissions"] = first["permissions"]; return again }()) {
			t.Errorf("%s: resolved twice: %v, %v", name, first, again)
		}
		if first["status"] != "resolved" || first["resolvedAt"] == nil || first["editedAt"] != edited["editedAt"] {
			t.Errorf("%s: %v", name, first)
		}
		opened := put("edit", `{"resolved":false}`)
		if opened["status"] != "open" || opened["resolvedAt"] != nil || opened["resolvedBy"] != nil {
			t.Errorf("%s: %v", name, opened)
		}
		put("admin", `{"addedReactions":["🚀","👍","🚀","1f680"]}`)
		got := put("edit", `{"addedReactions":["🚀"],"removedReactions":["y","👍"]}`)
		var reactions []string
		for _, r := range got["reactions"].([]any) {
			group := r.(map[string]any)
			text := group["emoji"].(string) + fmt.Sprint(group["count"])
			for _, u := range group["users"].([]any) {
				text += " " + user(u.(map[string]any)["user"])
			}
			reactions = append(reactions, text)
		}
		if diff := cmp.Diff([]string{"🚀2 ours-admin ours-edit", "👍1 ours-admin", "1f6801 ours-admin"}, reactions); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got["editedAt"] != edited["editedAt"] {
			t.Errorf("%s: a reaction is no edit", name)
		}
		var replies []string
		for _, role := range []schema.Role{"comment", "admin", "comment"} {
			reply := h.send(role, "POST", comment+"/replies?format=document", `{"body":{"markdown":"r"}}`, replyShape)
			if reply["body"].(map[string]any)["document"] == nil {
				t.Errorf("%s: %v", name, reply["body"])
			}
			replies = append(replies, reply["id"].(string))
		}
		last := h.send("comment", "PUT", comment+"/replies/"+replies[0], `{"body":{"markdown":"s"},"resolved":false}`, replyShape)
		h.wantError(h.do("PUT", comment+"/replies/"+replies[0], h.ours.Tokens["comment"], `{"resolved":true}`), http.StatusBadRequest)
		if got := h.ids(comment+"/replies", h.ours.Tokens["read"]); !slices.Equal(got, replies) {
			t.Errorf("%s: replies %q, want %q", name, got, replies)
		}
		got = put("edit", `{}`)
		var repliers []string
		for _, r := range got["repliers"].([]any) {
			repliers = append(repliers, user(r.(map[string]any)["user"])+fmt.Sprint(r.(map[string]any)["count"]))
		}
		if diff := cmp.Diff([]string{"ours-comment2", "ours-admin1"}, repliers); diff != "" || got["replies"] != 3.0 {
			t.Errorf("%s: %v replies, %s", name, got["replies"], diff)
		}
		if at := got["repliers"].([]any)[0].(map[string]any)["updatedAt"]; at != last["editedAt"] {
			t.Errorf("%s: replier last at %v, edited at %v", name, at, last["editedAt"])
		}
		h.send("comment", "DELETE", comment+"/replies/"+replies[0], nil, nil)
		if got := put("edit", `{}`); got["replies"] != 2.0 {
			t.Errorf("%s: %v replies", name, got["replies"])
		}
	}
}

// TestCommentPagesNeitherSkipNorRepeat walks both orders while comments come and go between the pages, several of them posted
// at the same time: what was there all the time is seen exactly once, in order.
func TestCommentPagesNeitherSkipNorRepeat(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, path := range places(h) {
		post := func() string {
			return h.send("admin", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
		}
		var stable, passing []string
		for range 8 {
			stable, passing = append(stable, post()), append(passing, post())
		}
		h.exec("update comments set posted_at = now() where id <> all($1)", passing[:4])
		// The order of those with equal times is that of their ids.
		order := h.ids(path+"?order=asc", h.ours.Tokens["read"])
		for _, direction := range []string{"asc", "desc"} {
			var seen []string
			for page := ""; ; {
				got := readPage(t, h, path+"?limit=2&order="+direction+"&page="+page)
				for _, item := range got.Items {
					seen = append(seen, item.ID)
				}
				if got.Next == nil {
					break
				}
				page = got.Next.Page
				if gone := len(passing) - 1; gone >= 0 {
					h.send("admin", "DELETE", path+"/"+passing[gone], nil, nil)
					passing = passing[:gone]
				}
				if len(seen) < 9 {
					post()
				}
			}
			if len(slices.Compact(slices.Sorted(slices.Values(seen)))) != len(seen) {
				t.Errorf("%s %s: seen twice: %q", name, direction, seen)
			}
			isStable := func(id string) bool { return slices.Contains(stable, id) }
			want := slices.DeleteFunc(slices.Clone(order), func(id string) bool { return !isStable(id) })
			if direction == "desc" {
				slices.Reverse(want)
			}
			if got := slices.DeleteFunc(seen, func(id string) bool { return !isStable(id) }); !slices.Equal(got, want) {
				t.Errorf("%s %s: seen %q, want %q", name, direction, got, want)
			}
		}
	}
}

// TestBadComments stores nothing of any of them.
func TestBadComments(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	page, bare := commentPages(h)
	for _, path := range places(h) {
		comment := path + "/" + h.send("admin", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
		reply := comment + "/replies/" + h.send("admin", "POST", comment+"/replies", `{"body":{"markdown":"a"}}`, replyShape)["id"].(string)
		before := h.rows()
		for _, test := range []struct{ method, path, body, field string }{
			{"POST", path, `{}`, "body"},
			{"POST", path, `{"body":null}`, "body"},
			{"POST", path, `{"body":"text"}`, "body"},
			{"POST", path, `{"body":{"text":"a"}}`, "body"},
			{"POST", path, `{"body":{"markdown":5}}`, "body.markdown"},
			{"POST", path, `{"body":{"markdown":"a\u0000"}}`, "body.markdown"},
			{"POST", path, `{"body":{"markdown":"a","document":{"object":"document","data":{},"nodes":[]}}}`, "body"},
			{"POST", path, `{"body":{"document":{"nodes":[{"object":"block","type":"nothing"}]}}}`, "body.document.nodes[0].type"},
			{"POST", path, `{"body":{"markdown":"` + strings.Repeat("x", schema.MaxMarkdown+1) + `"}}`, "body.markdown"},
			{"POST", path, `{"body":{"markdown":"a"},"node":""}`, "node"},
			{"POST", path, `{"body":{"markdown":"a"},"page":7}`, "page"},
			{"POST", path, `{"body":{"markdown":"a"},"page":"nosuch"}`, "page"},
			{"POST", path, `{"body":{"markdown":"a"},"page":"` + page + `","node":"n2"}`, "node"},
			{"POST", path, `{"body":{"markdown":"a"},"page":"` + bare + `","node":"n1"}`, "node"},
			{"POST", path, `{"body":{"markdown":"a"},"tableCell":{"record":"r"}}`, "tableCell.definition"},
			{"POST", path, `{"body":{"markdown":"a"},"tableCell":[]}`, "tableCell"},
			{"POST", path, `{"body":{}}`, "body"},
			{"POST", path, `{"body":{"markdown":" \n"}}`, "body"},
			{"POST", path, `{"body":{"document":{"nodes":[{"type":"paragraph"},{"type":"divider"}]}}}`, "body"},
			{"POST", path, `{"body":{"document":{}}}`, "body.document.nodes"},
			{"POST", path, `{"body":{"markdown":"` + strings.Repeat("a\\n\\n", 20_001) + `"}}`, "body.markdown"},
			{"POST", comment + "/replies", `{"body":{"markdown":""}}`, "body"},
			{"PUT", comment, `{"body":{}}`, "body"},
			{"PUT", comment, `{"addedReactions":["not an emoji"]}`, "addedReactions[0]"},
			{"PUT", comment, `{"addedReactions":["👍",":+1:"]}`, "addedReactions[1]"},
			{"PUT", reply, `{"addedReactions":["👍👍"]}`, "addedReactions[0]"},
			{"POST", comment + "/replies", `{"body":null}`, "body"},
			{"POST", path + "?format=html", `{"body":{}}`, "format"},
			{"PUT", comment, `{"resolved":"yes"}`, "resolved"},
			{"PUT", comment, `{"body":{"other":1}}`, "body"},
			{"PUT", comment, `{"addedReactions":"x"}`, "addedReactions"},
			{"PUT", comment, `{"addedReactions":[""]}`, "addedReactions[0]"},
			{"PUT", comment, `{"addedReactions":["👍","` + strings.Repeat("é", 51) + `"]}`, "addedReactions[1]"},
			{"PUT", comment, `{"removedReactions":[null]}`, "removedReactions[0]"},
			{"PUT", comment, `{"removedReactions":["x"` + strings.Repeat(`,"x"`, 20) + `]}`, "removedReactions"},
			{"PUT", reply, `{"resolved":true}`, "resolved"},
			{"PUT", reply, `{"body":[]}`, "body"},
			{"GET", comment + "?format=text", ``, "format"},
			{"GET", reply + "?format=text", ``, "format"},
			{"GET", path + "?order=up", ``, "order"},
			{"GET", path + "?status=closed", ``, "status"},
			{"GET", path + "?limit=1001", ``, "limit"},
			{"GET", path + "?page=x", ``, "page"},
			{"GET", comment + "/replies?page=x", ``, "page"},
		} {
			var body any
			if test.method != "GET" {
				body = test.body
			}
			e := h.wantError(h.do(test.method, test.path, h.ours.Tokens["admin"], body), http.StatusBadRequest)
			if len(e.Details) == 0 || e.Details[0].Field != test.field {
				t.Errorf("%s %s %.100s: want a detail on %q, got %+v", test.method, test.path, test.body, test.field, e)
			}
		}
		if after := h.rows(); !cmp.Equal(before, after) {
			t.Errorf("rows were stored: %s", cmp.Diff(before, after))
		}
	}
}
