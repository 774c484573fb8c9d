package loadgen

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// worker sends the requests of one connection.
type worker struct {
	load     *Load
	numbered []int  // position of the number in each request: see [Load.Numbered]
	request  []byte // buffer for a request with its number
	conn     *Conn
	window   *window
	result   *Result
}

// window is the span of time in which responses are counted. If no request is answered in this span, the window is
// extended until the first response. Otherwise the result of a very slow server would have no response.
type window struct {
	turn          atomic.Uint64 // index of the next request
	measured, end time.Time
	deadline      time.Time // no request is sent after this time
	answered      atomic.Bool
	extended      atomic.Bool // whether no request was answered before end
}

// counts reports whether a request is part of the result. The request was due at the time `intended`, and its response
// came at the time `answered`.
func (w *window) counts(intended, answered time.Time) bool {
	switch {
	case intended.Before(w.measured):
		return false
	case !answered.After(w.end):
		w.answered.Store(true)
		return true
	case !w.answered.Load():
		w.extended.Store(true)
	}
	return w.extended.Load()
}

// over reports whether workers must stop sending.
func (w *window) over(now time.Time) bool {
	return !now.Before(w.end) && (w.answered.Load() || w.extended.Load() || !now.Before(w.deadline))
}

// closed sends each request as soon as the request before it is answered.
func (w *worker) closed(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		if w.window.over(start) {
			return
		}
		w.send(start)
	}
}

// open sends requests at the times from `due`, or as soon as possible afterwards.
func (w *worker) open(ctx context.Context, due <-chan time.Time) {
	for at := range due {
		if ctx.Err() != nil {
			return
		}
		if !time.Now().Before(w.window.deadline) {
			w.result.Unsent++
			return
		}
		w.send(at)
	}
}

// send sends the request that should have been sent at the time `intended`. The latency begins at this time. A response
// after the window is not counted. Otherwise the last requests of a closed loop would be counted as work in the
// measured time.
func (w *worker) send(intended time.Time) {
	turn := w.window.turn.Add(1) - 1
	which := turn % uint64(len(w.load.Requests))
	request := w.load.Requests[which]
	if w.numbered != nil {
		w.request = append(w.request[:0], request...)
		number(w.request[w.numbered[which]:][:len(w.load.Numbered)], turn)
		request = w.request
	}
	status, _, err := w.conn.Exchange(request)
	now := time.Now()
	if err == nil {
		w.result.All[status]++
	}
	if !w.window.counts(intended, now) {
		return
	}
	w.result.last = now
	if err != nil {
		w.result.Errors++
		w.result.LastError = err
		return
	}
	w.result.record(status, now.Sub(intended))
}

// sleepUntil sleeps with a system call. In an idle process, Go's timers are up to a millisecond late, and this delay
// would be part of the latency.
func sleepUntil(at time.Time) {
	for {
		left := time.Until(at)
		if left <= 0 {
			return
		}
		span := unix.NsecToTimespec(int64(left))
		if err := unix.Nanosleep(&span, nil); err != nil && err != unix.EINTR {
			time.Sleep(left)
		}
	}
}
