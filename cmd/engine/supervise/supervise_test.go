package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

func TestStartAnswersAndStopEnds(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{})
	spec, address := childSpec(t, "one", "serve")
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	state := s.State()[0]
	if state.Status != supervise.StatusRunning || state.Restarts != 0 {
		t.Errorf("got %+v", state)
	}
	if pid, err := ask(t.Context(), address); pid != strconv.Itoa(state.PID) {
		t.Errorf("process %s answers, want %d: %v", pid, state.PID, err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive(state.PID) || s.State()[0].Status != supervise.StatusStopped {
		t.Errorf("still running: %+v", s.State())
	}
	if err := s.Start(t.Context(), spec); err == nil {
		t.Error("started after Stop")
	}
}

func TestFailedStartShowsLastOutput(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{})
	spec, _ := childSpec(t, "sorry", "fail")
	err := s.Start(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "sorry") || !strings.Contains(err.Error(), "exit status 3") ||
		!strings.Contains(err.Error(), "first words\nno such luck") {
		t.Errorf("got %v", err)
	}
	if len(s.State()) != 0 {
		t.Errorf("the failed child is still listed: %+v", s.State())
	}
	stop(t, s)
}

func TestStartGivesUpOnASilentChild(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{})
	spec, _ := childSpec(t, "silent", "mute")
	spec.StartTimeout = 100 * time.Millisecond
	if err := s.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "did not answer within 100ms") {
		t.Errorf("got %v", err)
	}
	stop(t, s)
}

// TestStartWaitsForAChildThatSaysItIsStarting checks that a child is not killed while it reports ErrStarting for longer
// than StartTimeout. The test needs real time.
func TestStartWaitsForAChildThatSaysItIsStarting(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{})
	spec, _ := childSpec(t, "slow", "serve")
	spec.StartTimeout = 3 * time.Second
	began := time.Now()
	ping := spec.Ping
	spec.Ping = func(ctx context.Context) error {
		if time.Since(began) < spec.StartTimeout+time.Second {
			return fmt.Errorf("replaying: %w", supervise.ErrStarting)
		}
		return ping(ctx)
	}
	if err := s.Start(t.Context(), spec); err != nil {
		t.Error(err)
	}
	stop(t, s)
}

func TestKilledChildIsRestartedAtItsAddress(t *testing.T) {
	t.Parallel()
	var counted atomic.Int32
	s := supervise.New(supervise.Config{BackoffMin: time.Millisecond, OnRestart: func(name string) {
		if name == "phoenix" {
			counted.Add(1)
		}
	}})
	spec, address := childSpec(t, "phoenix", "serve")
	var reaped atomic.Int32
	spec.Reap = func(context.Context) error { reaped.Add(1); return nil }
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	for round := range 3 {
		before := s.State()[0].PID
		if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually.Succeeds(t, "a restart", func() error {
			if state := s.State()[0]; state.Status != supervise.StatusRunning || state.Restarts != round+1 {
				return fmt.Errorf("round %d shows %+v", round, state)
			}
			return nil
		})
		if pid, err := ask(t.Context(), address); err != nil || pid == strconv.Itoa(before) {
			t.Fatalf("process %s answers: %v", pid, err)
		}
	}
	if counted.Load() != 3 || reaped.Load() != 4 {
		t.Errorf("OnRestart ran %d times, Reap %d times", counted.Load(), reaped.Load())
	}
	if got := s.State()[0].LastError; !strings.Contains(got, "killed") {
		t.Errorf("last error is %q", got)
	}
}

// TestKilledChildIsNotGivenUp kills a child more than GiveUpAfter times, as the kernel does if memory runs out. The
// child is always restarted. OnKilled is called for each of these kills, and not for the supervisor's own kill.
func TestKilledChildIsNotGivenUp(t *testing.T) {
	t.Parallel()
	var killed atomic.Int32
	s := supervise.New(supervise.Config{
		BackoffMin: time.Millisecond, BackoffMax: 2 * time.Millisecond, GiveUpAfter: 1,
		OnKilled: func(name string) {
			if name == "hunted" {
				killed.Add(1)
			}
		},
	})
	spec, _ := childSpec(t, "hunted", "serve")
	spec.PingTimeout, spec.PingFailures = 50*time.Millisecond, 2
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	const kills = 4
	for round := range kills + 1 {
		signal := syscall.SIGKILL
		if round == kills {
			signal = syscall.SIGSTOP // The supervisor kills this child, because it does not answer.
		}
		before := s.State()[0].PID
		if err := syscall.Kill(before, signal); err != nil {
			t.Fatal(err)
		}
		eventually.Succeeds(t, "a restart", func() error {
			if state := s.State()[0]; state.Status != supervise.StatusRunning || state.PID == before {
				return fmt.Errorf("round %d shows %+v", round, state)
			}
			return nil
		})
	}
	if killed.Load() != kills {
		t.Errorf("OnKilled ran %d times", killed.Load())
	}
}

