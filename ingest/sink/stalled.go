package sink

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stalled is, for each partition that has messages to store, the time since
// the last of them was stored. It is counted when it is asked for.
type stalled struct {
	*prometheus.GaugeVec
	mu         sync.Mutex
	partitions map[int]*stall
}

type stall struct {
	behind bool
	since  time.Time
}

func newStalled() *stalled {
	return &stalled{
		GaugeVec: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "octavo_sink_stalled_seconds",
			Help: "Time since a partition that has messages to store last made progress, on the sink that has it, or since the sink has it; 0 if there is nothing to store.",
		}, []string{"partition"}),
		partitions: map[int]*stall{},
	}
}

// behind says that a partition has messages to store, or may have.
func (s *stalled) behind(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.partitions[id]
	if p == nil {
		p = &stall{}
		s.partitions[id] = p
	}
	if !p.behind {
		p.behind, p.since = true, time.Now()
	}
}

// moved says that messages were stored, and whether there are more.
func (s *stalled) moved(id int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partitions[id] = &stall{behind: more, since: time.Now()}
}

// forget says that the partition is another sink's.
func (s *stalled) forget(id int) {
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
		if p.behind {
			seconds = time.Since(p.since).Seconds()
		}
		s.WithLabelValues(strconv.Itoa(id)).Set(seconds)
	}
	s.mu.Unlock()
	s.GaugeVec.Collect(out)
}
