package seglog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// openSegment is a segment's file with a reference count. It is closed after
// its last user.
type openSegment struct {
	file  disk.File
	marks []mark // index, only of a full segment
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

// take transfers the owner's reference: closing the returned file releases it.
func (o *openSegment) take() disk.File { return sharedFile{o.file, o} }

// sharedFile is a file that readers of its previous owner may still use.
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

// coldReaders caches the full segments that were read last.
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

// hint is where the last read ended, which is usually where the next one
// begins.
type hint struct{ base, offset, pos int64 }

// placed is where to search for an offset: in a segment, from pos up to limit.
type placed struct {
	*openSegment
	base, pos, limit int64
}

// locate finds the segment of an offset and a position at or before it. The
// caller must release the segment.
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
		p := placed{a.hold(), a.sum.base, before(a.sum.marks, offset), a.sum.size}
		l.mu.RUnlock()
		return l.hinted(p, offset), nil
	}
	s := l.sealed[i] // or, in a gap, the first one after it
	l.mu.RUnlock()
	o, err := l.openCold(s)
	if err != nil {
		return placed{}, err
	}
	return l.hinted(placed{o, s.base, before(o.marks, offset), s.size}, offset), nil
}

func (l *Log) hinted(p placed, offset int64) placed {
	if h := l.hint.Load(); h != nil && h.base == p.base && h.offset == offset && h.pos <= p.limit {
		p.pos = h.pos
	}
	return p
}

func before(marks []mark, offset int64) int64 {
	i, found := slices.BinarySearchFunc(marks, offset, func(m mark, offset int64) int { return cmp.Compare(m.offset, offset) })
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return marks[i].pos
}

func (l *Log) openCold(s segment) (*openSegment, error) {
	if o := l.cold.find(s.base); o != nil {
		return o, nil
	}
	sum, err := readSummary(l.cfg.FS, l.summaryName(s.base), s.base, s.size)
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

// Read appends whole batches to b, beginning with the one that contains offset. It reads at most most bytes, except
// that with least it reads one batch of any size. At the log's end it reads nothing. Everything it reads has been
// synced.
func (l *Log) Read(b []byte, offset int64, most int, least bool) ([]byte, error) {
	start, end := l.Offsets()
	if offset < start || offset > end {
		return b, ErrRange
	}
	if offset == end {
		return b, nil
	}
	p, err := l.locate(offset)
	if err != nil {
		return b, err
	}
	defer p.release()
	s := newScanner(p.file, p.pos, p.limit)
	defer s.free()
	var first int64 = -1
	to, next, size := int64(0), int64(0), int64(0)
	for {
		h, pos, err := s.next(false)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, errTorn) { // damage: see summarise
			if first < 0 {
				return l.behindDamage(b, p.base, most, least)
			}
			break
		}
		if err != nil {
			return b, fmt.Errorf("%w: %w", ErrStorage, err)
		}
		if h.last < offset {
			continue
		}
		if size+h.size > int64(most) && (first >= 0 || !least) {
			break
		}
		if first < 0 {
			first = pos
		}
		size += h.size
		to, next = pos+h.size, h.last+1
		if size >= int64(most) {
			break
		}
	}
	if first < 0 {
		return b, nil
	}
	at := len(b)
	b = slices.Grow(b, int(to-first))[:at+int(to-first)]
	if n, err := p.file.ReadAt(b[at:], first); n < int(to-first) {
		return b[:at], fmt.Errorf("%w: %w", ErrStorage, err)
	}
	l.hint.Store(&hint{p.base, next, to})
	return b, nil
}

// behindDamage continues with the next segment.
func (l *Log) behindDamage(b []byte, base int64, most int, least bool) ([]byte, error) {
	for _, s := range l.Segments() {
		if s.Base > base {
			return l.Read(b, s.Base, most, least)
		}
	}
	return b, fmt.Errorf("%w: %w", ErrStorage, errTorn)
}

// OffsetAt returns the first offset whose batch has a record of that time (in milliseconds) or later, and the batch's
// last time. Without such a batch it returns -1.
func (l *Log) OffsetAt(millis int64) (offset, at int64, err error) {
	start, _ := l.Offsets()
	for _, seg := range l.Segments() {
		if seg.MaxTime < millis || seg.Size == 0 {
			continue
		}
		p, err := l.locate(max(seg.Base, start))
		if err != nil {
			return -1, -1, err
		}
		offset, at, err = scanTime(p, millis, start)
		p.release()
		if err != nil || offset >= 0 {
			return offset, at, err
		}
	}
	return -1, -1, nil
}

func scanTime(p placed, millis, start int64) (offset, at int64, err error) {
	pos := int64(0)
	for _, m := range p.marks { // the active segment has none here and is read from its beginning
		if m.maxTime < millis {
			pos = m.pos
		}
	}
	s := newScanner(p.file, pos, p.limit)
	defer s.free()
	for {
		h, _, err := s.next(false)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errTorn):
			return -1, -1, nil
		case err != nil:
			return -1, -1, fmt.Errorf("%w: %w", ErrStorage, err)
		case h.maxTime >= millis && h.last >= start:
			return max(h.base, start), h.maxTime, nil
		}
	}
}
