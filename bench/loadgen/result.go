package loadgen

import (
	"fmt"
	"math"
	"time"
)

// Result is the outcome of a load.
type Result struct {
	Requests uint64         // number of answered requests
	Statuses map[int]uint64 // responses by status
	Errors   uint64         // number of requests without an answer
	// All counts the responses of the whole run by status, including responses before and after the measured time.
	All    map[int]uint64
	Unsent uint64 // number of requests of an open loop that were due but never sent
	// LastError is the error of a request that Errors counts.
	LastError error
	Elapsed   time.Duration
	// Latencies are the sorted response times, measured from the time at which each request was due. So if the server
	// stops answering for a time, the latency of every request that was due in this time is longer.
	Latencies []time.Duration
	last      time.Time // time at which the last counted request was answered
}

func newResult() *Result { return &Result{Statuses: map[int]uint64{}, All: map[int]uint64{}} }

func (r *Result) record(status int, latency time.Duration) {
	r.Requests++
	r.Statuses[status]++
	r.Latencies = append(r.Latencies, latency)
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
	r.Latencies = append(r.Latencies, other.Latencies...)
}

// PerSecond returns the answered requests per second.
func (r *Result) PerSecond() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Quantile returns the latency that a fraction q of the requests did not exceed. It returns 0 if the load sent no
// requests.
func (r *Result) Quantile(q float64) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	return r.Latencies[max(int(math.Ceil(q*float64(len(r.Latencies)))), 1)-1]
}

// Max returns the longest latency.
func (r *Result) Max() time.Duration { return r.Quantile(1) }

// Only returns nil if every request was sent and answered with the status. Otherwise it returns an error, because the
// figures of a load with refused requests cannot be compared with other figures.
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
