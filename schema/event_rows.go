package schema

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// EventMonth is a month in which events arrived, such as 202611. The events table has one partition for each month.
type EventMonth int32

// EventMonthOf returns the month of a time in UTC.
func EventMonthOf(at time.Time) EventMonth {
	year, month, _ := at.UTC().Date()
	return EventMonth(year*100 + int(month))
}

// Begin returns the first instant of the month.
func (m EventMonth) Begin() time.Time {
	return time.Date(int(m/100), time.Month(m%100), 1, 0, 0, 0, 0, time.UTC)
}

// End returns the first instant after the month.
func (m EventMonth) End() time.Time {
	return time.Date(int(m/100), time.Month(m%100)+1, 1, 0, 0, 0, 0, time.UTC)
}

// MonthRows describes the rows of the events table that arrived in one month.
type MonthRows struct {
	Rows int64
	// First is the earliest time of the rows' events, in milliseconds since 1970. It is NoEventTime if there are no
	// rows.
	First int64
}

// NoEventTime is the value of MonthRows.First if there are no events.
const NoEventTime = math.MaxInt64

// RowsByMonth counts rows of the events table by the month of their arrival.
type RowsByMonth map[EventMonth]MonthRows

// Add adds rows of a month.
func (r RowsByMonth) Add(month EventMonth, rows MonthRows) {
	if rows.Rows == 0 {
		return
	}
	if had, found := r[month]; found {
		rows = MonthRows{had.Rows + rows.Rows, min(had.First, rows.First)}
	}
	r[month] = rows
}

// Total returns the number of rows of all months.
func (r RowsByMonth) Total() (rows int64) {
	for _, of := range r {
		rows += of.Rows
	}
	return rows
}

// RowsEnd says up to which message of a log partition the rows are counted.
type RowsEnd struct {
	Next int64 // offset of the first message that is not counted
	// Tail is the checksum of the message before Next. It distinguishes the log from the log of a recreated topic.
	// HasTail is false if the checksum is unknown.
	Tail    uint64
	HasTail bool
	// Mixed is true if the table also has rows of an earlier log whose offsets are Next or larger.
	Mixed bool
}

// MissingRows has the counts of rows that are missing in the events table, and of rows that it has twice.
type MissingRows struct {
	Month EventMonth
	// Site is the site of the rows, or "" if they may be of any site.
	Site string
	Rows int64
	// Lost is the number of missing rows that a repair did not find in the log. Accepted is the number of missing rows
	// whose loss an operator has accepted.
	Lost, Accepted int64
	// Doubled is the number of additional copies of rows. Rows does not include these copies.
	Doubled int64
	// The events of the rows have times from First to Last.
	First, Last time.Time
}

// MissingDay is a day of a site with missing rows, and the month in which these rows arrived.
type MissingDay struct {
	Month EventMonth
	Site  string
	Day   time.Time // the beginning of the day in UTC
}

// MissingTotal returns the number of missing rows in a list.
func MissingTotal(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += m.Rows
	}
	return rows
}

// MissingOpen returns the number of missing rows whose loss nobody has accepted.
func MissingOpen(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += max(0, m.Rows-m.Accepted)
	}
	return rows
}

// MissingLost returns the number of missing rows that are not in the log.
func MissingLost(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += min(m.Rows, m.Lost)
	}
	return rows
}

// DoubledTotal returns the number of additional copies of rows.
func DoubledTotal(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += m.Doubled
	}
	return rows
}

// SplitMissing splits the missing rows of each month by site and day, as far as these are known. The other missing rows
// of a month may be of any site.
func SplitMissing(months []MissingRows, days map[MissingDay]int64) (list []MissingRows) {
	for _, m := range months {
		first := len(list)
		for day, rows := range days {
			if day.Month == m.Month {
				m.Rows -= rows
				list = append(list, MissingRows{
					Month: m.Month, Site: day.Site, Rows: rows, First: day.Day, Last: day.Day.Add(24 * time.Hour),
				})
			}
		}
		slices.SortFunc(list[first:], func(a, b MissingRows) int {
			return cmp.Or(cmp.Compare(a.Site, b.Site), a.First.Compare(b.First))
		})
		if m.Rows > 0 || m.Doubled > 0 {
			rest := m
			rest.Lost, rest.Accepted = 0, 0
			list = append(list, rest)
		}
		// Assign the lost and the accepted rows to the first entries of the month.
		for i := range list[first:] {
			e := &list[first+i]
			e.Lost, e.Accepted = min(e.Rows, m.Lost), min(e.Rows, m.Accepted)
			m.Lost, m.Accepted = m.Lost-e.Lost, m.Accepted-e.Accepted
		}
	}
	return list
}
