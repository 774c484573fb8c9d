package api

import (
	"strconv"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// RateClass is a kind of use with a limit of its own, so that dashboards cannot use up what events need, nor the other way
// round.
type RateClass int

// The classes. An operation is a request unless its row says otherwise.
const (
	RateRequests RateClass = iota
	RateEvents
	rateClasses
)

// rateLimits bounds the requests of each token on this node: `burst` at once, and `perSecond` over time.
type rateLimits struct {
	limits [rateClasses]rateLimit
	tokens *lru.Cache[string, *tokenUse]
}

type rateLimit struct {
	// interval is the time that one request takes up; 0 means that the class has no limit.
	interval time.Duration
	burst    int64
}

// tokenUse is, by class, the theoretical arrival time of the generic cell rate algorithm: when the token would be idle again
// if its requests had come evenly. One number says all, and one compare-and-swap changes it.
// https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
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

// perSecondLimit lets two seconds' worth come at once: pages that load many resources are not abuse.
func perSecondLimit(perSecond int) rateLimit {
	if perSecond <= 0 {
		return rateLimit{}
	}
	return rateLimit{interval: time.Second / time.Duration(perSecond), burst: 2 * int64(perSecond)}
}

// of gives the use of a token, from now on. It survives the session that remembers it.
func (l *rateLimits) of(tokenID string) *tokenUse {
	use := &tokenUse{}
	if known, found, _ := l.tokens.PeekOrAdd(tokenID, use); found {
		l.tokens.Get(tokenID) // A token in use is not the oldest.
		return known
	}
	return use
}

// take counts one request. left is how many more may come at once, and idle when all of the burst may.
func (r rateLimit) take(use *atomic.Int64, now time.Time) (ok bool, left int64, idle time.Time, wait time.Duration) {
	interval, span := int64(r.interval), int64(r.interval)*r.burst
	for {
		arrival := use.Load()
		next := max(arrival, now.UnixNano()) + interval
		if over := next - now.UnixNano() - span; over > 0 {
			return false, 0, time.Unix(0, arrival), time.Duration(over)
		}
		if use.CompareAndSwap(arrival, next) {
			return true, (span - (next - now.UnixNano())) / interval, time.Unix(0, next), 0
		}
	}
}

// giveBack takes a counted request out of the count.
func (r rateLimit) giveBack(use *atomic.Int64) { use.Add(-int64(r.interval)) }

var (
	headerLimit     = []byte("X-Ratelimit-Limit")
	headerRemaining = []byte("X-Ratelimit-Remaining")
	headerReset     = []byte("X-Ratelimit-Reset")
)

// limit admits a request of the token or refuses it with 429. Either way the response says what is left: the burst, what
// remains of it, and the Unix second when all of it is there again.
func (f *frame) limit(class RateClass, use *tokenUse, c *call) error {
	limit := f.auth.rates.limits[class]
	if limit.interval == 0 {
		return nil
	}
	ok, left, idle, wait := limit.take(&use[class], c.Now)
	var digits [20]byte
	header := &c.http.Response.Header
	header.SetCanonical(headerLimit, strconv.AppendInt(digits[:0], limit.burst, 10))
	header.SetCanonical(headerRemaining, strconv.AppendInt(digits[:0], left, 10))
	header.SetCanonical(headerReset, strconv.AppendInt(digits[:0], idle.Add(time.Second-1).Unix(), 10))
	if !ok {
		return schema.TooManyRequests("too many requests with this token", wait)
	}
	return nil
}
