package schema

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// EventMonth is the month in which an event arrived, such as 202611. The events table has one partition for each month.
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

// MonthRows describes the rows of the events table whose events arrived in one month.
type MonthRows struct {
	Rows int64
	// First is the time of the earliest event in these rows, in milliseconds since 1970. It is NoEventTime if there are
	// no rows.
	First int64
}

// NoEventTime is the value of MonthRows.First if there are no events.
const NoEventTime = math.MaxInt64

// RowsByMonth describes rows of the events table by the month in which their events arrived.
type RowsByMonth map[EventMonth]MonthRows

// Add adds rows to a month.
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

// RowsEnd says up to which message of a log partition the rows of the events table are counted.
type RowsEnd struct {
	Next int64 // offset of the first message that is not counted
	// Tail is the checksum of the message before Next. It shows whether the log is still the same, or belongs to a
	// topic that was created again. HasTail is false if the checksum is unknown.
	Tail    uint64
	HasTail bool
	// Mixed is true if the table also has rows of an earlier log with the offset Next or a larger offset.
	Mixed bool
}

// MissingRows describes the rows of a month that the events table lacks, and the rows that the table has twice.
type MissingRows struct {
	Month EventMonth
	// Site is the site of the rows. It is "" if the site is not known.
	Site string
	Rows int64
	// Lost is the number of missing rows that a repair has not found in the log. Accepted is the number of missing rows
	// whose loss an operator has accepted.
	Lost, Accepted int64
	// Doubled is the number of additional copies of rows. Rows does not include these copies.
	Doubled int64
	// First and Last are the earliest and the latest time that the events of the rows can have.
	First, Last time.Time
}

// MissingDay is a day for which rows of a site are missing. Month is the month in which these rows arrived.
type MissingDay struct {
	Month EventMonth
	Site  string
	Day   time.Time // the beginning of the day in UTC
}

// MissingTotal returns the number of all missing rows in a list.
func MissingTotal(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += m.Rows
	}
	return rows
}

// MissingOpen returns the number of missing rows whose loss no operator has accepted.
func MissingOpen(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += max(0, m.Rows-m.Accepted)
	}
	return rows
}

// MissingLost returns the number of missing rows that a repair has not found in the log.
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

// SplitMissing splits the missing rows of each month by site and day, where the site and the day are known. For the
// remaining missing rows of a month, the site is unknown.
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
		// The lost and the accepted rows are assigned to the first entries of the month.
		for i := range list[first:] {
			e := &list[first+i]
			e.Lost, e.Accepted = min(e.Rows, m.Lost), min(e.Rows, m.Accepted)
			m.Lost, m.Accepted = m.Lost-e.Lost, m.Accepted-e.Accepted
		}
	}
	return list
}
