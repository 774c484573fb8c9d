package erasure

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the measurements of a Job. nil measures nothing.
type Metrics struct {
	pending, oldest prometheus.Gauge
	done, expired   prometheus.Counter
}

// NewMetrics creates the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		pending: prometheus.NewGauge(prometheus.GaugeOpts{Name: "octavo_erasures_pending",
			Help: "Visitors with a pending erasure, on all nodes; nodes with the role sink report it."}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{Name: "octavo_erasures_oldest_seconds",
			Help: "Age of the oldest pending erasure."}),
		done: prometheus.NewCounter(prometheus.CounterOpts{Name: "octavo_erasures_done_total",
			Help: "Visitors whose erasure this node has completed."}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{Name: "octavo_events_expired_total",
			Help: "Events that this node deleted because their site no longer keeps them."}),
	}
	r.MustRegister(m.pending, m.oldest, m.done, m.expired)
	return m
}

func (m *Metrics) pendingIs(n int64, oldest time.Duration) {
	if m != nil {
		m.pending.Set(float64(n))
		m.oldest.Set(oldest.Seconds())
	}
}

func (m *Metrics) finished(n int64) {
	if m != nil {
		m.done.Add(float64(n))
	}
}

func (m *Metrics) expiredRows(n uint64) {
	if m != nil {
		m.expired.Add(float64(n))
	}
}
