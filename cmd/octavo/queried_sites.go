package main

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// These constants are the largest age of a cached site, the largest number of cached sites, and the longest time that a
// query waits for a site.
const (
	sitesAge  = 5 * time.Second
	sitesMost = 10_000
	sitesWait = time.Second
)

// queriedSites has the data about sites that queries need: the settings of their insights, and their own hosts. A
// site's own hosts are its host name, the hosts in its settings, and the hosts that its publishable keys list by name.
// The host on which this installation publishes sites without a host name is an own host of every site.
type queriedSites struct {
	store  *store.Store
	public string
	log    *slog.Logger

	mu   sync.Mutex
	kept map[string]keptSite
	// changes is the number of calls of `forget`. If `forget` is called while a site is being read, the site is not
	// cached.
	changes int
}

type keptSite struct {
	query.Site
	until time.Time
}

// newQueriedSites returns an empty cache of the data about the sites in a store. `public` is the base of the addresses
// of sites without a host name.
func newQueriedSites(st *store.Store, public string, log *slog.Logger) *queriedSites {
	s := &queriedSites{store: st, log: log, kept: map[string]keptSite{}}
	if base, err := url.Parse(public); err == nil {
		s.public = base.Hostname()
	}
	return s
}

// of returns the settings and hosts of a site. If the site cannot be read, `of` returns the cached site even if it is
// too old. For a site that does not exist, it returns the default settings.
func (s *queriedSites) of(ctx context.Context, id string) (query.Site, error) {
	s.mu.Lock()
	known, ok := s.kept[id]
	changes := s.changes
	s.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.Site, nil
	}
	site, err := s.read(ctx, id)
	if err != nil && ok {
		s.log.WarnContext(ctx, "A query has the site's settings of before.", "site", id, "error", err)
		return known.Site, nil
	}
	if err != nil {
		return query.Site{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if changes != s.changes {
		return site, nil
	}
	if len(s.kept) >= sitesMost {
		clear(s.kept)
	}
	s.kept[id] = keptSite{site, time.Now().Add(sitesAge)}
	return site, nil
}

func (s *queriedSites) read(ctx context.Context, id string) (query.Site, error) {
	ctx, cancel := context.WithTimeout(ctx, sitesWait)
	defer cancel()
	site := query.Site{Hosts: []string{s.public}}
	row, err := s.store.Sites.Queried(ctx, id)
	if schema.IsCode(err, schema.CodeNotFound) {
		return site, nil
	}
	if err != nil {
		return query.Site{}, err
	}
	site.Timezone, site.WeekStart = schema.Or(row.Timezone, ""), schema.Or(row.WeekStart, "")
	hosts := slices.Concat(row.Hosts, row.KeyHosts)
	if row.Hostname != nil {
		hosts = append([]string{*row.Hostname}, hosts...)
	}
	for _, host := range hosts {
		if !slices.Contains(site.Hosts, host) {
			site.Hosts = append(site.Hosts, host)
		}
	}
	return site, nil
}

// forget drops a site that has changed from the cache, so the next query reads it.
func (s *queriedSites) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	delete(s.kept, id)
}
