package eventlog

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// batch has the messages of one produce request, encoded as a record batch (v2). Its bytes do not change after they are
// written, so every attempt sends the same messages. It is encoded here because kafka-go's encoder allocates several
// small objects per record.
type batch struct {
	buf   []byte // size of the record set, then the record batch
	count int
	began time.Time // when the batch's first message arrived
	// `plain` means that the batch has no producer id. The broker then cannot recognise a repeated batch, so the log
	// may have the messages twice. The sink drops the second copies.
	plain bool
	// `done` is closed when the messages are durable (`err` is nil) or abandoned.
	done chan struct{}
	err  *insights.Refusal
}

// Offsets in buf. See "Record Batch" in Kafka's protocol guide.
const (
	atSetSize     = 0
	atBatchLength = 4 + 8
	atCRC         = 4 + 17
	atAttributes  = 4 + 21
	atLastOffset  = 4 + 23
	atFirstTime   = 4 + 27
	atMaxTime     = 4 + 35
	atProducer    = 4 + 43
	atEpoch       = 4 + 51
	atSequence    = 4 + 53
	atCount       = 4 + 57
	batchHeader   = 4 + 61
	// recordOverhead is the largest number of bytes that a record adds to its key and value.
	recordOverhead = 1 + 6*binary.MaxVarintLen32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newBatch starts a batch in `buf`, and takes ownership of `buf`.
func newBatch(buf []byte, now time.Time) *batch {
	nowMillis := now.UnixMilli()
	buf = append(buf[:0], make([]byte, batchHeader)...)
	binary.BigEndian.PutUint32(buf[4+12:], ^uint32(0)) // partition leader epoch
	buf[4+16] = 2                                      // magic
	binary.BigEndian.PutUint64(buf[atFirstTime:], uint64(nowMillis))
	binary.BigEndian.PutUint64(buf[atMaxTime:], uint64(nowMillis))
	return &batch{buf: buf, began: now, done: make(chan struct{})}
}

// add copies a message into the batch.
func (b *batch) add(key string, value []byte) {
	delta := int64(b.count)
	size := 1 + varintSize(0) + varintSize(delta) +
		varintSize(int64(len(key))) + len(key) +
		varintSize(int64(len(value))) + len(value) + varintSize(0)
	b.buf = binary.AppendVarint(b.buf, int64(size))
	b.buf = append(b.buf, 0)                  // attributes
	b.buf = binary.AppendVarint(b.buf, 0)     // difference from the first timestamp
	b.buf = binary.AppendVarint(b.buf, delta) // difference from the first offset
	b.buf = binary.AppendVarint(b.buf, int64(len(key)))
	b.buf = append(b.buf, key...)
	b.buf = binary.AppendVarint(b.buf, int64(len(value)))
	b.buf = append(b.buf, value...)
	b.buf = binary.AppendVarint(b.buf, 0) // headers
	b.count++
}

// seal writes the producer, the lengths and the checksum. Nothing may be added after `seal`.
func (b *batch) seal(from producer) {
	binary.BigEndian.PutUint64(b.buf[atProducer:], uint64(from.id))
	binary.BigEndian.PutUint16(b.buf[atEpoch:], uint16(from.epoch))
	binary.BigEndian.PutUint32(b.buf[atSequence:], uint32(from.next))
	binary.BigEndian.PutUint32(b.buf[atSetSize:], uint32(len(b.buf)-4))
	binary.BigEndian.PutUint32(b.buf[atBatchLength:], uint32(len(b.buf)-atBatchLength-4))
	binary.BigEndian.PutUint32(b.buf[atLastOffset:], uint32(b.count-1))
	binary.BigEndian.PutUint32(b.buf[atCount:], uint32(b.count))
	binary.BigEndian.PutUint32(b.buf[atCRC:], crc32.Checksum(b.buf[atAttributes:], castagnoli))
}

// finish reports the outcome to the requests that wait for the batch.
func (b *batch) finish(err *insights.Refusal) {
	b.err = err
	close(b.done)
}

func varintSize(n int64) int {
	u := uint64(n)<<1 ^ uint64(n>>63)
	size := 1
	for u >= 0x80 {
		u >>= 7
		size++
	}
	return size
}
