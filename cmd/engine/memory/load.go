package memory

import (
	"sync"
	"time"
)

const (
	// mostHalvings is the largest number of halvings. The least load is an eighth of the full load.
	mostHalvings = 3
	// Quiet is the time without a killed engine after which the load doubles again.
	Quiet = 10 * time.Minute
)

// Load is the fraction of the full load that a node gives to its engines: threads, blocks and concurrent queries. The
// load halves each time that an engine is killed. It doubles after each period Quiet without a kill, up to the full
// load. The zero value is the full load.
type Load struct {
	// Doubled is called after each doubling of the load. It must not block. It may be nil.
	Doubled func(part float64)

	mu       sync.Mutex
	halvings int
	timer    *time.Timer
}

// Halvings returns the current number of halvings, from 0 to 3.
func (l *Load) Halvings() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.halvings
}

// Part returns the load as a fraction of the full load.
func (l *Load) Part() float64 { return 1 / float64(int(1)<<l.Halvings()) }

// Halve halves the load.
func (l *Load) Halve() { l.change(1) }

func (l *Load) change(by int) {
	l.mu.Lock()
	l.halvings = max(0, min(l.halvings+by, mostHalvings))
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.halvings > 0 {
		l.timer = time.AfterFunc(Quiet, func() { l.change(-1) })
	}
	l.mu.Unlock()
	if by < 0 && l.Doubled != nil {
		l.Doubled(l.Part())
	}
}

// Stop stops the timer. The load no longer doubles.
func (l *Load) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}
