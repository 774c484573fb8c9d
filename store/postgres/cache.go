package postgres

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Sized is the type of values in a Cache. Size must return at least 1.
type Sized interface{ Size() int }

// Cache stores the most recently used values, as long as the sum of their sizes is at most a limit. It does not know
// whether a value is still valid: the caller must know.
type Cache[K comparable, V Sized] struct {
	mu     sync.Mutex
	values *simplelru.LRU[K, V]
	size   int // sum of the values' sizes
	most   int
}

// NewCache returns a cache. The sum of the values' sizes is at most `most`.
func NewCache[K comparable, V Sized](most int) *Cache[K, V] {
	c := &Cache[K, V]{most: most}
	c.values, _ = simplelru.NewLRU(most, func(_ K, v V) { c.size -= v.Size() }) // NewLRU fails only for the size 0
	return c
}

// Get returns the value of a key, if the cache contains it.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values.Get(key)
}

// Keep adds a value. It removes the least recently used values to make room.
func (c *Cache[K, V]) Keep(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)
	c.values.Add(key, value)
	for c.size += value.Size(); c.size > c.most; {
		c.values.RemoveOldest()
	}
}
