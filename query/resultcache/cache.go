package resultcache

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Source is the origin of a result: a closed set, for metrics.
type Source string

// These are the sources of results.
const (
	Run    Source = "run"
	Shared Source = "shared" // an equal query was running
	Cached Source = "kept"   // an equal query had run
)

// Sources lists the closed set.
func Sources() []Source { return []Source{Run, Shared, Cached} }

// Config limits a cache.
type Config[V any] struct {
	// MaxAge is the greatest age of a shared or cached result. If MaxAge is 0, no result is shared.
	MaxAge time.Duration
	// SlowAge bounds the time for which a slow result stays cached. A slow result stays cached for as long as it took
	// to compute, and at least for MaxAge. This time begins at the end of the run. Callers also share a run that was
	// requested at most SlowAge ago. If SlowAge is 0, MaxAge applies to all results.
	SlowAge time.Duration
	// FlightAge is the time for which a run is shared if it is longer than MaxAge and SlowAge.
	FlightAge time.Duration
	// MinAge is the time for which a result stays cached if it was quick to compute.
	MinAge time.Duration
	// MaxBytes limits the bytes of cached results, and Size returns the bytes of one result. If MaxBytes is 0, results
	// are shared and not cached.
	MaxBytes int
	Size     func(V) int
	// Bytes shows the bytes of the cached results; nil is no gauge.
	Bytes prometheus.Gauge
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Cache shares results. It is safe for concurrent use. Callers must not change the results.
type Cache[V any] struct {
	Config[V]

	mu     sync.Mutex
	cached *lru[V]
	flight map[Key]*run[V]
}

// New makes an empty cache.
func New[V any](c Config[V]) *Cache[V] {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Cache[V]{Config: c, cached: newLRU(c.MaxBytes, c.Size, c.Bytes), flight: map[Key]*run[V]{}}
}

// Query is the query of one caller.
type Query[V any] struct {
	Key Key
	// Fresh excludes results that earlier callers requested.
	Fresh bool
	// Enter waits for the caller's turn. The cache calls `leave` after the caller got the result.
	Enter func(context.Context) (leave func(), err error)
	// Run computes the result.
	Run func(context.Context) (V, error)
	// Own reports whether an error of Run concerns only this caller. The other callers then run the query again. nil
	// means that all callers share each error.
	Own func(error) bool
	// Patience is the time after which a caller gets another caller's error, although Own is true for the error. 0 is
	// no limit.
	Patience time.Duration
	// Version returns the version of the data that the query reads, or "" if it is unknown. If current is true, it
	// returns the present version. Otherwise an older version is sufficient, because it is compared with the present
	// version later. nil means that the version is always unknown.
	Version func(ctx context.Context, current bool) string
	// Lasts is the longest time for which the result is used while the version of the data is unchanged. This time
	// begins when the result is requested.
	Lasts time.Duration
}

// Result is a result for one caller.
type Result[V any] struct {
	Value  V
	Source Source
	Asked  time.Time     // when the run was requested; the zero time for the source Run
	Age    time.Duration // the time since the run was requested; 0 for the source Run
	// Current is true if the data still had the result's version when this caller requested the result.
	Current bool
}

// Do returns a cached result that is young enough or has the data's present version. Otherwise it returns the result of
// an equal running query, or runs the query. All callers that share a run get its error and its Source. An error of
// Enter or ctx, and an error for which Own is true, is returned only to its own caller.
func (c *Cache[V]) Do(ctx context.Context, q Query[V]) (Result[V], error) {
	asked := c.Now()
	if r, ok := c.Look(ctx, q); ok {
		return r, nil
	}
	for now := asked; ; now = c.Now() {
		hit, r := c.find(q.Key, asked, now, q.Fresh)
		if hit != nil {
			return c.reuse(hit, Cached), nil
		}
		leave, err := c.enter(ctx, q, r)
		if err != nil {
			return Result[V]{}, err
		}
		if leave != nil {
			defer leave()
			return c.run(ctx, q, r)
		}
		err = r.wait(ctx)
		c.leave(q.Key, r)
		switch {
		case err != nil:
			return Result[V]{}, err
		case r.retry && !(r.own && q.Patience > 0 && c.Now().Sub(asked) >= q.Patience):
		case r.err != nil:
			return Result[V]{Source: Shared}, r.err
		default:
			return c.reuse(r.entry, Shared), nil
		}
	}
}

// Look returns a cached result that is young enough or has the data's present version. It runs nothing.
func (c *Cache[V]) Look(ctx context.Context, q Query[V]) (r Result[V], ok bool) {
	now := c.Now()
	if e := c.old(q, now); e != nil {
		if q.Version(ctx, true) != e.version {
			return r, false
		}
		r = c.reuse(e, Cached)
		r.Current = true
		return r, true
	}
	c.mu.Lock()
	e, young, _ := c.cached.get(q.Key, now)
	c.mu.Unlock()
	if !young || q.Fresh {
		return r, false
	}
	return c.reuse(e, Cached), true
}

// old returns a cached result that the query may use if the data still have the result's version.
func (c *Cache[V]) old(q Query[V], now time.Time) *entry[V] {
	if q.Fresh || q.Version == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, young, ok := c.cached.get(q.Key, now); ok && !young {
		return e
	}
	return nil
}

// enter waits for the caller's turn. `leave` is nil if another caller got a turn first.
func (c *Cache[V]) enter(ctx context.Context, q Query[V], r *run[V]) (leave func(), err error) {
	if r.turn.Err() != nil {
		return nil, nil
	}
	waiting, stop := context.WithCancel(r.turn)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	leave, err = q.Enter(waiting)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.begun {
		if err == nil {
			leave()
		}
		return nil, nil
	}
	if err != nil {
		c.drop(q.Key, r)
		return nil, err
	}
	r.begun = true
	r.begin()
	return leave, nil
}

// ageFactor is the ratio of a result's time in the cache to the time that its caller waited. A quick query runs again
// soon, so users see their own events soon.
const ageFactor = 10

// run computes the result for all callers.
func (c *Cache[V]) run(ctx context.Context, q Query[V], r *run[V]) (Result[V], error) {
	r.retry = true // retry remains true if Run panics
	defer c.end(q.Key, r)
	version := ""
	if q.Version != nil && c.MaxAge > 0 {
		version = q.Version(ctx, false) // the version before the run, because the run may read later data
	}
	value, err := q.Run(ctx)
	r.own = err != nil && ctx.Err() == nil && q.Own != nil && q.Own(err)
	r.retry = r.own || err != nil && ctx.Err() != nil
	if err != nil {
		r.err = err
		return Result[V]{Source: Run}, err
	}
	done := c.Now()
	r.entry = &entry[V]{
		value: value, asked: r.asked, until: c.until(r.asked, done),
		version: version, last: r.asked.Add(q.Lasts), chances: chancesOf(done.Sub(r.asked)),
	}
	return Result[V]{Value: value, Source: Run}, nil
}

// until returns the time until which a result is used without comparing versions. `asked` is the time of the request,
// and `done` is the time at which the run ended.
func (c *Cache[V]) until(asked, done time.Time) time.Time {
	took := done.Sub(asked)
	if c.SlowAge > 0 && ageFactor*took >= c.MaxAge {
		return done.Add(min(c.SlowAge, max(c.MaxAge, took)))
	}
	return asked.Add(min(c.MaxAge, max(c.MinAge, ageFactor*took)))
}

// end gives the result to the other callers and caches it. It does not cache a result if a newer run has replaced this
// run, or if the site was forgotten.
func (c *Cache[V]) end(k Key, r *run[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.entry != nil && c.flight[k] == r {
		c.cached.put(k, r.entry, c.Now())
	}
	if c.drop(k, r); c.flight[k] == r {
		delete(c.flight, k)
	}
	close(r.done)
}

// leave records that one caller no longer waits for a run.
func (c *Cache[V]) leave(k Key, r *run[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k, r)
}

// drop does what `leave` does, for code that holds the lock. A run that no caller waits for never begins.
func (c *Cache[V]) drop(k Key, r *run[V]) {
	if r.callers--; r.callers > 0 {
		return
	}
	r.begin()
	if c.flight[k] == r && !r.begun {
		delete(c.flight, k)
	}
}

// find returns a cached result, or the run to share. `asked` is the time of the caller's request, and `now` is the time
// of this look-up. If a caller's run failed because of another caller, the caller searches again. `asked` stays the
// time of the caller's request, so that later callers do not regard the result as newer than it is. A fresh query gets
// a new run, which replaces older runs.
func (c *Cache[V]) find(k Key, asked, now time.Time, fresh bool) (*entry[V], *run[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, young, _ := c.cached.get(k, now); young && !fresh {
		return e, nil
	}
	maxAge := max(c.MaxAge, c.SlowAge, c.FlightAge)
	if fresh {
		maxAge = 0
	}
	r := c.flight[k]
	if r == nil || asked.Sub(r.asked) > maxAge {
		r = newRun[V](asked)
		if c.MaxAge > 0 {
			c.flight[k] = r
		}
	}
	r.callers++
	return nil, r
}

func (c *Cache[V]) reuse(e *entry[V], from Source) Result[V] {
	return Result[V]{Value: e.value, Source: from, Asked: e.asked, Age: c.AgeOf(e.asked)}
}

// AgeOf returns the present age of a result whose run was requested at a time.
func (c *Cache[V]) AgeOf(asked time.Time) time.Duration { return max(0, c.Now().Sub(asked)) }

// Forget drops the results of a site whose events changed; "" means all sites. A query that comes later gets no result
// of an earlier run.
func (c *Cache[V]) Forget(site string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached.forget(site)
	for k := range c.flight {
		if site == "" || k.site == site {
			delete(c.flight, k)
		}
	}
}

// Callers returns how many callers need the result of a run.
func (c *Cache[V]) Callers() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.flight {
		n += r.callers
	}
	return n
}
