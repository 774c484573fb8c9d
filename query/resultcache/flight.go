package resultcache

import (
	"context"
	"time"
)

// run is a query that waits or runs, for all its callers.
type run[V any] struct {
	asked   time.Time          // time of the request by the first caller, or by the caller that runs the query again
	callers int                // number of callers that still wait for the run
	turn    context.Context    // turn is done when a caller gets a turn
	begin   context.CancelFunc // begin ends `turn`
	begun   bool

	done  chan struct{} // done is closed at the end of the run
	entry *entry[V]
	err   error
	own   bool // Own is true for err
	retry bool // the run ended because of its caller, so another caller must run it again
}

func newRun[V any](asked time.Time) *run[V] {
	r := &run[V]{asked: asked, done: make(chan struct{})}
	r.turn, r.begin = context.WithCancel(context.Background())
	return r
}

// wait waits for the end of the run.
func (r *run[V]) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
