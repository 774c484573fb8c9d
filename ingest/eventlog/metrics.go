package eventlog

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the measurements of a Log.
type Metrics struct {
	appendSeconds   prometheus.Histogram
	produceMessages prometheus.Histogram
	produceBytes    prometheus.Histogram
	produceErrors   prometheus.Counter
	producersLost   prometheus.Counter
	unsafe          *prometheus.GaugeVec
}

// NewMetrics creates the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	m := &Metrics{
		appendSeconds: histogram("octavo_log_append_seconds",
			"Time until a request's message was durable in the log, or given up.", prometheus.ExponentialBuckets(0.0005, 2, 16)),
		produceMessages: histogram("octavo_log_produce_messages",
			"Messages (requests) joined into one produce.", prometheus.ExponentialBuckets(1, 2, 13)),
		produceBytes: histogram("octavo_log_produce_bytes",
			"Bytes of one produce.", prometheus.ExponentialBuckets(256, 4, 9)),
		produceErrors: prometheus.NewCounter(prometheus.CounterOpts{Name: "octavo_log_produce_errors_total",
			Help: "Attempts to produce that failed, retried attempts included."}),
		producersLost: prometheus.NewCounter(prometheus.CounterOpts{Name: "octavo_log_producers_lost_total",
			Help: "Times that Kafka had lost events that it had acknowledged to this node: after an unclean " +
				"election, or in a recreated topic."}),
		unsafe: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "octavo_log_settings_unsafe",
			Help: "1 for each setting of Kafka or ClickHouse that can lose, duplicate or refuse events; the node's log says why."}, []string{"setting"}),
	}
	r.MustRegister(m.appendSeconds, m.produceMessages, m.produceBytes, m.produceErrors, m.producersLost, m.unsafe)
	for _, setting := range checkedSettings() {
		m.SettingUnsafe(setting, false)
	}
	return m
}

// SettingUnsafe sets the metric that shows whether a setting of Kafka or ClickHouse is unsafe.
func (m *Metrics) SettingUnsafe(setting string, unsafe bool) {
	value := 0.0
	if unsafe {
		value = 1
	}
	m.unsafe.WithLabelValues(setting).Set(value)
}
