package schematest

import (
	"testing"
	"time"
	"unsafe"
)

// Stepped returns a time of time.Now as it is if the machine's clock was stepped before: only its date differs.
func Stepped(t testing.TB, at time.Time, by time.Duration) time.Time {
	t.Helper()
	stepped := at
	// The first word of a time has the seconds of the date from bit 30 on. Package time offers no other way.
	*(*uint64)(unsafe.Pointer(&stepped)) += uint64(by/time.Second) << 30
	if stepped.Sub(at) != 0 || stepped.Round(0).Sub(at.Round(0)) != by {
		t.Fatalf("%v is no step of %v from %v", stepped, by, at)
	}
	return stepped
}
