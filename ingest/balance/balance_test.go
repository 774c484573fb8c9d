package balance

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestSeries checks that Prometheus gets the balances of the sites, in a limited number of series.
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

// TestRefusedByDay counts refusals on the day on which they happen. The list leaves out a day that was 30 days ago. It
// is empty for a site without refusals.
func TestRefusedByDay(t *testing.T) {
	t.Parallel()
	sites := newSites(prometheus.NewRegistry(), 1)
	now := time.Date(2026, 11, 28, 23, 59, 59, 0, time.UTC)
	sites.clock = func() time.Time { return now }
	a := sites.Account("site_a")
	want := func(days ...Day) {
		t.Helper()
		if got := sites.RefusedByDay("site_a"); !slices.Equal(got, days) {
			t.Errorf("%v: %v, want %v", now, got, days)
		}
	}
	day := func(ago int) time.Time { return time.Date(2026, 11, 28-ago, 0, 0, 0, 0, time.UTC) }
	want()
	a.Refuse(insights.UnknownType, 3)
	a.Refuse(insights.TooLong, 1)
	a.RefuseUnread(insights.Overloaded)
	want(Day{day(0), 4, 1})
	now = now.Add(time.Second)
	want(Day{day(0), 4, 1})
	a.Refuse(insights.UnknownType, 2)
	want(Day{day(0), 4, 1}, Day{day(-1), 2, 0})
	now = now.Add(28 * 24 * time.Hour)
	want(Day{day(0), 4, 1}, Day{day(-1), 2, 0})
	now = now.Add(24 * time.Hour)
	want(Day{day(-1), 2, 0})
	a.RefuseUnread(insights.Overloaded) // reuses the slot of the day that was 30 days before
	want(Day{day(-1), 2, 0}, Day{day(-30), 0, 1})
	if got := sites.RefusedByDay("none"); len(got) > 0 {
		t.Errorf("a site without events: %v", got)
	}

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				a.Refuse(insights.UnknownType, 1)
			}
		})
	}
	all.Wait()
	want(Day{day(-1), 2, 0}, Day{day(-30), 4000, 1})
}
