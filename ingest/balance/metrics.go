package balance

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// sitesWithSeries is the number of sites that have separate series. All sites after the first sitesWithSeries share one
// series, which limits the load of Prometheus. A site never moves from one series to another, because the counter of
// the shared series would then decrease.
const sitesWithSeries = 100

// otherSites is the label of the shared series. Every site id is longer, so no site has this label.
const otherSites = "other"

// NewSites makes the accounts and registers their metrics.
func NewSites(r prometheus.Registerer) *Sites { return newSites(r, sitesWithSeries) }

func newSites(r prometheus.Registerer, withSeries int) *Sites {
	s := &Sites{bySite: map[string]*Account{}, clock: time.Now}
	r.MustRegister(&siteMetrics{
		sites: s, withSeries: withSeries,
		received: prometheus.NewDesc("octavo_site_events_received_total",
			"Events received, by site; sites after the first hundred count as `other`.", []string{"site"}, nil),
		outcome: prometheus.NewDesc("octavo_site_events_total",
			"What became of received events, by site (after the first hundred, `other`): accepted, repeated (known by their Idempotency-Key), or the reason they were refused for; and of the accepted ones, stored, dead_lettered or erased (of a visitor who was erased after they were received).", []string{"site", "outcome"}, nil),
		unread: prometheus.NewDesc("octavo_site_requests_unread_total",
			"Requests refused unread, by site (after the first hundred, `other`) and reason: for lack of room, or "+
				"by the rules of a publishable key. Their events do not count as received.", []string{"site", "reason"},
			nil),
	})
	return s
}

// siteMetrics reports the balances to Prometheus.
type siteMetrics struct {
	sites                     *Sites
	withSeries                int
	received, outcome, unread *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (m *siteMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.received
	out <- m.outcome
	out <- m.unread
}

// Collect implements [prometheus.Collector].
func (m *siteMetrics) Collect(out chan<- prometheus.Metric) {
	list := m.sites.all()
	for _, a := range list[:min(m.withSeries, len(list))] {
		m.emit(out, a.site, a.balance())
	}
	if len(list) <= m.withSeries {
		return
	}
	rest := emptyBalance()
	for _, a := range list[m.withSeries:] {
		b := a.balance()
		rest.Received += b.Received
		rest.Accepted += b.Accepted
		rest.Repeated += b.Repeated
		rest.Stored += b.Stored
		rest.DeadLettered += b.DeadLettered
		rest.Erased += b.Erased
		for reason, n := range b.Refused {
			rest.Refused[reason] += n
		}
		for reason, n := range b.Unread {
			rest.Unread[reason] += n
		}
	}
	m.emit(out, otherSites, rest)
}

func (m *siteMetrics) emit(out chan<- prometheus.Metric, site string, b Balance) {
	counter := func(desc *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
	}
	counter(m.received, b.Received, site)
	for _, o := range []struct {
		name string
		n    uint64
	}{{"accepted", b.Accepted}, {"repeated", b.Repeated}, {"stored", b.Stored}, {"dead_lettered", b.DeadLettered}, {"erased", b.Erased}} {
		if o.n > 0 {
			counter(m.outcome, o.n, site, o.name)
		}
	}
	for reason, n := range b.Refused {
		counter(m.outcome, n, site, reason)
	}
	for reason, n := range b.Unread {
		counter(m.unread, n, site, reason)
	}
}
