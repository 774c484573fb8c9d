package access

import (
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// RateClass is a class of requests with its own rate limit. So dashboards cannot use up the limit of events, and events
// cannot use up the limit of dashboards.
type RateClass int

// The rate classes. An operation that names no class has RateRequests.
const (
	RateRequests RateClass = iota
	RateEvents
	rateClasses
)

// rateLimits limits the requests of each token on this node. A token may send `burst` requests at once, and `perSecond`
// requests a second over a longer time.
type rateLimits struct {
	limits [rateClasses]rateLimit
	tokens *lru.Cache[string, *tokenUse]
}

type rateLimit struct {
	// interval is the average time between two requests at the limit; 0 means no limit.
	interval time.Duration
	burst    int64
}

// tokenUse has, for each rate class, the theoretical arrival time of the generic cell rate algorithm, as
// schema.Elapsed. From this time on, the full burst is available again. This number is the whole state of a limit, so a
// single compare-and-swap updates it. https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
type tokenUse [rateClasses]atomic.Int64

func newRateLimits(cfg Config) (*rateLimits, error) {
	tokens, err := lru.New[string, *tokenUse](cfg.AuthEntries)
	if err != nil {
		return nil, err
	}
	l := &rateLimits{tokens: tokens}
	for class, perSecond := range [rateClasses]int{RateRequests: cfg.RateLimit, RateEvents: cfg.EventRateLimit} {
		l.limits[class] = perSecondLimit(perSecond)
	}
	return l, nil
}

// perSecondLimit allows a burst of twice the requests of one second, because a page that loads many resources is not
// abuse.
func perSecondLimit(perSecond int) rateLimit {
	if perSecond <= 0 {
		return rateLimit{}
	}
	return rateLimit{interval: time.Second / time.Duration(perSecond), burst: 2 * int64(perSecond)}
}

// of returns the tokenUse of a token, and creates it if it is not in the cache. It stays in the cache when a session of
// the token is evicted.
func (l *rateLimits) of(tokenID string) *tokenUse {
	use := &tokenUse{}
	if known, found, _ := l.tokens.PeekOrAdd(tokenID, use); found {
		l.tokens.Get(tokenID) // Mark the token as recently used.
		return known
	}
	return use
}

// Allowance tells how many requests a token or an address may still send after a request.
type Allowance struct {
	// Burst is the number of requests that may arrive without a pause; 0 means no limit.
	Burst int64
	// Left is the number of requests that may still arrive without a pause.
	Left int64
	// Idle is the time at which the full burst is available again.
	Idle time.Time
	// Wait is the time that a refused request must wait; 0 means that the request is admitted.
	Wait time.Duration
}

// take counts a request, or refuses it. Allowance.Wait is above 0 if the request is refused.
func (r rateLimit) take(use *atomic.Int64, now time.Time) Allowance {
	if r.interval == 0 {
		return Allowance{}
	}
	interval, span, at := int64(r.interval), int64(r.interval)*r.burst, schema.Elapsed(now)
	idle := func(arrival int64) time.Time { return now.Add(time.Duration(arrival - at)) }
	for {
		arrival := use.Load()
		next := max(arrival, at) + interval
		if over := next - at - span; over > 0 {
			return Allowance{Burst: r.burst, Idle: idle(arrival), Wait: time.Duration(over)}
		}
		if use.CompareAndSwap(arrival, next) {
			return Allowance{Burst: r.burst, Left: (span - (next - at)) / interval, Idle: idle(next)}
		}
	}
}

// giveBack undoes take for a request that was counted.
func (r rateLimit) giveBack(use *atomic.Int64) { use.Add(-int64(r.interval)) }
