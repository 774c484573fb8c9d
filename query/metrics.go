package query

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/query/resultcache"
)

// Metrics has the metrics of queries. All series exist from the start, so that a rate also includes the first failure.
type Metrics struct {
	seconds  map[Report]prometheus.Observer
	rowsRead map[Report]prometheus.Counter
	errors   map[Report]map[class]prometheus.Counter
	bounded  prometheus.Counter

	running, waiting         prometheus.Gauge
	runningRows, waitingRows prometheus.Gauge
	waitSeconds              prometheus.Histogram
	answers                  map[Report]map[resultcache.Source]prometheus.Counter
	keptBytes, keptLive      prometheus.Gauge
	states                   map[stateOutcome]prometheus.Counter
}

// NewMetrics registers the metrics of queries.
func NewMetrics(r prometheus.Registerer) *Metrics {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "octavo_query_seconds",
		Help:    "Time from a request's bytes to its answer's bytes, of queries that succeeded, by kind.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
	}, []string{"kind"})
	rowsRead := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octavo_query_rows_read_total",
		Help: "Rows that the insights store read to answer queries, by kind.",
	}, []string{"kind"})
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octavo_query_errors_total",
		Help: "Queries that failed, by kind and class: invalid (the request is wrong), too_heavy (over its own " +
			"limits), over_share (too many at once for its token or organization), full (too many at once on the " +
			"node), unavailable (the store), canceled (the client has gone, or the node is stopping), " +
			"damaged (stored data is damaged), internal (a bug or an unknown error).",
	}, []string{"kind", "class"})
	m := &Metrics{
		seconds: map[Report]prometheus.Observer{}, rowsRead: map[Report]prometheus.Counter{}, errors: map[Report]map[class]prometheus.Counter{},
		answers: map[Report]map[resultcache.Source]prometheus.Counter{},
		bounded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "octavo_query_bounded_total",
			Help: "Queries that ran again with approximate counts of distinct values, because exact counts " +
				"exceeded the memory limit.",
		}),
	}
	m.running = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_running",
		Help: "Queries of this node that are running in the insights store.",
	})
	m.waiting = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_waiting",
		Help: "Queries that wait for a slot of their token, organization or node, or for room for their rows.",
	})
	m.runningRows = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_running_rows",
		Help: "Rows that the running queries of this node count as, by an estimate made before they ran. Light queries count as none.",
	})
	m.waitingRows = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_waiting_rows",
		Help: "Rows that the waiting queries of this node count as.",
	})
	answers := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octavo_query_answers_total",
		Help: "Queries that succeeded, by kind and where the answer came from: run (in the insights store), shared (with an equal query that was running), kept (from an equal query that had run a moment before).",
	}, []string{"kind", "from"})
	m.keptBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_kept_bytes",
		Help: "Bytes of cached answers to equal queries.",
	})
	m.keptLive = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_kept_live_bytes",
		Help: "Bytes of cached live answers, shared by all callers of a site.",
	})
	states := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octavo_query_states_total",
		Help: "Aggregate states of long ranges: answers read from them (read), spans of time whose states were " +
			"computed (made), attempts that ended because parts or states were replaced (replaced), and attempts " +
			"that failed (failed): the log says why.",
	}, []string{"outcome"})
	m.states = map[stateOutcome]prometheus.Counter{}
	for _, outcome := range []stateOutcome{statesRead, statesMade, statesReplaced, statesFailed} {
		m.states[outcome] = states.WithLabelValues(string(outcome))
	}
	m.waitSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "octavo_query_wait_seconds",
		Help:    "Time that queries waited for a slot or for room for their rows, refused queries included.",
		Buckets: []float64{.001, .01, .1, .5, 1, 2.5, 5, 10, 30},
	})
	for _, kind := range kinds() {
		m.seconds[kind] = seconds.WithLabelValues(string(kind))
		m.rowsRead[kind] = rowsRead.WithLabelValues(string(kind))
		m.answers[kind] = map[resultcache.Source]prometheus.Counter{}
		for _, from := range resultcache.Sources() {
			m.answers[kind][from] = answers.WithLabelValues(string(kind), string(from))
		}
		m.errors[kind] = map[class]prometheus.Counter{}
		for _, class := range classes() {
			m.errors[kind][class] = failures.WithLabelValues(string(kind), string(class))
		}
	}
	r.MustRegister(
		seconds, rowsRead, failures, m.bounded, m.running, m.waiting, m.waitSeconds, m.runningRows, m.waitingRows,
		answers, m.keptBytes, m.keptLive, states)
	return m
}

// class is the reason why a query failed, for metrics: a closed set.
type class string

// These are the classes of failed queries.
const (
	classInvalid     class = "invalid"     // the request is wrong
	classTooHeavy    class = "too_heavy"   // the query exceeded a limit of the service
	classOverShare   class = "over_share"  // too many concurrent queries of its token or organization
	classFull        class = "full"        // too many concurrent queries on the node
	classUnavailable class = "unavailable" // the engine does not answer, or is full
	classCanceled    class = "canceled"    // the client has disconnected, or the node is stopping
	classDamaged     class = "damaged"     // stored data is damaged
	classInternal    class = "internal"    // a bug or an unknown error
)

// classes lists the closed set.
func classes() []class {
	return []class{
		classInvalid, classTooHeavy, classOverShare, classFull, classUnavailable, classCanceled, classDamaged,
		classInternal,
	}
}

// stateOutcome is the outcome of reading or building states, for metrics: a closed set.
type stateOutcome string

const (
	statesRead     stateOutcome = "read"
	statesMade     stateOutcome = "made"
	statesReplaced stateOutcome = "replaced"
	statesFailed   stateOutcome = "failed"
)
