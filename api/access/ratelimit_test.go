package access

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRateLimitTakesTheBurstAndThenTheRate drives the algorithm with a fake clock.
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
			if n++; left != 20-int64(n) && n <= 20 && use.Load() == now.Add(time.Duration(n)*limit.interval).UnixNano() {
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

// TestRateLimitIsExactInParallel lets many goroutines take at the same moment.
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
