package eventstore

import (
	"context"
	"fmt"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// smallMemory limits the memory of each query.
type smallMemory struct {
	driver.Conn
	bytes int
}

func (c smallMemory) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	return c.Conn.Query(ctx, query+fmt.Sprint(" SETTINGS max_memory_usage = ", c.bytes), args...)
}

func (c smallMemory) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	return c.Conn.QueryRow(ctx, query+fmt.Sprint(" SETTINGS max_memory_usage = ", c.bytes), args...)
}

// TestDoubledOfLargeMonth looks for doubled rows of a month that has more rows than a statement compares. Most events
// are of one hour. The look must find the doubled rows of all hours, and need little memory.
func TestDoubledOfLargeMonth(t *testing.T) {
	t.Parallel()
	store, conn := testStoreAt(t, enginetest.ClickHouse(t))
	for _, statement := range insights.DropVisits(insights.VisitsProjection()) { // inserts are faster without it
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const columns = "site, visitor, session, time, log_partition, log_offset, log_index, received"
	insert := func(query string) {
		t.Helper()
		ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
			"insert_deduplicate": 0,
		}))
		if err := conn.Exec(ctx, "INSERT INTO events ("+columns+") "+query); err != nil {
			t.Fatal(err)
		}
	}
	insert("SELECT concat('site', toString(number % 50)), intDiv(number, 10) * 7919, intDiv(number, 10), " +
		"addSeconds(toDateTime64('2026-01-01 00:00:00', 3), number % 3700), number % 4, intDiv(number, 40), " +
		"intDiv(number, 4) % 10, toDateTime('2026-01-01 00:00:00') FROM numbers(1100000)")
	insert("SELECT 'old', 1, 1, toDateTime64('1970-01-01 00:00:00', 3), 5, number % 2, 0, " +
		"toDateTime('2026-01-31 00:00:00') FROM numbers(5)")
	insert("SELECT " + columns + " FROM events " +
		"WHERE (visitor % 1000 = 0 OR time >= '2026-01-01 01:01:00') AND site != 'old'")
	var total, first, second uint64
	err := conn.QueryRow(t.Context(), "SELECT count(), uniqExactIf("+position+", time < '2026-01-01 01:00:00'), "+
		"uniqExactIf("+position+", time >= '2026-01-01 01:00:00') FROM events").Scan(&total, &first, &second)
	if err != nil || first <= comparedRows || second == 0 {
		t.Fatalf("%v: %d rows of the first hour, %d of the second", err, first, second)
	}
	store.cfg.Conn = smallMemory{conn, 100 << 20}
	d, err := store.Doubled(t.Context(), 202601)
	if err != nil || d.Rows != int64(total-first-second) || d.First.Year() != 1970 || d.Last.Hour() != 1 {
		t.Errorf("%v: %d doubled rows from %v to %v, want %d", err, d.Rows, d.First, d.Last, total-first-second)
	}
}
