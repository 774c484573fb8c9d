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
	result *Result
}

// closed sends the next request when the last one is answered.
func (w *worker) closed(ctx context.Context, turn *atomic.Uint64, measured, end time.Time) {
	for ctx.Err() == nil {
		start := time.Now()
		if !start.Before(end) {
			return
		}
		w.send(turn, start, measured, end)
	}
}

// open sends at the moments that due gives, or as soon after as it can.
func (w *worker) open(ctx context.Context, turn *atomic.Uint64, due <-chan time.Time, measured, deadline time.Time) {
	for at := range due {
		if ctx.Err() != nil {
			return
		}
		if !time.Now().Before(deadline) {
			w.result.Unsent++
			return
		}
		w.send(turn, at, measured, deadline)
	}
}

// send makes one request that was meant to start at the given moment. An
// answer after end is not counted, or the last requests of a closed loop would
// count as work of the measured time.
func (w *worker) send(turn *atomic.Uint64, intended, measured, end time.Time) {
	request := w.load.Requests[(turn.Add(1)-1)%uint64(len(w.load.Requests))]
	status, _, err := w.conn.Exchange(request)
	now := time.Now()
	if err == nil {
		w.result.All[status]++
	}
	if intended.Before(measured) || now.After(end) {
		return
	}
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
