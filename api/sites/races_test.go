package sites_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
)

// TestSpacesGoWhileSitesChange deletes spaces whose site spaces are defaults in two sites, while both sites are
// changed. The deletions and the changes succeed in any order.
func TestSpacesGoWhileSitesChange(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	sites := []*apitest.SiteOf{h.NewSite(`{}`), h.NewSite(`{}`)}
	var spaces []string
	known := map[*apitest.SiteOf][]string{}
	for range 16 {
		space := h.FreshSpace(h.Ours, "Same title")
		spaces = append(spaces, space.ID)
		for _, s := range sites {
			got := s.Ok("POST", "/site-spaces", map[string]any{"spaceId": space.ID}, 201)
			known[s] = append(known[s], got["id"].(string))
		}
	}
	call := func(method, path string, body any) {
		if a := h.Do(method, path, sites[0].Token, body); a.Status >= 500 {
			t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
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
				call("POST", s.Base+"/site-spaces/"+ids[rand.IntN(len(ids))]+"/move", map[string]any{"position": before})
				call("PATCH", s.Base, map[string]any{"defaultSiteSpace": ids[rand.IntN(len(ids))]})
				call("POST", s.Base+"/site-spaces", map[string]any{"spaceId": spaces[rand.IntN(len(spaces))]})
			}
		})
	}
	wait.Wait()
	for _, s := range sites {
		wantWholeStructure(t, h, s)
	}
}

// TestNoSiteShowsWhatWasTransferred transfers a space to another organization while a request adds the space to a site.
// When the request begins, the space is still in the site's organization. The request must wait for the transfer, and
// must then be refused.
func TestNoSiteShowsWhatWasTransferred(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	s.AddSpace("First", "")
	for _, call := range []struct{ method, path string }{
		{"POST", "/site-spaces"}, {"POST", "/sections"}, {"PATCH", "/site-spaces/" + s.Items("/site-spaces", "id")[0]},
	} {
		space := h.FreshSpace(h.Ours, "Moves").ID
		move := h.Begin()
		move.Do("select id from spaces where id = $1 for update", space)
		move.Do("update spaces set organization_id = $2 where id = $1", space, h.Theirs.Organization.ID)
		answered := make(chan apitest.Answer, 1)
		go func() { answered <- h.Do(call.method, s.Base+call.path, s.Token, map[string]any{"spaceId": space}) }()
		move.AwaitWaiting()
		move.Finish()
		if e := h.WantError(<-answered, 400); len(e.Details) != 1 || e.Details[0].Field != "spaceId" {
			t.Errorf("%s %s: %+v", call.method, call.path, e)
		}
	}
	wantLines(t, s.Items("/site-spaces", "title"), "First")
}

// TestSpaceGoesWhileASiteTakesItIn deletes a space while one transaction adds it to a site and another transaction
// changes the site. The deletion must wait for the lock on the site before it deletes rows of the site.
func TestSpaceGoesWhileASiteTakesItIn(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	site, space := s.Base[strings.LastIndex(s.Base, "/")+1:], h.FreshSpace(h.Ours, "Goes").ID
	take, change := h.Begin(), h.Begin()
	// In the product, the transaction that adds the space locks the site. The test omits this lock, so that the other
	// transaction has it when the addition commits.
	change.Do("select id from sites where id = $1 for no key update", site)
	take.Do("insert into site_spaces (id, site_id, space_id, position, rank, path, is_default) values ('taken', $1, $2, 1, '1', 'taken', true)", site, space)
	answered := make(chan apitest.Answer, 1)
	go func() { answered <- h.Do("DELETE", "/v1/spaces/"+space, s.Token, nil) }()
	take.AwaitWaiting()
	take.Finish()
	change.AwaitWaiting()
	// This update would deadlock if the deletion of the space had already deleted a site space of this site.
	change.Do("update site_spaces set hidden = true where site_id = $1", site)
	change.Finish()
	if a := <-answered; a.Status != 204 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	wantLines(t, s.Items("/site-spaces", "title"))
}
