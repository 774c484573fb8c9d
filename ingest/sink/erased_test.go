package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// tombstones is an erasure.Source in memory.
type tombstones struct {
	mu      sync.Mutex
	list    []schema.Tombstone
	version int64
}

func (s *tombstones) Tombstones(_ context.Context, after int64) (list []schema.Tombstone, version int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.list {
		if t.Version > after {
			list = append(list, t)
		}
	}
	return list, s.version + 1, nil
}

func (s *tombstones) RaiseTombstones(context.Context, int64) error {
	return errors.New("no tombstone was lost")
}

// away is a source that returns errors until `back` is set.
type away struct {
	*tombstones
	asked, back atomic.Bool
}

func (a *away) Tombstones(ctx context.Context, after int64) ([]schema.Tombstone, int64, error) {
	if a.asked.Store(true); !a.back.Load() {
		return nil, 0, errors.New("away")
	}
	return a.tombstones.Tombstones(ctx, after)
}

// erase adds the tombstone of a visitor, and returns its version.
func (s *tombstones) erase(visitor uint64, before time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.list = append(s.list, schema.Tombstone{Version: s.version + 1, SiteID: intaketest.Site.ID, Visitor: visitor, Before: before})
	return s.version + 1
}

// follow returns a list for a sink. If `start` is false, the list has only the tombstones that exist at the time of the
// call.
func (s *tombstones) follow(t testing.TB, start bool) *erasure.List {
	t.Helper()
	list := erasure.NewList(s, time.Millisecond, nil)
	if err := list.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if start {
		if err := list.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = list.Stop(context.Background()) })
	}
	return list
}

