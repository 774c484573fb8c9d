package access

import (
	"fmt"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// keyRates bounds the use of publishable keys on this node. It bounds the requests of a key, the requests of all keys
// of a site, and the events of a key in a day. The counts of an evicted key start again at zero.
type keyRates struct {
	key, site rateLimit
	uses      *lru.Cache[string, *keyUse]
}

// siteKeysRate is the rate of all keys of a site together, in multiples of the rate of one key.
const siteKeysRate = 2

// keyUse is the use of a key, or of a site's keys.
type keyUse struct {
	// arrival is a theoretical arrival time, as in tokenUse.
	arrival atomic.Int64
	// today has the number of the day (UTC) in its upper bits, and the events of that day in its lower bits.
	today atomic.Uint64
	// refused is the number of the last day on which the daily cap refused a request.
	refused atomic.Uint64
}

// eventBits is the size of a day's count of events.
const eventBits = 40

func newKeyRates(cfg Config) (*keyRates, error) {
	// Each key has two entries: one for the key and one for its site.
	uses, err := lru.New[string, *keyUse](2 * cfg.AuthEntries)
	if err != nil {
		return nil, err
	}
	return &keyRates{
		key: perSecondLimit(cfg.KeyRateLimit), site: perSecondLimit(siteKeysRate * cfg.KeyRateLimit), uses: uses,
	}, nil
}

// of returns the use of a key or a site, creating it on first use.
func (r *keyRates) of(name string) *keyUse {
	use := &keyUse{}
	if known, found, _ := r.uses.PeekOrAdd(name, use); found {
		r.uses.Get(name) // Mark it as recently used.
		return known
	}
	return use
}

// WithinDailyCap refuses a request if the key has used up its events of the day on this node. The client may try again
// after midnight (UTC). first is true for the first refused request of the day.
func (k *PublishableKey) WithinDailyCap(now time.Time) (first bool, err error) {
	if k.use.events(now) < k.dailyCap {
		return false, nil
	}
	number := dayNumber(now)
	return k.use.refused.Swap(number) != number, schema.TooManyRequests(
		fmt.Sprintf("the key has had its %d events of today (UTC)", k.dailyCap),
		now.UTC().Truncate(day).Add(day).Sub(now),
	)
}

// CountEvents adds accepted events to the key's count of the day.
func (k *PublishableKey) CountEvents(events int, now time.Time) { k.use.add(events, now) }

func dayNumber(now time.Time) uint64 { return uint64(max(now.Unix(), 0)) / uint64(day/time.Second) }

// events returns the number of events that were counted today.
func (u *keyUse) events(now time.Time) int64 {
	today := u.today.Load()
	if today>>eventBits < dayNumber(now) {
		return 0
	}
	return int64(today & (1<<eventBits - 1))
}

// add counts events of the day. A request that began before midnight counts for the new day if a later request has
// already started that day.
func (u *keyUse) add(events int, now time.Time) {
	for {
		today := u.today.Load()
		next := today + uint64(events)
		if number := dayNumber(now); today>>eventBits < number {
			next = number<<eventBits + uint64(events)
		}
		if u.today.CompareAndSwap(today, next) {
			return
		}
	}
}
