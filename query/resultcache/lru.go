package resultcache

import (
	"crypto/sha256"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
)

// Key names a query of a site. Queries with equal keys have equal results.
type Key struct {
	site string
	hash [sha256.Size]byte
}

// NewKey returns the key of the query that a text describes.
func NewKey(site, query string) Key { return Key{site, sha256.Sum256([]byte(query))} }

// entry is a result that can be shared.
type entry[V any] struct {
	value        V
	asked, until time.Time // when its query was requested, and when it expires
}

// overhead is the approximate size of an entry in addition to its value.
const overhead = 1 << 10

// lru has the cached results. Its callers hold the lock of their cache.
type lru[V any] struct {
	maxBytes int
	sizeOf   func(V) int
	gauge    prometheus.Gauge // of bytes
	bytes    int
	entries  *simplelru.LRU[Key, *entry[V]]
}

func newLRU[V any](maxBytes int, sizeOf func(V) int, gauge prometheus.Gauge) *lru[V] {
	l := &lru[V]{maxBytes: maxBytes, sizeOf: sizeOf, gauge: gauge}
	// maxBytes also limits the number of entries, because each entry takes at least overhead.
	l.entries, _ = simplelru.NewLRU(1+maxBytes/overhead, func(_ Key, e *entry[V]) { l.bytes -= l.size(e) })
	return l
}

func (l *lru[V]) size(e *entry[V]) int { return l.sizeOf(e.value) + overhead }

// get returns an entry that has not expired.
func (l *lru[V]) get(k Key, now time.Time) (*entry[V], bool) {
	e, ok := l.entries.Get(k)
	return e, ok && now.Before(e.until)
}

// put caches an entry and replaces an older one.
func (l *lru[V]) put(k Key, e *entry[V], now time.Time) {
	defer func() { l.gauge.Set(float64(l.bytes)) }()
	l.entries.Remove(k)
	if l.size(e) > l.maxBytes/8 || !now.Before(e.until) {
		return
	}
	l.bytes += l.size(e)
	l.entries.Add(k, e)
	for l.bytes > l.maxBytes {
		l.entries.RemoveOldest()
	}
	for { // remove the expired entries among the least recently used
		k, oldest, ok := l.entries.GetOldest()
		if !ok || now.Before(oldest.until) {
			break
		}
		l.entries.Remove(k)
	}
}

// forget drops the entries of a site.
func (l *lru[V]) forget(site string) {
	for _, k := range l.entries.Keys() {
		if site == "" || k.site == site {
			l.entries.Remove(k)
		}
	}
	l.gauge.Set(float64(l.bytes))
}
