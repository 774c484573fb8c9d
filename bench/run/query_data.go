package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// queryData is the content of the file data.json in a data folder, next to the engines' data. The program writes the
// file when the original events are stored. The file does not record which days have all copies, because the program
// finds this out from the tables.
type queryData struct {
	Token, Org string
	Sites      []string // ids of the sites, sorted by size, the largest first
	Base       string   // site of the original events, from which all other events are copied
	Unique     int      // number of original events
	End        time.Time
}

// dataFolder returns the path of the data folder and creates the folder. A run continues with the data of an
// interrupted run.
func (c *benchCmd) dataFolder() (string, error) {
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return "", err
	}
	dir := cmp.Or(c.Data, filepath.Join(root, "bench", ".data"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create the data folder: %w", err)
	}
	return dir, nil
}

// openData starts the engines with the data folder. If the folder does not have the original events yet, openData posts
// them.
func (b *bench) openData(ctx context.Context) (*queryData, error) {
	var d queryData
	path := filepath.Join(b.rig.dir, "data.json")
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		if old := time.Since(d.End); old > 3*24*time.Hour {
			b.report.skip("visitor segments as they should be", fmt.Sprintf("they are of the last 30 days, and the data ended %.0f days ago", old.Hours()/24))
		}
		b.rig.Token, b.rig.org, b.rig.site = d.Token, d.Org, d.Base
		return &d, b.rig.startEngines(ctx)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot read the data folder: %w", err)
	}
	for _, leftover := range []string{"engines", "node"} {
		if err := os.RemoveAll(filepath.Join(b.rig.dir, leftover)); err != nil {
			return nil, fmt.Errorf("cannot empty the data folder: %w", err)
		}
	}
	if err := b.rig.serve(ctx, allRoles); err != nil {
		return nil, err
	}
	d = queryData{Token: b.rig.Token, Org: b.rig.org, Base: b.rig.site, End: time.Now().UTC().Truncate(day)}
	for range dataSites {
		site, err := b.rig.newSite(ctx)
		if err != nil {
			return nil, err
		}
		d.Sites = append(d.Sites, site)
	}
	if d.Unique, err = b.postUnique(ctx, b.rig.target, min(uniqueEvents, b.query.events[0]), d.End); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(d); err != nil {
		return nil, fmt.Errorf("cannot write the data folder: %w", err)
	}
	return &d, os.WriteFile(path, text, 0o600)
}

const (
	day          = 24 * time.Hour
	dataSites    = 20
	dataSpan     = 396 * day // 13 months
	uniqueEvents = 1_000_000 // number of original events; all other events are copies with other visitors
)

// querySize is a table of one size, in a separate database.
type querySize struct {
	*queryData
	events   int
	database string
	conn     driver.Conn
}

// openSize adds missing events to the table with a number of events, and starts the node with this table.
func (b *bench) openSize(ctx context.Context, d *queryData, events int) (*querySize, error) {
	if events%d.Unique != 0 {
		return nil, fmt.Errorf("--events %d is no multiple of the %d events that the data folder copies", events, d.Unique)
	}
	s := &querySize{queryData: d, events: events, database: fmt.Sprintf("events_%d", events)}
	if err := b.rig.stopNode(); err != nil {
		return nil, err
	}
	if err := b.makeSize(ctx, s); err != nil {
		return nil, fmt.Errorf("cannot make %d events: %w", events, err)
	}
	b.rig.database = s.database
	if err := b.rig.restart(ctx, allRoles); err != nil {
		return nil, err
	}
	return s, s.forget(ctx)
}

func (b *bench) makeSize(ctx context.Context, s *querySize) error {
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+s.database); err != nil {
		return err
	}
	if s.conn, err = b.storeIn(s.database); err != nil {
		return err
	}
	var source string
	if err := conn.QueryRow(ctx, "SELECT currentDatabase()").Scan(&source); err != nil {
		return err
	}
	if err := s.conn.Exec(ctx, createWithoutVisits()); err != nil {
		return err
	}
	began := time.Now()
	made, err := s.fill(ctx, source+"."+insights.Table)
	if err != nil {
		return err
	}
	inserted := time.Since(began)
	if err := s.settle(ctx); err != nil {
		return err
	}
	if err := s.age(ctx); err != nil {
		return err
	}
	merged := time.Since(began) - inserted
	if err := s.derive(ctx); err != nil {
		return err
	}
	derived := time.Since(began) - inserted - merged
	var bytes, rows, parts uint64
	if err := s.conn.QueryRow(ctx, "SELECT sum(bytes_on_disk), sum(rows), count() FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", insights.Table).
		Scan(&bytes, &rows, &parts); err != nil {
		return err
	}
	name := number(float64(s.events)) + " events: "
	if made > 0 {
		b.report.add(row{What: name + "made", Unit: "rows/s", Ours: spreadOf([]float64{float64(made) / inserted.Seconds()}), Notes: []string{fmt.Sprintf(
			"%d events in %s s, then merged for %s s; then visits were made of them in %s s", made, number(inserted.Seconds()), number(merged.Seconds()), number(derived.Seconds()))}})
	}
	b.report.add(row{What: name + "disk", Unit: "B per event", Ours: spreadOf([]float64{float64(bytes) / float64(rows)}), Notes: []string{fmt.Sprintf("%d rows in %d parts, with visits", rows, parts)}})
	return nil
}

