package resultcache

import (
	"context"
	"time"
)

// run is a query that waits or runs, for all its callers.
type run[V any] struct {
	asked   time.Time          // time of the request of the first caller, or of the caller that reruns it
	callers int                // how many callers still need it
	turn    context.Context    // ends when a caller's turn has come
	begin   context.CancelFunc // ends turn
	begun   bool

	done  chan struct{} // closed at the end of the run
	entry *entry[V]
	err   error
	retry bool // the run ended because of its caller, so another caller runs it again
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
