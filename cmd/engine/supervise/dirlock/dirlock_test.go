package dirlock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
)

func TestErrorNamesTheOwner(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made")
	first, err := dirlock.Acquire(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dirlock.Acquire(t.Context(), dir, 0)
	var held *dirlock.HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() || held.Dir != dir {
		t.Fatalf("got %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := dirlock.Acquire(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Release()
}

func TestAcquireWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first, err := dirlock.Acquire(t.Context(), dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() {
			second, err := dirlock.Acquire(context.Background(), dir, eventually.Patience)
			if err == nil {
				err = second.Release()
			}
			got <- err
		}()
		synctest.Wait() // wait until the second Acquire waits for the lock
		if err := first.Release(); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
	})
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := dirlock.Acquire(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Release() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dirlock.Acquire(ctx, dir, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNotWritable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := dirlock.Acquire(t.Context(), filepath.Join(file, "below"), 0)
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "may write") {
		t.Errorf("got %v", err)
	}
}

// TestReleaseBeforeExec checks that a copy of the open file does not hold the lock after the release. A child of this
// process has such a copy before its exec.
func TestReleaseBeforeExec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := dirlock.Acquire(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	copied := false
	for _, file := range files {
		name, err := os.Readlink(filepath.Join("/proc/self/fd", file.Name()))
		if err != nil || name != filepath.Join(dir, "lock") {
			continue
		}
		n, err := strconv.Atoi(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		held, err := unix.Dup(n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(held) })
		copied = true
		break
	}
	if !copied {
		t.Fatal("the lock's file is not open")
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := dirlock.Acquire(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Release()
}
