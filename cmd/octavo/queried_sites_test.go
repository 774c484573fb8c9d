package main

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestQueriedSites checks that a site's own hosts are its host name, the hosts of its settings and keys, and the
// installation's host. A site is cached for a short time, or until `forget` is called. While the site cannot be read,
// the cached site is used for longer.
func TestQueriedSites(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "hosts")
	ctx, id := t.Context(), tenant.Site.ID
	const name = "docs.hosts.example.com"
	if _, err := st.Sites.Update(ctx, id, sites.Change{Hostname: schema.Some(name)}); err != nil {
		t.Fatal(err)
	}
	listed := []string{"www.key.example.com", "*.key.example.com", name}
	key := sites.NewPublishableKey{Name: "k", Hosts: listed, DailyCap: 1}
	if _, err := st.Sites.CreatePublishableKey(ctx, id, key); err != nil {
		t.Fatal(err)
	}
	known := newQueriedSites(st, "https://octavo.example.com:8443/base", slog.New(slog.DiscardHandler))
	check := func(ctx context.Context, when, id, timezone, weekStart string, hosts ...string) {
		t.Helper()
		got, err := known.of(ctx, id)
		if err != nil || got.Timezone != timezone || got.WeekStart != weekStart || !slices.Equal(got.Hosts, hosts) {
			t.Errorf("%s: %+v, %v, want %s, %s, %v", when, got, err, timezone, weekStart, hosts)
		}
	}
	const installation, ofKey = "octavo.example.com", "www.key.example.com"
	check(ctx, "at first", id, "", "", installation, name, ofKey)
	check(ctx, "no site", schema.NewID(), "", "", installation)
	zone, week := "Europe/Berlin", "sunday"
	if err := st.Sites.SetInsightsSettings(ctx, id, sites.InsightsSettingsChange{
		Timezone: &zone, WeekStart: &week, Hosts: []string{"old.example.com", name},
	}); err != nil {
		t.Fatal(err)
	}
	check(ctx, "a moment later", id, "", "", installation, name, ofKey)
	known.forget(id)
	check(ctx, "forgotten", id, zone, week, installation, name, "old.example.com", ofKey)

	ended, cancel := context.WithCancel(ctx)
	cancel()
	stale := known.kept[id]
	stale.until = stale.until.Add(-sitesAge)
	known.kept[id] = stale
	check(ended, "unreadable", id, zone, week, installation, name, "old.example.com", ofKey)
	known.forget(id)
	if got, err := known.of(ended, id); err == nil {
		t.Errorf("an unreadable site has the defaults: %+v", got)
	}
}
