package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/observe"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/clock"
)

const (
	clockEvery = time.Minute     // time between two checks of the clocks
	clockWait  = 5 * time.Second // longest wait for the insights store's answer
	// clockApart is the largest allowed difference between a node's clock and an engine's clock.
	clockApart = 2 * time.Second
)

// clockFile returns the path of a file that contains a time. The embedded broker computes the age of records from this
// time.
func clockFile(s *Settings) string { return filepath.Join(s.DataDir, "clock") }

// clockWatch checks the clocks of a node and its engines.
type clockWatch struct {
	store   *store.Store
	events  driver.Conn
	log     *slog.Logger
	metrics *observe.Clock
	file    string // see clockFile; "" without an embedded broker

	mu      sync.Mutex // mu is held while look runs
	node    string
	last    time.Time     // time of the last look; zero before the first look
	lastRan time.Duration // State.Ran at the last look
	was     clock.Doubt   // the doubt about the clock that this node logged last
	apart   map[string]bool
	// shown is the condition for /readyz; nil if all is well.
	shown atomic.Pointer[frame.Condition]
}

// newClockWatch builds the watch. It does not start the watch. prepareEvents calls `look` for the first time, before
// data is deleted.
func (n *node) newClockWatch() *clockWatch {
	w := &clockWatch{
		store: n.store, events: n.events, log: n.log, metrics: n.metrics.Clock, node: schema.NewID(),
		apart: map[string]bool{},
	}
	if n.settings.embedded(embedded.All).Kafka {
		w.file = clockFile(n.settings)
	}
	n.checks = append(n.checks, frame.Check{Name: "clock", Run: w.check})
	return w
}

// check reports to /readyz what the last look found about the clocks. The node serves requests with any state of the
// clocks.
func (w *clockWatch) check(context.Context) error {
	if shown := w.shown.Load(); shown != nil {
		return shown
	}
	return nil
}

func (w *clockWatch) run(ctx context.Context) {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("Cannot look at the clocks; the next try follows.", "error", err)
		}
	}
}

// errNoNewest means that it is unknown whether events exist, so the first look must wait.
var errNoNewest = errors.New("the insights store does not say yet when its newest event was received")

// look compares this node's clock with the clocks of Postgres and the insights store. It stores the times in Postgres,
// where functions use them to guard deletions by age (store/functions/clock.sql). It also updates the file for the
// embedded broker.
func (w *clockWatch) look(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	began := time.Now()
	state, err := w.store.Clock.State(ctx)
	if err != nil {
		return err
	}
	differ := w.compare("postgres", began, time.Now(), state.Now)
	l := clock.Look{Node: w.node, LastRan: w.lastRan}
	at, newest, err := w.eventsClock(ctx, state.Seen.IsZero())
	switch {
	case err == nil:
		differ = w.compare("clickhouse", at.asked, at.answered, at.now) || differ
		l.Clocks, l.Newest = append(l.Clocks, at.now), newest
	case state.Seen.IsZero():
		return errors.Join(errNoNewest, err)
	}
	now := time.Now()
	l.Clocks = append(l.Clocks, now)
	if !w.last.IsZero() {
		l.Ran = now.Sub(w.last)
	}
	before, after, err := w.store.Clock.Look(ctx, l)
	if err != nil {
		return err
	}
	w.last, w.lastRan = now, after.Ran
	w.tell(before, after)
	w.show(after, differ)
	return w.write(ctx)
}

// engineClock has the time `now` of an engine's clock, and this node's times before and after it queried the engine.
type engineClock struct{ asked, answered, now time.Time }

// eventsClock reads the insights store's clock. At the first look it also reads when the store's newest event was
// received.
func (w *clockWatch) eventsClock(ctx context.Context, first bool) (at engineClock, newest time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, clockWait)
	defer cancel()
	at.asked = time.Now()
	if err = w.events.QueryRow(ctx, "SELECT now64(3)").Scan(&at.now); err != nil {
		return at, newest, fmt.Errorf("cannot ask the insights store for the time: %w", err)
	}
	at.answered = time.Now()
	if !first {
		return at, newest, nil
	}
	var events uint64
	err = w.events.QueryRow(ctx, "SELECT count(), max("+insights.ColumnReceived+") FROM "+insights.Table).
		Scan(&events, &newest)
	if err != nil {
		return at, newest, fmt.Errorf("cannot ask for the newest event: %w", err)
	}
	if events == 0 {
		newest = time.Time{}
	}
	return at, newest, nil
}

// compare reports whether an engine's clock differs from this node's clock. It logs a change of the result. The engine
// read its clock between the times `asked` and `answered`, which are times of this node's clock.
func (w *clockWatch) compare(engine string, asked, answered, theirs time.Time) bool {
	half := answered.Sub(asked) / 2
	by := theirs.Sub(asked.Round(0).Add(half))
	w.metrics.Differs(engine, by)
	differs := by.Abs()-half > clockApart
	if differs != w.apart[engine] {
		w.apart[engine] = differs
		if differs {
			w.log.Warn("The clock of this node differs from an engine's. Synchronize them: times of events, and what "+
				"expires, depend on both.", "engine", engine, "ahead", by.Round(time.Millisecond))
		} else {
			w.log.Info("The clock of this node agrees with an engine's again.", "engine", engine)
		}
	}
	return differs
}

// tell logs the beginning and the end of a doubt about the clock.
func (w *clockWatch) tell(before, after clock.State) {
	w.metrics.Held(after.Held(), after.Left())
	if after.Doubt == w.was {
		return
	}
	w.was = after.Doubt
	switch {
	case after.Held():
		w.log.Error("The clock is days ahead of all that is known, so nothing is deleted by age. "+
			"Set it right if it is wrong. If it is right, such as after a long pause, run "+
			"`octavo clock confirm`. Otherwise deletions go on "+
			"when nodes have run for 24 hours.", "clock", after.Now, "known", after.Seen, "left", after.Left())
	case after.Doubt == clock.Behind:
		w.log.Warn("The clock is days behind the furthest time that nodes have seen. "+
			"Set it right if it is wrong. If it is right, run `octavo clock confirm`.",
			"clock", after.Now, "known", after.Seen)
	case before.Ran > 0 && after.Seen.Sub(before.Seen).Abs() > clockEvery*10:
		w.log.Warn("The clock was in doubt, and is trusted because nodes have run for 24 hours.", "clock", after.Now)
	default:
		w.log.Info("The clock is trusted again.", "clock", after.Now)
	}
}

// show sets the text of /readyz about the clock.
func (w *clockWatch) show(state clock.State, differ bool) {
	var c *frame.Condition
	switch {
	case state.Held():
		c = &frame.Condition{Word: "ahead: nothing is deleted by age", Err: errors.New("the clock is days ahead")}
	case state.Doubt == clock.Behind:
		c = &frame.Condition{Word: "behind", Err: errors.New("the clock is days behind")}
	case differ:
		c = &frame.Condition{Word: "differs from an engine's", Err: errors.New("the clocks differ")}
	}
	if c != nil {
		c.Serves = true
	}
	w.shown.Store(c)
}

// write stores the time for the embedded broker in the file (see clockFile). Without an embedded broker it does
// nothing.
func (w *clockWatch) write(ctx context.Context) error {
	if w.file == "" {
		return nil
	}
	at, err := w.store.Clock.DeletionTime(ctx)
	if err == nil && at.After(time.Unix(0, 0)) { // otherwise the file still has the last trusted time
		err = writePrivate(w.file, []byte(at.UTC().Format(time.RFC3339)+"\n"))
	}
	return err
}
