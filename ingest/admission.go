package ingest

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/octavo-docs/octavo/schema/insights"
)

// admission bounds what is in flight: requests, and the bytes of their bodies.
// Who finds no room waits a bounded time, first come first served.
type admission struct {
	requests *semaphore.Weighted
	bytes    *semaphore.Weighted
	maxBytes int64
	wait     time.Duration
	metrics  *Metrics
}

func newAdmission(cfg *IntakeConfig, m *Metrics) *admission {
	return &admission{
		requests: semaphore.NewWeighted(int64(cfg.MaxInFlight)),
		bytes:    semaphore.NewWeighted(cfg.MaxBytesInFlight),
		maxBytes: cfg.MaxBytesInFlight,
		wait:     cfg.AdmitWait,
		metrics:  m,
	}
}

// weight is what a body counts for. One that is larger than all the room may
// enter when it is alone.
func (a *admission) weight(size int) int64 { return min(int64(size), a.maxBytes) }

func (a *admission) enter(ctx context.Context, size int) *Error {
	weight := a.weight(size)
	if a.requests.TryAcquire(1) {
		if a.bytes.TryAcquire(weight) {
			a.entered(weight)
			return nil
		}
		a.requests.Release(1)
	}
	ctx, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	if err := a.requests.Acquire(ctx, 1); err != nil {
		return overloaded(err)
	}
	if err := a.bytes.Acquire(ctx, weight); err != nil {
		a.requests.Release(1)
		return overloaded(err)
	}
	a.entered(weight)
	return nil
}

func (a *admission) entered(weight int64) {
	a.metrics.requestsInFlight.Inc()
	a.metrics.bytesInFlight.Add(float64(weight))
}

func (a *admission) leave(size int) {
	weight := a.weight(size)
	a.metrics.requestsInFlight.Dec()
	a.metrics.bytesInFlight.Sub(float64(weight))
	a.bytes.Release(weight)
	a.requests.Release(1)
}

func overloaded(cause error) *Error {
	e := refuse(insights.Overloaded, "", "too many events are in flight, try again")
	e.Cause = cause
	return e
}
