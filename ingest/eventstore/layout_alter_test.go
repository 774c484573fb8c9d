package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

const repeatedType = "LowCardinality(String)"

// makePlain replaces the empty table by one whose texts are all plain strings, as
// until commit 1e7d817, and inserts three parts.
func makePlain(t testing.TB, store *ClickHouse, conn driver.Conn) {
	t.Helper()
	create := insights.CreateStatements(insights.Topology{})[0]
	for _, statement := range []string{"DROP TABLE events", strings.ReplaceAll(create, repeatedType, "String"), "ALTER TABLE events DROP PROJECTION " + insights.VisitsProjection()} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		insertNumbered(t, store, i)
	}
}

// insertNumbered inserts the 500 rows of an insert, under its token.
func insertNumbered(t testing.TB, store *ClickHouse, i int) {
	t.Helper()
	if err := store.Insert(t.Context(), distinct(t, i, 500), fmt.Sprint("token", i)); err != nil {
		t.Fatal(err)
	}
}

// plainParts counts the parts whose site is not stored as repeatedType, or is.
func plainParts(t testing.TB, conn driver.Conn) (plain, repeated uint64) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT countIf(type = 'String'), countIf(type = '"+repeatedType+"') FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 'events' AND column = 'site'").
		Scan(&plain, &repeated)
	if err != nil {
		t.Fatal(err)
	}
	return plain, repeated
}

// wantNumbered checks all rows of the inserts, through the primary key and without it.
func wantNumbered(t testing.TB, conn driver.Conn, inserts int) {
	t.Helper()
	right := fmt.Sprintf("site = '%s' AND url = concat(toString(visitor), '/', toString(session)) AND log_offset = visitor AND page = '' AND time >= '2020-01-01'", intaketest.Site.ID)
	if n, all := countRows(t, conn, right), countRows(t, conn, "1"); n != uint64(inserts)*500 || all != n {
		t.Errorf("%d rows, %d of them as they were sent, want %d", all, n, inserts*500)
	}
}

// TestLayoutAlters: a table with plain strings gets those of a new table. Before,
// while and after the engine rewrites its parts, rows are the same, a repeated
// insert is dropped, and inserts go on.
func TestLayoutAlters(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	makePlain(t, store, conn)
	rows, sum := contents(t, conn)
	l := newTestLayout(t, conn, nil)
	if ok, err := l.Current(t.Context()); ok || err != nil {
		t.Fatalf("a table with plain strings is current: %v, %v", ok, err)
	}
	merges := func(do string) {
		t.Helper()
		if err := conn.Exec(t.Context(), "SYSTEM "+do+" MERGES events"); err != nil {
			t.Fatal(err)
		}
	}
	merges("STOP") // rewriting waits
	if err := l.Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	current(t, l)
	if n, s := contents(t, conn); n != rows || s != sum {
		t.Errorf("%d rows with sum %d, want %d with %d", n, s, rows, sum)
	}
	insertNumbered(t, store, 1) // a repeat
	insertNumbered(t, store, 3)
	if plain, repeated := plainParts(t, conn); plain != 3 || repeated != 1 {
		t.Fatalf("%d parts with plain strings and %d others: want the three old ones and the new one", plain, repeated)
	}
	wantNumbered(t, conn, 4)
	if err := newTestLayout(t, conn, nil).Move(t.Context()); err != nil { // another node
		t.Error(err)
	}

	var inserts atomic.Int64
	inserts.Store(4)
	inserting, done := context.WithCancel(t.Context())
	inserted := make(chan struct{})
	go func() {
		defer close(inserted)
		for i := 4; inserting.Err() == nil; i++ {
			if err := store.Insert(t.Context(), distinct(t, i, 500), fmt.Sprint("token", i)); err != nil {
				t.Error(err)
				return
			}
			inserts.Add(1)
		}
	}()
	merges("START")
	eventually.True(t, "the rewriting of the parts", func() bool {
		if n := countRows(t, conn, "visitor < 4"); n != 2000 {
			t.Errorf("%d of 2000 rows while parts are rewritten", n)
		}
		plain, _ := plainParts(t, conn)
		return plain == 0
	})
	done()
	<-inserted
	insertNumbered(t, store, 2)
	wantNumbered(t, conn, int(inserts.Load()))
	if err := conn.Exec(t.Context(), "OPTIMIZE TABLE events FINAL"); err != nil {
		t.Fatal(err)
	}
	wantNumbered(t, conn, int(inserts.Load()))
	current(t, l)
}

// TestLayoutAlterKilled: a mover that is killed before or after the statement leaves
// a table that works, and the next one does what is left.
func TestLayoutAlterKilled(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for _, at := range []string{"before alter", "after alter"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			store, conn := newTestStore(t)
			makePlain(t, store, conn)
			l := newTestLayout(t, conn, func(cfg *LayoutConfig) {
				cfg.step = func(name string) error {
					if name == at {
						return killed
					}
					return nil
				}
			})
			if err := l.Move(t.Context()); !errors.Is(err, killed) {
				t.Fatalf("%v: this test does not kill", err)
			}
			insertNumbered(t, store, 3)
			wantNumbered(t, conn, 4)
			l = newTestLayout(t, conn, nil)
			if err := l.Move(t.Context()); err != nil {
				t.Fatal(err)
			}
			current(t, l)
			wantNumbered(t, conn, 4)
		})
	}
}

