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

// CountedRows has what Audit reads and writes outside of the events table's store. Package store implements it.
type CountedRows interface {
	// CountedRows returns the rows that the table should have. deleted changes whenever rows are left out for a
	// deletion that is about to begin.
	CountedRows(ctx context.Context) (rows schema.RowsByMonth, deleted int64, err error)
	// RowsEnds returns, for each partition, the offset up to which rows are counted.
	RowsEnds(ctx context.Context) (map[int]int64, error)
	// NotedDeletions returns the deletions whose rows are left out and may still be stored.
	NotedDeletions(ctx context.Context) (map[string]string, error)
	Missing(ctx context.Context) ([]schema.MissingRows, error)
	NoteMissing(ctx context.Context, missing []schema.MissingRows) error
}

// AllRows counts the rows of the events table; *eventstore.ClickHouse implements it.
type AllRows interface {
	AllMonths(ctx context.Context) (schema.RowsByMonth, error)
	// MonthsFrom counts the rows of months at or after an offset of each log partition. Without offsets, it counts all
	// rows.
	MonthsFrom(ctx context.Context, ends map[int]int64, months []schema.EventMonth) (schema.RowsByMonth, error)
}

const (
	auditLooks = 5                      // the number of times that Audit reads a table that lacks rows
	auditPause = 200 * time.Millisecond // between two looks
)

// Audit compares the ledger with the table, and records the missing rows.
//
// Sinks count rows after they store them, and jobs leave rows out of the count before they delete them. So the ledger
// never has rows that the table does not have yet or no longer has, and a difference means a loss. Rows that are stored
// and not yet counted make the difference smaller. So the largest difference of several comparisons counts.
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

// lookAt compares once, and raises missing to the number of rows that the table lacks now. doubled are the rows that
// the table is known to have twice.
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
			continue // counted rows may be deleted
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

// missingRows describes the rows of a month that are missing. A loss that was known before keeps its times.
func missingRows(month schema.EventMonth, of schema.MonthRows, before []schema.MissingRows) schema.MissingRows {
	// Postgres has microseconds.
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
