package main

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Bounds of the hosts that are known: how old they may be, of how many sites, and how long a query waits for them.
const (
	hostsAge  = time.Minute
	hostsMost = 10_000
	hostsWait = time.Second
)

// siteHosts knows the own hosts of sites: the host of the site's name, the hosts that its publishable keys list by
// name, and the host under which this installation publishes sites without a name.
type siteHosts struct {
	store  *store.Store
	public string
	log    *slog.Logger

	mu   sync.Mutex
	kept map[string]keptHosts
}

type keptHosts struct {
	hosts []string
	until time.Time
}

// newSiteHosts knows the hosts of the sites in a store. public is the base of the addresses of sites without a name.
func newSiteHosts(st *store.Store, public string, log *slog.Logger) *siteHosts {
	h := &siteHosts{store: st, log: log, kept: map[string]keptHosts{}}
	if base, err := url.Parse(public); err == nil {
		h.public = base.Hostname()
	}
	return h
}

// of returns a site's hosts. If the site cannot be read, only the installation's host is known, for this query.
func (h *siteHosts) of(ctx context.Context, site string) []string {
	h.mu.Lock()
	known, ok := h.kept[site]
	h.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.hosts
	}
	ctx, cancel := context.WithTimeout(ctx, hostsWait)
	defer cancel()
	hosts := []string{h.public}
	row, err := h.store.Sites.ByID(ctx, site)
	if err != nil {
		h.log.WarnContext(ctx, "A query does not know the site's own hosts.", "site", site, "error", err)
		return hosts
	}
	if row.Hostname != nil {
		hosts = append(hosts, *row.Hostname)
	}
	keys, err := h.store.Sites.ListPublishableKeys(ctx, site, "", schema.MaxLimit)
	if err != nil {
		h.log.WarnContext(ctx, "A query does not know the hosts of the site's keys.", "site", site, "error", err)
		return hosts
	}
	for _, key := range keys.Rows {
		for _, host := range key.Hosts {
			if !strings.HasPrefix(host, "*") && !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.kept) >= hostsMost {
		clear(h.kept)
	}
	h.kept[site] = keptHosts{hosts, time.Now().Add(hostsAge)}
	return hosts
}
