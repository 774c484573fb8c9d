package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/bench/machine"
)

// adoptOrphans makes this process the parent of descendants whose parent has exited, so that killAll finds them.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot adopt orphans: %w", err)
	}
	return nil
}

// killAll kills all descendants of this process and waits until they have exited.
func killAll(within time.Duration) error {
	for end := time.Now().Add(within); ; {
		pids, err := machine.Process(os.Getpid()).Descendants()
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("processes %v do not exit", pids)
		}
		for _, pid := range pids {
			if err := syscall.Kill(int(pid), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("cannot kill process %d: %w", pid, err)
			}
		}
		// Descendants leaves out zombies. exec.Cmd reaps the children of this process.
		time.Sleep(20 * time.Millisecond)
	}
}
