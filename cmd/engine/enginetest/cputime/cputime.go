//go:build linux

// Package cputime measures processor time, which does not depend on the load of the machine. The package must not
// import any package of this module, so that the tests of any package may import it.
package cputime

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Of runs f and returns the processor time that the thread used while f ran. This time excludes the garbage collector
// and goroutines that f starts.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	before := used()
	f()
	return used() - before
}

func used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(fmt.Errorf("cannot read the thread's processor time: %w", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
