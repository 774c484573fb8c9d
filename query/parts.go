package query

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
)

const (
	// settleParts is how old the parts must be of which states are kept: others were made by
	// a deletion or a merge, which the next one may follow.
	settleParts = 5 * time.Minute
	// largeShare tells large parts: they have at least the month's rows divided by it.
	largeShare = 32
)

// settledParts are parts of the events table that will hardly be replaced: some time old,
// and of months that are over or large. A month has what arrived in it.
type settledParts struct {
	over   []part    // of months that are over
	newest []part    // of the newest one
	month  time.Time // when that begins
}

// part is a part of the events table.
type part struct {
	name    string
	version string // where it is and since when: names begin anew in an emptied table, or another one
}

func (p part) compare(other part) int { return strings.Compare(p.name, other.name) }

func (s settledParts) none() bool { return len(s.over)+len(s.newest) == 0 }

// end is up to when most events are in settled parts.
func (s settledParts) end() time.Time {
	if len(s.newest) > 0 {
		return insights.DayOf(s.month).AddMonths(1).UTC()
	}
	return s.month
}

// of are the parts of which states of a span are kept: not those of the newest month, if what
// happened before it hardly is in them.
func (s settledParts) of(sp span) []part {
	if sp.to.After(s.month) {
		return slices.Concat(s.over, s.newest)
	}
	return s.over
}

// partVersion reads a part's version.
const partVersion = "path || ' ' || toString(toUnixTimestamp(modification_time))"

// settled lists the settled parts, as they were a moment ago. While one query asks for
// them, others go on with what was known.
func (s *stateStore) settled(ctx context.Context) (settled settledParts, err error) {
	s.mu.Lock()
	settled, known := s.parts, time.Since(s.listed) < s.relist
	if !known {
		s.listed = time.Now()
	}
	listed := s.listed
	s.mu.Unlock()
	if known {
		return settled, nil
	}
	if settled, err = s.list(ctx); err != nil {
		return settled, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed.Equal(listed) { // else the list is wanted anew
		s.parts = settled
	}
	return settled, nil
}

// list asks for the settled parts.
func (s *stateStore) list(ctx context.Context) (settled settledParts, err error) {
	var newest, month string
	var p part
	var old bool
	var rows uint64
	var last []aged
	err = s.ask(ctx, `SELECT partition_id, name, `+partVersion+`, rows, toBool(modification_time <= now() - {age:Int64})
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND rows > 0 ORDER BY partition_id, name`,
		[]any{clickhouse.Named("table", insights.Table), clickhouse.Named("age", int(s.settle/time.Second))},
		[]any{&month, &p.name, &p.version, &rows, &old}, func() {
			if month != newest {
				settled.over, last, newest = append(settled.over, oldOf(last)...), nil, month
			}
			last = append(last, aged{p, rows, old})
		})
	if err != nil {
		return settledParts{}, err
	}
	if settled.month, err = time.Parse("200601", newest); err == nil {
		settled.newest = largeOf(last)
		return settled, nil
	}
	return settledParts{}, nil // the table is empty, or not partitioned by months
}

// aged is a part with its rows, and whether it is old enough to be settled.
type aged struct {
	part
	rows uint64
	old  bool
}

func oldOf(parts []aged) (list []part) {
	for _, p := range parts {
		if p.old {
			list = append(list, p.part)
		}
	}
	return list
}

// largeOf are the large parts of a month that is not over, if all of them are old. A young
// one shows that so many events come that the others are about to be merged, too. Without
// most of the rows they are of no use.
func largeOf(parts []aged) (list []part) {
	var all, large uint64
	for _, p := range parts {
		all += p.rows
	}
	for _, p := range parts {
		if p.rows*largeShare < all {
			continue
		}
		if !p.old {
			return nil
		}
		list, large = append(list, p.part), large+p.rows
	}
	if large < all/2 {
		return nil
	}
	return list
}
