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

// ErrStarting is wrapped by a Ping's error if the child answers but is not ready, for example a database that replays
// its log. A child that is starting is never killed because it is slow. Its recovery may take any time.
var ErrStarting = errors.New("still starting")

// Spec describes how to run a child. Command and Ping are called from different goroutines, but never concurrently.
type Spec struct {
	// Name is the engine's name in logs, states and metrics.
	Name string
	// Command builds the command for one start. Each restart calls it again, and it must use the same port and
	// directory. The supervisor sets the result's Stdout, Stderr and WaitDelay and, in SysProcAttr, Setpgid and
	// Pdeathsig.
	Command func() (*exec.Cmd, error)
	// Ping returns nil if the child answers.
	Ping func(ctx context.Context) error
	// Ready recognizes the line of standard output in which the child reports that it listens. No ping is sent before
	// that line. So another process on the same port is never mistaken for the child. If Ready is nil, the first
	// answered ping is enough.
	Ready func(line string) bool
	// Reap removes the remains of a dead child: its child processes and lock files. It runs before every start and
	// after the last exit. The child never runs during Reap.
	Reap func(ctx context.Context) error
	// Line turns a line of the child's output into a log entry: a level and a text. If it is nil, lines are logged
	// unchanged at slog.LevelInfo.
	Line func(line string) (slog.Level, string)

	// StopSignal (default SIGTERM) requests a clean exit. SIGKILL follows after StopTimeout (default 20 s).
	StopSignal  syscall.Signal
	StopTimeout time.Duration
	// DeathSignal (default SIGKILL) is the signal that the kernel sends to the child when this process ends for any
	// reason.
	DeathSignal syscall.Signal
	// StartTimeout (default 2 min) is the time limit of a start, up to the first answered ping.
	StartTimeout time.Duration
	// A child is pinged every PingInterval (default 2 s) with a timeout of PingTimeout (default 5 s). After
	// PingFailures (default 3) failures in a row, the child is killed and restarted.
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

// Config is shared by all children of one supervisor.
type Config struct {
	Logger *slog.Logger
	// OnRestart is called before every restart, for metrics. It must not block.
	OnRestart func(name string)
	// OnKilled is called after a SIGKILL of a child that the supervisor did not send. Usually the kernel sends it
	// because memory has run out. It must not block.
	OnKilled func(name string)
	// The delay before a restart starts at BackoffMin (default 100 ms). It doubles with each restart up to BackoffMax
	// (default 10 s). The delay is reset when a process has run for StableAfter (default 30 s).
	BackoffMin  time.Duration
	BackoffMax  time.Duration
	StableAfter time.Duration
	// GiveUpAfter is the largest number of consecutive restarts without a stable process (default 12, a minute or
	// more). After one more failure, the child is not restarted any more, and Err reports the error. Restarts after
	// OnKilled are not included, because memory may run out many times.
	GiveUpAfter int
}

func (c *Config) fill() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnRestart == nil {
		c.OnRestart = func(string) {}
	}
	if c.OnKilled == nil {
		c.OnKilled = func(string) {}
	}
	c.BackoffMin = cmp.Or(c.BackoffMin, 100*time.Millisecond)
	c.BackoffMax = cmp.Or(c.BackoffMax, 10*time.Second)
	c.StableAfter = cmp.Or(c.StableAfter, 30*time.Second)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 12)
}

// Status is the state of a child's life cycle.
type Status string

// These are the statuses of a child. A child answers only with StatusRunning.
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
	// LastError is the reason for the child's last restart, or for its final failure. A successful restart does not
	// clear it.
	LastError string `json:"last_error,omitempty"`
}
