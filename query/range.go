package query

import (
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
// of this very millisecond is inside a range that ends now. Presets count days and
// months by the calendar of now's location.
func resolveRange(r rangeRequest, now time.Time) (from, to time.Time, err error) {
	if r.from != nil {
		if from, err = parseMoment("range.from", *r.from); err != nil {
			return from, to, err
		}
		if to, err = parseMoment("range.to", *r.to); err != nil {
			return from, to, err
		}
		if !to.After(from) {
			return from, to, schema.Invalid("range.to", "must be after range.from")
		}
		return ceil(from), ceil(to), nil
	}
	for _, p := range presets {
		if p.name == r.preset {
			return ceil(p.from(now)), ceil(now), nil
		}
	}
	return from, to, schema.Invalid("range", unknown("a preset or an object with from and to", r.preset, Presets()), Presets()...)
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
