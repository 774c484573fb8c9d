package resultcache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// clock advances by a step whenever it is read.
type clock struct {
	mu   sync.Mutex
	at   time.Time
	step time.Duration
}

func (c *clock) now() time.Time {
	c.after(c.step)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) after(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var start = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

// newCache returns a cache of texts. Without a step, its clock does not advance.
func newCache(maxAge time.Duration, step time.Duration) (*Cache[string], *clock) {
	at := &clock{at: start, step: step}
	return New(Config[string]{
		MaxAge: maxAge, MaxBytes: 1 << 20, Size: func(s string) int { return len(s) },
		Bytes: prometheus.NewGauge(prometheus.GaugeOpts{Name: "bytes"}), Now: at.now,
	}), at
}

// callers request the result of one query from a cache. Each run sends a channel to `started`, and ends with the error
// that it receives from this channel.
type callers struct {
	t       *testing.T
	cache   *Cache[string]
	started chan chan error
	enter   func(context.Context) (func(), error)
	own     func(error) bool
	atEnd   func() // atEnd is called before a successful run ends, unless it is nil
	wait    sync.WaitGroup

	mu   sync.Mutex
	from map[Source]int
	errs int
}

func newCallers(t *testing.T, c *Cache[string]) *callers {
	return &callers{
		t: t, cache: c, started: make(chan chan error, 1000), from: map[Source]int{},
		enter: func(context.Context) (func(), error) { return func() {}, nil },
	}
}

var theKey = NewKey("site", "query")

func (c *callers) do(ctx context.Context, fresh bool) (Result[string], error) {
	run := func(ctx context.Context) (string, error) {
		end := make(chan error)
		c.started <- end
		select {
		case err := <-end:
			if err == nil && c.atEnd != nil {
				c.atEnd()
			}
			return "result", err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return c.cache.Do(ctx, Query[string]{Key: theKey, Fresh: fresh, Enter: c.enter, Run: run, Own: c.own})
}

func (c *callers) ask(ctx context.Context, fresh bool) {
	c.wait.Go(func() {
		r, err := c.do(ctx, fresh)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.errs++
			return
		}
		if r.Value != "result" {
			c.t.Errorf("got %q", r.Value)
		}
		c.from[r.Source]++
	})
}

// sharing waits until n callers need the result of a run.
func (c *callers) sharing(n int) {
	c.t.Helper()
	eventually.True(c.t, fmt.Sprint(n, " callers to share the run"), func() bool { return c.cache.Callers() == n })
}

// want waits for all callers, and compares the sources of their results. No run may remain or start again.
func (c *callers) want(from map[Source]int, errs int) {
	c.t.Helper()
	c.wait.Wait()
	for _, s := range Sources() {
		if c.from[s] != from[s] {
			c.t.Errorf("%d results %s, want %d", c.from[s], s, from[s])
		}
	}
	if c.errs != errs || len(c.cache.flight) != 0 || len(c.started) != 0 {
		c.t.Errorf("%d errors, want %d; %d runs left, %d started", c.errs, errs, len(c.cache.flight), len(c.started))
	}
}

// TestEqualQueriesRunOnce: the first caller that gets a turn runs the query for all callers, including callers without
// a turn.
func TestEqualQueriesRunOnce(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	slots := make(chan struct{}, 1)
	c.enter = func(ctx context.Context) (func(), error) {
		select {
		case slots <- struct{}{}:
			return func() { <-slots }, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for range 40 {
		c.ask(t.Context(), false)
	}
	end := <-c.started
	c.sharing(40)
	end <- nil
	c.want(map[Source]int{Run: 1, Shared: 39}, 0)
	if len(slots) != 0 {
		t.Error("a caller has not left")
	}
}

// TestErrorsAreShared: a failed run fails for all its callers, and nothing is cached.
func TestErrorsAreShared(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	for range 5 {
		c.ask(t.Context(), false)
	}
	end := <-c.started
	c.sharing(5)
	end <- errors.New("too heavy")
	c.want(nil, 5)
	c.ask(t.Context(), false)
	(<-c.started) <- nil
	c.want(map[Source]int{Run: 1}, 5)
}

// TestOwnErrorsAreNotShared: if the error of a run concerns only the caller that ran, another caller runs the query.
func TestOwnErrorsAreNotShared(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	late := errors.New("the batch has no time left")
	c.own = func(err error) bool { return errors.Is(err, late) }
	for range 5 {
		c.ask(t.Context(), false)
	}
	end := <-c.started
	c.sharing(5)
	end <- late
	end = <-c.started
	c.sharing(4)
	end <- nil
	c.want(map[Source]int{Run: 1, Shared: 3}, 1)
}

// TestRefusedCallersAreAlone: if a caller's turn fails, only this caller gets the error.
func TestRefusedCallersAreAlone(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	turn := make(chan error)
	c.enter = func(ctx context.Context) (func(), error) {
		select {
		case err := <-turn:
			return func() {}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for range 3 {
		c.ask(t.Context(), false)
	}
	c.sharing(3)
	turn <- errors.New("over its share")
	c.sharing(2)
	turn <- nil
	(<-c.started) <- nil
	c.want(map[Source]int{Run: 1, Shared: 1}, 1)
}

// TestRunnerMayLeave: when the caller that runs the query disconnects, another caller runs it again.
func TestRunnerMayLeave(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	ctx, leave := context.WithCancel(t.Context())
	c.ask(ctx, false)
	<-c.started
	waits, stop := context.WithCancel(t.Context())
	c.ask(waits, false)
	c.ask(t.Context(), false)
	c.ask(t.Context(), false)
	c.sharing(4)
	stop()
	c.sharing(3)
	leave()
	end := <-c.started
	c.sharing(2)
	end <- nil
	c.want(map[Source]int{Run: 1, Shared: 1}, 2)
}

// TestResultOfARunnerThatLeft: if a result is complete when its caller disconnects, the other callers still share it.
func TestResultOfARunnerThatLeft(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	ctx, leave := context.WithCancel(t.Context())
	c.atEnd = leave
	c.ask(ctx, false)
	end := <-c.started
	c.ask(t.Context(), false)
	c.sharing(2)
	end <- nil
	c.want(map[Source]int{Run: 1, Shared: 1}, 0)
}

// TestForgetWhileRunning: a query after Forget does not share an earlier run, and only the later result is cached.
func TestForgetWhileRunning(t *testing.T) {
	t.Parallel()
	cache, at := newCache(time.Hour, 0)
	c := newCallers(t, cache)
	c.ask(t.Context(), false)
	before := <-c.started
	cache.Forget("another site")
	c.ask(t.Context(), false)
	c.sharing(2)
	cache.Forget("site")
	c.ask(t.Context(), false)
	after := <-c.started
	at.after(time.Second)
	before <- nil
	after <- nil
	c.want(map[Source]int{Run: 2, Shared: 1}, 0)
	if n := cache.cached.entries.Len(); n != 1 {
		t.Errorf("%d results are cached", n)
	}
}

// TestOldRunsAreNotShared: a caller that comes more than MaxAge after a run's start runs the query itself. Its result
// stays in the cache when the older run ends.
func TestOldRunsAreNotShared(t *testing.T) {
	t.Parallel()
	cache, at := newCache(5*time.Second, 0)
	c := newCallers(t, cache)
	c.ask(t.Context(), false)
	older := <-c.started
	at.after(6 * time.Second)
	c.ask(t.Context(), false)
	younger := <-c.started
	at.after(2 * time.Second)
	younger <- nil
	eventually.True(t, "the younger result", func() bool { return cache.Callers() == 0 })
	at.after(time.Second)
	older <- nil
	c.want(map[Source]int{Run: 2}, 0)
	if r, err := c.do(t.Context(), false); err != nil || r.Source != Cached || r.Age != 3*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSlowResultsAreNotCached: the result of a run longer than MaxAge is not cached, and expired entries are removed.
func TestSlowResultsAreNotCached(t *testing.T) {
	t.Parallel()
	cache, at := newCache(5*time.Second, 0)
	cache.cached.put(NewKey("another", ""), &entry[string]{until: start.Add(time.Hour)}, cache.Now())
	c := newCallers(t, cache)
	c.ask(t.Context(), false)
	end := <-c.started
	at.after(6 * time.Second)
	end <- nil
	c.want(map[Source]int{Run: 1}, 0)
	if n := cache.cached.entries.Len(); n != 1 {
		t.Errorf("%d results are cached, want the other one", n)
	}
	at.after(time.Hour)
	cache.cached.put(NewKey("a third", ""), &entry[string]{until: start.Add(2 * time.Hour)}, cache.Now())
	if n := cache.cached.entries.Len(); n != 1 {
		t.Errorf("%d results are cached, want the third one", n)
	}
}

// TestSlowResults: with a SlowAge, a result stays cached for as long as its run took, counted from the end of the run.
// A quick result stays for ten times its duration, counted from its request.
func TestSlowResults(t *testing.T) {
	t.Parallel()
	for took, stays := range map[time.Duration]time.Duration{
		10 * time.Millisecond:  90 * time.Millisecond,
		499 * time.Millisecond: 9 * 499 * time.Millisecond,
		500 * time.Millisecond: 5 * time.Second,
		6 * time.Second:        6 * time.Second,
		time.Minute:            time.Minute,
		time.Hour:              time.Minute,
	} {
		cache, at := newCache(5*time.Second, 0)
		cache.SlowAge = time.Minute
		c := newCallers(t, cache)
		c.ask(t.Context(), false)
		end := <-c.started
		at.after(took)
		end <- nil
		c.want(map[Source]int{Run: 1}, 0)
		at.after(stays - 1)
		if r, err := c.do(t.Context(), false); err != nil || r.Source != Cached || r.Age != took+stays-1 {
			t.Errorf("took %s: %+v, %v after %s", took, r, err, stays-1)
		}
		at.after(1)
		if has(cache, theKey) {
			t.Errorf("took %s: cached after %s", took, stays)
		}
	}
}

// TestSlowRunsAreShared: with a SlowAge, callers share a run that began more than MaxAge ago.
func TestSlowRunsAreShared(t *testing.T) {
	t.Parallel()
	cache, at := newCache(5*time.Second, 0)
	cache.SlowAge = time.Minute
	c := newCallers(t, cache)
	c.ask(t.Context(), false)
	end := <-c.started
	for n := range 10 {
		at.after(5 * time.Second)
		c.ask(t.Context(), false)
		c.sharing(n + 2)
	}
	at.after(11 * time.Second) // The run is older than SlowAge.
	c.ask(t.Context(), false)
	younger := <-c.started
	end <- nil
	younger <- nil
	c.want(map[Source]int{Run: 2, Shared: 10}, 0)
}

// TestRerunsKeepTheirAge: if a caller runs a query again, the result's age is the time since this caller's request.
// Later callers do not share a result that was requested too long ago.
func TestRerunsKeepTheirAge(t *testing.T) {
	t.Parallel()
	cache, at := newCache(5*time.Second, time.Second)
	c := newCallers(t, cache)
	ctx, leave := context.WithCancel(t.Context())
	c.ask(ctx, false)
	<-c.started
	c.ask(t.Context(), false)
	c.sharing(2)
	at.after(time.Minute)
	leave()
	again := <-c.started
	c.ask(t.Context(), false)
	late := <-c.started
	again <- nil
	late <- nil
	c.want(map[Source]int{Run: 2}, 1)
}

// TestFreshResults: a fresh query shares no earlier run, and later callers share the fresh result.
func TestFreshResults(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, time.Millisecond)
	c := newCallers(t, cache)
	c.ask(t.Context(), false)
	older := <-c.started
	c.ask(t.Context(), true)
	fresh := <-c.started
	c.ask(t.Context(), false)
	c.sharing(2) // the older run is replaced
	fresh <- nil
	older <- nil
	c.want(map[Source]int{Run: 2, Shared: 1}, 0)
}

// TestNothingIsShared: without a MaxAge every query runs.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(0, time.Millisecond)
	c := newCallers(t, cache)
	for range 3 {
		c.ask(t.Context(), false)
	}
	for range 3 {
		(<-c.started) <- nil
	}
	c.want(map[Source]int{Run: 3}, 0)
}

// TestBytes: the cached results stay within MaxBytes.
func TestBytes(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	text := string(make([]byte, 1<<18))
	largest := 0
	for i := range 5000 {
		e := &entry[string]{value: text[:rand.IntN(1<<18)], until: start.Add(time.Minute)}
		cache.cached.put(NewKey(fmt.Sprint(i%3000), ""), e, cache.Now())
		sum := 0
		for _, e := range cache.cached.entries.Values() {
			sum += cache.cached.size(e)
			largest = max(largest, cache.cached.size(e))
		}
		if sum != cache.cached.bytes || sum > 1<<20 {
			t.Fatalf("%d bytes, said to be %d", sum, cache.cached.bytes)
		}
	}
	if largest > 1<<17 || cache.cached.entries.Len() < 8 {
		t.Errorf("%d results, of %d bytes at most", cache.cached.entries.Len(), largest)
	}
}

// TestVersions: an expired result is used for at most Lasts while the data have the same version as before its run. An
// expired result without a version is not used.
func TestVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now string
		after       time.Duration
		fresh       bool
		want        Source
	}{
		"young":          {"1", "2", time.Second, false, Cached},
		"same":           {"1", "1", 59 * time.Minute, false, Cached},
		"changed":        {"1", "2", 59 * time.Minute, false, Run},
		"at its end":     {"1", "1", time.Hour, false, Run},
		"not known":      {"", "", 59 * time.Minute, false, Run},
		"no longer":      {"1", "", 59 * time.Minute, false, Run},
		"only now":       {"", "1", 59 * time.Minute, false, Run},
		"fresh requests": {"1", "1", 59 * time.Minute, true, Run},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache, at := newCache(5*time.Second, 0)
			version := c.before
			ask := func(fresh bool) Result[string] {
				r, err := cache.Do(t.Context(), Query[string]{
					Key: theKey, Fresh: fresh, Lasts: time.Hour,
					Enter:   func(context.Context) (func(), error) { return func() {}, nil },
					Run:     func(context.Context) (string, error) { at.after(2 * time.Second); return "result", nil },
					Version: func(context.Context, bool) string { return version },
				})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			cache.SlowAge = 5 * time.Second
			ask(false)
			version = c.now
			at.after(c.after - 2*time.Second)
			r := ask(c.fresh)
			if current := c.want == Cached && name != "young"; r.Source != c.want || r.Current != current {
				t.Errorf("%+v, want %s, current %t", r, c.want, current)
			}
		})
	}
}

// TestCostlyResultsStay: slow results stay in a full cache longer than quick results.
func TestCostlyResultsStay(t *testing.T) {
	t.Parallel()
	cache, _ := newCache(time.Hour, 0)
	cache.cached.maxBytes = 100 * (overhead + 10)
	put := func(name string, took time.Duration) {
		e := &entry[string]{value: "0123456789", until: start.Add(time.Hour), chances: chancesOf(took)}
		cache.cached.put(NewKey(name, ""), e, cache.Now())
	}
	has := func(name string) bool { return has(cache, NewKey(name, "")) }
	put("costly", 4*time.Second)
	put("cheap", time.Millisecond)
	for i := range 300 {
		put(fmt.Sprint(i), time.Millisecond)
	}
	if !has("costly") || has("cheap") || !has("299") {
		t.Errorf("stays: costly %t, cheap %t, the last %t", has("costly"), has("cheap"), has("299"))
	}
	for i := range 2000 {
		put(fmt.Sprint(i), time.Millisecond)
	}
	if has("costly") {
		t.Error("a result that nobody asks for stays")
	}
}

// has reports whether there is a cached result that is young enough.
func has[V any](c *Cache[V], k Key) bool {
	_, ok := c.Look(context.Background(), Query[V]{Key: k})
	return ok
}
