package seglog

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// Errors of a log.
var (
	// ErrStorage is wrapped when the disk failed: what was to be appended is not in the log, and may be sent again.
	ErrStorage = errors.New("the disk failed")
	// ErrFull is wrapped, beside ErrStorage, when it had no room.
	ErrFull = errors.New("the disk is full")
	// ErrRange is an offset that the log does not have.
	ErrRange = errors.New("the log does not have this offset")
	// ErrClosed: the topic is deleted, or the broker stops.
	ErrClosed = errors.New("the log is closed")
)

// Config of one partition's log.
type Config struct {
	FS     disk.FS
	Dir    string // exists
	Name   string // of the partition, for log lines
	Logger *slog.Logger
	// SegmentBytes is the size at which a new segment is begun. 64 MiB.
	SegmentBytes int64
	// Start is the first offset that is kept, as the owner remembers it.
	Start int64
}

// indexEvery is how much of a segment lies between two entries of its index.
const indexEvery = 64 << 10

// Log is one partition.
type Log struct {
	cfg Config

	// writing is held by who writes: a round of appends, a roll, a trim. It comes before mu.
	writing   sync.Mutex
	producers producers
	scratch   []byte
	broken    bool // a sync failed: nothing is written before repair

	mu       sync.RWMutex
	start    int64
	sealed   []segment
	active   *active
	watchers map[chan<- struct{}]struct{}
	closed   bool
	queue    []*appending
	flushing bool

	cold coldReaders
	hint atomic.Pointer[hint]
}

// segment is one that is full.
type segment struct {
	base, end, size, maxTime int64
}

// active is the segment that is written. Its summary has what is synced.
type active struct {
	*openSegment
	sum summary
}

func (l *Log) segmentName(base int64) string {
	return filepath.Join(l.cfg.Dir, fmt.Sprintf("%020d.log", base))
}

func (l *Log) summaryName(base int64) string {
	return filepath.Join(l.cfg.Dir, fmt.Sprintf("%020d.summary", base))
}

func baseOf(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	if !ok {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return base, err == nil && base >= 0
}

// Offsets are the first that is kept and the one behind the last that is synced.
func (l *Log) Offsets() (start, end int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.start, l.active.sum.end
}

// Size is the bytes of all segments.
func (l *Log) Size() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	size := l.active.sum.size
	for _, s := range l.sealed {
		size += s.size
	}
	return size
}

// Segment is a full one, or (Active) the one that is written.
type Segment struct {
	Base, End, Size, MaxTime int64
	Active                   bool
}

// Segments are all, oldest first.
func (l *Log) Segments() []Segment {
	l.mu.RLock()
	defer l.mu.RUnlock()
	list := make([]Segment, 0, len(l.sealed)+1)
	for _, s := range l.sealed {
		list = append(list, Segment{s.base, s.end, s.size, s.maxTime, false})
	}
	a := &l.active.sum
	return append(list, Segment{a.base, a.end, a.size, a.maxTime, true})
}

// Watch has ch told, without waiting for it, whenever the end moves and when the log is closed.
func (l *Log) Watch(ch chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		tell(ch)
		return
	}
	l.watchers[ch] = struct{}{}
}

// Unwatch ends it.
func (l *Log) Unwatch(ch chan<- struct{}) {
	l.mu.Lock()
	delete(l.watchers, ch)
	l.mu.Unlock()
}

func tell(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Close waits for the appends that were begun, leaves a summary of the active segment, which makes the next start quick, and closes the
// files.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	for ch := range l.watchers {
		tell(ch)
	}
	l.mu.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.active.openSegment != nil && !l.broken && l.active.sum.size > 0 {
		l.summariseActive()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active.openSegment != nil {
		l.active.release()
		l.active.openSegment = nil
	}
	l.cold.drop(func(int64) bool { return true })
}

// storageError says what failed. It wraps ErrFull too if that was for want of room.
func (l *Log) storageError(what string, err error) error {
	wrapped := fmt.Errorf("%w: cannot %s of %s: %w", ErrStorage, what, l.cfg.Name, err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		wrapped = fmt.Errorf("%w: %w", ErrFull, wrapped)
	}
	return wrapped
}

// Roll ends the active segment, unless it is empty, and begins another.
func (l *Log) Roll() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.isClosed() {
		return ErrClosed
	}
	if l.broken || l.active.sum.size == 0 {
		return nil
	}
	return l.roll(l.active.sum.end)
}

func (l *Log) isClosed() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.closed
}

// roll begins a segment. All of the active one is synced. The caller holds writing.
func (l *Log) roll(base int64) error {
	old := l.active
	file, err := l.begin(base)
	if err != nil {
		return l.storageError("begin a segment", err)
	}
	l.summariseActive()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sealed = append(l.sealed, segment{old.sum.base, old.sum.end, old.sum.size, old.sum.maxTime})
	l.active = &active{newOpenSegment(file, nil), summary{base: base, end: base}}
	l.cold.add(old.sum.base, newOpenSegment(old.take(), old.sum.marks))
	return nil
}

// summariseActive writes the active segment's summary, all of which is synced: nothing is written to it any more.
func (l *Log) summariseActive() {
	sum := l.active.sum
	sum.producers = l.producers
	if err := writeSummary(l.cfg.FS, l.summaryName(sum.base), &sum); err != nil {
		l.cfg.Logger.Warn("A segment's summary cannot be written: the next start reads the segment.", "partition", l.cfg.Name, "segment", sum.base, "error", err)
	}
}

// begin makes a segment's file and its name in the directory.
func (l *Log) begin(base int64) (disk.File, error) {
	name := l.segmentName(base)
	file, err := l.cfg.FS.Create(name)
	if err != nil {
		// That of a begin that failed half-way holds nothing.
		if rest, openErr := l.cfg.FS.Open(name); openErr == nil {
			size, sizeErr := rest.Size()
			_ = rest.Close()
			if sizeErr == nil && size == 0 && l.cfg.FS.Remove(name) == nil {
				file, err = l.cfg.FS.Create(name)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if err := l.cfg.FS.SyncDir(l.cfg.Dir); err != nil {
		return nil, errors.Join(err, file.Close(), l.cfg.FS.Remove(name))
	}
	return file, nil
}

// Trim forgets what is before an offset, and removes the segments that have nothing else. Its owner has remembered the offset as the
// next start: after a power cut removed files may be there again.
func (l *Log) Trim(to int64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.start = min(max(l.start, to), l.active.sum.end)
	var gone []segment
	for len(l.sealed) > 0 && l.sealed[0].end <= l.start {
		gone = append(gone, l.sealed[0])
		l.sealed = l.sealed[1:]
	}
	l.mu.Unlock()
	var errs []error
	for _, s := range gone {
		l.cold.drop(func(base int64) bool { return base == s.base })
		errs = append(errs, l.remove(s.base))
	}
	return errors.Join(errs...)
}

func (l *Log) remove(base int64) error {
	_ = l.cfg.FS.Remove(l.summaryName(base)) // most segments have one
	if err := l.cfg.FS.Remove(l.segmentName(base)); err != nil {
		return fmt.Errorf("cannot remove a segment of %s: %w", l.cfg.Name, err)
	}
	return nil
}
