package sink

import (
	"sync"
	"time"
)

const (
	// blockGrows is the number of consecutive inserts after which the block doubles.
	blockGrows = 16
	// mostHalvings is the largest number of halvings. A block has at least the messages of one fetch.
	mostHalvings = 5
)

// block is the size of the sink's inserts. It halves when the store lacks memory for an insert. The rows that did not
// fit are inserted again as one block, because their token identifies the block. They fit when other work has released
// memory. The block doubles after each blockGrows consecutive inserts that fit, up to the configured size. The zero
// value means the configured size.
type block struct {
	mu       sync.Mutex
	halvings int
	stored   int // number of consecutive inserts since the last change
}

// size returns the rows and bytes that trigger an insert.
func (b *block) size(c *Config) (rows, bytes int) {
	b.mu.Lock()
	halvings := b.halvings
	b.mu.Unlock()
	if c.Halvings != nil {
		halvings = max(halvings, c.Halvings())
	}
	return max(1, c.BatchRows>>halvings), max(1, c.BatchBytes>>halvings)
}

// largeRows is the number of rows above which a larger block saves little. The rows of such a block cost the store
// several times as much as the insert itself.
const largeRows = 16_384

// pause returns the age at which a block is inserted, counted from its first row. It depends on the number and age of
// the rows so far. A pause is halved if the rows would become a large block. Large blocks take longer to insert. The
// shorter pause makes up for this time.
func (c *Config) pause(rows int, age time.Duration) time.Duration {
	if time.Duration(rows)*c.BatchAge >= largeRows*min(age, c.BatchAge) {
		return c.BatchAge / 2
	}
	return c.BatchAge
}

// lacked halves the block after an insert for which memory was missing. It returns false if the block has its smallest
// size.
func (b *block) lacked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stored = 0
	if b.halvings == mostHalvings {
		return false
	}
	b.halvings++
	return true
}

// fitted counts an insert for which the memory was sufficient.
func (b *block) fitted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.halvings == 0 {
		return
	}
	if b.stored++; b.stored == blockGrows {
		b.halvings, b.stored = b.halvings-1, 0
	}
}
