package seglog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// These are the positions of fields in a record batch. See "Record Batch" in Kafka's protocol guide.
const (
	atLength      = 8
	atEpoch       = 12
	atMagic       = 16
	atCRC         = 17
	atAttributes  = 21
	atLastDelta   = 23
	atFirstTime   = 27
	atMaxTime     = 35
	atProducer    = 43
	atProducerEra = 51
	atSequence    = 53
	atCount       = 57
	headerSize    = 61

	lengthOverhead = 12 // number of bytes that a batch's length does not include

	compressionMask = 0x07
	appendTimeBit   = 0x08
	transactionBit  = 0x10
	controlBit      = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrInvalid is wrapped by each error about a refused batch.
var ErrInvalid = errors.New("not a valid record batch")

// ErrCorrupt is wrapped by each error about a batch with a wrong checksum.
var ErrCorrupt = errors.New("the checksum of a record batch is wrong")

// header has the fields of a batch that the log needs.
type header struct {
	base, last  int64 // offsets of the first and the last record
	size        int64
	maxTime     int64
	producer    int64 // -1 if the batch has no producer id
	epoch       int16
	sequence    int32
	count       int32
	attributes  uint16
	recordBytes int64
}

// parseHeader parses the header of a batch. `ok` is false if the bytes cannot be a batch.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) < headerSize || b[atMagic] != 2 {
		return h, false
	}
	length := int64(int32(binary.BigEndian.Uint32(b[atLength:])))
	h.base = int64(binary.BigEndian.Uint64(b))
	delta := int32(binary.BigEndian.Uint32(b[atLastDelta:]))
	h.last = h.base + int64(delta)
	h.size = length + lengthOverhead
	h.recordBytes = h.size - headerSize
	h.maxTime = int64(binary.BigEndian.Uint64(b[atMaxTime:]))
	h.producer = int64(binary.BigEndian.Uint64(b[atProducer:]))
	h.epoch = int16(binary.BigEndian.Uint16(b[atProducerEra:]))
	h.sequence = int32(binary.BigEndian.Uint32(b[atSequence:]))
	h.count = int32(binary.BigEndian.Uint32(b[atCount:]))
	h.attributes = binary.BigEndian.Uint16(b[atAttributes:])
	return h, h.recordBytes >= 0 && h.base >= 0 && delta >= 0 && h.last >= h.base
}

// checkSent parses and validates a batch from a client.
func checkSent(b []byte) (header, error) {
	h, ok := parseHeader(b)
	switch {
	case !ok:
		return h, fmt.Errorf("%w: its header is not that of version 2", ErrInvalid)
	case h.size != int64(len(b)):
		return h, fmt.Errorf("%w: it has %d bytes but its length says %d (send one batch per partition)", ErrInvalid, len(b), h.size)
	case !sumIsRight(b):
		return h, ErrCorrupt
	case h.count < 1 || h.last-h.base != int64(h.count)-1:
		return h, fmt.Errorf("%w: it has %d records but %d offsets", ErrInvalid, h.count, h.last-h.base+1)
	case h.attributes&(transactionBit|controlBit) != 0:
		return h, fmt.Errorf("%w: this log has no transactions", ErrInvalid)
	case h.producer >= 0 && (h.epoch < 0 || h.sequence < 0):
		return h, fmt.Errorf("%w: a producer without epoch or sequence", ErrInvalid)
	case h.attributes&compressionMask == 0:
		return h, checkRecords(b[headerSize:], int(h.count))
	}
	return h, nil
}

func sumIsRight(b []byte) bool {
	return crc32.Checksum(b[atAttributes:], castagnoli) == binary.BigEndian.Uint32(b[atCRC:])
}

// checkRecords validates the records of a batch. A consumer would be stuck forever at a record that it cannot read.
func checkRecords(b []byte, count int) error {
	for i := range count {
		size, n := binary.Varint(b)
		if n <= 0 || size < 1 || size > int64(len(b)-n) {
			return fmt.Errorf("%w: record %d exceeds the batch", ErrInvalid, i)
		}
		record := b[n : n+int(size)]
		b = b[n+int(size):]
		if !checkRecord(record[1:], int64(i)) {
			return fmt.Errorf("%w: record %d cannot be read", ErrInvalid, i)
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%w: %d extra bytes after its records", ErrInvalid, len(b))
	}
	return nil
}

// checkRecord validates the part of a record after its attributes.
func checkRecord(b []byte, delta int64) bool {
	good := true
	varint := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			good, n = false, 0
		}
		b = b[n:]
		return v
	}
	skip := func() { // a length, -1 for null, and the bytes
		size := varint()
		if size > int64(len(b)) {
			good = false
			return
		}
		b = b[max(0, size):]
	}
	varint() // timestamp delta
	good = varint() == delta && good
	skip() // key
	skip() // value
	headers := varint()
	if headers < 0 || headers > int64(len(b)) {
		return false
	}
	for range headers {
		if skip(); !good {
			return false
		}
		skip()
	}
	return good && len(b) == 0
}

// place sets the offset of a batch.
func place(b []byte, base int64) { binary.BigEndian.PutUint64(b, uint64(base)) }

// sealOf returns the checksum of a partition's identity and a batch's header. The batch's own checksum is not enough.
// It does not cover the offset and the length. And it covers the content, which a scan of headers does not read.
func sealOf(b []byte, identity uint32) uint32 {
	return max(1, crc32.Update(crc32.Update(identity, castagnoli, b[:atEpoch]), castagnoli, b[atMagic:headerSize]))
}

// seal writes the seal of a batch into its leader epoch. The log does not need the leader epoch, because the only
// leader never changes.
func seal(b []byte, identity uint32) { binary.BigEndian.PutUint32(b[atEpoch:], sealOf(b, identity)) }

// unseal removes the seal of a batch for readers.
func unseal(b []byte) { binary.BigEndian.PutUint32(b[atEpoch:], 0) }

// isSealed reports whether a batch's seal is right, was made without an identity, or is missing. Versions before
// 2026-12 wrote batches without a seal, and seals without an identity.
func isSealed(b []byte, identity uint32) bool {
	found := binary.BigEndian.Uint32(b[atEpoch:])
	return found == 0 || found == sealOf(b, identity) || found == sealOf(b, 0)
}

// stampAppend sets the append time of a batch, for topics with LogAppendTime.
func stampAppend(b []byte, h *header, millis int64) {
	h.attributes |= appendTimeBit
	h.maxTime = millis
	binary.BigEndian.PutUint16(b[atAttributes:], h.attributes)
	binary.BigEndian.PutUint64(b[atMaxTime:], uint64(millis))
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
}
