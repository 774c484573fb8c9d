package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

const (
	missingEvery = 3 * time.Second // between two reads of what is missing
	auditEvery   = time.Hour       // between two comparisons
	auditWait    = time.Minute     // bounds one comparison
)

// rowsWatch knows which events the insights store lacks. A single node at a time compares the ledger with the events
// table, and all nodes read the result.
type rowsWatch struct {
	store *store.Store
	table *eventstore.ClickHouse
	log   *slog.Logger
	gauge prometheus.Gauge

	ready func() bool // whether the events table can be used
	known atomic.Pointer[[]schema.MissingRows]

	mu      sync.Mutex // of a comparison
	audited time.Time  // when this node last compared, or found that another node does
}

// newRowsWatch builds the watch. It starts nothing: prepareEvents compares first, before the node answers queries.
func (n *node) newRowsWatch() (*rowsWatch, error) {
	table, err := eventstore.New(eventstore.Config{Conn: n.events, Cluster: n.settings.ClickHouseCluster})
	w := &rowsWatch{
		store: n.store, table: table, log: n.log, gauge: n.metrics.MissingRows, ready: n.setup.migrated.Load,
	}
	n.checks = append(n.checks, frame.Check{Name: "events", Run: w.check})
	return w, err
}

// missing returns the rows that are known to be missing.
func (w *rowsWatch) missing() []schema.MissingRows {
	if known := w.known.Load(); known != nil {
		return *known
	}
	return nil
}

// check tells /readyz what is missing. The node serves all the same: its answers say what they lack.
func (w *rowsWatch) check(context.Context) error {
	rows := schema.MissingTotal(w.missing())
	if rows == 0 {
		return nil
	}
	return &frame.Condition{
		Word: fmt.Sprintf("incomplete: %d are missing", rows),
		Err:  errors.New("stored events are missing"), Serves: true,
	}
}

// run reads what is missing, and compares once an hour.
func (w *rowsWatch) run(ctx context.Context) {
	var pace retry.LogPace
	tick := time.NewTicker(missingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.look(ctx); err != nil && ctx.Err() == nil && pace.Due() {
			w.log.Warn("Cannot tell whether stored events are missing; the next try follows.", "error", err)
		}
	}
}

func (w *rowsWatch) look(ctx context.Context) error {
	w.mu.Lock()
	due := w.ready() && (w.audited.IsZero() || time.Since(w.audited) > auditEvery)
	w.mu.Unlock()
	if due {
		return w.audit(ctx)
	}
	return w.read(ctx)
}

// audit compares, unless another node does.
func (w *rowsWatch) audit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, auditWait)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := auditRows(ctx, w.store, w.table)
	if err == nil {
		w.audited = time.Now()
	}
	return firstError(err, w.read(ctx))
}

// auditRows compares the table with the counted rows. While another process does, it returns what is known.
func auditRows(
	ctx context.Context, st *store.Store, table *eventstore.ClickHouse,
) (list []schema.MissingRows, err error) {
	lock, err := st.TryLock(ctx, sink.AuditLock)
	if lockIsBusy(err) {
		return st.Rows.Missing(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, lock.Release(context.WithoutCancel(ctx))) }()
	return sink.Audit(ctx, st.Rows, table)
}

// read reads what is missing, and logs what is new.
func (w *rowsWatch) read(ctx context.Context) error {
	list, err := w.store.Rows.Missing(ctx)
	if err != nil {
		return err
	}
	w.gauge.Set(float64(schema.MissingTotal(list)))
	before := map[schema.EventMonth]int64{}
	for _, m := range w.missing() {
		before[m.Month] = m.Rows
	}
	w.known.Store(&list)
	for _, m := range list {
		if m.Rows > before[m.Month] {
			w.log.Error("Stored events are missing: the insights store lost them. Answers about these days are "+
				"incomplete and say so. `octavo reconcile --repair` restores what the log still has.",
				"month", m.Month, "events", m.Rows, "from", m.First, "to", m.Last)
		}
	}
	if len(list) == 0 && len(before) > 0 {
		w.log.Info("No stored events are missing any more.")
	}
	return nil
}
