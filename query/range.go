package query

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// preset is a range that ends now.
type preset struct {
	name string
	from func(now time.Time) time.Time // from is nil if the range begins with a day
	// first returns the first day of the range. `before` returns the corresponding day of the range with which the
	// preset is compared.
	first  func(now insights.Day, week insights.WeekStart) insights.Day
	before func(insights.Day) insights.Day
}

var presets = []preset{
	{name: "lastYear", from: monthsBefore(12)},
	{name: "last3Months", from: monthsBefore(3)},
	{name: "last30Days", from: daysBefore(30)},
	{name: "last7Days", from: daysBefore(7)},
	{name: "last24Hours", from: func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }},
	{
		name: "today", first: func(now insights.Day, _ insights.WeekStart) insights.Day { return now },
		before: func(d insights.Day) insights.Day { return d.AddDays(-1) },
	},
	{name: "thisWeek", first: insights.Day.Week, before: func(d insights.Day) insights.Day { return d.AddDays(-7) }},
	{
		name: "thisMonth", first: func(now insights.Day, _ insights.WeekStart) insights.Day { return now.Month() },
		before: func(d insights.Day) insights.Day { return d.AddMonths(-1) },
	},
}

// begins returns the start of the range that ends at `now`.
func (p *preset) begins(now time.Time, week insights.WeekStart) time.Time {
	if p.from != nil {
		return p.from(now)
	}
	return p.first(insights.DayOf(now), week).Start(now.Location())
}

// preceding returns the range before the range that ends at `to`. For the current day, week or month, it is the same
// part of the previous day, week or month.
func (p *preset) preceding(to time.Time, week insights.WeekStart) (time.Time, time.Time) {
	from := p.begins(to, week)
	if p.from != nil {
		return p.begins(from, week), from
	}
	first := p.before(p.first(insights.DayOf(to), week)).Start(to.Location())
	last := insights.OnDay(to, p.before)
	if last.Before(first) || last.After(from) {
		last = first // the zone skipped the day
	}
	return first, last
}

// firstOf returns `from` if the range is a preset that begins with a day. Otherwise it returns the zero time.
func (r rangeRequest) firstOf(from time.Time) (first time.Time) {
	if p := presetOf(r.preset); r.from == nil && p != nil && p.first != nil {
		first = from
	}
	return first
}

func presetOf(name string) *preset {
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &presets[i]
}

// Presets returns the names of the preset ranges.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// daysBefore returns a function that moves a time back by n days, using the clock and calendar of the time's location.
func daysBefore(n int) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		return insights.OnDay(t, func(d insights.Day) insights.Day { return d.AddDays(-n) })
	}
}

// monthsBefore returns a function that moves a time back by n months. The day of the month stays the same. If the month
// is too short, it becomes the month's last day.
func monthsBefore(n int) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		return insights.OnDay(t, func(d insights.Day) insights.Day { return d.AddMonths(-n) })
	}
}

// resolveRange returns a range `from <= t < to` in whole milliseconds, the precision of stored events. Both bounds are
// rounded up. So a range that ends now includes an event of this millisecond. Presets count days and months by the
// calendar of the location of `now`.
func resolveRange(r rangeRequest, now time.Time, week insights.WeekStart) (from, to time.Time, err error) {
	if r.from != nil {
		return r.given("range", now.Location())
	}
	if p := presetOf(r.preset); p != nil {
		return p.begins(now, week), now, nil
	}
	return from, to, schema.Invalid("range", unknown("a preset or an object with from and to", r.preset, Presets()), Presets()...)
}

// given returns the range of explicit bounds `from` and `to`: times, or dates in the zone. A range of dates ends at the
// end of its last day.
func (r rangeRequest) given(path string, zone *time.Location) (from, to time.Time, err error) {
	first, isDate, err := parseDate(at(path, "from"), *r.from)
	if err != nil {
		return from, to, err
	}
	last, isDate2, err := parseDate(at(path, "to"), *r.to)
	switch {
	case err != nil:
		return from, to, err
	case isDate != isDate2:
		return from, to, schema.Invalid(path, "must have two times, or two dates without a time")
	case isDate && last.Since(first) < 0:
		return from, to, schema.Invalid(at(path, "to"), "must not be before "+at(path, "from"))
	case isDate:
		if from, to = first.Start(zone), last.AddDays(1).Start(zone); !to.After(from) {
			err = schema.Invalid(path, "has no moment: the time zone skipped the day")
		}
		return from, to, err
	}
	if from, err = parseMoment(at(path, "from"), *r.from); err != nil {
		return from, to, err
	}
	if to, err = parseMoment(at(path, "to"), *r.to); err != nil {
		return from, to, err
	}
	if !to.After(from) {
		return from, to, schema.Invalid(at(path, "to"), "must be after "+at(path, "from"))
	}
	return ceil(from), ceil(to), nil
}

