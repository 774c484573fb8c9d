package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

func held(context.Context) error { return nil }

// repair repairs the rig's table with a store, in many small steps.
func (r *rig) repair(store eventstore.Store) (found []Difference, sums []Reconciled, err error) {
	r.t.Helper()
	rec, err := NewReconciler(Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: store, Logger: ingesttest.Logger(r.t)})
	if err != nil {
		r.t.Fatal(err)
	}
	defer rec.Close()
	rec.batch = 20
	sums, err = rec.Repair(r.t.Context(), 0, held, func(d Difference) error {
		found = append(found, d)
		return nil
	})
	return found, sums, err
}

// equal fails the test if log and table differ, or if the events table does not have exactly one row for each of n
// events.
func (r *rig) equal(n int) {
	r.t.Helper()
	if found, sums := r.reconcile(0); len(found) > 0 {
		r.t.Errorf("log and table differ: %+v; compared %+v", found, sums)
	}
	if rows, different := r.stored(); rows != uint64(n) || different != rows {
		r.t.Errorf("%d rows of %d different events, want %d", rows, different, n)
	}
}

// stocked returns a rig whose sink has stored n events, in messages of five events, and has stopped. The store refuses
// the row of page 0, so this event becomes a dead letter.
func stocked(t *testing.T, n int) *rig {
	t.Helper()
	r := newRig(t, 2)
	r.refuse("page = '0'")
	for i := range n / 5 {
		r.accept(numbered(i*5, 5))
	}
	s := r.sink(nil, nil)
	r.awaitStored(n - 1)
	r.awaitCommitted(2)
	r.stop(s)
	return r
}

const deletedRows = "ALTER TABLE events DELETE WHERE toUInt32(page) % 7 < 2 SETTINGS mutations_sync = 2"

// TestRepair checks that missing rows are restored once, in whatever way they were lost. The events of dead letters
// must not be stored. A second repair must change nothing. Rows that are lost again must be restored again.
func TestRepair(t *testing.T) {
	t.Parallel()
	r := stocked(t, 60)
	r.accept(numbered(1000, 5)) // not committed: a sink will store this message later
	for _, lose := range []string{
		deletedRows, deletedRows, // at the second repair, ClickHouse remembers the tokens of the first repair
		"ALTER TABLE events DROP PARTITION ID '202401'",
		"TRUNCATE TABLE events",
	} {
		before, _ := r.stored()
		if err := r.conn.Exec(t.Context(), lose); err != nil {
			// The events table is partitioned by the time of arrival, so it may have no such partition.
			if e, ok := errors.AsType[*clickhouse.Exception](err); !ok || e.Code != 248 {
				t.Fatalf("%s: %v", lose, err)
			}
		}
		after, _ := r.stored()
		found, sums, err := r.repair(r.store)
		if err != nil {
			t.Fatalf("%s: %v", lose, err)
		}
		var missing, restored, remaining, letters int64
		for _, d := range found {
			missing, restored = missing+d.Missing, restored+d.Restored
			if d.Remains() {
				t.Errorf("%s: %+v is left", lose, d)
			}
		}
		for _, s := range sums {
			remaining, letters = remaining+s.Differences, letters+s.DeadLettered
		}
		if want := int64(before - after); missing != want || restored != want || remaining != 0 || letters != 1 {
			t.Errorf("%s: %d rows were missing and %d put back of %d, %d ranges and %d letters are left", lose, missing, restored, want, remaining, letters)
		}
		r.equal(59)
		if found, _, err := r.repair(r.store); err != nil || len(found) > 0 {
			t.Errorf("%s: a second repair: %v, %+v", lose, err, found)
		}
		r.equal(59)
	}
	r.sink(nil, nil)
	r.awaitStored(64)
	r.awaitCommitted(2)
	r.equal(64)
}

// TestRepairKilled checks that after a repair was killed before, during or after an insert, the next repair restores
// the remaining rows.
func TestRepairKilled(t *testing.T) {
	t.Parallel()
	r := stocked(t, 60)
	killed := errors.New("killed")
	for _, after := range []bool{false, true} {
		for _, at := range []int32{1, 2} {
			if err := r.conn.Exec(t.Context(), deletedRows); err != nil {
				t.Fatal(err)
			}
			store := &faultyStore{Store: r.store}
			fault := func(int) error {
				if store.inserts.Load() >= at {
					return killed
				}
				return nil
			}
			if after {
				store.after = fault
			} else {
				store.before = fault
			}
			if _, _, err := r.repair(store); !errors.Is(err, killed) {
				t.Fatalf("insert %d: %v", at, err)
			}
			if _, _, err := r.repair(r.store); err != nil {
				t.Fatal(err)
			}
			r.equal(59)
		}
	}
}

