package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// The Go runtime aims to stay below memoryLimit, so that the engines beside it
// have the rest, and below it collects garbage less often than it would by
// itself. GOMEMLIMIT and GOGC set other values.
const (
	memoryLimit    = 196 << 20
	garbagePercent = 300
)

// What open connections hold is no garbage: with ten thousand idle ones below a
// fixed limit the collector runs without end, and everybody waits for it. Each
// holds some 12 KiB, of which the limit gives back half.
const (
	connectionBytes = 6 << 10
	connectionStep  = 1 << 10 // each change of the limit stops the world for a moment
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

// followConnections keeps the memory limit to the number of open connections.
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
