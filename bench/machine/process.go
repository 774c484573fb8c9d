package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process reads the resource use of a process. The zero value is a process that
// is not ours.
type Process int

// CPU returns the CPU seconds used so far.
func (p Process) CPU() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return 0
	}
	// The name in brackets may contain spaces.
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // USER_HZ, fixed in the kernel's interface
	return (user + system) / ticks
}

// Memory returns a line of /proc/pid/status in megabytes: VmRSS is the current
// memory, VmHWM the peak.
func (p Process) Memory(name string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			kb, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
