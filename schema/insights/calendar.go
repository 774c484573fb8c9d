package insights

import "time"

// Day is a calendar day without a time zone. Add days or months to a Day, and not to a time. A time belongs to a day
// only in a known zone, and some zones skip a midnight or a whole day.
type Day struct{ midnight time.Time } // midnight in UTC

// DayOf returns the day that a clock in the time's location shows.
func DayOf(t time.Time) Day {
	year, month, day := t.Date()
	return Day{time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

// AddDays returns the day that is n days later.
func (d Day) AddDays(n int) Day { return Day{d.midnight.AddDate(0, 0, n)} }

// AddMonths returns the day with the same number in the month that is n months later. If that month has no such day,
// AddMonths returns the month's last day. For example, three months before May 31 is February 28.
func (d Day) AddMonths(n int) Day {
	first := d.Month().midnight.AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1)
	return Day{first.AddDate(0, 0, min(d.midnight.Day(), last.Day())-1)}
}

// Month returns the first day of the day's month.
func (d Day) Month() Day { return d.AddDays(1 - d.midnight.Day()) }

// Week returns the first day of the day's week.
func (d Day) Week(starts WeekStart) Day {
	return d.AddDays(-((int(d.midnight.Weekday()) + 6 - int(starts)) % 7))
}

// WeekStart is the day on which weeks begin, as the number of days after Monday.
type WeekStart int

// WeekStarts returns the words for the days on which weeks may begin, by number.
func WeekStarts() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}

// String returns the word for the day.
func (w WeekStart) String() string { return WeekStarts()[w] }

// Since returns the number of days from another day to this day.
func (d Day) Since(other Day) int {
	return int((d.midnight.Unix() - other.midnight.Unix()) / (24 * 60 * 60))
}

// UTC returns the first instant of the day in UTC.
func (d Day) UTC() time.Time { return d.midnight }

// Start returns the first instant of the day in a location. If the location's clock skips midnight, this instant is
// later than midnight. If the clock skips the whole day, it is the first instant after the skipped day.
func (d Day) Start(location *time.Location) time.Time { return d.at(0, location) }

// at returns the first instant of the day at which the location's clock shows a time. If the clock skips this time, it
// returns the first instant with a later clock time.
func (d Day) at(clock time.Duration, location *time.Location) time.Time {
	const reach = 48 * time.Hour // longer than any offset of a zone, and than any change of an offset
	shown := d.midnight.Add(clock)
	for _, s := range spansOf(location, d.midnight.Add(-reach), d.midnight.Add(reach)) {
		if t := later(shown.Add(-s.offset), s.from); t.Before(s.to) {
			return t.In(location)
		}
	}
	return shown.In(location) // never reached, because one of the spans contains the time
}

// clockOf returns the time that a clock in t's location shows, as the duration since midnight. It is 0 for the first
// instant of a day, even if the clock skips midnight.
func clockOf(t time.Time) time.Duration {
	d := DayOf(t)
	if t.Equal(d.Start(t.Location())) {
		return 0
	}
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second).Sub(d.midnight)
}

// BeginsDay reports whether t is the first instant of a day in its location.
func BeginsDay(t time.Time) bool { return clockOf(t) == 0 }

// OnDay returns the instant of another day at which the clock in t's location shows the same clock time. The first
// instant of a day becomes the first instant of the other day.
func OnDay(t time.Time, other func(Day) Day) time.Time {
	return other(DayOf(t)).at(clockOf(t), t.Location())
}
