// Package capture keeps what a process or a logger writes while a test reads it. It imports nothing of this module, so that the tests
// of any package may import it.
package capture

import (
	"bytes"
	"sync"
)

// Buffer is a buffer that many may write to and read at once. The zero value is empty.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer]. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
