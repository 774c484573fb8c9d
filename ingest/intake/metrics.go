package intake

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Metrics are the measurements of an Intake.
type Metrics struct {
	accepted         prometheus.Counter
	requests         prometheus.Counter
	refused          map[*insights.Reason]refusals
	requestsInFlight prometheus.Gauge
	bytesInFlight    prometheus.Gauge
	requestsWaiting  prometheus.Gauge
	admitSeconds     prometheus.Histogram
	keys             *prometheus.CounterVec
	keysUnmarked     prometheus.Counter

	sessionsForgotten prometheus.Counter
	sitesOfOneAddress prometheus.Gauge
}

// refusals has the counters of refused requests and events for one reason.
type refusals struct{ requests, events prometheus.Counter }

// NewMetrics creates the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	counters := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	m := &Metrics{
		accepted:         counter("octavo_intake_events_accepted_total", "Events acknowledged: they are durable in the log."),
		requests:         counter("octavo_intake_requests_accepted_total", "Requests acknowledged, with all of their events."),
		requestsInFlight: gauge("octavo_intake_requests_in_flight", "Requests taken in and not answered yet."),
		bytesInFlight:    gauge("octavo_intake_bytes_in_flight", "Bytes of the bodies of requests taken in and not answered yet."),
		requestsWaiting:  gauge("octavo_intake_requests_waiting", "Requests waiting for room among those in flight."),
		admitSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "octavo_intake_admit_seconds",
			Help: "Time that requests waited for room, refused requests included; requests that never waited count " +
				"in no bucket.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
		keys: counters("octavo_intake_keys_total", "Requests with an Idempotency-Key, by outcome: new; repeat (already in the log); found or appended (an earlier attempt did not finish, and the log had its events or did not); busy (another attempt is running); reused (with another body); failed.", "outcome"),
		keysUnmarked: counter("octavo_intake_keys_unmarked_total",
			"Requests with an Idempotency-Key whose outcome could not be written to Postgres: a repeat looks for its events in the log."),
	}
	m.sessionsForgotten = counter("octavo_intake_sessions_forgotten_total",
		"Sessions of browsers that this node forgot before their end, because more visitors came than it has room for.")
	m.sitesOfOneAddress = gauge("octavo_intake_sites_of_one_address",
		"Sites whose browsers nearly all have the same address: a proxy that OCTAVO_TRUSTED_PROXIES should name.")
	requests := counters("octavo_intake_requests_refused_total", "Requests refused, by reason.", "reason")
	events := counters("octavo_intake_events_refused_total",
		"Events refused, by reason: those of refused requests, as far as their bodies could be read, and those of "+
			"unknown types in requests that were accepted without them. Requests without room (overloaded, "+
			"site_overloaded), and those that a publishable key's rules refuse, are unread.", "reason")
	m.refused = make(map[*insights.Reason]refusals, len(insights.Reasons))
	for _, reason := range insights.Reasons {
		m.refused[reason] = refusals{requests.WithLabelValues(reason.Label), events.WithLabelValues(reason.Label)}
	}
	r.MustRegister(m.accepted, m.requests, m.requestsInFlight, m.bytesInFlight, m.requestsWaiting, m.admitSeconds, m.keys, m.keysUnmarked, requests, events)
	r.MustRegister(m.sessionsForgotten, m.sitesOfOneAddress)
	return m
}

func (m *Metrics) refuse(reason *insights.Reason, events int) {
	m.refused[reason].requests.Inc()
	m.refused[reason].events.Add(float64(events))
}
