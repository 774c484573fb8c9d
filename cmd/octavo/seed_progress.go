package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// seedProgress shows how far seeding is. add may be called from any goroutine.
type seedProgress interface {
	add(events int)
	done()
}

// newSeedProgress draws a bar on a terminal and writes lines elsewhere.
func newSeedProgress(to *os.File, events int) seedProgress {
	if !term.IsTerminal(int(to.Fd())) {
		return &seedLines{to: to, all: events, began: time.Now(), every: 5 * time.Second}
	}
	return seedBar{progressbar.NewOptions(events,
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetDescription("seeding"),
		progressbar.OptionSetItsString("events"),
		progressbar.OptionShowIts(),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100*time.Millisecond),
	)}
}

type seedBar struct{ bar *progressbar.ProgressBar }

// Seeding goes on if the bar cannot be drawn.
func (b seedBar) add(events int) { _ = b.bar.Add(events) }
func (b seedBar) done()          { _ = b.bar.Exit(); say(os.Stderr, "\n") }

// seedLines writes a line at most once per interval, for logs.
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
