package query

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// size is what makes a query heavy, for the answer to one that is too heavy.
type size struct {
	length time.Duration // of its range
	groups int
	exact  bool // whether it must count visitors or sessions exactly
}

// margin leaves room for what an estimate does not know.
const margin = 0.8

// lighter says what makes a query that was too heavy lighter.
func (q *query) lighter(err error) string {
	ways := []string{"narrow the range of " + days(q.size.length), "add filters"}
	if fits := q.fits(err); fits > 0 {
		ways[0] += " to about " + days(fits)
	}
	switch {
	case q.size.groups > 1:
		ways = append(ways, fmt.Sprintf("group by fewer than %d columns", q.size.groups))
	case q.size.groups == 1:
		ways = append(ways, "do not group")
	}
	if q.size.exact {
		ways = append(ways, "leave out accuracy")
	}
	last := len(ways) - 1
	return tooHeavy + ": " + strings.Join(ways[:last], ", ") + " or " + ways[last]
}

// fits is the part of the query's range that would fit into the limit that ended it,
// by how many rows the range has; 0 if that is not known, or would not help.
func (q *query) fits(err error) time.Duration {
	if !q.known || q.cost <= 0 {
		return 0
	}
	can := float64(q.rowsRead) // in its time
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		switch e.Code {
		case codeTooManyRows:
			can = float64(q.service.config.MaxRowsRead)
		case codeMemory: // depends on the groups more than on the rows
			return 0
		}
	}
	part := margin * can / float64(q.cost)
	if part >= margin {
		return 0 // the rows are not why
	}
	return time.Duration(part * float64(q.size.length)).Truncate(time.Hour)
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
