package schematest

import (
	"testing"
	"time"
	"unsafe"
)

// Stepped returns the time that time.Now would have returned if the machine's clock had been changed before. Only the
// wall clock reading differs, and not the monotonic reading. `at` must be from time.Now.
func Stepped(t testing.TB, at time.Time, by time.Duration) time.Time {
	t.Helper()
	stepped := at
	// The first word of a time.Time has the seconds of the wall clock, beginning at bit 30. Package time has no
	// function that changes only the wall clock.
	*(*uint64)(unsafe.Pointer(&stepped)) += uint64(by/time.Second) << 30
	if stepped.Sub(at) != 0 || stepped.Round(0).Sub(at.Round(0)) != by {
		t.Fatalf("%v is no step of %v from %v", stepped, by, at)
	}
	return stepped
}
