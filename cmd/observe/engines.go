package observe

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// engines collects the resource use of the embedded engines on each scrape. Without embedded engines it exports no
// metrics.
type engines struct {
	usage atomic.Pointer[func() []embedded.Usage]
}

func newEngines() *engines { return &engines{} }

// engineGauges has a row for each metric. If `zero` is false, a value of 0 means "not measured", and the metric is not
// exported.
var engineGauges = []struct {
	desc *prometheus.Desc
	zero bool
	of   func(embedded.Usage) float64
}{
	{engineDesc("octavo_engine_up", "1 if the embedded engine answers, 0 while it starts or restarts."), true, func(u embedded.Usage) float64 {
		if u.Up {
			return 1
		}
		return 0
	}},
	{engineDesc("octavo_engine_memory_bytes", "Resident memory of an embedded engine's processes. Shared pages count once."), false, func(u embedded.Usage) float64 {
		return float64(u.Memory)
	}},
	{engineDesc("octavo_engine_disk_bytes", "Size of the embedded broker's event log on disk. Not measured for the other engines."), false, func(u embedded.Usage) float64 {
		return float64(u.Disk)
	}},
	{engineDesc("octavo_engine_disk_max_bytes", "Maximum size of the embedded broker's log (OCTAVO_KAFKA_MAX_BYTES). Posts are refused when events that are not stored yet fill it."), false, func(u embedded.Usage) float64 {
		return float64(u.MaxDisk)
	}},
	{engineDesc("octavo_engine_load", "Part of the full load that the node gives to the embedded store: concurrent "+
		"queries, their threads, and rows of an insert. It halves when an engine is killed, as the kernel does when "+
		"memory runs out, and doubles after ten minutes without that."), false, func(u embedded.Usage) float64 {
		return u.Load
	}},
	{engineDesc("octavo_engine_log_damaged_files", "Files *.damaged of the embedded broker's log. Each keeps bytes "+
		"that a disk has damaged, whether they were stored before or not; octavo_sink_lost_messages_total counts the "+
		"messages that were not. Absent if there are none."), false, func(u embedded.Usage) float64 {
		return float64(u.Damaged)
	}},
}

func engineDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"engine"}, nil)
}

// WatchEngines adds the embedded engines to the metrics. `usage` returns their measured resource use.
func (m *Metrics) WatchEngines(usage func() []embedded.Usage) {
	for _, u := range usage() {
		// Start each counter at 0. If the counter appeared with the first restart, increase() would miss this restart.
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
