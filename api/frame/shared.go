package frame

import (
	"context"
	"errors"
	"sync"
)

// Shared names a large answer that is the same for all callers. Concurrent answers share its bytes. So many callers who
// do not read their answers take the memory of one answer.
type Shared struct {
	// Name identifies the bytes of the answer: different bytes need a different name.
	Name string
	// Load reads the answer, which must not change afterwards. It runs for the first of several callers.
	Load func(ctx context.Context) (Encoded, error)
}

// sharedAnswers has the shared answers in flight.
type sharedAnswers struct {
	mu   sync.Mutex
	held map[string]*sharedAnswer
}

// sharedAnswer is an answer with the number of its users.
type sharedAnswer struct {
	name  string
	users int
	// loaded is closed when the fields below are set.
	loaded chan struct{}
	answer Encoded
	err    error
}

// errNotLoaded is the error for other callers if the loading caller panics.
var errNotLoaded = errors.New("the answer was not loaded")

// get returns the answer. Another caller may still be loading it. The caller must call leave.
func (s *sharedAnswers) get(ctx context.Context, shared *Shared) (*sharedAnswer, error) {
	for {
		s.mu.Lock()
		found := s.held[shared.Name]
		first := found == nil
		if first {
			found = &sharedAnswer{name: shared.Name, loaded: make(chan struct{}), err: errNotLoaded}
			s.held[shared.Name] = found
		}
		found.users++
		s.mu.Unlock()
		if first {
			if err := s.load(ctx, found, shared); err != nil {
				return nil, err
			}
			return found, nil
		}
		select {
		case <-found.loaded:
			if found.err == nil {
				return found, nil
			}
			// The loading caller may have disconnected. Then another caller loads the answer.
			s.leave(found)
		case <-ctx.Done():
			s.leave(found)
			return nil, ctx.Err()
		}
	}
}

// load reads an answer for all callers that wait for it. An answer that failed to load is removed from the cache
// immediately.
func (s *sharedAnswers) load(ctx context.Context, into *sharedAnswer, shared *Shared) error {
	defer func() {
		if into.err != nil {
			s.mu.Lock()
			delete(s.held, into.name)
			s.mu.Unlock()
		}
		close(into.loaded)
	}()
	into.answer, into.err = shared.Load(ctx)
	return into.err
}

// leave ends the use of an answer. When the last user leaves, the answer is removed.
func (s *sharedAnswers) leave(a *sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.users--; a.users == 0 && s.held[a.name] == a {
		delete(s.held, a.name)
	}
}
