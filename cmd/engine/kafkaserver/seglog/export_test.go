package seglog

// Queued is how many appends wait for the next round.
func (l *Log) Queued() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.queue)
}
