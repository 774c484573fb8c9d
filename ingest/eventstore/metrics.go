package eventstore

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts the comparisons of Visits. A nil Metrics counts nothing.
type Metrics struct {
	visits *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{visits: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "octavo_visits_checked_total",
		Help: "Comparisons of the projection of visits with events, by result."}, []string{"result"})}
	for _, result := range []string{"same", "different", "busy", "large", "failed"} {
		m.visits.WithLabelValues(result)
	}
	r.MustRegister(m.visits)
	return m
}

// checked counts a comparison.
func (m *Metrics) checked(result string) {
	if m != nil {
		m.visits.WithLabelValues(result).Inc()
	}
}
