package sink

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// memoryLedger is a MendLedger in memory.
type memoryLedger struct {
	counted schema.RowsByMonth
	ends    map[int]int64
	missing []schema.MissingRows
	days    map[schema.MissingDay]int64
	leaving int64
	readers map[string]int64 // for each node that has not read a notice, the number of its heartbeats
	asked   func()           // ReadersBefore calls asked, unless it is nil
	full    error            // the error of NoteMissing
}

func (l *memoryLedger) NotedDeletions(context.Context) (map[string]string, error) { return nil, nil }

func (l *memoryLedger) NoteLeaving(_ context.Context, rows int64) (int64, error) {
	l.leaving += rows
	return 1, nil
}

func (l *memoryLedger) Leaving(context.Context) (int64, int64, error) { return l.leaving, 1, nil }

func (l *memoryLedger) ForgetLeaving(context.Context) error {
	l.leaving = 0
	return nil
}

func (l *memoryLedger) ReadersBefore(context.Context, int64) (map[string]int64, error) {
	if l.asked != nil {
		l.asked()
	}
	return maps.Clone(l.readers), nil
}

func (l *memoryLedger) ForgetReader(_ context.Context, node string) error {
	delete(l.readers, node)
	return nil
}

func (l *memoryLedger) CountedRows(context.Context) (schema.RowsByMonth, int64, error) {
	return l.counted, 0, nil
}
func (l *memoryLedger) Missing(context.Context) ([]schema.MissingRows, error) { return l.missing, nil }
func (l *memoryLedger) RowsEnds(context.Context) (map[int]int64, error)       { return l.ends, nil }

func (l *memoryLedger) NoteMissing(_ context.Context, missing []schema.MissingRows) error {
	if l.full != nil {
		return l.full
	}
	l.missing = missing
	return nil
}

func (l *memoryLedger) NoteMissingDays(_ context.Context, days map[schema.MissingDay]int64) error {
	maps.Copy(l.days, days)
	return nil
}

func (l *memoryLedger) RestoreMissingDays(_ context.Context, restored map[schema.MissingDay]int64) error {
	for day, rows := range restored {
		if l.days[day] -= rows; l.days[day] <= 0 {
			delete(l.days, day)
		}
	}
	return nil
}

// mending is a rig with a ledger and a Mender. The rig's stored rows are in one part of the events table.
type mending struct {
	*rig
	ledger *memoryLedger
	mender *Mender
	parts  []eventstore.Part
	lost   int64 // number of rows that were announced before they left the events table
}

// announced fails the test if rows have left the events table before they were announced.
func (m *mending) announced(context.Context) error {
	m.lost = m.ledger.leaving
	var parts uint64
	err := m.conn.QueryRow(m.t.Context(), "SELECT count() FROM system.parts WHERE database = currentDatabase() "+
		"AND table = 'events' AND active").Scan(&parts)
	if err != nil || parts != uint64(len(m.parts)) {
		m.t.Errorf("%v: %d of %d parts are there when %d rows are announced", err, parts, len(m.parts), m.lost)
	}
	return nil
}

