package statecache

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

const (
	// minPartAge is how old settled parts are. A deletion or a merge made a younger part, and another may follow.
	minPartAge = 5 * time.Minute
	// largeShare tells large parts: they have at least the month's rows divided by it.
	largeShare = 32
	// maxPartsAge is how old the list of parts may be to estimate the rows of a query.
	maxPartsAge = time.Minute
)

// Parts are the settled parts of the events table: of months that are over, and the large ones of the newest month.
// A month has the events that arrived in it.
type Parts struct {
	Closed []Part    // of months that are over
	Newest []Part    // of the newest month
	Month  time.Time // the begin of the newest month
}

// Part is a part of the events table.
type Part struct {
	Name    string
	Version string // path and time: an emptied table, or another one, has the same names again
}

func (p Part) compare(other Part) int { return strings.Compare(p.Name, other.Name) }

// None reports whether there are no settled parts.
func (p Parts) None() bool { return len(p.Closed)+len(p.Newest) == 0 }

// end is the time up to which most events are in settled parts.
func (p Parts) end() time.Time {
	if len(p.Newest) > 0 {
		return insights.DayOf(p.Month).AddMonths(1).UTC()
	}
	return p.Month
}

// Of returns the parts from which the states of a span are built. The newest month's parts hardly have events of
// earlier spans.
func (p Parts) Of(s Span) []Part {
	if s.To.After(p.Month) {
		return slices.Concat(p.Closed, p.Newest)
	}
	return p.Closed
}

// InParts is the condition "the event is in one of the parts".
func InParts(parts []Part) sqltree.Expr {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Name
	}
	return isOneOf("_part", names)
}

func isOneOf(column string, texts []string) sqltree.Expr {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return sqltree.Bin(sqltree.In, sqltree.Col(column), sqltree.Param(sqltree.ArrayOf(sqltree.T("String")), list))
}

// partVersion reads a part's version.
const partVersion = "path || ' ' || toString(toUnixTimestamp(modification_time))"

// Parts lists the settled parts, as they were a moment ago. While one query asks the engine, other queries use the
// former list.
func (c *Cache) Parts(ctx context.Context) (parts Parts, err error) {
	c.mu.Lock()
	parts, known := c.parts, time.Since(c.listed) < c.ListParts
	if !known {
		c.listed = time.Now()
	}
	listed := c.listed
	c.mu.Unlock()
	if known {
		return parts, nil
	}
	if parts, err = c.listParts(ctx); err != nil {
		return parts, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed.Equal(listed) { // otherwise a part was replaced meanwhile
		c.parts = parts
	}
	return parts, nil
}

// KnownParts returns the settled parts without asking the engine; ok is false if the list is old.
func (c *Cache) KnownParts() (parts Parts, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts, time.Since(c.listed) < maxPartsAge && !c.parts.None()
}

func (c *Cache) listParts(ctx context.Context) (parts Parts, err error) {
	var newest, month string
	var p Part
	var old bool
	var rows uint64
	var last []agedPart
	err = c.Ask(ctx, `SELECT partition_id, name, `+partVersion+`, rows, toBool(modification_time <= now() - {age:Int64})
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND rows > 0 ORDER BY partition_id, name`,
		[]any{clickhouse.Named("table", insights.Table), clickhouse.Named("age", int(c.MinPartAge/time.Second))},
		[]any{&month, &p.Name, &p.Version, &rows, &old}, func() {
			if month != newest {
				parts.Closed, last, newest = append(parts.Closed, oldParts(last)...), nil, month
			}
			last = append(last, agedPart{p, rows, old})
		})
	if err != nil {
		return Parts{}, err
	}
	if parts.Month, err = time.Parse("200601", newest); err == nil {
		parts.Newest = largeParts(last)
		return parts, nil
	}
	return Parts{}, nil // the table is empty, or has no partitions by month
}

// agedPart is a part with its rows, and whether it is old enough to be settled.
type agedPart struct {
	Part
	rows uint64
	old  bool
}

func oldParts(parts []agedPart) (list []Part) {
	for _, p := range parts {
		if p.old {
			list = append(list, p.Part)
		}
	}
	return list
}

// largeParts returns the large parts of a month that is not over, if all of them are old. A young large part shows
// that so many events come that the engine will merge the others soon. Parts without most of the rows are of no use.
func largeParts(parts []agedPart) (list []Part) {
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
		list, large = append(list, p.Part), large+p.rows
	}
	if large < all/2 {
		return nil
	}
	return list
}
