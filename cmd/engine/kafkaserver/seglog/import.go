package seglog

import "fmt"

// Import appends a batch that another log wrote, at its offset there, which must not be before the end. The batch is
// not on disk before Sync, so nobody may read it earlier.
func (l *Log) Import(b []byte) error {
	h, ok := parseHeader(b)
	if !ok || h.size != int64(len(b)) {
		return fmt.Errorf("%w: its header is wrong", ErrInvalid)
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	sum := &l.active.sum
	if h.base < sum.end {
		return fmt.Errorf("%w: it begins at offset %d, before the log's end %d", ErrInvalid, h.base, sum.end)
	}
	if sum.size > 0 && sum.size+h.size > l.cfg.SegmentBytes {
		if err := l.active.file.Sync(); err != nil {
			return l.storageError("sync the log", err)
		}
		if err := l.roll(h.base); err != nil {
			return err
		}
		sum = &l.active.sum
	}
	if _, err := l.active.file.WriteAt(b, sum.size); err != nil {
		return l.storageError("write the log", err)
	}
	l.producers.learn(&h)
	l.mu.Lock()
	sum.add(&h, sum.size, indexEvery)
	l.mu.Unlock()
	return nil
}

// Sync makes imported batches durable.
func (l *Log) Sync() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.active.file.Sync(); err != nil {
		return l.storageError("sync the log", err)
	}
	return nil
}

// CheckBatch checks that b begins with a complete batch whose checksum is right. It returns the batch's size and last
// offset.
func CheckBatch(b []byte) (size int, last int64, err error) {
	h, ok := parseHeader(b)
	if !ok || h.size > int64(len(b)) {
		return 0, 0, ErrInvalid
	}
	b = b[:h.size]
	if !sumIsRight(b) {
		return 0, 0, ErrCorrupt
	}
	return len(b), h.last, nil
}
