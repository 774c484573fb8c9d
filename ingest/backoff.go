package ingest

import (
	"context"
	"time"
)

// What is waited for is asked again at the latest after these.
const (
	maxBackoff = 5 * time.Second // the store and its group
	logBackoff = time.Second     // the log, for which requests wait
)

// backoff waits longer and longer: wait, then twice as long each time, up to
// most.
type backoff struct{ wait, most, now time.Duration }

// next is how long the next sleep is.
func (b *backoff) next() time.Duration { return min(max(2*b.now, b.wait), b.most) }

func (b *backoff) sleep(ctx context.Context) {
	b.now = b.next()
	sleep(ctx, b.now)
}

func (b *backoff) reset() { b.now = 0 }

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// sayAgain is how seldom a wait that goes on is said again.
const sayAgain = 30 * time.Second

// pace keeps what goes on from being said at each attempt.
type pace struct{ last time.Time }

// due tells whether it is time to say it again; at first it is.
func (p *pace) due() bool {
	if time.Since(p.last) < sayAgain {
		return false
	}
	p.last = time.Now()
	return true
}
