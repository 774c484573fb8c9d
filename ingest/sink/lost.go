package sink

import (
	"context"

	"github.com/cespare/xxhash/v2"
)

// losses has, by reason, the number of a partition's messages that left the log before they were stored. It includes
// all losses since the consumer group was created. A sink commits the losses together with its offset, so each loss is
// counted once, even if several sinks notice it.
type losses [len(lossReasons)]int64

// Indexes of losses.
const (
	lostRetention = iota
	lostRecreated
	lostDamaged
)

var lossReasons = [...]string{lostRetention: "retention", lostRecreated: "recreated", lostDamaged: "damaged"}

// total returns the sum over all reasons.
func (l losses) total() (n int64) {
	for _, lost := range l {
		n += lost
	}
	return n
}

// countLost counts the messages with offsets in [from, to) as lost.
func (s *Sink) countLost(p *partition, reason int, from, to int64) {
	p.lost[reason] += to - from
	s.metrics.backlog.setLost(p.id, p.lost)
	s.cfg.Logger.Error("Messages left the log before they were stored. They are lost.",
		"partition", p.id, "reason", lossReasons[reason], "first", from, "last", to-1, "messages", to-from)
}

// locate finds the offset at which reading a partition starts. Reading starts at the committed offset, unless the topic
// was recreated, or messages after this offset have expired.
func (s *Sink) locate(ctx context.Context, p *partition) error {
	first, next, err := s.log.Offsets(ctx, p.id)
	if err != nil {
		return err
	}
	had := p.committed
	p.start, p.intent = had.offset, had.intent
	p.plain, p.recalled, p.lost = had.plain, false, had.lost
	p.tail, p.hasTail = had.tail, had.hasTail
	stored, end := had.offset, had.end
	recreated := had.offset > next
	if !recreated && had.offset >= 0 {
		if recreated, err = s.isOtherLog(ctx, p, had.offset, had.tail, had.hasTail); err != nil {
			return err
		}
	}
	// A broker may delete the group's offsets together with the topic. In this case, the last state that this sink had
	// of the partition shows that the topic was recreated.
	if last := s.lastKnown(p.id); last != nil {
		if had.offset < 0 && last.end.Load() > 0 {
			recreated, stored, p.lost = true, last.stored.Load(), last.lost
		}
		if stored == last.stored.Load() {
			end = max(end, last.end.Load())
		}
	}
	switch {
	case recreated:
		s.metrics.recreated.Inc()
		s.cfg.Logger.Error("The topic was deleted and created again. The sink reads it from its beginning.",
			"partition", p.id, "stored", stored, "end", next)
		if end > stored {
			s.countLost(p, lostRecreated, stored, end)
		}
		p.start = first
	case had.offset < 0:
		p.start = first
	case had.offset < first:
		s.countLost(p, lostRetention, had.offset, first)
		p.start = first
	case had.offset < next:
		lost, err := s.endIsLost(ctx, p, had.offset, next)
		if err != nil {
			return err
		}
		if lost {
			s.countLost(p, lostDamaged, had.offset, next)
			p.start = next
		}
	}
	if p.start != had.offset {
		p.hasTail = false
		p.plain, p.recalled = 0, true // no messages exist before the start
	}
	if p.start != had.offset || p.intent > next {
		p.intent = 0 // the messages of the announced cut no longer exist
	}
	p.next = p.start
	if p.intent == 0 && (had.known || had.offset < 0) {
		at := had
		if at.intent = 0; p.start != had.offset {
			at = progress{offset: p.start, known: true, plain: p.plain, end: next, lost: p.lost, erased: had.erased}
		}
		p.located.Store(&at)
	}
	p.stored.Store(p.start)
	p.end.Store(next)
	p.lostAtStart = p.lost
	s.metrics.backlog.setLost(p.id, p.lost)
	s.showLag(p)
	s.rows.open(p)
	if p.start >= next {
		s.metrics.stalled.progressed(p.id, false)
	}
	return nil
}

// endIsLost reports whether damage has removed the last messages of the log, so that no message with an offset in
// [from, end) exists. Damage before another message causes a gap in the offsets. Damage at the log's end causes no gap
// until the next message arrives, which may take a long time.
func (s *Sink) endIsLost(ctx context.Context, p *partition, from, end int64) (bool, error) {
	for range endReads {
		c, err := s.fetch(ctx, p, from, 1)
		if err != nil {
			return false, err
		}
		lost := len(c.messages) == 0 && c.highWater == end
		c.free()
		if !lost {
			return false, nil
		}
	}
	return true, nil
}

// isOtherLog reports whether another log has replaced the log: whether the message before an offset has another
// checksum than `tail`. It returns false if this message has expired.
func (s *Sink) isOtherLog(ctx context.Context, p *partition, offset int64, tail uint64, hasTail bool) (bool, error) {
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

// logRecreated logs that the topic was recreated. The next generation counts the lost messages.
func (s *Sink) logRecreated(p *partition, read int64) {
	s.cfg.Logger.Error("The log is shorter than what the sink read, or has other messages: the topic was recreated, or its brokers lost messages.", "partition", p.id, "read", read)
}

// lastKnown returns the last state that a partition had while this sink owned it. It returns nil if this sink never
// owned the partition.
func (s *Sink) lastKnown(id int) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[id]
}

// rememberPartition stores a partition's state after its generation has ended.
func (s *Sink) rememberPartition(p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[p.id] = p
}
