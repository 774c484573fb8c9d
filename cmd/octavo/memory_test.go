package main

import "testing"

// TestMemoryLimitFollowsConnections: the limit rises in steps, and by less than
// the connections hold.
func TestMemoryLimitFollowsConnections(t *testing.T) {
	t.Parallel()
	for connections, want := range map[int]int64{
		0: memoryLimit, connectionStep - 1: memoryLimit, connectionStep: memoryLimit + 6<<20, 10_000: memoryLimit + 54<<20,
	} {
		if got := memoryLimitFor(connections); got != want {
			t.Errorf("%d connections: %d, want %d", connections, got, want)
		}
	}
}
