package sink

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stalled exports a metric for each partition: the time since messages of the partition were last stored, or 0 if there
// are no messages to store. It computes the time when Prometheus reads the metrics.
type stalled struct {
	*prometheus.GaugeVec
	mu         sync.Mutex
	partitions map[int]*stall
}

type stall struct {
	pending bool // whether there are messages to store
	since   time.Time
}

func newStalled() *stalled {
	return &stalled{
		GaugeVec: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "octavo_sink_stalled_seconds",
			Help: "Time since a partition with messages to store last made progress, or since its sink took it " +
				"over; 0 if there is nothing to store.",
		}, []string{"partition"}),
		partitions: map[int]*stall{},
	}
}

// markPending records that a partition has or may have messages to store.
func (s *stalled) markPending(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.partitions[id]
	if p == nil {
		p = &stall{}
		s.partitions[id] = p
	}
	if !p.pending {
		p.pending, p.since = true, time.Now()
	}
}

// progressed records that messages were stored, and whether more are pending.
func (s *stalled) progressed(id int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partitions[id] = &stall{pending: more, since: time.Now()}
}

// remove drops a partition that the sink no longer owns.
func (s *stalled) remove(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.partitions, id)
	s.DeleteLabelValues(strconv.Itoa(id))
}

// Collect implements [prometheus.Collector].
func (s *stalled) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	for id, p := range s.partitions {
		seconds := 0.0
		if p.pending {
			seconds = time.Since(p.since).Seconds()
		}
		s.WithLabelValues(strconv.Itoa(id)).Set(seconds)
	}
	s.mu.Unlock()
	s.GaugeVec.Collect(out)
}
