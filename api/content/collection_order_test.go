package content_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// TestCollectionsComeAfterTheirParents lists a tree of collections while it is built, moved, dissolved and transferred.
// Parents come before their children, and siblings keep their order. With every page size, the pages of the list
// contain each collection once.
func TestCollectionsComeAfterTheirParents(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], h.Ours.Organization.ID
	path := "/v1/orgs/" + org + "/collections?nested="
	// Each collection is inserted before its siblings, so that positions do not depend on the depth.
	var first = map[string]string{}
	add := func(parent string) string {
		in := &parent
		if parent == "" {
			in = nil
		}
		id := h.Collection(h.Ours, in)
		if before := first[parent]; before != "" {
			h.Want(200, "POST", "/v1/collections/"+id+"/move", admin, map[string]any{
				"parent": in, "position": map[string]any{"before": map[string]any{"type": "collection", "collection": before}},
			})
		}
		first[parent] = id
		return id
	}
	wantOrder := func(when string, children map[string][]string, token string, seen ...string) {
		t.Helper()
		var want []string
		for level := children[""]; len(level) > 0; {
			var below []string
			for _, id := range level {
				below = append(below, children[id]...)
			}
			want, level = append(want, level...), below
		}
		if seen != nil {
			want = seen
		}
		for _, size := range []int{1, 2, 100} {
			var got []string
			for page := ""; ; {
				list := h.Want(200, "GET", fmt.Sprintf("%strue&limit=%d&page=%s", path, size, page), token, nil)
				for _, item := range list["items"].([]any) {
					got = append(got, item.(map[string]any)["id"].(string))
				}
				next, more := list["next"].(map[string]any)
				if !more {
					break
				}
				page = next["page"].(string)
			}
			above := map[string]string{}
			for parent, ids := range children {
				for _, id := range ids {
					above[id] = parent
				}
			}
			for at, id := range got {
				if parent := above[id]; slices.Contains(want, parent) && !slices.Contains(got[:at], parent) {
					t.Errorf("%s, by %d: %s comes before its parent %s", when, size, id, parent)
				}
			}
			for _, ids := range children {
				visible := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(want, id) })
				among := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return !slices.Contains(ids, id) })
				if !slices.Equal(among, visible) {
					t.Errorf("%s, by %d: siblings come as %v, want %v", when, size, among, visible)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s, by %d: %d collections, want %d", when, size, len(got), len(want))
			}
		}
	}
	b := add("")
	a := add("")
	ab := add(a)
	aa := add(a)
	aaa := add(aa)
	ba := add(b)
	children := map[string][]string{"": {a, b}, a: {aa, ab}, aa: {aaa}, b: {ba}}
	wantOrder("built", children, admin)
	if top := h.IDs(path+"false", admin); !slices.Equal(top, []string{a, b}) {
		t.Errorf("at the top: %v", top)
	}

	// This user sees a nested collection, but does not see its parent. The list contains only the nested collection, in
	// the same order.
	h.CloseCollection(a)
	h.CloseCollection(b)
	guest := h.Ours.Tokens[schema.RoleRead]
	for _, id := range []string{ba, aa} {
		h.Grant(h.Ours, id, store.Subjects{Users: []string{h.Ours.Users[schema.RoleRead].ID}}, schema.RoleRead)
	}
	wantOrder("as a member who sees no parent", children, guest, aa, ba, aaa)
	for _, id := range []string{a, b} {
		h.Want(200, "PATCH", "/v1/collections/"+id, admin, `{"defaultLevel":"inherit"}`)
	}

	h.Want(200, "POST", "/v1/collections/"+aa+"/move", admin, map[string]any{"parent": ba})
	wantOrder("moved down", map[string][]string{"": {a, b}, a: {ab}, b: {ba}, ba: {aa}, aa: {aaa}}, admin)
	h.Want(200, "POST", "/v1/collections/"+aa+"/move", admin, map[string]any{
		"parent": nil, "position": map[string]any{"before": map[string]any{"type": "collection", "collection": a}},
	})
	wantOrder("moved to the top", map[string][]string{"": {aa, a, b}, a: {ab}, b: {ba}, aa: {aaa}}, admin)
	below := add(ba)
	h.Want(204, "DELETE", "/v1/collections/"+b, admin, nil)
	wantOrder("taken apart", map[string][]string{"": {aa, a, ba}, a: {ab}, ba: {below}, aa: {aaa}}, admin)

	other := h.Organization(h.Ours)
	h.Want(200, "POST", "/v1/collections/"+ba+"/transfer", admin, map[string]any{"organization": other})
	wantOrder("given away", map[string][]string{"": {aa, a}, a: {ab}, aa: {aaa}}, admin)
	path = "/v1/orgs/" + other + "/collections?nested="
	wantOrder("taken over", map[string][]string{"": {ba}, ba: {below}}, admin)
	// A trigger must have updated the depths of the moved collections. Otherwise the next change of the tree of
	// collections would use wrong depths.
	h.Exec("do $$ begin assert not exists (select 1 from collections c join collections p on p.id = c.parent_id where c.depth <> p.depth + 1); end $$")
	h.Exec("do $$ begin assert not exists (select 1 from collections c where c.parent_id is null and c.depth <> 1); end $$")
}
