package chserver

import (
	"runtime"
	"testing"
)

// TestMergesOfLimitedProcessors limits the processors of this process, as a container does. The number of concurrent
// merges must follow the limit, and the memory.
func TestMergesOfLimitedProcessors(t *testing.T) { // no other test may run concurrently, because the limit is global
	full := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(full)
	for _, c := range []struct {
		processors, want int
		memory           int64
	}{{1, 2, 0}, {3, 3, 0}, {12, 12, 0}, {12, 4, 512 << 20}, {12, 2, 64 << 20}} {
		runtime.GOMAXPROCS(c.processors)
		if merges := (Config{MaxMemory: c.memory}).merges(); merges != c.want {
			t.Errorf("%d processors, %d bytes: %d merges, want %d", c.processors, c.memory, merges, c.want)
		}
	}
}
