package query

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema/insights"
)

// civil is a calendar day of the model. The model counts days one by one.
type civil struct{ year, month, day int }

func civilOf(t time.Time) civil { return civil{t.Year(), int(t.Month()), t.Day()} }

func (c civil) before(d civil) bool {
	if c.year != d.year {
		return c.year < d.year
	}
	if c.month != d.month {
		return c.month < d.month
	}
	return c.day < d.day
}

func (c civil) String() string { return fmt.Sprintf("%04d-%02d-%02d", c.year, c.month, c.day) }

func (c civil) next() civil {
	if c.day++; c.day > civilMonth(c.year, c.month) {
		c.day, c.month = 1, c.month+1
	}
	if c.month > 12 {
		c.month, c.year = 1, c.year+1
	}
	return c
}

func civilMonth(year, month int) int {
	switch {
	case month == 2 && (year%4 == 0 && year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

func (c civil) daysBefore(n int) civil {
	for range n {
		if c.day--; c.day > 0 {
			continue
		}
		if c.month--; c.month == 0 {
			c.year, c.month = c.year-1, 12
		}
		c.day = civilMonth(c.year, c.month)
	}
	return c
}

func (c civil) monthsBefore(n int) civil {
	for range n {
		if c.month--; c.month == 0 {
			c.year, c.month = c.year-1, 12
		}
	}
	c.day = min(c.day, civilMonth(c.year, c.month))
	return c
}

// search returns the first time at which a clock in the zone shows the given time of day, or a later time of day.
func (c civil) search(zone *time.Location, hour, minute, second int) time.Time {
	want := time.Date(c.year, time.Month(c.month), c.day, hour, minute, second, 0, time.UTC).Unix()
	for at := want - 16*60*60; ; at += 30 { // every clock and every drawn time is set to half minutes
		if _, offset := time.Unix(at, 0).In(zone).Zone(); at+int64(offset) >= want {
			return time.Unix(at, 0).In(zone)
		}
	}
}

// modelMove moves a time to another day. The start of a day becomes the start of a day. Other times keep their time of
// day.
func modelMove(t time.Time, to civil) time.Time {
	if t.Equal(civilOf(t).search(t.Location(), 0, 0, 0)) {
		return to.search(t.Location(), 0, 0, 0)
	}
	return to.search(t.Location(), t.Hour(), t.Minute(), t.Second())
}

// modelWeek returns the first day of a week that begins with a weekday: 0 is Monday.
func modelWeek(c civil, starts int) civil {
	for {
		at := time.Date(c.year, time.Month(c.month), c.day, 12, 0, 0, 0, time.UTC)
		if (int(at.Weekday())+6)%7 == starts {
			return c
		}
		c = c.daysBefore(1)
	}
}

// modelFirst returns the first day of the preset `name` that ends on the day `now`. `ok` is false for presets of a
// fixed length.
func modelFirst(name string, now civil, starts int) (first civil, ok bool) {
	switch name {
	case "today":
		return now, true
	case "thisWeek":
		return modelWeek(now, starts), true
	case "thisMonth":
		now.day = 1
		return now, true
	}
	return now, false
}

func modelPreset(name string, now time.Time, starts int) time.Time {
	if first, ok := modelFirst(name, civilOf(now), starts); ok {
		return first.search(now.Location(), 0, 0, 0)
	}
	switch name {
	case "lastYear":
		return modelMove(now, civilOf(now).monthsBefore(12))
	case "last3Months":
		return modelMove(now, civilOf(now).monthsBefore(3))
	case "last30Days":
		return modelMove(now, civilOf(now).daysBefore(30))
	case "last7Days":
		return modelMove(now, civilOf(now).daysBefore(7))
	}
	return now.Add(-24 * time.Hour)
}

// modelCompared returns the range with which a range is compared.
func modelCompared(name, preset string, from, to time.Time, starts int) (time.Time, time.Time) {
	if back := map[string]func(civil) civil{
		"previousYear":        func(c civil) civil { return c.monthsBefore(12) },
		"previousYearWeekday": func(c civil) civil { return c.daysBefore(364) },
	}[name]; back != nil {
		first, last := modelMove(from, back(civilOf(from))), modelMove(to, back(civilOf(to)))
		if !first.Before(last) {
			last = first.Add(to.Sub(from))
		}
		return first, last
	}
	if day, ok := modelFirst(preset, civilOf(to), starts); ok {
		back := map[string]func(civil) civil{
			"today": func(c civil) civil { return c.daysBefore(1) }, "thisWeek": func(c civil) civil { return c.daysBefore(7) },
			"thisMonth": func(c civil) civil { return c.monthsBefore(1) },
		}[preset]
		first, last := back(day).search(to.Location(), 0, 0, 0), modelMove(to, back(civilOf(to)))
		if last.Before(first) || last.After(from) {
			last = first
		}
		return first, last
	}
	if preset != "" {
		return modelPreset(preset, from, starts), from
	}
	dayStart := func(t time.Time) bool {
		midnight := t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0
		return midnight || t.Equal(civilOf(t).search(t.Location(), 0, 0, 0))
	}
	days, d := 0, civilOf(to)
	for ; civilOf(from).before(d); days++ {
		d = d.daysBefore(1)
	}
	if !dayStart(from) || !dayStart(to) || days == 0 {
		return from.Add(-to.Sub(from)), from
	}
	first := from
	for d = civilOf(from).daysBefore(days); !first.Before(from); d = d.daysBefore(1) {
		first = d.search(from.Location(), 0, 0, 0)
	}
	return first, from
}

// calendarZones has zones in which clocks skip or repeat midnight, zones in which clocks are set at other times, and
// zones that skipped a day.
var calendarZones = []string{
	"America/Santiago", "Atlantic/Azores", "America/Havana", "America/Sao_Paulo", "America/Asuncion",
	"America/Scoresbysund",
	"Africa/Cairo", "Asia/Beirut", "Asia/Amman", "Asia/Damascus", "Asia/Gaza", "Asia/Tehran", "America/St_Johns",
	"Pacific/Apia", "Pacific/Kwajalein", "Pacific/Kiritimati", "Africa/Monrovia", "Australia/Lord_Howe",
	"Antarctica/Troll",
	"Europe/Berlin", "America/New_York", "Australia/Sydney", "Africa/Casablanca", "Asia/Kathmandu", "UTC",
}

// TestCalendar compares every preset and every comparison with the model, in zones of all kinds. In most draws a
// clock is set in the range or in the compared range.
func TestCalendar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(calendarZones).Draw(t, "zone")
		zone, err := insights.Location(name)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(2*366*24*60*2, 60*366*24*60*2).Draw(t, "half minute")*30, 0)
		if _, change := at.In(zone).ZoneBounds(); !change.IsZero() &&
			rapid.IntRange(0, 4).Draw(t, "near a change") > 0 {
			days := []int{-2, -1, 0, 1, 2, 7, 14, 30, 60, 89, 90, 91, 92, 180, 181, 364, 365, 366, 730, 731}
			after := 24 * 60 * 2 * rapid.SampledFrom(days).Draw(t, "days after")
			at = change.Add(
				time.Duration(after+rapid.IntRange(-200, 200).Draw(t, "half minutes after")) * 30 * time.Second,
			)
		}
		aligned := func(t2 time.Time, what string) time.Time {
			switch rapid.SampledFrom([]string{"day", "day", "day", "clock", "any"}).Draw(t, what) {
			case "day":
				return civilOf(t2.In(zone)).search(zone, 0, 0, 0)
			case "clock":
				shown := t2.In(zone)
				return time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), 0, 0, 0, zone)
			}
			return t2
		}
		from := aligned(at, "from").In(zone)
		to := aligned(
			from.Add(
				time.Duration(
					rapid.SampledFrom([]int{1, 5, 20, 25, 26, 49, 7 * 24, 30 * 24, 365 * 24}).Draw(t, "hours"),
				)*time.Hour,
			),
			"to",
		).In(zone)
		if !from.Before(to) {
			to = from.Add(time.Hour)
		}
		starts := rapid.IntRange(0, 6).Draw(t, "week start")
		for _, preset := range append(Presets(), "") {
			r, first, last := rangeRequest{preset: preset}, from, to
			if preset == "" {
				f, l := from.UTC().Format(time.RFC3339Nano), to.UTC().Format(time.RFC3339Nano)
				r = rangeRequest{from: &f, to: &l}
			} else {
				last, first = from, modelPreset(preset, from, starts)
			}
			gotFirst, gotLast, err := resolveRange(r, last, insights.WeekStart(starts))
			if err != nil || !gotFirst.Equal(first) || !gotLast.Equal(last) {
				t.Fatalf(
					"%s: %q at %v: from %v to %v, %v; want %v",
					name,
					preset,
					last,
					gotFirst.In(zone),
					gotLast.In(zone),
					err,
					first.In(zone),
				)
			}
			for _, compare := range Comparisons() {
				wantFirst, wantLast := modelCompared(compare, preset, first.In(zone), last.In(zone), starts)
				in := period{from: first, to: last, zone: zone, week: insights.WeekStart(starts)}
				gotFirst, gotLast, err := resolveComparison(rangeRequest{preset: compare}, r, in)
				if err != nil || !gotFirst.Equal(wantFirst) || !gotLast.Equal(wantLast) {
					t.Fatalf(
						"%s: %q, %v to %v, %s: %v to %v, %v; want %v to %v",
						name,
						preset,
						first.In(zone),
						last.In(zone),
						compare,
						gotFirst.In(zone),
						gotLast.In(zone),
						err,
						wantFirst.In(zone),
						wantLast.In(zone),
					)
				}
			}
		}
	})
}
