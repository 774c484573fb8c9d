package sink

import (
	"context"

	"github.com/cespare/xxhash/v2"
)

// losses are how many messages of a partition left the log before they were
// stored, since its group began. They travel with the group's offset, so that
// each counts once whoever finds it.
type losses [len(lossReasons)]int64

// The reasons of a loss, by their place in losses.
const (
	lostRetention = iota
	lostRecreated
)

var lossReasons = [...]string{lostRetention: "retention", lostRecreated: "recreated"}

// total is the sum of all reasons.
func (l losses) total() (n int64) {
	for _, lost := range l {
		n += lost
	}
	return n
}

// lose counts the messages with from ≤ offset < to.
func (s *Sink) lose(p *partition, reason int, from, to int64) {
	p.lost[reason] += to - from
	s.metrics.backlog.lose(p.id, p.lost)
	s.cfg.Logger.Error("Messages left the log before they were stored. They are lost.",
		"partition", p.id, "reason", lossReasons[reason], "first", from, "last", to-1, "messages", to-from)
}

// locate finds where to start: at the committed offset, if the log is still the
// one that it is of.
func (s *Sink) locate(ctx context.Context, p *partition) error {
	first, next, err := s.log.Offsets(ctx, p.id)
	if err != nil {
		return err
	}
	had := p.had
	p.start, p.intent = had.offset, had.intent
	p.plain, p.recalled, p.lost = had.plain, false, had.lost
	p.tail, p.hasTail = had.tail, had.hasTail
	stored, end := had.offset, had.end
	anew := had.offset > next
	if !anew && had.offset >= 0 {
		if anew, err = s.otherLog(ctx, p, had.offset, had.tail, had.hasTail); err != nil {
			return err
		}
	}
	// A broker may forget the group's offsets with the topic.
	if last := s.lastOf(p.id); last != nil {
		if had.offset < 0 && last.end.Load() > 0 {
			anew, stored, p.lost = true, last.stored.Load(), last.lost
		}
		if stored == last.stored.Load() {
			end = max(end, last.end.Load())
		}
	}
	switch {
	case anew:
		s.metrics.recreated.Inc()
		s.cfg.Logger.Error("The log is not the one whose events were stored: the topic was made anew. The sink reads it from its beginning.",
			"partition", p.id, "stored", stored, "end", next)
		if end > stored {
			s.lose(p, lostRecreated, stored, end)
		}
		p.start = first
	case had.offset < 0:
		p.start = first
	case had.offset < first:
		s.lose(p, lostRetention, had.offset, first)
		p.start = first
	}
	if p.start != had.offset {
		p.hasTail = false
		p.plain, p.recalled = 0, true // there is nothing before it
	}
	if p.start != had.offset || p.intent > next {
		p.intent = 0 // its messages are gone
	}
	p.next = p.start
	p.stored.Store(p.start)
	p.end.Store(next)
	s.metrics.backlog.lose(p.id, p.lost)
	s.showLag(p)
	if p.start >= next {
		s.metrics.stalled.moved(p.id, false)
	}
	return nil
}

// otherLog tells whether the message before an offset is another than the one
// with that sum. A log that does not have it any more says nothing.
func (s *Sink) otherLog(ctx context.Context, p *partition, offset int64, tail uint64, hasTail bool) (bool, error) {
	first, next, err := s.log.Offsets(ctx, p.id)
	if err != nil || offset > next {
		return err == nil, err
	}
	if !hasTail || offset <= first {
		return false, nil
	}
	c, err := s.fetch(ctx, p, offset-1, 1)
	if err != nil {
		return false, err
	}
	defer c.free()
	for _, m := range c.messages {
		if m.offset == offset-1 {
			return xxhash.Sum64(m.data) != tail, nil
		}
	}
	return false, nil
}

// madeAnew says that the log that was read is gone. The next generation finds
// out what is lost.
func (s *Sink) madeAnew(p *partition, read int64) {
	s.cfg.Logger.Error("The log is not the one that was read any more: was the topic made anew?", "partition", p.id, "read", read)
}

// lastOf is a partition as this sink had it last, nil if it never had.
func (s *Sink) lastOf(id int) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[id]
}

// keepLast keeps what a generation that is over knew of a partition.
func (s *Sink) keepLast(p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[p.id] = p
}
