package query

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Kind is a kind of query, for metrics: a closed set.
type Kind string

// The kinds of queries.
const (
	KindAggregate Kind = "aggregate"
	KindSegments  Kind = "segments"
)

// Kinds lists the closed set.
func Kinds() []Kind { return []Kind{KindAggregate, KindSegments} }

// Metrics are what operators see of queries. All series exist from the start,
// so that a rate over a first failure is not lost.
type Metrics struct {
	seconds  map[Kind]prometheus.Observer
	rowsRead map[Kind]prometheus.Counter
	errors   map[Kind]map[Class]prometheus.Counter
	bounded  prometheus.Counter

	running, waiting prometheus.Gauge
	waitSeconds      prometheus.Histogram
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
		Help: "Queries that failed, by kind and class: invalid (the request), too_heavy (its own limits), over_share (too many at once of its token or organization), full (too many at once of all), unavailable (the store), canceled (the node stops), internal (a fault of ours).",
	}, []string{"kind", "class"})
	m := &Metrics{
		seconds: map[Kind]prometheus.Observer{}, rowsRead: map[Kind]prometheus.Counter{}, errors: map[Kind]map[Class]prometheus.Counter{},
		bounded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "octavo_query_bounded_total",
			Help: "Queries that were run a second time with their different values counted in bounded memory, because counting exactly outgrew the memory limit.",
		}),
	}
	m.running = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_running",
		Help: "Queries that the insights store works on for this node.",
	})
	m.waiting = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "octavo_query_waiting",
		Help: "Queries that wait for others to end: of their token, of their organization, or of all.",
	})
	m.waitSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "octavo_query_wait_seconds",
		Help:    "How long queries waited that could not run at once, also those that were sent away.",
		Buckets: []float64{.001, .01, .1, .5, 1, 2.5, 5, 10, 30},
	})
	for _, kind := range Kinds() {
		m.seconds[kind] = seconds.WithLabelValues(string(kind))
		m.rowsRead[kind] = rowsRead.WithLabelValues(string(kind))
		m.errors[kind] = map[Class]prometheus.Counter{}
		for _, class := range Classes() {
			m.errors[kind][class] = failures.WithLabelValues(string(kind), string(class))
		}
	}
	r.MustRegister(seconds, rowsRead, failures, m.bounded, m.running, m.waiting, m.waitSeconds)
	return m
}
