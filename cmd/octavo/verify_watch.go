package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
)

const (
	verifyLook  = time.Minute        // the time between two reads of the last results
	verifyAge   = 7 * 24 * time.Hour // the age of results at which the next verification begins
	tablesAge   = time.Hour          // the age of results about small tables at which their next verification begins
	verifyAfter = time.Hour          // the time from the start of the node to its first verification
	verifyLock  = "verification of stored data"
)

// verifyWatch verifies all stored data once a week. Only one node at a time verifies the data, and all nodes show the
// results.
type verifyWatch struct {
	tools   *rowsTools
	damaged *prometheus.GaugeVec
	log     *slog.Logger
	ready   func() bool
	suspect func(error) // suspect is called with each damaged part of the events table
	began   time.Time
	shown   atomic.Pointer[frame.Condition]
}

func (n *node) newVerifyWatch() *verifyWatch {
	w := &verifyWatch{
		tools:   n.rows.tools,
		damaged: n.metrics.Damaged, log: n.log, ready: n.setup.migrated.Load,
		suspect: n.rows.suspect, began: time.Now(),
	}
	n.checks = append(n.checks, frame.Check{Name: "verification", Run: w.check})
	return w
}

// check reports the last verification's results to /readyz. The node serves the undamaged data.
func (w *verifyWatch) check(context.Context) error {
	if shown := w.shown.Load(); shown != nil {
		return shown
	}
	return nil
}

func (w *verifyWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		// The jitter spreads the verifications of nodes that start together.
		retry.Sleep(ctx, verifyLook/2+rand.N(verifyLook))
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("Cannot verify the stored data now; the next try follows.", "error", err)
		}
	}
}

// look verifies all kinds of data if a kind has no results of the last week. Otherwise it verifies the small tables if
// they have no results of the last hour. It shows all results.
func (w *verifyWatch) look(ctx context.Context) error {
	if !w.ready() {
		return nil
	}
	list, err := w.tools.store.Verifications(ctx)
	if err != nil {
		return err
	}
	now, err := w.tools.store.Clock.State(ctx)
	if err != nil {
		return err
	}
	switch {
	case time.Since(w.began) <= verifyAfter:
	case verificationDue(list, now.Now, "", verifyAge):
		list, err = w.verify(ctx, "")
	case verificationDue(list, now.Now, verifiedTables, tablesAge):
		list, err = w.verify(ctx, verifiedTables)
	}
	if err != nil {
		return err
	}
	w.show(list)
	return nil
}

// verificationDue reports whether a kind of data has no results that are younger than `age`. The parameter `only` names
// the kind to look at. If it is "", verificationDue looks at all kinds.
func verificationDue(list []schema.Verification, now time.Time, only string, age time.Duration) bool {
	for _, of := range verifications {
		young := slices.ContainsFunc(list, func(v schema.Verification) bool {
			since := now.Sub(v.VerifiedAt) // since is less than 0 if the clock was set back after the verification
			return v.Kind == of.kind && since >= 0 && since <= age
		})
		if (only == "" || of.kind == only) && !young {
			return true
		}
	}
	return false
}

// verify verifies all kinds of data, or one kind, and returns all results. If another node is verifying, verify only
// returns the stored results.
func (w *verifyWatch) verify(ctx context.Context, only string) (list []schema.Verification, err error) {
	lock, err := w.tools.store.TryLock(ctx, verifyLock)
	if lockIsBusy(err) {
		return w.tools.store.Verifications(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, lock.Release(context.WithoutCancel(ctx))) }()
	v := &verifier{
		rowsTools: w.tools, deep: true, only: only, progress: func(string, int64, int64) {},
		found: func(kind, what string) {
			w.log.Error("Stored data is damaged: `octavo verify` says what to do.", "kind", kind, "what", what)
			if kind == verifiedEvents {
				w.suspect(errors.New(what))
			}
		},
	}
	if list, err = v.run(ctx); err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Kind == verifiedEvents {
			list[i].Damaged = 0 // nodes set these parts aside now, and missing events have a separate alert
		}
	}
	if err := v.note(ctx, list); err != nil {
		return nil, err
	}
	w.log.Info("Stored data was read and verified.", "kinds", len(list))
	return w.tools.store.Verifications(ctx)
}

func (w *verifyWatch) show(list []schema.Verification) {
	damaged := int64(0)
	for _, of := range list {
		w.damaged.WithLabelValues(of.Kind).Set(float64(of.Damaged))
		damaged += of.Damaged
	}
	if damaged == 0 {
		w.shown.Store(nil)
		return
	}
	w.shown.Store(&frame.Condition{
		Word: fmt.Sprintf("damaged: %d", damaged), Err: fmt.Errorf("a verification found %d damaged pieces", damaged),
		Serves: true,
	})
}