// comparisons are the named ranges to compare a range with. `from` and `to` are in the request's zone, whose calendar
// determines days and years. `period` is the preset of the range, or nil.
var comparisons = []struct {
	name  string
	other func(from, to time.Time, period *preset, week insights.WeekStart) (time.Time, time.Time)
}{
	{"previousPeriod", func(from, to time.Time, period *preset, week insights.WeekStart) (time.Time, time.Time) {
		if period != nil {
			return period.preceding(to, week)
		}
		for days := wholeDays(from, to); days > 0; days++ {
			// The zone may have skipped the previous day. The other range would then begin at the same time as this
			// range, so one more day is subtracted.
			if other := daysBefore(days)(from); other.Before(from) {
				return other, from
			}
		}
		return from.Add(-to.Sub(from)), from
	}},
	{"previousYear", func(from, to time.Time, _ *preset, _ insights.WeekStart) (time.Time, time.Time) {
		return moved(from, to, monthsBefore(12)) // February 29 becomes the 28th
	}},
	{"previousYearWeekday", func(from, to time.Time, _ *preset, _ insights.WeekStart) (time.Time, time.Time) {
		return moved(from, to, daysBefore(52*7))
	}},
}

// moved moves a range. If both bounds become the same time, the range keeps its length.
func moved(from, to time.Time, back func(time.Time) time.Time) (first, last time.Time) {
	first, last = back(from), back(to)
	if !last.After(first) {
		last = first.Add(to.Sub(from))
	}
	return first, last
}

// Comparisons returns the names of the ranges to compare with.
func Comparisons() []string {
	names := make([]string, len(comparisons))
	for i, c := range comparisons {
		names[i] = c.name
	}
	return names
}

// wholeDays returns the number of days of a range that begins and ends at the start of a day. For other ranges it
// returns 0.
func wholeDays(from, to time.Time) int {
	if !insights.BeginsDay(from) || !insights.BeginsDay(to) {
		return 0
	}
	return insights.DayOf(to).Since(insights.DayOf(from))
}

// period is the range `from <= t < to` of a request, with its calendar.
type period struct {
	from, to time.Time
	zone     *time.Location
	week     insights.WeekStart
	cut      bool      // whether the caller's view has cut the period
	moves    bool      // whether the period depends on the current time
	first    time.Time // the start of a preset that begins with a day; otherwise zero
}

// resolveComparison returns the other range of a request.
func resolveComparison(c, r rangeRequest, in period) (from, to time.Time, err error) {
	if c.from != nil {
		return c.given("compare", in.zone)
	}
	for _, known := range comparisons {
		if known.name == c.preset {
			from, to = known.other(in.from.In(in.zone), in.to.In(in.zone), presetOf(r.preset), in.week)
			return from, to, nil
		}
	}
	return from, to, schema.Invalid("compare", unknown("one of the ranges to compare with, or an object with from and to", c.preset, Comparisons()), Comparisons()...)
}

// parseMoment reads a date-time of any year. newScope cuts the range to the storable years.
func parseMoment(path, s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, schema.Invalid(path, insights.TimeProblem)
	}
	return t.UTC(), nil
}

// parseDate reads a date without a time. isDate is false for texts that are not a date.
func parseDate(path, s string) (d insights.Day, isDate bool, err error) {
	if len(s) != len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return d, false, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return d, false, schema.Invalid(path, "is not a date of the calendar")
	}
	return insights.DayOf(t), true, nil
}

// ceil rounds up to the millisecond.
func ceil(t time.Time) time.Time {
	if cut := t.Truncate(time.Millisecond); !cut.Equal(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

// rangeRequest is a preset, or `from` and `to`.
type rangeRequest struct {
	preset   string
	from, to *string
}

// String returns the range in the form of the request.
func (r rangeRequest) String() string {
	if r.from == nil || r.to == nil {
		return r.preset
	}
	return strconv.Quote(*r.from) + " " + strconv.Quote(*r.to)
}

var rangeMembers = []string{"from", "to"}

// timeRange reads one of the words, or an object with `from` and `to`.
func (r *reader) timeRange(path string, words []string) (rangeRequest, error) {
	var t rangeRequest
	var err error
	switch r.PeekKind() {
	case jsontext.KindString:
		t.preset, err = r.text()
		return t, err
	case jsontext.KindBeginObject:
	default:
		return t, r.refuse("must be a preset or an object with from and to", words...)
	}
	err = r.object(rangeMembers, func(name string) error {
		if r.PeekKind() != jsontext.KindString {
			return r.refuse(insights.TimeProblem)
		}
		bound, err := r.text()
		if name == "from" {
			t.from = &bound
		} else {
			t.to = &bound
		}
		return err
	})
	switch {
	case err != nil:
	case t.from == nil:
		err = schema.Invalid(at(path, "from"), "is required")
	case t.to == nil:
		err = schema.Invalid(at(path, "to"), "is required")
	}
	return t, err
}
