package seglog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// DamagedSuffix is the suffix of files with damaged bytes. Such a file's name has the range of the missing offsets.
const DamagedSuffix = ".damaged"

// hole is a damaged part of a segment. The damaged bytes begin at the position `from` and end before the position `to`.
// The missing offsets begin at `first` and end before `next`.
type hole struct{ from, to, first, next int64 }

// nextGood returns the next good batch like `next`, but skips damage. It adds each skipped part to `holes`, even at the
// end of the segment.
func (s *scanner) nextGood(checksum bool) (h header, pos int64, err error) {
	from, first := s.pos, s.least
	h, pos, err = s.next(checksum)
	if err == nil && h.base > first && !s.continued(&h) {
		s.pos, s.least, err = from, first, errTorn
	}
	if errors.Is(err, errTorn) {
		s.pos = s.search()
		if s.failed != nil {
			return h, from, fmt.Errorf("cannot read a segment behind %d: %w", from, s.failed)
		}
		h, pos, err = s.next(false)
	}
	switch {
	case err == nil && (pos > from || h.base > first):
		s.holes = append(s.holes, hole{from, pos, first, h.base})
	case errors.Is(err, io.EOF) && (s.end > from || s.upper > first):
		s.holes = append(s.holes, hole{from, s.end, first, s.upper})
	}
	return h, pos, err
}

// search returns the position of the next good batch after damage, or the segment's end.
//
// A batch may be in a wrong place, for example if the disk wrote it twice. So `search` prefers a batch with a confirmed
// offset. An offset is confirmed if it is the least possible offset, or if the next batch continues it. A single
// unconfirmed batch may lie between two holes before the confirmed batch. `search` returns it if its offsets are below
// the confirmed batch's offset.
func (s *scanner) search() int64 {
	lone, loneLast := s.end, s.upper
	for at := s.candidate(); at < s.end; {
		h, ok := s.good(at)
		switch {
		case !ok:
			at++
		case h.base == s.least, s.continuedAt(&h, at):
			if loneLast < h.base {
				return lone
			}
			return at
		default:
			if lone == s.end {
				lone, loneLast = at, h.last
			}
			at += h.size
		}
		at = s.version(at)
	}
	return lone
}

// candidate returns the position at which `search` begins. Usually only a batch's content is damaged, so `candidate`
// trusts its length and skips the content. The content may have bytes that look like a batch, because a client chooses
// the content.
func (s *scanner) candidate() int64 {
	if b, err := s.bytes(s.pos, int(min(headerSize, s.end-s.pos))); err == nil {
		h, ok := parseHeader(b)
		next := s.pos + h.size
		if ok && next <= s.end && isSealed(b, s.identity) {
			if _, ok := s.good(next); ok || next == s.end {
				return next
			}
		}
	}
	return s.version(s.pos + 1)
}

// version returns the first position from `at` on where a batch of version 2 may begin. If there is no such position,
// it returns the end.
func (s *scanner) version(at int64) int64 {
	for s.end-at >= headerSize {
		b, err := s.bytes(at, int(min(scanWindow/2, s.end-at)))
		if err != nil {
			break
		}
		if i := bytes.IndexByte(b[atMagic:], 2); i >= 0 {
			return at + int64(i)
		}
		at += int64(len(b) - atMagic)
	}
	return s.end
}

// good returns the header of the batch at a position. `ok` is false if this batch is not good. The scanner's own
// position does not change.
func (s *scanner) good(pos int64) (h header, ok bool) {
	was, least := s.pos, s.least
	s.pos = pos
	h, _, err := s.next(true)
	s.pos, s.least = was, least
	return h, err == nil
}

// continued reports whether a good batch with the next offset follows the batch h, or whether the segment ends with h.
func (s *scanner) continued(h *header) bool { return s.continuedAt(h, s.pos-h.size) }

func (s *scanner) continuedAt(h *header, pos int64) bool {
	if h.last+1 == s.upper && pos+h.size == s.end {
		return true
	}
	next, ok := s.good(pos + h.size)
	return ok && next.base == h.last+1
}

// sector is the smallest part of a disk that can fail to be read.
const sector = 4 << 10

