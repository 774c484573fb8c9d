//go:build linux

package intake

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestRefusedIsNotRead checks that a body is not read if the intake has no room for it. A body that is not JSON must
// not be read after its error. The memory that must not be read is protected, so reading it would crash the test.
func TestRefusedIsNotRead(t *testing.T) {
	page := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 8*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	for _, r := range refusedPosts() {
		readable := 0
		switch {
		case r.inside != nil:
		case r.want == insights.NotJSON:
			readable = page
		default:
			continue // these bodies are read completely, to count their events
		}
		if err := syscall.Mprotect(memory, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			t.Fatal(err)
		}
		copy(memory, r.body)
		if err := syscall.Mprotect(memory[readable:], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		in := r.intake(t)
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if fault := recover(); fault != nil {
					t.Errorf("%s: the body is read: %v", r.name, fault)
				}
			}()
			r.post(t, in, memory)
		}()
	}
}
