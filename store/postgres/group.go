package postgres

import (
	"context"
	"sync"
	"time"
)

// Group collects concurrent calls and runs them together. Only one run is active at a time. A run takes the calls that
// came during the previous run. So many callers share the statements, the commit and the connection of a run.
type Group[In, Out any] struct {
	run   func(ctx context.Context, in []In) ([]Out, error)
	most  int
	limit time.Duration
	pause time.Duration

	mu      sync.Mutex
	waiting []*groupCall[In, Out]
	running bool
}

type groupCall[In, Out any] struct {
	ctx  context.Context // if ctx is done before the run, the call is left out
	in   In
	out  Out
	err  error
	done chan struct{}
}

// NewGroup returns a Group. `run` gets at most `most` calls and has the time limit `limit`. It returns a result for
// each call, or an error for all calls.
func NewGroup[In, Out any](
	most int, limit time.Duration, run func(ctx context.Context, in []In) ([]Out, error),
) *Group[In, Out] {
	return &Group[In, Out]{run: run, most: most, limit: limit}
}

// Gathering makes each run wait for the duration `pause`, so that more calls come together. Use it only if no user
// waits for the calls. Gathering returns the group.
func (g *Group[In, Out]) Gathering(pause time.Duration) *Group[In, Out] {
	g.pause = pause
	return g
}

// Do runs a call together with other calls. If ctx is done before the call has run, Do returns immediately, and the
// call may still run.
func (g *Group[In, Out]) Do(ctx context.Context, in In) (out Out, err error) {
	call := &groupCall[In, Out]{ctx: ctx, in: in, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, call)
	start := !g.running
	g.running = true
	g.mu.Unlock()
	if start {
		go g.work()
	}
	select {
	case <-call.done:
		return call.out, call.err
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// work runs waiting calls until no call is waiting.
func (g *Group[In, Out]) work() {
	for g.more() {
		if g.pause > 0 {
			time.Sleep(g.pause)
		}
		g.runCalls(g.next())
	}
}

// more reports whether a call is waiting. If no call is waiting, it records that no run is active.
func (g *Group[In, Out]) more() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.running, g.waiting = false, nil
	}
	return g.running
}

// next removes the calls of the next run from the waiting calls, and returns them.
func (g *Group[In, Out]) next() []*groupCall[In, Out] {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), g.most)
	calls := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	return calls
}

func (g *Group[In, Out]) runCalls(calls []*groupCall[In, Out]) {
	var live []*groupCall[In, Out]
	var in []In
	for _, call := range calls {
		if call.ctx.Err() == nil {
			live, in = append(live, call), append(in, call.in)
		}
	}
	if len(live) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.limit)
	defer cancel()
	out, err := g.run(ctx, in)
	for i, call := range live {
		if call.err = err; err == nil {
			call.out = out[i]
		}
		close(call.done)
	}
}
