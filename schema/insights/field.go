package insights

import (
	"encoding/binary"
	"math"
)

// Field is a stored column of the events table, and its place in the log encoding. `id` is the field's bit in the log's
// presence mask. It never changes and is never reused.
type Field struct {
	id    uint8
	Name  string // column name in ClickHouse
	Type  string // ClickHouse type
	Codec string // ClickHouse codec; "" means the table's default
	wire  wireType
}

// wireType encodes a field's value for the log, and decodes it from the log into a column.
type wireType interface {
	// put appends the field's log form to `dst` and returns true. If the event has no value, it returns `dst` unchanged
	// and false.
	put(dst []byte, e *Event) ([]byte, bool)
	// buffer makes an empty buffer for the field's values.
	buffer() fieldBuffer
}

// fieldBuffer collects a field's values, row by row. Its strings share memory with the message from which they were
// read.
type fieldBuffer interface {
	take(r *reader)
	absent()
	values() any // returns a slice that clickhouse-go appends without conversion
	truncate(n int)
}

type wireString struct{ get func(*Event) string }

func (k wireString) put(dst []byte, e *Event) ([]byte, bool) {
	s := k.get(e)
	if s == "" {
		return dst, false
	}
	return appendString(dst, s), true
}

func (k wireString) buffer() fieldBuffer { return &buffer[string]{read: (*reader).str} }

type wireCode struct{ get func(*Event) int8 }

func (k wireCode) put(dst []byte, e *Event) ([]byte, bool) {
	c := k.get(e)
	return append(dst, byte(c)), c != 0
}

func (k wireCode) buffer() fieldBuffer {
	return &buffer[int8]{read: func(r *reader) int8 { return int8(r.byte()) }}
}

// wireDoor encodes the door through which an event came. An absent value means the door `api`, so this door is never
// written.
type wireDoor struct{ wireCode }

var doorAPI = EventDoors.codeOf("api")

func (k wireDoor) put(dst []byte, e *Event) ([]byte, bool) {
	if k.get(e) == doorAPI {
		return dst, false
	}
	return k.wireCode.put(dst, e)
}

func (k wireDoor) buffer() fieldBuffer {
	return &buffer[int8]{read: func(r *reader) int8 { return int8(r.byte()) }, none: doorAPI}
}

type wireFlag struct{ get func(*Event) bool }

func (k wireFlag) put(dst []byte, e *Event) ([]byte, bool) { return dst, k.get(e) }

func (k wireFlag) buffer() fieldBuffer {
	return &buffer[uint8]{read: func(*reader) uint8 { return 1 }}
}

// wireMeasured encodes a number that an event may lack. An absent number is stored as notMeasured.
type wireMeasured struct{ get func(*Event) Measured }

func (k wireMeasured) put(dst []byte, e *Event) ([]byte, bool) {
	n, ok := k.get(e).Number()
	if !ok {
		return dst, false
	}
	return binary.AppendUvarint(dst, uint64(n)), true
}

func (k wireMeasured) buffer() fieldBuffer {
	return &buffer[int32]{
		read: func(r *reader) int32 { return int32(min(r.uvarint(), math.MaxInt32)) },
		none: notMeasured,
	}
}

type wireHash struct{ get func(*Event) uint64 }

func (k wireHash) put(dst []byte, e *Event) ([]byte, bool) {
	return binary.LittleEndian.AppendUint64(dst, k.get(e)), true
}

func (k wireHash) buffer() fieldBuffer { return &buffer[uint64]{read: (*reader).u64} }

type wireTime struct{ get func(*Event) int64 }

func (k wireTime) put(dst []byte, e *Event) ([]byte, bool) {
	return binary.AppendVarint(dst, k.get(e)), true
}

func (k wireTime) buffer() fieldBuffer { return &buffer[int64]{read: (*reader).varint} }

// wireDegrees encodes a coordinate. An absent coordinate is stored as NaN.
type wireDegrees struct{ get func(*Event) float32 }

func (k wireDegrees) put(dst []byte, e *Event) ([]byte, bool) {
	if !e.HasPoint {
		return dst, false
	}
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(k.get(e))), true
}

func (k wireDegrees) buffer() fieldBuffer {
	return &buffer[float32]{
		read: func(r *reader) float32 { return math.Float32frombits(r.u32()) },
		none: float32(math.NaN()),
	}
}

type wireClaims struct{ get func(*Event) []Claim }

func (k wireClaims) put(dst []byte, e *Event) ([]byte, bool) {
	claims := k.get(e)
	if len(claims) == 0 {
		return dst, false
	}
	dst = binary.AppendUvarint(dst, uint64(len(claims)))
	for _, c := range claims {
		dst = appendString(appendString(dst, c.Name), c.Value)
	}
	return dst, true
}

func (k wireClaims) buffer() fieldBuffer {
	return &buffer[map[string]string]{read: func(r *reader) map[string]string {
		n := r.count(2)
		m := make(map[string]string, n)
		for range n {
			name := r.str()
			m[name] = r.str()
		}
		return m
	}}
}

// buffer collects the values of one column of the table.
type buffer[T any] struct {
	list []T
	none T
	read func(*reader) T
}

func (c *buffer[T]) take(r *reader) { c.list = append(c.list, c.read(r)) }
func (c *buffer[T]) absent()        { c.list = append(c.list, c.none) }

func (c *buffer[T]) values() any { return c.list }

// truncate keeps the first n values and clears the others. If the other values were not cleared, an empty buffer would
// hold the messages of the last batch in memory.
func (c *buffer[T]) truncate(n int) {
	if n < len(c.list) {
		clear(c.list[n:])
		c.list = c.list[:n]
	}
}
