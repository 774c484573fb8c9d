package observe

import "github.com/prometheus/client_golang/prometheus"

// NewMissingRows registers the metric of the events that the insights store is known to lack.
func NewMissingRows(r prometheus.Registerer) prometheus.Gauge {
	return gaugeOf(r, "octavo_events_missing_rows",
		"Events that were stored and that the insights store no longer has, of all sites, without accepted "+
			"losses. Nodes restore what the log still has. `octavo repair` says what is left to do.")
}

// NewDoubledRows registers the metric of the events that the insights store is known to have twice.
func NewDoubledRows(r prometheus.Registerer) prometheus.Gauge {
	return gaugeOf(r, "octavo_events_doubled_rows",
		"Events that the insights store has beyond the first of equal ones, of all sites. "+
			"`octavo repair --yes` leaves one of each.")
}

func gaugeOf(r prometheus.Registerer, name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	r.MustRegister(g)
	return g
}

// NewDamaged registers the metric of the damage that the last verification found.
func NewDamaged(r prometheus.Registerer) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "octavo_verify_damaged",
		Help: "Damaged pieces of stored data that the last verification found, by kind of data. A node verifies " +
			"once a week, and `octavo verify` at once.",
	}, []string{"kind"})
	r.MustRegister(g)
	return g
}
