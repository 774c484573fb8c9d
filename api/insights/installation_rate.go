package insights

import (
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

const (
	// A site may be checked checkBurst times at once, and then once every checkEvery.
	checkBurst = 5
	checkEvery = 5 * time.Second
	// checkSites is a number of sites. If checkRates has at least so many sites, `take` removes sites that have not
	// been checked lately.
	checkSites = 1024
)

// checkRates limits how often each site is checked by this node. `arrival` has each site's theoretical arrival time, as
// in the rate limits of package access. The zero value is ready to use.
type checkRates struct {
	mu      sync.Mutex
	arrival map[string]time.Time
}

// take counts a check of a site, or refuses it with 429.
func (r *checkRates) take(site string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	arrival := r.arrival[site]
	if arrival.Before(now) {
		arrival = now
	}
	next := arrival.Add(checkEvery)
	if wait := next.Sub(now) - checkBurst*checkEvery; wait > 0 {
		return schema.TooManyRequests("too many checks of this site", wait)
	}
	if r.arrival == nil {
		r.arrival = map[string]time.Time{}
	}
	if len(r.arrival) >= checkSites {
		for other, at := range r.arrival {
			if !at.After(now) {
				delete(r.arrival, other)
			}
		}
	}
	r.arrival[site] = next
	return nil
}
