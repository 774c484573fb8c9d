package ingest

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/fair"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Balance is what became of one site's events in this process since it started:
// of those posted to it, by its intake, and of those in the partitions of the
// log that it has, by its sink. The sum of all processes' balances is that of
// the site. What never came to the intake (no right to post, a body that is too
// large) is not received, nor is what found no room there (Unread).
type Balance struct {
	// Received are the events of all requests, as far as their bodies could be
	// read. Each is accepted, repeated, refused, or in flight.
	Received uint64
	// Accepted are durable in the log.
	Accepted uint64
	// Repeated were acknowledged and not appended: their Idempotency-Key says
	// that they are in the log already.
	Repeated uint64
	// Refused are by the reason's label, without zeros. Those refused as
	// log_unavailable are in doubt: the log may have taken them all the same.
	Refused map[string]uint64
	// Unread are the requests that found no room, by the reason's label, without
	// zeros. Their events were not read, so they are not among those received.
	Unread map[string]uint64
	// Stored and DeadLettered are the sink's: each event of the log becomes one
	// of them. A sink that takes a partition over counts what it finds stored of
	// a cut that its former owner did not end.
	Stored       uint64
	DeadLettered uint64
}

// Unanswered are the events that are received and not answered yet.
func (b Balance) Unanswered() uint64 {
	n := b.Received - b.Accepted - b.Repeated
	for _, refused := range b.Refused {
		n -= refused
	}
	return n
}

// account is what the intake knows of one site: what it uses, and what became
// of its events. Accounts are never dropped: a count that starts anew would be
// no count. Only sites that exist have one, of about 400 bytes.
type account struct {
	site string
	use  fair.Party // of the admission

	received, accepted, repeated atomic.Uint64
	stored, deadLettered         atomic.Uint64
	refused, unread              []atomic.Uint64 // as insights.Reasons
}

func (a *account) balance() Balance {
	b := Balance{Refused: byReason(a.refused), Unread: byReason(a.unread), Stored: a.stored.Load(), DeadLettered: a.deadLettered.Load()}
	b.Accepted, b.Repeated = a.accepted.Load(), a.repeated.Load()
	// Last: what is answered was received before, so nothing is in flight twice.
	b.Received = a.received.Load()
	return b
}

func byReason(counts []atomic.Uint64) map[string]uint64 {
	list := map[string]uint64{}
	for i := range counts {
		if n := counts[i].Load(); n > 0 {
			list[insights.Reasons[i].Label] = n
		}
	}
	return list
}

// accounts are those of all sites that have events in this process.
type accounts struct {
	mu     sync.RWMutex
	bySite map[string]*account
	list   []*account // in the order of their first request
}

func newAccounts() *accounts { return &accounts{bySite: map[string]*account{}} }

// of gives a site's account. It does not keep site.
func (s *accounts) of(site string) *account {
	s.mu.RLock()
	a := s.bySite[site]
	s.mu.RUnlock()
	if a != nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.bySite[site]; a == nil {
		counts := make([]atomic.Uint64, 2*len(insights.Reasons))
		a = &account{site: strings.Clone(site), refused: counts[:len(insights.Reasons)], unread: counts[len(insights.Reasons):]}
		s.bySite[a.site] = a
		s.list = append(s.list, a)
	}
	return a
}

func (s *accounts) all() []*account {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.list[:len(s.list):len(s.list)]
}

// settle counts a cut that is stored but for its dead letters.
func (s *accounts) settle(c *cut) {
	for _, m := range c.messages {
		s.of(m.message.Site).stored.Add(uint64(m.message.Count))
	}
	for _, r := range c.refused {
		m, _ := c.messageOf(r.row)
		a := s.of(m.message.Site)
		a.stored.Add(^uint64(0)) // one less
		a.deadLettered.Add(1)
	}
	// One dead letter has all events of a message whose head can be read and
	// whose events cannot.
	for _, u := range c.unreadable {
		if m, err := insights.ParseMessage(u.data); err == nil {
			s.of(m.Site).deadLettered.Add(uint64(m.Count))
		}
	}
}

// Balance is the balance of one site; all is zero for one without events.
func (m *Metrics) Balance(site string) Balance {
	m.accounts.mu.RLock()
	a := m.accounts.bySite[site]
	m.accounts.mu.RUnlock()
	if a == nil {
		return emptyBalance()
	}
	return a.balance()
}

func emptyBalance() Balance {
	return Balance{Refused: map[string]uint64{}, Unread: map[string]uint64{}}
}

// otherSites is the label of the sites that have no series of their own. No
// site's id is so short.
const otherSites = "other"

// siteMetrics shows the balances to Prometheus. The first sites have
// series of their own; the others share one, so that their number cannot fill
// Prometheus. A site never changes from one to the other: counters only grow.
type siteMetrics struct {
	received, outcome, unread *prometheus.Desc
	accounts                  *accounts
	most                      atomic.Int64
}

func newSiteMetrics(accounts *accounts) *siteMetrics {
	s := &siteMetrics{
		accounts: accounts,
		received: prometheus.NewDesc("octavo_site_events_received_total",
			"Events received, by site; the sites after the first hundred together as `other`.", []string{"site"}, nil),
		outcome: prometheus.NewDesc("octavo_site_events_total",
			"What became of events, by site as before: accepted, repeated (known by their Idempotency-Key), or the reason of their refusal; and of those accepted, stored or dead_lettered.", []string{"site", "outcome"}, nil),
		unread: prometheus.NewDesc("octavo_site_requests_unread_total",
			"Requests refused for want of room, by site as before and reason; their events were not read and are not counted as received.", []string{"site", "reason"}, nil),
	}
	s.most.Store(defaultMetricSites)
	return s
}

// Describe implements prometheus.Collector.
func (s *siteMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- s.received
	out <- s.outcome
	out <- s.unread
}

// Collect implements prometheus.Collector.
func (s *siteMetrics) Collect(out chan<- prometheus.Metric) {
	list, most := s.accounts.all(), int(s.most.Load())
	for _, a := range list[:min(most, len(list))] {
		s.emit(out, a.site, a.balance())
	}
	if len(list) <= most {
		return
	}
	rest := emptyBalance()
	for _, a := range list[most:] {
		b := a.balance()
		rest.Received += b.Received
		rest.Accepted += b.Accepted
		rest.Repeated += b.Repeated
		rest.Stored += b.Stored
		rest.DeadLettered += b.DeadLettered
		for reason, n := range b.Refused {
			rest.Refused[reason] += n
		}
		for reason, n := range b.Unread {
			rest.Unread[reason] += n
		}
	}
	s.emit(out, otherSites, rest)
}

func (s *siteMetrics) emit(out chan<- prometheus.Metric, site string, b Balance) {
	counter := func(desc *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
	}
	counter(s.received, b.Received, site)
	for _, o := range []struct {
		name string
		n    uint64
	}{{"accepted", b.Accepted}, {"repeated", b.Repeated}, {"stored", b.Stored}, {"dead_lettered", b.DeadLettered}} {
		if o.n > 0 {
			counter(s.outcome, o.n, site, o.name)
		}
	}
	for reason, n := range b.Refused {
		counter(s.outcome, n, site, reason)
	}
	for reason, n := range b.Unread {
		counter(s.unread, n, site, reason)
	}
}
