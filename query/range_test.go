package query

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestComparisons: presets and whole days are counted by the calendar of the zone,
// other ranges by their length.
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
		{"given", `"last7Days","compare":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00+01:00"}`, "UTC", "2026-01-01T00:00:00Z", "2026-01-01T23:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := compile(testSite, []byte(`{"range":`+c.request+`,"timezone":"`+c.zone+`"}`), testNow)
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

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
