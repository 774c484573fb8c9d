package query

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// preset is a range that ends now.
type preset struct {
	name string
	from func(now time.Time) time.Time
}

var presets = []preset{
	{"lastYear", func(now time.Time) time.Time { return monthsBefore(now, 12) }},
	{"last3Months", func(now time.Time) time.Time { return monthsBefore(now, 3) }},
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

// Presets are the names of the ranges that a request may name.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

func daysBefore(n int) func(time.Time) time.Time {
	return func(now time.Time) time.Time { return now.AddDate(0, 0, -n) }
}

// monthsBefore is the same day and time n months earlier, or that month's last
// day where it has no such day: three months before May 31 is February 28.
// time.AddDate alone would give March 3.
func monthsBefore(t time.Time, n int) time.Time {
	before := t.AddDate(0, -n, 0)
	if before.Day() != t.Day() {
		before = before.AddDate(0, 0, -before.Day())
	}
	return before
}

// resolveRange gives from <= t < to in whole milliseconds, which is how events
// are stored. Parts of a millisecond round up on both sides, so that an event
// of this very millisecond is inside a range that ends now, which is such a number
// already. Presets count days and months by the calendar of now's location.
func resolveRange(r rangeRequest, now time.Time) (from, to time.Time, err error) {
	if r.from != nil {
		return r.given("range")
	}
	if p := presetOf(r.preset); p != nil {
		return p.from(now), now, nil
	}
	return from, to, schema.Invalid("range", unknown("a preset or an object with from and to", r.preset, Presets()), Presets()...)
}

// given is the range of from and to.
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

// comparisons are the ranges that a range can be compared with by name. from and to
// are in the request's zone, whose calendar counts days and years; period is the
// preset that made them, if one did.
var comparisons = []struct {
	name  string
	other func(from, to time.Time, period *preset) (time.Time, time.Time)
}{
	{"previousPeriod", func(from, to time.Time, period *preset) (time.Time, time.Time) {
		switch days, whole := daysBetween(from, to); {
		case period != nil:
			return period.from(from), from
		case whole:
			return from.AddDate(0, 0, -days), from
		default:
			return from.Add(-to.Sub(from)), from
		}
	}},
	{"previousYear", func(from, to time.Time, _ *preset) (time.Time, time.Time) {
		length := to.Sub(from)
		other := monthsBefore(to, 12)
		if from = monthsBefore(from, 12); !other.After(from) { // February 29 became the 28th
			other = from.Add(length)
		}
		return from, other
	}},
}

// Comparisons are the names of the ranges that a request may be compared with.
func Comparisons() []string {
	names := make([]string, len(comparisons))
	for i, c := range comparisons {
		names[i] = c.name
	}
	return names
}

// daysBetween is the number of days of a range that begins and ends at midnight.
func daysBetween(from, to time.Time) (days int, whole bool) {
	midnight := func(t time.Time) (day time.Time, ok bool) {
		day = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		return day, t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0
	}
	first, ok1 := midnight(from)
	last, ok2 := midnight(to)
	return int(last.Sub(first) / (24 * time.Hour)), ok1 && ok2
}

// resolveComparison gives the other range of a request whose range is from <= t < to.
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

// parseMoment reads a date-time of any year: newScope cuts the range to what can
// be stored.
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
