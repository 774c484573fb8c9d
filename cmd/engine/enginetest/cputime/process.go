//go:build linux

package cputime

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit of times in /proc. It is a hundredth of a second on every machine.
const tick = time.Second / 100

// OfProcess returns the processor time of a process and of the child processes that it has waited for.
func OfProcess(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("cannot read the times of process %d: %w", pid, err)
	}
	// The program's name stands in parentheses, and may contain spaces and parentheses.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const user, childrenSystem = 11, 14
	if len(fields) <= childrenSystem {
		return 0, fmt.Errorf("cannot read the times of process %d in %q", pid, text)
	}
	var ticks time.Duration
	for _, field := range fields[user : childrenSystem+1] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cannot read the times of process %d: %w", pid, err)
		}
		ticks += time.Duration(n)
	}
	return ticks * tick, nil
}
