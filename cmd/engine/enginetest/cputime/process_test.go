//go:build linux

package cputime

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestOfProcessHasTheTimesOfEndedChildren(t *testing.T) {
	before, err := OfProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	after, err := OfProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	used := child.ProcessState.UserTime() + child.ProcessState.SystemTime()
	// Each of the four times in /proc is rounded down to a tick.
	if used < 10*tick || after-before < used-4*tick {
		t.Errorf("a child used %v, but the time grew by %v", used, after-before)
	}
}

func TestOfProcessWithoutTheProcess(t *testing.T) {
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if used, err := OfProcess(child.Process.Pid); err == nil {
		t.Errorf("a process that has ended used %v", used.Round(time.Millisecond))
	}
}