// createWithoutVisits returns the statement that creates the events table without its projection. The method `derive`
// creates the projection later, and measures how long this takes.
func createWithoutVisits() string {
	create := insights.CreateStatements(insights.Topology{Statistics: true})[0]
	columns, rest, _ := strings.Cut(create, ",\n    PROJECTION "+insights.VisitsProjection())
	_, engine, _ := strings.Cut(rest, "\n)\nENGINE")
	return columns + "\n)\nENGINE" + engine
}

// liveRows is a condition that selects the events that were sent to the node. Such events have a log_partition that
// exists in the log. Copies of events have a larger log_partition.
const (
	copiedPartition = 10_000 // added to the log_partition of copies
	liveRows        = "log_partition < 10000"
)

// insertedRows is the largest number of rows of an insert, unless a single day has more rows.
const insertedRows = 100_000

// dayText returns the SQL expression for the start of day d after `began`.
func dayText(began time.Time, d int32) string {
	return fmt.Sprintf("toDateTime(%d, 'UTC')", began.Add(time.Duration(d)*day).Unix())
}

// fill inserts copies of events for each day that is missing in the table. An insert has the rows of one day, or of
// several days in a small table. Before that, `fill` deletes the rows of days that an interrupted insert left
// incomplete.
func (s *querySize) fill(ctx context.Context, source string) (made uint64, err error) {
	if rows, err := s.copied(ctx); err != nil || rows == uint64(s.events) {
		return 0, err
	}
	// Each original row is copied several times. The time of a copy is up to three days after the time of the original.
	// If this is after the end of the range, the time continues at the start of the range.
	copies := s.events / s.Unique
	began := s.End.Add(-dataSpan)
	moved := fmt.Sprintf(
		"positiveModulo(toUnixTimestamp64Milli(time) - %d + toInt64(sipHash64(visitor, n) %% 259200000), %d)",
		began.UnixMilli(), dataSpan.Milliseconds())
	dayOf := "toInt32(intDiv(" + moved + ", 86400000))"
	from := fmt.Sprintf("FROM %s WHERE site = '%s'", source, s.Base)
	want, err := s.countDays(ctx, fmt.Sprintf("SELECT arrayJoin(arrayMap(n -> %s, range(%d))) AS day, count() %s GROUP BY day", dayOf, copies, from))
	if err != nil {
		return 0, err
	}
	have, err := s.countDays(ctx, fmt.Sprintf("SELECT toInt32(dateDiff('day', toDateTime(%d, 'UTC'), received)) AS day, count() FROM %s WHERE NOT %s GROUP BY day", began.Unix(), insights.Table, liveRows))
	if err != nil {
		return 0, err
	}
	days, total := int32(dataSpan/day), uint64(0)
	for d := int32(0); d < days; {
		first, missing, partly := d, uint64(0), false
		for rows := uint64(0); d < days && (rows == 0 || rows+want[d] <= insertedRows); d++ {
			rows, total, partly = rows+want[d], total+want[d], partly || have[d] > 0
			if have[d] != want[d] {
				missing += want[d]
			}
		}
		if missing == 0 {
			continue
		}
		if partly {
			if err := s.conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DELETE WHERE received >= %s AND received < %s AND NOT %s SETTINGS mutations_sync = 2",
				insights.Table, dayText(began, first), dayText(began, d), liveRows)); err != nil {
				return made, err
			}
		}
		// The copies of these days are made from original events of these days and of a few days before. Deduplication
		// must be off. Otherwise, if the rows of a day were deleted and inserted again, ClickHouse would drop them as a
		// repeated insert.
		if err := s.conn.Exec(ctx, fmt.Sprintf(`INSERT INTO %[1]s SELECT * EXCEPT (n, other, at) REPLACE (%[2]s AS site, other AS visitor, sipHash64(session, n) AS session,
			['US', 'US', 'US', 'US', 'DE', 'DE', 'GB', 'GB', 'IN', 'IN', 'FR', 'JP', 'BR', 'CA', 'NL', 'CN', 'KR', 'ES', 'PL', 'AU'][1 + other %% 20] AS country,
			toUInt16(log_partition + %[3]d) AS log_partition, log_offset + n * %[4]d AS log_offset, at AS time, toDateTime(toStartOfDay(at), 'UTC') AS received)
			FROM (SELECT *, arrayJoin(arrayFilter(n -> %[5]s BETWEEN %[6]d AND %[7]d, range(%[8]d))) AS n, sipHash64(visitor, n) AS other, fromUnixTimestamp64Milli(%[9]d + %[10]s, 'UTC') AS at
				%[11]s AND positiveModulo(%[7]d - toInt32(intDiv(toUnixTimestamp64Milli(time) - %[9]d, 86400000)), %[12]d) <= %[13]d)
			SETTINGS insert_deduplicate = 0`,
			insights.Table, siteByZipf(s.Sites), copiedPartition, uniqueEvents, dayOf, first, d-1, copies,
			began.UnixMilli(), moved, from, days, 4+d-first)); err != nil {
			return made, fmt.Errorf("day %d: %w", first, err)
		}
		made += missing
		progress("%d events: %d of %d days", s.events, d, days)
	}
	if total != uint64(s.events) {
		return made, fmt.Errorf("the copies are %d events", total)
	}
	if rows, err := s.copied(ctx); err != nil || rows != total {
		return made, cmp.Or(err, fmt.Errorf("the table has %d events", rows))
	}
	return made, nil
}

