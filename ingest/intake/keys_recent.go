package intake

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

const (
	// keyLife is the time after which a key is free again.
	keyLife = 24 * time.Hour
	// recentEntries is the largest number of done keys that a node remembers, with about 72 bytes each.
	recentEntries = 1 << 15
)

// recentKeys caches the keys of requests that this node is processing, and of requests that are done. A repeat with a
// cached key needs no query to the store. If the cache has a key as done, the key is also done in the store, because a
// key stays done for keyLife. The cache loses all keys at a restart. It loses a single key if another key gets the same
// place.
type recentKeys struct {
	mu      sync.Mutex
	running map[keyName]chan struct{} // the channel of a key is closed when the attempt with the key ends
	done    []doneKey                 // a key is at the index place(name); done is nil until the first key is done
}

// keyName is a hash of a site and a key. The hash is cryptographic, because a sender could otherwise choose two keys
// with the same hash.
type keyName [sha256.Size]byte

// doneKey is a key whose request is in the log. The zero value is a free place.
type doneKey struct {
	name     keyName
	bodyHash [sha256.Size]byte
	free     int64 // the Unix time from which the key can be used again
}

func newRecentKeys() *recentKeys { return &recentKeys{running: map[keyName]chan struct{}{}} }

// nameKey returns the name of a site's key. A zero byte separates the site from the key, and neither contains a zero
// byte.
func nameKey(site, key string) keyName {
	var room [512]byte
	text := append(room[:0], site...)
	text = append(text, 0)
	return sha256.Sum256(append(text, key...))
}

// begin begins an attempt with a key. If this node is processing another attempt with the key, it first waits for the
// end of that attempt. If the result is KeyNew, the caller must query the store and then call `end`. KeyDone, KeyReused
// and KeyBusy are final answers.
func (r *recentKeys) begin(
	ctx context.Context, name keyName, bodyHash [sha256.Size]byte, patience time.Duration,
) schema.KeyState {
	var deadline <-chan time.Time // deadline is created when the caller first waits
	for {
		state, other := r.tryBegin(name, bodyHash)
		if other == nil {
			return state
		}
		if deadline == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			deadline = timer.C
		}
		select {
		case <-other:
		case <-deadline:
			return schema.KeyBusy
		case <-ctx.Done():
			return schema.KeyBusy
		}
	}
}

// tryBegin is like `begin`, but does not wait. `other` is a channel. It is closed when the attempt that is in progress
// ends.
func (r *recentKeys) tryBegin(name keyName, bodyHash [sha256.Size]byte) (state schema.KeyState, other <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil {
		if at := &r.done[place(name)]; at.name == name && time.Now().Unix() < at.free {
			if at.bodyHash != bodyHash {
				return schema.KeyReused, nil
			}
			return schema.KeyDone, nil
		}
	}
	if attempt, found := r.running[name]; found {
		return schema.KeyBusy, attempt
	}
	r.running[name] = make(chan struct{})
	return schema.KeyNew, nil
}

// end ends an attempt to store the request with an idempotency key. `free` is the time at which the key can be used
// again. It is zero if the key must not be cached as done.
func (r *recentKeys) end(name keyName, bodyHash [sha256.Size]byte, free time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !free.IsZero() {
		if r.done == nil {
			r.done = make([]doneKey, recentEntries)
		}
		r.done[place(name)] = doneKey{name, bodyHash, free.Unix()}
	}
	close(r.running[name])
	delete(r.running, name)
}

func place(name keyName) uint64 { return binary.LittleEndian.Uint64(name[:]) % recentEntries }
