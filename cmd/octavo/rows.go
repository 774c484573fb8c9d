package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
)

const (
	missingEvery  = 3 * time.Second  // the time between two reads of the missing rows
	auditEvery    = time.Hour        // the time between two comparisons, and between two checks of one part
	startWait     = time.Minute      // longest time of a comparison before the node answers queries
	auditWait     = 10 * startWait   // longest time of a later comparison
	checkWait     = time.Hour        // longest time of the checks of parts
	restoreFirst  = 5 * time.Second  // the first pause before a comparison or a repair is repeated
	behindPause   = 30 * time.Second // the pause before a comparison is repeated if a replica is behind
	mostSuspected = 1000             // largest number of suspected parts
	mostNamed     = 5                // largest number of folders in a log line
)

// rowsLedger is the ledger of stored events; *eventrows.Store implements it.
type rowsLedger interface {
	Leaving(ctx context.Context) (rows, notice int64, err error)
	Missing(ctx context.Context) ([]schema.MissingRows, error)
	MissingDays(ctx context.Context) (map[schema.MissingDay]int64, error)
	NoteReader(ctx context.Context, node string, notice int64) error
	ForgetReader(ctx context.Context, node string) error
}

// rowsTable is the events table; *eventstore.ClickHouse implements it.
type rowsTable interface {
	Parts(ctx context.Context, name string) ([]eventstore.Part, error)
	Sequential() bool
	Aside(ctx context.Context) (folders []string, err error)
}

// rowsMender compares the ledger with the table, and restores missing events; *sink.Mender implements it.
type rowsMender interface {
	Compare(ctx context.Context, parts []eventstore.Part) ([]schema.MissingRows, error)
	Restore(ctx context.Context, again bool, report func(sink.Difference) error) (sink.Mended, error)
}

// rowsWatch looks for events that are missing or doubled in the insights store. Only one node at a time compares the
// ledger of stored events with the events table. This node also sets damaged parts aside, and restores the missing
// events that the log has. All nodes read the result of the comparison.
type rowsWatch struct {
	ledger  rowsLedger
	table   rowsTable
	mender  rowsMender
	tools   *rowsTools // has the table and the mender too
	log     *slog.Logger
	gauge   prometheus.Gauge
	doubles prometheus.Gauge
	changed func() // changed is called when the numbers of missing or doubled rows change

	ready func() bool // whether the events table can be used
	known atomic.Pointer[[]schema.MissingRows]
	wake  chan struct{}

	reading sync.Mutex // guards node, notice and beaten
	node    string     // the name of this process among the readers of notices
	notice  int64      // number of the last notice that was read
	beaten  time.Time  // when this node last recorded that it runs

	mu       sync.Mutex
	audited  time.Time            // time of this node's last comparison, or when it last saw another node compare
	suspects []string             // names of parts to check at once; "" means all parts
	looked   map[string]time.Time // when suspect last recorded a part, by name of the part
	again    pause                // pause after a comparison that failed

	unchecked []string // names of suspected parts whose check failed
	recheck   pause    // pause before the unchecked parts are checked again

	repaired pause // pause after a repair; only run uses it
}

// pause is a pause before something is repeated. The zero value of `until` means that it may be repeated now.
type pause struct {
	until   time.Time
	backoff retry.Backoff
}

// begin starts the next pause, which is longer than the last pause.
func (p *pause) begin() { p.until = time.Now().Add(p.backoff.Advance()) }

func (p *pause) over() bool { return !time.Now().Before(p.until) }

func (p *pause) reset() {
	p.backoff.Reset()
	p.until = time.Time{}
}

var rowsBackoff = retry.Backoff{First: restoreFirst, Max: auditEvery}

