package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"syscall"
	"time"
)

// ErrStarting is what a Ping wraps when the child answers that it is alive but not ready (a database replaying its log).
// Such a child is never killed for being slow: recovery may take as long as it takes.
var ErrStarting = errors.New("still starting")

// Spec says how to run one child. Command and Ping are called from several goroutines over the child's life, never two at once.
type Spec struct {
	// Name is the engine's name in logs, states and metrics.
	Name string
	// Command builds a command for one start. A restart builds another one, so it must use the same port and directory.
	// The supervisor owns the result's Stdout, Stderr, WaitDelay and, in SysProcAttr, Setpgid and Pdeathsig.
	Command func() (*exec.Cmd, error)
	// Ping asks whether the child answers.
	Ping func(ctx context.Context) error
	// Ready recognises the line on the child's standard output that says that it listens. With it set, no ping is sent before that
	// line, so that a stranger on the same port is never taken for the child. Nil: the first answered ping is enough.
	Ready func(line string) bool
	// Reap removes what a dead child may have left behind (processes of its own, lock files). It runs before every start and
	// after the last exit, always while no child runs.
	Reap func(ctx context.Context) error
	// Line gives the level and the text with which a line of the child's output is logged. Nil: as it is, at slog.LevelInfo.
	Line func(line string) (slog.Level, string)

	// StopSignal asks for a clean end (default SIGTERM); after StopTimeout (default 20 s) it is SIGKILL.
	StopSignal  syscall.Signal
	StopTimeout time.Duration
	// DeathSignal is sent by the kernel when this process dies, however it dies (default SIGKILL).
	DeathSignal syscall.Signal
	// StartTimeout bounds one start up to the first answered ping (default 2 min).
	StartTimeout time.Duration
	// A child is unresponsive, and is killed and restarted, after PingFailures (default 3) pings in a row, one every
	// PingInterval (default 2 s), each given PingTimeout (default 5 s).
	PingInterval time.Duration
	PingTimeout  time.Duration
	PingFailures int
}

func (s *Spec) fill() error {
	if s.Name == "" || s.Command == nil || s.Ping == nil {
		return fmt.Errorf("cannot supervise %q: Name, Command and Ping are required", s.Name)
	}
	s.StopSignal = cmp.Or(s.StopSignal, syscall.SIGTERM)
	s.StopTimeout = cmp.Or(s.StopTimeout, 20*time.Second)
	s.DeathSignal = cmp.Or(s.DeathSignal, syscall.SIGKILL)
	s.StartTimeout = cmp.Or(s.StartTimeout, 2*time.Minute)
	s.PingInterval = cmp.Or(s.PingInterval, 2*time.Second)
	s.PingTimeout = cmp.Or(s.PingTimeout, 5*time.Second)
	s.PingFailures = cmp.Or(s.PingFailures, 3)
	if s.Line == nil {
		s.Line = func(line string) (slog.Level, string) { return slog.LevelInfo, line }
	}
	return nil
}

// Config is what all children of one supervisor share.
type Config struct {
	Logger *slog.Logger
	// OnRestart is called before every restart, for a metric. It must not block.
	OnRestart func(name string)
	// A restart waits BackoffMin (default 100 ms), doubled for every further one up to BackoffMax (default 10 s), and is back at
	// BackoffMin once a child has answered for StableAfter (default 30 s).
	BackoffMin  time.Duration
	BackoffMax  time.Duration
	StableAfter time.Duration
	// GiveUpAfter restarts in a row without a stable child (default 12, a minute or more) the child has failed and Err reports it.
	GiveUpAfter int
}

func (c *Config) fill() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnRestart == nil {
		c.OnRestart = func(string) {}
	}
	c.BackoffMin = cmp.Or(c.BackoffMin, 100*time.Millisecond)
	c.BackoffMax = cmp.Or(c.BackoffMax, 10*time.Second)
	c.StableAfter = cmp.Or(c.StableAfter, 30*time.Second)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 12)
}

// Status is where a child stands.
type Status string

// The statuses a child passes through. Only StatusRunning means that it answers.
const (
	StatusStarting   Status = "starting"
	StatusRunning    Status = "running"
	StatusRestarting Status = "restarting"
	StatusFailed     Status = "failed"
	StatusStopped    Status = "stopped"
)

// State is a snapshot of one child.
type State struct {
	Name     string `json:"name"`
	Status   Status `json:"status"`
	PID      int    `json:"pid,omitempty"` // 0 while no process runs
	Restarts int    `json:"restarts"`
	// LastError is why the child was last restarted or given up; it stays after a successful restart.
	LastError string `json:"last_error,omitempty"`
}
