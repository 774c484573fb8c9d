package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process is the id of a process. Its methods return the resources that the process uses. They return 0 if there is no
// such process, as for the id 0.
type Process int

// CPU returns the CPU time that the process has used so far, in seconds.
func (p Process) CPU() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return 0
	}
	// Count the fields after the last bracket, because the name in brackets may contain spaces.
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // USER_HZ, which is fixed in the kernel's interface
	return (user + system) / ticks
}

// Memory returns a value of /proc/PID/status in megabytes. VmRSS is the current memory, and VmHWM is the peak memory.
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
