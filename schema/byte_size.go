package schema

import (
	"errors"
	"strconv"

	"github.com/dustin/go-humanize"
)

// ByteSize is a number of bytes. Its text may have a unit, such as 2GiB or 500MB.
type ByteSize int64

// UnmarshalText reads a number of bytes, or a number with a unit.
func (s *ByteSize) UnmarshalText(text []byte) error {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*s = ByteSize(n)
		return nil
	}
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > 1<<63-1 {
		return errors.New("must be a number of bytes, such as 2147483648 or 2GiB")
	}
	*s = ByteSize(n)
	return nil
}

// String returns the size with a binary unit, rounded so that people can read it.
func (s ByteSize) String() string {
	if s < 0 {
		return strconv.FormatInt(int64(s), 10)
	}
	return humanize.IBytes(uint64(s))
}
