package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

func held(context.Context) (func(context.Context) error, func() error, error) {
	return func(context.Context) error { return nil }, func() error { return nil }, nil
}

type rig struct {
	t     *testing.T
	store *store.Store
	table *eventstore.ClickHouse
	conn  driver.Conn
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, store: storetest.Open(t, storetest.URL(t)), conn: ingesttest.Table(t, enginetest.ClickHouse(t))}
	var err error
	if r.table, err = eventstore.New(eventstore.Config{Conn: r.conn, SettleWait: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) job(change func(*JobConfig)) *Job {
	r.t.Helper()
	cfg := JobConfig{
		Ledger: r.store.Sites, Rows: r.store.Rows, Table: r.table,
		Logger: ingesttest.Logger(r.t), Poll: time.Millisecond,
		Honoured: func(context.Context, int64) (bool, error) { return true, nil },
	}
	if change != nil {
		change(&cfg)
	}
	j, err := NewJob(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return j
}

func (r *rig) exec(statement string) {
	r.t.Helper()
	if err := r.conn.Exec(r.t.Context(), statement); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) insert(site string, visitor int) {
	r.t.Helper()
	r.exec(fmt.Sprintf("INSERT INTO events (site, visitor, session, time) SELECT '%s', %d, number %% 3, now64(3) - number * 86400 FROM numbers(100)", site, visitor))
}

func (r *rig) rows(site string, visitor int) (n uint64) {
	r.t.Helper()
	if err := r.conn.QueryRow(r.t.Context(), fmt.Sprintf("SELECT count() FROM events WHERE site = '%s' AND visitor = %d", site, visitor)).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) ask(site string, visitor uint64) sites.Erasure {
	r.t.Helper()
	return r.askUntil(site, visitor, time.Now())
}

func (r *rig) askUntil(site string, visitor uint64, until time.Time) sites.Erasure {
	r.t.Helper()
	e, err := r.store.Sites.AskErasure(
		r.t.Context(), site, visitor, until.Truncate(time.Second).Add(time.Second), time.Hour,
	)
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// TestEraseKilled kills the process of an erasure at each step. The next process must finish the erasure, and delete
// only the visitor's events. With -short, the test kills only at every third step.
func TestEraseKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	killed := errors.New("killed")
	passed := map[string]bool{}
	stride := 1
	if testing.Short() {
		stride = 3
	}
	for step := 0; step < 7; step += stride { // in the last round, no step is killed
		site := fmt.Sprint("site", step)
		for visitor := range 4 {
			r.insert(site, visitor)
		}
		r.ask(site, 1)
		r.ask(site, 2)
		steps := 0
		err := r.job(func(c *JobConfig) {
			c.step = func(name string) error {
				passed[name] = true
				if steps++; steps > step {
					return killed
				}
				return nil
			}
		}).Erase(t.Context(), held)
		if err != nil && !errors.Is(err, killed) {
			t.Fatal(err)
		}
		eventually.Succeeds(t, "an erasure to succeed", func() error {
			j := r.job(nil)
			pending, err := j.Pending(t.Context())
			if err == nil && pending.Count > pending.Mutated {
				err = errors.Join(errors.New("not yet"), j.Erase(t.Context(), held))
			}
			return err
		})
		for visitor, want := range []uint64{100, 0, 0, 100} {
			if n := r.rows(site, visitor); n != want {
				t.Fatalf("killed at step %d: visitor %d has %d rows", step, visitor, n)
			}
		}
	}
	if len(passed) != 6 {
		t.Errorf("steps %v", passed)
	}
}

// TestEraseBorder checks that an erasure deletes only the events that were received before it was requested, even if
// its deletion begins later.
func TestEraseBorder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	until := time.Now().Truncate(time.Second).Add(-30 * time.Second)
	at := func(visitor int, received time.Time) {
		r.exec(
			fmt.Sprintf("INSERT INTO events (site, visitor, received) VALUES ('a', %d, %d)", visitor, received.Unix()),
		)
	}
	day := until.Truncate(24 * time.Hour)
	for visitor, list := range [][]time.Time{
		{until.Add(-time.Second), until},
		{until.Add(-time.Second), until, until.Add(time.Second), day, day.Add(-90 * 24 * time.Hour)},
		{until, until.Add(time.Minute)},
		{until.Add(10 * time.Second)},
	} {
		for _, received := range list {
			at(visitor, received)
		}
	}
	for visitor, until := range map[uint64]time.Time{1: until, 2: until, 3: until.Add(11 * time.Second)} {
		r.askUntil("a", visitor, until.Add(-time.Second))
	}
	if err := r.job(nil).Erase(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	for visitor, want := range []uint64{2, 2, 2, 0} {
		if n := r.rows("a", visitor); n != want {
			t.Errorf("visitor %d has %d rows, want %d", visitor, n, want)
		}
	}
	list, _, err := r.store.Sites.Tombstones(t.Context(), 0)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	view := (&View{}).with(list, list[0].Version)
	for _, c := range []struct {
		received time.Time
		want     bool
	}{{until.Add(-time.Millisecond), true}, {until, false}, {until.Add(time.Millisecond), false}} {
		if got := view.Site("a").Has(1, "", c.received.UnixMilli()); got != c.want {
			t.Errorf("received at %v: %v, want %v", c.received, got, c.want)
		}
	}
}

// TestEraseEventKey checks the erasure of a generation of a publishable key. It must delete exactly the rows that were
// received on this site, with this generation, before the request.
func TestEraseEventKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	until := time.Now().Truncate(time.Second).Add(time.Second)
	for _, row := range []struct {
		site, key string
		received  time.Time
	}{
		{"a", "k.1", until.Add(-time.Second)}, {"a", "k.1", until.Add(-time.Hour)}, {"a", "k.1", until},
		{"a", "k.2", until.Add(-time.Second)}, {"a", "k.11", until.Add(-time.Second)},
		{"a", "", until.Add(-time.Second)}, {"b", "k.1", until.Add(-time.Second)},
	} {
		r.exec(fmt.Sprintf("INSERT INTO events (site, visitor, event_key, received) VALUES ('%s', 1, '%s', %d)",
			row.site, row.key, row.received.Unix()))
	}
	asked, err := r.store.Sites.AskKeyErasure(t.Context(), "a", "k.1", until, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.store.Sites.AskKeyErasure(t.Context(), "a", "k.1", until, time.Hour)
	if err != nil || !again.AskedAt.Equal(asked.AskedAt) || again.Visitor != asked.Visitor {
		t.Errorf("%+v, %v, asked before %+v", again, err, asked)
	}
	changed := []string{}
	job := r.job(func(c *JobConfig) { c.Changed = func(site string) { changed = append(changed, site) } })
	if err := job.Erase(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	left := map[string]uint64{}
	rows, err := r.conn.Query(t.Context(), "SELECT site || ' ' || event_key, count() FROM events GROUP BY ALL")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var key string
		var n uint64
		if err := rows.Scan(&key, &n); err != nil {
			t.Fatal(err)
		}
		left[key] = n
	}
	want := map[string]uint64{"a k.1": 1, "a k.2": 1, "a k.11": 1, "a ": 1, "b k.1": 1}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || !maps.Equal(left, want) || len(changed) != 1 {
		t.Errorf("%v, %v, want %v; changed %v", left, err, want, changed)
	}
	list, _, err := r.store.Sites.Tombstones(t.Context(), 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if one := list[0]; one.EventKey != "k.1" || one.SiteID != "a" || !one.Before.Equal(until) {
		t.Errorf("%+v", one)
	}
	e, err := r.store.Sites.KeyErasure(t.Context(), "a", "k.1")
	if err != nil || e.EventKey == nil || *e.EventKey != "k.1" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := r.store.Sites.KeyErasure(t.Context(), "a", "k.2"); err == nil {
		t.Error("an erasure that nobody asked for")
	}
}

// TestEraseWaits checks that the job deletes no rows before the sinks honour the tombstones. It also checks that the
// job deletes no rows after it has lost the lock.
func TestEraseWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.insert("a", 1)
	asked := r.ask("a", 1)
	version := int64(0)
	err := r.job(func(c *JobConfig) {
		c.Patience = 300 * time.Millisecond
		c.Honoured = func(_ context.Context, v int64) (bool, error) { version = v; return false, nil }
	}).Erase(t.Context(), held)
	if n := r.rows("a", 1); err != nil || n != 100 || version == 0 {
		t.Errorf("the sinks do not know: %v, %d rows, version %d", err, n, version)
	}
	list, upTo, err := r.store.Sites.Tombstones(t.Context(), 0)
	if err != nil || len(list) != 1 || list[0].Version != version || upTo != version || list[0].SiteID != "a" ||
		list[0].Visitor != 1 ||
		!list[0].Before.Equal(asked.ErasedUntil) {
		t.Errorf("tombstones %+v up to %d, %v", list, upTo, err)
	}
	lost := errors.New("lost")
	if err := r.job(nil).Erase(t.Context(), func(context.Context) (func(context.Context) error, func() error, error) {
		return func(context.Context) error { return lost }, func() error { return nil }, nil
	}); !errors.Is(err, lost) || r.rows("a", 1) != 100 {
		t.Errorf("without the lock: %v, %d rows", err, r.rows("a", 1))
	}
	for range 2 { // the first job finds the deletion that the job without the lock has begun
		if err := r.job(nil).Erase(t.Context(), held); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.rows("a", 1); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// TestEraseSaysWhyItWaits checks the log line of an erasure that waits. The line says whether sinks are missing, or
// whether they cannot be queried. A node that stops logs no such line.
func TestEraseSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	const missing, unknown = "not every partition", "cannot be asked"
	away := errors.New("no broker")
	late := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name        string
		first, then func(ctx context.Context) error // answers about the sinks' state; a nil function answers "no"
		want        string
	}{
		{"no", nil, nil, missing},
		{"an error", func(context.Context) error { return away }, func(context.Context) error { return away }, away.Error()},
		{"an error, then no", func(context.Context) error { return away }, nil, missing},
		{"no, then nothing", nil, late, missing},
		{"an error, then nothing", func(context.Context) error { return away }, late, away.Error()},
		{"nothing", late, late, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			ctx, stop := context.WithCancel(t.Context())
			ask := c.first
			j := Job{shown: time.Now().Add(time.Hour), cfg: JobConfig{
				Poll: time.Millisecond, Patience: time.Second, Logger: slog.New(slog.NewTextHandler(&said, nil)),
				Honoured: func(ctx context.Context, _ int64) (honoured bool, err error) {
					if ask != nil {
						err = ask(ctx)
					}
					ask = c.then
					return false, err
				},
			}}
			batch := schema.ErasureBatch{}
			if honoured, err := j.honoured(ctx, batch); honoured || err != nil || !strings.Contains(said.String(), c.want) || strings.Contains(said.String(), unknown) != (c.want != missing) {
				t.Errorf("%v, %q", err, said.String())
			}
			said.Reset()
			stop()
			if _, err := j.honoured(ctx, batch); !errors.Is(err, context.Canceled) || said.Len() > 0 {
				t.Errorf("of a node that stops: %v, %q", err, said.String())
			}
		})
	}
}

// TestFinish checks that an erasure is done when no replaced part is on the disk. A repeated request has no effect if
// the erasure covers the time of this request. A later request starts another erasure. The record of an erasure is
// deleted after its events have expired in the log.
func TestFinish(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.insert("a", 1)
	r.ask("a", 1)
	j := r.job(nil)
	if err := j.Erase(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	begun, err := r.store.Sites.Erasure(t.Context(), "a", 1)
	if err != nil || begun.Version == nil || begun.MutatedAt == nil || begun.DoneAt != nil {
		t.Fatalf("%+v, %v", begun, err)
	}
	finish := func() (left int64) {
		t.Helper()
		pending, err := j.Pending(t.Context())
		if err == nil {
			err = j.Finish(t.Context(), pending)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pending.Count
	}
	finish()
	if e, err := r.store.Sites.Erasure(t.Context(), "a", 1); err != nil || e.DoneAt != nil {
		t.Errorf("done while the old part is there: %+v, %v", e, err)
	}
	if e := r.askUntil("a", 1, begun.ErasedUntil.Add(-time.Second)); e.Version == nil ||
		!e.ErasedUntil.Equal(begun.ErasedUntil) ||
		!e.AskedAt.Equal(begun.AskedAt) {
		t.Errorf("asked again at once: %+v, before %+v", e, begun)
	}
	eventually.True(t, "the old part to leave the disk", func() bool {
		finish()
		e, err := r.store.Sites.Erasure(t.Context(), "a", 1)
		if err != nil {
			t.Fatal(err)
		}
		return e.DoneAt != nil && e.ErasedUntil.Before(time.Now())
	})
	if left := finish(); left > 0 {
		t.Errorf("%d are pending", left)
	}
	if err := r.store.Sites.ForgetErasures(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, _, err := r.store.Sites.Tombstones(t.Context(), 0); err != nil || len(list) != 1 {
		t.Errorf("a tombstone that is needed: %+v, %v", list, err)
	}
	if e := r.ask("a", 1); e.Version != nil || e.DoneAt != nil || e.MutatedAt != nil ||
		!e.ErasedUntil.After(begun.ErasedUntil) ||
		!e.AskedAt.After(begun.AskedAt) {
		t.Errorf("asked again later: %+v", e)
	}
}

// TestFinishInTurn checks that an erasure finishes although later erasures are pending. Each erasure gets a higher
// version than the erasure before.
func TestFinishInTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	began, mutated := time.Now(), time.Now().Truncate(time.Second)
	var versions []int64
	for i := range 2 {
		r.ask("a", uint64(i))
		b, err := r.store.Sites.BeginErasures(t.Context(), 1)
		if err != nil || len(b.Visitors) != 1 || b.Version < began.UnixMilli() {
			t.Fatalf("%+v, %v", b, err)
		}
		versions = append(versions, b.Version)
		if err := r.store.Sites.MarkMutated(
			t.Context(), b.Version, mutated.Add(time.Duration(i)*time.Hour),
		); err != nil {
			t.Fatal(err)
		}
	}
	r.ask("b", 1) // this erasure has not begun
	pending, err := r.store.Sites.PendingErasures(t.Context())
	if err != nil || pending.Count != 3 || pending.Mutated != 2 || !pending.FirstMutated.Equal(mutated) || versions[1] <= versions[0] {
		t.Errorf("%+v, %v; versions %v", pending, err, versions)
	}
	if done, err := r.store.Sites.FinishErasures(t.Context(), pending.FirstMutated); done != 1 || err != nil {
		t.Errorf("%d are done, %v", done, err)
	}
	if e, err := r.store.Sites.Erasure(t.Context(), "a", 0); err != nil || e.DoneAt == nil {
		t.Errorf("%+v, %v", e, err)
	}
	// A repeated request for an unfinished erasure does not change the time of the first request.
	before := r.ask("a", 1)
	if again := r.ask("a", 1); !again.AskedAt.Equal(before.AskedAt) {
		t.Errorf("%+v, before %+v", again, before)
	}
}

// TestFinishWhileWaiting checks that an erasure is marked as done while a later erasure waits for the sinks.
func TestFinishWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ask("a", 1)
	b, err := r.store.Sites.BeginErasures(t.Context(), 1)
	if err == nil {
		err = r.store.Sites.MarkMutated(t.Context(), b.Version, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	r.insert("a", 2)
	r.ask("a", 2)
	if err := r.job(func(c *JobConfig) {
		c.Honoured = func(ctx context.Context, _ int64) (bool, error) {
			first, err := r.store.Sites.Erasure(ctx, "a", 1)
			return first.DoneAt != nil, err
		}
	}).Erase(t.Context(), held); err != nil || r.rows("a", 2) != 0 {
		t.Errorf("%v, %d rows of the later one", err, r.rows("a", 2))
	}
}

// TestEraseAhead erases a visitor with events that were received while a clock was ahead. The clock is correct again
// when the erasure runs. The erasure must delete these events. Later events must stay, except events whose time of
// arrival is in the time span that the erasure covers.
func TestEraseAhead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now().Truncate(time.Second)
	ahead := now.Add(400 * 24 * time.Hour)
	receive := func(visitor int, at time.Time) {
		r.exec(fmt.Sprintf("INSERT INTO events (site, visitor, session, time, received) "+
			"VALUES ('a', %d, 1, now64(3), toDateTime(%d))", visitor, at.Unix()))
	}
	for visitor := 1; visitor <= 2; visitor++ {
		receive(visitor, now.Add(-time.Hour))
		receive(visitor, ahead)
		receive(visitor, ahead.Add(10*time.Second))
		receive(visitor, now.Add(30*time.Second)) // received after the erasure, by a clock that is 30 s ahead
	}
	r.ask("a", 1)
	r.ask("a", 3)
	j := r.job(nil)
	for range 3 {
		if err := j.Erase(t.Context(), held); err != nil {
			t.Fatal(err)
		}
	}
	if erased, others := r.rows("a", 1), r.rows("a", 2); erased != 1 || others != 4 {
		t.Errorf("%d rows of the visitor and %d rows of another, want 1 and 4", erased, others)
	}
	e, err := r.store.Sites.Erasure(t.Context(), "a", 1)
	if err != nil || e.MutatedAt == nil || e.AheadFrom == nil || !e.AheadFrom.Equal(ahead) ||
		!e.AheadUntil.Equal(ahead.Add(11*time.Second)) || e.ErasedUntil.After(now.Add(time.Minute)) ||
		e.LogUntil.Before(ahead) {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := r.store.Sites.Erasure(t.Context(), "a", 3); err != nil || e.AheadFrom != nil || e.MutatedAt == nil {
		t.Errorf("without events: %+v, %v", e, err)
	}
	list := NewList(r.store.Sites, 0, nil)
	if err := list.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]bool{
		now.Add(-time.Hour): true, now.Add(time.Hour): false, ahead.Add(-time.Second): false, ahead: true,
		ahead.Add(10 * time.Second): true, ahead.Add(11 * time.Second): false,
	} {
		if got := list.View().Site("a").Has(1, "", at.UnixMilli()); got != want {
			t.Errorf("an event received at %s is erased: %v", at, got)
		}
	}
	// The next erasure of the visitor looks again for events that were received while a clock was ahead.
	receive(1, ahead.Add(time.Minute))
	if e := r.askUntil("a", 1, now.Add(2*time.Second)); e.AheadFrom != nil || e.Version != nil {
		t.Fatalf("asked again: %+v", e)
	}
	for range 3 {
		if err := j.Erase(t.Context(), held); err != nil {
			t.Fatal(err)
		}
	}
	if erased := r.rows("a", 1); erased != 1 {
		t.Errorf("%d rows after the second erasure, want 1", erased)
	}
}