// TestRepairsAtOnce runs two repairs concurrently, as if their lock did not work. They must use the same tokens, so
// that each row is restored once.
func TestRepairsAtOnce(t *testing.T) {
	t.Parallel()
	r := stocked(t, 40)
	if err := r.conn.Exec(t.Context(), "TRUNCATE TABLE events"); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	arrived, errs := make(chan struct{}), make([]error, 2)
	var met sync.Once
	pendingAges := make(chan struct{}, 2)
	for i := range 2 {
		store := &faultyStore{Store: r.store, before: func(int) error {
			// Both repairs must have read the events table before one of them inserts rows.
			select {
			case <-arrived:
			case pendingAges <- struct{}{}:
				if len(pendingAges) == 2 {
					met.Do(func() { close(arrived) })
				}
				<-arrived
			}
			return nil
		}}
		both.Go(func() { _, _, errs[i] = r.repair(store) })
	}
	both.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	r.equal(39)
}

// TestRepairWithoutLock checks that a repair inserts no further rows after it has lost its lock.
func TestRepairWithoutLock(t *testing.T) {
	t.Parallel()
	r := stocked(t, 20)
	if err := r.conn.Exec(t.Context(), "TRUNCATE TABLE events"); err != nil {
		t.Fatal(err)
	}
	rec, err := NewReconciler(Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store, Logger: ingesttest.Logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	lost := errors.New("lost")
	_, err = rec.Repair(t.Context(), 0, func(context.Context) error { return lost }, func(Difference) error { return nil })
	if rows, _ := r.stored(); !errors.Is(err, lost) || rows != 0 {
		t.Errorf("%v, %d rows", err, rows)
	}
}

// clusterStore is a store of a cluster, whose replicas may lag behind.
type clusterStore struct{ eventstore.Store }

func (clusterStore) Sequential() bool { return false }

func TestRepairOfCluster(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	if _, _, err := r.repair(clusterStore{r.store}); err == nil {
		t.Error("a repair of a cluster is accepted: rows that a replica lacks would be stored twice")
	}
}

// TestRepairRefusedRow checks a repair during which the store refuses one row. The repair must restore all other rows,
// and must still report this row as missing.
func TestRepairRefusedRow(t *testing.T) {
	t.Parallel()
	r := stocked(t, 50)
	r.exec("TRUNCATE TABLE events", "ALTER TABLE events ADD CONSTRAINT late CHECK page != '13'")
	found, _, err := r.repair(r.store)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(found, Difference.Remains); i < 0 || found[i].Missing != found[i].Restored+1 {
		t.Errorf("%+v: page 13 is not reported as missing", found)
	}
	if rows, different := r.stored(); rows != 48 || different != 48 {
		t.Errorf("%d rows of %d events, want 48", rows, different)
	}
	r.exec("ALTER TABLE events DROP CONSTRAINT late")
	if _, _, err := r.repair(r.store); err != nil {
		t.Fatal(err)
	}
	r.equal(49)
}

// TestRepairLeavesRepeats checks a repeat whose first message has expired in the log. The repair must find the rows of
// the first message in the events table, and must not store the rows of the repeat.
func TestRepairLeavesRepeats(t *testing.T) {
	t.Parallel()
	capture := &ingesttest.MemoryLog{}
	in := intaketest.New(t, capture)
	for i := range 2 {
		if err := in.Accept(t.Context(), intaketest.Site, numbered(i*5, 5), intaketest.Client); err != nil {
			t.Fatal(err)
		}
	}
	message := func(i int) logged {
		m, err := insights.ParseMessage(capture.Messages[i])
		if err != nil {
			t.Fatal(err)
		}
		return logged{offset: 100 + int64(i), message: m}
	}
	store, _ := newStore(t, enginetest.ClickHouse(t))
	repeated, fresh := message(0), message(1)
	if err := store.Insert(t.Context(), ingesttest.BatchOf(t, repeated.message, 90, nil), "its first"); err != nil {
		t.Fatal(err)
	}
	rec, err := NewReconciler(Config{Brokers: []string{"127.0.0.1:1"}, Topic: "t", Store: store, Window: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	for oldest, want := range map[int64][][2]int{
		0:   {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}}, // the log is complete
		95:  {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}},
		100: {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}},
		50:  {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}}, // no message is so near
	} {
		t.Run(fmt.Sprint("log from ", oldest), func(t *testing.T) {
			p := &reconciling{r: rec, oldest: oldest, pending: []logged{repeated, fresh}, scratch: insights.NewBatch()}
			got, err := p.missing(t.Context(), nil)
			same := func(row missingRow, want [2]int) bool { return [2]int{row.of, row.index} == want }
			if err != nil || !slices.EqualFunc(got, want, same) {
				t.Errorf("the log begins at %d: %v, %v; want %v", oldest, got, err, want)
			}
		})
	}
}
