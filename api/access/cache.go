package access

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/octavo-docs/octavo/schema"
)

// refusalTTL is the time for which a refusal is cached. So a client that repeats a bad token causes at most one query a
// second. A new object can be used after at most a second.
const refusalTTL = time.Second

// ttlCache caches answers for a short time. Refusals (401, 404) are cached separately, so that many made-up tokens
// cannot evict the answers for valid tokens. Faults such as 503 are not cached.
type ttlCache[K comparable, V any] struct {
	answers  *lru.Cache[K, cached[V]]
	refusals *lru.Cache[K, cached[*schema.Error]]
	ttl      time.Duration
	flight   singleflight.Group
	// flightKey turns a key into a string, because the keys of singleflight are strings. Only load calls it, after a
	// cache miss.
	flightKey func(K) string
}

type cached[V any] struct {
	value V
	until time.Time
}

func newTTLCache[K comparable, V any](entries int, ttl time.Duration, flightKey func(K) string) (*ttlCache[K, V], error) {
	answers, err := lru.New[K, cached[V]](entries)
	if err != nil {
		return nil, err
	}
	refusals, err := lru.New[K, cached[*schema.Error]](max(1, entries/8))
	if err != nil {
		return nil, err
	}
	return &ttlCache[K, V]{answers: answers, refusals: refusals, ttl: ttl, flightKey: flightKey}, nil
}

// peek returns the cached answer or refusal; `ok` is false if the cache has neither. `key` may share the memory of the
// request, because peek only compares it.
func (c *ttlCache[K, V]) peek(key K, now time.Time) (value V, err error, ok bool) {
	if hit, found := c.answers.Get(key); found && now.Before(hit.until) {
		return hit.value, nil, true
	}
	if hit, found := c.refusals.Get(key); found && now.Before(hit.until) {
		return value, hit.value, true
	}
	return value, nil, false
}

// wasGood reports whether the cache has an answer for `key`, even if the answer has expired.
func (c *ttlCache[K, V]) wasGood(key K) bool { return c.answers.Contains(key) }

// load calls the function `load` and caches its answer or refusal. Concurrent callers with the same key share one call.
// The cache stores the key, so the key must not alias the request.
func (c *ttlCache[K, V]) load(
	ctx context.Context, key K, now time.Time, load func(context.Context) (V, error),
) (V, error) {
	shared, err, _ := c.flight.Do(c.flightKey(key), func() (any, error) {
		// All waiting callers share this answer, so the end of the first caller's request must not cancel the call.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		value, err := load(ctx)
		if err == nil {
			c.answers.Add(key, cached[V]{value: value, until: now.Add(c.ttl)})
			return value, nil
		}
		refusal := schema.AsError(err)
		if refusal.Code == schema.CodeUnauthorized || refusal.Code == schema.CodeNotFound {
			// Cache only the public message, not the private cause.
			public := &schema.Error{Code: refusal.Code, Message: refusal.Message}
			c.refusals.Add(key, cached[*schema.Error]{value: public, until: now.Add(min(c.ttl, refusalTTL))})
		}
		return nil, refusal
	})
	if err != nil {
		var zero V
		return zero, err
	}
	return shared.(V), nil
}
