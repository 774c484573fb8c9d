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

// These are the errors of a log.
var (
	// ErrStorage means that the disk failed. The batch is not in the log, and the client may send it again.
	ErrStorage = errors.New("the disk failed")
	// ErrFull means that the disk is full. Such an error wraps ErrStorage too.
	ErrFull = errors.New("the disk is full")
	// ErrRange means that the log does not have the offset.
	ErrRange = errors.New("the log does not have this offset")
	// ErrClosed means that the topic was deleted or the broker is stopping.
	ErrClosed = errors.New("the log is closed")
)

// Config configures the log of one partition.
type Config struct {
	FS   disk.FS
	Dir  string // the log's directory; must exist
	Name string // name of the partition, for log lines
	// Identity distinguishes the partition from all other partitions of the broker. It is part of each batch's seal.
	Identity string
	Logger   *slog.Logger
	// SegmentBytes is the size at which a new segment begins. Default 64 MiB.
	SegmentBytes int64
	// Start is the first offset of the log: earlier records have been removed. The log's owner stores Start.
	Start int64
	// Known is an offset that the log has reached, such as a group's committed offset. If damage removed the log's end,
	// the offsets before Known are not used again.
	Known int64
}

// indexEvery is the distance in bytes between two entries of a segment's index.
const indexEvery = 64 << 10

// Log is the log of one partition.
type Log struct {
	cfg      Config
	identity uint32

	// `writing` is held during a round of appends, a roll or a trim. Lock `writing` before `mu`.
	writing   sync.Mutex
	producers producers
	scratch   []byte
	broken    bool  // a sync failed: repair before writing
	known     int64 // Config.Known, or a later offset

	mu       sync.RWMutex
	start    int64
	sealed   []segment
	active   *active
	watchers map[chan<- struct{}]struct{}
	closed   bool
	queue    []*appending
	flushing bool

	damage        sync.Mutex // this mutex is held while damage is reported
	said          []offsets
	damagedActive atomic.Bool // the next batch must begin a new segment

	cold coldReaders
	hint atomic.Pointer[hint]
}

// segment describes a full segment, which is never written again.
type segment struct {
	base, end, size, maxTime int64
}

// active is the segment that is being written. Its summary covers the synced part.
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

func baseOf(name, suffix string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return base, err == nil && base >= 0
}

// Offsets returns the log's first offset, and the offset after the last synced record.
func (l *Log) Offsets() (start, end int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.start, l.active.sum.end
}

// Size returns the size of all segments in bytes.
func (l *Log) Size() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	size := l.active.sum.size
	for _, s := range l.sealed {
		size += s.size
	}
	return size
}

// Segment describes a full segment. If Active is set, it describes the segment that is being written.
type Segment struct {
	Base, End, Size, MaxTime int64
	Active                   bool
}

// Segments returns all segments, oldest first.
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

// Watch makes the log send to `ch`, without blocking, after each append and when the log is closed.
func (l *Log) Watch(ch chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		tell(ch)
		return
	}
	l.watchers[ch] = struct{}{}
}

// Unwatch ends a Watch: the log no longer sends to `ch`.
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

// Close waits for running appends. It writes a summary of the active segment, which makes the next start fast, and
// closes the files.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	for ch := range l.watchers {
		tell(ch)
	}
	l.mu.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.active.openSegment != nil && !l.broken && l.active.sum.size > 0 && !l.damagedActive.Load() {
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

// storageError wraps ErrStorage, and ErrFull if the disk is full.
func (l *Log) storageError(what string, err error) error {
	wrapped := fmt.Errorf("%w: cannot %s of %s: %w", ErrStorage, what, l.cfg.Name, err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		wrapped = fmt.Errorf("%w: %w", ErrFull, wrapped)
	}
	return wrapped
}

// Roll closes the active segment and begins a new segment. If the active segment is empty, Roll does nothing.
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

// roll begins a new segment. The active segment must be completely synced. The caller holds `writing`.
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
	l.damagedActive.Store(false)
	l.cold.add(old.sum.base, newOpenSegment(old.take(), old.sum.marks))
	return nil
}

// summariseActive writes the summary of the active segment. The segment is completely synced and will not be written
// again.
func (l *Log) summariseActive() {
	sum := l.active.sum
	sum.producers = l.producers
	if err := l.writeSummary(l.summaryName(sum.base), &sum); err != nil {
		l.cfg.Logger.Warn("Cannot write a segment's summary: the next start will read the segment.", "partition", l.cfg.Name, "segment", sum.base, "error", err)
	}
}

// begin durably creates a segment's file.
func (l *Log) begin(base int64) (disk.File, error) {
	name := l.segmentName(base)
	file, err := l.cfg.FS.Create(name)
	if err != nil {
		// An earlier call of begin that failed may have left an empty file. Replace this file.
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

// Trim drops the records before an offset. It removes the segments whose records are all before the offset. The owner
// must have stored the offset as the next Start, because removed files may reappear after a power loss.
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
	_ = l.cfg.FS.Remove(l.summaryName(base)) // the segment may have no summary
	if err := l.cfg.FS.Remove(l.segmentName(base)); err != nil {
		return fmt.Errorf("cannot remove a segment of %s: %w", l.cfg.Name, err)
	}
	return nil
}
