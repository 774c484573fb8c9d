package ingest

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Metrics are the measurements of intake, log and sink. One value serves all
// three: what a process does not run stays at zero.
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
	accounts         *accounts
	sites            *siteMetrics

	appendSeconds   prometheus.Histogram
	produceMessages prometheus.Histogram
	produceBytes    prometheus.Histogram
	produceErrors   prometheus.Counter
	producersLost   prometheus.Counter
	unsafe          *prometheus.GaugeVec

	taken        prometheus.Counter
	logLag       *prometheus.GaugeVec
	batchRows    prometheus.Histogram
	insertTime   prometheus.Histogram
	storeErrors  *prometheus.CounterVec
	deadLettered *prometheus.CounterVec
	stalled      *stalled
	freshness    prometheus.Histogram
	stored       prometheus.Counter
	skipped      *prometheus.CounterVec
	unreadable   prometheus.Counter
	backlog      *backlog
	logsAnew     prometheus.Counter
	fetchErrors  prometheus.Counter
	commitErrors prometheus.Counter

	layoutRows   prometheus.Gauge
	layoutCopied prometheus.Gauge
}

// NewMetrics makes the metrics and registers them. It is the one place that
// names them: cmd/gen writes METRICS.md from what it registers.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
		r.MustRegister(h)
		return h
	}
	counters := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		r.MustRegister(c)
		return c
	}
	gauges := func(name, help, label string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
		r.MustRegister(g)
		return g
	}
	seconds := prometheus.ExponentialBuckets(0.0005, 2, 16)

	m := &Metrics{
		accepted:         counter("octavo_intake_events_accepted_total", "Events acknowledged: they are durable in the log."),
		requests:         counter("octavo_intake_requests_accepted_total", "Requests acknowledged, with all of their events."),
		requestsInFlight: gauge("octavo_intake_requests_in_flight", "Requests taken in and not answered yet."),
		bytesInFlight:    gauge("octavo_intake_bytes_in_flight", "Bytes of the bodies of requests taken in and not answered yet."),
		requestsWaiting:  gauge("octavo_intake_requests_waiting", "Requests that wait for room among those in flight."),
		admitSeconds:     histogram("octavo_intake_admit_seconds", "Time that requests waited for room, of those that had to, let in or not.", seconds),
		keys:             counters("octavo_intake_keys_total", "Requests with an Idempotency-Key, by how it went: new, repeat (in the log already), found and appended (an attempt before did not end, and the log had its events or had not), busy (another attempt goes on), reused (with another body), failed.", "outcome"),
		keysUnmarked:     counter("octavo_intake_keys_unmarked_total", "Requests with an Idempotency-Key whose end could not be written to Postgres: a repeat of one looks for its events in the log."),
		accounts:         newAccounts(),

		appendSeconds:   histogram("octavo_log_append_seconds", "Time until a request's message was durable in the log, or given up.", seconds),
		produceMessages: histogram("octavo_log_produce_messages", "Messages (requests) joined into one produce.", prometheus.ExponentialBuckets(1, 2, 13)),
		produceBytes:    histogram("octavo_log_produce_bytes", "Bytes of one produce.", prometheus.ExponentialBuckets(256, 4, 9)),
		produceErrors:   counter("octavo_log_produce_errors_total", "Attempts to produce that failed; most are tried again."),
		producersLost:   counter("octavo_log_producers_lost_total", "Times that Kafka had other events of this node than it had acknowledged: some were lost by an unclean election, or the topic was made anew."),
		unsafe:          gauges("octavo_log_settings_unsafe", "1 for what can lose or double events, or refuse them, as Kafka or ClickHouse are set up now; the node's log says why.", "setting"),

		taken:        counter("octavo_sink_messages_taken_total", "Messages read from the log to be stored; one that a later owner of the partition reads again counts again."),
		logLag:       gauges("octavo_sink_log_lag_messages", "Messages in the log that are not stored yet, by partition, on the sink that has it.", "partition"),
		batchRows:    histogram("octavo_sink_batch_rows", "Rows of one insert.", prometheus.ExponentialBuckets(1, 4, 10)),
		insertTime:   histogram("octavo_sink_insert_seconds", "Time of one insert that succeeded.", seconds),
		storeErrors:  counters("octavo_sink_store_errors_total", "Inserts that failed for the state that the store is in, and questions to it that failed, by reason; each is tried again until it succeeds. The reason newer: a later version wrote the next message, and the sink waits to be upgraded.", "reason"),
		deadLettered: counters("octavo_sink_events_dead_lettered_total", "Events that cannot be stored and were written to the dead-letter topic, by reason; a message that cannot be read counts as one.", "reason"),
		freshness:    histogram("octavo_sink_freshness_seconds", "Age of a batch's oldest message when its insert was acknowledged: from then on queries see it.", prometheus.ExponentialBuckets(0.05, 2, 15)),
		stored:       counter("octavo_sink_events_stored_total", "Events stored: their insert was acknowledged."),
		skipped:      counters("octavo_sink_events_skipped_total", "Events that the sink did not store again, by why: position (stored before a restart), repeat (a message that the log holds twice).", "why"),
		unreadable:   counter("octavo_sink_unreadable_messages_total", "Messages that cannot be read. They are written to the dead-letter topic."),
		logsAnew:     counter("octavo_sink_logs_made_anew_total", "Partitions whose topic was found to be made anew. What was in it and not stored is lost, of which octavo_sink_lost_messages_total has what is known."),
		fetchErrors:  counter("octavo_sink_fetch_errors_total", "Reads of the log that failed; each is tried again."),
		layoutRows:   gauge("octavo_layout_rows", "Rows of the events table when it was last looked at for its move to another layout; 0 if this node moves none."),
		layoutCopied: gauge("octavo_layout_rows_copied", "Of these, rows that the table of the new layout has."),
		commitErrors: counter("octavo_sink_commit_errors_total", "Commits to the group that failed; one that must come before an insert is tried again."),
	}
	// A counter that begins with its first event hides that from increase(), and so from the alerts.
	for _, reason := range append(faultReasons(true), unreadableReason) {
		m.deadLettered.WithLabelValues(reason)
	}
	for _, reason := range append(faultReasons(false), newerReason) {
		m.storeErrors.WithLabelValues(reason)
	}
	m.sites = newSiteMetrics(m.accounts)
	m.stalled, m.backlog = newStalled(), newBacklog()
	r.MustRegister(m.stalled, m.backlog, m.sites)
	for _, setting := range checkedSettings() {
		m.settingUnsafe(setting, false)
	}
	requests := counters("octavo_intake_requests_refused_total", "Requests refused, by reason.", "reason")
	events := counters("octavo_intake_events_refused_total", "Events of refused requests, as far as their bodies could be read, by the request's reason; a request that finds no room (overloaded, site_overloaded) is refused unread.", "reason")
	m.refused = make(map[*insights.Reason]refusals, len(insights.Reasons))
	for i, reason := range insights.Reasons {
		m.refused[reason] = refusals{requests.WithLabelValues(reason.Label), events.WithLabelValues(reason.Label), i}
	}
	return m
}

// refusals are the counters of one reason.
type refusals struct {
	requests, events prometheus.Counter
	index            int // in insights.Reasons
}

// refuse counts a refused request and its events.
func (m *Metrics) refuse(a *account, reason *insights.Reason, events int) {
	counters := m.refused[reason]
	counters.requests.Inc()
	counters.events.Add(float64(events))
	a.refused[counters.index].Add(uint64(events))
}

// refuseUnread counts a request that was refused before its body was read.
func (m *Metrics) refuseUnread(a *account, reason *insights.Reason) {
	counters := m.refused[reason]
	counters.requests.Inc()
	a.unread[counters.index].Add(1)
}

// settingUnsafe shows whether a setting of Kafka or ClickHouse is unsafe.
func (m *Metrics) settingUnsafe(setting string, unsafe bool) {
	value := 0.0
	if unsafe {
		value = 1
	}
	m.unsafe.WithLabelValues(setting).Set(value)
}
