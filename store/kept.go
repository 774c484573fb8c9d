package store

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// kept keeps the values that were used last, as many as a sum of sizes allows. Whether a value is still right is for its user to know.
type kept[K comparable, V interface{ size() int }] struct {
	mu     sync.Mutex
	values *simplelru.LRU[K, V]
	size   int // of all values
	most   int
}

// newKept makes room for values whose sizes, each at least 1, sum up to most.
func newKept[K comparable, V interface{ size() int }](most int) *kept[K, V] {
	k := &kept[K, V]{most: most}
	k.values, _ = simplelru.NewLRU(most, func(_ K, v V) { k.size -= v.size() }) // It fails for no size only.
	return k
}

func (k *kept[K, V]) get(key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.values.Get(key)
}

// keep keeps a value in place of those that were not used for the longest time.
func (k *kept[K, V]) keep(key K, value V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values.Remove(key)
	k.values.Add(key, value)
	for k.size += value.size(); k.size > k.most; {
		k.values.RemoveOldest()
	}
}
