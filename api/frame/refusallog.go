package frame

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// These constants limit the log lines per second about refused requests: for each operation and status, and in total.
// Without limits, logging would cost more than refusing when many requests are refused. Metrics count every refusal.
const (
	refusalLines    = 10
	allRefusalLines = 200
)

// refusalLog decides which refused requests get their own log line, and counts the refused requests that get none.
type refusalLog struct {
	mu     sync.Mutex
	second int64
	lines  int
	of     map[refusalKind]*refusalCount
}

type refusalKind struct {
	operation string
	status    int
}

type refusalCount struct{ lines, suppressed int }

func newRefusalLog() *refusalLog { return &refusalLog{of: map[refusalKind]*refusalCount{}} }

// take reports whether a refused request gets its own log line.
func (l *refusalLog) take(operation string, status int, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Unix(); second != l.second {
		l.second, l.lines = second, 0
		for _, count := range l.of {
			count.lines = 0
		}
	}
	kind := refusalKind{operation, status}
	count := l.of[kind]
	if count == nil {
		count = &refusalCount{}
		l.of[kind] = count
	}
	if count.lines >= refusalLines || l.lines >= allRefusalLines {
		count.suppressed++
		return false
	}
	count.lines++
	l.lines++
	return true
}

// report logs, for each operation and status, the number of refused requests that got no log line since the last
// report.
func (l *refusalLog) report(log *slog.Logger) {
	l.mu.Lock()
	suppressed := map[refusalKind]int{}
	for kind, count := range l.of {
		if count.suppressed > 0 {
			suppressed[kind] = count.suppressed
			count.suppressed = 0
		}
	}
	l.mu.Unlock()
	for kind, n := range suppressed {
		log.Warn("more requests refused", "operation", kind.operation, "status", kind.status, "count", n)
	}
}

// run calls report every second until ctx ends.
func (l *refusalLog) run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.report(log)
		case <-ctx.Done():
			l.report(log)
			return
		}
	}
}
