package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
)

// surplus returns the months for which the events table has more rows than the ledger counts, with the number of
// surplus rows.
//
// Sinks store rows before they count them. Rows that are not counted yet have offsets at or after the offset that
// RowsEnds returns for their partition, and the result excludes such rows. The ledger has already subtracted the rows
// of a deletion that is running, although they may still be stored. So during a deletion, the result is empty.
func surplus(ctx context.Context, ledger CountedRows, table AllRows) (map[schema.EventMonth]int64, error) {
	most := map[schema.EventMonth]int64{}
	for look := range auditLooks {
		if look > 0 {
			retry.Sleep(ctx, auditPause)
		}
		found, err := lookForSurplus(ctx, ledger, table)
		if err != nil {
			return nil, fmt.Errorf("cannot compare the events table with the counted rows: %w", err)
		}
		if len(found) == 0 {
			break
		}
		for month, rows := range found {
			most[month] = max(most[month], rows)
		}
	}
	maps.DeleteFunc(most, func(_ schema.EventMonth, rows int64) bool { return rows <= 0 })
	return most, nil
}

// lookForSurplus returns the months for which the events table has more rows than the ledger, excluding rows that are
// not counted yet. A number in the result is never larger than the true surplus. Rows that arrive between the reads
// make the number smaller, or negative.
func lookForSurplus(ctx context.Context, ledger CountedRows, table AllRows) (map[schema.EventMonth]int64, error) {
	// Read the offsets before the counts. So the counts include at least the rows before these offsets.
	ends, err := ledger.RowsEnds(ctx)
	if err != nil {
		return nil, err
	}
	counted, deleted, err := ledger.CountedRows(ctx)
	if err != nil {
		return nil, err
	}
	// A deletion that is not in this list has already deleted its rows, or begins later. If it begins later, it changes
	// the value of `deleted`.
	noted, err := ledger.NotedDeletions(ctx)
	if err != nil || len(noted) > 0 {
		return nil, err
	}
	stored, err := table.AllMonths(ctx)
	if err != nil {
		return nil, err
	}
	found := map[schema.EventMonth]int64{}
	for month, of := range stored {
		if more := of.Rows - counted[month].Rows; more > 0 {
			found[month] = more
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	uncounted, err := table.MonthsFrom(ctx, ends, slices.Sorted(maps.Keys(found)))
	if err != nil {
		return nil, err
	}
	if _, now, err := ledger.CountedRows(ctx); err != nil || now != deleted {
		return nil, err
	}
	for month, of := range uncounted {
		if _, ok := found[month]; ok {
			found[month] -= of.Rows
		}
	}
	return found, nil
}

// suspected returns the months that may have doubled rows, with the surplus of each.
func (m *Mender) suspected(ctx context.Context) (map[schema.EventMonth]int64, error) {
	more, err := surplus(ctx, m.cfg.Ledger, m.cfg.Table)
	if err != nil || !m.cfg.Everywhere {
		return more, err
	}
	all, err := m.cfg.Table.AllMonths(ctx)
	for month := range all {
		more[month] += 0 // the month may have doubled rows whose surplus is hidden by missing rows
	}
	return more, err
}

// doubled looks for rows that the events table has twice in the suspected months. If other parts have all rows of a
// part, it sets this part aside. It records the doubled rows that remain. If the look fails in a month, doubled still
// looks in the other months. The context `search` limits the look, and ctx the use of the ledger.
func (m *Mender) doubled(ctx, search context.Context) error {
	before, err := m.cfg.Ledger.Missing(ctx)
	if err != nil {
		return err
	}
	more, err := m.suspected(search)
	if err != nil {
		return err
	}
	for _, b := range before {
		if _, found := more[b.Month]; !found && b.Doubled > 0 {
			more[b.Month] = 0
		}
	}
	list := slices.Clone(before)
	var failed error
	for month, rows := range more { // the order is random, so one slow month does not always precede the same months
		if rows > 0 && m.unexplained[month] == rows {
			continue
		}
		left, known, err := m.setCopiesAside(search, month)
		if known {
			list = withDoubled(list, month, left)
		}
		if err == nil {
			delete(m.unexplained, month)
			if rows > 0 && left.Rows == 0 {
				err = m.explain(search, month)
			}
		}
		if failed = errors.Join(failed, err); search.Err() != nil {
			break
		}
	}
	if slices.Equal(list, before) {
		return failed
	}
	return errors.Join(failed, m.cfg.Ledger.NoteMissing(ctx, list))
}

// Doubles returns the number of surplus rows in the suspected months. Of several equal rows, the first is not surplus.
// If the look fails in some months, Doubles returns an error and the number of the other months. Doubles changes
// nothing.
func (m *Mender) Doubles(ctx context.Context) (rows int64, err error) {
	more, err := m.suspected(ctx)
	for month := range more {
		d, failed := m.cfg.Table.Doubled(ctx, month)
		rows, err = rows+d.Rows, errors.Join(err, failed)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDoubledUnknown, err)
	}
	return rows, err
}

// MergeDoubles removes the doubled rows that the ledger has recorded, so that one of several equal rows remains. It
// merges the whole months that have such rows, and then compares the events table with the ledger. An error of Lock
// means that another process is repairing, or that visitors are being erased.
func (m *Mender) MergeDoubles(ctx context.Context) (list []schema.MissingRows, err error) {
	_, release, err := m.cfg.Lock(ctx, eventstore.RepairLock, AuditLock)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if list, err = m.cfg.Ledger.Missing(ctx); err != nil {
		return nil, err
	}
	var failed error
	for _, of := range list {
		if of.Doubled > 0 {
			failed = errors.Join(failed, m.cfg.Table.Merge(ctx, of.Month))
		}
	}
	list, unknown, err := m.compare(ctx)
	return list, lookError(unknown, failed, err)
}

// mostCopies is the largest number of parts that one comparison sets aside for a month.
const mostCopies = 1000

// setCopiesAside sets parts aside if other parts have all of their rows. It returns the doubled rows that remain.
// `known` is false if it found no number. After an error, the number may be known: each row of a part that was set
// aside was doubled.
func (m *Mender) setCopiesAside(
	ctx context.Context, month schema.EventMonth,
) (left eventstore.Doubled, known bool, err error) {
	for range mostCopies {
		d, err := m.cfg.Table.Doubled(ctx, month)
		if err != nil {
			return left, known, err
		}
		if left, known = d, true; d.Rows == 0 || !m.cfg.Table.Sequential() {
			return left, true, nil
		}
		part, found, err := m.cfg.Table.Copy(ctx, d)
		if err != nil || !found {
			return left, true, err
		}
		done, err := m.cfg.Table.SetAside(ctx, part)
		if err != nil {
			return left, true, err
		}
		if !done {
			continue // a merge has replaced the part
		}
		left.Rows -= int64(part.Rows)
		m.cfg.Logger.Error("A part of the events table is set aside: other parts have all of its rows too. Its files "+
			"stay in the folder `detached` of the table.", "part", part.Name, "rows", part.Rows, "bytes", part.Bytes)
	}
	return left, true, nil
}

// explain records and logs that a month has surplus rows which are not doubled rows. So the next comparison does not
// search this month for doubled rows again.
func (m *Mender) explain(ctx context.Context, month schema.EventMonth) error {
	more, err := surplus(ctx, m.cfg.Ledger, m.cfg.Table)
	if err != nil || more[month] == 0 {
		return err
	}
	m.unexplained[month] = more[month]
	m.cfg.Logger.Warn("The events table has more rows than were counted, and none is there twice. "+
		"`octavo reconcile` compares them with the log.", "month", month, "rows", more[month])
	return nil
}

// withDoubled returns a list of missing rows in which the entry of a month has the number of doubled rows from d.
func withDoubled(
	list []schema.MissingRows, month schema.EventMonth, d eventstore.Doubled,
) []schema.MissingRows {
	at, found := slices.BinarySearchFunc(list, month, func(m schema.MissingRows, month schema.EventMonth) int {
		return cmp.Compare(m.Month, month)
	})
	switch {
	case found && d.Rows == 0 && list[at].Rows == 0:
		return slices.Delete(list, at, at+1)
	case found && d.Rows == 0:
		list[at].Doubled = 0
		return list
	case d.Rows == 0:
		return list
	case !found:
		list = slices.Insert(list, at, schema.MissingRows{Month: month, First: d.First, Last: d.Last})
	}
	of := &list[at]
	of.Doubled = d.Rows
	of.First, of.Last = earlier(of.First, d.First), later(of.Last, d.Last)
	return list
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
