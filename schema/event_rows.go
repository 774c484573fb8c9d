package schema

import (
	"math"
	"time"
)

// EventMonth is a month in which events arrived, such as 202611. The events table has a partition for each.
type EventMonth int32

// EventMonthOf returns the month of a moment, in UTC.
func EventMonthOf(at time.Time) EventMonth {
	year, month, _ := at.UTC().Date()
	return EventMonth(year*100 + int(month))
}

// End returns the first moment after the month.
func (m EventMonth) End() time.Time {
	return time.Date(int(m/100), time.Month(m%100)+1, 1, 0, 0, 0, 0, time.UTC)
}

// MonthRows are rows of the events table that arrived in one month.
type MonthRows struct {
	Rows int64
	// First is the earliest time of their events, in milliseconds since 1970, or NoEventTime.
	First int64
}

// NoEventTime is MonthRows.First without events.
const NoEventTime = math.MaxInt64

// RowsByMonth counts rows of the events table by the month in which they arrived.
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

// RowsEnd says up to where the rows of a log partition are counted.
type RowsEnd struct {
	Next int64 // offset of the first message that is not counted
	// Tail is the sum of the message before Next. It distinguishes the log from the log of a recreated topic. HasTail
	// is false if the sum is unknown.
	Tail    uint64
	HasTail bool
	// Mixed means that the table also has rows of an earlier log, at offsets from Next on.
	Mixed bool
}

// MissingRows are rows that the events table should have but lacks.
type MissingRows struct {
	Month EventMonth
	Rows  int64
	// First and Last limit the times of their events.
	First, Last time.Time
}

// MissingTotal is the sum of a list.
func MissingTotal(list []MissingRows) (rows int64) {
	for _, m := range list {
		rows += m.Rows
	}
	return rows
}
