package api

import (
	"math/rand/v2"
	"sync"
	"testing"
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
