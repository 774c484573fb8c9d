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
	verifyMost  = 24 * time.Hour     // the longest pause after a verification that failed
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
	again   map[string]*pause // pauses after verifications that failed, by kind
	shown   atomic.Pointer[frame.Condition]
}

func (n *node) newVerifyWatch() *verifyWatch {
	w := &verifyWatch{
		tools:   n.rows.tools,
		damaged: n.metrics.Damaged, log: n.log, ready: n.setup.migrated.Load,
		suspect: n.rows.suspect, began: time.Now(), again: map[string]*pause{},
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

// look verifies the kinds of data that are due, and shows all results.
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
	if due := w.due(list, now.Now); len(due) > 0 {
		err = w.verify(ctx, due)
		var stored error
		if list, stored = w.tools.store.Verifications(ctx); stored != nil {
			return errors.Join(err, stored)
		}
	}
	w.show(list)
	return err
}

// due returns the kinds of data that have no results of the last week. The small tables are due if they have no results
// of the last hour. A kind that could not be verified is due after a pause. The pauses grow, because a verification may
// read all data of its kind before it fails.
func (w *verifyWatch) due(list []schema.Verification, now time.Time) (due []kindOfData) {
	if time.Since(w.began) <= verifyAfter {
		return nil
	}
	for _, of := range verifications {
		age := verifyAge
		if of.kind == verifiedTables {
			age = tablesAge
		}
		young := slices.ContainsFunc(list, func(v schema.Verification) bool {
			since := now.Sub(v.VerifiedAt) // since is less than 0 if the clock was set back after the verification
			return v.Kind == of.kind && since >= 0 && since <= age
		})
		if again := w.again[of.kind]; again == nil && !young || again != nil && again.over() {
			due = append(due, of)
		}
	}
	return due
}

// ended begins or ends the pauses of the kinds that were verified. It returns the errors of the kinds that failed.
func (w *verifyWatch) ended(kinds []kindOfData, failed map[string]error) (err error) {
	for _, of := range kinds {
		if failed[of.kind] == nil {
			delete(w.again, of.kind)
			continue
		}
		err = errors.Join(err, failed[of.kind])
		if w.again[of.kind] == nil {
			w.again[of.kind] = &pause{backoff: retry.Backoff{First: verifyLook, Max: verifyMost}}
		}
		w.again[of.kind].begin()
	}
	return err
}

// verify verifies kinds of data, and stores the results. If another node is verifying, verify does nothing.
func (w *verifyWatch) verify(ctx context.Context, kinds []kindOfData) (err error) {
	lock, err := w.tools.store.TryLock(ctx, verifyLock)
	if lockIsBusy(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, lock.Release(context.WithoutCancel(ctx))) }()
	v := &verifier{
		rowsTools: w.tools, deep: true, progress: func(string, int64, int64) {},
		found: func(kind, what string) {
			w.log.Error("Stored data is damaged: `octavo verify` says what to do.", "kind", kind, "what", what)
			if kind == verifiedEvents {
				w.suspect(errors.New(what))
			}
		},
	}
	list, failed := v.run(ctx, kinds)
	list = slices.DeleteFunc(list, func(of schema.Verification) bool {
		return of.Kind == verifiedEvents && failed[of.Kind] != nil // unread parts may have damage
	})
	for i := range list {
		if list[i].Kind == verifiedEvents {
			list[i].Damaged = 0 // nodes set these parts aside now, and missing events have a separate alert
		}
	}
	err = errors.Join(w.ended(kinds, failed), v.note(ctx, list))
	if len(list) > 0 {
		w.log.Info("Stored data was read and verified.", "kinds", len(list))
	}
	return err
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
