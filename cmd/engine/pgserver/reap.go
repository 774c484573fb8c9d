package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	reapEvery = 10 * time.Millisecond
	reapLimit = 15 * time.Second
)

// Reap kills the processes that a killed postmaster left behind, and removes its lock file. A busy backend outlives its
// postmaster and still uses the shared memory, so the next start fails. The next start also fails if the lock file's
// pid now belongs to another program. The caller holds the lock on Dir and runs no server, so every Postgres process in
// Dir is a leftover.
func (s *Server) Reap(ctx context.Context) error {
	deadline := time.Now().Add(reapLimit)
	for {
		left, err := s.killLeftovers()
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("cannot start Postgres: %d processes of an earlier run in %s do not exit after SIGKILL", left, s.cfg.Dir)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(reapEvery):
		}
	}
	err := os.Remove(filepath.Join(s.dataDir(), "postmaster.pid"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove the lock file of an earlier Postgres: %w", err)
	}
	return nil
}

// killLeftovers kills every postgres process whose working directory is a cluster below Dir. Every Postgres process has
// its cluster as its working directory. killLeftovers returns the number of killed processes.
func (s *Server) killLeftovers() (int, error) {
	root, err := filepath.EvalSymlinks(s.cfg.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot resolve the Postgres directory: %w", err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("cannot list processes: %w (octavo needs /proc)", err)
	}
	found := 0
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || !worksBelow(pid, root) {
			continue
		}
		// The handle refers to the process itself. So another process that later gets the same pid is not killed.
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if worksBelow(pid, root) {
			found++
			_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0) // if this fails, the next round tries again
		}
		_ = unix.Close(handle)
	}
	return found, nil
}

// worksBelow reports whether a process is Postgres with a working directory below `root`. It returns false for exiting
// processes and for another user's processes, because their links cannot be read.
func worksBelow(pid int, root string) bool {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || !strings.HasPrefix(strings.TrimSuffix(dir, " (deleted)"), root+string(filepath.Separator)) {
		return false
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && strings.TrimSuffix(filepath.Base(program), " (deleted)") == "postgres"
}
