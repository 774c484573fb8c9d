package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Ledger stores the state of all erasures. The store implements it.
type Ledger interface {
	BeginErasures(ctx context.Context, most int) (schema.ErasureBatch, error)
	BegunErasures(ctx context.Context) ([]schema.ErasureBatch, error)
	RetryErasures(ctx context.Context, version int64) error
	AheadOfClock(ctx context.Context) (time.Time, error)
	ReachAhead(ctx context.Context, t schema.Tombstone) error
	MarkMutated(ctx context.Context, version int64, at time.Time) error
	FinishErasures(ctx context.Context, mutated time.Time) (done int64, err error)
	PendingErasures(ctx context.Context) (schema.PendingErasures, error)
	ForgetErasures(ctx context.Context) error
	RetentionDue(ctx context.Context) (bool, error)
	BeginRetention(ctx context.Context, most int) ([]schema.Expiry, error)
	CarriedOut(ctx context.Context, list []schema.Expiry) error
}

// RowLedger counts the rows that the events table should have. Before a deletion deletes rows, it subtracts them from
// the counts. The store implements RowLedger.
type RowLedger interface {
	// RowsEnds returns, for each partition of the log, the offset before which the rows from this partition are
	// counted.
	RowsEnds(ctx context.Context) (map[int]int64, error)
	// NoteDeletion subtracts rows from the counts. If it was called before with the same name, it does nothing.
	NoteDeletion(ctx context.Context, name, condition string, rows schema.RowsByMonth) error
	// NotedDeletions returns the conditions of the deletions that have not ended, by name.
	NotedDeletions(ctx context.Context) (map[string]string, error)
	EndDeletion(ctx context.Context, name string) error
}

// JobConfig configures a Job. A zero field takes the default named in its comment.
type JobConfig struct {
	Ledger Ledger                 // required
	Table  *eventstore.ClickHouse // required
	// Honoured reports whether all sinks honour the tombstones of a version. Required.
	Honoured func(ctx context.Context, version int64) (bool, error)
	// Changed is called with sites whose events were deleted; it may be nil.
	Changed func(site string)
	// Damaged is called with the errors of deletions that read damaged files; nil ignores the errors.
	Damaged func(error)
	Rows    RowLedger // if Rows is nil, the job counts nothing
	Metrics *Metrics  // if Metrics is nil, the job measures nothing
	Logger  *slog.Logger

	// Patience is the time that an erasure or a retention waits for the sinks before other work continues. The default
	// is 10 s.
	Patience time.Duration
	Most     int           // largest number of visitors that one deletion erases, default 100
	Poll     time.Duration // pause between two checks of the awaited condition, default 100 ms
	step     func(name string) error
}

// Job erases visitors and expired events. All its state is in the ledger and in the events table's list of mutations.
// So another process continues where a killed process stopped. The caller holds a lock that excludes other jobs.
type Job struct {
	cfg    JobConfig
	logged string
	shown  time.Time // time of the last update of the metrics
	// left.at is the time when the job first saw that no disk had the parts that a mutation replaced. left.mutated is
	// the time of this mutation.
	left struct{ mutated, at time.Time }
}

// Exclude takes the locks that exclude repairs and the rebuild of the projection of visits. `holds` returns an error if
// another process may hold the locks by now. `release` releases the locks.
type Exclude func(context.Context) (holds func(context.Context) error, release func() error, err error)

