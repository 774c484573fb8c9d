package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// newOldStore makes a store whose table has the first version's layout and rows
// that the first version's sink inserted.
func newOldStore(t testing.TB, rows int) (*ClickHouse, driver.Conn) {
	t.Helper()
	store, conn := newTestStore(t)
	for _, statement := range []string{"DROP TABLE events", ingesttest.FirstTable()} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if rows > 0 {
		insertAsOld(t, conn, "events", 1_000_000, rows)
	}
	return store, conn
}

// insertAsOld inserts rows by the column list of the first version's sink.
func insertAsOld(t testing.TB, conn driver.Conn, table string, offset, rows int) {
	t.Helper()
	var names []string
	for _, line := range strings.Split(ingesttest.FirstTable(), "\n") {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Contains(rest, "CODEC(") {
			names = append(names, name)
		}
	}
	zero := make([]string, len(names))
	for i, name := range names {
		zero[i] = "defaultValueOfTypeName(toColumnTypeName(" + name + "))"
		switch name {
		case "site":
			zero[i] = "'site_1'"
		case "log_partition":
			zero[i] = "toUInt16(number % 2)"
		case "log_offset":
			zero[i] = fmt.Sprintf("toUInt64(%d + intDiv(number, 30))", offset)
		case "log_index":
			zero[i] = "toUInt16(intDiv(number, 2) % 15)"
		case "page":
			zero[i] = fmt.Sprintf("toString(%d + number)", offset*1000)
		case "time":
			zero[i] = "toDateTime64('2024-01-15 10:00:00', 3, 'UTC') + toIntervalMonth(number % 4)"
		case "visitor", "session":
			zero[i] = "cityHash64(number % 97)"
		}
	}
	var listed, values []string
	for i, name := range names {
		if !strings.HasPrefix(zero[i], "defaultValue") { // a column that is left out gets its default
			listed, values = append(listed, name), append(values, zero[i])
		}
	}
	err := conn.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM numbers(%d)", table, strings.Join(listed, ", "), strings.Join(values, ", "), rows))
	if err != nil {
		t.Fatal(err)
	}
}

