package webhooks

import "github.com/prometheus/client_golang/prometheus"

// Metrics has the metrics of deliveries. A nil *Metrics measures nothing.
type Metrics struct {
	attempts *prometheus.CounterVec
	seconds  prometheus.Histogram
}

// outcomes are the values of the label for the outcome of an attempt.
var outcomes = []string{outcomeTaken, outcomeRefused, outcomeUnanswered}

const (
	outcomeTaken      = "taken"
	outcomeRefused    = "refused"
	outcomeUnanswered = "unanswered"
)

// NewMetrics registers the metrics. All series exist from the start, so that rates also include the first failure.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octavo_webhook_attempts_total",
			Help: "Attempts to deliver an event to a webhook from this node, by outcome: taken (a status from 200 to 299), refused (another status, or an answer that broke off), unanswered (no answer: the receiver cannot be reached, may not be reached, or is too slow).",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "octavo_webhook_seconds", Help: "Time of one attempt to deliver an event to a webhook.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}),
	}
	for _, outcome := range outcomes {
		m.attempts.WithLabelValues(outcome)
	}
	r.MustRegister(m.attempts, m.seconds)
	return m
}

func (m *Metrics) sent(r *Result) {
	if m == nil {
		return
	}
	outcome := outcomeTaken
	if r.Reason != "" {
		outcome = outcomeRefused
		if r.StatusCode == nil {
			outcome = outcomeUnanswered
		}
	}
	m.attempts.WithLabelValues(outcome).Inc()
	m.seconds.Observe(r.Took.Seconds())
}
