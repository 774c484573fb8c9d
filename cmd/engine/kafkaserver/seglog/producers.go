package seglog

import (
	"errors"
	"math"
)

// These are errors about producers' sequences, as in Kafka.
var (
	ErrOutOfOrder = errors.New("a producer's sequence has a gap")
	ErrDuplicate  = errors.New("a producer's sequence is older than the remembered ones")
	ErrEpoch      = errors.New("a producer's epoch is outdated")
)

const (
	// remembered is the number of a producer's last batches that a partition remembers. If the client sends such a
	// batch again, the partition recognises it. The number is the same as in Kafka, because a Kafka client has at most
	// 5 unanswered batches.
	remembered = 5
	// maxProducers is the largest number of producers that a partition remembers. If a new producer exceeds it, the
	// partition forgets the producer whose last record is the oldest.
	maxProducers = 4096
)

// batchID is one batch of a producer.
type batchID struct {
	first, last int32 // sequence numbers of the first and the last record
	offset      int64 // offset of the batch's first record
}

// producer is the state of a producer in a partition.
type producer struct {
	epoch   int16
	last    int64     // offset of the producer's last record
	batches []batchID // the last batches, oldest first
}

// producers has a partition's producers by id.
type producers map[int64]*producer

func lastSequence(h *header) int32 {
	return int32((int64(h.sequence) + int64(h.count) - 1) & math.MaxInt32)
}

// check returns an error if a batch's epoch or sequence is wrong. If the log already has the batch, `known` describes
// the batch in the log.
func (p *producer) check(h *header) (known *batchID, err error) {
	switch {
	case p == nil: // a new or forgotten producer may begin with any sequence
		return nil, nil
	case h.epoch < p.epoch:
		return nil, ErrEpoch
	case h.epoch > p.epoch:
		if h.sequence != 0 {
			return nil, ErrOutOfOrder
		}
		return nil, nil
	}
	last := lastSequence(h)
	for i := range p.batches {
		if p.batches[i].first == h.sequence && p.batches[i].last == last {
			return &p.batches[i], nil
		}
	}
	if n := len(p.batches); n > 0 {
		next := int32((int64(p.batches[n-1].last) + 1) & math.MaxInt32)
		if h.sequence != next {
			if h.sequence < next && h.sequence >= p.batches[0].first || last < p.batches[0].first {
				return nil, ErrDuplicate
			}
			return nil, ErrOutOfOrder
		}
	}
	return nil, nil
}

// after returns the state that the producer has once a batch is appended.
func (p *producer) after(h *header) *producer {
	q := &producer{epoch: h.epoch, last: h.last}
	if p != nil && p.epoch == h.epoch {
		q.batches = p.batches[max(0, len(p.batches)-remembered+1):]
	}
	q.batches = append(append(make([]batchID, 0, remembered), q.batches...), batchID{h.sequence, lastSequence(h), h.base})
	return q
}

// learn updates the producers with a batch that is in the log.
func (s producers) learn(h *header) {
	if h.producer >= 0 {
		s.set(h.producer, s[h.producer].after(h))
	}
}

func (s producers) set(id int64, p *producer) {
	if _, known := s[id]; !known && len(s) >= maxProducers {
		oldest, at := int64(-1), int64(math.MaxInt64)
		for other, q := range s {
			if q.last < at {
				oldest, at = other, q.last
			}
		}
		delete(s, oldest)
	}
	s[id] = p
}

// LastProducer returns the largest id of the remembered producers, or 0.
func (l *Log) LastProducer() (id int64) {
	l.writing.Lock()
	defer l.writing.Unlock()
	for known := range l.producers {
		id = max(id, known)
	}
	return id
}
