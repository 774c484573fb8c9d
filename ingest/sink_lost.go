package ingest

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
	first, next, err := offsetsOf(ctx, s.client, s.cfg.Topic, p.id)
	if err != nil {
		return err
	}
	had := p.had
	p.start, p.intent = had.offset, had.intent
	p.plain, p.recalled, p.lost = had.plain, false, had.lost
	p.tail, p.hasTail = had.tail, had.hasTail
	anew := had.offset > next
	if !anew && had.offset >= 0 {
		if anew, err = s.otherLog(ctx, p, had.offset, had.tail, had.hasTail); err != nil {
			return err
		}
	}
	switch {
	case had.offset < 0:
		p.start = first
	case anew:
		s.metrics.logsAnew.Inc()
		s.cfg.Logger.Error("The log is not the one whose events were stored: the topic was made anew. The sink reads it from its beginning.",
			"partition", p.id, "committed", had.offset, "end", next)
		if end := max(had.end, s.endOf(p.id)); end > had.offset {
			s.lose(p, lostRecreated, had.offset, end)
		}
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
	s.lag(p)
	if p.start >= next {
		s.metrics.stalled.moved(p.id, false)
	}
	return nil
}

// otherLog tells whether the message before an offset is another than the one
// with that sum. A log that does not have it any more says nothing.
func (s *Sink) otherLog(ctx context.Context, p *partition, offset int64, tail uint64, hasTail bool) (bool, error) {
	first, next, err := offsetsOf(ctx, s.client, s.cfg.Topic, p.id)
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

// madeAnew remembers where a log ended that is gone, of which the group may
// have been told less.
func (s *Sink) madeAnew(p *partition, read int64) {
	s.mu.Lock()
	s.ends[p.id] = max(read, p.end.Load())
	s.mu.Unlock()
	s.cfg.Logger.Error("The log is not the one that was read any more: was the topic made anew?", "partition", p.id, "read", read)
}

// endOf is what madeAnew remembered, once.
func (s *Sink) endOf(partition int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.ends[partition]
	delete(s.ends, partition)
	return end
}
