package embedded

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// Usage is the current resource use of one engine.
type Usage struct {
	Name string
	Up   bool // whether the engine answers
	// Memory is the resident memory of the engine's processes in bytes. It includes shared pages only once. It is 0
	// while no process runs.
	Memory int64
	// Disk is the size of the engine's files in bytes and MaxDisk their limit. Both are 0 for an engine without a
	// limit.
	Disk, MaxDisk int64
	// Load is the fraction of the full load that the node gives to ClickHouse. It is 1, or less after engines were
	// killed. For the other engines it is 0.
	Load float64
	// Damaged is the number of files with damaged bytes of the log.
	Damaged int
}

// Usage measures all engines, for metrics. A value that cannot be measured is 0, for example if an engine is just
// exiting.
func (e *Engines) Usage() []Usage {
	var list []Usage
	for _, state := range e.State() {
		u := Usage{Name: state.Name, Up: state.Status == supervise.StatusRunning}
		if state.PID != 0 {
			u.Memory = memoryOf(state.PID)
		}
		if state.Name == ClickHouse {
			u.Load = e.load.Part()
		}
		// Only the log has a limit, and it has few enough files to stat them on every call.
		if state.Name == Kafka {
			u.Disk, u.MaxDisk = sizeOf(filepath.Join(e.dataDir, Kafka)), e.maxLog
			u.Damaged = kafkaserver.DamagedFiles(filepath.Join(e.dataDir, Kafka))
		}
		list = append(list, u)
	}
	return list
}

// memoryOf adds up the resident memory of a process and the unshared memory of its children. Postgres' children share
// most of their memory with their parent.
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

// residentOf returns a process's resident memory, and how much of it is shared memory and mapped files.
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

// sizeOf adds up the sizes of the files below a folder. Files that are deleted meanwhile are not counted.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // skip files that cannot be read, and everything that is not a file
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
