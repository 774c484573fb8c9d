package seglog

// Queued returns the number of appends that wait for the next round.
func (l *Log) Queued() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.queue)
}

// CheckBatch checks that b begins with a complete batch with the right checksum. It returns the batch's size and last
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