// newRowsWatch builds the watch. It starts no work, because prepareEvents makes the first comparison, before the node
// answers queries.
func (n *node) newRowsWatch() (*rowsWatch, error) {
	table, err := eventstore.New(eventstore.Config{Conn: n.events, Cluster: n.settings.ClickHouseCluster})
	w := &rowsWatch{
		ledger: n.store.Rows, log: n.log, ready: n.setup.migrated.Load, node: rand.Text(),
		gauge: n.metrics.MissingRows, doubles: n.metrics.DoubledRows,
		wake: make(chan struct{}, 1), looked: map[string]time.Time{},
		again: pause{backoff: rowsBackoff}, recheck: pause{backoff: rowsBackoff}, repaired: pause{backoff: rowsBackoff},
		changed: func() {
			if service := n.queryService.Load(); service != nil {
				service.Forget("")
			}
		},
	}
	mender := n.settings.mender(n.backends, n.store, sink.MendConfig{Table: table, Noted: w.read, Logger: n.log})
	w.tools = &rowsTools{n.settings, n.backends, n.store, table, mender}
	w.table, w.mender = table, mender
	n.checks = append(n.checks, frame.Check{Name: "events", Run: w.check})
	return w, err
}

// mender builds a Mender on these backends.
func (s *Settings) mender(b *backends, st *store.Store, cfg sink.MendConfig) *sink.Mender {
	cfg.Ledger, cfg.Lock = st.Rows, locker(st)
	cfg.Reconciler = func(ctx context.Context) (*sink.Reconciler, error) {
		return s.reconciler(ctx, b, st, cfg.Table, cfg.Logger)
	}
	return sink.NewMender(cfg)
}

// missing returns the rows that are known to be missing.
func (w *rowsWatch) missing() []schema.MissingRows {
	if known := w.known.Load(); known != nil {
		return *known
	}
	return nil
}

// check reports the missing events to /readyz. The node still serves queries, and its answers report the missing
// events.
func (w *rowsWatch) check(context.Context) error {
	missing, doubled := schema.MissingOpen(w.missing()), schema.DoubledTotal(w.missing())
	c := &frame.Condition{Err: errors.New("stored events are missing"), Serves: true}
	switch {
	case missing > 0 && doubled > 0:
		c.Word = fmt.Sprintf("incomplete: %d are missing, and %d are there twice", missing, doubled)
	case missing > 0:
		c.Word = fmt.Sprintf("incomplete: %d are missing", missing)
	case doubled > 0:
		c.Word, c.Err = fmt.Sprintf("doubled: %d are there twice", doubled), errors.New("stored events are doubled")
	default:
		return nil
	}
	return c
}

// suspect records the damaged part that an error of the insights store names, so that run checks the part. A part is
// checked once an hour at most.
func (w *rowsWatch) suspect(err error) {
	part := insights.DamagedPart(err.Error())
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, found := w.looked[part]; found && time.Since(at) < auditEvery || len(w.suspects) >= mostSuspected ||
		slices.Contains(w.suspects, part) || slices.Contains(w.unchecked, part) {
		return
	}
	if len(w.looked) >= mostSuspected {
		clear(w.looked)
	}
	w.looked[part] = time.Now()
	w.suspects = append(w.suspects, part)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run compares the ledger with the table once an hour, and after an error that shows damage. It restores the missing
// events that the log has.
func (w *rowsWatch) run(ctx context.Context) {
	w.repeat(ctx, w.wake, "Cannot compare the stored events with the ledger; the next try follows.", func() error {
		err := w.look(ctx)
		if err := w.restore(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("Cannot restore missing events now; the next try follows.", "error", err)
		}
		return err
	})
}

// follow reads the missing events every few seconds. It runs concurrently with run, because run may check parts for an
// hour.
func (w *rowsWatch) follow(ctx context.Context) {
	w.repeat(ctx, nil, "Cannot read whether stored events are missing; the next try follows.", func() error {
		return w.read(ctx)
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), missingEvery)
	defer cancel()
	if err := w.ledger.ForgetReader(ctx, w.node); err != nil {
		w.log.Warn("Other nodes do not know yet that this node stops.", "error", err)
	}
}

// repeat calls do every few seconds, and when wake receives a value, until ctx ends.
func (w *rowsWatch) repeat(ctx context.Context, wake <-chan struct{}, failed string, do func() error) {
	var pace retry.LogPace
	tick := time.NewTicker(missingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-wake:
		}
		if err := do(); err != nil && ctx.Err() == nil && pace.Due() {
			w.log.Warn(failed, "error", err)
		}
	}
}

