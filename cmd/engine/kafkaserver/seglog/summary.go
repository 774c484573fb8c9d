package seglog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// mark is an entry of a segment's sparse index: the batch at `pos` begins with `offset`.
type mark struct {
	offset, pos int64
	maxTime     int64 // latest time in the batches before the mark
}

// summary describes a segment, so that a start need not read the segment.
type summary struct {
	base, end int64 // first offset, and the offset after the last record
	size      int64
	maxTime   int64
	marks     []mark
	producers producers // state of the producers after the segment's last batch
}

const (
	summaryMagic = 0x4f435355 // "OCSU"
	maxSummary   = 64 << 20
)

var errSummary = errors.New("not a summary")

// encode returns the content of a summary's file. Its checksum includes the partition's identity.
func (s *summary) encode(identity uint32) []byte {
	b := make([]byte, 4, 64+24*len(s.marks)+160*len(s.producers))
	put := func(values ...int64) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	put(summaryMagic, s.base, s.end, s.size, s.maxTime, int64(len(s.marks)), int64(len(s.producers)))
	for _, m := range s.marks {
		put(m.offset, m.pos, m.maxTime)
	}
	for id, p := range s.producers {
		put(id, int64(p.epoch), p.last, int64(len(p.batches)))
		for _, k := range p.batches {
			put(int64(k.first), int64(k.last), k.offset)
		}
	}
	binary.LittleEndian.PutUint32(b, crc32.Update(identity, castagnoli, b[4:]))
	return b
}

// decode parses the content of a summary's file. Versions before 2026-12 wrote a checksum without the identity, which
// decode accepts too.
func (s *summary) decode(b []byte, identity uint32) error {
	if len(b) < 4+7*8 {
		return errSummary
	}
	sum := binary.LittleEndian.Uint32(b)
	if crc32.Update(identity, castagnoli, b[4:]) != sum && crc32.Checksum(b[4:], castagnoli) != sum {
		return errSummary
	}
	b = b[4:]
	good := true
	get := func() int64 {
		if len(b) < 8 {
			good = false
			return 0
		}
		v := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return int64(v)
	}
	if get() != summaryMagic {
		return errSummary
	}
	s.base, s.end, s.size, s.maxTime = get(), get(), get(), get()
	marks, known := get(), get()
	if marks < 0 || marks > int64(len(b))/24 || known < 0 || known > int64(len(b))/32 {
		return errSummary
	}
	s.marks = make([]mark, marks)
	for i := range s.marks {
		s.marks[i] = mark{get(), get(), get()}
	}
	s.producers = make(producers, known)
	for range known {
		id := get()
		p := &producer{epoch: int16(get()), last: get()}
		for n := get(); n > 0 && good; n-- {
			p.batches = append(p.batches, batchID{int32(get()), int32(get()), get()})
		}
		s.producers[id] = p
	}
	if !good || len(b) > 0 {
		return errSummary
	}
	return nil
}

// writeSummary writes a summary next to its segment. The file is not synced, because a wrong summary is detected and
// rebuilt.
func (l *Log) writeSummary(name string, s *summary) error {
	if err := l.cfg.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := l.cfg.FS.Create(name)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(s.encode(l.identity), 0)
	return errors.Join(err, file.Close())
}

// readSummary returns the summary that matches a segment. If the segment has a different size, it returns both the
// summary and an error.
func (l *Log) readSummary(base, size int64) (*summary, error) {
	data, err := disk.ReadFile(l.cfg.FS, l.summaryName(base), maxSummary)
	if err != nil {
		return nil, err
	}
	s := &summary{}
	if err := s.decode(data, l.identity); err != nil {
		return nil, err
	}
	if s.base != base {
		return nil, errSummary
	}
	if s.size != size {
		return s, errSummary
	}
	return s, nil
}

// add adds a batch to the summary.
func (s *summary) add(h *header, pos, indexEvery int64) {
	if n := len(s.marks); n == 0 || pos-s.marks[n-1].pos >= indexEvery {
		s.marks = append(s.marks, mark{h.base, pos, s.maxTime})
	}
	s.end = h.last + 1
	s.size = pos + h.size
	s.maxTime = max(s.maxTime, h.maxTime)
}
