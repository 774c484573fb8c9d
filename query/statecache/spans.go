package statecache

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Cut divides time into intervals, for example into days. A cut is the time at which an interval begins. Floor returns
// the last cut at or before a time. Next returns the first cut after a given cut.
type Cut struct{ Floor, Next func(time.Time) time.Time }

// ceil returns the first cut at or after t.
func (c Cut) ceil(t time.Time) time.Time {
	if at := c.Floor(t); at.Before(t) {
		return c.Next(at)
	}
	return t
}

// Cuts has the times at which spans may begin and end. In the middle of a range, these are the cuts of Coarse. Between
// an end of the range and the nearest coarse cut, these are the cuts of Fine.
type Cuts struct{ Coarse, Fine Cut }

// MonthsAndDays divides time into calendar months (coarse) and days (fine), both in UTC.
func MonthsAndDays() Cuts {
	return Cuts{
		Coarse: Cut{
			Floor: func(t time.Time) time.Time { return insights.DayOf(t).Month().UTC() },
			Next:  func(t time.Time) time.Time { return insights.DayOf(t).AddMonths(1).UTC() },
		},
		Fine: Every(24 * time.Hour),
	}
}

// Every divides time into intervals of the length d.
func Every(d time.Duration) Cut {
	return Cut{
		Floor: func(t time.Time) time.Time { return t.Truncate(d) },
		Next:  func(t time.Time) time.Time { return t.Add(d) },
	}
}

// Spans returns the spans of a range, in order and without gaps. Spans of whole months and days are the same for all
// queries of a day. Spans that end with a past month stay the same for longer. So later queries can use the states of
// these spans again. The newest month has a separate span, because the engine replaces its parts more often.
func (c Cuts) Spans(from, to time.Time, parts Parts) (list []Span) {
	from, to = from.UTC(), earliest(to.UTC(), parts.end())
	first, last := c.Coarse.ceil(from), earliest(c.Coarse.Floor(to), parts.Month)
	if first.After(last) { // the range is within a month
		first, last = c.Fine.Floor(to), c.Fine.Floor(to)
	}
	for _, s := range []Span{{c.Fine.ceil(from), first}, {first, last}, {last, c.Fine.Floor(to)}} {
		if s.From.Before(s.To) {
			list = append(list, s)
		}
	}
	return list
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
