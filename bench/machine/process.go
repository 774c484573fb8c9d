package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// Memory returns the value of a line of /proc/pid/status, in megabytes. VmRSS is the current memory, and VmHWM is the
// peak memory.
func (p Process) Memory(name string) float64 { return p.kilobytes("status", name) / 1024 }

// Descendants returns the running processes that descend from the process. It leaves out zombies.
func (p Process) Descendants() ([]Process, error) {
	children := map[int][]Process{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has exited
		}
		// The format is: pid (name) state parent. The name may contain blanks
		// and brackets.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("cannot read %s", path)
		}
		children[parent] = append(children[parent], Process(pid))
	}
	list := slices.Clone(children[int(p)])
	for i := 0; i < len(list); i++ {
		list = append(list, children[int(list[i])]...)
	}
	return list, nil
}

// Command returns the arguments with which the process was started.
func (p Process) Command() []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// Share returns the process's share of the machine's memory, in megabytes. Processes that share memory count equal
// parts of it.
func (p Process) Share() float64 { return p.kilobytes("smaps_rollup", "Pss") / 1024 }

// Threads returns the number of threads of the process.
func (p Process) Threads() int { return p.entries("task") }

// Files returns the number of open files of the process.
func (p Process) Files() int { return p.entries("fd") }

func (p Process) entries(folder string) int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", p, folder))
	if err != nil {
		return 0
	}
	return len(list)
}

// kilobytes finds a line in a file about the process, and returns the line's value in kB.
func (p Process) kilobytes(file, name string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			kb, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kb
		}
	}
	return 0
}
