package schema

import "time"

// origin is before every time that a test makes up.
var origin = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Elapsed returns the nanoseconds from a fixed origin of this process to a time. A step of the machine's clock changes
// nothing if at has a monotonic reading, as the times of time.Now have, and sums with them. Limits, caches and
// deadlines count in it.
func Elapsed(at time.Time) int64 { return int64(at.Sub(origin)) }