// TestLayoutAltersBack: a node of an earlier version made the columns plain strings again,
// beside the projection of visits. They get their types back, and both rows and visits
// stay what they are.
func TestLayoutAltersBack(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	insertNumbered(t, store, 0)
	var plain []string
	for _, line := range strings.Split(insights.CreateStatements(insights.Topology{})[0], "\n") {
		if line = strings.TrimSuffix(strings.TrimSpace(line), ","); strings.Contains(line, " "+repeatedType+" ") {
			plain = append(plain, "MODIFY COLUMN "+strings.Replace(line, repeatedType, "String", 1))
		}
	}
	if err := conn.Exec(t.Context(), "ALTER TABLE events "+strings.Join(plain, ", ")); err != nil || len(plain) != 9 {
		t.Fatalf("%d columns, %v", len(plain), err)
	}
	insertNumbered(t, store, 1)
	l := newTestLayout(t, conn, nil)
	if err := l.Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	insertNumbered(t, store, 2)
	current(t, l)
	awaitVisits(t, l)
	wantNumbered(t, conn, 3)
	if events := visitEvents(t, conn); events != 1500 {
		t.Errorf("%d events in visits", events)
	}
	if same, different := compareVisits(t, l, 1); different != 0 {
		t.Errorf("%v checks found no difference, %v found one", same, different)
	}
}

// TestLayoutAlterRefusals: the table keeps its types, and takes inserts.
func TestLayoutAlterRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*LayoutConfig)
		want   string
	}{
		"an older member":  {func(cfg *LayoutConfig) { cfg.OlderMembers = func(context.Context) (bool, error) { return true, nil } }, "earlier version"},
		"the lock is lost": {func(cfg *LayoutConfig) { cfg.Holds = func(context.Context) error { return errors.New("lost") } }, "lost"},
		"a cluster":        {func(cfg *LayoutConfig) { cfg.Topology.Cluster = "c" }, "ALTER TABLE events_local ON CLUSTER c MODIFY COLUMN site LowCardinality(String)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, conn := newTestStore(t)
			makePlain(t, store, conn)
			if err := conn.Exec(t.Context(), "CREATE TABLE events_local AS events"); err != nil {
				t.Fatal(err)
			}
			l := newTestLayout(t, conn, c.change)
			if err := l.Move(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if ok, err := l.Current(t.Context()); ok || err != nil {
				t.Errorf("current: %v, %v", ok, err)
			}
			insertNumbered(t, store, 3)
			wantNumbered(t, conn, 4)
		})
	}
}

// TestLayoutAlterPowerCut: the engine dies before it has rewritten anything. After
// its start it goes on; and if the disk has lost its notes that it must, parts with
// plain strings are still read as the table's type, and rewritten when the next check
// finds them without the projection of visits.
func TestLayoutAlterPowerCut(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("note lost: ", lost), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			engine := startEngine(t, dir)
			store, conn := testStoreAt(t, engine.ClickHouseURL)
			makePlain(t, store, conn)
			if err := conn.Exec(t.Context(), "SYSTEM STOP MERGES events"); err != nil {
				t.Fatal(err)
			}
			if err := newTestLayout(t, conn, nil).Move(t.Context()); err != nil {
				t.Fatal(err)
			}
			if plain, _ := plainParts(t, conn); plain != 3 {
				t.Fatalf("%d of 3 parts have plain strings", plain)
			}
			_ = engine.Cmd.Process.Kill() // or it would start the engine again
			_ = syscall.Kill(engine.PIDs["clickhouse"], syscall.SIGKILL)
			<-engine.Exited()
			eventually.True(t, "the engine's death", func() bool { return syscall.Kill(engine.PIDs["clickhouse"], 0) != nil })
			notes := mutationNotes(t, dir)
			if len(notes) == 0 {
				t.Fatal("the engine has no note that it must rewrite parts")
			}
			for _, path := range notes {
				if lost {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			engine = startEngine(t, dir)
			t.Cleanup(func() { _ = engine.Stop() })
			store, conn = testStoreAt(t, engine.ClickHouseURL)
			insertNumbered(t, store, 3)
			insertNumbered(t, store, 1) // a repeat
			wantNumbered(t, conn, 4)
			if lost {
				if err := newTestLayout(t, conn, nil).CheckVisits(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			eventually.True(t, "parts with the new types", func() bool {
				plain, _ := plainParts(t, conn)
				return plain == 0
			})
			wantNumbered(t, conn, 4)
			current(t, newTestLayout(t, conn, nil))
		})
	}
}

func mutationNotes(t testing.TB, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "mutation_") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
