package chserver

import "sync"

// budget bounds what all connections together hold of INSERTs that are still
// coming in. The engine's own limit does not know of those bytes.
type budget struct {
	mu    sync.Mutex
	limit int64
	taken int64
}

func (b *budget) take(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limit-b.taken {
		return refuse(codeMemoryLimit, "Memory limit exceeded: the rows of all INSERTs under way may take %d bytes, and %d are taken", b.limit, b.taken)
	}
	b.taken += n
	return nil
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
}

// share is one holder's part of a budget. It is taken in large steps.
type share struct {
	of   *budget
	held int64
}

// cover makes sure that the share is at least n.
func (s *share) cover(n int64) error {
	const step = 1 << 20
	if n <= s.held {
		return nil
	}
	more := n - s.held
	if s.of.take(more+step) == nil { // ahead, so that small blocks need not ask
		s.held = n + step
		return nil
	}
	if err := s.of.take(more); err != nil {
		return err
	}
	s.held = n
	return nil
}

// release gives all of it back.
func (s *share) release() {
	s.of.give(s.held)
	s.held = 0
}
