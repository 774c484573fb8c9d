package query

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestComparisons checks that the calendar of the zone determines presets and whole days. A range of other bounds is
// compared with a range of the same length.
func TestComparisons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, request, zone, from, to string }{
		{"a week of which one day has 23 hours", `{"from":"2026-03-26T00:00:00+01:00","to":"2026-04-02T00:00:00+02:00"},"compare":"previousPeriod"`,
			"Europe/Berlin", "2026-03-19T00:00:00+01:00", "2026-03-26T00:00:00+01:00"},
		{"the same week for UTC is of hours", `{"from":"2026-03-26T00:00:00+01:00","to":"2026-04-02T00:00:00+02:00"},"compare":"previousPeriod"`,
			"UTC", "2026-03-19T00:00:00Z", "2026-03-25T23:00:00Z"},
		{"an hour", `{"from":"2026-03-29T03:00:00+02:00","to":"2026-03-29T04:00:00+02:00"},"compare":"previousPeriod"`,
			"Europe/Berlin", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"a preset of months", `"last3Months","compare":"previousPeriod"`, "UTC", "2025-09-15T12:30:45.678Z", "2025-12-15T12:30:45.678Z"},
		{"a preset of days across a change of clocks", `"last30Days","compare":"previousPeriod"`,
			"America/New_York", "2026-01-14T08:30:45.678-05:00", "2026-02-13T08:30:45.678-05:00"},
		{"a year before February 29", `{"from":"2024-02-29T00:00:00Z","to":"2024-03-01T00:00:00Z"},"compare":"previousYear"`, "UTC", "2023-02-28T00:00:00Z", "2023-03-01T00:00:00Z"},
		{"a year before a range that ends with February 29", `{"from":"2024-02-28T18:00:00Z","to":"2024-02-29T12:00:00Z"},"compare":"previousYear"`, "UTC", "2023-02-28T18:00:00Z", "2023-03-01T12:00:00Z"},
		{"a week, a year after a day without midnight",
			`{"from":"2026-09-07T00:00:00-03:00","to":"2026-09-14T00:00:00-03:00"},"compare":"previousYear"`,
			"America/Santiago", "2025-09-07T01:00:00-03:00", "2025-09-14T00:00:00-03:00"},
		{"a week up to a year after a day without midnight",
			`{"from":"2026-08-31T00:00:00-04:00","to":"2026-09-07T00:00:00-03:00"},"compare":"previousYear"`,
			"America/Santiago", "2025-08-31T00:00:00-04:00", "2025-09-07T01:00:00-03:00"},
		{"a week after one that begins without midnight",
			`{"from":"2026-09-13T00:00:00-03:00","to":"2026-09-20T00:00:00-03:00"},"compare":"previousPeriod"`,
			"America/Santiago", "2026-09-06T01:00:00-03:00", "2026-09-13T00:00:00-03:00"},
		{"a week that begins without midnight",
			`{"from":"2026-09-06T01:00:00-03:00","to":"2026-09-13T00:00:00-03:00"},"compare":"previousPeriod"`,
			"America/Santiago", "2026-08-30T00:00:00-04:00", "2026-09-06T01:00:00-03:00"},
		{"a week that begins without midnight, a year before",
			`{"from":"2026-09-06T01:00:00-03:00","to":"2026-09-13T00:00:00-03:00"},"compare":"previousYear"`,
			"America/Santiago", "2025-09-06T00:00:00-04:00", "2025-09-13T00:00:00-03:00"},
		{"the day so far, a year after a day without midnight",
			`{"from":"2026-09-07T00:00:00-03:00","to":"2026-09-07T13:00:00-03:00"},"compare":"previousYear"`,
			"America/Santiago", "2025-09-07T01:00:00-03:00", "2025-09-07T13:00:00-03:00"},
		{"a week after a day with two midnights",
			`{"from":"2026-11-08T00:00:00-05:00","to":"2026-11-15T00:00:00-05:00"},"compare":"previousPeriod"`,
			"America/Havana", "2026-11-01T00:00:00-04:00", "2026-11-08T00:00:00-05:00"},
		{"a day after one that was left out",
			`{"from":"2011-12-31T00:00:00+14:00","to":"2012-01-01T00:00:00+14:00"},"compare":"previousPeriod"`,
			"Pacific/Apia", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"a week with a day that was left out",
			`{"from":"2011-12-26T00:00:00-10:00","to":"2012-01-02T00:00:00+14:00"},"compare":"previousPeriod"`,
			"Pacific/Apia", "2011-12-19T00:00:00-10:00", "2011-12-26T00:00:00-10:00"},
		{"the hour between two midnights",
			`{"from":"2026-11-01T00:00:00-04:00","to":"2026-11-01T00:00:00-05:00"},"compare":"previousPeriod"`,
			"America/Havana", "2026-10-31T23:00:00-04:00", "2026-11-01T00:00:00-04:00"},
		{"given", `"last7Days","compare":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00+01:00"}`, "UTC", "2026-01-01T00:00:00Z", "2026-01-01T23:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := compile(Site{ID: testSite}, []byte(`{"range":`+c.request+`,"timezone":"`+c.zone+`"}`), testNow)
			if err != nil {
				t.Fatal(err)
			}
			got := func(t time.Time) string { return insights.FormatTime(t) }
			if from, to := moment(t, c.from), moment(t, c.to); !p.compare.from.Equal(from) || !p.compare.to.Equal(to) {
				t.Errorf("%s to %s, want %s to %s", got(p.compare.from), got(p.compare.to), got(from), got(to))
			}
		})
	}
}

// TestComparedDays checks that every day is compared with the right day where the clock skips a midnight. The n-th
// day of the data has n events, at noon.
func TestComparedDays(t *testing.T) {
	t.Parallel()
	zone, err := insights.Location("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	conn := store(t)
	var events []insights.Event
	for n := 1; n <= 25; n++ {
		e := fixture()[0]
		e.TimeMillis = time.Date(2026, 8, 29+n, 12, 0, 0, 0, zone).UnixMilli()
		for range n {
			events = append(events, e)
		}
	}
	insert(t, conn, testSite, events)
	body, _, err := newService(
		conn,
	).Aggregate(t.Context(), Caller{}, testSite, []byte(`{"timezone":"America/Santiago","compare":"previousPeriod",
		"range":{"from":"2026-09-13T00:00:00-03:00","to":"2026-09-20T00:00:00-03:00"},
		"groupBy":[{"column":"datetime","interval":"day"}]}`), testNow)
	if err != nil {
		t.Fatal(err)
	}
	const want = `datetime: ["2026-09-13T00:00:00.000-03:00","2026-09-14T00:00:00.000-03:00",` +
		`"2026-09-15T00:00:00.000-03:00",` +
		`"2026-09-16T00:00:00.000-03:00","2026-09-17T00:00:00.000-03:00",` +
		`"2026-09-18T00:00:00.000-03:00","2026-09-19T00:00:00.000-03:00"]
eventsCount: [15,16,17,18,19,20,21]
compared with 2026-09-06T01:00:00.000-03:00 to 2026-09-13T00:00:00.000-03:00
datetime: ["2026-09-06T01:00:00.000-03:00","2026-09-07T00:00:00.000-03:00","2026-09-08T00:00:00.000-03:00",` +
		`"2026-09-09T00:00:00.000-03:00","2026-09-10T00:00:00.000-03:00",` +
		`"2026-09-11T00:00:00.000-03:00","2026-09-12T00:00:00.000-03:00"]
eventsCount: [8,9,10,11,12,13,14]`
	if got := rowsText(t, body); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
