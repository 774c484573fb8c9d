package content_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var (
	targetIDShape = shape.Of{"id": shape.Text(1, 256)}
	reactionShape = shape.Of{
		"emoji": shape.Text(1, 50), "count": shape.Count,
		"users": shape.List(shape.Object(shape.Of{"user": shape.Object(shape.User), "reactedAt": shape.Timestamp})),
	}
	replyShape = shape.Of{
		"object": shape.One("comment-reply"), "id": shape.ID, "postedBy": shape.Object(shape.User), "postedAt": shape.Timestamp, "editedAt?": shape.Timestamp,
		"reactions": shape.List(shape.Object(reactionShape)), "body": bodyShape, "urls": shape.Object(shape.Of{"location": shape.URI}),
		"permissions": shape.Booleans("view edit reply delete"),
	}
	commentShape = shape.Of{
		"object": shape.One("comment"), "id": shape.ID, "postedBy": shape.Object(shape.User), "postedAt": shape.Timestamp, "editedAt?": shape.Timestamp,
		"reactions": shape.List(shape.Object(reactionShape)), "replies": shape.Count,
		"repliers": shape.List(shape.Object(shape.Of{"updatedAt": shape.Timestamp, "count": shape.Count, "user": shape.Object(shape.User)})),
		"body":     bodyShape,
		"target": shape.Object(shape.Of{
			"space": shape.ID, "revision": shape.ID, "changeRequest?": shape.ID, "review?": shape.ID, "node?": shape.Object(targetIDShape), "page?": shape.Object(targetIDShape),
			"tableCell?": shape.Object(shape.Of{"record": shape.Text(1, 256), "definition": shape.Text(1, 256)}),
		}),
		"urls": shape.Object(shape.Of{"location": shape.URI}), "permissions": shape.Booleans("view edit reply delete"),
		"status": shape.One("open", "resolved"), "resolvedAt?": shape.Timestamp, "resolvedBy?": shape.Object(shape.User),
	}
)

// bodyShape accepts an empty body, and a body with exactly one of the forms.
func bodyShape(value any) error {
	body, ok := value.(map[string]any)
	if !ok || len(body) > 1 {
		return fmt.Errorf("%v is no body", value)
	}
	return shape.Check(shape.Of{"markdown?": shape.Text(0, schema.MaxMarkdown), "document?": func(v any) error {
		if d, ok := v.(map[string]any); !ok || d["object"] != "document" {
			return fmt.Errorf("%v is no document", v)
		}
		return nil
	}}, body)
}

