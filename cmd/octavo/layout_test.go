package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestEventsTableIsMoved: a node that starts on the events table of the first
// version serves at once, moves the table to the current layout in the
// background and loses nothing. After that `octavo migrate` has nothing to do;
// on an old table it makes the move itself.
func TestEventsTableIsMoved(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	makeOld := func() {
		t.Helper()
		conn := i.clickHouse()
		columns := strings.Join(insights.InsertColumns(), ", ")
		for _, statement := range []string{
			"RENAME TABLE events TO newer", ingesttest.FirstTable(),
			"ALTER TABLE events ADD COLUMN received DateTime('UTC')",
			"INSERT INTO events (" + columns + ") SELECT " + columns + " FROM newer", "DROP TABLE newer",
		} {
			if err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	layout := func() error {
		conn := i.clickHouse()
		var partition string
		var tables uint64
		err := conn.QueryRow(t.Context(), "SELECT anyIf(partition_key, name = 'events'), count() FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'events')").Scan(&partition, &tables)
		if err == nil && (partition != insights.PartitionKey || tables != 1) {
			err = fmt.Errorf("%d tables, partitioned by %s", tables, partition)
		}
		return err
	}
	if err := layout(); err != nil {
		t.Errorf("a new table: %v", err)
	}
	if status, answer := i.post(i.token, pageView("a"), pageView("b"), pageView("c")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(3, 3)
	makeOld()
	i.stop()
	i.start()
	if status, answer := i.post(i.token, pageView("d")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.until("the new layout", layout)
	i.wantCounts(4, 4)
	if output, err := i.octavo("migrate"); err != nil || !strings.Contains(output, "0 statements") || strings.Contains(output, "layout") {
		t.Errorf("%v\n%s", err, output)
	}

	makeOld()
	i.until("a move by octavo migrate", func() error {
		output, err := i.octavo("migrate")
		if err == nil && !strings.Contains(output, "has its new layout") {
			err = errors.New(output)
		}
		return err
	})
	if err := layout(); err != nil {
		t.Error(err)
	}
	i.wantCounts(4, 4)
}
