package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// note subtracts the rows that a deletion will delete from the counts of rows in the events table. The deletion runs
// afterwards.
func (j *Job) note(ctx context.Context, name, where string, rows schema.RowsByMonth) error {
	if j.cfg.Rows == nil {
		return nil
	}
	return j.cfg.Rows.NoteDeletion(ctx, name, where, rows)
}

// ended records that a deletion has ended, and that its rows no longer exist.
func (j *Job) ended(ctx context.Context, name string) error {
	if j.cfg.Rows == nil {
		return nil
	}
	return j.cfg.Rows.EndDeletion(ctx, name)
}

// whereCounted restricts the condition `where` to rows of the events table that sinks have counted. It returns the new
// condition, and the number of rows that it selects, by month. Sinks insert no further rows at the counted offsets, so
// the deletion deletes exactly the rows of this result. A sink counts rows shortly after it inserts them. So
// whereCounted waits up to Patience until all rows that `where` selects are counted. The next retention, a day later,
// deletes the rows that are still not counted by then.
func (j *Job) whereCounted(ctx context.Context, where string) (string, schema.RowsByMonth, error) {
	for began := time.Now(); ; j.wait(ctx) {
		counted, err := j.beforeCounted(ctx)
		if err != nil {
			return "", nil, err
		}
		rows, err := j.cfg.Table.MonthsHaving(ctx, where+counted)
		if err != nil || counted == "" {
			return where, rows, err
		}
		all, err := j.cfg.Table.MonthsHaving(ctx, where)
		if err != nil {
			return "", nil, err
		}
		left := all.Total() - rows.Total()
		if left > 0 && time.Since(began) < j.cfg.Patience {
			if err := j.cfg.step("counting"); err != nil {
				return "", nil, err
			}
			continue
		}
		if left > 0 {
			j.cfg.Logger.Warn("Some events past their site's retention are not counted yet. The next day deletes them.",
				"rows", left)
		}
		return where + counted, rows, nil
	}
}

// beforeCounted returns a condition that selects the rows of the events table that sinks have counted. If there are no
// counts, the condition is empty and selects all rows.
func (j *Job) beforeCounted(ctx context.Context) (string, error) {
	if j.cfg.Rows == nil {
		return "", nil
	}
	ends, err := j.cfg.Rows.RowsEnds(ctx)
	if err != nil || len(ends) == 0 {
		return "", err
	}
	var partitions, offsets []string
	for _, partition := range slices.Sorted(maps.Keys(ends)) {
		partitions = append(partitions, fmt.Sprint(partition))
		offsets = append(offsets, fmt.Sprint(ends[partition]))
	}
	return fmt.Sprintf(" AND %s < transform(%s, [%s], [%s], 18446744073709551615)", insights.ColumnOffset,
		insights.ColumnPartition, strings.Join(partitions, ", "), strings.Join(offsets, ", ")), nil
}

// finishDeletions finishes the deletions that a killed process began. The rows of these deletions were already removed
// from the count.
func (j *Job) finishDeletions(ctx context.Context, exclude Exclude) error {
	if j.cfg.Rows == nil {
		return nil
	}
	noted, err := j.cfg.Rows.NotedDeletions(ctx)
	if err != nil || len(noted) == 0 {
		return err
	}
	return j.excluding(ctx, exclude, func(holds func(context.Context) error) error {
		for _, name := range slices.Sorted(maps.Keys(noted)) {
			d, err := j.cfg.Table.Deletion(ctx, name)
			if err != nil {
				return err
			}
			if !d.Found {
				if err := holds(ctx); err != nil {
					return err
				}
				if err := j.cfg.Table.Delete(ctx, name, noted[name]); err != nil {
					return err
				}
			}
			if d, err = j.await(ctx, name, holds); err != nil || !d.Found {
				return cmp.Or(err, errors.New("the deletion of events was killed"))
			}
			if err := j.ended(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
}
