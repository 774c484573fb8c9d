package resultcache

import "time"

// entry is a result that can be shared.
type entry[V any] struct {
	value        V
	asked, until time.Time // when its query was asked, and how long it is cached
}

// overhead is what an entry takes in addition to its value, about.
const overhead = 1 << 10

// ageFactor is how many times as long a result is cached as its caller waited for it. A quick query runs again soon,
// so that users see their own events at once.
const ageFactor = 10

func (c *Cache[V]) sizeOf(e *entry[V]) int { return c.Size(e.value) + overhead }

// newEntry is a result whose query took some time.
func (c *Cache[V]) newEntry(value V, asked time.Time, took time.Duration) *entry[V] {
	return &entry[V]{value: value, asked: asked, until: asked.Add(min(c.MaxAge, ageFactor*took))}
}

// put caches an entry and replaces an older one. The caller holds the lock.
func (c *Cache[V]) put(k Key, e *entry[V]) {
	defer func() { c.Bytes.Set(float64(c.bytes)) }()
	c.lru.Remove(k)
	if c.sizeOf(e) > c.MaxBytes/8 || !c.Now().Before(e.until) {
		return
	}
	c.bytes += c.sizeOf(e)
	c.lru.Add(k, e)
	for c.bytes > c.MaxBytes {
		c.lru.RemoveOldest()
	}
	for { // remove expired entries, as far as they are the least recently used
		k, oldest, ok := c.lru.GetOldest()
		if !ok || c.Now().Before(oldest.until) {
			break
		}
		c.lru.Remove(k)
	}
}
