package api_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// TestManyMovesToOnePlace moves items to the same place many times: between two items, and to both ends of the list.
// The number of moves is far larger than the number of free positions there.
func TestManyMovesToOnePlace(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	org, admin := "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin]
	s := h.NewSite(`{}`)
	section := s.AddSection("Only section")
	top := h.Collection(h.Ours, nil)
	for name, order := range map[string]struct {
		add  func() string
		move func(id, beside string, before bool)
		list func() []string
	}{
		"collections": {
			add: func() string { return h.Collection(h.Ours, &top) },
			move: func(id, beside string, before bool) {
				move, neighbor := store.Move{}, &store.Neighbor{Type: "collection", ID: beside, Field: "position"}
				if move.After = neighbor; before {
					move = store.Move{Before: neighbor}
				}
				if _, err := h.Store.MoveCollection(t.Context(), h.Ours.Organization.ID, id, move); err != nil {
					t.Fatal(err)
				}
			},
			list: func() []string {
				all := h.IDs(org+"/collections", admin)
				return slices.DeleteFunc(all, func(id string) bool { return id == top })
			},
		},
		"site spaces": {
			add:  func() string { return s.AddSpace("Space", section) },
			move: moveSiteItem(h, s, schema.SiteItemSpace),
			list: func() []string { return h.IDs(s.Base+"/site-spaces", admin)[1:] },
		},
		"section groups": {
			add:  func() string { return s.Ok("POST", "/section-groups", `{"title":"Guides"}`, 201)["id"].(string) },
			move: moveSiteItem(h, s, schema.SiteItemGroup),
			list: func() []string { return h.IDs(s.Base+"/section-groups", admin) },
		},
	} {
		var want []string
		for range 4 {
			want = append(want, order.add())
		}
		put := func(from, to int, beside string, before bool) {
			id := want[from]
			order.move(id, beside, before)
			want = slices.Insert(slices.Delete(want, from, from+1), to, id)
			if got := order.list(); !cmp.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
		// Test each place separately, because a move to another place would free positions.
		for range 40 {
			put(2, 1, want[0], false)
		}
		for range 40 {
			put(1, 2, want[3], true)
		}
		for range 40 {
			put(3, 0, want[0], true)
		}
		for range 40 {
			put(0, 3, want[3], false)
		}
	}
}

func moveSiteItem(h *apitest.Harness, s *apitest.SiteOf, kind string) func(id, beside string, before bool) {
	return func(id, beside string, before bool) {
		h.T.Helper()
		pointer := &schema.ItemPointer{Type: kind, ID: beside}
		position := schema.SiteItemPosition{After: pointer}
		if before {
			position = schema.SiteItemPosition{Before: pointer}
		}
		site := s.Base[len("/v1/orgs/"+h.Ours.Organization.ID+"/sites/"):]
		if err := h.Store.Sites.MoveItem(
			h.T.Context(), site, schema.ItemPointer{Type: kind, ID: id}, position,
		); err != nil {
			h.T.Fatal(err)
		}
	}
}

// TestOrderWithoutRoom gives the items consecutive positions, so that no position is free between them. It then moves
// items to places between them.
func TestOrderWithoutRoom(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	org, admin := "/v1/orgs/"+h.Ours.Organization.ID, h.Ours.Tokens[schema.RoleAdmin]
	h.Want(204, "DELETE", "/v1/spaces/"+h.Ours.Space.ID, admin, nil)
	a, b, c := h.Collection(h.Ours, nil), h.Collection(h.Ours, nil), h.Collection(h.Ours, nil)
	x, y, z := h.Collection(h.Ours, &b), h.Collection(h.Ours, &b), h.Collection(h.Ours, &b)
	want := func(ids ...string) {
		t.Helper()
		if got := h.IDs(org+"/collections?nested=false", admin); !cmp.Equal(got, ids) {
			t.Fatalf("%v, want %v", got, ids)
		}
	}
	squeeze := func(first int64) {
		h.Exec(`update collections c set position = $1 + k.n
			from (select id, row_number() over (order by position, id) - 1 as n from collections where parent_id is null) k where k.id = c.id`, first)
	}
	squeeze(0)
	if err := h.Store.DeleteCollection(t.Context(), h.Ours.Organization.ID, b); err != nil {
		t.Fatal(err)
	}
	want(a, x, y, z, c)
	squeeze(0)
	_, err := h.Store.MoveCollection(t.Context(), h.Ours.Organization.ID, c, store.Move{
		Before: &store.Neighbor{Type: "collection", ID: a, Field: "position"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want(c, a, x, y, z)
	squeeze(1<<63 - 5)
	last := h.Collection(h.Ours, nil)
	want(c, a, x, y, z, last)
	// If the positions are equal, no request has moved the collections.
	h.Exec("update collections set position = 0")
	unplaced := []string{a, c, x, y, z, last}
	slices.Sort(unplaced)
	want(unplaced...)
	_, err = h.Store.MoveCollection(t.Context(), h.Ours.Organization.ID, unplaced[5], store.Move{
		After: &store.Neighbor{Type: "collection", ID: unplaced[1], Field: "position"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want(unplaced[0], unplaced[1], unplaced[5], unplaced[2], unplaced[3], unplaced[4])
}
