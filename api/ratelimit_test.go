package api

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestEveryOperationIsRateLimited uses a fresh token up on every row of the table.
func TestEveryOperationIsRateLimited(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(cfg *Config, _ *Deps) { cfg.RateLimit, cfg.EventRateLimit = 1, 1 })
	for i := range h.table {
		op := &h.table[i]
		if op.Scope.public {
			continue
		}
		token := storetest.Token(t, h.st, store.NewToken{User: h.ours.Users[schema.RoleAdmin].ID})
		// Nothing that exists is needed: the limit comes before the object is looked up.
		path, body := h.example(op, ghost())
		var last answer
		for range 100 {
			if last = h.do(op.Method, path, token, body); last.status == http.StatusTooManyRequests {
				break
			}
			if last.header.Get("X-RateLimit-Limit") != "2" {
				t.Fatalf("%s: X-RateLimit-Limit %q", op.ID, last.header.Get("X-RateLimit-Limit"))
			}
		}
		h.wantError(last, http.StatusTooManyRequests)
		reset, err := strconv.ParseInt(last.header.Get("X-RateLimit-Reset"), 10, 64)
		if left := last.header.Get("X-RateLimit-Remaining"); left != "0" || err != nil || reset < time.Now().Unix()-5 {
			t.Errorf("%s: remaining %q, reset %d %v", op.ID, left, reset, err)
		}
		if wait := last.header.Get("Retry-After"); wait == "" || wait == "0" {
			t.Errorf("%s: Retry-After %q", op.ID, wait)
		}
	}
}

// ghost is a tenant that nobody has.
func ghost() *storetest.Tenant {
	return &storetest.Tenant{
		Organization: store.Organization{ID: schema.NewID()}, Site: store.Site{ID: schema.NewID()}, Space: store.Space{ID: schema.NewID()},
	}
}

// TestRateLimitTakesTheBurstAndThenTheRate drives the algorithm with a clock of its own.
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

// TestRateLimitIsExactInParallel lets many take at one moment.
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
