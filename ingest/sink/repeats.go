package sink

import (
	"maps"

	"github.com/octavo-docs/octavo/schema/insights"
)

// repeats finds messages that a partition of the log contains twice. A message is a repeat if a message at most `size`
// offsets before it has the same id, and at least one of these two messages is plain. A plain message has no producer
// id. The broker itself drops repeated batches that have a producer id. Plain messages have three
// sources: replayed dead letters, nodes whose brokers assign no producer ids, and repeated requests with an
// Idempotency-Key. The node appends such a request again although the message of the first attempt may still arrive.
//
// The result depends only on the log. So every sink that first reads the messages at the `size` offsets before a
// message makes the same decision about this message.
type repeats struct {
	size int64
	last map[insights.MessageID]lastSeen
	ring []seenMessage // ring buffer; the oldest id is at the index next
	next int
}

// lastSeen has two offsets for a message id: the offset of the last message with this id, and the offset of the last
// plain message with this id. -1 means that there is no such message.
type lastSeen struct{ any, plain int64 }

type seenMessage struct {
	id     insights.MessageID
	offset int64
	plain  bool
}

func newRepeats(size int) repeats {
	return repeats{size: int64(size), last: make(map[insights.MessageID]lastSeen)}
}

// first records a message, and returns true unless the message is a repeat. The offsets of successive calls must
// ascend.
func (r *repeats) first(id insights.MessageID, offset int64, plain bool) bool {
	for r.next < len(r.ring) && r.ring[r.next].offset < offset-r.size {
		old := r.ring[r.next]
		if r.last[old.id].any == old.offset {
			delete(r.last, old.id)
		}
		r.next++
	}
	// Remove the outdated entries when they take more space than the current entries.
	if r.next > len(r.ring)-r.next {
		r.ring = append(r.ring[:0], r.ring[r.next:]...)
		r.next = 0
	}
	last, seen := r.last[id]
	repeat := seen && (plain || last.plain >= max(0, offset-r.size))
	r.remember(seenMessage{id, offset, plain})
	r.ring = append(r.ring, seenMessage{id, offset, plain})
	return !repeat
}

func (r *repeats) remember(m seenMessage) {
	last, seen := r.last[m.id]
	if !seen {
		last.plain = -1
	}
	last.any = m.offset
	if m.plain {
		last.plain = m.offset
	}
	r.last[m.id] = last
}

// recall records messages that precede all recorded messages, as if `first` had been called with them before. It then
// owns the slice `older`.
func (r *repeats) recall(older []seenMessage) {
	later := r.last
	r.last = make(map[insights.MessageID]lastSeen, len(older)+len(later))
	for _, m := range older {
		r.remember(m)
	}
	for id, last := range later {
		last.plain = max(last.plain, r.plainOf(id))
		later[id] = last
	}
	maps.Copy(r.last, later)
	r.ring = append(older, r.ring[r.next:]...)
	r.next = 0
}

func (r *repeats) plainOf(id insights.MessageID) int64 {
	if last, seen := r.last[id]; seen {
		return last.plain
	}
	return -1
}
