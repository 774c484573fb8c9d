package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// ownCPU returns the CPU time that this process has used so far.
func ownCPU() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic("BUG: getrusage of oneself: " + err.Error())
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
