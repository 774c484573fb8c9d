// Package observe registers the metrics of every part in one registry. It is separate from the server, so that cmd/gen
// documents exactly the exported metrics. Only cmd/octavo and cmd/gen import it.
package observe

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/remote/webhooks"
	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/query"
)

// Metrics has the metrics of one process.
type Metrics struct {
	API      *frame.PrometheusMetrics
	Intake   *intake.Metrics
	Log      *eventlog.Metrics
	Sink     *sink.Metrics
	Table    *eventstore.Metrics
	Erasure  *erasure.Metrics
	Balances *balance.Sites
	Query    *query.Metrics
	Jobs     *jobs.Metrics
	Webhooks *webhooks.Metrics
	Clock    *Clock
	// MissingRows is the number of events that the insights store is known to lack.
	MissingRows prometheus.Gauge
	// DoubledRows is the number of events that the insights store is known to have twice.
	DoubledRows prometheus.Gauge
	// Damaged is the number of damaged pieces that the last verification found, by kind of data.
	Damaged *prometheus.GaugeVec

	restarts *prometheus.CounterVec
	engines  *engines
}

// New registers all metrics of the product.
func New(r prometheus.Registerer) (*Metrics, error) {
	requests, err := frame.NewPrometheusMetrics(r)
	if err != nil {
		return nil, fmt.Errorf("cannot register the API's metrics: %w", err)
	}
	m := &Metrics{
		API: requests, Query: query.NewMetrics(r), Jobs: jobs.NewMetrics(r),
		Webhooks: webhooks.NewMetrics(r), Clock: NewClock(r), MissingRows: NewMissingRows(r),
		DoubledRows: NewDoubledRows(r), Damaged: NewDamaged(r),
		Intake: intake.NewMetrics(r), Log: eventlog.NewMetrics(r), Sink: sink.NewMetrics(r), Table: eventstore.NewMetrics(r), Erasure: erasure.NewMetrics(r), Balances: balance.NewSites(r),
		restarts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_engine_restarts_total",
			Help: "Restarts of embedded engines that exited or stopped answering, by engine.",
		}, []string{"engine"}),
		engines: newEngines(),
	}
	// Create the series with the value 0, because CheckQuorum sets the metric only on clusters.
	m.Log.SettingUnsafe(eventstore.QuorumSetting, false)
	for _, c := range []prometheus.Collector{m.restarts, m.engines} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register the engines' metrics: %w", err)
		}
	}
	return m, nil
}

// EngineRestarted counts a restart of an embedded engine.
func (m *Metrics) EngineRestarted(engine string) { m.restarts.WithLabelValues(engine).Inc() }

// Runtime registers the metrics of the Go runtime and the process.
func Runtime(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := r.Register(c); err != nil {
			return fmt.Errorf("cannot register the runtime's metrics: %w", err)
		}
	}
	return nil
}

// Handler returns the handler from which Prometheus scrapes the metrics.
func Handler(g prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{})
}