// NewJob builds a job. It starts nothing.
func NewJob(cfg JobConfig) (*Job, error) {
	if cfg.Ledger == nil || cfg.Table == nil || cfg.Honoured == nil {
		return nil, errors.New("cannot build the erasure of visitors without its ledger, the table and the sinks")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Patience = cmp.Or(cfg.Patience, 10*time.Second)
	cfg.Most = cmp.Or(cfg.Most, 100)
	cfg.Poll = cmp.Or(cfg.Poll, 100*time.Millisecond)
	if cfg.Changed == nil {
		cfg.Changed = func(string) {}
	}
	if cfg.step == nil {
		cfg.step = func(string) error { return nil }
	}
	return &Job{cfg: cfg}, nil
}

// Pending returns the work that Erase and Finish have to do. Any node may call it. It updates the metrics.
func (j *Job) Pending(ctx context.Context) (schema.PendingErasures, error) {
	j.shown = time.Now()
	pending, err := j.cfg.Ledger.PendingErasures(ctx)
	if err == nil {
		j.cfg.Metrics.pendingIs(pending.Count, pending.Oldest)
	}
	return pending, err
}

// wait finishes earlier erasures, updates the metrics, and pauses. Without these updates, the metrics would not show an
// erasure that never ends.
func (j *Job) wait(ctx context.Context) {
	if time.Since(j.shown) > time.Second {
		if pending, err := j.Pending(ctx); err == nil {
			_ = j.Finish(ctx, pending) // the next call retries after an error
		}
	}
	retry.Sleep(ctx, j.cfg.Poll)
}

// excluding calls `do` while it holds the locks that Exclude takes.
func (j *Job) excluding(ctx context.Context, exclude Exclude, do func(holds func(context.Context) error) error) (err error) {
	holds, release, err := exclude(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return do(holds)
}

// Erase continues the erasures that have begun. If none has begun, Erase begins the pending erasures. Erase holds no
// locks while it waits for the sinks, so repairs can run.
func (j *Job) Erase(ctx context.Context, exclude Exclude) error {
	list, err := j.cfg.Ledger.BegunErasures(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		b, err := j.cfg.Ledger.BeginErasures(ctx, j.cfg.Most)
		if err != nil || b.Version == 0 {
			return err
		}
		if err := j.cfg.step("begun"); err != nil {
			return err
		}
		list = append(list, b)
	}
	for _, b := range list {
		if err := j.erase(ctx, b, exclude); err != nil {
			return err
		}
	}
	return nil
}

// erase deletes the events of a batch's visitors and keys from the events table, and waits until the rows are deleted.
// If a deletion of these rows is already running, it only waits.
func (j *Job) erase(ctx context.Context, b schema.ErasureBatch, exclude Exclude) error {
	d, err := j.cfg.Table.Deletion(ctx, deletionName(b.Version))
	if err != nil {
		return err
	}
	if !d.Found {
		if honoured, err := j.honoured(ctx, b); err != nil || !honoured {
			return err
		}
	}
	return j.excluding(ctx, exclude, func(holds func(context.Context) error) error {
		if !d.Found {
			// A partition's earlier owner may still be inserting rows. The engine drops such late inserts, but wait for
			// their end nevertheless.
			if err := j.cfg.Table.Settle(ctx); err != nil {
				return err
			}
			if again, err := j.reachAhead(ctx, b); err != nil || again {
				return err
			}
			if err := j.begin(ctx, b, holds); err != nil {
				return err
			}
		}
		return j.goOn(ctx, b, holds)
	})
}

// honoured waits until no sink inserts further rows of the batch's visitors. If this takes longer than Patience,
// `honoured` returns false, and the next Erase waits again.
func (j *Job) honoured(ctx context.Context, b schema.ErasureBatch) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, j.cfg.Patience)
	defer cancel()
	var last error // the last error of Honoured; nil if the sinks answered
	for first := true; ; first = false {
		honoured, err := j.cfg.Honoured(bounded, b.Version)
		if honoured && err == nil {
			return true, j.cfg.step("honoured")
		}
		// If Patience ends during this request, its error is only the timeout. So keep the error of the previous
		// request.
		if first || err == nil || bounded.Err() == nil {
			last = err
		}
		if bounded.Err() == nil {
			j.wait(bounded)
			continue
		}
		switch {
		case ctx.Err() != nil:
		case last != nil:
			j.cfg.Logger.Warn("Visitors cannot be erased yet: it cannot be asked whether the log's partitions have sinks that know of it.", "visitors", len(b.Visitors), "error", last)
		default:
			j.cfg.Logger.Warn("Visitors cannot be erased yet: not every partition of the log has a sink that knows of it.", "visitors", len(b.Visitors))
		}
		return false, ctx.Err()
	}
}

// begin starts the deletion of the events of a batch's visitors and keys.
func (j *Job) begin(ctx context.Context, b schema.ErasureBatch, holds func(context.Context) error) error {
	if err := holds(ctx); err != nil {
		return err
	}
	// No sink inserts more of these rows, and no repair runs. So the deletion deletes exactly the rows that
	// MonthsHaving counts.
	rows, err := j.cfg.Table.MonthsHaving(ctx, whereVisitors(b))
	if err != nil {
		return err
	}
	if err := j.note(ctx, deletionName(b.Version), whereVisitors(b), rows); err != nil {
		return err
	}
	if err := j.cfg.step("noted"); err != nil {
		return err
	}
	if err := j.cfg.Table.Delete(ctx, deletionName(b.Version), whereVisitors(b)); err != nil {
		return err
	}
	return j.cfg.step("deleting")
}

func deletionName(version int64) string { return fmt.Sprintf("octavo erasure %d", version) }

