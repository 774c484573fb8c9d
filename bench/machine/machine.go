// Package machine describes the machine and the commit of a measurement.
//
// The only other package of this module that it may import is cmd/engine/enginetest, to find the module's root.
package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine describes the machine on which a result was measured.
type Machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemoryGB int    `json:"memoryGB"`
	Kernel   string `json:"kernel"`
	Go       string `json:"go"`
	// Load is the load average at the beginning of the run. A high value means that other programs used the machine, so
	// that the figures are unreliable.
	Load float64 `json:"load"`
}

// This returns a Machine that describes the machine on which the program runs.
func This() (Machine, error) {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: "unknown"}
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

// Text describes the machine in one line.
func (m Machine) Text() string {
	return fmt.Sprintf("%s, %d cores, %d GB, Linux %s, %s, load %.1f at the start", m.CPU, m.Cores, m.MemoryGB, m.Kernel, m.Go, m.Load)
}

// Commit returns the commit of the measured source code, with "-dirty" if there are uncommitted changes.
func Commit(ctx context.Context) string {
	git := func(arguments ...string) string {
		cmd := exec.CommandContext(ctx, "git", arguments...)
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	id := git("rev-parse", "--short=10", "HEAD")
	if id == "" {
		return "unknown"
	}
	// Results that a benchmark has just written do not count as changes.
	if git("status", "--porcelain", "--", ":/", ":(top,exclude)bench/results") != "" {
		id += "-dirty"
	}
	return id
}
