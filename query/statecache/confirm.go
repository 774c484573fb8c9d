package statecache

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Confirm reports whether an answer from the entries' states is right: their parts are still in the events table, and
// all states exist. Dropped parts and states never reappear, so both existed when the statement ran. `extra` is the
// number of rows that the statement read in addition to the expected rows.
//
// Confirm caches the states that were built. If a built entry has no states, it may have no events, or its states were
// dropped. Confirm postpones such entries, and reports that the answer is not right.
func (c *Cache) Confirm(ctx context.Context, table string, entries []*Entry, extra uint64) (right bool, err error) {
	rows, parts := rowsOf(entries), partsOf(entries)
	there, err := c.present(ctx, table, rows, parts)
	if err != nil {
		return false, err
	}
	var built, empty, gone []*Entry
	replaced := false
	for _, e := range entries {
		old := slices.ContainsFunc(e.Parts, func(p Part) bool { return !there[p.Version] })
		replaced = replaced || old
		switch building := e.Status == Build; {
		case building && old: // no later query has this entry's key
		case building && there[e.row]:
			built = append(built, e)
		case building:
			empty = append(empty, e)
		case old || !there[e.row]:
			gone = append(gone, e)
		}
	}
	c.keep(built)
	c.Postpone(empty)
	c.Forget(gone)
	if replaced {
		c.relist()
	}
	right = len(there) == len(rows)+len(parts)
	if right {
		c.note(entries, extra/uint64(max(1, len(entries))))
	}
	return right, nil
}

// present returns the versions of parts and the rows of states that the engine has. Versions are paths, so no version
// equals the name of a row.
func (c *Cache) present(
	ctx context.Context, table string, rows []string, parts []Part,
) (there map[string]bool, err error) {
	versions := make([]string, len(parts))
	for i, p := range parts {
		versions[i] = p.Version
	}
	there = map[string]bool{}
	var text string
	err = c.Ask(ctx, `SELECT if(table = {table:String}, `+partVersion+`, partition) AS there FROM system.parts
		WHERE database = currentDatabase() AND table IN ({table:String}, {states:String}) AND active AND rows > 0
		AND (table = {table:String} AND there IN {parts:Array(String)}
			OR table = {states:String} AND there IN {rows:Array(String)})`,
		[]any{
			clickhouse.Named("table", insights.Table), clickhouse.Named("parts", versions),
			clickhouse.Named("states", table), clickhouse.Named("rows", rows),
		}, []any{&text}, func() { there[text] = true })
	return there, err
}

// partsOf returns the parts of all entries.
func partsOf(entries []*Entry) (list []Part) {
	for _, e := range entries {
		list = append(list, e.Parts...)
	}
	slices.SortFunc(list, Part.compare)
	return slices.Compact(list)
}

// keep records that the states of entries are cached.
func (c *Cache) keep(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.entries.Add(e.Key, &known{row: e.row, until: time.Now().Add(maxAge)})
	}
}

// note records how many extra rows are read with each of the entries.
func (c *Cache) note(entries []*Entry, extra uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if have, ok := c.entries.Peek(e.Key); ok {
			have.extra = extra
		}
	}
}

// relist makes the next query read the list of parts again.
func (c *Cache) relist() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = time.Time{}
}
