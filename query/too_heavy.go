package query

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// size estimates how heavy a query is, before it runs.
type size struct {
	cost   cost          // rows that the query will read
	known  bool          // whether the cost comes from counted rows
	length time.Duration // length of the query's range
	groups int
	exact  bool // whether the query must count visitors or sessions exactly
}

// margin leaves room for the error of the estimate.
const margin = 0.8

// lighter returns advice on how to make a query lighter. `err` is the error that ended the query. `read` is the number
// of rows that it read, and `most` is the limit.
func (s size) lighter(err error, read, most uint64) string {
	ways := []string{"narrow the range of " + days(s.length), "add filters"}
	if fits := s.fits(err, read, most); fits > 0 {
		ways[0] += " to about " + days(fits)
	}
	switch {
	case s.groups > 1:
		ways = append(ways, fmt.Sprintf("group by fewer than %d columns", s.groups))
	case s.groups == 1:
		ways = append(ways, "do not group")
	}
	if s.exact {
		ways = append(ways, "leave out accuracy")
	}
	last, limit := len(ways)-1, ""
	if outOfMemory(err) {
		limit = " for the memory that a query has"
	}
	return tooHeavy + limit + ": " + strings.Join(ways[:last], ", ") + " or " + ways[last]
}

// fits returns the length of a range that the query could have read within the exceeded limit. It estimates the length
// from the number of rows in the query's range. It returns 0 if this number is unknown, or if a shorter range would not
// help.
func (s size) fits(err error, read, most uint64) time.Duration {
	if !s.known || s.cost <= 0 {
		return 0
	}
	can := float64(read) // the number of rows that the query can read in its time
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		switch e.Code {
		case codeTooManyRows:
			can = float64(most)
		case codeMemory: // memory depends more on the number of groups than of rows
			return 0
		}
	}
	part := margin * can / float64(s.cost)
	if part >= margin {
		return 0 // the query read few rows, so their number is not the cause
	}
	return time.Duration(part * float64(s.length)).Truncate(time.Hour)
}

// days writes a length of time in days, hours or minutes.
func days(d time.Duration) string {
	n, unit := int(math.Round(d.Hours()/24)), "day"
	switch {
	case d < time.Hour:
		n, unit = max(1, int(d/time.Minute)), "minute"
	case d < 48*time.Hour:
		n, unit = int(d/time.Hour), "hour"
	}
	if n > 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
