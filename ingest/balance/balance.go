package balance

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/schema/fair"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Balance counts the outcomes of one site's events since this process started. The intake counts the events posted to
// it. The sink counts the events in its partitions of the log. The sum over all processes is the site's balance.
// Requests that never reach the intake do not count as received. Examples are requests without the right to post, and
// requests with bodies that are too large. Requests that are refused for lack of memory, or by a publishable key's
// rules, count only as Unread.
type Balance struct {
	// Received counts the events of all requests whose bodies could be read, completely or in part. Each of these
	// events is accepted, repeated, refused, or in flight.
	Received uint64
	// Accepted counts the events that are durable in the log.
	Accepted uint64
	// Repeated counts events that were acknowledged but not appended. Their Idempotency-Key shows that the log already
	// has these events.
	Repeated uint64
	// Refused counts refused events by the label of the reason for the refusal. A label without events is not in the
	// map. Events refused as log_unavailable may be in the log nevertheless.
	Refused map[string]uint64
	// Unread counts the requests that were refused before their bodies were read. They are counted by the label of the
	// reason. A label without requests is not in the map. The events of these requests do not count as received.
	Unread map[string]uint64
	// Stored counts the events that the sink stored. The sink counts each event of the log as Stored, DeadLettered or
	// Erased. When a sink takes over a partition, it also counts rows of the previous sink: the rows that this sink
	// stored from an unfinished batch.
	Stored       uint64
	DeadLettered uint64
	// Erased counts events that were not stored because their visitor was erased after they were received.
	Erased uint64
}

// Unanswered counts the events that were received but have no answer yet.
func (b Balance) Unanswered() uint64 {
	n := b.Received - b.Accepted - b.Repeated
	for _, refused := range b.Refused {
		n -= refused
	}
	return n
}

// Account counts one site's events. Accounts are never dropped, because a counter must not restart from zero. Only
// existing sites have accounts. An account takes about 400 bytes, and 900 bytes after its first refusal.
type Account struct {
	// InFlight has the requests and bytes of the site that are in the intake now. It is a field of the account, so a
	// request looks up its site only once.
	InFlight fair.Party

	Received, Accepted, Repeated atomic.Uint64
	Stored, DeadLettered, Erased atomic.Uint64

	site            string
	today           func() uint64   // today returns the number of the current day
	refused, unread []atomic.Uint64 // counts in the order of insights.Reasons
	refusals        atomic.Pointer[refusals]
}

// reasonIndex has the index of each reason in insights.Reasons.
var reasonIndex = func() map[*insights.Reason]int {
	index := make(map[*insights.Reason]int, len(insights.Reasons))
	for i, reason := range insights.Reasons {
		index[reason] = i
	}
	return index
}()

// Refuse counts the events of a refused request.
func (a *Account) Refuse(reason *insights.Reason, events int) {
	a.refused[reasonIndex[reason]].Add(uint64(events))
	a.byDay().events.add(a.today(), uint64(events))
}

// RefuseUnread counts a request that was refused before its body was read.
func (a *Account) RefuseUnread(reason *insights.Reason) {
	a.unread[reasonIndex[reason]].Add(1)
	a.byDay().requests.add(a.today(), 1)
}

func (a *Account) balance() Balance {
	b := Balance{
		Refused: byReason(a.refused), Unread: byReason(a.unread),
		Stored: a.Stored.Load(), DeadLettered: a.DeadLettered.Load(), Erased: a.Erased.Load(),
	}
	b.Accepted, b.Repeated = a.Accepted.Load(), a.Repeated.Load()
	// Read `Received` last. Every answered event was received before its answer, so Unanswered is never negative.
	b.Received = a.Received.Load()
	return b
}

func byReason(counts []atomic.Uint64) map[string]uint64 {
	list := map[string]uint64{}
	for i := range counts {
		if n := counts[i].Load(); n > 0 {
			list[insights.Reasons[i].Label] = n
		}
	}
	return list
}

// Sites are the accounts of all sites that have events in this process.
type Sites struct {
	mu     sync.RWMutex
	bySite map[string]*Account
	list   []*Account // all accounts, in the order of their first request
	clock  func() time.Time
}

// Account returns a site's account. The first call for a site creates the account. Account does not retain the string
// `site`.
func (s *Sites) Account(site string) *Account {
	if a := s.find(site); a != nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.bySite[site]
	if a == nil {
		a = &Account{
			site:    strings.Clone(site),
			today:   func() uint64 { return dayOf(s.clock()) },
			refused: make([]atomic.Uint64, len(insights.Reasons)), unread: make([]atomic.Uint64, len(insights.Reasons)),
		}
		s.bySite[a.site] = a
		s.list = append(s.list, a)
	}
	return a
}

func (s *Sites) find(site string) *Account {
	s.mu.RLock()
	a := s.bySite[site]
	s.mu.RUnlock() // no defer, because every request calls find
	return a
}

func (s *Sites) all() []*Account {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.list[:len(s.list):len(s.list)]
}

// Balance returns the balance of one site. All counts are zero for a site without events.
func (s *Sites) Balance(site string) Balance {
	if a := s.find(site); a != nil {
		return a.balance()
	}
	return emptyBalance()
}

func emptyBalance() Balance {
	return Balance{Refused: map[string]uint64{}, Unread: map[string]uint64{}}
}
