package erasure

import (
	"fmt"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store/sites"
)

// TestRetentionLonger checks that events which a site imports after it has extended its retention stay for the longer
// time.
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
	// `rows` is not called for ages close to the limit, because midnight may pass during the test.
	rows := func(from, to int) (n uint64) {
		t.Helper()
		ages := fmt.Sprintf("SELECT count() FROM events WHERE site = 'a' AND time BETWEEN now() - INTERVAL %d DAY AND now() - INTERVAL %d DAY", to, from)
		if err := r.conn.QueryRow(t.Context(), ages).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	r.insert("a", 1) // inserts an event for each of the last 100 days
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

// TestRetentionChangedMeanwhile checks that a retention is applied again if it was changed during the deletion. It is
// also due if its last run began yesterday.
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

// TestRetentionAwaitsTheCount checks rows that a sink has inserted but not yet counted. The retention waits until they
// are counted, and deletes them. If they are not counted in time, it does not delete them.
func TestRetentionAwaitsTheCount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	days := 10
	change := sites.InsightsSettingsChange{Retention: schema.Opt[int]{Set: true, Value: &days}}
	retain := func(offset int, patience time.Duration) (left uint64, waited int) {
		t.Helper()
		insert := `INSERT INTO events (site, visitor, session, time, %s)
			SELECT 'site%[2]d', 1, 1, now64(3) - INTERVAL 20 DAY, %[2]d FROM numbers(7)`
		r.exec(fmt.Sprintf(insert, insights.ColumnOffset, offset))
		if err := r.store.Sites.SetInsightsSettings(t.Context(), fmt.Sprint("site", offset), change); err != nil {
			t.Fatal(err)
		}
		j := r.job(func(c *JobConfig) {
			c.Patience = patience
			c.step = func(name string) error {
				if name == "counting" {
					waited++
					r.count()
				}
				return nil
			}
		})
		if err := j.Retain(t.Context(), held); err != nil {
			t.Fatal(err)
		}
		return r.rows(fmt.Sprint("site", offset), 1), waited
	}
	r.count() // counts the rows before offset 1
	if left, waited := retain(1, time.Hour); left != 0 || waited == 0 {
		t.Errorf("%d rows are left, after %d waits", left, waited)
	}
	if left, waited := retain(5, time.Nanosecond); left != 7 || waited != 0 {
		t.Errorf("without a count %d rows are left, after %d waits", left, waited)
	}
	if err := r.tooMany(false); err != nil {
		t.Error(err)
	}
}
