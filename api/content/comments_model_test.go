package content_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// modelComment is the expected content of a comment or reply. It has everything that a client sees, except times and
// URLs.
type modelComment struct {
	Author, Words, Status, ResolvedBy, Page string
	Edited                                  bool
	// Reactions are in the order in which they were posted. Clients see them grouped by emoji.
	Reactions []modelReaction
	Replies   []string // the ids of the replies, in order
}

type modelReaction struct{ Emoji, User string }

func (m *modelComment) react(user string, added, removed []string) {
	m.Reactions = slices.DeleteFunc(m.Reactions, func(r modelReaction) bool {
		return r.User == user && slices.Contains(removed, r.Emoji)
	})
	for _, emoji := range added {
		if reaction := (modelReaction{emoji, user}); !slices.Contains(m.Reactions, reaction) {
			m.Reactions = append(m.Reactions, reaction)
		}
	}
}

// shown returns the comment as clients see it. Reactions with the same emoji are grouped at the position of the first
// of them.
func (m modelComment) shown() modelComment {
	var grouped []modelReaction
	for _, first := range m.Reactions {
		for _, r := range m.Reactions {
			if r.Emoji == first.Emoji && !slices.Contains(grouped, r) {
				grouped = append(grouped, r)
			}
		}
	}
	m.Reactions, m.Replies = grouped, nil
	return m
}

// commentModel is a discussion in memory. Its ids are in the order in which the comments were posted.
type commentModel struct {
	// pages are the pages of the content. A new space has no pages.
	pages []string
	h     *apitest.Harness
	base  string
	ids   []string
	posts map[string]*modelComment
}

// seen converts a response to a modelComment.
func seen(post map[string]any) modelComment {
	user := func(v any) string { return v.(map[string]any)["id"].(string) }
	m := modelComment{Author: user(post["postedBy"]), Edited: post["editedAt"] != nil}
	m.Words, _ = post["body"].(map[string]any)["markdown"].(string)
	m.Status, _ = post["status"].(string)
	if by, ok := post["resolvedBy"]; ok {
		m.ResolvedBy = user(by)
	}
	if target, ok := post["target"].(map[string]any); ok {
		if page, ok := target["page"].(map[string]any); ok {
			m.Page = page["id"].(string)
		}
	}
	for _, r := range post["reactions"].([]any) {
		group := r.(map[string]any)
		for _, u := range group["users"].([]any) {
			m.Reactions = append(m.Reactions, modelReaction{group["emoji"].(string), user(u.(map[string]any)["user"])})
		}
	}
	return m
}

// TestCommentsAgreeWithAModel lets several users act in random order. After each step, it compares every list, count
// and comment with a model in memory.
func TestCommentsAgreeWithAModel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	first, second := commentPages(h)
	rapid.Check(t, func(rt *rapid.T) {
		request := h.ChangeRequest(h.Ours)
		m := &commentModel{
			h: h, base: "/v1/spaces/" + h.Ours.Space.ID + "/change-requests/" + request.ID + "/comments", posts: map[string]*modelComment{},
			pages: []string{first, second},
		}
		if rapid.Bool().Draw(rt, "on a space") {
			space, err := h.Store.CreateSpace(t.Context(), store.NewSpace{
				OrganizationID: h.Ours.Organization.ID, Title: "Space", Emoji: "1f4d6", EditMode: "live",
			})
			if err != nil {
				rt.Fatal(err)
			}
			m.base, m.pages = "/v1/spaces/"+space.ID+"/comments", nil
		}
		for range rapid.IntRange(1, 14).Draw(rt, "steps") {
			m.step(rt)
			m.compare(rt)
		}
	})
}

func (m *commentModel) step(rt *rapid.T) {
	role := rapid.SampledFrom([]schema.Role{"admin", "edit", "comment"}).Draw(rt, "as")
	user := m.h.Ours.Users[role].ID
	words := rapid.SampledFrom([]string{"a", "b", "*c*"}).Draw(rt, "words")
	action := rapid.SampledFrom([]string{"post", "post", "reply", "change", "change", "delete"}).Draw(rt, "action")
	if action == "post" || len(m.posts) == 0 {
		page, body := "", map[string]any{"body": map[string]any{"markdown": words}}
		if m.pages != nil {
			page = rapid.SampledFrom(m.pages).Draw(rt, "page")
			body["page"] = page
		}
		made := m.h.Send(role, "POST", m.base, body, commentShape)
		id := made["id"].(string)
		m.ids = append(m.ids, id)
		m.posts[id] = &modelComment{Author: user, Words: words, Status: "open", Page: page}
		return
	}
	comment := rapid.SampledFrom(m.ids).Draw(rt, "comment")
	path, id, parent := m.base+"/"+comment, comment, (*modelComment)(nil)
	if replies := m.posts[comment].Replies; len(replies) > 0 && rapid.Bool().Draw(rt, "on a reply") {
		id, parent = rapid.SampledFrom(replies).Draw(rt, "which"), m.posts[comment]
		path += "/replies/" + id
	}
	post := m.posts[id]
	mayEdit := role == "admin" || post.Author == user
	switch action {
	case "reply":
		made := m.h.Send(role, "POST", m.base+"/"+comment+"/replies", map[string]any{"body": map[string]any{"markdown": words}}, replyShape)
		m.posts[made["id"].(string)] = &modelComment{Author: user, Words: words}
		m.posts[comment].Replies = append(m.posts[comment].Replies, made["id"].(string))
	case "change":
		m.change(rt, role, path, post, words, mayEdit, parent != nil)
	case "delete":
		a := m.h.Do("DELETE", path, m.h.Ours.Tokens[role], nil)
		if want := map[bool]int{true: 204, false: 403}[mayEdit]; a.Status != want {
			rt.Fatalf("delete as %s: %d, want %d", role, a.Status, want)
		}
		if !mayEdit {
			return
		}
		for _, reply := range post.Replies {
			delete(m.posts, reply)
		}
		delete(m.posts, id)
		if parent != nil {
			parent.Replies = slices.DeleteFunc(parent.Replies, func(r string) bool { return r == id })
		} else {
			m.ids = slices.DeleteFunc(m.ids, func(c string) bool { return c == id })
		}
	}
}

