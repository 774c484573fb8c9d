package kafkaserver

import (
	"encoding/binary"
	"errors"
)

var errShort = errors.New("the request ends too early")

// reader decodes the protocol's types, in the encoding before the flexible versions. After the bytes have ended too
// early, it returns zero values.
type reader struct {
	left  []byte
	short bool
}

// take returns the next n bytes, which alias the request.
func (r *reader) take(n int) []byte {
	if r.short || n > len(r.left) {
		r.short, r.left = true, nil
		return nil
	}
	b := r.left[:n:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) int16() int16 {
	b := r.take(2)
	if b == nil {
		return 0
	}
	return int16(binary.BigEndian.Uint16(b))
}

func (r *reader) int32() int32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// text returns a string. For null, it returns "" and ok is false.
func (r *reader) text() (s string, ok bool) {
	n := r.int16()
	if n < 0 || r.short {
		return "", false
	}
	return string(r.take(int(n))), !r.short
}

// bytes returns bytes that point into the request. For null, it returns nil.
func (r *reader) bytes() []byte {
	n := r.int32()
	if n < 0 {
		return nil
	}
	return r.take(int(n))
}

func (r *reader) err() error {
	if r.short {
		return errShort
	}
	return nil
}
