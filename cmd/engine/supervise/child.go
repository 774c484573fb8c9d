package supervise

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var errStopped = errors.New("it was told to stop")

// child is one supervised engine across all its restarts.
type child struct {
	spec Spec
	sup  *Supervisor

	// `stop` is cancelled to end the child cleanly. `kill` is cancelled to end it immediately. `done` is closed when no
	// process is left.
	stop     context.Context
	stopNow  context.CancelCauseFunc
	kill     context.Context
	killNow  context.CancelFunc
	done     chan struct{}
	mu       sync.Mutex
	status   Status
	current  *process
	restarts int
	lastErr  error
}

func newChild(sup *Supervisor, spec Spec) *child {
	c := &child{spec: spec, sup: sup, done: make(chan struct{}), status: StatusStarting}
	c.stop, c.stopNow = context.WithCancelCause(context.Background())
	c.kill, c.killNow = context.WithCancel(context.Background())
	return c
}

// launch starts a process, and returns when the process answers pings. If `launch` fails, no process is left running.
func (c *child) launch(ctx context.Context) (*process, error) {
	if err := c.reap(ctx); err != nil {
		return nil, err
	}
	p, err := c.sup.spawner.spawn(&c.spec, c.sup.cfg.Logger) // without ctx, because the child outlives its start
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.current = p
	c.mu.Unlock()
	if err := p.awaitReady(ctx, &c.spec); err != nil {
		p.terminate(c.kill, &c.spec) // not ctx: the process gets its time to stop even if ctx is done
		c.clearProcess()
		return nil, err
	}
	c.mu.Lock()
	c.status = StatusRunning
	c.mu.Unlock()
	c.sup.cfg.Logger.Info("An engine is ready.", "engine", c.spec.Name, "pid", p.pid, "took", time.Since(p.started).Round(time.Millisecond))
	return p, nil
}

func (c *child) reap(ctx context.Context) error {
	if c.spec.Reap == nil {
		return nil
	}
	if err := c.spec.Reap(ctx); err != nil {
		return fmt.Errorf("cannot clean up after the last run of %s: %w", c.spec.Name, err)
	}
	return nil
}

// keep watches the child's process and restarts it when it fails. It returns when the child is stopped, or has failed
// too often.
func (c *child) keep(p *process) {
	defer close(c.done)
	logger := c.sup.cfg.Logger.With("engine", c.spec.Name)
	backoff := backoff{cfg: &c.sup.cfg}
	for {
		err := c.watch(p)
		if errors.Is(err, errStopped) {
			if !p.terminate(c.kill, &c.spec) {
				logger.Warn("An engine did not stop in time and was killed.", "timeout", c.spec.StopTimeout)
			}
			c.finish(StatusStopped)
			return
		}
		p.kill()
		c.clearProcess()
		backoff.ran(time.Since(p.started))
		for {
			if !c.prepareRestart(err, &backoff) {
				return
			}
			if p, err = c.launch(c.stop); err == nil {
				break
			}
		}
	}
}

// prepareRestart waits for the backoff before a restart. It returns false if the child must not be restarted, because
// it was stopped or has failed too often.
func (c *child) prepareRestart(cause error, b *backoff) bool {
	logger := c.sup.cfg.Logger.With("engine", c.spec.Name)
	if c.stop.Err() != nil {
		c.finish(StatusStopped)
		return false
	}
	killed := errors.Is(cause, errKilled)
	if killed {
		c.sup.cfg.OnKilled(c.spec.Name)
	}
	delay, giveUp := b.next(killed)
	c.mu.Lock()
	c.lastErr = cause
	c.status = StatusRestarting
	c.mu.Unlock()
	if giveUp {
		logger.Error("An engine keeps failing and is not restarted any more.", "error", cause)
		c.finish(StatusFailed)
		c.sup.report(fmt.Errorf("engine %s failed after %d restarts in a row: %w", c.spec.Name, b.failures-1, cause))
		return false
	}
	logger.Warn("An engine failed and will be restarted.", "error", cause, "after", delay)
	select {
	case <-time.After(delay):
	case <-c.stop.Done():
		c.finish(StatusStopped)
		return false
	}
	c.mu.Lock()
	c.restarts++
	c.mu.Unlock()
	c.sup.cfg.OnRestart(c.spec.Name)
	return true
}

// watch returns the reason to replace the process, or errStopped.
func (c *child) watch(p *process) error {
	ticker := time.NewTicker(c.spec.PingInterval)
	defer ticker.Stop()
	var pending chan error
	failed := 0
	for {
		select {
		case <-c.stop.Done():
			return errStopped
		case <-p.exited:
			return p.exitError()
		case <-ticker.C:
			if pending == nil {
				answer := make(chan error, 1)
				go func() { answer <- p.ping(c.stop, &c.spec) }()
				pending = answer
			}
		case err := <-pending:
			pending = nil
			if err == nil || errors.Is(err, ErrStarting) {
				failed = 0
				continue
			}
			if failed++; failed >= c.spec.PingFailures {
				return p.withOutput(fmt.Errorf("it did not answer %d pings in a row: %w", failed, err))
			}
		}
	}
}

func (c *child) clearProcess() {
	c.mu.Lock()
	c.current = nil
	c.mu.Unlock()
}

func (c *child) finish(status Status) {
	if err := c.reap(c.kill); err != nil {
		c.sup.cfg.Logger.Warn("Cannot clean up after an engine.", "engine", c.spec.Name, "error", err)
	}
	c.mu.Lock()
	c.current, c.status = nil, status
	c.mu.Unlock()
}

func (c *child) state() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Name: c.spec.Name, Status: c.status, Restarts: c.restarts}
	if c.current != nil {
		s.PID = c.current.pid
	}
	if c.lastErr != nil {
		s.LastError = c.lastErr.Error()
	}
	return s
}

// backoff counts consecutive failures. `fatal` counts the failures that no SIGKILL from outside caused. Too many fatal
// failures end the restarts.
type backoff struct {
	cfg             *Config
	failures, fatal int
}

func (b *backoff) ran(lifetime time.Duration) {
	if lifetime >= b.cfg.StableAfter {
		b.failures, b.fatal = 0, 0
	}
}

func (b *backoff) next(killed bool) (delay time.Duration, giveUp bool) {
	delay = b.cfg.BackoffMin
	for range b.failures {
		delay = min(2*delay, b.cfg.BackoffMax)
	}
	b.failures++
	if !killed {
		b.fatal++
	}
	return delay, b.fatal > b.cfg.GiveUpAfter
}
