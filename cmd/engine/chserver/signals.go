package chserver

import (
	"fmt"
	"syscall"
	"unsafe"
)

// disposition is the kernel's struct sigaction. Its layout differs between architectures, but only the kernel reads it.
// 64 bytes are enough on all architectures.
type disposition [64]byte

const lastSignal = 64

// signalTable is a snapshot of the dispositions of all signals.
type signalTable [lastSignal + 1]disposition

// saveSignals reads all dispositions. When the engine starts, it installs its own handlers for fatal signals. With
// these handlers, a nil dereference in Go sleeps for minutes instead of panicking. Call saveSignals before the start of
// the engine, and `restore` afterwards.
func saveSignals() (*signalTable, error) {
	table := &signalTable{}
	for signal := 1; signal <= lastSignal; signal++ {
		if err := sigaction(signal, nil, &table[signal]); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// restore resets every disposition that has changed since saveSignals.
func (t *signalTable) restore() error {
	for signal := 1; signal <= lastSignal; signal++ {
		var now disposition
		if err := sigaction(signal, nil, &now); err != nil {
			return err
		}
		if now == t[signal] {
			continue
		}
		if err := sigaction(signal, &t[signal], nil); err != nil {
			return err
		}
	}
	return nil
}

func sigaction(signal int, set, get *disposition) error {
	const kernelMaskSize = 8
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), kernelMaskSize, 0, 0)
	if errno != 0 {
		return fmt.Errorf("cannot read or set the handler of signal %d: %w", signal, errno)
	}
	return nil
}
