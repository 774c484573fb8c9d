package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Clock has the metrics of clocks.
type Clock struct {
	held, left prometheus.Gauge
	differs    *prometheus.GaugeVec
}

// NewClock registers the metrics of clocks.
func NewClock(r prometheus.Registerer) *Clock {
	c := &Clock{
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "octavo_clock_deletions_held",
			Help: "1 while nothing is deleted by age, because the clock is days ahead of all that is known.",
		}),
		left: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "octavo_clock_deletions_held_left_seconds",
			Help: "How long nodes have to run until a clock in doubt is trusted; 0 if it is not in doubt.",
		}),
		differs: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "octavo_clock_difference_seconds",
			Help: "How far an engine's clock is ahead of this node's, by engine; 0 until it was asked.",
		}, []string{"engine"}),
	}
	r.MustRegister(c.held, c.left, c.differs)
	for _, engine := range []string{"postgres", "clickhouse"} {
		c.differs.WithLabelValues(engine)
	}
	return c
}

// Held sets the metrics that show whether deletions by age are stopped, and how long nodes must run until the clock is
// trusted.
func (c *Clock) Held(held bool, left time.Duration) {
	value := 0.0
	if held {
		value = 1
	}
	c.held.Set(value)
	c.left.Set(left.Seconds())
}

// Differs sets the metric that shows how far an engine's clock is ahead of this node's clock.
func (c *Clock) Differs(engine string, by time.Duration) {
	c.differs.WithLabelValues(engine).Set(by.Seconds())
}
