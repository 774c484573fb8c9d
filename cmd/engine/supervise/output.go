package supervise

import (
	"bytes"
	"strings"
	"sync"
)

const (
	maxLine   = 16 << 10 // longer lines are split, so that a child cannot fill this process's memory
	tailLines = 15
)

// lineWriter passes each complete line to a function. It needs no lock, because exec.Cmd writes each stream from one
// goroutine.
type lineWriter struct {
	line    func(string)
	pending []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			w.pending = append(w.pending, p...)
			if len(w.pending) >= maxLine {
				w.flush()
			}
			break
		}
		w.pending = append(w.pending, p[:end]...)
		w.flush()
		p = p[end+1:]
	}
	return written, nil
}

func (w *lineWriter) flush() {
	text := strings.TrimRight(string(w.pending), "\r")
	w.pending = w.pending[:0]
	if text != "" {
		w.line(text)
	}
}

// tail stores the last lines of a child's output, for the error about the child's exit.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