// newMending returns a rig that has stored n events, in messages of five events.
func newMending(t *testing.T, n int) *mending {
	t.Helper()
	r := newRig(t, 1)
	for i := range n / 5 {
		r.accept(numbered(i*5, 5))
	}
	s := r.sink(nil, nil)
	r.awaitStored(n)
	r.awaitCommitted(1)
	r.stop(s)
	for _, statement := range []string{"OPTIMIZE TABLE events FINAL", "SYSTEM STOP MERGES events"} {
		if err := r.conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	m := &mending{rig: r, ledger: &memoryLedger{days: map[schema.MissingDay]int64{}}}
	var err error
	if m.ledger.counted, err = r.store.AllMonths(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.ledger.ends = map[int]int64{0: int64(n / 5)}
	free := func(context.Context, ...string) (func(context.Context) error, func() error, error) {
		return held, func() error { return nil }, nil
	}
	m.mender = NewMender(MendConfig{
		Table: r.store, Ledger: m.ledger, Lock: free, Logger: ingesttest.Logger(t), Noted: m.announced,
		Reconciler: func(context.Context) (*Reconciler, error) {
			return NewReconciler(Config{
				Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store,
				Logger: ingesttest.Logger(t),
			})
		},
	})
	if m.parts, err = r.store.Parts(t.Context(), ""); err != nil || len(m.parts) != 1 || m.parts[0].Rows != uint64(n) {
		t.Fatalf("%v: parts %+v", err, m.parts)
	}
	return m
}

// folder returns the folder of the events table's only part.
func (m *mending) folder() (path string) {
	m.t.Helper()
	const query = "SELECT path FROM system.parts WHERE database = currentDatabase() AND table = 'events' AND active"
	if err := m.conn.QueryRow(m.t.Context(), query).Scan(&path); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// projection returns the path of the file that contains the projection of the events table's only part.
func (m *mending) projection() string {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.folder(), "*.proj", "data.bin"))
	if err != nil || len(found) != 1 {
		m.t.Fatalf("%v: projections %v", err, found)
	}
	return found[0]
}

// detached returns the names of the parts that were set aside.
func (m *mending) detached() (names string) {
	m.t.Helper()
	const query = "SELECT arrayStringConcat(groupArray(name), ' ') FROM system.detached_parts " +
		"WHERE database = currentDatabase() AND table = 'events'"
	if err := m.conn.QueryRow(m.t.Context(), query).Scan(&names); err != nil {
		m.t.Fatal(err)
	}
	return names
}

// visitsAgree checks for each hour that the projection of visits agrees with the events.
func (m *mending) visitsAgree() {
	m.t.Helper()
	type hour struct {
		site string
		at   time.Time
	}
	var hours []hour
	rows, err := m.conn.Query(m.t.Context(), "SELECT DISTINCT site, toDateTime(toStartOfHour(time), 'UTC') FROM events")
	if err != nil {
		m.t.Fatal(err)
	}
	for rows.Next() {
		var h hour
		if err := rows.Scan(&h.site, &h.at); err != nil {
			m.t.Fatal(err)
		}
		hours = append(hours, h)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(hours) == 0 {
		m.t.Fatalf("%d hours with events, %v", len(hours), err)
	}
	events, visits := insights.VisitsCheck()
	for _, h := range hours {
		var sums [2]struct{ events, contents, types, sessions uint64 }
		for i, statement := range []string{events, visits} {
			s := &sums[i]
			err := m.conn.QueryRow(m.t.Context(), statement, clickhouse.Named("site", h.site),
				clickhouse.Named("hour", h.at.UTC().Format(time.DateTime))).
				Scan(&s.events, &s.contents, &s.types, &s.sessions)
			if err != nil {
				m.t.Fatal(err)
			}
		}
		if sums[0] != sums[1] || sums[0].events == 0 || sums[0].sessions == 0 {
			m.t.Errorf("%v: events %+v, visits %+v", h, sums[0], sums[1])
		}
	}
}

func none(Difference) error { return nil }

// TestMend damages each kind of file of a part. The part must be set aside, and all rows must be restored from the log,
// once. A part without damage must stay in the events table.
func TestMend(t *testing.T) {
	t.Parallel()
	flip := func(data []byte) []byte { data[len(data)/2] ^= 1; return data }
	for name, c := range map[string]struct {
		file   string // pattern of file names
		change func([]byte) []byte
	}{
		"nothing":                      {"data.bin", func(data []byte) []byte { return data }},
		"a bit of the data":            {"data.bin", flip},
		"zeros in the data":            {"data.bin", func(data []byte) []byte { clear(data[len(data)/3:]); return data }},
		"cut data":                     {"data.bin", func(data []byte) []byte { return data[:len(data)/2] }},
		"longer data":                  {"data.bin", func(data []byte) []byte { return append(data, 0) }},
		"data gone":                    {"data.bin", nil},
		"bits everywhere":              {"data.bin", flip}, // the pattern also matches the projection's files
		"a bit of the marks":           {"data.*mrk*", flip},
		"marks gone":                   {"data.*mrk*", nil},
		"a bit of the primary index":   {"primary.*", flip},
		"a bit of the index of times":  {"skp_idx_time.*idx*", flip},
		"a bit of the columns":         {"columns.txt", flip},
		"columns gone":                 {"columns.txt", nil},
		"a bit of the checksums":       {"checksums.txt", flip},
		"checksums gone":               {"checksums.txt", nil}, // ClickHouse computes the checksums again
		"a bit of the number of rows":  {"count.txt", flip},
		"a bit of the limits":          {"minmax_received.idx", flip},
		"a bit of the serializations":  {"serialization.json", flip},
		"a bit of the partition":       {"partition.dat", flip},
		"the partition's value is cut": {"partition.dat", func(data []byte) []byte { return data[:1] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMending(t, 60)
			found, err := filepath.Glob(filepath.Join(m.folder(), c.file))
			if err != nil || len(found) == 0 {
				t.Fatalf("%v: no file %s in %s", err, c.file, m.folder())
			}
			change(t, found[0], c.change)
			if name == "bits everywhere" {
				change(t, m.projection(), c.change)
			}
			missing, err := m.mender.Compare(t.Context(), m.parts)
			if err != nil {
				t.Fatal(err)
			}
			want, rows := m.parts[0].Name, int64(60)
			if name == "nothing" || name == "checksums gone" {
				want, rows = "", 0
			}
			if got := m.detached(); got != want || schema.MissingTotal(missing) != rows || m.lost != rows {
				t.Fatalf("set aside: %q, missing %+v, announced %d; want %q and %d rows",
					got, missing, m.lost, want, rows)
			}
			done, err := m.mender.Restore(t.Context(), false, none)
			if err != nil || done.Restored != rows || len(done.Missing) != 0 || len(m.ledger.days) != 0 {
				t.Errorf("%v: restored %d of %d, missing %+v, days %v",
					err, done.Restored, rows, done.Missing, m.ledger.days)
			}
			m.equal(60)
			m.visitsAgree()
		})
	}
}

// change changes a file, or removes it if `change` is nil.
func change(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	if change == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMendProjection damages the projection of a part. The part must stay in the events table, and ClickHouse must
// build the projection again.
func TestMendProjection(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	change(t, m.projection(), func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
	missing, err := m.mender.Compare(t.Context(), m.parts)
	if err != nil || len(missing) > 0 || m.detached() != "" {
		t.Fatalf("%v: missing %+v, set aside %q", err, missing, m.detached())
	}
	if err := m.conn.Exec(t.Context(), "SYSTEM START MERGES events"); err != nil {
		t.Fatal(err)
	}
	visits, err := eventstore.NewVisits(eventstore.VisitsConfig{
		Conn: m.conn, Holds: held, Logger: ingesttest.Logger(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "a projection", func() error {
		if err := visits.Check(t.Context()); err != nil {
			return err
		}
		parts, err := m.store.Parts(t.Context(), "")
		if err != nil || len(parts) != 1 {
			return errors.Join(err, errors.New("the part is being replaced"))
		}
		if is, reason, err := m.store.Check(t.Context(), parts[0]); err != nil || is != eventstore.Sound {
			return errors.Join(err, errors.New(reason))
		}
		return nil
	})
	m.equal(60)
	m.visitsAgree()
}

// TestMendLoss sets a part aside that has rows which the log does not have. These rows must count as lost, by site and
// day, and a second repair must not look for them.
func TestMendLoss(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	// Insert rows that the log does not have.
	const more = "INSERT INTO events (site, time, log_partition, log_offset, log_index, received) " +
		"SELECT 'other', toDateTime64('2026-03-04 05:06:07', 3), 7, number, 0, now() FROM numbers(4)"
	for _, statement := range []string{more, "SYSTEM START MERGES events", "OPTIMIZE TABLE events FINAL"} {
		if err := m.conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if m.ledger.counted, err = m.store.AllMonths(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.parts, err = m.store.Parts(t.Context(), ""); err != nil || len(m.parts) != 1 {
		t.Fatalf("%v: %+v", err, m.parts)
	}
	change(t, filepath.Join(m.folder(), "checksums.txt"), func([]byte) []byte { return []byte("damaged") })
	if _, err := m.mender.Compare(t.Context(), m.parts); err != nil {
		t.Fatal(err)
	}
	done, err := m.mender.Restore(t.Context(), false, none)
	if err != nil || done.Restored != 60 || schema.MissingTotal(done.Missing) != 4 ||
		schema.MissingLost(done.Missing) != 4 {
		t.Errorf("%v: restored %d, missing %+v", err, done.Restored, done.Missing)
	}
	list := schema.SplitMissing(done.Missing, m.ledger.days)
	if len(list) != 1 || list[0].Site != "other" || list[0].Rows != 4 || list[0].Lost != 4 ||
		list[0].First.Format("2006-01-02") != "2026-03-04" || list[0].Last.Format("2006-01-02") != "2026-03-05" {
		t.Errorf("the loss is %+v", list)
	}
	if again, err := m.mender.Restore(t.Context(), false, none); err != nil || again.Partitions != nil {
		t.Errorf("%v: a second repair reads the log: %+v", err, again)
	}
	m.ledger.counted.Add(done.Missing[0].Month, schema.MonthRows{Rows: 1})
	if missing, err := m.mender.Compare(t.Context(), nil); err != nil || schema.MissingLost(missing) != 4 ||
		schema.MissingTotal(missing) != 5 {
		t.Errorf("%v: after another loss: %+v", err, missing)
	}
}

// TestMendAnnounces checks that a damaged part stays in the events table until each running node has read the notice
// that its rows will leave. A node without heartbeats must not delay this.
func TestMendAnnounces(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	change(t, filepath.Join(m.folder(), "checksums.txt"), func([]byte) []byte { return []byte("damaged") })
	m.ledger.readers = map[string]int64{"reads later": 1, "has ended": 1}
	m.mender.cfg.gone = 300 * time.Millisecond
	asked := 0
	m.ledger.asked = func() {
		if names := m.detached(); names != "" {
			t.Errorf("%s is set aside while %v do not know", names, m.ledger.readers)
		}
		if _, found := m.ledger.readers["reads later"]; found {
			m.ledger.readers["reads later"]++
		}
		if asked++; asked == 10 {
			delete(m.ledger.readers, "reads later")
		}
	}
	missing, err := m.mender.Compare(t.Context(), m.parts)
	if err != nil || schema.MissingTotal(missing) != 60 || m.detached() != m.parts[0].Name || asked < 10 {
		t.Errorf("%v: missing %+v, set aside %q after %d looks", err, missing, m.detached(), asked)
	}
	if len(m.ledger.readers) != 0 || m.ledger.leaving != 0 {
		t.Errorf("readers %v, and %d rows are still announced", m.ledger.readers, m.ledger.leaving)
	}
}

// copyPart copies the folder of the part under the name of a later insert, and attaches the copy to the events table.
func (m *mending) copyPart() {
	m.t.Helper()
	from := m.folder()
	month, _, _ := strings.Cut(m.parts[0].Name, "_")
	name := month + "_900000_900000_0"
	to := filepath.Join(filepath.Dir(filepath.Clean(from)), "detached", name)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		m.t.Fatal(err)
	}
	if err := m.conn.Exec(m.t.Context(), "ALTER TABLE events ATTACH PART '"+name+"'"); err != nil {
		m.t.Fatal(err)
	}
}

// TestMendCopy attaches a copy of a part. A comparison must find that the events table has each row twice, and set one
// of the two parts aside.
func TestMendCopy(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	m.copyPart()
	if parts, err := m.store.Parts(t.Context(), ""); err != nil || len(parts) != 2 {
		t.Fatalf("%v: %+v", err, parts)
	}
	missing, err := m.mender.Compare(t.Context(), nil)
	if err != nil || len(missing) != 0 || m.detached() == "" {
		t.Errorf("%v: %+v, set aside %q", err, missing, m.detached())
	}
	m.equal(60)
}

// TestMendDoubled merges a part with its copy. A comparison must report how many rows the events table has twice. After
// MergeDoubles, the table must have each row once.
func TestMendDoubled(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	m.copyPart()
	for _, statement := range []string{"SYSTEM START MERGES events", "OPTIMIZE TABLE events FINAL"} {
		if err := m.conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		missing, err := m.mender.Compare(t.Context(), nil)
		if err != nil || len(missing) != 1 || missing[0].Doubled != 60 || missing[0].Rows != 0 || m.detached() != "" ||
			missing[0].First.IsZero() || missing[0].Last.Before(missing[0].First) {
			t.Fatalf("%v: %+v, set aside %q", err, missing, m.detached())
		}
	}
	// Doubled rows must not hide missing rows.
	m.ledger.counted.Add(m.ledger.missing[0].Month, schema.MonthRows{Rows: 7})
	missing, err := m.mender.Compare(t.Context(), nil)
	if err != nil || len(missing) != 1 || missing[0].Doubled != 60 || missing[0].Rows != 7 {
		t.Errorf("%v: %+v", err, missing)
	}
	m.ledger.counted.Add(m.ledger.missing[0].Month, schema.MonthRows{Rows: -7})
	if missing, err := m.mender.MergeDoubles(t.Context()); err != nil || len(missing) != 0 {
		t.Errorf("%v: %+v", err, missing)
	}
	parts, err := m.store.Parts(t.Context(), "")
	if err != nil || len(parts) != 1 || m.projection() == "" {
		t.Fatalf("%v: %+v", err, parts)
	}
	if is, reason, err := m.store.Check(t.Context(), parts[0]); err != nil || is != eventstore.Sound {
		t.Errorf("%v: the merged part: %s", err, reason)
	}
	m.equal(60)
}

// TestMendMoreRows checks a table that has more rows than were counted, and no doubled rows. A comparison must report
// no damage.
func TestMendMoreRows(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	for month, of := range m.ledger.counted {
		of.Rows -= 20
		m.ledger.counted[month] = of
	}
	if missing, err := m.mender.Compare(t.Context(), nil); err != nil || len(missing) != 0 || m.detached() != "" {
		t.Errorf("%v: %+v, set aside %q", err, missing, m.detached())
	}
	m.equal(60)
}

// unsearchable is a connection on which no look for doubled rows succeeds after the first `looks` looks.
type unsearchable struct {
	driver.Conn
	looks int
}

var errUnsearchable = errors.New("the month is too large")

func (c *unsearchable) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if strings.Contains(query, " AS hour, count() FROM") {
		if c.looks--; c.looks < 0 {
			return nil, errUnsearchable
		}
	}
	return c.Conn.Query(ctx, query, args...)
}

// unsearchable lets the looks for doubled rows fail, except the first.
func (m *mending) unsearchable(looks int) {
	m.t.Helper()
	table, err := eventstore.New(eventstore.Config{Conn: &unsearchable{m.conn, looks}})
	if err != nil {
		m.t.Fatal(err)
	}
	m.mender.cfg.Table = table
}

// TestMendUnsearchable compares a table that is too large for a look for doubled rows. It has a surplus in one month,
// and lacks rows of another month. The comparison must report the failure, and the missing rows too. It must withdraw
// the notice of rows that leave the table, because the missing rows are known.
func TestMendUnsearchable(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	month := eventMonth(t, m)
	m.ledger.counted = schema.RowsByMonth{month: {Rows: 40}, month - 100: {Rows: 7}}
	m.ledger.leaving = 7
	m.unsearchable(0)
	missing, err := m.mender.Compare(t.Context(), nil)
	if !errors.Is(err, ErrDoubledUnknown) || !errors.Is(err, errUnsearchable) ||
		len(missing) != 1 || missing[0].Month != month-100 || missing[0].Rows != 7 || m.ledger.leaving != 0 {
		t.Errorf("%v: %+v, and %d rows are announced", err, missing, m.ledger.leaving)
	}
	// A repair must find that the log has none of these rows.
	done, err := m.mender.Restore(t.Context(), false, none)
	if !errors.Is(err, ErrDoubledUnknown) || schema.MissingLost(done.Missing) != 7 ||
		schema.MissingLost(m.ledger.missing) != 7 {
		t.Errorf("%v: %+v, the ledger has %+v", err, done.Missing, m.ledger.missing)
	}
}

// TestMendUnsearchableCopy lets a look for doubled rows fail after a copy of a part was set aside. The comparison must
// not report the rows of the copy as doubled any more, nor as missing.
func TestMendUnsearchableCopy(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	m.copyPart()
	m.ledger.missing = []schema.MissingRows{{Month: eventMonth(t, m), Doubled: 60}}
	m.unsearchable(1)
	missing, err := m.mender.Compare(t.Context(), nil)
	if !errors.Is(err, errUnsearchable) || len(missing) != 0 || len(m.ledger.missing) != 0 || m.detached() == "" {
		t.Errorf("%v: %+v, the ledger has %+v, set aside %q", err, missing, m.ledger.missing, m.detached())
	}
	m.equal(60)
}

// TestMendUnnoted compares with a ledger that cannot store the result. The notice of rows that leave the table must
// stay, and the list must be unknown.
func TestMendUnnoted(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	m.ledger.counted = schema.RowsByMonth{eventMonth(t, m): {Rows: 70}}
	m.ledger.leaving, m.ledger.full = 10, errors.New("the disk is full")
	missing, err := m.mender.Compare(t.Context(), nil)
	if !errors.Is(err, m.ledger.full) || errors.Is(err, ErrDoubledUnknown) || missing != nil || m.ledger.leaving != 10 {
		t.Errorf("%v: %+v, and %d rows are announced", err, missing, m.ledger.leaving)
	}
}

// TestMendUnchecked checks two parts. Readers of notices cannot be asked when the first part, which is damaged, is to
// leave the table. The other part must be checked too, and the comparison must be made. The rows must be announced
// once, and the notice must end, because no part may still leave.
func TestMendUnchecked(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	change(t, filepath.Join(m.folder(), "checksums.txt"), func([]byte) []byte { return []byte("damaged") })
	first, asked := errors.New("no answer"), 0
	m.ledger.counted.Add(eventMonth(t, m)-100, schema.MonthRows{Rows: 7})
	m.mender.cfg.Noted = func(context.Context) error {
		if asked++; asked == 1 {
			return first
		}
		if m.ledger.leaving != 60 {
			t.Errorf("%d rows are announced, want 60", m.ledger.leaving)
		}
		return nil
	}
	missing, err := m.mender.Compare(t.Context(), append(m.parts, m.parts...))
	if !errors.Is(err, first) || asked != 2 || m.detached() == "" || schema.MissingTotal(missing) != 67 ||
		m.ledger.leaving != 0 {
		t.Errorf("%v: %+v, set aside %q, %d rows are announced", err, missing, m.detached(), m.ledger.leaving)
	}
	if u, ok := errors.AsType[*UncheckedError](err); !ok || len(u.Parts) != 1 || u.Parts[0] != m.parts[0].Name {
		t.Errorf("the unchecked parts are %+v", u)
	}
}

// eventMonth returns the only month that the ledger counts.
func eventMonth(t *testing.T, m *mending) (month schema.EventMonth) {
	t.Helper()
	if len(m.ledger.counted) != 1 {
		t.Fatalf("the ledger counts %v", m.ledger.counted)
	}
	for month = range m.ledger.counted {
	}
	return month
}
