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

	gone time.Duration // time without a heartbeat after which a node counts as ended, default readerGone
}

// Mender sets damaged parts of the events table aside, and restores the table's missing rows from the log.
type Mender struct {
	cfg MendConfig
	// unexplained has, by month, the number of rows that the events table has in addition to the counted rows although
	// it has no doubled rows. Only the holder of AuditLock uses it.
	unexplained map[schema.EventMonth]int64
}

// NewMender builds a Mender. It starts nothing.
func NewMender(cfg MendConfig) *Mender {
	cfg.gone = cmp.Or(cfg.gone, readerGone)
	return &Mender{cfg, map[schema.EventMonth]int64{}}
}

// Mended is the result of a repair.
type Mended struct {
	Restored   int64 // number of restored rows
	Partitions []Reconciled
	Missing    []schema.MissingRows // rows that are missing after the repair
}

// ErrDoubledUnknown means that a look for doubled rows failed. If a comparison also returned a list, its numbers of
// missing rows are right.
var ErrDoubledUnknown = errors.New("it is unknown whether rows are doubled")

// searchMost is the longest time that a comparison looks for doubled rows. The look takes at most half of the time that
// the comparison has.
const searchMost = 5 * time.Minute

// Compare checks the parts, sets damaged parts aside, and then compares the events table with the ledger. If a part
// cannot be checked, Compare still checks the other parts. Only one process at a time compares. An error of Lock means
// that another process is comparing. The list is nil if the missing rows are unknown.
func (m *Mender) Compare(ctx context.Context, parts []eventstore.Part) (list []schema.MissingRows, err error) {
	_, release, err := m.cfg.Lock(ctx, AuditLock)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	failed := m.cfg.Table.DropScratch(ctx)
	unchecked := false
	for _, p := range parts {
		if err := m.check(ctx, p); err != nil {
			failed, unchecked = errors.Join(failed, err), true
		}
		if ctx.Err() != nil {
			return nil, failed
		}
	}
	list, unknown, err := m.compare(ctx, !unchecked)
	return list, errors.Join(failed, unknown, err)
}

// compare compares the events table with the ledger. First it looks for rows that the table has twice, then for missing
// rows. The error `unknown` means that the first look failed. The second look does not depend on it: a table that is
// too large for the first look may also lack rows.
//
// If `settled` is true, compare deletes the notices of rows that leave the table. It is false if a part may still
// leave.
func (m *Mender) compare(ctx context.Context, settled bool) (list []schema.MissingRows, unknown, err error) {
	search, cancel := context.WithTimeout(ctx, m.searchTime(ctx))
	defer cancel()
	if err := m.doubled(ctx, search); err != nil {
		unknown = fmt.Errorf("%w: %w", ErrDoubledUnknown, err)
	}
	if list, err = Audit(ctx, m.cfg.Ledger, m.cfg.Table); err != nil {
		return nil, unknown, err
	}
	if settled {
		err = m.cfg.Ledger.ForgetLeaving(ctx)
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
		return m.cfg.Table.SetAside(ctx, p)
	}
	days, unknown := m.cfg.Table.Days(ctx, p)
	if unknown != nil {
		m.cfg.Logger.Info("The damaged part cannot tell the sites and days of its rows.", "error", unknown)
		days = nil
	}
	if err := m.announce(ctx, int64(p.Rows)); err != nil {
		return err
	}
	if err := m.cfg.Table.SetAside(ctx, p); err != nil {
		return err
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
	list, unknown, err := m.compare(ctx, true)
	if done.Missing = list; err != nil {
		return done, errors.Join(unknown, err)
	}
	for _, p := range done.Partitions {
		if p.To < min(ends[p.Partition], r.ends[p.Partition]) {
			return done, unknown // the next repair looks for missing rows that are counted and not committed
		}
	}
	for i := range done.Missing {
		done.Missing[i].Lost = done.Missing[i].Rows
	}
	return done, errors.Join(unknown, m.cfg.Ledger.NoteMissing(ctx, done.Missing))
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
