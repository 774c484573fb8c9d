package api

import (
	"errors"
	"math/rand/v2"
	"strings"
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

// writer is a transaction past the API, for which requests have to wait.
type writer struct {
	pgx.Tx
	h *harness
}

func (h *harness) begin() writer {
	h.t.Helper()
	tx, err := h.connect().Begin(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return writer{tx, h}
}

func (w writer) exec(statement string, arguments ...any) {
	w.h.t.Helper()
	if _, err := w.Exec(w.h.t.Context(), statement, arguments...); err != nil {
		w.h.t.Errorf("%s: %v", statement, err)
	}
}

func (w writer) commit() {
	w.h.t.Helper()
	if err := w.Commit(w.h.t.Context()); err != nil {
		w.h.t.Fatal(err)
	}
}

// awaitWaiting waits until somebody waits for this writer. It looks from outside of the transaction, which would see nothing at all of
// a connection that is made later.
func (w writer) awaitWaiting() {
	w.h.t.Helper()
	look := w.h.connect()
	eventually.Succeeds(w.h.t, patience, "the request to wait for a writer", func() error {
		waiting := 0
		err := look.QueryRow(w.h.t.Context(), "select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", w.Conn().PgConn().PID()).Scan(&waiting)
		if err == nil && waiting == 0 {
			err = errors.New("nobody does")
		}
		return err
	})
}

// TestNoSiteShowsWhatWasTransferred lets a space move to another organization while it is added to a site: the site, which
// found the space in its own organization at first, does not get it.
func TestNoSiteShowsWhatWasTransferred(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	s.addSpace("First", "")
	for _, call := range []struct{ method, path string }{
		{"POST", "/site-spaces"}, {"POST", "/sections"}, {"PATCH", "/site-spaces/" + s.items("/site-spaces", "id")[0]},
	} {
		space := h.freshSpace(h.ours, "Moves").ID
		move := h.begin()
		move.exec("select id from spaces where id = $1 for update", space)
		move.exec("update spaces set organization_id = $2 where id = $1", space, h.theirs.Organization.ID)
		answered := make(chan answer, 1)
		go func() { answered <- h.do(call.method, s.base+call.path, s.token, map[string]any{"spaceId": space}) }()
		move.awaitWaiting()
		move.commit()
		if e := h.wantError(<-answered, 400); len(e.Details) != 1 || e.Details[0].Field != "spaceId" {
			t.Errorf("%s %s: %+v", call.method, call.path, e)
		}
	}
	wantLines(t, s.items("/site-spaces", "title"), "First")
}

// TestSpaceGoesWhileASiteTakesItIn deletes a space that a site takes in at that moment, while another writer changes the site: whoever
// deletes has to find the site and wait for its turn there, before anything of the site is gone.
func TestSpaceGoesWhileASiteTakesItIn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.newSite(`{}`)
	site, space := s.base[strings.LastIndex(s.base, "/")+1:], h.freshSpace(h.ours, "Goes").ID
	take, change := h.begin(), h.begin()
	// Who takes in has the lock first, as a rule. Here it has none, so that the other one has it in any case when it is through.
	change.exec("select id from sites where id = $1 for no key update", site)
	take.exec("insert into site_spaces (id, site_id, space_id, position, rank, path, is_default) values ('taken', $1, $2, 1, '1', 'taken', true)", site, space)
	answered := make(chan answer, 1)
	go func() { answered <- h.do("DELETE", "/v1/spaces/"+space, s.token, nil) }()
	take.awaitWaiting()
	take.commit()
	change.awaitWaiting()
	change.exec("update site_spaces set hidden = true where site_id = $1", site) // a deadlock, if the row was gone first
	change.commit()
	if a := <-answered; a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	wantLines(t, s.items("/site-spaces", "title"))
}
