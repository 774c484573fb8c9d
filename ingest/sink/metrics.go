package sink

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/eventstore"
)

// Metrics are the measurements of a Sink.
type Metrics struct {
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
	recreated    prometheus.Counter
	fetchErrors  prometheus.Counter
	commitErrors prometheus.Counter
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	m := &Metrics{
		taken: counter("octavo_sink_messages_taken_total",
			"Messages read from the log to be stored. A message that a later owner of the partition reads again counts again."),
		logLag: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "octavo_sink_log_lag_messages",
			Help: "Messages in the log that are not stored yet, by partition; the sink that owns the partition " +
				"reports it."}, []string{"partition"}),
		batchRows:  histogram("octavo_sink_batch_rows", "Rows of one insert.", prometheus.ExponentialBuckets(1, 4, 10)),
		insertTime: histogram("octavo_sink_insert_seconds", "Duration of a successful insert.", prometheus.ExponentialBuckets(0.0005, 2, 16)),
		storeErrors: counters("octavo_sink_store_errors_total",
			"Failed requests to the store, by reason. All are retried.", "reason"),
		deadLettered: counters("octavo_sink_events_dead_lettered_total",
			"Events that cannot be stored and were written to the dead-letter topic, by reason. A message that cannot be read counts as one.", "reason"),
		freshness: histogram("octavo_sink_freshness_seconds",
			"Age of a batch's oldest message when its insert was acknowledged and became visible to queries.", prometheus.ExponentialBuckets(0.05, 2, 15)),
		stored: counter("octavo_sink_events_stored_total", "Events stored: their insert was acknowledged."),
		skipped: counters("octavo_sink_events_skipped_total",
			"Events that the sink did not store again, by reason: position (stored before a restart), repeat (a message that the log holds twice), erased (of a visitor who was erased after the event was received).", "why"),
		unreadable: counter("octavo_sink_unreadable_messages_total", "Messages that cannot be read. They are written to the dead-letter topic."),
		recreated: counter("octavo_sink_logs_made_anew_total",
			"Partitions whose topic turned out to have been recreated. Messages of the old topic that were not stored are lost; octavo_sink_lost_messages_total counts those that are known."),
		fetchErrors:  counter("octavo_sink_fetch_errors_total", "Reads of the log that failed; each is retried."),
		commitErrors: counter("octavo_sink_commit_errors_total", "Offset commits that failed; one that must precede an insert is retried."),
		stalled:      newStalled(),
		backlog:      newBacklog(),
	}
	// Create each series with the value 0. Otherwise the function increase() of Prometheus, which alerts use, would not
	// notice the first increment of a new series.
	for _, reason := range append(eventstore.Reasons(true), unreadableReason) {
		m.deadLettered.WithLabelValues(reason)
	}
	for _, reason := range append(eventstore.Reasons(false), newerReason) {
		m.storeErrors.WithLabelValues(reason)
	}
	r.MustRegister(m.taken, m.logLag, m.batchRows, m.insertTime, m.storeErrors, m.deadLettered, m.stalled, m.freshness,
		m.stored, m.skipped, m.unreadable, m.backlog, m.recreated, m.fetchErrors, m.commitErrors)
	return m
}
