package eventstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestDelete checks that a deletion removes rows from the events table and from the projection of visits, and that it
// is found by its name. The parts that contained the rows must be removed from the disk.
func TestDelete(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	for i := range 3 {
		insertNumbered(t, store, i)
	}
	if d, err := store.Deletion(t.Context(), "test 1"); err != nil || d.Found || d.Done {
		t.Fatalf("%+v, %v", d, err)
	}
	before, err := store.Having(t.Context(), "log_offset = 1")
	if err != nil || before == 0 {
		t.Fatalf("%d rows, %v", before, err)
	}
	folders := slowToRemove(t, conn)
	if err := store.Delete(t.Context(), "test 1", "log_offset = 1"); err != nil {
		t.Fatal(err)
	}
	var d Deletion
	eventually.True(t, "the deletion", func() bool {
		if d, err = store.Deletion(t.Context(), "test 1"); err != nil || !d.Found {
			t.Fatalf("%+v, %v", d, err)
		}
		return d.Done
	})
	if d.Created.Before(time.Now().Add(-time.Minute)) || d.Failure != "" {
		t.Errorf("%+v", d)
	}
	mutated, err := store.Now(t.Context())
	if err != nil || mutated.Before(d.Created) {
		t.Fatalf("%v after %v, %v", mutated, d.Created, err)
	}
	if other, err := store.Deletion(t.Context(), "test"); err != nil || other.Found {
		t.Errorf("another name: %+v, %v", other, err)
	}
	after, err := store.Having(t.Context(), "log_offset = 1")
	if events := visitEvents(t, conn); err != nil || after != 0 || events != 1500-before {
		t.Errorf("%d rows, %d events in visits, %v", after, events, err)
	}
	if old, err := store.OldParts(t.Context(), mutated); err != nil || old == 0 {
		t.Errorf("%d replaced parts right after a deletion, %v", old, err)
	}
	eventually.True(t, "the replaced parts to leave the disk", func() bool {
		old, err := store.OldParts(t.Context(), mutated)
		if err != nil {
			t.Fatal(err)
		}
		return old == 0
	})
	areRemoved(t, folders)
}

// slowToRemove writes many files into the folders of the events table's parts, so that the server needs a long time to
// remove a folder. It returns the folders.
func slowToRemove(t *testing.T, conn driver.Conn) (folders []string) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT groupArray(path) FROM system.parts WHERE active AND database = currentDatabase() AND table = {table:String}", clickhouse.Named("table", insights.Table)).Scan(&folders)
	if err != nil || len(folders) == 0 {
		t.Fatalf("%q, %v", folders, err)
	}
	for _, folder := range folders {
		for i := range 20_000 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint("test", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folders
}

// areRemoved fails the test if a folder of a part is still on the disk. This includes a folder that the server has
// renamed in order to remove it.
func areRemoved(t *testing.T, folders []string) {
	t.Helper()
	for _, folder := range folders {
		dir, name := filepath.Split(filepath.Clean(folder))
		for _, path := range []string{folder, dir + "delete_tmp_" + name} {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is on the disk: %v", path, err)
			}
		}
	}
}

// TestDropStates checks that aggregate states that were written up to a time are removed from the disk, and that later
// states stay.
func TestDropStates(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	exec := func(statement string) {
		t.Helper()
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	now := func() (at time.Time) {
		t.Helper()
		at, err := store.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	drop := func(until time.Time) (left uint64) {
		t.Helper()
		left, err := store.DropStates(t.Context(), until)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	const table = "octavo_states_0123456789abcdef"
	exec("CREATE TABLE " + table + " (key String) ENGINE = MergeTree PARTITION BY key ORDER BY () SETTINGS old_parts_lifetime = 1")
	exec("CREATE TABLE octavo_states_of_others AS " + table)
	exec("INSERT INTO octavo_states_of_others VALUES ('a')")
	exec("INSERT INTO " + table + " VALUES ('a'), ('it''s b')")
	until := now()
	// A part's modification time comes from the kernel's coarse clock, which may be some milliseconds behind now().
	eventually.True(t, "the server to be two seconds later", func() bool { return now().After(until.Add(time.Second)) })
	exec("INSERT INTO " + table + " VALUES ('later')")
	drop(until)
	var left, others uint64
	if err := conn.QueryRow(t.Context(), "SELECT countIf(key = 'later') * 10 + count(), (SELECT count() FROM octavo_states_of_others) FROM "+table).Scan(&left, &others); err != nil || left != 11 || others != 1 {
		t.Errorf("left %d, of others %d, %v", left, others, err)
	}
	eventually.True(t, "the parts to leave the disk", func() bool { return drop(until) == 0 })
}
