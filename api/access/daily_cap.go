package access

import (
	"fmt"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// keyRates limits the use of publishable keys on this node. It limits the requests of each key, the requests of all
// keys of a site together, and the events of each key in a day. The counts of an evicted key start again at zero.
type keyRates struct {
	key, site rateLimit
	uses      *lru.Cache[string, *keyUse]
}

// siteKeysRate is the rate limit of all keys of a site together, as a multiple of the rate limit of one key.
const siteKeysRate = 2

// keyUse has the use of one key, or of all keys of a site together.
type keyUse struct {
	// arrival is a theoretical arrival time, as in tokenUse.
	arrival atomic.Int64
	// today has the number of a day (UTC) in its upper bits, and the number of events on this day in its lower bits
	// (eventBits).
	today atomic.Uint64
	// refused is the number of the last day on which the daily cap refused a request.
	refused atomic.Uint64
}

// eventBits is the number of bits of keyUse.today that count events.
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

// of returns the use of a key or a site, and creates it if it is not in the cache.
func (r *keyRates) of(name string) *keyUse {
	use := &keyUse{}
	if known, found, _ := r.uses.PeekOrAdd(name, use); found {
		r.uses.Get(name) // PeekOrAdd does not mark the entry as recently used; Get does.
		return known
	}
	return use
}

// WithinDailyCap refuses a request if this node has accepted as many events of the publishable key today as the key's
// daily cap allows. The client may try again after midnight (UTC). `first` is true for the first refused request of the
// day.
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

// CountEvents adds a number of accepted events to the number of the publishable key's events on the day of `now`.
func (k *PublishableKey) CountEvents(events int, now time.Time) { k.use.add(events, now) }

func dayNumber(now time.Time) uint64 { return uint64(max(now.Unix(), 0)) / uint64(day/time.Second) }

// slowest is the longest time from a request's start to the count of its events. It is a generous estimate.
const slowest = time.Hour

// counted reports whether the day of `today` is the day of `now`. If midnight is at most the time `slowest` away, the
// next day also counts, because a later request may have begun it. Any other day is over, or a wrong clock has set it.
func counted(today uint64, now time.Time) bool {
	number := today >> eventBits
	return number == dayNumber(now) || number == dayNumber(now.Add(slowest))
}

// events returns the number of events that were counted today.
func (u *keyUse) events(now time.Time) int64 {
	today := u.today.Load()
	if !counted(today, now) {
		return 0
	}
	return int64(today & (1<<eventBits - 1))
}

// add adds events to the day's number. The request may have begun before midnight, and a later request may have started
// the new day. Then its events are added to the new day.
func (u *keyUse) add(events int, now time.Time) {
	for {
		today := u.today.Load()
		next := today + uint64(events)
		if !counted(today, now) {
			next = dayNumber(now)<<eventBits + uint64(events)
		}
		if u.today.CompareAndSwap(today, next) {
			return
		}
	}
}
