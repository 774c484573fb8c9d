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

// TestOpenSitesAreRemembered: events without a token query Postgres once per site. Events for made-up sites soon cause
// no query.
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
	for range 20 { // A good site does not count against the address.
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
	if asked != 10 || limited != 40 { // The burst is two seconds' worth of requests.
		t.Errorf("%d made-up sites were looked up, %d were not", asked, limited)
	}
	st.Stop() // From now on only the cache knows the site.
	if err := ask(tenant.Site.ID, "198.51.100.2"); err != nil {
		t.Errorf("a remembered site, from an address over its limit: %v", err)
	}
}