func (m *commentModel) change(rt *rapid.T, role schema.Role, path string, post *modelComment, words string, mayEdit, isReply bool) {
	emoji := rapid.SliceOfN(rapid.SampledFrom([]string{"👍", "🎉", "1f680"}), 0, 3)
	user, body, allowed := m.h.Ours.Users[role].ID, map[string]any{}, true
	added, removed := emoji.Draw(rt, "added"), emoji.Draw(rt, "removed")
	body["addedReactions"], body["removedReactions"] = added, removed
	edits, resolves := rapid.Bool().Draw(rt, "edits"), !isReply && rapid.Bool().Draw(rt, "resolves")
	resolved := rapid.Bool().Draw(rt, "resolved")
	if edits {
		body["body"], allowed = map[string]any{"markdown": words}, mayEdit
	}
	if resolves {
		body["resolved"] = resolved
		allowed = allowed && (mayEdit || role == "edit")
	}
	a := m.h.Do("PUT", path, m.h.Ours.Tokens[role], body)
	if want := map[bool]int{true: 200, false: 403}[allowed]; a.Status != want {
		rt.Fatalf("%v as %s: %d %s, want %d", body, role, a.Status, a.Body, want)
	}
	if !allowed {
		return
	}
	post.react(user, added, removed)
	if edits {
		post.Edited = post.Edited || post.Words != words
		post.Words = words
	}
	switch {
	case resolves && resolved && post.Status == "open":
		post.Status, post.ResolvedBy = "resolved", user
	case resolves && !resolved:
		post.Status, post.ResolvedBy = "open", ""
	}
}

func (m *commentModel) compare(rt *rapid.T) {
	same := func(what string, want, got any) {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("%s: %s", what, diff)
		}
	}
	with := func(holds func(*modelComment) bool) []string {
		found := []string{}
		for _, id := range m.ids {
			if holds(m.posts[id]) {
				found = append(found, id)
			}
		}
		return found
	}
	open := with(func(c *modelComment) bool { return c.Status == "open" })
	same("open", open, m.h.IDs(m.base+"?order=asc&status=open", m.h.Ours.Tokens["read"]))
	if m.pages != nil {
		page := m.pages[1]
		same("of a page", with(func(c *modelComment) bool { return c.Page == page }), m.h.IDs(m.base+"?order=asc&targetPage="+page, m.h.Ours.Tokens["read"]))
	}
	newest := slices.Clone(m.ids)
	slices.Reverse(newest)
	same("newest", newest, m.h.IDs(m.base, m.h.Ours.Tokens["read"]))
	list := m.h.Send("read", "GET", m.base+"?order=asc&limit=1000", nil, shape.ListOf(commentShape))
	for i, item := range list["items"].([]any) {
		shown := item.(map[string]any)
		want := m.posts[m.ids[i]]
		replies := want.Replies
		repliers := map[string]float64{}
		for _, id := range replies {
			repliers[m.posts[id].Author]++
		}
		gotRepliers := map[string]float64{}
		for _, r := range shown["repliers"].([]any) {
			gotRepliers[r.(map[string]any)["user"].(map[string]any)["id"].(string)] = r.(map[string]any)["count"].(float64)
		}
		same("repliers", repliers, gotRepliers)
		same("replies", float64(len(replies)), shown["replies"])
		same("comment", want.shown(), seen(shown))
		path := m.base + "/" + m.ids[i]
		same("comment by itself", shown, m.h.Send("read", "GET", path, nil, commentShape))
		if len(replies) == 0 {
			continue
		}
		got := m.h.Send("read", "GET", path+"/replies?limit=1000", nil, shape.ListOf(replyShape))["items"].([]any)
		same("number of replies", len(replies), len(got))
		for j, id := range replies {
			same("id of the reply", id, got[j].(map[string]any)["id"])
			same("reply", m.posts[id].shown(), seen(got[j].(map[string]any)))
		}
	}
}
