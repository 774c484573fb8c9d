package sink

import (
	"fmt"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// reconcile compares the rig's log with its store, in many small steps.
func (r *rig) reconcile(from int64) (found []Difference, sums []Reconciled) {
	r.t.Helper()
	rec, err := NewReconciler(Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store, Logger: ingesttest.Logger(r.t)})
	if err != nil {
		r.t.Fatal(err)
	}
	defer rec.Close()
	rec.batch = 7
	sums, err = rec.Run(r.t.Context(), from, func(d Difference) error {
		found = append(found, d)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found, sums
}

func (r *rig) exec(statements ...string) {
	r.t.Helper()
	for _, statement := range statements {
		if err := r.conn.Exec(r.t.Context(), statement); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestReconcile checks that a log with a repeat, a dead letter and an unreadable message agrees with the stored rows.
// Then it changes rows. Reconciler.Run must report each change at its offsets.
func TestReconcile(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.refuse("page = '0'")
	for i := range 10 {
		r.accept(numbered(i*5, 5))
	}
	capture := &ingesttest.MemoryLog{}
	if err := intaketest.New(t, capture).Accept(t.Context(), intaketest.Site, numbered(50, 7), intaketest.Client); err != nil {
		t.Fatal(err)
	}
	for _, message := range [][]byte{capture.Messages[0], capture.Messages[0], []byte("junk")} {
		if err := r.log.AppendAgain(t.Context(), "site_1", 0, message); err != nil {
			t.Fatal(err)
		}
	}
	s := r.sink(nil, nil)
	r.awaitStored(56)
	r.awaitCommitted(1)
	r.stop(s)
	r.accept(numbered(57, 1)) // not committed, because no sink runs
	found, sums := r.reconcile(0)
	want := Reconciled{Partition: 0, From: 0, To: 13, Messages: 13, Repeats: 1, Unreadable: 1, Events: 56, DeadLettered: 1, Rows: 56}
	if len(found) > 0 || len(sums) != 1 || sums[0] != want {
		t.Fatalf("differences %+v; compared %+v, want %+v", found, sums, want)
	}

	letters, _ := r.letters(true)
	i := slices.IndexFunc(letters, func(d *deadletter.Letter) bool { return d.Index == 0 })
	m, err := insights.ParseMessage(letters[i].Message)
	if err != nil {
		t.Fatal(err)
	}
	copied := func(change, where string) string {
		return "INSERT INTO events SELECT * " + change + " FROM (SELECT * FROM events WHERE log_index = 0 AND log_offset = " + where + ") SETTINGS insert_deduplicate = 0"
	}
	r.exec("ALTER TABLE events DROP CONSTRAINT poison",
		"ALTER TABLE events DELETE WHERE log_offset IN (2, 3) OR log_offset = 5 AND log_index = 1 SETTINGS mutations_sync = 2",
		copied("", "7"), copied("REPLACE (11 AS log_offset)", "10"), copied("REPLACE (visitor + 1 AS visitor)", "8"))
	if err := r.store.Insert(t.Context(), ingesttest.BatchOf(t, m, 0, nil), "a dead letter's row"); err != nil {
		t.Fatal(err)
	}
	planted := []Difference{
		{From: 0, To: 1, Events: 4, Unwanted: 1},
		{From: 2, To: 4, Events: 10, Missing: 10},
		{From: 5, To: 6, Events: 5, Missing: 1},
		{From: 7, To: 8, Events: 5, Doubled: 1},
		{From: 11, To: 12, Unwanted: 1},
	}
	found, sums = r.reconcile(0)
	want.Rows, want.Others, want.Differences = 56-11+3, 1, 5
	if !slices.Equal(found, planted) || sums[0] != want {
		t.Errorf("found %+v, want %+v; compared %+v, want %+v", found, planted, sums, want)
	}
	// A repeat must be recognized even if the message that it repeats is before the first compared offset.
	for from, n := range map[int64]int{5: 3, 11: 1, 12: 0, 1000: 0} {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) {
			if found, sums = r.reconcile(from); !slices.Equal(found, planted[len(planted)-n:]) || sums[0].From != from || sums[0].To != max(13, from) {
				t.Errorf("from %d: found %+v; compared %+v", from, found, sums)
			}
		})
	}
}

// TestReconcileNothing checks that Run compares nothing before a sink has committed.
func TestReconcileNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.accept(numbered(0, 3))
	found, sums := r.reconcile(0)
	if len(found) > 0 || len(sums) != 2 || sums[0].Messages+sums[1].Messages != 0 {
		t.Errorf("found %+v; compared %+v", found, sums)
	}
}

// TestReconcileUnreadable checks that an unreadable message without a dead letter counts as missing. If the sink could
// not read a message and wrote a dead letter, the message's rows must not count as missing, even if this version can
// read the message.
func TestReconcileUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := newTestSink(t, Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store})
	capture := &ingesttest.MemoryLog{}
	if err := intaketest.New(t, capture).Accept(t.Context(), intaketest.Site, numbered(0, 3), intaketest.Client); err != nil {
		t.Fatal(err)
	}
	for _, message := range [][]byte{[]byte("junk"), capture.Messages[0]} {
		if err := r.log.Append(t.Context(), "site_1", 0, message); err != nil {
			t.Fatal(err)
		}
	}
	// The sink skipped both messages and wrote a dead letter only for the second message.
	letter := deadletter.Letter{Topic: r.topic, Offset: 1, Index: -1, Reason: unreadableReason, Message: capture.Messages[0], Sum: deadletter.Sum(capture.Messages[0])}
	// A broker may not know the leader of a new topic yet, so repeat the write, as the sink does.
	eventually.True(t, "the letter to be written", func() bool {
		return s.dead.Write(t.Context(), []deadletter.Letter{letter}) == nil
	})
	mustCommit(t, s, member{generation: -1}, map[int]progress{0: {offset: 2, known: true}})
	found, sums := r.reconcile(0)
	want := Reconciled{To: 2, Messages: 2, Unreadable: 1, DeadLettered: 3, Differences: 1}
	if !slices.Equal(found, []Difference{{From: 0, To: 1, Missing: 1}}) || sums[0] != want {
		t.Errorf("found %+v; compared %+v, want %+v", found, sums, want)
	}
}
