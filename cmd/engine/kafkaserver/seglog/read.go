package seglog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// openSegment is a segment's open file and the number of its users. The last user closes the file.
type openSegment struct {
	file  disk.File
	marks []mark // the index of a full segment, otherwise empty
	refs  *atomic.Int32
}

func newOpenSegment(file disk.File, marks []mark) *openSegment {
	o := &openSegment{file: file, marks: marks, refs: new(atomic.Int32)}
	o.refs.Store(1)
	return o
}

func (o *openSegment) hold() *openSegment {
	o.refs.Add(1)
	return o
}

// take passes the owner's reference on to the returned file. Closing this file releases the reference.
func (o *openSegment) take() disk.File { return sharedFile{o.file, o} }

// sharedFile is a file of an openSegment that readers may still use.
type sharedFile struct {
	disk.File
	of *openSegment
}

func (f sharedFile) Close() error {
	f.of.release()
	return nil
}

func (o *openSegment) release() {
	if o.refs.Add(-1) == 0 {
		_ = o.file.Close()
	}
}

// coldReaders caches the open files of the full segments that were read last.
type coldReaders struct {
	mu   sync.Mutex
	list []coldReader
}

type coldReader struct {
	base int64
	*openSegment
}

const maxCold = 3

func (c *coldReaders) find(base int64) *openSegment {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.list {
		if r.base == base {
			c.list = append(slices.Delete(c.list, i, i+1), r)
			return r.hold()
		}
	}
	return nil
}

func (c *coldReaders) add(base int64, o *openSegment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, coldReader{base, o})
	if len(c.list) > maxCold {
		c.list[0].release()
		c.list = slices.Delete(c.list, 0, 1)
	}
}

func (c *coldReaders) drop(which func(base int64) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(r coldReader) bool {
		if which(r.base) {
			r.release()
			return true
		}
		return false
	})
}

// hint is the position at which the last read ended. The next read usually begins there.
type hint struct{ base, offset, pos int64 }

// placed is a segment with the position at which the search for an offset begins. The segment's offsets are below
// `upper`.
type placed struct {
	*openSegment
	position
	base, upper int64
}

// locate finds the segment of an offset, and a position at or before the offset. The caller must release the segment.
// If the segment's file no longer exists, only `base` and `upper` are set.
func (l *Log) locate(offset int64) (placed, error) {
	l.mu.RLock()
	if l.closed {
		l.mu.RUnlock()
		return placed{}, ErrClosed
	}
	a := l.active
	i, found := slices.BinarySearchFunc(l.sealed, offset, func(s segment, offset int64) int {
		switch {
		case s.end <= offset:
			return -1
		case s.base > offset:
			return 1
		}
		return 0
	})
	if !found && i == len(l.sealed) {
		p := placed{a.hold(), before(&a.sum, offset), a.sum.base, a.sum.end}
		l.mu.RUnlock()
		return l.hinted(p, offset), nil
	}
	s := l.sealed[i] // the segment with the offset; if the offset is in a gap, the first segment after the gap
	upper := a.sum.base
	if i+1 < len(l.sealed) {
		upper = l.sealed[i+1].base
	}
	l.mu.RUnlock()
	o, err := l.openCold(s)
	if err != nil {
		return placed{base: s.base, upper: upper}, err
	}
	p := placed{o, before(&summary{base: s.base, size: s.size, marks: o.marks}, offset), s.base, upper}
	return l.hinted(p, offset), nil
}

func (l *Log) hinted(p placed, offset int64) placed {
	if h := l.hint.Load(); h != nil && h.base == p.base && h.offset == offset && h.pos <= p.limit {
		p.offset, p.pos = h.offset, h.pos
	}
	return p
}

// before returns the position of a batch that begins at or before an offset.
func before(s *summary, offset int64) position {
	at := position{s.base, 0, s.size}
	i, found := slices.BinarySearchFunc(s.marks, offset, func(m mark, offset int64) int {
		return cmp.Compare(m.offset, offset)
	})
	if !found {
		i--
	}
	if i >= 0 {
		at.offset, at.pos = s.marks[i].offset, s.marks[i].pos
	}
	return at
}

func (l *Log) openCold(s segment) (*openSegment, error) {
	if o := l.cold.find(s.base); o != nil {
		return o, nil
	}
	sum, err := l.readSummary(s.base, s.size)
	if err != nil {
		sum = &summary{} // without an index, read from the beginning
	}
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStorage, err)
	}
	o := newOpenSegment(file, sum.marks)
	l.cold.add(s.base, o.hold())
	return o, nil
}

