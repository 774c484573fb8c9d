package ingest

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// repeats remembers the ids of the last messages of a partition.
type repeats struct {
	seen map[insights.MessageID]struct{}
	ring []insights.MessageID
	next int
}

func newRepeats(size int) repeats {
	return repeats{seen: make(map[insights.MessageID]struct{}), ring: make([]insights.MessageID, 0, size)}
}

// first remembers an id and reports whether it is new.
func (r *repeats) first(id insights.MessageID) bool {
	if _, ok := r.seen[id]; ok {
		return false
	}
	if len(r.ring) < cap(r.ring) {
		r.ring = append(r.ring, id)
	} else {
		delete(r.seen, r.ring[r.next])
		r.ring[r.next] = id
		r.next = (r.next + 1) % len(r.ring)
	}
	r.seen[id] = struct{}{}
	return true
}

const maxBackoff = 5 * time.Second

// backoff waits longer and longer.
type backoff struct{ wait, most, now time.Duration }

func (b *backoff) sleep(ctx context.Context) {
	b.now = min(max(2*b.now, b.wait), b.most)
	sleep(ctx, b.now)
}

func (b *backoff) reset() { b.now = 0 }
