package sink

import (
	"sync"
	"time"
)

const (
	// blockGrows is the number of consecutive inserts after which the block doubles.
	blockGrows = 16
	// mostHalvings is how many times the block can be halved. Even a smaller block would contain all messages of one
	// fetch.
	mostHalvings = 5
)

// block is the size of the sink's inserts. It is halved when the store has too little memory for an insert. The rows of
// the failed insert are inserted again as one block, because their token identifies the block. This retry succeeds when
// the store's other work has released memory. After each blockGrows consecutive successful inserts, the block doubles,
// up to the configured size. The zero value means the configured size.
type block struct {
	mu       sync.Mutex
	halvings int
	stored   int // number of consecutive successful inserts since the last change of the size
}

// size returns the number of rows and the number of bytes that trigger an insert.
func (b *block) size(c *Config) (rows, bytes int) {
	b.mu.Lock()
	halvings := b.halvings
	b.mu.Unlock()
	if c.Halvings != nil {
		halvings = max(halvings, c.Halvings())
	}
	return max(1, c.BatchRows>>halvings), max(1, c.BatchBytes>>halvings)
}

// largeRows is the number of rows above which a larger block saves little work. With this number of rows, the cost of
// the rows is several times the fixed cost of an insert.
const largeRows = 16_384

// pause returns the time from a block's first row to its insert. If rows continue to arrive as fast as before and would
// become a large block, the pause is half as long. A large block takes longer to insert, and the shorter pause
// compensates for this time.
func (c *Config) pause(rows int, age time.Duration) time.Duration {
	if time.Duration(rows)*c.BatchAge >= largeRows*min(age, c.BatchAge) {
		return c.BatchAge / 2
	}
	return c.BatchAge
}

// lacked halves the block after an insert for which the store had too little memory. It returns false if the block
// already has its smallest size.
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

// fitted counts an insert for which the store had enough memory.
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
