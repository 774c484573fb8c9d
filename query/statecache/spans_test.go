package statecache

import (
	"slices"
	"testing"
	"time"
)

// TestSpans checks that spans are whole months and the whole days around them, within settled parts.
func TestSpans(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		when, err := time.Parse("2006-01-02T15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for name, c := range map[string]struct {
		from, to, month string
		newest          bool // the newest month has settled parts
		want            []string
	}{
		"a year":             {"2025-03-10T07:30", "2026-03-10T07:30", "2026-03-01T00:00", false, []string{"03-11 04-01", "04-01 03-01"}},
		"a year and parts":   {"2025-03-10T07:30", "2026-03-10T07:30", "2026-03-01T00:00", true, []string{"03-11 04-01", "04-01 03-01", "03-01 03-10"}},
		"one that is over":   {"2024-03-10T07:30", "2025-03-10T07:30", "2026-03-01T00:00", true, []string{"03-11 04-01", "04-01 03-01", "03-01 03-10"}},
		"whole months":       {"2025-01-01T00:00", "2025-03-01T00:00", "2026-03-01T00:00", true, []string{"01-01 03-01"}},
		"days around none":   {"2025-01-02T00:00", "2025-02-27T00:00", "2026-03-01T00:00", true, []string{"01-02 02-01", "02-01 02-27"}},
		"days of a month":    {"2025-01-02T01:00", "2025-01-27T23:00", "2026-03-01T00:00", true, []string{"01-03 01-27"}},
		"less than a day":    {"2025-01-02T01:00", "2025-01-03T23:00", "2026-03-01T00:00", true, nil},
		"the end of a month": {"2025-01-31T12:00", "2025-03-01T12:00", "2026-03-01T00:00", false, []string{"02-01 03-01"}},
		"the newest month":   {"2026-03-03T12:00", "2026-03-10T12:00", "2026-03-01T00:00", true, []string{"03-04 03-10"}},
		"the future":         {"2026-01-01T00:00", "2027-01-01T00:00", "2026-03-01T00:00", true, []string{"01-01 03-01", "03-01 04-01"}},
		"a future":           {"2026-03-02T12:00", "2027-01-01T00:00", "2026-03-01T00:00", true, []string{"03-03 04-01"}},
		"all after the end":  {"2025-01-01T00:00", "2025-12-01T00:00", "2024-12-01T00:00", true, nil},
	} {
		settled := Parts{Month: at(c.month)}
		if c.newest {
			settled.Newest = []Part{{Name: "202603_1_1_0"}}
		}
		var got []string
		for _, s := range MonthsAndDays().Spans(at(c.from), at(c.to), settled) {
			got = append(got, s.From.Format("01-02 ")+s.To.Format("01-02"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
