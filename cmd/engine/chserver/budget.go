package chserver

import "sync"

// budget limits the memory for the incomplete INSERTs of all connections. The engine's own memory limit does not
// include these bytes.
type budget struct {
	mu    sync.Mutex
	limit int64
	taken int64
}

func (b *budget) reserve(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limit-b.taken {
		return refuse(codeMemoryLimit, "Memory limit exceeded: the INSERTs in progress may hold %d bytes of rows and hold %d", b.limit, b.taken)
	}
	b.taken += n
	return nil
}

func (b *budget) release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
}

// share is the part of a budget that one connection or INSERT has reserved.
type share struct {
	budget *budget
	held   int64
}

// cover grows the share to at least n bytes.
func (s *share) cover(n int64) error {
	const step = 1 << 20
	if n <= s.held {
		return nil
	}
	more := n - s.held
	if s.budget.reserve(more+step) == nil { // take more than needed, so that small blocks rarely take the lock
		s.held = n + step
		return nil
	}
	if err := s.budget.reserve(more); err != nil {
		return err
	}
	s.held = n
	return nil
}

// release returns the whole share to the budget.
func (s *share) release() {
	s.budget.release(s.held)
	s.held = 0
}
