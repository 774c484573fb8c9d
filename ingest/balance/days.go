package balance

import (
	"slices"
	"sync/atomic"
	"time"
)

// Day counts the refusals of a day of the calendar, in UTC.
type Day struct {
	Date     time.Time // the day's first moment
	Events   uint64    // refused events
	Requests uint64    // requests that were refused unread
}

// keptDays is the number of days whose refusals an account keeps.
const keptDays = 30

// days has a count for each of the last days. A slot has its day's number above the count, so both change at once.
type days [keptDays]atomic.Uint64

const (
	countBits = 44
	countMask = 1<<countBits - 1
)

// dayOf is the number of a moment's day.
func dayOf(at time.Time) uint64 { return uint64(at.Unix()) / (24 * 60 * 60) }

// add counts n on a day. The day's slot forgets an older day.
func (d *days) add(day, n uint64) {
	slot := &d[day%keptDays]
	for {
		old := slot.Load()
		next := old + n
		if old>>countBits != day {
			next = day<<countBits | n
		}
		if slot.CompareAndSwap(old, next) {
			return
		}
	}
}

// on returns the count of a day.
func (d *days) on(day uint64) uint64 {
	if n := d[day%keptDays].Load(); n>>countBits == day {
		return n & countMask
	}
	return 0
}

// refusals are an account's counts by day. Most sites refuse nothing, so an account has them from its first refusal on.
type refusals struct{ events, requests days }

// byDay returns the counts, which the first use creates.
func (a *Account) byDay() *refusals {
	if r := a.refusals.Load(); r != nil {
		return r
	}
	a.refusals.CompareAndSwap(nil, &refusals{})
	return a.refusals.Load()
}

// RefusedByDay returns what was refused of a site on each of the last 30 days, the oldest first. It leaves out days
// without refusals.
func (s *Sites) RefusedByDay(site string) (list []Day) {
	a := s.find(site)
	if a == nil {
		return nil
	}
	r := a.refusals.Load()
	if r == nil {
		return nil
	}
	today := a.today()
	for back := range uint64(keptDays) {
		day := today - back
		if d := (Day{Events: r.events.on(day), Requests: r.requests.on(day)}); d.Events+d.Requests > 0 {
			d.Date = time.Unix(int64(day)*24*60*60, 0).UTC()
			list = append(list, d)
		}
	}
	slices.Reverse(list)
	return list
}
