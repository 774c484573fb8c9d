package access

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/schematest"
)

// TestRateLimitTakesTheBurstAndThenTheRate takes from a limit at chosen times: first the burst, then one request for
// each interval.
func TestRateLimitTakesTheBurstAndThenTheRate(t *testing.T) {
	t.Parallel()
	limit := rateLimit{interval: time.Second / 10, burst: 20}
	now := time.Unix(1_000_000, 0)
	var use atomic.Int64
	taken := func() (n int) {
		for {
			took := limit.take(&use, now)
			left, idle, wait := took.Left, took.Idle, took.Wait
			if wait != 0 {
				if left != 0 || wait <= 0 || wait > limit.interval {
					t.Fatalf("refused with %d left, wait %v", left, wait)
				}
				return n
			}
			n++
			full := use.Load() == schema.Elapsed(now.Add(time.Duration(n)*limit.interval))
			if left != 20-int64(n) && n <= 20 && full {
				t.Fatalf("%d left after %d", left, n)
			}
			if idle.Before(now) {
				t.Fatalf("idle at %v, now %v", idle, now)
			}
		}
	}
	if n := taken(); n != 20 {
		t.Errorf("burst of %d", n)
	}
	now = now.Add(time.Second)
	if n := taken(); n != 10 {
		t.Errorf("%d after a second", n)
	}
	now = now.Add(time.Hour)
	if n := taken(); n != 20 {
		t.Errorf("%d after an hour", n)
	}
}

// TestRateLimitOverSteps sets the wall clock back and ahead. The limit still admits the same number of requests.
func TestRateLimitOverSteps(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for _, by := range []time.Duration{-400 * day, -hour, -2 * time.Second, 2 * time.Second, hour, 400 * day} {
		limit := rateLimit{interval: time.Second / 10, burst: 20}
		now := time.Now()
		var use atomic.Int64
		for range 15 {
			limit.take(&use, now)
		}
		now = schematest.Stepped(t, now, by)
		for left := int64(4); left >= 0; left-- {
			if took := limit.take(&use, now); took.Wait != 0 || took.Left != left {
				t.Errorf("%v: %+v, want %d left", by, took, left)
			}
		}
		took := limit.take(&use, now)
		if took.Wait != limit.interval || !took.Idle.Round(0).Equal(now.Round(0).Add(2*time.Second)) {
			t.Errorf("%v: %+v, want to be idle after 2 s", by, took)
		}
	}
}

// TestRateLimitIsExactInParallel takes from one limit in many goroutines at once. The limit admits exactly the burst.
func TestRateLimitIsExactInParallel(t *testing.T) {
	t.Parallel()
	limit := rateLimit{interval: time.Millisecond, burst: 500}
	now := time.Unix(1_000_000, 0)
	var use, admitted atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				if limit.take(&use, now).Wait == 0 {
					admitted.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if admitted.Load() != 500 {
		t.Errorf("%d admitted", admitted.Load())
	}
}
