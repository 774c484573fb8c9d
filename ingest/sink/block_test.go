package sink

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestBlock halves the block with each insert that lacks memory, down to a thirty-second. It doubles after sixteen
// inserts that fit. A halved load halves the block, too.
func TestBlock(t *testing.T) {
	t.Parallel()
	load := 0
	c := &Config{BatchRows: 32_768, BatchBytes: 16 << 20, Halvings: func() int { return load }}
	var b block
	want := func(halvings int) {
		t.Helper()
		if rows, bytes := b.size(c); rows != c.BatchRows>>halvings || bytes != c.BatchBytes>>halvings {
			t.Errorf("the block is %d rows and %d bytes, want %d halvings", rows, bytes, halvings)
		}
	}
	want(0)
	for n := range mostHalvings {
		if !b.lacked() {
			t.Error("the block did not shrink")
		}
		want(n + 1)
	}
	if b.lacked() {
		t.Error("the block shrank further")
	}
	for range blockGrows - 1 {
		b.fitted()
	}
	want(mostHalvings)
	b.lacked() // The count begins again.
	for range blockGrows - 1 {
		b.fitted()
	}
	want(mostHalvings)
	for n := mostHalvings; n > 0; n-- {
		b.fitted()
		want(n - 1)
		for range blockGrows - 1 {
			b.fitted()
		}
	}
	want(0)
	load = 2
	want(2)
	b.lacked()
	want(2)
	c.BatchRows = 3
	load = 3
	if rows, _ := b.size(c); rows != 1 {
		t.Errorf("the smallest block has %d rows", rows)
	}
}

// TestBlockGrowsMeanwhile changes the block between the moment when a partition is due and its cut.
func TestBlockGrowsMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var asked atomic.Int64
	r.sink(r.store, func(c *Config) {
		c.BatchRows, c.BatchAge = 256, 100*time.Millisecond
		c.Halvings = func() int { return int(asked.Add(1)%2) * mostHalvings }
	})
	for n := range 12 {
		r.accept(numbered(10*n, 10))
		r.awaitStored(10 * (n + 1))
	}
}
