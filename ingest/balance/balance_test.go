package balance

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Prometheus gets the same balances, in a bounded number of series.
func TestSeries(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	sites := newSites(r, 2)
	for i, site := range []string{"site_a", "site_b", "site_c", "site_d"} {
		sites.Account(site).Accepted.Add(uint64(2 * (i + 1)))
	}
	sites.Account("site_a").Refuse(insights.UnknownType, 3)
	sites.Account("site_c").Refuse(insights.LogUnavailable, 1)
	sites.Account("site_d").Refuse(insights.LogUnavailable, 1)
	sites.Account("site_b").Stored.Add(4)
	sites.Account("site_d").RefuseUnread(insights.Overloaded)
	want := `
# HELP octavo_site_events_total What became of received events, by site (after the first hundred, ` + "`other`" + `): accepted, repeated (known by their Idempotency-Key), or the reason they were refused for; and of the accepted ones, stored, dead_lettered or erased (of a visitor who was erased after they were received).
# TYPE octavo_site_events_total counter
octavo_site_events_total{outcome="accepted",site="site_a"} 2
octavo_site_events_total{outcome="unknown_type",site="site_a"} 3
octavo_site_events_total{outcome="accepted",site="site_b"} 4
octavo_site_events_total{outcome="stored",site="site_b"} 4
octavo_site_events_total{outcome="accepted",site="other"} 14
octavo_site_events_total{outcome="log_unavailable",site="other"} 2
# HELP octavo_site_requests_unread_total Requests refused unread, by site (after the first hundred, ` +
		"`other`) and reason: for lack of room, or by the rules of a publishable key. " +
		`Their events do not count as received.
# TYPE octavo_site_requests_unread_total counter
octavo_site_requests_unread_total{reason="overloaded",site="other"} 1
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "octavo_site_events_total", "octavo_site_requests_unread_total"); err != nil {
		t.Error(err)
	}
	if b := sites.Balance("site_b"); b.Accepted != 4 || b.Stored != 4 {
		t.Errorf("site_b: %+v", b)
	}
	if b := sites.Balance("none"); b.Received != 0 || b.Refused == nil {
		t.Errorf("a site without events: %+v", b)
	}
}
