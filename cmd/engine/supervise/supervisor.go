package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Supervisor owns a set of children. Start adds and starts a child. Stop stops all children.
type Supervisor struct {
	cfg     Config
	spawner *spawner
	errs    chan error

	mu       sync.Mutex
	children []*child
	stopping bool
}

// New builds a supervisor. Nothing runs before the first Start.
func New(cfg Config) *Supervisor {
	cfg.fill()
	return &Supervisor{cfg: cfg, spawner: newSpawner(), errs: make(chan error, 1)}
}

// Start starts a child and returns when the child answers. The supervisor then restarts the child after each failure
// until Stop. If Start fails, no process is left running. Several children may be started concurrently. Stop stops them
// in the reverse order of the calls. ctx limits only the start.
func (s *Supervisor) Start(ctx context.Context, spec Spec) error {
	if err := spec.fill(); err != nil {
		return err
	}
	c := newChild(s, spec)
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return fmt.Errorf("cannot start %s: the engines are being stopped", spec.Name)
	}
	s.children = append(s.children, c)
	s.mu.Unlock()

	// Stop may be called during the start.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The start ends before c.stop, so the deferred call removes the function from c.stop.
	defer context.AfterFunc(c.stop, func() { cancel(errStopped) })()
	p, err := c.launch(ctx)
	if err != nil {
		s.mu.Lock()
		s.children = slices.DeleteFunc(s.children, func(other *child) bool { return other == c })
		s.mu.Unlock()
		close(c.done)
		return fmt.Errorf("cannot start %s: %w", spec.Name, err)
	}
	go c.keep(p)
	return nil
}

// Stop stops all children in the reverse order of their starts. When ctx is done, it kills the remaining children. It
// returns after the last child has exited.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return errors.New("cannot stop the engines: they are already stopped")
	}
	s.stopping = true
	children := slices.Clone(s.children)
	s.mu.Unlock()

	var killed bool
	for _, c := range slices.Backward(children) {
		c.stopNow(errStopped)
		select {
		case <-c.done:
			continue
		case <-ctx.Done():
		}
		killed = true
		c.killNow()
		<-c.done
	}
	s.spawner.close()
	if killed {
		return fmt.Errorf("cannot stop every engine cleanly: %w", context.Cause(ctx))
	}
	return nil
}

// State returns a snapshot of all children, in the order of their starts.
func (s *Supervisor) State() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]State, len(s.children))
	for i, c := range s.children {
		states[i] = c.state()
	}
	return states
}

// Err returns a channel that receives the error of the first child that is not restarted any more. The other children
// continue to run. The owner usually calls Stop and exits.
func (s *Supervisor) Err() <-chan error { return s.errs }

func (s *Supervisor) report(err error) {
	select {
	case s.errs <- err:
	default: // the owner acts on the first error
	}
}