// whereVisitors returns the SQL condition that selects the rows which the tombstones of a batch erase. Tombstones have
// times in whole seconds, like the rows of the events table. So sinks and deletions erase the same events.
func whereVisitors(b schema.ErasureBatch) string {
	list := make([]string, len(b.Visitors))
	for i, v := range b.Visitors {
		received := fmt.Sprintf("toUnixTimestamp(%s) < %d", insights.ColumnReceived, v.Before.Unix())
		if !v.AheadUntil.IsZero() {
			received = fmt.Sprintf("(%s OR toUnixTimestamp(%s) BETWEEN %d AND %d)", received, insights.ColumnReceived,
				v.AheadFrom.Unix(), v.AheadUntil.Unix()-1)
		}
		list[i] = ofVisitor(v) + " AND " + received
	}
	return "(" + strings.Join(list, ") OR (") + ")"
}

// ofVisitor returns the SQL condition that selects the rows of a tombstone's visitor or key.
func ofVisitor(v schema.Tombstone) string {
	of := fmt.Sprintf("visitor = %d", v.Visitor)
	if v.EventKey != "" {
		of = insights.ColumnEventKey + " = " + sqltree.Quote(v.EventKey)
	}
	return fmt.Sprintf("site = %s AND %s", sqltree.Quote(v.SiteID), of)
}

