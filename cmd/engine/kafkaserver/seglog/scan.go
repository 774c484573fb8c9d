package seglog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// scanWindow is the largest size of a read. Scanning a segment needs no more memory.
const scanWindow = 256 << 10

// scanner iterates over the batches of a segment. It reads whole batches only to verify checksums. Otherwise it reads
// their headers.
type scanner struct {
	file   disk.File
	pos    int64 // position of the next batch
	end    int64 // end of the file
	least  int64 // least offset of the next batch
	upper  int64 // the segment's offsets are below upper
	holes  []hole
	failed error // a read error other than damage
	window []byte
	at     int64 // position of window in the file
	ahead  int64 // number of bytes in one read

	identity uint32 // identity of the partition
}

var windows = sync.Pool{New: func() any { return new([scanWindow]byte) }}

// headerAhead is the size of a read if batches are large. It is little more than a header, because the content is
// skipped.
const headerAhead = 4 << 10

// position is the part of a file that a scan reads: from `pos` up to `limit`. The offsets of the batch at `pos` are
// `offset` or higher.
type position struct{ offset, pos, limit int64 }

func (l *Log) newScanner(file disk.File, at position, upper int64) *scanner {
	return &scanner{
		file: file, pos: at.pos, end: at.limit, least: at.offset, upper: upper, identity: l.identity,
		window: windows.Get().(*[scanWindow]byte)[:0], ahead: 32 << 10,
	}
}

// free releases the scanner's memory.
func (s *scanner) free() {
	windows.Put((*[scanWindow]byte)(s.window[:scanWindow]))
	s.window = nil
}

// bytes returns n bytes of the file, at most scanWindow. The bytes are valid until the next call.
func (s *scanner) bytes(at int64, n int) ([]byte, error) {
	if at < s.at || at+int64(n) > s.at+int64(len(s.window)) {
		size := min(s.end-at, max(int64(n), s.ahead))
		s.window, s.at = s.window[:size], at
		if err := readAround(s.file, s.window, at); err != nil {
			s.window, s.failed = s.window[:0], err
			return nil, err
		}
	}
	return s.window[at-s.at:][:n], nil
}

// errTorn means that there is no complete batch at the position.
var errTorn = errors.New("no whole record batch")

// next returns the header and the position of the batch at s.pos, and moves s.pos behind the batch. It returns io.EOF
// at the end. With errTorn, s.pos does not change.
func (s *scanner) next(checksum bool) (h header, pos int64, err error) {
	if s.pos == s.end {
		return h, s.pos, io.EOF
	}
	if s.end-s.pos < headerSize {
		return h, s.pos, errTorn
	}
	b, err := s.bytes(s.pos, headerSize)
	if err != nil {
		return h, s.pos, fmt.Errorf("cannot read a segment at %d: %w", s.pos, err)
	}
	h, ok := parseHeader(b)
	if !ok || h.size > s.end-s.pos || h.base < s.least || h.last >= s.upper || !isSealed(b, s.identity) {
		return h, s.pos, errTorn
	}
	if checksum {
		sum, err := s.sum(s.pos+atAttributes, s.pos+h.size, binary.BigEndian.Uint32(b[atCRC:]))
		if err != nil {
			return h, s.pos, err
		}
		if !sum {
			return h, s.pos, errTorn
		}
	}
	pos = s.pos
	s.pos, s.least = s.pos+h.size, h.last+1
	if s.ahead = scanWindow; h.size > 8*headerAhead {
		s.ahead = headerAhead
	}
	return h, pos, nil
}

func (s *scanner) sum(from, to int64, want uint32) (bool, error) {
	var sum uint32
	for from < to {
		n := int(min(to-from, scanWindow/2))
		b, err := s.bytes(from, n)
		if err != nil {
			return false, fmt.Errorf("cannot read a segment at %d: %w", from, err)
		}
		sum = crc32.Update(sum, castagnoli, b)
		from += int64(n)
	}
	return sum == want, nil
}