// Read appends whole batches to b. The first batch contains the message at `offset`. If that batch is damaged, the
// first batch is the next good batch. Read appends at most `most` bytes. If `least` is set, it appends at least one
// batch, even if the batch exceeds `most`. At the log's end it appends nothing. All returned batches are synced and
// have right checksums.
func (l *Log) Read(b []byte, offset int64, most int, least bool) ([]byte, error) {
	start, end := l.Offsets()
	if offset < start || offset > end {
		return b, ErrRange
	}
	for offset < end {
		p, err := l.locate(offset)
		if errors.Is(err, fs.ErrNotExist) {
			if l.isClosed() {
				return b, ErrClosed // the topic was deleted meanwhile
			}
			if start, _ := l.Offsets(); offset < start {
				return b, ErrRange // a trim removed the segment meanwhile
			}
			l.lost(nil, p.base, []hole{{0, 0, max(offset, p.base), p.upper}})
			offset = p.upper
			continue
		}
		if err != nil {
			return b, err
		}
		got, past, err := l.readSegment(b, p, offset, int64(most), least)
		p.release()
		if err != nil || !past {
			return got, err
		}
		offset = p.upper // damage removed the rest of the segment
	}
	return b, nil
}

// readSegment reads batches like Read, but from one segment only. `past` means that the segment has no batch at the
// offset or after it.
func (l *Log) readSegment(b []byte, p placed, offset, most int64, least bool) (_ []byte, past bool, _ error) {
	s := l.newScanner(p.file, p.position, p.upper)
	defer func() {
		l.lost(p.file, p.base, s.holes)
		s.free()
	}()
	at := len(b)
	for {
		run, err := s.run(offset, most, least)
		if err != nil {
			return b, false, fmt.Errorf("%w: %w", ErrStorage, err)
		}
		if run.from == run.to {
			return b, run.past, nil
		}
		// Do not report holes after the run's beginning yet. A later read may find more damage around them.
		s.holes = slices.DeleteFunc(s.holes, func(h hole) bool { return h.to > run.from })
		b = slices.Grow(b, int(run.to-run.from))[:at+int(run.to-run.from)]
		if err := readAround(p.file, b[at:], run.from); err != nil {
			return b[:at], false, fmt.Errorf("%w: %w", ErrStorage, err)
		}
		if size := goodPrefix(b[at:]); size > 0 {
			b = b[:at+int(size)]
			if size == run.to-run.from {
				l.hint.Store(&hint{p.base, run.next, run.to})
			}
			return b, false, nil
		}
		// The content of the first batch is damaged, so the next run begins after it.
		b = b[:at]
		s.window = s.window[:0] // the file's bytes may have changed since the last read
		s.pos, s.least = run.from, run.first
		h, pos, err := s.nextGood(true)
		if errors.Is(err, io.EOF) {
			return b, true, nil
		}
		if err != nil {
			return b, false, fmt.Errorf("%w: %w", ErrStorage, err)
		}
		s.pos, s.least = pos, h.base
	}
}

// run is a part of a segment with whole batches. It begins at the position `from` and the offset `first`. It ends
// before the position `to` and the offset `next`. If `past` is set, the run is empty, because the segment has no more
// batches.
type run struct {
	from, to, first, next int64
	past                  bool
}

// run returns the next batches, beginning with the batch that contains the offset. It reads only their headers.
func (s *scanner) run(offset, most int64, least bool) (r run, err error) {
	for {
		h, pos, err := s.nextGood(false)
		empty := r.from == r.to
		switch {
		case errors.Is(err, io.EOF):
			r.past = empty
			return r, nil
		case err != nil:
			return r, err
		case h.last < offset:
			continue
		case !empty && pos > r.to, r.to-r.from+h.size > most && (!empty || !least):
			return r, nil
		case empty:
			r.from, r.first = pos, h.base
		}
		if r.to, r.next = pos+h.size, h.last+1; r.to-r.from >= most {
			return r, nil
		}
	}
}

// OffsetAt finds the first batch with a record at or after a time (in milliseconds). It returns the batch's offset and
// its last time, or -1 if there is no such batch.
func (l *Log) OffsetAt(millis int64) (offset, at int64, err error) {
	start, _ := l.Offsets()
	for _, seg := range l.Segments() {
		if seg.MaxTime < millis || seg.Size == 0 {
			continue
		}
		p, err := l.locate(max(seg.Base, start))
		if errors.Is(err, fs.ErrNotExist) {
			continue // damage removed the segment, and Read reports this
		}
		if err != nil {
			return -1, -1, err
		}
		offset, at, err = l.scanTime(p, millis, start)
		p.release()
		if err != nil || offset >= 0 {
			return offset, at, err
		}
	}
	return -1, -1, nil
}

func (l *Log) scanTime(p placed, millis, start int64) (offset, at int64, err error) {
	from := position{p.base, 0, p.limit}
	for _, m := range p.marks { // the active segment has no marks and is read from its beginning
		if m.maxTime < millis {
			from.offset, from.pos = m.offset, m.pos
		}
	}
	s := l.newScanner(p.file, from, p.upper)
	defer s.free()
	for {
		h, _, err := s.nextGood(false)
		switch {
		case errors.Is(err, io.EOF):
			return -1, -1, nil
		case err != nil:
			return -1, -1, fmt.Errorf("%w: %w", ErrStorage, err)
		case h.maxTime >= millis && h.last >= start:
			return max(h.base, start), h.maxTime, nil
		}
	}
}
