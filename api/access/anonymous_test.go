package access

import (
	"log/slog"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestOpenSitesAreRemembered: events without a token cause one query to Postgres for each site. After a few events for
// made-up sites, an address causes no more queries.
func TestOpenSitesAreRemembered(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	g, err := NewGuard(Config{AuthTTL: time.Minute, AuthEntries: 100, WrongTokenRateLimit: 5}, st, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ask := func(site, address string) error {
		path := aliasing{"organizationId": []byte(tenant.Organization.ID), "siteId": []byte(site)}
		c := &Caller{Now: now, IP: netip.MustParseAddr(address)}
		err := g.AdmitNobody(t.Context(), path, c)
		for _, buffer := range path {
			for i := range buffer {
				buffer[i] = '#'
			}
		}
		if err == nil && (c.EventSite.SiteID != tenant.Site.ID || c.EventSite.OrganizationID != tenant.Organization.ID || c.Principal.Kind != schema.TokenNone || c.Rights != RightView) {
			t.Errorf("%+v, %v", c.EventSite, c.Rights)
		}
		return err
	}
	on := true
	if _, err := st.Sites.Update(t.Context(), tenant.Site.ID, sites.Change{AnonymousEvents: &on}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Sites.Publish(t.Context(), tenant.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	for range 20 { // A valid site does not count against the address.
		if err := ask(tenant.Site.ID, "198.51.100.1"); err != nil {
			t.Fatal(err)
		}
	}
	asked, limited := 0, 0
	for i := range 50 {
		switch err := ask("made-up-"+strconv.Itoa(i), "198.51.100.2"); {
		case schema.IsCode(err, schema.CodeUnauthorized):
			asked++
		case schema.IsCode(err, schema.CodeTooManyRequests):
			limited++
		default:
			t.Fatal(err)
		}
	}
	if asked != 10 || limited != 40 { // The address may cause the queries of two seconds at once.
		t.Errorf("%d made-up sites were looked up, %d were not", asked, limited)
	}
	st.Stop() // From now on, queries fail, and only the cache has the site.
	if err := ask(tenant.Site.ID, "198.51.100.2"); err != nil {
		t.Errorf("a remembered site, from an address over its limit: %v", err)
	}
}
