package main

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSiteHosts checks that a site's own hosts are its name, its keys' hosts by name and the installation's, and that
// they are kept for a while.
func TestSiteHosts(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "hosts")
	const name = "docs.hosts.example.com"
	if _, err := st.Sites.Update(t.Context(), tenant.Site.ID, sites.Change{Hostname: schema.Some(name)}); err != nil {
		t.Fatal(err)
	}
	listed := []string{"www.key.example.com", "*.key.example.com", name}
	key := sites.NewPublishableKey{Name: "k", Hosts: listed, DailyCap: 1}
	if _, err := st.Sites.CreatePublishableKey(t.Context(), tenant.Site.ID, key); err != nil {
		t.Fatal(err)
	}
	hosts := newSiteHosts(st, "https://octavo.example.com:8443/base", slog.New(slog.DiscardHandler))
	want := []string{"octavo.example.com", name, "www.key.example.com"}
	if got := hosts.of(t.Context(), tenant.Site.ID); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := hosts.of(t.Context(), schema.NewID()); !slices.Equal(got, want[:1]) {
		t.Errorf("of no site: %v, want %v", got, want[:1])
	}
	other := sites.Change{Hostname: schema.Some("other.hosts.example.com")}
	if _, err := st.Sites.Update(t.Context(), tenant.Site.ID, other); err != nil {
		t.Fatal(err)
	}
	if got := hosts.of(t.Context(), tenant.Site.ID); !slices.Equal(got, want) {
		t.Errorf("a moment later: %v, want %v", got, want)
	}
}