// copied returns the number of copies in the table.
func (s *querySize) copied(ctx context.Context) (rows uint64, err error) {
	err = s.conn.QueryRow(ctx, "SELECT count() FROM "+insights.Table+" WHERE NOT "+liveRows).Scan(&rows)
	return rows, err
}

func (s *querySize) countDays(ctx context.Context, sql string) (map[int32]uint64, error) {
	rows, err := s.conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	days := map[int32]uint64{}
	for rows.Next() {
		var day int32
		var n uint64
		if err := rows.Scan(&day, &n); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		days[day] = n
	}
	return days, errors.Join(rows.Err(), rows.Close())
}

// settle waits until ClickHouse runs no merges.
func (s *querySize) settle(ctx context.Context) error {
	return s.await(ctx, "SELECT count() = 0 FROM system.merges WHERE database = currentDatabase()", 10)
}

// age merges the parts of each past month into one part. ClickHouse itself would do this only after a day.
func (s *querySize) age(ctx context.Context) error {
	var months []string
	if err := s.conn.QueryRow(ctx, "SELECT arrayPopBack(arraySort(groupUniqArray(partition_id))) FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", insights.Table).Scan(&months); err != nil {
		return err
	}
	for _, month := range months {
		if err := s.conn.Exec(ctx, "OPTIMIZE TABLE "+insights.Table+" PARTITION ID '"+month+"' FINAL SETTINGS optimize_skip_merged_partitions = 1"); err != nil {
			return err
		}
	}
	return nil
}

// old waits until all parts are old enough for the node to cache their aggregate states.
func (s *querySize) old(ctx context.Context) error {
	return s.await(ctx, "SELECT count() = 0 FROM system.parts WHERE active AND database = currentDatabase() AND table = '"+insights.Table+"' AND modification_time > now() - 310", 1)
}

// derive creates the projection of visits for all rows, as the node does for a table of an older version. It measures
// how long this takes.
func (s *querySize) derive(ctx context.Context) error {
	var missing uint64
	name := insights.VisitsProjection()
	if err := s.conn.QueryRow(ctx, "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = ? AND NOT has(projections, ?)", insights.Table, name).
		Scan(&missing); err != nil || missing == 0 {
		return err
	}
	var have []string
	if err := s.conn.QueryRow(ctx, "SELECT groupArray(name) FROM system.projections WHERE database = currentDatabase() AND table = ?", insights.Table).Scan(&have); err != nil {
		return err
	}
	for _, statement := range insights.VisitsStatements(insights.Topology{}, have, true) {
		if err := s.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return s.await(ctx, "SELECT (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done) = 0 AND (SELECT count() FROM system.parts"+
		" WHERE active AND database = currentDatabase() AND table = '"+insights.Table+"' AND NOT has(projections, '"+name+"')) = 0", 1)
}

// await runs a statement again and again, until it has returned true `times` times in succession.
func (s *querySize) await(ctx context.Context, sql string, times int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	for n := 0; n < times; {
		var done uint8
		if err := s.conn.QueryRow(ctx, sql).Scan(&done); err != nil {
			return err
		}
		if n++; done == 0 {
			n = 0
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

// forget deletes the rows of events that were sent to the node, so that only copies remain.
func (s *querySize) forget(ctx context.Context) error {
	var rows uint64
	if err := s.conn.QueryRow(ctx, "SELECT count() FROM "+insights.Table+" WHERE "+liveRows).Scan(&rows); err != nil || rows == 0 {
		return err
	}
	return s.conn.Exec(ctx, "ALTER TABLE "+insights.Table+" DELETE WHERE "+liveRows+" SETTINGS mutations_sync = 2")
}