// reachAhead looks for rows of a batch that were received while a clock was ahead. It stores in the tombstone the
// time span in which these rows were received, and the erasure begins again. Events outside this span are not erased,
// so events that arrive after the clock is corrected are stored as usual. `again` is true if there are such rows. An
// erasure gets only one such span. Otherwise a clock that stays ahead could move the span forever.
func (j *Job) reachAhead(ctx context.Context, b schema.ErasureBatch) (again bool, err error) {
	ahead, err := j.cfg.Ledger.AheadOfClock(ctx)
	if err != nil {
		return false, err
	}
	where, list := make([]string, 0, len(b.Visitors)), make([]schema.Tombstone, 0, len(b.Visitors))
	for _, v := range b.Visitors {
		if v.AheadUntil.IsZero() {
			where = append(where, fmt.Sprintf("%s AND toUnixTimestamp(%s) >= %d",
				ofVisitor(v), insights.ColumnReceived, max(ahead.Unix(), v.Before.Unix())))
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	rows, err := j.cfg.Table.Having(ctx, "("+strings.Join(where, ") OR (")+")")
	if err != nil || rows == 0 {
		return false, err
	}
	for i, v := range list {
		first, last, err := j.cfg.Table.Received(ctx, where[i])
		if err != nil {
			return false, err
		}
		if last.IsZero() {
			continue
		}
		v.AheadFrom, v.AheadUntil = first, last.Add(time.Second)
		if err := j.cfg.Ledger.ReachAhead(ctx, v); err != nil {
			return false, err
		}
		j.cfg.Logger.Warn("An erasure also reaches events that were received by a clock which was ahead. Events of "+
			"this visitor or key that are received in the same time span will not be stored.",
			"site", v.SiteID, "from", v.AheadFrom, "until", v.AheadUntil)
	}
	return true, nil
}

// goOn waits for the deletion of a batch. If rows remain, the batch starts again with new tombstones.
func (j *Job) goOn(ctx context.Context, b schema.ErasureBatch, holds func(context.Context) error) error {
	d, err := j.await(ctx, deletionName(b.Version), holds)
	if err != nil {
		return err
	}
	if !d.Found { // the deletion was killed, or the events table was replaced: the next Erase deletes
		return nil
	}
	left, err := j.cfg.Table.Having(ctx, whereVisitors(b))
	if err != nil {
		return err
	}
	if left > 0 {
		j.cfg.Logger.Error("Rows of erased visitors remain, so they are deleted again.", "rows", left)
		return cmp.Or(j.ended(ctx, deletionName(b.Version)), j.cfg.Ledger.RetryErasures(ctx, b.Version))
	}
	if err := j.cfg.step("deleted"); err != nil {
		return err
	}
	mutated, err := j.cfg.Table.Now(ctx) // The time is read after the last part was replaced.
	if err != nil {
		return err
	}
	if err := j.cfg.Ledger.MarkMutated(ctx, b.Version, mutated); err != nil {
		return err
	}
	if err := j.ended(ctx, deletionName(b.Version)); err != nil {
		return err
	}
	for _, v := range b.Visitors {
		j.cfg.Changed(v.SiteID)
	}
	return j.cfg.step("marked")
}

// await waits until the deletion is done. It returns immediately if there is no deletion.
func (j *Job) await(ctx context.Context, name string, holds func(context.Context) error) (eventstore.Deletion, error) {
	for {
		d, err := j.cfg.Table.Deletion(ctx, name)
		if err != nil || !d.Found || d.Done {
			return d, err
		}
		if d.Failure != "" && d.Failure != j.logged {
			j.cfg.Logger.Error("The engine cannot delete rows, and retries.", "deletion", name, "error", d.Failure)
			j.logged = d.Failure
			if insights.IsDamageText(d.Failure) && j.cfg.Damaged != nil {
				j.cfg.Damaged(errors.New(d.Failure))
			}
		}
		if err := holds(ctx); err != nil {
			return d, err
		}
		j.wait(ctx)
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
	}
}

// Finish marks erasures as done after two kinds of files are removed from the disks: the replaced parts, and the
// aggregate states computed from these parts.
func (j *Job) Finish(ctx context.Context, pending schema.PendingErasures) error {
	if pending.Mutated == 0 {
		return nil
	}
	old, err := j.cfg.Table.OldParts(ctx, pending.FirstMutated)
	if err != nil || old > 0 {
		return err
	}
	if states, err := j.states(ctx, pending.FirstMutated); err != nil || states > 0 {
		return err
	}
	done, err := j.cfg.Ledger.FinishErasures(ctx, pending.FirstMutated)
	if err == nil {
		j.cfg.Metrics.finished(done)
	}
	return err
}

// states drops the aggregate states that may come from replaced parts, and returns how many remain. No statement reads
// a part after its files are removed. So no further states are computed from these parts.
func (j *Job) states(ctx context.Context, mutated time.Time) (left uint64, err error) {
	if !j.left.mutated.Equal(mutated) {
		now, err := j.cfg.Table.Now(ctx)
		if err != nil {
			return 0, err
		}
		j.left.mutated, j.left.at = mutated, now
	}
	return j.cfg.Table.DropStates(ctx, j.left.at)
}

// Retain deletes the records of erasures whose events have left the log and the dead letters. Once a day it also
// deletes events past their site's retention.
func (j *Job) Retain(ctx context.Context, exclude Exclude) error {
	if err := j.cfg.Ledger.ForgetErasures(ctx); err != nil {
		return err
	}
	if err := j.finishDeletions(ctx, exclude); err != nil {
		return err
	}
	for {
		due, err := j.cfg.Ledger.RetentionDue(ctx)
		if err != nil || !due {
			return err
		}
		err = j.excluding(ctx, exclude, func(holds func(context.Context) error) error {
			list, err := j.cfg.Ledger.BeginRetention(ctx, j.cfg.Most)
			if err != nil || len(list) == 0 {
				return err
			}
			if err := j.retain(ctx, list, holds); err != nil {
				return err
			}
			if err := j.cfg.step("expired"); err != nil {
				return err
			}
			return j.cfg.Ledger.CarriedOut(ctx, list)
		})
		if err != nil {
			return err
		}
	}
}

func (j *Job) retain(ctx context.Context, list []schema.Expiry, holds func(context.Context) error) error {
	conditions := make([]string, len(list))
	for i, e := range list {
		// The condition repeats the range in a form that the primary key can use.
		conditions[i] = fmt.Sprintf("(site = %s AND time < toDateTime64(%d, 3, 'UTC') AND toStartOfHour(time) <= toDateTime(%d, 'UTC'))", sqltree.Quote(e.SiteID), e.Before.Unix(), max(0, e.Before.Unix()))
	}
	where, months, err := j.whereCounted(ctx, "("+strings.Join(conditions, " OR ")+")")
	if err != nil || len(months) == 0 {
		return err
	}
	if err := holds(ctx); err != nil {
		return err
	}
	name := fmt.Sprintf("octavo retention %s %d", list[0].SiteID, time.Now().UnixMilli())
	if err := j.note(ctx, name, where, months); err != nil {
		return err
	}
	if err := j.cfg.step("noted"); err != nil {
		return err
	}
	if err := j.cfg.Table.Delete(ctx, name, where); err != nil {
		return err
	}
	if err := j.cfg.step("expiring"); err != nil {
		return err
	}
	if d, err := j.await(ctx, name, holds); err != nil || !d.Found {
		return cmp.Or(err, errors.New("the deletion of old events was killed"))
	}
	if err := j.ended(ctx, name); err != nil {
		return err
	}
	for _, e := range list {
		j.cfg.Changed(e.SiteID)
	}
	rows := uint64(months.Total())
	j.cfg.Metrics.expiredRows(rows)
	j.cfg.Logger.Info("Deleted events past their site's retention.", "sites", len(list), "rows", rows)
	return nil
}
