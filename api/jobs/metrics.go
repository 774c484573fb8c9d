package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/queue"
)

// Metrics has the metrics of jobs, by kind. All series exist from the start, because Prometheus's rate() would
// otherwise miss the first failure. A nil *Metrics records nothing.
type Metrics struct {
	attempts                    *prometheus.CounterVec
	seconds                     *prometheus.HistogramVec
	open, failed, oldestWaiting *prometheus.GaugeVec
	wordsAlone                  prometheus.Gauge
}

// outcomes has the value of the label `outcome` for an attempt, by the state of the job after the attempt.
var outcomes = map[schema.JobState]string{
	schema.JobDone: "done", schema.JobRetrying: "retrying", schema.JobFailed: "failed", schema.JobWaiting: "interrupted",
}

// NewMetrics registers the metrics of jobs.
func NewMetrics(r prometheus.Registerer) *Metrics {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"kind"})
	}
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_job_attempts_total",
			Help: "Attempts at jobs that ended on this node, by kind and outcome: done, retrying (failed, and a " +
				"retry follows), failed (no retry follows), interrupted (the node stopped; the job runs again).",
		}, []string{"kind", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "octavo_job_seconds", Help: "Time of one attempt at a job, by kind.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600},
		}, []string{"kind"}),
		open:   gauge("octavo_jobs_open", "Jobs that are waiting, running or retrying, on all nodes, by kind; nodes with the role api or jobs show it."),
		failed: gauge("octavo_jobs_failed", "Jobs that failed for good and that nobody has retried, by kind; they are deleted after 30 days. Nodes with the role api or jobs show it."),
		oldestWaiting: gauge("octavo_jobs_oldest_waiting_seconds",
			"How long the oldest job that could run has not been taken, or the oldest delivery to a webhook has not been handed to one, by kind; nodes with the role api or jobs show it."),
		wordsAlone: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "octavo_conversations_words_alone",
			Help: "1 if jobs of this node group conversations without a model, by words alone.",
		}),
	}
	for _, kind := range Names() {
		for _, outcome := range outcomes {
			m.attempts.WithLabelValues(kind, outcome)
		}
		m.seconds.WithLabelValues(kind)
	}
	m.set(nil)
	r.MustRegister(m.attempts, m.seconds, m.open, m.failed, m.oldestWaiting, m.wordsAlone)
	return m
}

// ended counts an attempt that has ended, and records how long it took.
func (m *Metrics) ended(kind string, state schema.JobState, took time.Duration) {
	if m == nil {
		return
	}
	m.attempts.WithLabelValues(kind, outcomes[state]).Inc()
	m.seconds.WithLabelValues(kind).Observe(took.Seconds())
}

// set sets the gauges to the totals. If a kind is not in `totals`, it has no open and no failed jobs, so its gauges
// become 0.
func (m *Metrics) set(totals []queue.Totals) {
	byKind := map[string]queue.Totals{}
	for _, t := range totals {
		byKind[t.Kind] = t
	}
	for _, kind := range Names() {
		t := byKind[kind]
		m.open.WithLabelValues(kind).Set(float64(t.Open))
		m.failed.WithLabelValues(kind).Set(float64(t.Failed))
		m.oldestWaiting.WithLabelValues(kind).Set(t.OldestWaiting.Seconds())
	}
}

// watchEvery is the interval at which Watch reads the totals.
const watchEvery = 15 * time.Second

// Watch updates the gauges about the jobs of all nodes until ctx ends. Nodes without the role jobs call it, too. So
// their metrics show it if no node runs the jobs that they enqueue.
func (m *Metrics) Watch(ctx context.Context, st *store.Store, log *slog.Logger) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		totals, err := st.Queue.Totals(ctx)
		if err == nil {
			m.set(totals)
		} else if ctx.Err() == nil {
			log.Warn("Cannot count jobs; trying again.", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