// commentPages adds two pages to the space, to which comments can refer. The document of the first page has a node
// whose key is n1.
func commentPages(h *apitest.Harness) (first, second string) {
	h.T.Helper()
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"One","document":{"document":{"nodes":[{"type":"paragraph","key":"n1"}]}}}`,
		`{"operation":"insert_page","title":"Two"}`)
	h.MergeNow(request.ID)
	pages := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", "/v1/spaces/"+h.Ours.Space.ID+"/content/pages", nil, 200).Pages
	return pages[0].ID, pages[1].ID
}

// places returns the path of the comments for each kind of discussion.
func places(h *apitest.Harness) map[string]string {
	space := "/v1/spaces/" + h.Ours.Space.ID
	return map[string]string{
		"space":          space + "/comments",
		"change request": space + "/change-requests/" + h.ChangeRequest(h.Ours).ID + "/comments",
	}
}

// TestCommentsAreShownAsTheyAre posts comments in every form. It reads each comment by its id and from its list, in
// both formats.
func TestCommentsAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	page, _ := commentPages(h)
	for name, path := range places(h) {
		var ids []string
		for i, body := range []string{
			`{"body":{"markdown":"Is this **right**?"}}`,
			`{"body":{"markdown":"x"},"node":"n1","page":"` + page + `","tableCell":{"record":"r","definition":"d"},"extra":1}`,
			`{"body":{"document":{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"plain"}]}]}]}},"node":null}`,
			`{"body":{"markdown":"y"},"node":"n1"}`,
		} {
			made := h.Send("comment", "POST", path, body, commentShape)
			location := strings.TrimPrefix(made["urls"].(map[string]any)["location"].(string), "https://docs.example.com/base")
			if location != path+"/"+made["id"].(string) {
				t.Errorf("%s: location %s", name, location)
			}
			if diff := cmp.Diff(made, h.Send("comment", "GET", location, nil, commentShape)); diff != "" {
				t.Errorf("%s: read: %s", name, diff)
			}
			wantBody := []string{"Is this **right**?", "x", "plain", "y"}[i]
			got, there := made["body"].(map[string]any)["markdown"].(string)
			if strings.TrimSpace(got) != wantBody || !there {
				t.Errorf("%s: %s: body %v", name, body, made["body"])
			}
			document := h.Send("read", "GET", location+"?format=document", nil, commentShape)["body"].(map[string]any)
			if document["document"] == nil {
				t.Errorf("%s: %s as a document: %v", name, body, document)
			}
			target := made["target"].(map[string]any)
			if (target["node"] != nil) != (i == 1 || i == 3) || (target["page"] != nil) != (i == 1) || (target["tableCell"] != nil) != (i == 1) ||
				(target["changeRequest"] != nil) != (name == "change request") || target["space"] != h.Ours.Space.ID {
				t.Errorf("%s: target %v", name, target)
			}
			if made["status"] != "open" || made["editedAt"] != nil || made["resolvedAt"] != nil || made["replies"] != 0.0 {
				t.Errorf("%s: %v", name, made)
			}
			ids = append(ids, made["id"].(string))
		}
		if got := h.IDs(path+"?order=asc", h.Ours.Tokens["admin"]); !slices.Equal(got, ids) {
			t.Errorf("%s: listed %q, want %q", name, got, ids)
		}
		slices.Reverse(ids)
		if got := h.IDs(path, h.Ours.Tokens["admin"]); !slices.Equal(got, ids) {
			t.Errorf("%s: listed %q, want %q", name, got, ids)
		}
	}
}

// TestCommentsStayInTheirPlace requests comments and replies with the paths of other discussions.
func TestCommentsStayInTheirPlace(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	type thread struct{ path, comment, reply string }
	var threads []thread
	for _, path := range places(h) {
		for range 2 {
			comment := h.Send("admin", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
			reply := h.Send("admin", "POST", path+"/"+comment+"/replies", `{"body":{"markdown":"b"}}`, replyShape)["id"].(string)
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
				h.WantError(h.Do("GET", path, h.Ours.Tokens["admin"], nil), http.StatusNotFound)
				h.WantError(h.Do("PUT", path, h.Ours.Tokens["admin"], `{"addedReactions":["👍"]}`), http.StatusNotFound)
				h.Send("admin", "DELETE", path, nil, nil)
			}
		}
	}
	for _, a := range threads {
		h.Send("read", "GET", a.path+"/"+a.comment+"/replies/"+a.reply, nil, replyShape)
		h.WantError(h.Do("POST", a.path+"/"+a.reply+"/replies", h.Ours.Tokens["admin"], `{"body":{"markdown":"c"}}`), http.StatusNotFound)
		h.WantError(h.Do("GET", a.path+"/"+a.reply+"/replies", h.Ours.Tokens["admin"], nil), http.StatusNotFound)
	}
}

// TestCommentFilters applies each filter alone, and all filters together.
func TestCommentFilters(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	p1, p2 := commentPages(h)
	admin, editor := h.Ours.Users["admin"].ID, h.Ours.Users["edit"].ID
	for name, path := range places(h) {
		post := func(role schema.Role, page string) string {
			return h.Send(role, "POST", path, fmt.Sprintf(`{"body":{"markdown":"a"},"page":%q}`, page), commentShape)["id"].(string)
		}
		a, b, c, d := post("admin", p1), post("admin", p2), post("edit", p1), post("comment", p2)
		h.Send("admin", "PUT", path+"/"+b, `{"resolved":true}`, commentShape)
		h.Send("admin", "PUT", path+"/"+c, `{"resolved":true}`, commentShape)
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
			if got := h.IDs(path+query, h.Ours.Tokens["read"]); !slices.Equal(got, want) {
				t.Errorf("%s%s: %q, want %q", name, query, got, want)
			}
		}
		// A page token is valid only with the order and the filters of the request that returned it.
		next := apitest.ReadPage(t, h, path+"?limit=1").Next.Page
		for _, other := range []string{"?order=asc", "?status=open", "?targetPage=" + p1, "?authors=" + admin, "?targetPage="} {
			h.WantError(h.Do("GET", path+other+"&page="+next, h.Ours.Tokens["admin"], nil), http.StatusBadRequest)
		}
		h.WantError(h.Do("GET", path+"?page="+apitest.Forged(next, "never", "x"), h.Ours.Tokens["admin"], nil), http.StatusBadRequest)
	}
}

// TestCommentPermissions checks who may do what: authors and admins change the text, editors may also resolve a
// comment, and everybody who may comment may react. The permissions in responses agree with this. The permission edit
// is about the text.
func TestCommentPermissions(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for name, path := range places(h) {
		for _, author := range []schema.Role{"admin", "edit", "comment"} {
			comment := path + "/" + h.Send(author, "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
			reply := comment + "/replies/" + h.Send(author, "POST", comment+"/replies", `{"body":{"markdown":"b"}}`, replyShape)["id"].(string)
			for _, role := range schema.Roles() {
				rights := access.RightsOf(access.Access{Role: role})
				may := map[string]bool{
					`{"addedReactions":["👍"]}`:      rights.Has(access.RightComment),
					`{"removedReactions":["👍"]}`:    rights.Has(access.RightComment),
					`{"body":{"markdown":"c"}}`:     role == author || role == "admin",
					`{"resolved":true}`:             role == author || rights.Has(access.RightEdit),
					`{"resolved":false}`:            role == author || rights.Has(access.RightEdit),
					`{}`:                            rights.Has(access.RightComment),
					`{"body":null,"resolved":null}`: rights.Has(access.RightComment),
					`{"body":{"markdown":"c"},"resolved":true,"addedReactions":["1f680"]}`: role == author || role == "admin",
				}
				for body, allowed := range may {
					for _, target := range []string{comment, reply} {
						if target == reply && strings.Contains(body, "resolved\"") {
							continue
						}
						a := h.Do("PUT", target, h.Ours.Tokens[role], body)
						want := map[bool]int{true: 200, false: 403}[allowed]
						if a.Status != want {
							t.Errorf("%s of %s: %s as %s: %d %s, want %d", name, author, body, role, a.Status, a.Body, want)
						}
					}
				}
				for target, s := range map[string]shape.Of{comment: commentShape, reply: replyShape} {
					want := map[string]any{
						"view": true, "edit": may[`{"body":{"markdown":"c"}}`],
						"delete": role == author || role == "admin",
						"reply":  rights.Has(access.RightComment),
					}
					if diff := cmp.Diff(want, h.Send(role, "GET", target, nil, s)["permissions"]); diff != "" {
						t.Errorf("%s of %s as %s: %s", name, author, role, diff)
					}
					if role != author && role != "admin" {
						h.WantError(h.Do("DELETE", target, h.Ours.Tokens[role], nil), http.StatusForbidden)
					}
				}
			}
			h.Send(author, "DELETE", reply, nil, nil)
			h.Send(author, "DELETE", comment, nil, nil)
			h.WantError(h.Do("GET", comment, h.Ours.Tokens["admin"], nil), http.StatusNotFound)
			h.Send("comment", "DELETE", comment, nil, nil)
		}
	}
}

// TestCommentLife follows one comment. The comment is edited, resolved and reopened, and gets reactions and replies.
func TestCommentLife(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for name, path := range places(h) {
		made := h.Send("edit", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)
		comment := path + "/" + made["id"].(string)
		put := func(role schema.Role, body string) map[string]any {
			t.Helper()
			got := h.Send(role, "PUT", comment, body, commentShape)
			if diff := cmp.Diff(got, h.Send(role, "GET", comment, nil, commentShape)); diff != "" {
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
			reply := h.Send(role, "POST", comment+"/replies?format=document", `{"body":{"markdown":"r"}}`, replyShape)
			if reply["body"].(map[string]any)["document"] == nil {
				t.Errorf("%s: %v", name, reply["body"])
			}
			replies = append(replies, reply["id"].(string))
		}
		last := h.Send("comment", "PUT", comment+"/replies/"+replies[0], `{"body":{"markdown":"s"},"resolved":false}`, replyShape)
		h.WantError(h.Do("PUT", comment+"/replies/"+replies[0], h.Ours.Tokens["comment"], `{"resolved":true}`), http.StatusBadRequest)
		if got := h.IDs(comment+"/replies", h.Ours.Tokens["read"]); !slices.Equal(got, replies) {
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
		h.Send("comment", "DELETE", comment+"/replies/"+replies[0], nil, nil)
		if got := put("edit", `{}`); got["replies"] != 2.0 {
			t.Errorf("%s: %v replies", name, got["replies"])
		}
	}
}

// TestCommentPagesNeitherSkipNorRepeat reads the pages of a list in both orders while comments are added and deleted.
// Several comments have equal times. Every comment that exists during the whole test is listed exactly once, in order.
func TestCommentPagesNeitherSkipNorRepeat(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for name, path := range places(h) {
		post := func() string {
			return h.Send("admin", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
		}
		var stable, passing []string
		for range 8 {
			stable, passing = append(stable, post()), append(passing, post())
		}
		h.Exec("update comments set posted_at = now() where id <> all($1)", passing[:4])
		// comments with equal times are ordered by id
		order := h.IDs(path+"?order=asc", h.Ours.Tokens["read"])
		for _, direction := range []string{"asc", "desc"} {
			var seen []string
			for page := ""; ; {
				got := apitest.ReadPage(t, h, path+"?limit=2&order="+direction+"&page="+page)
				for _, item := range got.Items {
					seen = append(seen, item.ID)
				}
				if got.Next == nil {
					break
				}
				page = got.Next.Page
				if gone := len(passing) - 1; gone >= 0 {
					h.Send("admin", "DELETE", path+"/"+passing[gone], nil, nil)
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

// TestBadComments checks that a refused comment is not stored.
func TestBadComments(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	page, bare := commentPages(h)
	for _, path := range places(h) {
		comment := path + "/" + h.Send("admin", "POST", path, `{"body":{"markdown":"a"}}`, commentShape)["id"].(string)
		reply := comment + "/replies/" + h.Send("admin", "POST", comment+"/replies", `{"body":{"markdown":"a"}}`, replyShape)["id"].(string)
		before := h.Rows()
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
			{"POST", path, `{"body":{"markdown":"` + strings.Repeat("-\\n", 50_000) + `"}}`, "body.markdown"},
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
			e := h.WantError(h.Do(test.method, test.path, h.Ours.Tokens["admin"], body), http.StatusBadRequest)
			if len(e.Details) == 0 || e.Details[0].Field != test.field {
				t.Errorf("%s %s %.100s: want a detail on %q, got %+v", test.method, test.path, test.body, test.field, e)
			}
		}
		if after := h.Rows(); !cmp.Equal(before, after) {
			t.Errorf("rows were stored: %s", cmp.Diff(before, after))
		}
	}
}
