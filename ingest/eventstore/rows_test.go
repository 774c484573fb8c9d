package eventstore

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// TestAllMonthsReadsNoRows checks that AllMonths does not read all rows. ClickHouse knows the number of rows of each
// part, so it reads one row for each part.
func TestAllMonthsReadsNoRows(t *testing.T) {
	t.Parallel()
	store, _ := newTestStore(t)
	m := eventsOver(t, 9000, 1, 2)
	for offset := range uint64(3) {
		batch := ingesttest.BatchOf(t, m, offset, nil)
		if err := store.Insert(t.Context(), batch, fmt.Sprint("insert ", offset)); err != nil {
			t.Fatal(err)
		}
	}
	var read atomic.Uint64
	ctx := clickhouse.Context(t.Context(), clickhouse.WithProgress(func(p *clickhouse.Progress) { read.Add(p.Rows) }))
	months, err := store.AllMonths(ctx)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, of := range months {
		total += of.Rows
	}
	if total != 27_000 || len(months) != 1 {
		t.Errorf("there are %v, want 27,000 rows of the month in which they arrived", months)
	}
	if n := read.Load(); n == 0 || n > 100 {
		t.Errorf("the engine has read %d rows, want a row for each part", n)
	}
}
