package access

import (
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// RateClass is a kind of use with its own limit. So dashboards cannot use up the quota of events, and events cannot use
// up the dashboards' quota.
type RateClass int

// The rate classes. RateRequests is the default class of operations.
const (
	RateRequests RateClass = iota
	RateEvents
	rateClasses
)

// rateLimits bounds the requests of each token on this node: `burst` requests immediately, and `perSecond` over time.
type rateLimits struct {
	limits [rateClasses]rateLimit
	tokens *lru.Cache[string, *tokenUse]
}

type rateLimit struct {
	// interval is the time that one request takes up; 0 means no limit.
	interval time.Duration
	burst    int64
}

// tokenUse has, per class, the theoretical arrival time of the generic cell rate algorithm, as schema.Elapsed. From
// this time on, the full burst is available again. A single number is the state, and a single compare-and-swap updates
// it. https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
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

// perSecondLimit allows a burst of two seconds' worth: pages that load many resources are not abuse.
func perSecondLimit(perSecond int) rateLimit {
	if perSecond <= 0 {
		return rateLimit{}
	}
	return rateLimit{interval: time.Second / time.Duration(perSecond), burst: 2 * int64(perSecond)}
}

// of returns the use of a token, creating it on first use. The use outlives the session that refers to it.
func (l *rateLimits) of(tokenID string) *tokenUse {
	use := &tokenUse{}
	if known, found, _ := l.tokens.PeekOrAdd(tokenID, use); found {
		l.tokens.Get(tokenID) // Mark the token as recently used.
		return known
	}
	return use
}

// Allowance is the remaining allowance of a token or an address after a request.
type Allowance struct {
	// Burst is the number of requests that may come without a pause; 0 means no limit.
	Burst int64
	// Left is the number of remaining requests of the burst.
	Left int64
	// Idle is the time at which the full burst is available again.
	Idle time.Time
	// Wait is the time that a refused request must wait; 0 means that the request is admitted.
	Wait time.Duration
}

// take counts a request, or refuses it.
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

// giveBack takes back the count of a request.
func (r rateLimit) giveBack(use *atomic.Int64) { use.Add(-int64(r.interval)) }
