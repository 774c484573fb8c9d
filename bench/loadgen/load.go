package loadgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Load describes which requests Run sends, and how fast.
type Load struct {
	Address string // host:port
	// Requests are complete HTTP/1.1 requests, as the function Request returns them. Run sends them in rotation.
	Requests [][]byte
	// Numbered is a text of digits that each request contains once. When Run sends a request, it replaces the text by
	// the number of the request, with as many digits. So every request can have a different id. If Numbered is "", Run
	// sends the requests unchanged.
	Numbered    string
	Connections int
	// Rate is the number of requests per second. 0 means a closed loop.
	Rate     float64
	Warmup   time.Duration // how long Run sends load before the measurement begins
	Duration time.Duration
	// Timeout is the longest time that a request may take. It is also the longest time for which a late open loop
	// continues after Duration.
	Timeout time.Duration
}

// maxWaiting is the largest number of requests that may wait for a free connection.
const maxWaiting = 1 << 20

// Run sends the load. It returns an error only if it could not send any load. Refused requests and broken connections
// are counted in the result.
func Run(ctx context.Context, l Load) (Result, error) {
	if len(l.Requests) == 0 || l.Connections < 1 || l.Duration <= 0 {
		return Result{}, errors.New("cannot send a load without requests, connections or duration")
	}
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Second
	}
	numbered, err := l.places()
	if err != nil {
		return Result{}, err
	}
	workers := make([]*worker, l.Connections)
	for i := range workers {
		conn, err := Dial(l.Address, l.Timeout)
		if err != nil {
			for _, other := range workers[:i] {
				other.conn.Close()
			}
			return Result{}, fmt.Errorf("cannot send to %s: %w", l.Address, err)
		}
		workers[i] = &worker{load: &l, numbered: numbered, conn: conn, result: newResult()}
	}
	began := time.Now()
	span := &window{measured: began.Add(l.Warmup)}
	span.end = span.measured.Add(l.Duration)
	span.deadline = span.end.Add(l.Timeout)
	var due chan time.Time
	if l.Rate > 0 {
		due = make(chan time.Time, maxWaiting)
		go pace(ctx, due, began, span.end, l.Rate)
		// Requests that an open loop sends late are measured too, because their wait is part of the latency.
		span.end = span.deadline
	}
	var wait sync.WaitGroup
	for _, w := range workers {
		w.window = span
		wait.Go(func() {
			defer w.conn.Close()
			if due == nil {
				w.closed(ctx)
			} else {
				w.open(ctx, due)
			}
		})
	}
	wait.Wait()
	total := newResult()
	for _, w := range workers {
		total.merge(w.result)
	}
	slices.Sort(total.Latencies)
	total.Elapsed = l.Duration
	switch {
	case due != nil:
		// A late open loop takes longer than Duration.
		total.Elapsed = max(l.Duration, time.Since(span.measured))
		total.Unsent += uint64(len(due))
	case span.extended.Load():
		total.Elapsed = max(l.Duration, total.last.Sub(span.measured))
	}
	return *total, ctx.Err()
}

// pace sends the intended time of each request to the channel `due` at this time. A request that has no free connection
// waits in the channel, and the wait counts as latency.
func pace(ctx context.Context, due chan<- time.Time, began, end time.Time, rate float64) {
	defer close(due)
	gap := float64(time.Second) / rate
	for n := 0; ; n++ {
		at := began.Add(time.Duration(float64(n) * gap))
		if !at.Before(end) || ctx.Err() != nil {
			return
		}
		sleepUntil(at)
		select {
		case due <- at:
		default:
			return // maxWaiting requests are waiting; Run adds them to Result.Unsent
		}
	}
}
