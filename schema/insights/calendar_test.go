package insights

import (
	"testing"
	"time"
)

// TestDayStart compares the first instant of every day with the result of a search. In the tested years, clocks skipped
// midnight or showed it twice, or a zone left out a day.
func TestDayStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, from, to string }{
		{"UTC", "2024-02-27", "2024-03-02"}, {"Europe/Berlin", "2026-01-01", "2027-01-01"},
		{"America/Santiago", "2019-01-01", "2027-01-01"}, {"Atlantic/Azores", "2024-01-01", "2027-01-01"},
		{"America/Havana", "2010-01-01", "2014-01-01"}, {"America/Sao_Paulo", "2015-01-01", "2019-12-31"},
		{"America/Asuncion", "2010-01-01", "2013-01-01"}, {"Africa/Cairo", "2010-01-01", "2015-01-01"},
		{"Asia/Beirut", "2020-01-01", "2024-01-01"}, {"Asia/Amman", "2012-01-01", "2015-01-01"},
		{"America/St_Johns", "2005-01-01", "2008-01-01"}, {"Pacific/Apia", "2011-06-01", "2012-06-01"},
		{"Pacific/Kwajalein", "1993-07-01", "1993-10-01"}, {"Africa/Monrovia", "1971-12-01", "1972-02-01"},
		{"Australia/Lord_Howe", "2025-01-01", "2026-01-01"}, {"Asia/Kathmandu", "1985-12-01", "1986-02-01"},
	} {
		t.Run(c.zone, func(t *testing.T) {
			t.Parallel()
			location, err := Location(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			last, err := time.Parse(time.DateOnly, c.to)
			if err != nil {
				t.Fatal(err)
			}
			first, err := time.Parse(time.DateOnly, c.from)
			if err != nil {
				t.Fatal(err)
			}
			for d := DayOf(first); d.UTC().Before(last); d = d.AddDays(1) {
				date := d.UTC().Format(time.DateOnly)
				want := d.UTC().Add(-26 * time.Hour)
				for want.In(location).Format(time.DateOnly) < date {
					want = want.Add(30 * time.Second) // the offsets of these zones are multiples of 30 seconds
				}
				start := d.Start(location)
				if !start.Equal(want) || !BeginsDay(start) {
					t.Fatalf("%s begins at %v, want %v", date, start, want.In(location))
				}
			}
		})
	}
}

func TestDayArithmetic(t *testing.T) {
	t.Parallel()
	day := func(s string) Day {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return DayOf(at)
	}
	for _, c := range []struct {
		name      string
		got, want Day
	}{
		{"a month with fewer days", day("2026-05-31").AddMonths(-3), day("2026-02-28")},
		{"February 29", day("2024-02-29").AddMonths(-12), day("2023-02-28")},
		{"to a leap year", day("2025-02-28").AddMonths(-12), day("2024-02-28")},
		{"over the year", day("2026-01-31").AddMonths(-2), day("2025-11-30")},
		{"forward", day("2026-12-31").AddMonths(2), day("2027-02-28")},
		{"days over a leap day", day("2024-03-01").AddDays(-1), day("2024-02-29")},
		{"a Monday's week", day("2026-03-02").Week(0), day("2026-03-02")},
		{"a Sunday's week", day("2026-03-08").Week(0), day("2026-03-02")},
		{"a Sunday's week from Sunday", day("2026-03-08").Week(6), day("2026-03-08")},
		{"a Saturday's week from Sunday", day("2026-03-07").Week(6), day("2026-03-01")},
		{"a Monday's week from Sunday", day("2026-03-02").Week(6), day("2026-03-01")},
		{"a Friday's week from Saturday", day("2026-03-06").Week(5), day("2026-02-28")},
		{"a Monday's week from Tuesday", day("2026-03-02").Week(1), day("2026-02-24")},
		{"a month", day("2026-03-08").Month(), day("2026-03-01")},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if n := day("9999-12-31").Since(day("0001-01-01")); n != 3652058 {
		t.Errorf("%d days", n) // a time.Duration cannot represent this number of days
	}
}

// TestBucketsAreInOrder: the clock of St. John's was set back from 0:01 to 23:01 of the previous day. In a range that
// begins in this minute, the first events belong to the new day, and the next events belong to the previous day.
func TestBucketsAreInOrder(t *testing.T) {
	t.Parallel()
	location, err := Location("America/St_Johns")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2006, 10, 29, 2, 30, 30, 0, time.UTC)
	to := from.Add(50 * time.Hour)
	for _, interval := range intervals {
		list, ok := NewZone(location, from, to).Buckets(interval, from, to, 10_000)
		if !ok || len(list) == 0 {
			t.Fatalf("%s: %v", interval.Word, list)
		}
		for i := 1; i < len(list); i++ {
			if !list[i-1].Before(list[i]) {
				t.Errorf("by %s: %v stands before %v", interval.Word, list[i-1], list[i])
			}
		}
	}
}
