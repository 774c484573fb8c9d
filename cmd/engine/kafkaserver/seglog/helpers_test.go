package seglog_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

const dir = "/log"

// sent describes a batch that a client sends.
type sent struct {
	values   []string
	producer int64 // 0 if the batch has no producer id
	epoch    int16
	sequence int32
	millis   int64
}

func (s sent) bytes() []byte {
	b := make([]byte, 61)
	for i, value := range s.values {
		var r []byte
		r = append(r, 0)
		r = binary.AppendVarint(r, 0)
		r = binary.AppendVarint(r, int64(i))
		r = binary.AppendVarint(r, -1)
		r = binary.AppendVarint(r, int64(len(value)))
		r = append(r, value...)
		r = binary.AppendVarint(r, 0)
		b = binary.AppendVarint(b, int64(len(r)))
		b = append(b, r...)
	}
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	binary.BigEndian.PutUint32(b[23:], uint32(len(s.values)-1))
	binary.BigEndian.PutUint64(b[27:], uint64(s.millis))
	binary.BigEndian.PutUint64(b[35:], uint64(s.millis))
	producer, epoch, sequence := s.producer, s.epoch, s.sequence
	if producer == 0 {
		producer, epoch, sequence = -1, -1, -1
	}
	binary.BigEndian.PutUint64(b[43:], uint64(producer))
	binary.BigEndian.PutUint16(b[51:], uint16(epoch))
	binary.BigEndian.PutUint32(b[53:], uint32(sequence))
	binary.BigEndian.PutUint32(b[57:], uint32(len(s.values)))
	reseal(b)
	return b
}

func reseal(b []byte) {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// values returns the values of the records in the batches b, by offset.
func values(t testing.TB, b []byte) map[int64]string {
	t.Helper()
	found := map[int64]string{}
	for len(b) > 0 {
		size, _, err := seglog.CheckBatch(b)
		if err != nil {
			t.Fatalf("the batch that was read is incomplete: %v", err)
		}
		base := int64(binary.BigEndian.Uint64(b))
		records := b[61:size]
		for i := range int64(binary.BigEndian.Uint32(b[57:])) {
			length, n := binary.Varint(records)
			record := records[n : n+int(length)]
			records = records[n+int(length):]
			record = record[1:]
			_, n = binary.Varint(record)
			record = record[n:]
			_, n = binary.Varint(record)
			record = record[n:]
			_, n = binary.Varint(record) // no key
			record = record[n:]
			length, n = binary.Varint(record)
			found[base+i] = string(record[n : n+int(length)])
		}
		b = b[size:]
	}
	return found
}

func open(t testing.TB, f disk.FS, cfg seglog.Config) *seglog.Log {
	t.Helper()
	l, err := tryOpen(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func tryOpen(f disk.FS, cfg seglog.Config) (*seglog.Log, error) {
	if err := disk.MakeDir(f, "/", dir); err != nil {
		return nil, err
	}
	cfg.FS, cfg.Dir, cfg.Name = f, dir, "topic/0"
	if cfg.SegmentBytes == 0 {
		cfg.SegmentBytes = 1 << 20
	}
	return seglog.Open(cfg)
}

// all returns all values of a log, by offset.
func all(t testing.TB, l *seglog.Log, most int) map[int64]string {
	t.Helper()
	found := map[int64]string{}
	at, end := l.Offsets()
	for at < end {
		b, err := l.Read(nil, at, most, true)
		if err != nil {
			t.Fatalf("cannot read at %d of %d: %v", at, end, err)
		}
		last := int64(-1)
		for offset, value := range values(t, b) {
			found[offset] = value
			last = max(last, offset)
		}
		if last < at {
			t.Fatalf("a read at %d of %d returned nothing", at, end)
		}
		at = last + 1
	}
	return found
}

func appendOne(t testing.TB, l *seglog.Log, s sent) int64 {
	t.Helper()
	done, err := l.Append(s.bytes(), false)
	if err != nil {
		t.Fatal(err)
	}
	return done.Base
}
