package ingest

import (
	"github.com/octavo-docs/octavo/schema/insights"
)

// repeats tells messages that a partition of the log holds twice: a message is
// a repeat if one of the size offsets before its own has its id. That depends
// on the log alone, so that every sink that reads a message again, after
// reading that many before it, says the same of it.
type repeats struct {
	size int64
	last map[insights.MessageID]int64 // the last offset of each id
	ring []seenMessage                // oldest first, from next on
	next int
}

type seenMessage struct {
	id     insights.MessageID
	offset int64
}

func newRepeats(size int) repeats {
	return repeats{size: int64(size), last: make(map[insights.MessageID]int64)}
}

// first remembers a message and reports whether it is no repeat. Offsets
// ascend.
func (r *repeats) first(id insights.MessageID, offset int64) bool {
	for r.next < len(r.ring) && r.ring[r.next].offset < offset-r.size {
		old := r.ring[r.next]
		if r.last[old.id] == old.offset {
			delete(r.last, old.id)
		}
		r.next++
	}
	// What is forgotten is at most as much as what is kept.
	if r.next > len(r.ring)-r.next {
		r.ring = append(r.ring[:0], r.ring[r.next:]...)
		r.next = 0
	}
	_, repeat := r.last[id]
	r.last[id] = offset
	r.ring = append(r.ring, seenMessage{id, offset})
	return !repeat
}
