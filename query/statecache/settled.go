package statecache

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
)

const (
	// largeShare defines large parts: a large part has at least 1/largeShare of its month's rows.
	largeShare = 32
	// maxPartsAge is the maximum age of a list of parts when it is used to estimate the rows of a query.
	maxPartsAge = time.Minute
)

// partVersion reads a part's version.
const partVersion = "path || ' ' || toString(toUnixTimestamp(modification_time))"

// Parts returns the settled parts, from a list that is at most ListParts old. While one query asks the engine, other
// queries use the previous list.
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
	if c.listed.Equal(listed) { // otherwise a part was replaced meanwhile, and the list is outdated
		c.parts = parts
	}
	return parts, nil
}

// KnownParts returns the settled parts without asking the engine; `ok` is false if the list is old.
func (c *Cache) KnownParts() (parts Parts, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts, time.Since(c.listed) < maxPartsAge && !c.parts.Empty()
}

func (c *Cache) listParts(ctx context.Context) (parts Parts, err error) {
	var newest, month string
	var p Part
	var old bool
	var rows uint64
	var last []agedPart
	err = c.Ask(ctx, `SELECT partition_id, name, `+partVersion+`, rows, toBool(modification_time <= now() - {age:Int64})
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND rows > 0
		ORDER BY partition_id, name`,
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
	return Parts{}, nil // the events table is empty, or has no partitions by month
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

// largeParts returns the large parts of the current month, if all of them are old. A young large part shows that many
// events are arriving, so the engine will soon merge the other parts. If the large parts have less than half of the
// month's rows, largeParts returns no parts.
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
