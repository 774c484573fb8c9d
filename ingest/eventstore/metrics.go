package eventstore

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the measurements of a Layout. nil measures nothing.
type Metrics struct {
	rows, copied prometheus.Gauge
	visits       *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		rows: prometheus.NewGauge(prometheus.GaugeOpts{Name: "octavo_layout_rows",
			Help: "Rows of the events table when its move to another layout last counted them; 0 if this node moves none."}),
		copied: prometheus.NewGauge(prometheus.GaugeOpts{Name: "octavo_layout_rows_copied",
			Help: "How many of these rows the table with the new layout has."}),
	}
	m.visits = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "octavo_visits_checked_total",
		Help: "Comparisons of the projection of visits with the events of a site's day, which this node drew by chance, by result: busy if the events changed meanwhile. If they differ, the projection is made anew."}, []string{"result"})
	for _, result := range []string{"same", "different", "busy", "failed"} {
		m.visits.WithLabelValues(result)
	}
	r.MustRegister(m.rows, m.copied, m.visits)
	return m
}

// checked counts a comparison; m may be nil.
func (m *Metrics) checked(result string) {
	if m != nil {
		m.visits.WithLabelValues(result).Inc()
	}
}
