package loadgen

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is the outcome of a load.
type Result struct {
	Requests uint64         // answered
	Statuses map[int]uint64 // responses by status
	Errors   uint64         // requests without an answer
	// All are the responses by status including those before and after the
	// measured time: all the work that the server did.
	All    map[int]uint64
	Unsent uint64 // in an open loop: due, but no connection was free in time
	// LastError is one of the Errors.
	LastError error
	Elapsed   time.Duration
	// Latency is in microseconds, counted from the intended time of sending: a
	// stall of the server shows in every request that should have been sent
	// meanwhile.
	Latency *hdrhistogram.Histogram
	last    time.Time // when the last counted request was answered
}

// longest is the largest latency that the histogram distinguishes.
const longest = 2 * time.Minute

func newResult() *Result {
	return &Result{Statuses: map[int]uint64{}, All: map[int]uint64{}, Latency: hdrhistogram.New(1, longest.Microseconds(), 3)}
}

func (r *Result) record(status int, latency time.Duration) {
	r.Requests++
	r.Statuses[status]++
	// It cannot fail, since the value is clamped.
	_ = r.Latency.RecordValue(min(max(latency.Microseconds(), 1), longest.Microseconds()))
}

func (r *Result) merge(other *Result) {
	r.Requests += other.Requests
	r.Errors += other.Errors
	r.Unsent += other.Unsent
	for status, n := range other.Statuses {
		r.Statuses[status] += n
	}
	for status, n := range other.All {
		r.All[status] += n
	}
	if other.LastError != nil {
		r.LastError = other.LastError
	}
	if other.last.After(r.last) {
		r.last = other.last
	}
	r.Latency.Merge(other.Latency)
}

// PerSecond returns the answered requests per second.
func (r *Result) PerSecond() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Quantile returns the latency at a quantile from 0 to 1.
func (r *Result) Quantile(q float64) time.Duration {
	return time.Duration(r.Latency.ValueAtQuantile(q*100)) * time.Microsecond
}

// Max returns the longest latency.
func (r *Result) Max() time.Duration { return time.Duration(r.Latency.Max()) * time.Microsecond }

// Only returns an error unless every request was sent and answered with the
// status: the figures of a partly refused load are not comparable.
func (r *Result) Only(status int) error {
	if r.Requests > 0 && r.Statuses[status] == r.Requests && r.Errors == 0 && r.Unsent == 0 {
		return nil
	}
	err := fmt.Errorf("statuses %v, %d requests without a response, %d not sent; want only %d", r.Statuses, r.Errors, r.Unsent, status)
	if r.LastError != nil {
		err = fmt.Errorf("%w; one error: %w", err, r.LastError)
	}
	return err
}
