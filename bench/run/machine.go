package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine is what the figures depend on.
type machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemoryGB int    `json:"memoryGB"`
	Kernel   string `json:"kernel"`
	Go       string `json:"go"`
	// Load is the load average when the run began: another program that used
	// the machine makes all figures doubtful.
	Load float64 `json:"load"`
}

func thisMachine() (machine, error) {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: "unknown"}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return m, fmt.Errorf("cannot read the kernel's name: %w", err)
	}
	m.Kernel = unix.ByteSliceToString(name.Release[:])
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return m, fmt.Errorf("cannot read the machine's memory: %w", err)
	}
	m.MemoryGB = int((info.Totalram*uint64(info.Unit) + 1<<29) >> 30)
	m.Load = float64(info.Loads[0]) / 65536
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m, fmt.Errorf("cannot read the processor's name: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m, nil
}

func (m machine) text() string {
	return fmt.Sprintf("%s, %d cores, %d GB, Linux %s, %s, load %.1f at the start", m.CPU, m.Cores, m.MemoryGB, m.Kernel, m.Go, m.Load)
}

// process reads a process's figures; the zero value is one that is not ours.
type process int

// cpu is the processor seconds used so far.
func (p process) cpu() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold spaces.
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // USER_HZ, fixed in the kernel's interface
	return (user + system) / ticks
}

// memory is a line of /proc/pid/status in megabytes: VmRSS now, VmHWM at most.
func (p process) memory(name string) float64 {
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

// ownCPU is the processor time that this process used so far.
func ownCPU() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic("BUG: getrusage of oneself: " + err.Error())
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
