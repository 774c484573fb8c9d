package balance

import (
	"slices"
	"sync/atomic"
	"time"
)

// Day counts the refusals of one calendar day in UTC.
type Day struct {
	Date     time.Time // the day's first instant, 00:00 UTC
	Events   uint64    // refused events
	Requests uint64    // requests that were refused before their bodies were read
}

// keptDays is the number of the last days for which an account stores the number of refusals.
const keptDays = 30

// days has one slot for each of the last keptDays days. A slot has the number of its day in the upper bits and the
// count in the lower bits, so both change in one atomic operation.
type days [keptDays]atomic.Uint64

const (
	countBits = 44
	countMask = 1<<countBits - 1
)

// dayOf returns the number of a day, counted from 1970-01-01 in UTC.
func dayOf(at time.Time) uint64 { return uint64(at.Unix()) / (24 * 60 * 60) }

// add adds n to the count of a day. If the slot has the count of an older day, `add` replaces that count.
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

// on returns the count of a day, or 0 if its slot has no count of this day.
func (d *days) on(day uint64) uint64 {
	if n := d[day%keptDays].Load(); n>>countBits == day {
		return n & countMask
	}
	return 0
}

// refusals has an account's refusals by day. An account creates it at its first refusal, because most sites never
// refuse a request.
type refusals struct{ events, requests days }

// byDay returns the account's refusals. The first call creates them.
func (a *Account) byDay() *refusals {
	if r := a.refusals.Load(); r != nil {
		return r
	}
	a.refusals.CompareAndSwap(nil, &refusals{})
	return a.refusals.Load()
}

// RefusedByDay returns the number of refused events and requests of a site for each of the last 30 days, oldest first.
// It leaves out days without refusals.
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