// visitorOf returns the hash of a visitor id that the intake stores for events of the function `numbered`.
func (r *rig) visitorOf(name string) uint64 {
	r.t.Helper()
	m, err := insights.ParseMessage(intaketest.Messages(r.t, []byte(ingesttest.Events(
		fmt.Sprintf(`{"type":"page_view","session":{"visitorId":%q,"sessionId":"s"},"location":{"url":"https://d.example/"}}`, name))))[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return ingesttest.BatchOf(r.t, m, 0, nil).Content(0).Visitor
}

func (r *rig) rowsOf(visitor uint64) (n uint64) {
	r.t.Helper()
	if err := r.conn.QueryRow(r.t.Context(), "SELECT count() FROM events WHERE visitor = $1", visitor).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) honoured(version int64) bool {
	r.t.Helper()
	log := eventlog.NewTopic(r.brokers, eventlog.Access{}, "test", eventually.Patience, r.topic)
	defer log.Close()
	ok, err := Honoured(r.t.Context(), log, r.topic+"-sink", version)
	if err != nil {
		r.t.Fatal(err)
	}
	return ok
}

func (r *rig) awaitHonoured(version int64) {
	r.t.Helper()
	eventually.True(r.t, "the sinks to honour the tombstones", func() bool { return r.honoured(version) })
}

// TestErasedEvents checks that a sink stores all events except events of an erased visitor that were received before
// the request. The sink must declare the tombstones' version for all partitions, including empty partitions.
func TestErasedEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	source := &tombstones{}
	var list *erasure.List
	s := r.sink(nil, func(c *Config) { list = source.follow(t, true); c.Erased = list })
	r.accept(numbered(0, 97))
	r.awaitStored(97)
	victim := r.visitorOf("v5")
	if n := r.rowsOf(victim); n != 1 {
		t.Fatalf("%d rows before", n)
	}
	version := source.erase(victim, time.Now().Add(time.Hour))
	if r.honoured(version + 1) {
		t.Error("a version that does not exist is honoured")
	}
	r.awaitHonoured(version)
	r.accept(numbered(97, 97)) // the same message also has events of other visitors
	r.awaitStored(193)
	source.erase(r.visitorOf("v6"), time.Now().Add(-time.Hour)) // the events of v6 were received after this time
	r.awaitHonoured(version + 1)
	r.accept(numbered(194, 97))
	r.awaitStored(193 + 96)
	r.awaitCommitted(3)
	if n := r.rowsOf(victim); n != 1 {
		t.Errorf("%d rows of the visitor, want the one from before", n)
	}
	if b := s.cfg.Balances.Balance(intaketest.Site.ID); b.Stored != 289 || b.Erased != 2 || testutil.ToFloat64(s.metrics.skipped.WithLabelValues("erased")) != 2 || testutil.ToFloat64(s.metrics.stored) != 289 {
		t.Errorf("%+v", b)
	}
	r.stop(s)

	// The erasure job deletes the visitor's first row. Then the log and the events table agree, and a repair changes
	// nothing.
	compare := func(repair bool) (erased, differences int64) {
		t.Helper()
		rec, err := NewReconciler(Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store, Erased: list})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Close()
		run := rec.Run
		if repair {
			run = func(ctx context.Context, from int64, report func(Difference) error) ([]Reconciled, error) {
				return rec.Repair(ctx, from, held, report)
			}
		}
		sums, err := run(t.Context(), 0, func(Difference) error { differences++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, sum := range sums {
			erased += sum.Erased
		}
		return erased, differences
	}
	if erased, differences := compare(false); erased != 3 || differences != 1 {
		t.Errorf("%d erased events and %d differences while there is a row", erased, differences)
	}
	r.exec(fmt.Sprintf("ALTER TABLE events DELETE WHERE visitor = %d SETTINGS mutations_sync = 2", victim))
	for _, repair := range []bool{false, true} {
		if erased, differences := compare(repair); erased != 3 || differences != 0 || r.rowsOf(victim) != 0 {
			t.Errorf("%d erased events and %d differences, %d rows", erased, differences, r.rowsOf(victim))
		}
	}
}

// TestErasedRival checks an erasure while a sink is paused. The sink has announced a cut with events of the erased
// visitor only. Another sink takes over and repeats the announced cut unchanged. So ClickHouse must drop the insert of
// the paused sink, which arrives after the deletion.
func TestErasedRival(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	source := &tombstones{}
	victim := r.visitorOf("v5")
	rival := &heldStore{Store: r.store, insert: make(chan struct{}), ages: make(chan struct{}, 1)}
	rival.woke.Add(1)
	first := r.sink(rival, func(c *Config) { c.Erased = source.follow(t, false) })
	r.accept(numbered(5, 1))
	<-rival.ages
	version := source.erase(victim, time.Now().Add(time.Hour))
	r.expel()
	second := r.sink(nil, func(c *Config) { c.Erased = source.follow(t, true) })
	r.awaitHonoured(version)
	if n := r.rowsOf(victim); n != 1 {
		t.Errorf("%d rows once the tombstone is honoured, want the one of the announced cut", n)
	}
	r.exec(fmt.Sprintf("ALTER TABLE events DELETE WHERE visitor = %d SETTINGS mutations_sync = 2", victim))
	close(rival.insert)
	rival.woke.Wait()
	r.stop(first)
	r.accept(numbered(102, 1)) // a later event of the erased visitor
	r.accept(numbered(10, 1))
	r.awaitStored(1)
	r.awaitCommitted(1)
	if n := r.rowsOf(victim); n != 0 {
		t.Errorf("%d rows after the late insert", n)
	}
	r.stop(second)
}

// TestErasedHeir checks that a sink which takes over a partition stores no events until it has the tombstones whose
// version the last commit declares.
func TestErasedHeir(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	source := &tombstones{}
	victim := r.visitorOf("v5")
	late := &away{tombstones: source}
	first := r.sink(nil, func(c *Config) { c.Erased = source.follow(t, true) })
	r.accept(numbered(0, 1))
	r.awaitStored(1)
	version := source.erase(victim, time.Now().Add(time.Hour))
	r.awaitHonoured(version)
	r.stop(first)
	r.accept(numbered(1, 50))
	second := r.sink(nil, func(c *Config) { c.Erased = erasure.NewList(late, time.Millisecond, nil) })
	eventually.True(t, "the second sink to wait for tombstones", late.asked.Load)
	if rows, _ := r.stored(); rows != 1 {
		t.Errorf("%d rows before it has the tombstones", rows)
	}
	late.back.Store(true)
	r.awaitStored(50)
	r.awaitCommitted(1)
	if n := r.rowsOf(victim); n != 0 {
		t.Errorf("%d rows of the visitor", n)
	}
	r.stop(second)
}

// TestExpired checks which events may have no row because they have expired. An event that arrived after the last
// deletion of old events is not one of them.
func TestExpired(t *testing.T) {
	t.Parallel()
	at := func(days int) time.Time { return time.UnixMilli(0).Add(time.Duration(days) * 24 * time.Hour) }
	r := &Reconciler{cfg: Config{Expired: map[string][]schema.Expiry{"a": {
		// Before the second deletion, the site had extended its retention.
		{SiteID: "a", Before: at(100), CarriedOut: at(130)}, {SiteID: "a", Before: at(50), CarriedOut: at(150)},
	}}}}
	for _, c := range []struct {
		site           string
		time, received int
		want           bool
	}{{"a", 99, 129, true}, {"a", 100, 129, false}, {"a", 99, 130, false}, {"a", 49, 149, true}, {"a", 49, 150, false}, {"b", 99, 129, false}} {
		event := insights.RowContent{Site: c.site, TimeMillis: at(c.time).UnixMilli()}
		if got := r.expired(arrived{event, "", at(c.received).UnixMilli()}); got != c.want {
			t.Errorf("%+v: expired %v", c, got)
		}
	}
}
