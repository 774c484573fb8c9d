package erasure

import (
	"fmt"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// TestRetentionLonger: after a site extends its retention, the events that it imports stay for that longer time.
func TestRetentionLonger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	retain := func(days int) {
		t.Helper()
		change := sites.InsightsSettingsChange{Retention: schema.Opt[int]{Set: true, Value: &days}}
		if err := r.store.Sites.SetInsightsSettings(t.Context(), "a", change); err != nil {
			t.Fatal(err)
		}
		if err := r.job(nil).Retain(t.Context(), held); err != nil {
			t.Fatal(err)
		}
	}
	// Events exactly at the age limit are not checked, because midnight may pass during the test.
	rows := func(from, to int) (n uint64) {
		t.Helper()
		ages := fmt.Sprintf("SELECT count() FROM events WHERE site = 'a' AND time BETWEEN now() - INTERVAL %d DAY AND now() - INTERVAL %d DAY", to, from)
		if err := r.conn.QueryRow(t.Context(), ages).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	r.insert("a", 1) // an event a day, for 100 days
	retain(10)
	if n := rows(12, 1000); n != 0 {
		t.Errorf("%d rows are too old", n)
	}
	r.insert("a", 2)
	retain(60)
	if kept, old := rows(12, 58), rows(62, 1000); kept < 45 || old != 0 {
		t.Errorf("of an import %d rows are kept, %d are too old", kept, old)
	}
}

// TestRetentionChangedMeanwhile: a retention that changes during a deletion is applied again. A retention whose run
// began yesterday is due, too.
func TestRetentionChangedMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	set := func(days int) {
		t.Helper()
		change := sites.InsightsSettingsChange{Retention: schema.Opt[int]{Set: true, Value: &days}}
		if err := r.store.Sites.SetInsightsSettings(t.Context(), "a", change); err != nil {
			t.Fatal(err)
		}
	}
	due := func(want bool) {
		t.Helper()
		if is, err := r.store.Sites.RetentionDue(t.Context()); is != want || err != nil {
			t.Errorf("due: %v, %v", is, err)
		}
	}
	set(10)
	list, err := r.store.Sites.BeginRetention(t.Context(), 100)
	if err != nil || len(list) != 1 || list[0].Days != 10 {
		t.Fatalf("%+v, %v", list, err)
	}
	set(5)
	if err := r.store.Sites.CarriedOut(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	due(true)
	if list, err = r.store.Sites.BeginRetention(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Sites.CarriedOut(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	due(false)
	list[0].Before = list[0].Before.Add(-24 * time.Hour)
	if err := r.store.Sites.CarriedOut(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	due(true)
}
