package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Supervisor owns a set of children. Build it with New, add children with Start, end them all with Stop.
type Supervisor struct {
	cfg     Config
	spawner *spawner
	errs    chan error

	mu       sync.Mutex
	children []*child
	stopping bool
}

// New builds a supervisor; nothing runs before the first Start.
func New(cfg Config) *Supervisor {
	cfg.fill()
	return &Supervisor{cfg: cfg, spawner: newSpawner(), errs: make(chan error, 1)}
}

// Start starts a child and returns once it answers; from then on it is kept alive until Stop. On error no process of it is left.
// Several may be started at the same time; the order of the calls is the order in which Stop undoes them.
// ctx bounds the start only.
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

	// Stop may be called while this start is under way.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.stop, func() { cancel(errStopped) })() //nolint:contextcheck // the child's life, not the start's
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

// Stop ends all children in the reverse order of their starts. When ctx is done the rest are killed. It returns after the last exit.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return errors.New("cannot stop the engines: they are stopped already")
	}
	s.stopping = true
	children := slices.Clone(s.children)
	s.mu.Unlock()

	var hurried bool
	for _, c := range slices.Backward(children) {
		c.stopNow(errStopped)
		select {
		case <-c.done:
			continue
		case <-ctx.Done():
		}
		hurried = true
		c.killNow()
		<-c.done
	}
	s.spawner.close()
	if hurried {
		return fmt.Errorf("cannot stop every engine cleanly: %w", context.Cause(ctx))
	}
	return nil
}

// State is a snapshot of all children, in the order of their starts.
func (s *Supervisor) State() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]State, len(s.children))
	for i, c := range s.children {
		states[i] = c.state()
	}
	return states
}

// Err reports the first child that cannot be kept alive. The others still run; the owner decides, usually to Stop and exit.
func (s *Supervisor) Err() <-chan error { return s.errs }

func (s *Supervisor) report(err error) {
	select {
	case s.errs <- err:
	default: // one report is enough to act on
	}
}
