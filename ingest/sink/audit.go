package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
)

// AuditLock is the name of the lock for comparing the ledger with the events table. Only one node at a time holds it.
const AuditLock = "comparison of counted rows"

// CountedRows is the interface of the ledger of row counts. The ledger has the numbers of rows that the events table
// should have. Audit compares them with the table. Package store implements it.
type CountedRows interface {
	// CountedRows returns the number of rows that the events table should have, by month. `deleted` changes whenever
	// the ledger subtracts the rows of a deletion that is about to begin.
	CountedRows(ctx context.Context) (rows schema.RowsByMonth, deleted int64, err error)
	// RowsEnds returns, for each partition, the offset before which rows are counted.
	RowsEnds(ctx context.Context) (map[int]int64, error)
	// NotedDeletions returns the deletions whose rows the ledger has subtracted, although the rows may still be in the
	// events table.
	NotedDeletions(ctx context.Context) (map[string]string, error)
	Missing(ctx context.Context) ([]schema.MissingRows, error)
	NoteMissing(ctx context.Context, missing []schema.MissingRows) error
}

// AllRows counts the rows of the events table; *eventstore.ClickHouse implements it.
type AllRows interface {
	AllMonths(ctx context.Context) (schema.RowsByMonth, error)
	// MonthsFrom returns the number of rows in each of the given months. `ends` has an offset for each log partition.
	// MonthsFrom counts only rows at or after the offset of their partition. If `ends` is empty, it counts all rows.
	MonthsFrom(ctx context.Context, ends map[int]int64, months []schema.EventMonth) (schema.RowsByMonth, error)
}

const (
	auditLooks = 5                      // largest number of times that Audit compares if the events table lacks rows
	auditPause = 200 * time.Millisecond // pause between two comparisons
)

// Audit compares the ledger with the events table, and records the missing rows.
//
// Sinks add rows to the ledger after they store them, and jobs subtract rows from the ledger before they delete them.
// So the ledger never counts rows that the table does not have yet, or that a job has deleted. If the ledger has more
// rows than the table, rows are lost. Rows that are stored but not yet counted make this difference smaller. So Audit
// uses the largest difference of several comparisons.
func Audit(ctx context.Context, ledger CountedRows, table AllRows) ([]schema.MissingRows, error) {
	before, err := ledger.Missing(ctx)
	if err != nil {
		return nil, err
	}
	doubled := map[schema.EventMonth]int64{}
	for _, m := range before {
		doubled[m.Month] = m.Doubled
	}
	missing := schema.RowsByMonth{}
	for look := 0; look == 0 || look < auditLooks && len(missing) > 0; look++ {
		if look > 0 {
			retry.Sleep(ctx, auditPause)
		}
		if err := lookAt(ctx, ledger, table, doubled, missing); err != nil {
			return nil, fmt.Errorf("cannot compare the events table with the counted rows: %w", err)
		}
	}
	for month, rows := range doubled {
		if _, found := missing[month]; !found && rows > 0 {
			missing[month] = schema.MonthRows{First: schema.NoEventTime}
		}
	}
	list := make([]schema.MissingRows, 0, len(missing))
	for month, of := range missing {
		list = append(list, missingRows(month, of, before))
	}
	slices.SortFunc(list, func(a, b schema.MissingRows) int { return cmp.Compare(a.Month, b.Month) })
	if slices.Equal(list, before) {
		return list, nil
	}
	return list, ledger.NoteMissing(ctx, list)
}

// errDeleting means that a deletion began during a comparison.
var errDeleting = errors.New("rows are being deleted: try again")

// lookAt compares the ledger with the events table once. If the table lacks more rows of a month than `missing` has, it
// raises the number in `missing`. `doubled` has, by month, the number of surplus rows that the table is known to have.
func lookAt(
	ctx context.Context, ledger CountedRows, table AllRows, doubled map[schema.EventMonth]int64,
	missing schema.RowsByMonth,
) error {
	for range auditLooks {
		counted, deleted, err := ledger.CountedRows(ctx)
		if err != nil {
			return err
		}
		stored, err := table.AllMonths(ctx)
		if err != nil {
			return err
		}
		if _, now, err := ledger.CountedRows(ctx); err != nil || now != deleted {
			if err != nil {
				return err
			}
			continue // counted may include rows that are being deleted
		}
		for month, of := range counted {
			if lacks := of.Rows - stored[month].Rows + doubled[month]; lacks > missing[month].Rows {
				missing[month] = schema.MonthRows{Rows: lacks, First: of.First}
			}
		}
		return nil
	}
	return errDeleting
}

// missingRows describes the rows of a month that are missing. If the same loss was recorded before, its recorded times
// stay.
func missingRows(month schema.EventMonth, of schema.MonthRows, before []schema.MissingRows) schema.MissingRows {
	// Postgres stores times with microseconds, so a more precise time would differ from the stored time.
	last := time.Now().UTC().Truncate(time.Millisecond)
	if end := month.End(); end.Before(last) {
		last = end
	}
	first := last
	if of.First < last.UnixMilli() {
		first = time.UnixMilli(of.First).UTC()
	}
	m := schema.MissingRows{Month: month, Rows: of.Rows, First: first, Last: last}
	for _, had := range before {
		if had.Month != month {
			continue
		}
		m.Lost, m.Accepted, m.Doubled = min(had.Lost, m.Rows), min(had.Accepted, m.Rows), had.Doubled
		if had.Rows >= m.Rows {
			m.First, m.Last = had.First, had.Last
		}
		if had.Doubled > 0 {
			m.First, m.Last = earlier(m.First, had.First), later(m.Last, had.Last)
		}
	}
	return m
}
