package eventstore

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the measurements of a Layout.
type Metrics struct{ rows, copied prometheus.Gauge }

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		rows: prometheus.NewGauge(prometheus.GaugeOpts{Name: "octavo_layout_rows",
			Help: "Rows of the events table when its move to another layout last counted them; 0 if this node moves none."}),
		copied: prometheus.NewGauge(prometheus.GaugeOpts{Name: "octavo_layout_rows_copied",
			Help: "How many of these rows the table with the new layout has."}),
	}
	r.MustRegister(m.rows, m.copied)
	return m
}
