package eventstore

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// eventsOver returns a message of n events. Their times alternate between the first days of the given months of 2026.
func eventsOver(t testing.TB, n int, months ...int) insights.Message {
	t.Helper()
	var list []string
	for i := range n {
		month := months[i%len(months)]
		list = append(list, ingesttest.Event("page_view", fmt.Sprintf(`"timestamp":"2026-%02d-01T00:00:00Z"`, month)))
	}
	m, err := insights.ParseMessage(intaketest.Messages(t, []byte(ingesttest.Events(list...)))[0])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func countRows(t testing.TB, conn driver.Conn, where string) (n uint64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM events WHERE "+where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestInsertIsOneBlock checks that an insert of many rows makes one part of the events table, even if the events are of
// several months.
func TestInsertIsOneBlock(t *testing.T) {
	t.Parallel()
	m := eventsOver(t, 9000, 1, 2, 3)
	store, conn := newTestStore(t)
	b := insights.NewBatch()
	for offset := range 10 {
		if err := b.Add(m, insights.Position{Offset: uint64(offset)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := store.Insert(t.Context(), b, "a"); err != nil {
			t.Fatal(err)
		}
		var parts, rows uint64
		if err := conn.QueryRow(t.Context(), "SELECT count(), sum(rows) FROM system.parts WHERE database = currentDatabase() AND table = 'events' AND level = 0").Scan(&parts, &rows); err != nil {
			t.Fatal(err)
		}
		if parts != 1 || rows != 90_000 {
			t.Errorf("%d parts with %d rows, want 1 part with 90000 rows", parts, rows)
		}
	}
}

// TestInsertTwice checks that a second insert with the same token stores nothing, even if its rows differ. An insert of
// the same rows with another token must be stored.
func TestInsertTwice(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	m := eventsOver(t, 900, 1, 2, 3)
	for _, insert := range []struct {
		token string
		skip  func(int) bool
		want  uint64
	}{
		{"first", nil, 900},
		{"first", nil, 900},
		{"first", func(i int) bool { return i%3 == 1 }, 900},
		{"second", nil, 1800},
		{"third", func(i int) bool { return i%3 != 1 }, 2100},
		{"third", nil, 2100},
		{"third", func(i int) bool { return i%3 == 1 }, 2100},
		{"third/again1", func(i int) bool { return i%3 == 1 }, 2700},
	} {
		if err := store.Insert(t.Context(), ingesttest.BatchOf(t, m, 0, insert.skip), insert.token); err != nil {
			t.Fatal(err)
		}
		if n := countRows(t, conn, "1"); n != insert.want {
			t.Errorf("%d rows after the insert under %q, want %d", n, insert.token, insert.want)
		}
	}
}

// TestInsertAtOnce runs several equal inserts concurrently and checks that their rows are stored once.
func TestInsertAtOnce(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	m := eventsOver(t, 600, 1, 2)
	const rivals, rounds = 4, 5
	for round := range rounds {
		var all sync.WaitGroup
		for range rivals {
			b := ingesttest.BatchOf(t, m, uint64(round), nil)
			all.Go(func() {
				if err := store.Insert(t.Context(), b, fmt.Sprint("round", round)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := countRows(t, conn, "1"); n != rounds*600 {
		t.Errorf("%d rows, want %d", n, rounds*600)
	}
}

// TestInsertIntoView checks that a materialized view stores a repeated insert once, like the events table.
func TestInsertIntoView(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	for _, statement := range []string{
		"CREATE TABLE totals (month UInt32, events UInt64) ENGINE = SummingMergeTree PARTITION BY month ORDER BY month SETTINGS non_replicated_deduplication_window = 1000",
		"CREATE MATERIALIZED VIEW to_totals TO totals AS SELECT toYYYYMM(time) AS month, count() AS events FROM events GROUP BY month",
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	m := eventsOver(t, 300, 1, 2, 3)
	for i := range 3 {
		if err := store.Insert(t.Context(), ingesttest.BatchOf(t, m, 0, nil), "a"); err != nil {
			t.Fatal(err)
		}
		var total uint64
		if err := conn.QueryRow(t.Context(), "SELECT sum(events) FROM totals").Scan(&total); err != nil {
			t.Fatal(err)
		}
		if n := countRows(t, conn, "1"); n != 300 || total != 300 {
			t.Errorf("after insert %d: %d rows, %d in the view, want 300", i+1, n, total)
		}
	}
}

// TestInsertSettings checks that an insert leaves out settings that the server does not know, and that the server knows
// all settings that deduplication needs.
func TestInsertSettings(t *testing.T) {
	t.Parallel()
	store, _ := newTestStore(t)
	known, err := store.askSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"async_insert", "insert_deduplicate", "deduplicate_insert", "deduplicate_blocks_in_dependent_materialized_views", "min_insert_block_size_rows", "min_insert_block_size_bytes", "max_insert_block_size", "max_insert_threads"} {
		if _, ok := known[name]; !ok {
			t.Errorf("the server does not know %s", name)
		}
	}
	// The cached settings have a setting that the server does not know, as after the server was replaced by another
	// version. Only one insert must fail.
	store.settings = clickhouse.Settings{"no_such_setting": 1}
	b := ingesttest.BatchOf(t, eventsOver(t, 3, 1), 0, nil)
	if err := store.Insert(t.Context(), b, "a"); err == nil || FaultOf(err).Reason != "settings" {
		t.Fatalf("the insert with an unknown setting: %v", err)
	}
	if err := store.Insert(t.Context(), b, "a"); err != nil {
		t.Error(err)
	}
}

// TestStoreFaults checks the faults of three errors: a row breaks a constraint, a column has another type, and the
// events table is missing. Only the first is a fault of rows.
func TestStoreFaults(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	seen := map[int32]bool{}
	for _, f := range codeFaults {
		if f.reason == "" || seen[f.code] {
			t.Errorf("code %d has no reason or occurs twice", f.code)
		}
		seen[f.code] = true
	}
	b := ingesttest.BatchOf(t, eventsOver(t, 3, 1), 0, nil)
	for _, c := range []struct {
		change, reason string
		rows           bool
	}{
		{"ALTER TABLE events ADD CONSTRAINT never CHECK site != 'site_1'", "constraint", true},
		{"ALTER TABLE events DROP CONSTRAINT never, MODIFY COLUMN search_record UInt64", "schema", false},
		{"RENAME TABLE events TO gone", "schema", false},
	} {
		t.Run(c.change, func(t *testing.T) {
			if err := conn.Exec(t.Context(), c.change); err != nil {
				t.Fatal(err)
			}
			err := store.Insert(t.Context(), b, c.change)
			if f := FaultOf(err); err == nil || f.Reason != c.reason || f.Rows != c.rows {
				t.Errorf("%s: %v is %+v", c.change, err, f)
			}
		})
	}
}