func TestHangingChildIsRestarted(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{BackoffMin: time.Millisecond})
	spec, _ := childSpec(t, "stuck", "serve")
	spec.PingTimeout, spec.PingFailures = 50*time.Millisecond, 2
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	before := s.State()[0].PID
	// A process that SIGSTOP has stopped has an open socket but never answers, like a hanging process.
	if err := syscall.Kill(before, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "another process", func() error {
		if state := s.State()[0]; state.Status != supervise.StatusRunning || state.PID == before {
			return fmt.Errorf("it is %+v", state)
		}
		return nil
	})
	if !strings.Contains(s.State()[0].LastError, "2 pings in a row") {
		t.Errorf("last error is %q", s.State()[0].LastError)
	}
}

func TestChildThatKeepsFailingIsGivenUp(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{BackoffMin: time.Millisecond, BackoffMax: 2 * time.Millisecond, GiveUpAfter: 3})
	spec, _ := childSpec(t, "doomed", "serve")
	first := spec.Command
	failing, _ := childSpec(t, "doomed", "fail")
	var starts atomic.Int32
	spec.Command = func() (*exec.Cmd, error) {
		if starts.Add(1) == 1 {
			return first()
		}
		return failing.Command()
	}
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	if err := syscall.Kill(s.State()[0].PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.Err():
		if !strings.Contains(err.Error(), "doomed") || !strings.Contains(err.Error(), "no such luck") {
			t.Errorf("got %v", err)
		}
	case <-time.After(eventually.Patience):
		t.Fatal("it was never given up")
	}
	if state := s.State()[0]; state.Status != supervise.StatusFailed || starts.Load() != 4 {
		t.Errorf("got %+v after %d starts", state, starts.Load())
	}
}

func TestStopIsInReverseOrderAndWaits(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{})
	note := filepath.Join(t.TempDir(), "note")
	var want []string
	for _, name := range []string{"first", "second", "third"} {
		spec, address := childSpec(t, name, "serve")
		command := spec.Command
		spec.Command = func() (*exec.Cmd, error) {
			cmd, err := command()
			cmd.Env = append(cmd.Env, envNote+"="+note)
			return cmd, err
		}
		if err := s.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		want = append([]string{address}, want...)
	}
	stop(t, s)
	text, err := os.ReadFile(note)
	if err != nil || strings.TrimSpace(string(text)) != strings.Join(want, "\n") {
		t.Errorf("stopped in the order\n%swant\n%s\n%v", text, strings.Join(want, "\n"), err)
	}
}

func TestStubbornChildIsKilled(t *testing.T) {
	t.Parallel()
	t.Run("after its timeout", func(t *testing.T) {
		t.Parallel()
		s := supervise.New(supervise.Config{})
		spec, _ := childSpec(t, "stubborn", "stubborn")
		spec.StopTimeout = 50 * time.Millisecond
		if err := s.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		pid := s.State()[0].PID
		stop(t, s)
		if alive(pid) {
			t.Error("it is still alive")
		}
	})
	t.Run("when the caller's context ends", func(t *testing.T) {
		t.Parallel()
		s := supervise.New(supervise.Config{})
		spec, _ := childSpec(t, "stubborn", "stubborn")
		spec.StopTimeout = time.Hour
		if err := s.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		pid := s.State()[0].PID
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || alive(pid) {
			t.Errorf("got %v, alive: %t", err, alive(pid))
		}
	})
}

func TestStopDuringAStart(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Config{})
	spec, _ := childSpec(t, "late", "mute")
	started := make(chan error, 1)
	go func() { started <- s.Start(context.Background(), spec) }()
	eventually.True(t, "the process", func() bool {
		states := s.State()
		return len(states) == 1 && states[0].PID != 0
	})
	pid := s.State()[0].PID
	stop(t, s)
	if err := <-started; err == nil || alive(pid) {
		t.Errorf("got %v, alive: %t", err, alive(pid))
	}
}

func TestOutputIsLoggedByLine(t *testing.T) {
	t.Parallel()
	var text capture.Buffer
	s := supervise.New(supervise.Config{Logger: slog.New(slog.NewTextHandler(&text, nil))})
	spec, _ := childSpec(t, "talker", "fail")
	spec.Line = func(line string) (slog.Level, string) { return slog.LevelError, strings.ToUpper(line) }
	if err := s.Start(t.Context(), spec); err == nil {
		t.Fatal("started")
	}
	stop(t, s)
	for _, want := range []string{`level=ERROR msg="FIRST WORDS" engine=talker`, `msg="NO SUCH LUCK"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, text.String())
		}
	}
}

func stop(t *testing.T, s *supervise.Supervisor) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
