// Package dirlock gives a directory one owner at a time, across processes. The kernel releases the lock when the owning
// process ends for any reason.
//
// It must not import any other package of this module.
package dirlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const retryEvery = 20 * time.Millisecond

// HeldError means that another process owns the directory.
type HeldError struct {
	Dir string
	PID int // 0 if the owner has not written its pid yet
}

func (e *HeldError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner = "process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("directory %s is in use by %s: stop it, or use another directory", e.Dir, owner)
}

// Lock is an acquired lock.
type Lock struct{ file *os.File }

// Acquire creates `dir` if needed and locks it. If another owner holds the lock, it waits for the duration `wait` and
// then fails with a *HeldError.
func Acquire(ctx context.Context, dir string, wait time.Duration) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create directory %s: %w (choose a directory that this user may write)", dir, err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write in directory %s: %w (choose a directory that this user may write)", dir, err)
	}
	deadline := time.Now().Add(wait)
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("cannot lock directory %s: %w (its file system must support flock)", dir, err)
		}
		if !time.Now().Before(deadline) {
			held := &HeldError{Dir: dir, PID: readPID(file)}
			_ = file.Close()
			return nil, held
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(retryEvery):
		}
	}
	if err := writePID(file); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cannot write in directory %s: %w", dir, err)
	}
	return &Lock{file: file}, nil
}

// Release releases the directory. It unlocks the file before it closes the file. A child of this process has a copy of
// the open file from its fork until its exec. Without the unlock, this copy would still hold the lock. Release does not
// remove the lock file. After a removal, two owners could lock two different files of the same name.
func (l *Lock) Release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}

func readPID(file *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
