package embedded

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// Usage is what one engine uses now.
type Usage struct {
	Name string
	Up   bool // it answers
	// Memory is what the engine's processes have in memory, in bytes. Pages that they share count once. 0 while none runs.
	Memory int64
	// Disk and MaxDisk are the bytes that the engine has below the data directory and the bound of them; 0 where there is none.
	Disk, MaxDisk int64
}

// Usage measures all engines, for metrics. What cannot be measured, such as an engine that ends just now, is 0.
func (e *Engines) Usage() []Usage {
	var list []Usage
	for _, state := range e.State() {
		u := Usage{Name: state.Name, Up: state.Status == supervise.StatusRunning}
		if state.PID != 0 {
			u.Memory = memoryOf(state.PID)
		}
		// Only the log has a bound, and so few files that they can be looked at each time.
		if state.Name == Kafka {
			u.Disk, u.MaxDisk = sizeOf(filepath.Join(e.dataDir, Kafka)), e.maxLog
		}
		list = append(list, u)
	}
	return list
}

// memoryOf is what a process has in memory, and what its children have beyond that: Postgres' share most of theirs with it.
func memoryOf(pid int) int64 {
	bytes, _ := residentOf(pid)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return bytes
	}
	for child := range strings.FieldsSeq(string(children)) {
		if id, err := strconv.Atoi(child); err == nil {
			resident, shared := residentOf(id)
			bytes += resident - shared
		}
	}
	return bytes
}

// residentOf reads how much a process has in memory, and how much of it are files and memory that it shares.
func residentOf(pid int) (resident, shared int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0
	}
	var size int64
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	return resident * page, shared * page
}

// sizeOf adds up the files below a folder. A file that is deleted meanwhile counts nothing.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // the rest counts
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
