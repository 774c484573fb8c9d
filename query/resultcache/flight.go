package resultcache

import (
	"context"
	"time"
)

// run is a query that waits or runs, for all its callers.
type run[V any] struct {
	asked   time.Time          // by the first caller, or by the caller that reruns it
	callers int                // how many callers still need it
	turn    context.Context    // ends when the turn of a caller has come
	begin   context.CancelFunc // ends it
	begun   bool

	done  chan struct{} // closed at the end of the run
	entry *entry[V]
	err   error
	retry bool // the run ended because of its caller: the others run it again
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

// enter waits for the caller's turn. leave is nil if the turn of another caller came first.
func (c *Cache[V]) enter(ctx context.Context, q Query[V], r *run[V]) (leave func(), err error) {
	if r.turn.Err() != nil {
		return nil, nil
	}
	waiting, stop := context.WithCancel(r.turn)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	leave, err = q.Enter(waiting)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.begun {
		if err == nil {
			leave()
		}
		return nil, nil
	}
	if err != nil {
		c.drop(q.Key, r)
		return nil, err
	}
	r.begun = true
	r.begin()
	return leave, nil
}

// run computes the result for all callers.
func (c *Cache[V]) run(ctx context.Context, q Query[V], r *run[V]) (Result[V], error) {
	r.retry = true // if Run panics
	defer c.end(q.Key, r)
	value, err := q.Run(ctx)
	r.retry = err != nil && ctx.Err() != nil
	if err != nil {
		r.err = err
		return Result[V]{Source: Run}, err
	}
	r.entry = c.newEntry(value, r.asked, c.Now().Sub(r.asked))
	return Result[V]{Value: value, Source: Run}, nil
}

// end gives the other callers the result and caches it, unless a younger run has replaced this one, or the site was
// forgotten.
func (c *Cache[V]) end(k Key, r *run[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.entry != nil && c.flight[k] == r {
		c.put(k, r.entry)
	}
	if c.drop(k, r); c.flight[k] == r {
		delete(c.flight, k)
	}
	close(r.done)
}

// leave ends a caller's part in a run.
func (c *Cache[V]) leave(k Key, r *run[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k, r)
}

// drop is leave for callers that hold the lock. Without callers, a run never begins.
func (c *Cache[V]) drop(k Key, r *run[V]) {
	if r.callers--; r.callers > 0 {
		return
	}
	r.begin()
	if c.flight[k] == r && !r.begun {
		delete(c.flight, k)
	}
}
