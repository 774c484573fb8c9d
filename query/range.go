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
	from func(now time.Time) time.Time
}

var presets = []preset{
	{"lastYear", monthsBefore(12)},
	{"last3Months", monthsBefore(3)},
	{"last30Days", daysBefore(30)},
	{"last7Days", daysBefore(7)},
	{"last24Hours", func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }},
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

// daysBefore returns a function that moves a time back by n days, by the clock and calendar of the time's location.
func daysBefore(n int) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		return insights.OnDay(t, func(d insights.Day) insights.Day { return d.AddDays(-n) })
	}
}

// monthsBefore returns a function that moves a time back by n months. It keeps the day of the month, or takes that
// month's last day.
func monthsBefore(n int) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		return insights.OnDay(t, func(d insights.Day) insights.Day { return d.AddMonths(-n) })
	}
}

// resolveRange returns from <= t < to in whole milliseconds, the precision of stored events. Both bounds round up. So
// a range that ends now includes an event of this millisecond. Presets count days and months by the calendar of now's
// location.
func resolveRange(r rangeRequest, now time.Time) (from, to time.Time, err error) {
	if r.from != nil {
		return r.given("range")
	}
	if p := presetOf(r.preset); p != nil {
		return p.from(now), now, nil
	}
	return from, to, schema.Invalid("range", unknown("a preset or an object with from and to", r.preset, Presets()), Presets()...)
}

// given returns the range of explicit bounds from and to.
func (r rangeRequest) given(path string) (from, to time.Time, err error) {
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

// comparisons are the named ranges to compare a range with. from and to are in the request's zone, whose calendar
// counts days and years. period is the preset of the range, or nil.
var comparisons = []struct {
	name  string
	other func(from, to time.Time, period *preset) (time.Time, time.Time)
}{
	{"previousPeriod", func(from, to time.Time, period *preset) (time.Time, time.Time) {
		if period != nil {
			return period.from(from), from
		}
		for days := wholeDays(from, to); days > 0; days++ {
			// The zone may have skipped the day before, so that the other range would not begin earlier.
			if other := daysBefore(days)(from); other.Before(from) {
				return other, from
			}
		}
		return from.Add(-to.Sub(from)), from
	}},
	{"previousYear", func(from, to time.Time, _ *preset) (time.Time, time.Time) {
		yearBefore := monthsBefore(12)
		first, last := yearBefore(from), yearBefore(to)
		if !last.After(first) { // February 29 became the 28th
			last = first.Add(to.Sub(from))
		}
		return first, last
	}},
}

// Comparisons returns the names of the ranges to compare with.
func Comparisons() []string {
	names := make([]string, len(comparisons))
	for i, c := range comparisons {
		names[i] = c.name
	}
	return names
}

// wholeDays returns the number of days of a range that begins and ends where days do, and 0 for other ranges.
func wholeDays(from, to time.Time) int {
	if !insights.BeginsDay(from) || !insights.BeginsDay(to) {
		return 0
	}
	return insights.DayOf(to).Since(insights.DayOf(from))
}

// resolveComparison returns the other range of a request whose range is from <= t < to.
func resolveComparison(c, r rangeRequest, from, to time.Time, zone *time.Location) (time.Time, time.Time, error) {
	if c.from != nil {
		return c.given("compare")
	}
	for _, known := range comparisons {
		if known.name == c.preset {
			from, to = known.other(from.In(zone), to.In(zone), presetOf(r.preset))
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

// ceil rounds up to the millisecond.
func ceil(t time.Time) time.Time {
	if cut := t.Truncate(time.Millisecond); !cut.Equal(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

// rangeRequest is a preset, or from and to.
type rangeRequest struct {
	preset   string
	from, to *string
}

// String returns the range as the request wrote it.
func (r rangeRequest) String() string {
	if r.from == nil || r.to == nil {
		return r.preset
	}
	return strconv.Quote(*r.from) + " " + strconv.Quote(*r.to)
}

var rangeMembers = []string{"from", "to"}

// timeRange reads one of the words, or an object with from and to.
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