// look checks suspected parts. It compares the ledger with the table if it checks parts, or if a comparison is due.
// After a failure, the pauses before the next attempt grow, because an attempt may read a whole part or month. It
// always reads the missing events.
func (w *rowsWatch) look(ctx context.Context) error {
	if !w.ready() {
		return w.read(ctx)
	}
	w.mu.Lock()
	suspects, due := w.suspects, w.due() && w.again.over()
	w.suspects = nil
	if w.recheck.over() {
		suspects, w.unchecked = append(suspects, w.unchecked...), nil
	}
	w.mu.Unlock()
	var err error
	switch {
	case len(suspects) > 0:
		err = w.compare(ctx, checkWait, suspects...)
	case due:
		err = w.compare(ctx, auditWait)
	}
	return firstError(err, w.read(ctx))
}

// due reports whether a comparison is due. A notice that rows leave the table ends with the next comparison.
func (w *rowsWatch) due() bool {
	return w.audited.IsZero() || time.Since(w.audited) > auditEvery || slices.ContainsFunc(w.missing(), isLeaving)
}

// audit compares the ledger with the table before the node answers queries. It does nothing if an earlier comparison of
// this process succeeded, or failed a moment ago.
func (w *rowsWatch) audit(ctx context.Context) error {
	w.mu.Lock()
	due := w.due() && w.again.over()
	w.mu.Unlock()
	if !due {
		return w.read(ctx)
	}
	return firstError(w.compare(ctx, startWait), w.read(ctx), w.tellAside(ctx))
}

// tellAside logs the parts that are set aside, at each start until an operator deletes them. A disk may have damaged
// them. Sound copies of other parts are set aside too.
func (w *rowsWatch) tellAside(ctx context.Context) error {
	folders, err := w.table.Aside(ctx)
	if err == nil && len(folders) > 0 {
		w.log.Warn("Parts of the events table are set aside: they are damaged, or copies of other parts. Check the "+
			"disk if earlier lines name damage. The parts have visitors' data. "+
			"Delete their folders when their events are restored or accepted as lost.",
			"parts", len(folders), "folders", folders[:min(len(folders), mostNamed)])
	}
	return err
}

// compare checks the suspected parts, sets damaged parts aside, and compares the ledger with the table. It compares
// nothing if another node is comparing them.
func (w *rowsWatch) compare(ctx context.Context, wait time.Duration, suspects ...string) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	began := time.Now()
	var parts []eventstore.Part
	var later []string // names of parts to check later
	var failed error
	for _, name := range suspects {
		found, err := w.table.Parts(ctx, name)
		if err != nil {
			later, failed = append(later, name), errors.Join(failed, err)
		}
		parts = append(parts, found...)
	}
	list, err := w.mender.Compare(ctx, parts)
	w.mu.Lock()
	defer w.mu.Unlock()
	if lockIsBusy(err) {
		if len(suspects) == 0 {
			w.audited = time.Now()
			w.again.reset()
		}
		w.suspects = append(w.suspects, suspects...)
		return nil
	}
	if u, ok := errors.AsType[*sink.UncheckedError](err); ok {
		later = append(later, u.Parts...)
	}
	w.checkLater(later)
	if err == nil || list != nil {
		w.audited = time.Now()
	}
	switch {
	case err == nil, list != nil && errors.Is(err, sink.ErrDoubledUnknown):
		w.again.reset() // an early repetition of the look for doubled rows would fail too
	case errors.Is(err, eventstore.ErrBehind) && time.Since(began) < behindPause:
		// The attempt was cheap, and replicas of a busy cluster are often behind.
		w.again.until = time.Now().Add(behindPause)
	default:
		w.again.begin()
	}
	return errors.Join(failed, err)
}

// checkLater records suspected parts whose check failed. Their pause grows with each failure, because a check may read
// a large part. It does not delay the check of a part that becomes suspected later.
func (w *rowsWatch) checkLater(parts []string) {
	for _, part := range parts {
		if !slices.Contains(w.unchecked, part) {
			w.unchecked = append(w.unchecked, part)
		}
	}
	switch {
	case len(parts) > 0:
		w.recheck.begin()
	case len(w.unchecked) == 0:
		w.recheck.reset()
	}
}