// readAround fills b from a file. It writes zeros for bytes that the disk cannot read, and for bytes after the file's
// end. Zeros fail the checksums.
func readAround(file disk.File, b []byte, at int64) error {
	n, err := file.ReadAt(b, at)
	for n < len(b) {
		to := min(len(b), n+sector-int((at+int64(n))%sector))
		switch {
		case err == nil, errors.Is(err, io.EOF):
			clear(b[n:])
			return nil
		case !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.EUCLEAN) && !errors.Is(err, syscall.EBADMSG):
			return err
		case n == 0 && to == len(b): // b is in one sector
			clear(b)
			return nil
		}
		if err := readAround(file, b[n:to], at+int64(n)); err != nil {
			return err
		}
		n = to
	}
	return nil
}

// goodPrefix removes the seals of the batches in b. It returns the size of the batches before the first batch with
// damaged content.
func goodPrefix(b []byte) (size int64) {
	for size < int64(len(b)) {
		h, ok := parseHeader(b[size:])
		if !ok || h.size > int64(len(b))-size || !sumIsRight(b[size:size+h.size]) {
			break
		}
		unseal(b[size:])
		size += h.size
	}
	return size
}

// offsets is a range of offsets. It begins at `first` and ends before `next`.
type offsets struct{ first, next int64 }

// lost logs each new hole once, and copies its damaged bytes to another file. The segment stays unchanged, so a later
// read finds the same damage. `file` is nil if the segment's file is gone.
func (l *Log) lost(file disk.File, base int64, holes []hole) {
	if len(holes) == 0 {
		return
	}
	l.mu.RLock()
	if l.active != nil && base == l.active.sum.base {
		l.damagedActive.Store(true)
	}
	l.mu.RUnlock()
	l.damage.Lock()
	defer l.damage.Unlock()
	for _, h := range holes {
		messages := l.unknown(h.first, h.next)
		at := offsets{h.first, h.next}
		if messages == 0 && (h.first < h.next || slices.Contains(l.said, at)) {
			continue
		}
		l.said = append(l.said, at)
		name := filepath.Join(l.cfg.Dir, fmt.Sprintf("%020d-%020d%s", h.first, h.next, DamagedSuffix))
		l.cfg.Logger.Error("The log is damaged. Readers go on behind the damage. A file keeps the damaged bytes. "+
			"Check the disk. The alert ends when you delete this file.",
			"partition", l.cfg.Name, "segment", base, "position", h.from, "bytes", h.to-h.from,
			"first", h.first, "last", h.next-1, "messages", messages, "file", name)
		if err := l.setAside(file, name, h); err != nil {
			l.cfg.Logger.Warn("Cannot set the damaged bytes aside.",
				"partition", l.cfg.Name, "file", name, "error", err)
		}
	}
}

// unknown returns the number of offsets in a range that have not been reported as lost.
func (l *Log) unknown(first, next int64) (n int64) {
	slices.SortFunc(l.said, func(x, y offsets) int { return cmp.Compare(x.first, y.first) })
	for _, s := range l.said {
		n += max(0, min(s.first, next)-first)
		first = max(first, s.next)
	}
	return n + max(0, next-first)
}

// learn reads the reported losses from the file names in the log's directory. It returns the end that the log had
// before the losses, as far as the names of .damaged files and the newest summary show it.
func (l *Log) learn(entries []disk.Entry) (reached int64) {
	newest := int64(0)
	for _, e := range entries {
		var at offsets
		if n, _ := fmt.Sscanf(e.Name, "%d-%d"+DamagedSuffix, &at.first, &at.next); n == 2 {
			l.said, reached = append(l.said, at), max(reached, at.next)
		} else if base, ok := baseOf(e.Name, ".summary"); ok {
			newest = max(newest, base)
		}
	}
	// A summary describes a synced segment, even if damage has truncated the segment since then.
	if sum, _ := l.readSummary(newest, 0); sum != nil {
		reached = max(reached, sum.end)
	}
	return reached
}

// setAside copies the bytes of a hole to a file.
func (l *Log) setAside(file disk.File, name string, h hole) error {
	to, err := l.cfg.FS.Create(name)
	if err != nil {
		return err
	}
	window := windows.Get().(*[scanWindow]byte)
	defer windows.Put(window)
	for at := h.from; at < h.to && err == nil; {
		b := window[:min(h.to-at, scanWindow)]
		if err = readAround(file, b, at); err == nil {
			_, err = to.WriteAt(b, at-h.from)
		}
		at += int64(len(b))
	}
	return errors.Join(err, to.Close())
}

// missing reports a range of missing offsets between segments.
func (l *Log) missing(first, next int64) {
	if first < next {
		l.lost(nil, first, []hole{{0, 0, first, next}})
	}
}
