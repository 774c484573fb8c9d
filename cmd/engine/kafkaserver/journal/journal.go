package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// ErrClosed means that the broker is stopping.
var ErrClosed = errors.New("the journal is closed")

// Entry is one change. A nil Value removes the key.
type Entry struct {
	Key   string
	Value []byte
}

// Config configures a journal.
type Config struct {
	FS     disk.FS
	Dir    string // the journal's directory; must exist
	Logger *slog.Logger
	// Ballast is the size of a file that only reserves disk space. When the disk is full, the ballast is deleted, so
	// that the journal can still be written. 0 means no ballast.
	Ballast int64
	// Check looks at the entries before Open changes a file. If Check returns an error, Open fails. Check may be nil.
	Check func(*Journal) error
	// MinRewrite is the size below which the file is not rewritten. Default 4
	// MiB.
	MinRewrite int64
}

// Journal is the durable map.
type Journal struct {
	cfg Config

	mu       sync.Mutex
	synced   map[string][]byte
	queue    []*Ticket
	flushing bool
	closed   bool
	last     *Ticket // the newest ticket

	// After Open, only the goroutine that runs flush uses the fields below.
	file   disk.File
	number int64
	size   int64 // size of the file
	live   int64 // approximate size of the live entries
	broken bool
	spare  []byte

	ballastFreed atomic.Bool
}

// Ticket is a change that may not be on disk yet.
type Ticket struct {
	entries []Entry
	done    chan struct{}
	err     error
}

// Wait returns when the change is on disk, or has failed.
func (t *Ticket) Wait() error {
	<-t.done
	return t.err
}

// Put applies all entries or none and returns when they are on disk.
func (j *Journal) Put(entries ...Entry) error { return j.Begin(entries...).Wait() }

// Begin does what Put does, without waiting. Changes are applied in the order of the calls.
func (j *Journal) Begin(entries ...Entry) *Ticket {
	t := &Ticket{entries: entries, done: make(chan struct{})}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		t.err = ErrClosed
		close(t.done)
		return t
	}
	j.queue, j.last = append(j.queue, t), t
	if !j.flushing {
		j.flushing = true
		go j.flush()
	}
	return t
}

// Barrier waits until all changes that have begun are written or have failed.
func (j *Journal) Barrier() {
	j.mu.Lock()
	last := j.last
	j.mu.Unlock()
	if last != nil {
		<-last.done
	}
}

// Get returns a key's value on disk. The caller must not modify it.
func (j *Journal) Get(key string) ([]byte, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	value, ok := j.synced[key]
	return value, ok
}

// Each calls f with every entry on disk whose key begins with `prefix`.
func (j *Journal) Each(prefix string, f func(key string, value []byte)) {
	j.mu.Lock()
	found := map[string][]byte{}
	for key, value := range j.synced {
		if strings.HasPrefix(key, prefix) {
			found[key] = value
		}
	}
	j.mu.Unlock()
	for key, value := range found {
		f(key, value)
	}
}

// Close waits until all changes that have begun are written or have failed. Then it closes the journal.
func (j *Journal) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.Barrier()
	for {
		j.mu.Lock()
		if !j.flushing {
			if j.file != nil {
				_ = j.file.Close()
				j.file = nil
			}
			j.mu.Unlock()
			return
		}
		last := j.last
		j.mu.Unlock()
		<-last.done
	}
}

func (j *Journal) flush() {
	for {
		j.mu.Lock()
		list := j.queue
		j.queue = nil
		if len(list) == 0 {
			j.flushing = false
			j.mu.Unlock()
			return
		}
		j.mu.Unlock()
		err := j.write(list)
		if err == nil {
			j.mu.Lock()
			for _, t := range list {
				j.apply(t.entries)
			}
			j.mu.Unlock()
		} else {
			j.cfg.Logger.Error("Cannot write the journal: the change is refused.", "error", err)
		}
		for _, t := range list {
			t.err = err
			close(t.done)
		}
	}
}

// apply changes the map. The caller holds mu or is the only user of the journal.
func (j *Journal) apply(entries []Entry) {
	for _, e := range entries {
		if old, ok := j.synced[e.Key]; ok {
			j.live -= entrySize(e.Key, old)
			delete(j.synced, e.Key)
		}
		if e.Value != nil {
			j.live += entrySize(e.Key, e.Value)
			j.synced[e.Key] = e.Value
		}
	}
}

// write makes changes durable.
func (j *Journal) write(list []*Ticket) error {
	b := j.spare[:0]
	for i, t := range list {
		entries := t.entries
		if i == 0 {
			entries = append([]Entry{syncedMark}, entries...)
		}
		b = appendFrame(b, entries)
	}
	if cap(b) < 1<<20 {
		j.spare = b
	}
	if j.broken || j.size+int64(len(b)) > max(j.cfg.MinRewrite, 4*j.live) {
		if err := j.rewrite(); err != nil {
			if j.broken {
				return err
			}
			j.cfg.Logger.Warn("Cannot rewrite the journal, which keeps growing.", "error", err)
		}
	}
	err := j.append(b)
	if full(err) && j.freeBallast() {
		if j.broken {
			err = j.rewrite()
		} else {
			err = nil
		}
		if err == nil {
			err = j.append(b)
		}
	}
	return err
}

func (j *Journal) append(b []byte) error {
	if _, err := j.file.WriteAt(b, j.size); err != nil {
		if cut := j.file.Truncate(j.size); cut != nil {
			j.broken = true
		}
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		j.broken = true
		return fmt.Errorf("cannot sync the journal: %w", err)
	}
	j.size += int64(len(b))
	return nil
}

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func (j *Journal) fileName(number int64) string {
	return filepath.Join(j.cfg.Dir, fmt.Sprintf("%s%d", filePrefix, number))
}
