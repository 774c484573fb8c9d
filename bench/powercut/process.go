package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of descendants whose parent has exited, so that killAll finds them.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot adopt orphans: %w", err)
	}
	return nil
}

// descendants returns the ids of the running processes that descend from this process.
func descendants() ([]int, error) {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has exited
		}
		// The format is: pid (name) state parent. The name may contain spaces and brackets.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("cannot read %s", path)
		}
		children[parent] = append(children[parent], pid)
	}
	list := slices.Clone(children[os.Getpid()])
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list, nil
}

// killAll kills all descendants of this process and waits until they have exited.
func killAll(within time.Duration) error {
	for end := time.Now().Add(within); ; {
		pids, err := descendants()
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
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("cannot kill process %d: %w", pid, err)
			}
		}
		// Zombies need not be reaped here, because descendants leaves them out.
		time.Sleep(20 * time.Millisecond)
	}
}
