package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

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
