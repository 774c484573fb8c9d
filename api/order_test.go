package api

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// TestManyMovesToOnePlace puts things between the same two, and to both ends, far more often than there are positions between any.
func TestManyMovesToOnePlace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	org, admin := "/v1/orgs/"+h.ours.Organization.ID, h.ours.Tokens[schema.RoleAdmin]
	s := h.newSite(`{}`)
	section := s.addSection("Only section")
	top := h.collection(h.ours, nil)
	for name, order := range map[string]struct {
		add  func() string
		move func(id, beside string, before bool)
		list func() []string
	}{
		"collections": {
			add: func() string { return h.collection(h.ours, &top) },
			move: func(id, beside string, before bool) {
				move, neighbor := store.Move{}, &store.Neighbor{Type: "collection", ID: beside, Field: "position"}
				if move.After = neighbor; before {
					move = store.Move{Before: neighbor}
				}
				if _, err := h.st.MoveCollection(t.Context(), h.ours.Organization.ID, id, move); err != nil {
					t.Fatal(err)
				}
			},
			list: func() []string {
				all := h.ids(org+"/collections", admin)
				return slices.DeleteFunc(all, func(id string) bool { return id == top })
			},
		},
		"site spaces": {
			add:  func() string { return s.addSpace("Space", section) },
			move: moveSiteItem(h, s, schema.SiteItemSpace),
			list: func() []string { return h.ids(s.base+"/site-spaces", admin)[1:] },
		},
		"section groups": {
			add:  func() string { return s.ok("POST", "/section-groups", `{"title":"Guides"}`, 201)["id"].(string) },
			move: moveSiteItem(h, s, schema.SiteItemGroup),
			list: func() []string { return h.ids(s.base+"/section-groups", admin) },
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
		// Each place by itself: what goes elsewhere gives the room back that it took.
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

func moveSiteItem(h *harness, s *siteOf, kind string) func(id, beside string, before bool) {
	return func(id, beside string, before bool) {
		h.t.Helper()
		pointer := &schema.ItemPointer{Type: kind, ID: beside}
		position := schema.SiteItemPosition{After: pointer}
		if before {
			position = schema.SiteItemPosition{Before: pointer}
		}
		site := s.base[len("/v1/orgs/"+h.ours.Organization.ID+"/sites/"):]
		if err := h.st.MoveSiteItem(h.t.Context(), site, schema.ItemPointer{Type: kind, ID: id}, position); err != nil {
			h.t.Fatal(err)
		}
	}
}

// TestOrderWithoutRoom uses up all room between things, and beside them, before it puts others there.
func TestOrderWithoutRoom(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	org, admin := "/v1/orgs/"+h.ours.Organization.ID, h.ours.Tokens[schema.RoleAdmin]
	h.exec("delete from spaces")
	a, b, c := h.collection(h.ours, nil), h.collection(h.ours, nil), h.collection(h.ours, nil)
	x, y, z := h.collection(h.ours, &b), h.collection(h.ours, &b), h.collection(h.ours, &b)
	want := func(ids ...string) {
		t.Helper()
		if got := h.ids(org+"/collections?nested=false", admin); !cmp.Equal(got, ids) {
			t.Fatalf("%v, want %v", got, ids)
		}
	}
	squeeze := func(first int64) {
		h.exec(`update collections c set position = $1 + k.n
			from (select id, row_number() over (order by position, id) - 1 as n from collections where parent_id is null) k where k.id = c.id`, first)
	}
	squeeze(0)
	if err := h.st.DeleteCollection(t.Context(), h.ours.Organization.ID, b); err != nil {
		t.Fatal(err)
	}
	want(a, x, y, z, c)
	squeeze(0)
	_, err := h.st.MoveCollection(t.Context(), h.ours.Organization.ID, c, store.Move{
		Before: &store.Neighbor{Type: "collection", ID: a, Field: "position"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want(c, a, x, y, z)
	squeeze(1<<63 - 5)
	last := h.collection(h.ours, nil)
	want(c, a, x, y, z, last)
	// Nobody placed these.
	h.exec("update collections set position = 0")
	unplaced := []string{a, c, x, y, z, last}
	slices.Sort(unplaced)
	want(unplaced...)
	_, err = h.st.MoveCollection(t.Context(), h.ours.Organization.ID, unplaced[5], store.Move{
		After: &store.Neighbor{Type: "collection", ID: unplaced[1], Field: "position"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want(unplaced[0], unplaced[1], unplaced[5], unplaced[2], unplaced[3], unplaced[4])
}
