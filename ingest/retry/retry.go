// Package retry has the pauses between attempts of the packages in ingest. Each pause is longer than the pause before,
// up to a maximum. It also limits the log lines about repeated failures.
//
// This package imports no other package of this module. The supervisor in cmd/engine has a different policy: it counts
// restarts and gives up.
package retry

import (
	"context"
	"time"
)

// Backoff doubles its delay with each sleep, from First up to Max.
type Backoff struct {
	First, Max time.Duration
	last       time.Duration
}

// Next returns the delay of the next Sleep.
func (b *Backoff) Next() time.Duration { return min(max(2*b.last, b.First), b.Max) }

// Advance returns the next delay. The delay after it is twice as long, up to Max.
func (b *Backoff) Advance() time.Duration {
	b.last = b.Next()
	return b.last
}

// Sleep waits for the next delay, or until ctx is done.
func (b *Backoff) Sleep(ctx context.Context) { Sleep(ctx, b.Advance()) }

// Reset starts again at First.
func (b *Backoff) Reset() { b.last = 0 }

// Sleep waits until d has passed or ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// logEvery is the shortest time between two log lines about the same condition.
const logEvery = 30 * time.Second

// LogPace limits how often a persistent condition is logged. The zero value allows the first line immediately.
type LogPace struct{ last time.Time }

// Due reports whether to log now. If so, it records the time of the log line.
func (p *LogPace) Due() bool {
	if time.Since(p.last) < logEvery {
		return false
	}
	p.last = time.Now()
	return true
}
