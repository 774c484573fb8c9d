package main

import (
	"io"
	"sync"
	"time"
)

// seedLines writes the progress of seeding, at most once per interval. Any goroutine may call `add`.
type seedLines struct {
	to    io.Writer
	all   int
	every time.Duration

	mu          sync.Mutex
	began, last time.Time
	sent        int
}

func (l *seedLines) add(events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent += events
	if now := time.Now(); now.Sub(l.last) >= l.every {
		l.last = now
		l.write(now)
	}
}

func (l *seedLines) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(time.Now())
}

func (l *seedLines) write(now time.Time) {
	say(l.to, "seeding: %d of %d events, %.0f%%, %.0f events/s\n",
		l.sent, l.all, 100*float64(l.sent)/float64(l.all), float64(l.sent)/max(now.Sub(l.began).Seconds(), 0.001))
}
