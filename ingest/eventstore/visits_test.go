package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// visitEvents returns the number of events that the projection of visits has.
func visitEvents(t testing.TB, conn driver.Conn) (events uint64) {
	t.Helper()
	number, _ := insights.Events.OfVisit(nil)
	st := (&sqltree.Select{Columns: []sqltree.Aliased{{Expr: sqltree.Call("sum", number)}}, Rows: insights.VisitRows()}).Print()
	if err := conn.QueryRow(t.Context(), st.SQL).Scan(&events); err != nil {
		t.Fatal(err)
	}
	return events
}

// awaitVisits waits until each part has the projection of visits.
func awaitVisits(t testing.TB, v *Visits) {
	t.Helper()
	eventually.True(t, "the projection of all parts", func() bool {
		p, err := v.projections(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p.bare == 0 && !p.projecting
	})
}

func newTestVisits(t testing.TB, conn driver.Conn, change func(*VisitsConfig)) *Visits {
	t.Helper()
	cfg := VisitsConfig{
		Conn: conn, Holds: func(context.Context) error { return nil },
		Metrics: NewMetrics(prometheus.NewRegistry()), Logger: ingesttest.Logger(t),
	}
	if change != nil {
		change(&cfg)
	}
	v, err := NewVisits(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantKept checks that the events table has the current projection of visits, or that ClickHouse is building it.
func wantKept(t testing.TB, conn driver.Conn) {
	t.Helper()
	if kept, err := newTestVisits(t, conn, nil).Kept(t.Context()); err != nil || !kept {
		t.Errorf("Kept returns %v, %v; want true", kept, err)
	}
}

var errKilled = errors.New("killed")

// killedConn is a connection that fails after `left` statements, as if the process were killed.
type killedConn struct {
	driver.Conn
	left int
}

func (c *killedConn) Exec(ctx context.Context, query string, args ...any) error {
	if c.left == 0 {
		return errKilled
	}
	c.left--
	return c.Conn.Exec(ctx, query, args...)
}

// insertNumbered inserts 500 rows whose values and token contain the number i.
func insertNumbered(t testing.TB, store *ClickHouse, i int) {
	t.Helper()
	if err := store.Insert(t.Context(), distinct(t, i, 500), fmt.Sprint("token", i)); err != nil {
		t.Fatal(err)
	}
}

// wantNumbered checks that the events table has exactly the correct rows of insertNumbered for the numbers before
// `inserts`. It counts the rows with a condition on the primary key, and without a condition.
func wantNumbered(t testing.TB, conn driver.Conn, inserts int) {
	t.Helper()
	right := "site = '" + intaketest.Site.ID + "' AND url = concat(toString(visitor), '/', toString(session))" +
		" AND log_offset = visitor AND page = '' AND time >= '2020-01-01'"
	if n, all := countRows(t, conn, right), countRows(t, conn, "1"); n != uint64(inserts)*500 || all != n {
		t.Errorf("%d rows, %d of them correct, want %d", all, n, inserts*500)
	}
}

// compareVisits calls Check until it has made n comparisons. It must repeat the call, because Check makes no comparison
// if a merge removes the part that it has chosen.
func compareVisits(t testing.TB, v *Visits, n float64) (same, different float64) {
	t.Helper()
	eventually.True(t, "comparisons of visits", func() bool {
		if err := v.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		same = testutil.ToFloat64(v.cfg.Metrics.visits.WithLabelValues("same"))
		different = testutil.ToFloat64(v.cfg.Metrics.visits.WithLabelValues("different"))
		return same+different >= n
	})
	return same, different
}

// TestVisitsAreKept checks that Keep creates and builds the current projection for all rows. The events table has no
// projection at first, or the projection of another version. The process is killed before each statement in turn. After
// Keep, new rows must be in the projection immediately, and deleted rows must not be in it.
func TestVisitsAreKept(t *testing.T) {
	t.Parallel()
	countsApart, err := os.ReadFile("testdata/visits_f3b29400.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, older := range map[string]string{
		"none":            "",
		"another version": "ALTER TABLE events ADD PROJECTION visits_00000000 (SELECT site, count() GROUP BY site)",
		"counts apart":    string(countsApart), // from commit 623ce29b
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, conn := newTestStore(t)
			exec := func(statement string) {
				t.Helper()
				if err := conn.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			exec("ALTER TABLE events DROP PROJECTION " + insights.VisitsProjection())
			if older != "" {
				exec(older)
			}
			for i := range 3 {
				insertNumbered(t, store, i)
			}
			if kept, err := newTestVisits(t, conn, nil).Kept(t.Context()); kept || err != nil {
				t.Fatalf("Kept returns %v, %v before Keep; want false", kept, err)
			}
			for step := range 10 { // the process is killed at each step in turn, until Keep succeeds
				v := newTestVisits(t, &killedConn{Conn: conn, left: step}, nil)
				err := v.Keep(t.Context())
				if err == nil {
					break
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
			}
			wantKept(t, conn)
			insertNumbered(t, store, 3)
			awaitVisits(t, newTestVisits(t, conn, nil))
			if events := visitEvents(t, conn); events != 2000 {
				t.Errorf("visits count %d events, want 2000", events)
			}
			wantNumbered(t, conn, 4)
			exec("ALTER TABLE events DELETE WHERE log_offset = 2 SETTINGS mutations_sync = 2")
			if events := visitEvents(t, conn); events != 1500 {
				t.Errorf("visits count %d events after 500 of 2000 are deleted, want 1500", events)
			}
			p, err := newTestVisits(t, conn, nil).projections(t.Context())
			if err != nil || fmt.Sprint(p.names) != "["+insights.VisitsProjection()+"]" {
				t.Errorf("projections %v, %v; want %s", p.names, err, insights.VisitsProjection())
			}
			if same, different := compareVisits(t, newTestVisits(t, conn, nil), 3); same != 3 || different != 0 {
				t.Errorf("%v comparisons found no difference, %v found a difference; want 3 and 0", same, different)
			}
		})
	}
}

// TestCheckVisits checks that the projection agrees with events of many kinds. If a comparison finds a difference,
// Check must count it, and ClickHouse must build the projection again.
func TestCheckVisits(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	v := newTestVisits(t, conn, nil)
	if err := v.Check(t.Context()); err != nil {
		t.Fatalf("an empty table: %v", err)
	}
	for i := range 3 {
		insertNumbered(t, store, i)
	}
	if err := conn.Exec(t.Context(), `INSERT INTO events (site, time, type, visitor, session, country, latitude, claims, feedback_rating)
		SELECT 's', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number * 7, number % 20 + 1, number % 50, number % 70, if(number % 3 = 0, '', 'DE'), if(number % 5 = 0, nan, 52.5),
		if(number % 2 = 0, map('plan', 'pro'), map()), number % 4 FROM numbers(20000)`); err != nil {
		t.Fatal(err)
	}
	if same, different := compareVisits(t, v, 5); same != 5 || different != 0 {
		t.Errorf("%v comparisons found no difference, %v found a difference; want 5 and 0", same, different)
	}
	large := newTestVisits(t, conn, func(c *VisitsConfig) { c.most = 1 })
	eventually.True(t, "an hour that is too large to compare", func() bool {
		if err := large.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		return testutil.ToFloat64(large.cfg.Metrics.visits.WithLabelValues("large")) > 0
	})
	if n := testutil.ToFloat64(large.cfg.Metrics.visits.WithLabelValues("same")); n > 0 {
		t.Errorf("%v comparisons of hours that are too large", n)
	}
	events, visits := insights.VisitsCheck()
	for name, wrong := range map[string]string{
		"an extra event": strings.Replace(visits, "sum(", "toUInt64(1) + sum(", 1),
		"other contents": strings.Replace(visits, "cityHash64(", "cityHash64(1, ", 1),
		"other types":    strings.Replace(visits, "* 1)", "* 3)", 1), // each hour that Check may choose has this type
		"other sessions": strings.Replace(visits, "* 4294967296, ", "* 3, ", 1),
	} {
		t.Run(name, func(t *testing.T) {
			v := newTestVisits(t, conn, func(c *VisitsConfig) {
				c.check = func() (string, string) { return events, wrong }
			})
			if same, different := compareVisits(t, v, 1); wrong == visits || same != 0 || different != 1 {
				t.Errorf("%v comparisons found no difference, %v found a difference; want 0 and 1", same, different)
			}
			awaitVisits(t, v)
			if events := visitEvents(t, conn); events != 21500 {
				t.Errorf("visits count %d events after they are built again, want 21500", events)
			}
		})
	}
}

// TestCheckCreatesWhatIsDropped drops the projection after a difference, and then kills the process before the new
// projection is created. The next Check must create the projection.
func TestCheckCreatesWhatIsDropped(t *testing.T) {
	t.Parallel()
	store, conn := newTestStore(t)
	insertNumbered(t, store, 0)
	awaitVisits(t, newTestVisits(t, conn, nil))
	events, visits := insights.VisitsCheck()
	killed := newTestVisits(t, &killedConn{conn, 1}, func(c *VisitsConfig) {
		c.check = func() (string, string) { return events, strings.Replace(visits, "sum(", "toUInt64(1) + sum(", 1) }
	})
	eventually.True(t, "a Check that drops the projection", func() bool {
		err := killed.Check(t.Context())
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		return err != nil
	})
	v := newTestVisits(t, conn, nil)
	if err := v.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if wantKept(t, conn); t.Failed() {
		return
	}
	awaitVisits(t, v)
	if events := visitEvents(t, conn); events != 500 {
		t.Errorf("visits count %d events after they are built again, want 500", events)
	}
}

// TestVisitsPowerCut truncates the files of a projection. A power cut can do this, because ClickHouse (26.5) does not
// sync these files. All events must survive, and ClickHouse must build the projection again.
func TestVisitsPowerCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	engine := startEngine(t, dir)
	store, _ := testStoreAt(t, engine.ClickHouseURL)
	for i := range 3 {
		insertNumbered(t, store, i)
	}
	_ = engine.Stop()
	cut := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		inProjection := strings.Contains(path, insights.VisitsProjection()+".proj/") && !strings.Contains(path, "/all_")
		if err == nil && !d.IsDir() && inProjection {
			info, err := d.Info()
			if err != nil {
				return err
			}
			cut++
			return os.WriteFile(path, make([]byte, info.Size()), 0o600)
		}
		return err
	})
	if err != nil || cut == 0 {
		t.Fatalf("%d files of projections, %v", cut, err)
	}
	engine = startEngine(t, dir)
	t.Cleanup(func() { _ = engine.Stop() })
	store, conn := testStoreAt(t, engine.ClickHouseURL)
	wantNumbered(t, conn, 3)
	insertNumbered(t, store, 3)
	v := newTestVisits(t, conn, nil)
	eventually.True(t, "the engine to build the projection again", func() bool {
		if err := v.Check(t.Context()); err != nil {
			t.Log(err)
		}
		p, err := v.projections(t.Context())
		return err == nil && p.bare == 0 && !p.projecting
	})
	if events := visitEvents(t, conn); events != 2000 {
		t.Errorf("visits count %d events, want 2000", events)
	}
	wantNumbered(t, conn, 4)
}

// TestCheckLeavesThePresent checks a table whose events are all of the present hour. Check must not compare them,
// because they still change.
func TestCheckLeavesThePresent(t *testing.T) {
	t.Parallel()
	_, conn := newTestStore(t)
	const insert = "INSERT INTO events (site, time) SELECT 's', now64(3) + number FROM numbers(9)"
	if err := conn.Exec(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	site, _, err := newTestVisits(t, conn, nil).drawHour(t.Context())
	if err != nil || site != "" {
		t.Errorf("%v: events of the site %q, which still change, are chosen", err, site)
	}
}
