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
	asked, until time.Time // when the query was requested, and until when its result is used without comparing versions
	// version is the version of the data before the run. While the version is unchanged, the result is used until the
	// time `last`. "" means no version.
	version string
	last    time.Time
	chances int // how often the entry stays although it is the least recently used
}

// expires returns the time after which no query may use the cached result.
func (e *entry[V]) expires() time.Time {
	if e.version != "" && e.last.After(e.until) {
		return e.last
	}
	return e.until
}

// chancesOf returns how many times an entry is spared when the cache is full. It depends on the duration: each doubling
// of the duration adds one chance.
func chancesOf(took time.Duration) (n int) {
	for ; took >= cheap && n < maxChances; took /= 2 {
		n++
	}
	return n
}

const (
	cheap      = 20 * time.Millisecond
	maxChances = 10
)

// overhead is the approximate size of an entry in addition to its value.
const overhead = 1 << 10

// lru has the cached results. Its callers hold their cache's lock.
type lru[V any] struct {
	maxBytes int
	sizeOf   func(V) int
	gauge    prometheus.Gauge // gauge shows `bytes`; nil is no gauge
	bytes    int
	entries  *simplelru.LRU[Key, *entry[V]]
}

func newLRU[V any](maxBytes int, sizeOf func(V) int, gauge prometheus.Gauge) *lru[V] {
	l := &lru[V]{maxBytes: maxBytes, sizeOf: sizeOf, gauge: gauge}
	// maxBytes also limits the number of entries, because each entry takes at least `overhead` bytes.
	l.entries, _ = simplelru.NewLRU(1+maxBytes/overhead, func(_ Key, e *entry[V]) { l.bytes -= l.size(e) })
	return l
}

func (l *lru[V]) size(e *entry[V]) int { return l.sizeOf(e.value) + overhead }

// get returns an entry that has not expired. If `young` is false, the caller must compare the entry's version with the
// present version.
func (l *lru[V]) get(k Key, now time.Time) (e *entry[V], young, ok bool) {
	e, ok = l.entries.Get(k)
	return e, ok && now.Before(e.until), ok && now.Before(e.expires())
}

// put caches an entry and replaces an older entry.
func (l *lru[V]) put(k Key, e *entry[V], now time.Time) {
	defer l.show()
	l.entries.Remove(k)
	if l.size(e) > l.maxBytes/8 || !now.Before(e.expires()) {
		return
	}
	l.bytes += l.size(e)
	l.entries.Add(k, e)
	for l.bytes > l.maxBytes {
		k, oldest, _ := l.entries.GetOldest()
		if oldest.chances > 0 && now.Before(oldest.expires()) {
			oldest.chances--
			l.entries.Get(k) // Get makes the entry the most recently used
			continue
		}
		l.entries.Remove(k)
	}
	for { // This loop removes the expired entries among the least recently used.
		k, oldest, ok := l.entries.GetOldest()
		if !ok || now.Before(oldest.expires()) {
			break
		}
		l.entries.Remove(k)
	}
}

// forget drops the entries of a site, or of all sites if the site is "".
func (l *lru[V]) forget(site string) {
	for _, k := range l.entries.Keys() {
		if site == "" || k.site == site {
			l.entries.Remove(k)
		}
	}
	l.show()
}

func (l *lru[V]) show() {
	if l.gauge != nil {
		l.gauge.Set(float64(l.bytes))
	}
}
