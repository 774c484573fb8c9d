package sink

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestBlock checks the size of the block. Each insert for which the store has too little memory halves it, down to one
// thirty-second. After sixteen successful inserts, it doubles. If Config.Halvings returns a larger number of halvings,
// this number applies.
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
	b.lacked() // the count of successful inserts starts at 0 again
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

// TestPause checks that a block is inserted after the whole pause, or after half of the pause if it will have many
// rows.
func TestPause(t *testing.T) {
	t.Parallel()
	c := &Config{BatchAge: time.Second}
	for _, at := range []struct {
		rows int
		age  time.Duration
		want time.Duration
	}{
		{1, time.Millisecond, time.Second},
		{500, 500 * time.Millisecond, time.Second},
		{largeRows/2 - 1, 500 * time.Millisecond, time.Second},
		{largeRows / 2, 500 * time.Millisecond, 500 * time.Millisecond},
		{largeRows - 1, 999 * time.Millisecond, 500 * time.Millisecond},
		{largeRows / 2, 600 * time.Millisecond, time.Second},
		{largeRows - 1, 24 * time.Hour, time.Second},
		{largeRows, 24 * 365 * time.Hour, 500 * time.Millisecond},
		{0, 0, 500 * time.Millisecond}, // does not matter, because due is called again when the partition has rows
	} {
		if got := c.pause(at.rows, at.age); got != at.want {
			t.Errorf("%d rows of age %s wait %s, want %s", at.rows, at.age, got, at.want)
		}
	}
}

// TestDueByPause checks when a partition is due: with few rows at the end of the pause, and with many rows after half
// of the pause.
func TestDueByPause(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p := &partition{queue: []*chunk{{messages: []fetched{{}}}}, began: began, bytes: 1}
	s := &Sink{cfg: Config{BatchAge: time.Second, BatchRows: DefaultBatchRows, BatchBytes: DefaultBatchBytes}}
	g := &generation{sink: s, partitions: []*partition{p}}
	for _, at := range []struct {
		rows int
		age  time.Duration
		left time.Duration // time until the partition is due
	}{
		{500, 300 * time.Millisecond, 700 * time.Millisecond},
		{500, 999 * time.Millisecond, time.Millisecond},
		{500, time.Second, 0},
		{largeRows / 2, 300 * time.Millisecond, 200 * time.Millisecond},
		{largeRows / 2, 500 * time.Millisecond, 0},
		{DefaultBatchRows, time.Millisecond, 0},
	} {
		p.rows = at.rows
		due, left := g.due(began.Add(at.age))
		if (due == p) != (at.left == 0) || due == nil && left != at.left {
			t.Errorf("%d rows of age %s: due %t, %s left, want %s", at.rows, at.age, due == p, left, at.left)
		}
	}
}

// TestBlockGrowsMeanwhile changes the size of the block after a partition was found to be due, and before the cut is
// made.
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
