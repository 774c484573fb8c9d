package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// startPingEvery is the interval of pings to a starting child. A refused connection needs almost no processor time.
	startPingEvery = 20 * time.Millisecond
	// outputDelay is the time limit for reading output after a child's exit. The child's own children may keep the pipe
	// open for longer.
	outputDelay = 500 * time.Millisecond
)

// process is one run of a child, from its start to its exit.
type process struct {
	cmd     *exec.Cmd
	pid     int
	output  tail
	ready   chan struct{} // ready is closed when Spec.Ready has recognised a line
	exited  chan struct{} // exited is closed after the exit; err is set before
	err     error
	started time.Time
}

// spawn starts a process and the goroutine that waits for its exit.
func (s *spawner) spawn(spec *Spec, logger *slog.Logger) (*process, error) {
	cmd, err := spec.Command()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ready: make(chan struct{}), exited: make(chan struct{}), started: time.Now()}
	var once sync.Once
	forward := func(stream string) *lineWriter {
		return &lineWriter{line: func(line string) {
			if stream == "stdout" && spec.Ready != nil && spec.Ready(line) {
				once.Do(func() { close(p.ready) })
				return
			}
			p.output.add(line)
			level, text := spec.Line(line)
			logger.Log(context.Background(), level, text, "engine", spec.Name)
		}}
	}
	stdout, stderr := forward("stdout"), forward("stderr")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, outputDelay
	if spec.Ready == nil {
		once.Do(func() { close(p.ready) })
	}
	if err := s.start(cmd, spec.DeathSignal); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", cmd.Path, err)
	}
	p.pid = cmd.Process.Pid
	go func() {
		err := cmd.Wait()
		stdout.flush()
		stderr.flush()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		p.err = err
		close(p.exited)
	}()
	return p, nil
}

// awaitReady waits until the process answers a ping. It fails if the process exits or spec.StartTimeout passes.
func (p *process) awaitReady(ctx context.Context, spec *Spec) error {
	var lastPing error
	deadline := time.Now().Add(spec.StartTimeout)
	ticker := time.NewTicker(startPingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.exited:
			return p.exitError()
		case <-ticker.C:
		}
		if time.Now().After(deadline) {
			return p.withOutput(fmt.Errorf("it did not answer within %s: %w", spec.StartTimeout, orNoAnswer(lastPing)))
		}
		select {
		case <-p.ready:
		default:
			continue
		}
		lastPing = p.ping(ctx, spec)
		if lastPing == nil {
			return nil
		}
		if errors.Is(lastPing, ErrStarting) {
			deadline = time.Now().Add(spec.StartTimeout)
		}
	}
}

func orNoAnswer(err error) error {
	if err == nil {
		return errors.New("it has not printed that it listens")
	}
	return err
}

// ping pings the process. It returns early if the process exits.
func (p *process) ping(ctx context.Context, spec *Spec) error {
	ctx, cancel := context.WithTimeout(ctx, spec.PingTimeout)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-p.exited:
			cancel()
		case <-stop:
		}
	}()
	return spec.Ping(ctx)
}

// errKilled is wrapped by the error of a process that was killed by another process or by the kernel.
var errKilled = errors.New("it was killed from outside, as the kernel does when memory runs out")

// exitError returns the error for a process that the supervisor did not stop.
func (p *process) exitError() error {
	if p.err == nil {
		return p.withOutput(errors.New("it exited with status 0"))
	}
	if exit, ok := errors.AsType[*exec.ExitError](p.err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return p.withOutput(fmt.Errorf("%w: %w", errKilled, p.err))
		}
	}
	return p.withOutput(fmt.Errorf("it exited: %w", p.err))
}

func (p *process) withOutput(err error) error {
	if text := p.output.String(); text != "" {
		return fmt.Errorf("%w; its last output:\n%s", err, text)
	}
	return err
}

// terminate sends the stop signal, and kills the process after spec.StopTimeout or when ctx is done. It returns after
// the exit.
func (p *process) terminate(ctx context.Context, spec *Spec) (clean bool) {
	// The only possible error is that the process has already exited, which is harmless.
	_ = p.cmd.Process.Signal(spec.StopSignal)
	timer := time.NewTimer(spec.StopTimeout)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	p.kill()
	return false
}

// kill sends SIGKILL and returns after the exit.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.exited
}
