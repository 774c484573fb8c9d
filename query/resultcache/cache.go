package resultcache

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
)

// Source says where a result came from: a closed set, for metrics.
type Source string

// The sources of results.
const (
	Run    Source = "run"
	Shared Source = "shared" // an equal query was running
	Cached Source = "kept"   // an equal query had run
)

// Sources lists the closed set.
func Sources() []Source { return []Source{Run, Shared, Cached} }

// Key names a query of a site. Queries with equal keys have equal results.
type Key struct {
	site string
	hash [sha256.Size]byte
}

// NewKey is the key of the query that a text describes.
func NewKey(site, query string) Key { return Key{site, sha256.Sum256([]byte(query))} }

// Config limits a cache.
type Config[V any] struct {
	// MaxAge is how old a shared or cached result may be; 0 shares nothing.
	MaxAge time.Duration
	// MaxBytes limits the cached results, and Size counts the bytes of one.
	MaxBytes int
	Size     func(V) int
	// Bytes shows the bytes of the cached results.
	Bytes prometheus.Gauge
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Cache shares results. It is safe for concurrent use. Callers must not change the results.
type Cache[V any] struct {
	Config[V]

	mu     sync.Mutex
	lru    *simplelru.LRU[Key, *entry[V]]
	bytes  int // of the LRU's entries
	flight map[Key]*run[V]
}

// New makes an empty cache.
func New[V any](c Config[V]) *Cache[V] {
	if c.Now == nil {
		c.Now = time.Now
	}
	cache := &Cache[V]{Config: c, flight: map[Key]*run[V]{}}
	// The bytes bound it, and each entry has some.
	cache.lru, _ = simplelru.NewLRU(1+c.MaxBytes/overhead, func(_ Key, e *entry[V]) { cache.bytes -= cache.sizeOf(e) })
	return cache
}

// Query is the query of one caller.
type Query[V any] struct {
	Key Key
	// Fresh asks for a result that no earlier caller has asked for.
	Fresh bool
	// Enter waits for the caller's turn. The cache calls leave when the caller has the result.
	Enter func(context.Context) (leave func(), err error)
	// Run computes the result.
	Run func(context.Context) (V, error)
}

// Result is a result for one caller.
type Result[V any] struct {
	Value  V
	Source Source
	Age    time.Duration // since the query that ran was asked; 0 from Run
}

// Do returns a cached result that is young enough, or the result of an equal query that runs, or runs the query.
// The error of a run goes to all callers that share it, with the Source; errors of Enter and ctx are the caller's own.
func (c *Cache[V]) Do(ctx context.Context, q Query[V]) (Result[V], error) {
	asked := c.Now()
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
		case r.retry:
		case r.err != nil:
			return Result[V]{Source: Shared}, r.err
		default:
			return c.reuse(r.entry, Shared), nil
		}
	}
}

// find returns a cached result, or the run to share, for a caller that asked then and looks now. A caller whose run
// failed with another caller's request looks again. Its next run keeps the time at which it asked, so that later
// callers do not take the result for young. A fresh query gets a new run, which replaces older ones.
func (c *Cache[V]) find(k Key, asked, now time.Time, fresh bool) (*entry[V], *run[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.lru.Get(k); ok && now.Before(e.until) && !fresh {
		return e, nil
	}
	maxAge := c.MaxAge
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
	return Result[V]{Value: e.value, Source: from, Age: max(0, c.Now().Sub(e.asked))}
}

// Forget drops the results of a site whose events changed. A query that comes later gets no result of an earlier run.
func (c *Cache[V]) Forget(site string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.lru.Keys() {
		if k.site == site {
			c.lru.Remove(k)
		}
	}
	for k := range c.flight {
		if k.site == site {
			delete(c.flight, k)
		}
	}
	c.Bytes.Set(float64(c.bytes))
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
