package seglog

// Queued returns the number of appends that wait for the next round.
func (l *Log) Queued() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.queue)
}
