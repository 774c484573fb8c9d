package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// memoryLimit is the Go runtime's soft limit. It leaves the rest of the machine's memory to the embedded engines. Below
// the limit, garbagePercent makes the collector run less often than Go's default of 100. GOMEMLIMIT and GOGC override
// both.
const (
	memoryLimit    = 196 << 20
	garbagePercent = 300
)

// Open connections hold live memory, some 12 KiB each. With a fixed limit, ten thousand idle connections make the
// collector run without end, and every request is slow. So the limit grows by half of each connection's memory.
const (
	connectionBytes = 6 << 10
	connectionStep  = 1 << 10 // changing the limit stops the world briefly, so change it in steps
)

func memoryLimitFor(connections int) int64 {
	return memoryLimit + int64(connections/connectionStep)*connectionStep*connectionBytes
}

func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// followConnections adjusts the memory limit to the number of open connections.
func followConnections(ctx context.Context, open func() int) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for limit := int64(memoryLimit); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if next := memoryLimitFor(open()); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
}
