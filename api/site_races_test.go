package api

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// TestSpacesGoWhileSitesChange deletes spaces that are defaults of two sites, while both sites are changed: none of it fails
// because the other came first.
func TestSpacesGoWhileSitesChange(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	sites := []*siteOf{h.newSite(`{}`), h.newSite(`{}`)}
	var spaces []string
	known := map[*siteOf][]string{}
	for range 16 {
		space := h.freshSpace(h.ours, "Same title")
		spaces = append(spaces, space.ID)
		for _, s := range sites {
			got := s.ok("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 201)
			known[s] = append(known[s], got["id"].(string))
		}
	}
	call := func(method, path string, body any) {
		if a := h.do(method, path, sites[0].token, body); a.status >= 500 {
			t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
		}
	}
	var wait sync.WaitGroup
	for worker := range 2 {
		wait.Go(func() {
			for i := worker; i < len(spaces); i += 2 {
				call("DELETE", "/v1/spaces/"+spaces[i], nil)
			}
		})
	}
	for worker := range 4 {
		wait.Go(func() {
			s := sites[worker%2]
			ids := known[s]
			for range 20 {
				before := map[string]any{"before": map[string]any{"siteSpace": ids[rand.IntN(len(ids))]}}
				call("POST", s.base+"/site-spaces/"+ids[rand.IntN(len(ids))]+"/move", map[string]any{"position": before})
				call("PATCH", s.base, map[string]any{"defaultSiteSpace": ids[rand.IntN(len(ids))]})
				call("POST", s.base+"/site-spaces", map[string]any{"spaceId": spaces[rand.IntN(len(spaces))]})
			}
		})
	}
	wait.Wait()
	for _, s := range sites {
		wantWholeStructure(t, h, s)
	}
}

// TestNoSiteShowsWhatWasTransferred lets a space move to another organization while it is added to a site: the site, which
// found the space in its own organization at first, does not get it.
func TestNoSiteShowsWhatWasTransferred(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	s.addSpace("First", "")
	// Outside of the transaction, which would see of a connection that is made later nothing at all.
	look, err := pgx.Connect(t.Context(), h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = look.Close(t.Context()) }()
	for _, call := range []struct{ method, path string }{
		{"POST", "/site-spaces"}, {"POST", "/sections"}, {"PATCH", "/site-spaces/" + s.items("/site-spaces", "id")[0]},
	} {
		space := h.freshSpace(h.ours, "Moves").ID
		conn, err := pgx.Connect(t.Context(), h.url)
		if err != nil {
			t.Fatal(err)
		}
		move, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := move.Exec(t.Context(), "select id from spaces where id = $1 for update", space); err != nil {
			t.Fatal(err)
		}
		if _, err := move.Exec(t.Context(), "update spaces set organization_id = $2 where id = $1", space, h.theirs.Organization.ID); err != nil {
			t.Fatal(err)
		}
		answered := make(chan answer, 1)
		go func() { answered <- h.do(call.method, s.base+call.path, s.token, map[string]any{"spaceId": space}) }()
		eventually.True(t, patience, "the request to wait for the space", func() bool {
			waiting := 0
			err := look.QueryRow(t.Context(),
				"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").Scan(&waiting)
			if err != nil {
				t.Fatal(err)
			}
			return waiting > 0
		})
		if err := move.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e := h.wantError(<-answered, 400); len(e.Details) != 1 || e.Details[0].Field != "spaceId" {
			t.Errorf("%s %s: %+v", call.method, call.path, e)
		}
		_ = conn.Close(t.Context())
	}
	wantLines(t, s.items("/site-spaces", "title"), "First")
}
