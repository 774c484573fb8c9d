package eventstore

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// newOwnStore creates a store on a ClickHouse server that no other test uses, so that the server's counters count only
// this test.
func newOwnStore(t testing.TB) (*ClickHouse, driver.Conn) {
	t.Helper()
	engine := startEngine(t, "")
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Errorf("cannot stop the engine: %v", err)
		}
	})
	return testStoreAt(t, engine.ClickHouseURL)
}

// syncs returns how many files and how many folders the server has synced to the disk.
func syncs(t testing.TB, conn driver.Conn) (files, folders uint64) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT sumIf(value, event = 'FileSync'), sumIf(value, event = 'DirectorySync') FROM system.events").Scan(&files, &folders)
	if err != nil {
		t.Fatal(err)
	}
	return files, folders
}

// TestPartsAreSynced checks that an insert or a merge syncs its files and folders to the disk before it succeeds.
// Without the events table's settings, ClickHouse does not sync them.
func TestPartsAreSynced(t *testing.T) {
	t.Parallel()
	store, conn := newOwnStore(t)
	inserted := 0
	// `synced` calls `do`, and returns how many files and folders the server synced during the call.
	synced := func(do func() error) (files, folders uint64) {
		t.Helper()
		beforeFiles, beforeFolders := syncs(t, conn)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		files, folders = syncs(t, conn)
		return files - beforeFiles, folders - beforeFolders
	}
	insert := func() error {
		inserted++
		return store.Insert(t.Context(), ingesttest.BatchOf(t, eventsOver(t, 10, 1), uint64(inserted), nil), fmt.Sprint("token", inserted))
	}
	merge := func() error { return conn.Exec(t.Context(), "OPTIMIZE TABLE events FINAL") }

	// The counters would also count the files of background merges, so stop these merges.
	if err := conn.Exec(t.Context(), "SYSTEM STOP MERGES events"); err != nil {
		t.Fatal(err)
	}
	// A part has separate files for its columns, marks, index, counts and checksums. Its folder is synced twice: under
	// its temporary name and under its final name.
	const leastFiles = 8
	for range 2 {
		if files, folders := synced(insert); files < leastFiles || folders < 2 {
			t.Errorf("an insert synced %d files and %d folders, want at least %d and 2", files, folders, leastFiles)
		}
	}
	if err := conn.Exec(t.Context(), "SYSTEM START MERGES events"); err != nil {
		t.Fatal(err)
	}
	if files, folders := synced(merge); files < leastFiles || folders < 1 {
		t.Errorf("a merge synced %d files and %d folders, want at least %d and 1", files, folders, leastFiles)
	}

	// Without the settings nothing is synced, which proves that the counters work.
	if err := conn.Exec(t.Context(), "ALTER TABLE events RESET SETTING fsync_after_insert, fsync_part_directory, min_rows_to_fsync_after_merge, min_compressed_bytes_to_fsync_after_merge"); err != nil {
		t.Fatal(err)
	}
	if files, folders := synced(func() error {
		if err := insert(); err != nil {
			return err
		}
		return merge()
	}); files != 0 || folders != 0 {
		t.Errorf("without the settings %d files and %d folders are synced, so this test proves nothing", files, folders)
	}

	// `octavo migrate` and the start of a node run these statements on an existing table.
	var engine string
	if err := conn.QueryRow(t.Context(), "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'events'").Scan(&engine); err != nil {
		t.Fatal(err)
	}
	for _, statement := range insights.SettingStatements(insights.Topology{}, engine) {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if files, folders := synced(insert); files < leastFiles || folders < 2 {
		t.Errorf("an insert into an older table synced %d files and %d folders, want at least %d and 2", files, folders, leastFiles)
	}
}

// BenchmarkInsertSynced measures the cost of syncing parts, for small batches and for large batches. It compares four
// tables: the real table, a table that does not sync merges, a table without syncs, and a table without syncs whose
// file system is synced after each insert. Set TMPDIR to a folder on the disk that is measured. Run the benchmark
// several times, because the number of merges varies.
func BenchmarkInsertSynced(b *testing.B) {
	const merges = "min_rows_to_fsync_after_merge, min_compressed_bytes_to_fsync_after_merge"
	for _, variant := range []struct {
		name, reset string
		whole       bool
	}{
		{"parts", "", false},
		{"inserts", merges, false},
		{"nothing", "fsync_after_insert, fsync_part_directory, " + merges, false},
		{"filesystem", "fsync_after_insert, fsync_part_directory, " + merges, true},
	} {
		for _, messages := range []int{5, 327} {
			b.Run(fmt.Sprintf("sync=%s/rows=%d", variant.name, messages*100), func(b *testing.B) {
				store, conn := newTestStore(b)
				if variant.reset != "" {
					if err := conn.Exec(b.Context(), "ALTER TABLE events RESET SETTING "+variant.reset); err != nil {
						b.Fatal(err)
					}
				}
				disk, err := os.Open(os.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = disk.Close() }()
				rows := insights.NewBatch()
				ingesttest.Fill(b, rows, intaketest.Messages(b, slices.Repeat([][]byte{ingesttest.TypicalBody(100)}, messages)...))
				n := 0
				for b.Loop() {
					n++
					if err := store.Insert(b.Context(), rows, fmt.Sprint(n)); err != nil {
						b.Fatal(err)
					}
					if variant.whole {
						if err := unix.Syncfs(int(disk.Fd())); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(n*rows.Rows())/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// TestNoStatistics checks that the events table's statements turn off statistics, also for an existing table. By
// default, ClickHouse computes statistics for every column of a merged part.
func TestNoStatistics(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	topology, err := TopologyOf(t.Context(), conn, "")
	if err != nil || !topology.Statistics {
		t.Fatalf("%+v, %v: the engine knows the setting", topology, err)
	}
	execAll := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	inserted := 0
	// merged returns how many columns of the events table have statistics after a merge.
	merged := func() (columns uint64) {
		t.Helper()
		inserted++
		if err := store.Insert(t.Context(), ingesttest.BatchOf(t, eventsOver(t, 10, 1), uint64(inserted), nil), fmt.Sprint("token", inserted)); err != nil {
			t.Fatal(err)
		}
		execAll("OPTIMIZE TABLE events FINAL")
		err := conn.QueryRow(t.Context(), "SELECT countIf(notEmpty(statistics)) FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 'events'").Scan(&columns)
		if err != nil {
			t.Fatal(err)
		}
		return columns
	}
	if merged() == 0 {
		t.Error("a table without the setting makes no statistics, so this test proves nothing")
	}
	full := func() (engine string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'events'").Scan(&engine); err != nil {
			t.Fatal(err)
		}
		return engine
	}
	execAll(insights.SettingStatements(topology, full())...)
	if n := merged(); n > 0 {
		t.Errorf("%d columns have statistics after the upgrade", n)
	}
	execAll(append([]string{"DROP TABLE events"}, insights.CreateStatements(topology)...)...)
	if n := merged(); n > 0 {
		t.Errorf("%d columns of a new table have statistics", n)
	}
	if again := insights.SettingStatements(topology, full()); len(again) > 0 {
		t.Errorf("a new table needs %q", again)
	}
}
