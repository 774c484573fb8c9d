package eventstore

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// distinct returns a batch of n rows. The values of each row identify the insert and the row.
func distinct(t testing.TB, insert, n int) *insights.Batch {
	t.Helper()
	var w insights.Encoder
	w.Begin(insights.MessageID{}, intaketest.Site.ID, 1)
	for i := range n {
		e := insights.Event{Type: 1, TimeMillis: 1_767_225_600_000 + int64(i), URL: fmt.Sprintf("%d/%d", insert, i), Visitor: uint64(insert), Session: uint64(i)}
		if i%2 == 0 {
			e.Claims = []insights.Claim{{Name: "url", Value: e.URL}}
		}
		if i%3 == 0 {
			e.VisitorID = e.URL
		}
		w.Add(&e)
	}
	m, err := insights.ParseMessage(w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return ingesttest.BatchOf(t, m, uint64(insert), nil)
}

// TestInsertsShareColumns runs successive and concurrent inserts of different sizes, which reuse the driver columns of
// earlier inserts. Some inserts are refused. Each stored row must have exactly its own values.
func TestInsertsShareColumns(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	sizes := []int{500, 3, 700, 1, 90, 2000, 40, 6}
	insert := func(i int) error { return store.Insert(t.Context(), distinct(t, i, sizes[i]), fmt.Sprint("insert", i)) }
	for i := range 4 {
		if err := insert(i); err != nil {
			t.Fatal(err)
		}
	}
	if store.spare == nil {
		t.Error("no insert keeps its columns: overwrite does not know the type of one")
	}
	for _, c := range store.spare {
		if strings.Contains(string(c.Type()), "LowCardinality") {
			t.Errorf("the driver makes dictionaries for %s", c.Name())
		}
	}
	if err := conn.Exec(t.Context(), "ALTER TABLE events ADD CONSTRAINT few CHECK session < 1000"); err != nil {
		t.Fatal(err)
	}
	// The columns of a failed insert are reused as well.
	if err := insert(5); !FaultOf(err).Rows {
		t.Fatalf("the insert of a row that the table refuses: %v", err)
	}
	if err := conn.Exec(t.Context(), "ALTER TABLE events DROP CONSTRAINT few"); err != nil {
		t.Fatal(err)
	}
	// After the events table was altered, its columns are not reused.
	if err := conn.Exec(t.Context(), "ALTER TABLE events ADD COLUMN later String, MODIFY COLUMN ask_response Nullable(String)"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := 4; i < len(sizes); i++ {
		all.Go(func() {
			if err := insert(i); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if store.spare == nil {
		t.Error("no insert into the altered table keeps its columns")
	}
	for i, want := range sizes {
		right := fmt.Sprintf(`log_offset = %d AND url = concat('%[1]d/', toString(log_index)) AND visitor = %[1]d AND session = log_index
			AND claims = if(log_index %% 2 = 0, map('url', url), CAST(map(), 'Map(String, String)'))
			AND visitor_id = if(log_index %% 3 = 0, url, '') AND site = '%s'`, i, intaketest.Site.ID)
		if n := countRows(t, conn, right); n != uint64(want) {
			t.Errorf("%d of %d rows of insert %d have the values that were sent", n, want, i)
		}
	}
}
