package query

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// size says how heavy a query is, before it runs.
type size struct {
	cost   cost          // rows that it will read
	known  bool          // whether cost is more than a guess
	length time.Duration // of its range
	groups int
	exact  bool // whether it must count visitors or sessions exactly
}

// margin leaves room for what an estimate does not know.
const margin = 0.8

// lighter tells the caller what makes the query lighter that err ended. It read some rows, of most that it may read.
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
	last := len(ways) - 1
	return tooHeavy + ": " + strings.Join(ways[:last], ", ") + " or " + ways[last]
}

// fits estimates how much of the range stays below the limit that ended the query, by the rows of the range; 0 if
// unknown, or if a shorter range does not help.
func (s size) fits(err error, read, most uint64) time.Duration {
	if !s.known || s.cost <= 0 {
		return 0
	}
	can := float64(read) // in its time
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		switch e.Code {
		case codeTooManyRows:
			can = float64(most)
		case codeMemory: // depends on the groups more than on the rows
			return 0
		}
	}
	part := margin * can / float64(s.cost)
	if part >= margin {
		return 0 // the rows are not why
	}
	return time.Duration(part * float64(s.length)).Truncate(time.Hour)
}

// days writes a length of time as people would ask for it.
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
