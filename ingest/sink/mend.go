package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// MendLedger is the interface of the ledger that a Mender reads and writes. Package store implements it.
type MendLedger interface {
	CountedRows
	NoteMissingDays(ctx context.Context, days map[schema.MissingDay]int64) error
	RestoreMissingDays(ctx context.Context, restored map[schema.MissingDay]int64) error
	// NoteLeaving records a notice that rows are about to leave the events table. The notice is valid until
	// ForgetLeaving. ReadersBefore returns the running nodes that have not read the notice. Each node has a number of
	// heartbeats, which increases while the node runs.
	NoteLeaving(ctx context.Context, rows int64) (notice int64, err error)
	// Leaving returns the number of rows of all notices, and the number of the last notice.
	Leaving(ctx context.Context) (rows, notice int64, err error)
	ReadersBefore(ctx context.Context, notice int64) (beats map[string]int64, err error)
	ForgetReader(ctx context.Context, node string) error
	ForgetLeaving(ctx context.Context) error
}

// MendConfig configures a Mender. All fields are required.
type MendConfig struct {
	Table  *eventstore.ClickHouse
	Ledger MendLedger
	Lock   eventstore.Locks
	// Reconciler builds a Reconciler that knows which events intentionally have no rows. The Mender closes it. The
	// Mender calls this function while it holds eventstore.RepairLock.
	Reconciler func(ctx context.Context) (*Reconciler, error)
	// Noted is called after NoteLeaving has stored a notice, so that this process reads the notice immediately.
	Noted  func(ctx context.Context) error
	Logger *slog.Logger
	// Everywhere means that the Mender looks for doubled rows in all months, even in a month that does not have more
	// rows than the ledger of row counts has.
	Everywhere bool

	gone   time.Duration // time without a heartbeat after which a node counts as ended, default readerGone
	checks time.Duration // longest time of the checks of parts, default no limit
}

// Mender sets damaged parts of the events table aside, and restores the table's missing rows from the log.
type Mender struct {
	cfg MendConfig
	// unexplained has, by month, the number of rows that the events table has in addition to the counted rows although
	// it has no doubled rows. Only the holder of AuditLock uses it.
	unexplained map[schema.EventMonth]int64
	// notices has the notices of parts, by name of the part. Only the holder of AuditLock uses it.
	notices map[string]leavingPart
}

// NewMender builds a Mender. It starts nothing.
func NewMender(cfg MendConfig) *Mender {
	cfg.gone, cfg.checks = cmp.Or(cfg.gone, readerGone), cmp.Or(cfg.checks, math.MaxInt64)
	return &Mender{cfg, map[schema.EventMonth]int64{}, map[string]leavingPart{}}
}

// Mended is the result of a repair.
type Mended struct {
	Restored   int64 // number of restored rows
	Partitions []Reconciled
	Missing    []schema.MissingRows // rows that are missing after the repair
}

// ErrDoubledUnknown means that a look for doubled rows failed, and that nothing more failed. If a comparison also
// returned a list, its numbers of missing rows are right.
var ErrDoubledUnknown = errors.New("it is unknown whether rows are doubled")

// lookError returns the error of a comparison. It has ErrDoubledUnknown if all other errors are nil.
func lookError(unknown error, others ...error) error {
	err := errors.Join(others...)
	if unknown != nil && err == nil {
		return fmt.Errorf("%w: %w", ErrDoubledUnknown, unknown)
	}
	return errors.Join(err, unknown)
}

// UncheckedError means that parts were not checked, or that damaged parts were not set aside. A comparison still
// checks the other parts.
type UncheckedError struct {
	Parts []string // names of the parts
	Err   error
}

func (e *UncheckedError) Error() string { return e.Err.Error() }
func (e *UncheckedError) Unwrap() error { return e.Err }

var errLeaving = errors.New("a part that could not be set aside may still leave the events table")

