package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process is the id of a process. Its methods read the process's use of resources. They return 0 for an id without a
// process, such as the zero value.
type Process int

// CPU returns the CPU time that the process has used so far, in seconds.
func (p Process) CPU() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return 0
	}
	// Fields are counted after the last bracket, because the name in brackets may contain spaces.
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // USER_HZ, fixed in the kernel's interface
	return (user + system) / ticks
}

// Memory returns the value of a line of /proc/pid/status, in megabytes. VmRSS is the current memory, and VmHWM is the
// peak memory.
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
