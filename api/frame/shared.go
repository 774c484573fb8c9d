package frame

import (
	"context"
	"errors"
	"sync"
)

// Shared describes a large answer that is the same for all callers. Answers that are sent at the same time share its
// bytes. So a thousand callers who read the answer slowly take only the memory of a single answer.
type Shared struct {
	// Name identifies the bytes of the answer. Answers with different bytes must have different names.
	Name string
	// Load returns the answer, whose bytes must not change afterwards. It runs once for callers that request the answer
	// at the same time.
	Load func(ctx context.Context) (Encoded, error)
}

// sharedAnswers has, by name, the shared answers that are being sent or loaded.
type sharedAnswers struct {
	mu   sync.Mutex
	held map[string]*sharedAnswer
}

// sharedAnswer is a shared answer with the number of calls and connections that use it.
type sharedAnswer struct {
	name  string
	users int
	// loaded is closed when the fields below are set.
	loaded chan struct{}
	answer Encoded
	err    error
}

// errNotLoaded is the error that waiting callers see if Load panics.
var errNotLoaded = errors.New("the answer was not loaded")

// get returns a shared answer. If another caller is loading it, get waits. The caller must call leave when the answer
// is no longer used.
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
			// Loading may have failed because the loading caller disconnected. So a waiting caller tries again.
			s.leave(found)
		case <-ctx.Done():
			s.leave(found)
			return nil, ctx.Err()
		}
	}
}

// load reads an answer for all callers that wait for it. If loading fails, it removes the answer from `held`, so that
// the next caller tries again.
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

// leave ends the use of an answer. After the last use, the answer is removed from `held`.
func (s *sharedAnswers) leave(a *sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.users--; a.users == 0 && s.held[a.name] == a {
		delete(s.held, a.name)
	}
}