// searchMost is the longest time that a comparison looks for doubled rows. The look takes at most half of the time that
// the comparison has.
const searchMost = 5 * time.Minute

// Compare checks the parts, sets damaged parts aside, and then compares the events table with the ledger. If parts
// cannot be checked, Compare still makes the comparison, and returns an UncheckedError with their names. Only one
// process at a time compares. An error of Lock means that another process is comparing. The list is nil if the missing
// rows are unknown.
func (m *Mender) Compare(ctx context.Context, parts []eventstore.Part) (list []schema.MissingRows, err error) {
	_, release, err := m.cfg.Lock(ctx, AuditLock)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	scratch := m.cfg.Table.DropScratch(ctx)
	unchecked := m.checkAll(ctx, parts)
	list, unknown, err := m.compare(ctx)
	if err == nil && m.leaving() {
		err = errLeaving
	}
	return list, lookError(unknown, scratch, unchecked, err)
}

// checkAll checks parts. It leaves a sixth of the time for the comparison that follows. So parts that take too long do
// not prevent the comparison.
func (m *Mender) checkAll(ctx context.Context, parts []eventstore.Part) error {
	most := m.cfg.checks
	if end, has := ctx.Deadline(); has {
		most = min(most, time.Until(end)*5/6)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var unchecked UncheckedError
	for i, p := range parts {
		if err := ctx.Err(); err != nil {
			for _, p := range parts[i:] {
				unchecked.Parts = append(unchecked.Parts, p.Name)
			}
			unchecked.Err = errors.Join(unchecked.Err, fmt.Errorf("cannot check %d parts: %w", len(parts)-i, err))
			break
		}
		if err := m.check(ctx, p); err != nil {
			unchecked.Parts, unchecked.Err = append(unchecked.Parts, p.Name), errors.Join(unchecked.Err, err)
		}
	}
	if unchecked.Err == nil {
		return nil
	}
	return &unchecked
}

// compare compares the events table with the ledger. First it looks for rows that the table has twice, then for missing
// rows. The error `unknown` means that the first look failed. The second look does not depend on it: a table that is
// too large for the first look may also lack rows.
//
// compare deletes the notices of rows that leave the table, unless a part may still leave.
func (m *Mender) compare(ctx context.Context) (list []schema.MissingRows, unknown, err error) {
	search, cancel := context.WithTimeout(ctx, m.searchTime(ctx))
	defer cancel()
	unknown = m.doubled(ctx, search)
	if err := m.settle(ctx); err != nil {
		return nil, unknown, err
	}
	if list, err = Audit(ctx, m.cfg.Ledger, m.cfg.Table); err != nil {
		return nil, unknown, err
	}
	if m.leaving() {
		return list, unknown, nil
	}
	if err = m.cfg.Ledger.ForgetLeaving(ctx); err == nil {
		clear(m.notices)
	}
	return list, unknown, err
}

// searchTime returns the longest time of a look for doubled rows. A look in all months has no limit of its own.
func (m *Mender) searchTime(ctx context.Context) time.Duration {
	most := searchMost
	if m.cfg.Everywhere {
		most = math.MaxInt64
	}
	if end, has := ctx.Deadline(); has {
		most = min(most, time.Until(end)/2)
	}
	return most
}

// check reads the files of a part of a table in ClickHouse. If it finds damage in two checks, it sets the part aside.
func (m *Mender) check(ctx context.Context, p eventstore.Part) error {
	is, reason, err := m.cfg.Table.Check(ctx, p)
	if err == nil && is == eventstore.DamagedContents {
		is, reason, err = m.cfg.Table.Check(ctx, p)
	}
	switch {
	case err != nil:
		return err
	case is != eventstore.DamagedContents && !p.Derived():
		m.stays(p)
	}
	switch {
	case is == eventstore.DamagedDerived:
		m.cfg.Logger.Error("A projection of a part of the events table is damaged. The engine builds it again.",
			"part", p.Name, "reason", reason)
		return nil
	case is != eventstore.DamagedContents:
		return nil
	}
	if p.Derived() {
		m.cfg.Logger.Error("Damaged aggregate states are dropped. Queries make them again.",
			"table", p.Table, "part", p.Name, "reason", reason)
		_, err := m.cfg.Table.SetAside(ctx, p)
		return err
	}
	days, unknown := m.cfg.Table.Days(ctx, p)
	if unknown != nil {
		m.cfg.Logger.Info("The damaged part cannot tell the sites and days of its rows.", "error", unknown)
		days = nil
	}
	if err := m.announce(ctx, p); err != nil {
		return err
	}
	m.leaves(p)
	done, err := m.cfg.Table.SetAside(ctx, p)
	if err != nil {
		return err
	}
	if m.stays(p); !done {
		return nil // a merge has replaced the part, and its rows are still in the table
	}
	m.cfg.Logger.Error("A damaged part of the events table is set aside. Its files stay in the folder `detached` of "+
		"the table. What the log has of its rows is restored.",
		"part", p.Name, "rows", p.Rows, "bytes", p.Bytes, "reason", reason)
	if len(days) == 0 {
		return nil
	}
	return m.cfg.Ledger.NoteMissingDays(ctx, days)
}

// Restore stores the missing rows that the log has, and records how many rows the log does not have. Only one process
// at a time does this. An error of Lock means that another process is restoring, or that visitors are being erased. If
// an earlier repair has already looked for all missing rows in the log, Restore looks again only if `again` is true.
func (m *Mender) Restore(ctx context.Context, again bool, report func(Difference) error) (done Mended, err error) {
	holds, release, err := m.cfg.Lock(ctx, eventstore.RepairLock, AuditLock)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if done.Missing, err = m.cfg.Ledger.Missing(ctx); err != nil {
		return done, err
	}
	if !again && schema.MissingTotal(done.Missing) == schema.MissingLost(done.Missing) {
		return done, nil
	}
	ends, err := m.cfg.Ledger.RowsEnds(ctx)
	if err != nil {
		return done, err
	}
	r, err := m.cfg.Reconciler(ctx)
	if err != nil {
		return done, err
	}
	defer r.Close()
	done.Partitions, err = r.Repair(ctx, 0, holds, report)
	for _, rows := range r.restored {
		done.Restored += rows
	}
	if len(r.restored) > 0 {
		err = errors.Join(err, m.cfg.Ledger.RestoreMissingDays(ctx, r.restored))
	}
	if err != nil {
		return done, fmt.Errorf("cannot restore what the log has: %w", err)
	}
	list, unknown, err := m.compare(ctx)
	if done.Missing = list; err != nil {
		return done, lookError(unknown, err)
	}
	for _, p := range done.Partitions {
		if p.To < min(ends[p.Partition], r.ends[p.Partition]) {
			return done, lookError(unknown) // the next repair looks for missing rows that are counted and not committed
		}
	}
	for i := range done.Missing {
		done.Missing[i].Lost = done.Missing[i].Rows
	}
	return done, lookError(unknown, m.cfg.Ledger.NoteMissing(ctx, done.Missing))
}

// countRestored counts the missing rows that were restored, by site and day.
func (p *reconciling) countRestored(missing, left []missingRow) {
	counts := map[schema.MissingDay]int64{}
	for _, m := range missing {
		counts[m.day]++
	}
	for _, m := range left {
		counts[m.day]--
	}
	for day, rows := range counts {
		if rows > 0 {
			p.r.restored[day] += rows
		}
	}
}

// dayOf returns the month, the site and the day of an event.
func (p *reconciling) dayOf(l logged, event insights.RowContent) schema.MissingDay {
	return schema.MissingDay{
		Month: schema.EventMonthOf(l.message.Received()), Site: event.Site,
		Day: time.UnixMilli(event.TimeMillis).UTC().Truncate(24 * time.Hour),
	}
}