func newTestLayout(t testing.TB, conn driver.Conn, change func(*LayoutConfig)) *Layout {
	t.Helper()
	cfg := LayoutConfig{
		Conn: conn, OlderMembers: func(context.Context) (bool, error) { return false, nil }, Holds: func(context.Context) error { return nil },
		Metrics: NewMetrics(prometheus.NewRegistry()), Logger: ingesttest.Logger(t), Block: 64, HoldBelow: 100,
	}
	if change != nil {
		change(&cfg)
	}
	l, err := NewLayout(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// contents counts the rows of the events table and adds up their hashes, without
// the columns that the move adds.
func contents(t testing.TB, conn driver.Conn) (n uint64, sum uint64) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT count(), sum(cityHash64(* EXCEPT received)) FROM events").Scan(&n, &sum)
	if err != nil {
		t.Fatal(err)
	}
	return n, sum
}

func current(t testing.TB, l *Layout) {
	t.Helper()
	if ok, err := l.Current(t.Context()); err != nil || !ok {
		t.Errorf("the layout is current: %v, %v; want true", ok, err)
	}
}

// TestLayoutMoves: a table of the first version gets today's layout and keeps
// its rows. A sink of the first version can insert into it.
func TestLayoutMoves(t *testing.T) {
	t.Parallel()
	_, conn := newOldStore(t, 2400)
	ingesttest.Upgrade(t, conn)
	rows, sum := contents(t, conn)
	l := newTestLayout(t, conn, nil)
	if ok, err := l.Current(t.Context()); ok || err != nil {
		t.Fatalf("an old table is current: %v, %v", ok, err)
	}
	if err := l.Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	current(t, l)
	if n, s := contents(t, conn); n != rows || s != sum || n != 2400 {
		t.Errorf("%d rows with sum %d, want %d with %d", n, s, rows, sum)
	}
	insertAsOld(t, conn, "events", 2_000_000, 300)
	var parts, days uint64
	if err := conn.QueryRow(t.Context(), "SELECT uniqExact(_part), uniqExact(received) FROM events WHERE log_offset >= 2000000").Scan(&parts, &days); err != nil {
		t.Fatal(err)
	}
	if n, _ := contents(t, conn); n != 2700 || parts != 1 || days != 1 {
		t.Errorf("%d rows; an insert of 4 months by an older sink makes %d parts of %d days, want one", n, parts, days)
	}
	// A second move has nothing to do.
	if err := l.Move(t.Context()); err != nil {
		t.Error(err)
	}
	current(t, newTestLayout(t, conn, nil))
	_, fresh := newTestStore(t)
	current(t, newTestLayout(t, fresh, nil))
}

// TestLayoutKilled: a mover that is killed at any of its steps leaves a table
// that queries see whole, and the next mover continues.
func TestLayoutKilled(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	var names []string
	_, conn := newOldStore(t, 600)
	ingesttest.Upgrade(t, conn)
	if err := newTestLayout(t, conn, func(cfg *LayoutConfig) {
		cfg.step = func(name string) error { names = append(names, name); return nil }
	}).Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps := map[string]bool{}
	for _, name := range names {
		steps[name] = true
	}
	for _, name := range []string{"create", "copy", "hold", "exchange", "drop"} {
		if !steps["before "+name] || !steps["after "+name] {
			t.Errorf("a move has the steps %v, but not %s", names, name)
		}
	}
	_, conn = newOldStore(t, 600)
	ingesttest.Upgrade(t, conn)
	rows, sum := contents(t, conn)
	for killAt := range len(names) {
		at, dead := 0, false
		l := newTestLayout(t, conn, func(cfg *LayoutConfig) {
			cfg.step = func(string) error {
				if at++; dead || at > killAt {
					dead = true // a killed mover does not clean up either
					return killed
				}
				return nil
			}
		})
		if err := l.Move(t.Context()); err != nil && !errors.Is(err, killed) {
			t.Fatalf("killed at step %d: %v", killAt, err)
		}
		if n, s := contents(t, conn); n != rows || s != sum {
			t.Fatalf("killed at step %d: %d rows with sum %d, want %d with %d", killAt, n, s, rows, sum)
		}
	}
	l := newTestLayout(t, conn, nil)
	if err := l.Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	current(t, l)
	if n, s := contents(t, conn); n != rows || s != sum {
		t.Errorf("%d rows with sum %d, want %d with %d", n, s, rows, sum)
	}
}

// TestLayoutHalfCopied: the tables end up equal after a killed copy that left
// rows without their neighbours, rows twice, or rows that were deleted since.
func TestLayoutHalfCopied(t *testing.T) {
	t.Parallel()
	_, conn := newOldStore(t, 900)
	ingesttest.Upgrade(t, conn)
	columns := strings.Join(insights.InsertColumns(), ", ")
	copied := "INSERT INTO events_next (" + columns + ") SELECT " + columns + " FROM events WHERE "
	for _, statement := range []string{
		insights.NextStatement(insights.Topology{}),
		copied + "log_offset % 2 = 0", // half of each piece
		copied + "log_offset % 5 = 0", // some of it twice
		"INSERT INTO events (" + columns + ") SELECT " + columns + " FROM events WHERE log_offset % 7 = 0 SETTINGS insert_deduplicate = 0, deduplicate_insert_select = 'disable'", // duplicates are kept
		"ALTER TABLE events DELETE WHERE log_partition = 1 SETTINGS mutations_sync = 2",                                                                                           // deleted since the copy
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	rows, sum := contents(t, conn)
	l := newTestLayout(t, conn, nil)
	if err := l.Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	current(t, l)
	if n, s := contents(t, conn); n != rows || s != sum {
		t.Errorf("%d rows with sum %d, want %d with %d", n, s, rows, sum)
	}
}

// TestLayoutRefusals: a move that would lose rows changes nothing, and inserts continue.
func TestLayoutRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		change func(*LayoutConfig)
		want   string
	}{
		"an older member": {"", func(cfg *LayoutConfig) {
			cfg.OlderMembers = func(context.Context) (bool, error) { return true, nil }
		}, "earlier version"},
		"an older member comes late": {"", func(cfg *LayoutConfig) {
			asked := 0
			cfg.OlderMembers = func(context.Context) (bool, error) { asked++; return asked > 1, nil }
		}, "earlier version"},
		"an older member after a mover that held inserts": {"ALTER TABLE events ADD CONSTRAINT octavo_held CHECK 0", func(cfg *LayoutConfig) {
			cfg.OlderMembers = func(context.Context) (bool, error) { return true, nil }
		}, "earlier version"},
		"the lock is lost": {"", func(cfg *LayoutConfig) {
			cfg.Holds = func(context.Context) error { return errors.New("lost") }
		}, "lost"},
		"a view":         {"CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY site AS SELECT site FROM events", nil, "materialized views"},
		"another column": {"ALTER TABLE events ADD COLUMN mine UInt8", nil, "mine"},
		"another table":  {"CREATE TABLE events_next (a UInt8) ENGINE = MergeTree ORDER BY a", nil, "events_next"},
		"a cluster":      {"", func(cfg *LayoutConfig) { cfg.Topology.Cluster = "c" }, "cluster"},
		"a hold that takes too long": {"", func(cfg *LayoutConfig) {
			cfg.MaxHold = time.Nanosecond
		}, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, conn := newOldStore(t, 90)
			ingesttest.Upgrade(t, conn)
			if c.before != "" {
				if err := conn.Exec(t.Context(), c.before); err != nil {
					t.Fatal(err)
				}
			}
			err := newTestLayout(t, conn, c.change).Move(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err := store.Insert(t.Context(), ingesttest.BatchOf(t, eventsOver(t, 10, 1), 1, nil), "after"); err != nil {
				t.Error(err)
			}
			if n, _ := contents(t, conn); n != 100 {
				t.Errorf("%d rows, want 100", n)
			}
		})
	}
}

// TestOldTableIsOld: the first version's DDL has another layout than today's.
func TestOldTableIsOld(t *testing.T) {
	t.Parallel()
	if text := ingesttest.FirstTable(); strings.Contains(text, insights.ColumnReceived) || !strings.Contains(text, "toYYYYMM(time)") {
		t.Error(text)
	}
}
