package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// watchWorld is the ledger, the table and the mender of a rowsWatch.
type watchWorld struct {
	err      error // the error of Compare
	parts    error // the error of the checks of the parts whose names begin with "all_"
	leaving  int64
	compared []time.Time
	checked  int    // number of parts that were given to Compare
	last     string // names of the parts that were last given to Compare
	aside    []string
}

func (w *watchWorld) Aside(context.Context) ([]string, error) { return w.aside, nil }

func (w *watchWorld) Leaving(context.Context) (int64, int64, error) { return w.leaving, 1, nil }

func (w *watchWorld) Missing(context.Context) ([]schema.MissingRows, error) { return nil, nil }

func (w *watchWorld) MissingDays(context.Context) (map[schema.MissingDay]int64, error) {
	return nil, nil
}

func (w *watchWorld) NoteReader(context.Context, string, int64) error { return nil }

func (w *watchWorld) ForgetReader(context.Context, string) error { return nil }

func (w *watchWorld) Sequential() bool { return true }

func (w *watchWorld) Parts(_ context.Context, name string) ([]eventstore.Part, error) {
	return []eventstore.Part{{Name: name}}, nil
}

func (w *watchWorld) Compare(_ context.Context, parts []eventstore.Part) ([]schema.MissingRows, error) {
	w.compared, w.checked, w.last = append(w.compared, time.Now()), w.checked+len(parts), ""
	var unchecked []string
	for _, p := range parts {
		w.last += p.Name + " "
		if strings.HasPrefix(p.Name, "all_") {
			unchecked = append(unchecked, p.Name)
		}
	}
	if w.err != nil && !errors.Is(w.err, sink.ErrDoubledUnknown) {
		return nil, w.err
	}
	w.leaving = 0
	if w.parts != nil && len(unchecked) > 0 {
		return []schema.MissingRows{}, &sink.UncheckedError{Parts: unchecked, Err: w.parts}
	}
	return []schema.MissingRows{}, w.err
}

func (w *watchWorld) Restore(context.Context, bool, func(sink.Difference) error) (sink.Mended, error) {
	return sink.Mended{}, nil
}

// idle returns a rowsWatch of the world.
func (w *watchWorld) idle() *rowsWatch {
	return &rowsWatch{
		ledger: w, table: w, mender: w, log: slog.New(slog.DiscardHandler), ready: func() bool { return true },
		gauge:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "missing"}),
		doubles: prometheus.NewGauge(prometheus.GaugeOpts{Name: "doubled"}),
		changed: func() {}, wake: make(chan struct{}, 1), looked: map[string]time.Time{},
		again: pause{backoff: rowsBackoff}, recheck: pause{backoff: rowsBackoff}, repaired: pause{backoff: rowsBackoff},
	}
}

// watch returns a rowsWatch of the world, and starts it. It runs until the test ends.
func (w *watchWorld) watch(t *testing.T) *rowsWatch {
	r := w.idle()
	go r.run(t.Context())
	return r
}

// TestRowsWatchPace runs comparisons that fail for a day. The pauses between them must grow to an hour, whether a
// notice says that rows leave the table or a part is suspected. After a success, the next comparison must follow in an
// hour.
func TestRowsWatchPace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leaving int64
		suspect bool
	}{
		"hourly": {}, "a notice": {leaving: 5}, "a suspected part": {suspect: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watchWorld{err: errors.New("the month is too large"), leaving: c.leaving}
				r := w.watch(t)
				damage := errors.New("part 'all_1_1_0' is damaged")
				if c.suspect {
					w.err, w.parts = nil, errors.New("the part is too large")
					r.suspect(damage)
				}
				begin := time.Now()
				for time.Since(begin) < 24*time.Hour {
					time.Sleep(time.Minute)
					if c.suspect {
						r.suspect(damage) // queries meet the damage again and again
					}
				}
				synctest.Wait()
				// 5, 10, 20 … 2560 seconds, then an hour.
				if n := len(w.compared); n < 30 || n > 36 {
					t.Fatalf("%d comparisons in a day", n)
				}
				if n := len(w.compared); w.compared[n-1].Sub(w.compared[n-2]) < auditEvery {
					t.Errorf("the last pause is %v", w.compared[n-1].Sub(w.compared[n-2]))
				}
				if early := w.compared[1].Sub(w.compared[0]); early > 10*time.Second {
					t.Errorf("the first pause is %v", early)
				}
				if want := len(w.compared); c.suspect && w.checked != want || !c.suspect && w.checked > 0 {
					t.Errorf("%d parts were checked in %d comparisons", w.checked, len(w.compared))
				}

				w.err, w.parts, w.compared = nil, nil, nil
				time.Sleep(2*auditEvery + 10*missingEvery)
				synctest.Wait()
				if n := len(w.compared); n < 2 || n > 3 || w.compared[1].Sub(w.compared[0]) < auditEvery {
					t.Errorf("after a success, comparisons ran at %v", w.compared)
				}
			})
		})
	}
}