// restore restores missing rows that no repair has searched for yet. The pauses between repairs grow until no rows need
// a repair.
func (w *rowsWatch) restore(ctx context.Context) error {
	missing := slices.DeleteFunc(slices.Clone(w.missing()), isLeaving)
	if !w.table.Sequential() || !w.ready() || schema.MissingTotal(missing) == schema.MissingLost(missing) {
		w.repaired.reset()
		return nil
	}
	if !w.repaired.over() {
		return nil
	}
	done, err := w.mender.Restore(ctx, false, func(sink.Difference) error { return nil })
	if lockIsBusy(err) {
		return nil // another node repairs, or visitors are being erased
	}
	w.repaired.begin()
	if err != nil {
		if eventstore.FaultOf(err).Reason == eventstore.DamageReason {
			w.suspect(err)
		}
		return err
	}
	if len(done.Partitions) > 0 {
		w.log.Error("Missing events were restored from the event log, as far as it has them.",
			"restored", done.Restored, "missing", schema.MissingTotal(done.Missing),
			"lost", schema.MissingLost(done.Missing))
	}
	return w.read(ctx)
}

// isLeaving reports whether missing rows are the rows of a notice. A notice says that a damaged part is being set
// aside. The months of its rows are unknown until the next comparison.
func isLeaving(m schema.MissingRows) bool { return m.Month == 0 }

// read reads the missing events, and logs new missing events. Then it records that this node has read them.
func (w *rowsWatch) read(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	// Read the notices before the months, because a comparison first stores the months and then deletes the notices.
	leaving, notice, err := w.ledger.Leaving(ctx)
	if err != nil {
		return err
	}
	months, err := w.ledger.Missing(ctx)
	if err != nil {
		return err
	}
	var days map[schema.MissingDay]int64
	if len(months) > 0 {
		if days, err = w.ledger.MissingDays(ctx); err != nil {
			return err
		}
	}
	list := schema.SplitMissing(months, days)
	if leaving > 0 {
		list = append(list, schema.MissingRows{Rows: leaving, First: time.Unix(0, 0).UTC(), Last: time.Now().UTC()})
	}
	w.show(list, months)
	now := time.Now()
	if notice <= w.notice && !w.beaten.IsZero() && now.Sub(w.beaten) < sink.ReaderEvery {
		return nil
	}
	if err := w.ledger.NoteReader(ctx, w.node, notice); err != nil {
		return err
	}
	w.notice, w.beaten = max(w.notice, notice), now
	return nil
}

// show publishes a list of missing rows in this process, and logs the changes.
func (w *rowsWatch) show(list, months []schema.MissingRows) {
	known := w.missing()
	w.gauge.Set(float64(schema.MissingOpen(list)))
	w.doubles.Set(float64(schema.DoubledTotal(list)))
	before, doubled := map[schema.EventMonth]int64{}, map[schema.EventMonth]int64{}
	for _, m := range known {
		before[m.Month] += m.Rows
		doubled[m.Month] += m.Doubled
	}
	w.known.Store(&list)
	for _, m := range list {
		if isLeaving(m) && m.Rows > before[m.Month] {
			w.log.Error("Stored events are missing: a damaged part of the insights store is being set aside. Answers "+
				"are incomplete and say so. A node restores what the event log still has. "+
				"`octavo repair` says what is lost.", "events", m.Rows)
		}
	}
	for _, m := range months {
		if m.Rows > before[m.Month] && m.Rows > m.Accepted {
			w.log.Error("Stored events are missing: the insights store lost them. Answers about these days are "+
				"incomplete and say so. A node restores what the event log still has. "+
				"`octavo repair` says what is lost.",
				"month", m.Month, "events", m.Rows, "from", m.First, "to", m.Last)
		}
		if m.Doubled > doubled[m.Month] {
			w.log.Error("Stored events are doubled: the insights store has them twice. Answers about these days count "+
				"them twice and say so. `octavo repair --yes` leaves one of each.",
				"month", m.Month, "events", m.Doubled, "from", m.First, "to", m.Last)
		}
	}
	if len(list) == 0 && len(before) > 0 {
		w.log.Info("No stored events are missing or doubled any more.")
	}
	if schema.MissingTotal(list) != schema.MissingTotal(known) ||
		schema.DoubledTotal(list) != schema.DoubledTotal(known) {
		w.changed() // cached answers may lack the restored events
	}
}
