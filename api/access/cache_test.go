package access

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

func newTestCache(t testing.TB, entries int) *ttlCache[string, int] {
	t.Helper()
	c, err := newTTLCache[string, int](entries, 5*time.Second, func(k string) string { return k })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCacheRemembersForItsTime(t *testing.T) {
	t.Parallel()
	c, now := newTestCache(t, 8), time.Now()
	if _, _, known := c.peek("a", now); known {
		t.Error("an empty cache knows something")
	}
	if v, err := c.load(t.Context(), "a", now, func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d %v", v, err)
	}
	if v, err, known := c.peek("a", now.Add(4*time.Second)); v != 7 || err != nil || !known {
		t.Errorf("%d %v %v", v, err, known)
	}
	if _, _, known := c.peek("a", now.Add(5*time.Second)); known {
		t.Error("known beyond its time")
	}
}

// TestCacheRemembersRefusals: refusals are cached without their private causes, for a shorter time than answers. Faults
// are never cached.
func TestCacheRemembersRefusals(t *testing.T) {
	t.Parallel()
	c, now := newTestCache(t, 8), time.Now()
	for code, remembered := range map[schema.Code]bool{
		schema.CodeUnauthorized: true, schema.CodeNotFound: true, schema.CodeUnavailable: false, schema.CodeInternal: false,
	} {
		key := string(rune(code))
		refusal := &schema.Error{Code: code, Message: "no", Cause: errors.New("private")}
		if _, err := c.load(t.Context(), key, now, func(context.Context) (int, error) { return 0, refusal }); !schema.IsCode(err, code) {
			t.Errorf("%d: %v", code, err)
		}
		_, err, known := c.peek(key, now.Add(refusalTTL/2))
		if known != remembered || known && (!schema.IsCode(err, code) || errors.Is(err, refusal.Cause)) {
			t.Errorf("%d: known %v, %v", code, known, err)
		}
		if _, _, known := c.peek(key, now.Add(refusalTTL)); known {
			t.Errorf("%d: known beyond its time", code)
		}
	}
}

// TestRefusalsDoNotPushAnswersOut fills the cache with refusals. A cached answer stays.
func TestRefusalsDoNotPushAnswersOut(t *testing.T) {
	t.Parallel()
	c, now := newTestCache(t, 8), time.Now()
	_, _ = c.load(t.Context(), "good", now, func(context.Context) (int, error) { return 1, nil })
	for i := range 1000 {
		_, _ = c.load(t.Context(), string(rune(0x1000+i)), now, func(context.Context) (int, error) { return 0, schema.Unauthorized("no") })
	}
	if _, _, known := c.peek("good", now); !known {
		t.Error("the answer is gone")
	}
	if n := c.refusals.Len(); n > 8 {
		t.Errorf("%d refusals are kept", n)
	}
}

// TestManyAskOnce loads the same key in many goroutines at once, with a context that is already canceled. There is one
// load, and all goroutines get its answer.
func TestManyAskOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, manyAskOnce)
}

func manyAskOnce(t *testing.T) {
	c, now := newTestCache(t, 8), time.Now()
	var loads atomic.Int32
	entered, release := make(chan struct{}, 16), make(chan struct{})
	load := func(ctx context.Context) (int, error) {
		loads.Add(1)
		entered <- struct{}{}
		<-release
		return 7, ctx.Err()
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if v, err, known := c.peek("a", now); known {
				if v != 7 || err != nil {
					t.Errorf("%d %v", v, err)
				}
				return
			}
			if v, err := c.load(over, "a", now, load); v != 7 || err != nil {
				t.Errorf("%d %v", v, err)
			}
		})
	}
	<-entered
	synctest.Wait() // All callers wait for the answer.
	close(release)
	wait.Wait()
	if n := loads.Load(); n != 1 {
		t.Errorf("%d loads", n)
	}
}
