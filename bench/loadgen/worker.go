package loadgen

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// worker is one connection's part of a load.
type worker struct {
	load   *Load
	conn   *Conn
	window *window
	result *Result
}

// window is the time in which answers count. One in which nothing is answered
// says nothing about the server's speed but that it stalled: it goes on until
// something is.
type window struct {
	turn          atomic.Uint64 // of the next request
	measured, end time.Time
	deadline      time.Time // after which nothing more is sent
	answered      atomic.Bool
	extended      atomic.Bool // nothing was answered before end
}

// counts tells whether what was sent and answered at these moments counts.
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

// over tells whether nothing more is to be sent.
func (w *window) over(now time.Time) bool {
	return !now.Before(w.end) && (w.answered.Load() || w.extended.Load() || !now.Before(w.deadline))
}

// closed sends the next request when the last one is answered.
func (w *worker) closed(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		if w.window.over(start) {
			return
		}
		w.send(start)
	}
}

// open sends at the moments that due gives, or as soon after as it can.
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

// send makes one request that was meant to start at the given moment. An
// answer after the window is not counted, or the last requests of a closed
// loop would count as work of the measured time.
func (w *worker) send(intended time.Time) {
	request := w.load.Requests[(w.window.turn.Add(1)-1)%uint64(len(w.load.Requests))]
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

// sleepUntil sleeps in the kernel: the runtime's timers wake up to a
// millisecond late when the process idles, which would count as latency.
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