// TestRowsWatchNewSuspect reports a damaged part after comparisons, or checks of another part, have failed for a day.
// The part must be checked at once, only once, and without the other part.
func TestRowsWatchNewSuspect(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*watchWorld{
		"comparisons fail": {err: errors.New("the month is too large")},
		"looks fail":       {err: sink.ErrDoubledUnknown},
		"checks fail":      {parts: errors.New("the part is too large")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := w.watch(t)
				if w.parts != nil {
					r.suspect(errors.New("part 'all_1_1_0' is damaged"))
				}
				time.Sleep(24*time.Hour + 10*time.Minute)
				synctest.Wait()
				w.checked, w.compared = 0, nil
				r.suspect(errors.New("part '202611_2_2_0' is damaged"))
				synctest.Wait()
				if w.checked != 1 || w.last != "202611_2_2_0 " {
					t.Fatalf("%d parts were checked, the last were %q", w.checked, w.last)
				}
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				if n := len(w.compared); n < 23 || n > 36 || w.parts == nil && w.checked != 1 {
					t.Errorf("%d parts were checked in %d comparisons", w.checked, n)
				}
			})
		})
	}
}

// TestRowsWatchUnknown lets each look for doubled rows fail. The missing rows are known, so the next comparison must
// follow in an hour.
func TestRowsWatchUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watchWorld{err: fmt.Errorf("%w: the month is too large", sink.ErrDoubledUnknown)}
		w.watch(t)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := len(w.compared); n < 23 || n > 24 {
			t.Errorf("%d comparisons in a day", n)
		}
	})
}

// TestRowsWatchBusy leaves the comparison to another node while a notice says that rows leave the table. If the other
// node ends, this node must compare within seconds.
func TestRowsWatchBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watchWorld{err: fmt.Errorf("lock: %w", postgres.ErrLocked), leaving: 5}
		w.watch(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		w.err = nil
		time.Sleep(2 * missingEvery)
		synctest.Wait()
		if w.leaving != 0 {
			t.Error("the notice is still there")
		}
	})
}

// TestRowsWatchBehind compares with a cluster that has a replica behind for a day. The pauses must not grow, so that a
// comparison soon follows when the replica has all rows.
func TestRowsWatchBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watchWorld{err: fmt.Errorf("cannot count rows: %w", eventstore.ErrBehind)}
		w.watch(t)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		tried := len(w.compared)
		if most := int(24 * time.Hour / behindPause); tried > most || tried < most/2 {
			t.Errorf("%d attempts in a day", tried)
		}
		w.err = nil
		time.Sleep(behindPause + 2*missingEvery)
		synctest.Wait()
		if len(w.compared) != tried+1 {
			t.Errorf("%d attempts after the replica has all rows, want 1", len(w.compared)-tried)
		}
	})
}

// TestRowsWatchTellsAside starts a node whose table has parts that are set aside. The log must name their folders. A
// comparison that is repeated at the start must wait.
func TestRowsWatchTellsAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := &watchWorld{aside: []string{"/data/detached/broken-on-start_202611_7_61_9"}, err: errors.New("no answer")}
		r := w.idle()
		r.log = slog.New(slog.NewTextHandler(&log, nil))
		if err := r.audit(t.Context()); !errors.Is(err, w.err) || !strings.Contains(log.String(), w.aside[0]) ||
			!strings.Contains(log.String(), "or copies of other parts") {
			t.Errorf("%v: the log has %s", err, log.String())
		}
		if err := r.audit(t.Context()); err != nil || len(w.compared) != 1 {
			t.Errorf("%v: after a failure, comparisons ran at %v", err, w.compared)
		}
		w.err = nil
		time.Sleep(restoreFirst)
		if err := r.audit(t.Context()); err != nil || len(w.compared) != 2 {
			t.Errorf("%v: comparisons ran at %v", err, w.compared)
		}
	})
}
