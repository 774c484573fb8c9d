package eventstore

import (
	"fmt"
	"os"
	"path/filepath"
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

// TestStepsBehind runs the statement about replicas on a server without replicas, which has no steps to make.
func TestStepsBehind(t *testing.T) {
	t.Parallel()
	store, _ := newTestStore(t)
	if steps, err := store.stepsBehind(t.Context()); err != nil || steps != 0 {
		t.Errorf("%v: %d steps", err, steps)
	}
}

// TestAside sets a part aside. Aside must return its folder.
func TestAside(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	if err := conn.Exec(t.Context(), "SYSTEM STOP MERGES events"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		insertNumbered(t, store, i)
	}
	parts, err := store.Parts(t.Context(), "")
	if err != nil || len(parts) != 2 {
		t.Fatalf("%v: parts %+v", err, parts)
	}
	if folders, err := store.Aside(t.Context()); err != nil || len(folders) != 0 {
		t.Errorf("%v: folders %v, and nothing is set aside", err, folders)
	}
	for _, want := range []bool{true, false} {
		if done, err := store.SetAside(t.Context(), parts[0]); err != nil || done != want {
			t.Fatalf("%v: the part was set aside: %v, want %v", err, done, want)
		}
	}
	folders, err := store.Aside(t.Context())
	if err != nil || len(folders) != 1 || filepath.Base(filepath.Clean(folders[0])) != parts[0].Name {
		t.Fatalf("%v: folders %v, want one of the part %s", err, folders, parts[0].Name)
	}
	if _, err := os.Stat(folders[0]); err != nil {
		t.Errorf("the folder of the part: %v", err)
	}
}
