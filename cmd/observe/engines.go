package observe

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// engines shows what the embedded engines use, measured whenever Prometheus
// asks. It shows nothing if none is embedded.
type engines struct {
	usage atomic.Pointer[func() []embedded.Usage]
}

func newEngines() *engines { return &engines{} }

// engineGauges has a row for each metric. One of which a value of 0 says nothing
// is left out then.
var engineGauges = []struct {
	desc *prometheus.Desc
	zero bool
	of   func(embedded.Usage) float64
}{
	{engineDesc("octavo_engine_up", "1 for an embedded engine that answers, 0 for one that starts or is restarted."), true, func(u embedded.Usage) float64 {
		if u.Up {
			return 1
		}
		return 0
	}},
	{engineDesc("octavo_engine_memory_bytes", "Resident memory of an embedded engine's processes; what they share counts once."), false, func(u embedded.Usage) float64 {
		return float64(u.Memory)
	}},
	{engineDesc("octavo_engine_disk_bytes", "Size of the embedded broker's files, which are the event log; that of the other engines is not measured."), false, func(u embedded.Usage) float64 {
		return float64(u.Disk)
	}},
	{engineDesc("octavo_engine_disk_max_bytes", "Bound of the embedded broker's log (OCTAVO_KAFKA_MAX_BYTES): posts are refused when what is not stored yet reaches it."), false, func(u embedded.Usage) float64 {
		return float64(u.MaxDisk)
	}},
}

func engineDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"engine"}, nil)
}

// WatchEngines shows embedded engines in the metrics, by what usage tells of
// them.
func (m *Metrics) WatchEngines(usage func() []embedded.Usage) {
	for _, u := range usage() {
		// A counter that begins with its first event hides that from increase().
		m.restarts.WithLabelValues(u.Name)
	}
	m.engines.usage.Store(&usage)
}

// Describe implements prometheus.Collector.
func (e *engines) Describe(out chan<- *prometheus.Desc) {
	for _, g := range engineGauges {
		out <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (e *engines) Collect(out chan<- prometheus.Metric) {
	usage := e.usage.Load()
	if usage == nil {
		return
	}
	for _, u := range (*usage)() {
		for _, g := range engineGauges {
			if value := g.of(u); value != 0 || g.zero {
				out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, value, u.Name)
			}
		}
	}
}
