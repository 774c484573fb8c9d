package frame

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/schema"
)

// Metrics records facts about requests, answers and connections.
type Metrics interface {
	// ObserveRequest counts an answered request; `operation` is an operationId, "none" or "malformed".
	ObserveRequest(operation string, status int, duration time.Duration, bytesIn, bytesOut int)
	// ObservePanic counts a function that panicked.
	ObservePanic(operation string)
	// ObserveConnectionEnded counts a connection that was refused, or closed early.
	ObserveConnectionEnded(reason string)
	// ObserveUnsent records the number of bytes of answers that clients have not read yet.
	ObserveUnsent(bytes int64)
	// ObserveCappedKey counts a publishable key that has reached its daily cap of events, once a day.
	ObserveCappedKey()
	// ObserveDamage counts a request that failed because data in a store is damaged (schema.Damage).
	ObserveDamage(store string)
}

// PrometheusMetrics implements Metrics with the Prometheus metrics that /metrics shows.
type PrometheusMetrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytesIn  *prometheus.CounterVec
	bytesOut *prometheus.CounterVec
	panics   *prometheus.CounterVec
	ended    *prometheus.CounterVec
	unsent   prometheus.Gauge
	capped   prometheus.Counter
	damaged  *prometheus.CounterVec
	// series caches the metrics of each pair of operation and status, so that ObserveRequest allocates nothing.
	series sync.Map
}

type seriesKey struct {
	operation string
	status    int
}

type requestSeries struct {
	requests prometheus.Counter
	duration prometheus.Observer
	bytesIn  prometheus.Counter
	bytesOut prometheus.Counter
}

// NewPrometheusMetrics registers the request metrics.
func NewPrometheusMetrics(registerer prometheus.Registerer) (*PrometheusMetrics, error) {
	m := &PrometheusMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_http_requests_total", Help: "Requests answered, by operation and status.",
		}, []string{"operation", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "octavo_http_request_duration_seconds", Help: "Time from the read request to the written answer, by operation.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation"}),
		bytesIn: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_http_request_bytes_total", Help: "Bytes of request bodies as they were sent, by operation.",
		}, []string{"operation"}),
		bytesOut: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_http_response_bytes_total", Help: "Bytes of response bodies, by operation.",
		}, []string{"operation"}),
		panics: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_http_panics_total", Help: "Requests whose operation panicked, by operation.",
		}, []string{"operation"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_http_connections_ended_total",
			Help: "Connections refused (address: too many of one address, all: too many), closed to make room " +
				"for others (idle), or closed because the client did not read its answer (stalled).",
		}, []string{"reason"}),
		unsent: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "octavo_http_unsent_bytes",
			Help: "Memory of answers that clients have not read yet; OCTAVO_ANSWER_MEMORY_BYTES bounds it.",
		}),
		capped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "octavo_door_capped_keys_total",
			Help: "Publishable keys that had more than their daily cap of events (UTC) on this node, once for each " +
				"key and day. " +
				"Further requests of the day are refused as `daily_cap`.",
		}),
		damaged: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_http_damaged_total",
			Help: "Requests answered 503 because stored data is damaged, by store (clickhouse, postgres). " +
				"The log has each of them as an error.",
		}, []string{"store"}),
	}
	// Create each series at zero. Without the zero, Prometheus's increase() would not see the first damage, and there
	// would be no alert.
	m.damaged.WithLabelValues(schema.StoreEvents)
	m.damaged.WithLabelValues(schema.StorePostgres)
	for _, c := range []prometheus.Collector{
		m.requests, m.duration, m.bytesIn, m.bytesOut, m.panics, m.ended, m.unsent, m.capped, m.damaged,
	} {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ObserveRequest counts an answered request.
func (m *PrometheusMetrics) ObserveRequest(operation string, status int, duration time.Duration, bytesIn, bytesOut int) {
	key := seriesKey{operation, status}
	found, ok := m.series.Load(key)
	if !ok {
		found, _ = m.series.LoadOrStore(key, &requestSeries{
			requests: m.requests.WithLabelValues(operation, strconv.Itoa(status)),
			duration: m.duration.WithLabelValues(operation),
			bytesIn:  m.bytesIn.WithLabelValues(operation),
			bytesOut: m.bytesOut.WithLabelValues(operation),
		})
	}
	s := found.(*requestSeries)
	s.requests.Inc()
	s.duration.Observe(duration.Seconds())
	s.bytesIn.Add(float64(bytesIn))
	s.bytesOut.Add(float64(bytesOut))
}

// ObservePanic counts a function that panicked.
func (m *PrometheusMetrics) ObservePanic(operation string) {
	m.panics.WithLabelValues(operation).Inc()
}

// ObserveUnsent records the number of bytes of answers that clients have not read yet.
func (m *PrometheusMetrics) ObserveUnsent(bytes int64) { m.unsent.Set(float64(bytes)) }

// ObserveCappedKey counts a publishable key that has reached its daily cap of events.
func (m *PrometheusMetrics) ObserveCappedKey() { m.capped.Inc() }

// ObserveDamage counts a request that failed because data in a store is damaged.
func (m *PrometheusMetrics) ObserveDamage(store string) { m.damaged.WithLabelValues(store).Inc() }

// ObserveConnectionEnded counts a connection that was refused, or closed early.
func (m *PrometheusMetrics) ObserveConnectionEnded(reason string) {
	m.ended.WithLabelValues(reason).Inc()
}
