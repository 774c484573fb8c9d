package eventstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Part is an active part of the events table, or of a table of aggregate states.
type Part struct {
	Table, Name, Partition string
	Rows, Bytes            uint64
}

// Derived reports whether the part has only aggregate states, which queries can compute again.
func (p Part) Derived() bool { return p.Table != insights.Table }

// Parts returns the parts with a name, or all parts if `name` is empty. On a cluster it returns no parts, because the
// replicas check and replace their parts themselves.
func (c *ClickHouse) Parts(ctx context.Context, name string) (list []Part, err error) {
	if c.cfg.Cluster != "" {
		return nil, nil
	}
	rows, err := c.cfg.Conn.Query(ctx, `SELECT table, name, partition_id, rows, bytes_on_disk FROM system.parts
		WHERE database = currentDatabase() AND active AND (table = {events:String} OR match(table, {states:String}))
		AND ({name:String} = '' OR name = {name:String}) ORDER BY table, name`,
		clickhouse.Named("events", insights.Table), clickhouse.Named("states", insights.StatesTables),
		clickhouse.Named("name", name))
	if err != nil {
		return nil, fmt.Errorf("cannot list parts: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		var p Part
		if err := rows.Scan(&p.Table, &p.Name, &p.Partition, &p.Rows, &p.Bytes); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

// Condition describes whether the files of a part are damaged.
type Condition int

const (
	Sound           Condition = iota
	Gone                      // the part was merged or dropped after it was listed
	DamagedDerived            // only a projection of the part is damaged
	DamagedContents           // rows of the part may be unreadable
)

// codeNoPart is the engine's error code for a part that a merge has replaced.
const codeNoPart = 232

// Check reads all files of a part and compares them with their checksums. `reason` is ClickHouse's description of the
// damage.
func (c *ClickHouse) Check(ctx context.Context, p Part) (is Condition, reason string, err error) {
	var path string
	var passed bool
	err = c.cfg.Conn.QueryRow(ctx, "CHECK TABLE "+sqltree.Ident(p.Table)+" PART "+sqltree.Quote(p.Name)+
		" SETTINGS check_query_single_value_result = 0, max_threads = 1").Scan(&path, &passed, &reason)
	e, ofEngine := errors.AsType[*clickhouse.Exception](err)
	switch {
	case errors.Is(err, sql.ErrNoRows), ofEngine && (e.Code == codeNoPart || e.Code == codeNoTable):
		return Gone, "", nil
	case err != nil:
		// ClickHouse reports damage in the result of the query, and not as an error. So this error is about memory,
		// time or the connection.
		return Sound, "", fmt.Errorf("cannot check part %s of %s: %w", p.Name, p.Table, err)
	case passed:
		return Sound, "", nil
	case strings.Contains(reason, "BROKEN_PROJECTION"), strings.Contains(reason, "unexpected projection"):
		return c.checkRows(ctx, p, reason)
	}
	return DamagedContents, reason, nil
}

// checkRows reads all rows of a part with a damaged projection. ClickHouse's check does not read these rows, because it
// stops at the damaged projection.
func (c *ClickHouse) checkRows(ctx context.Context, p Part, reason string) (Condition, string, error) {
	var sum uint64
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"optimize_use_projections": 0, "max_threads": 1,
	}))
	err := c.cfg.Conn.QueryRow(ctx, "SELECT sum(ignore(*)) FROM "+sqltree.Ident(p.Table)+" WHERE _part = {part:String}",
		clickhouse.Named("part", p.Name)).Scan(&sum)
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok && insights.IsDamage(e.Code, e.Message) {
		return DamagedContents, e.Message, nil
	}
	if err != nil {
		return Sound, "", fmt.Errorf("cannot read part %s of %s: %w", p.Name, p.Table, err)
	}
	return DamagedDerived, reason, nil
}

// mostDays is the largest number of pairs of site and day that Days returns.
const mostDays = 1000

// Days counts the rows of a part of the events table by site and day. If there are more than mostDays pairs of site and
// day, the map is empty. It fails if it reads damaged bytes of the part.
func (c *ClickHouse) Days(ctx context.Context, p Part) (map[schema.MissingDay]int64, error) {
	month, err := strconv.Atoi(p.Partition)
	if err != nil {
		return nil, fmt.Errorf("the part %s is not of a month", p.Name)
	}
	// The counts must come from the part's rows. A projection may be damaged, or may differ from the rows.
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"optimize_use_projections": 0}))
	rows, err := c.cfg.Conn.Query(ctx, "SELECT site, toDateTime(toStartOfDay(time), 'UTC') AS day, count() FROM "+
		insights.Table+" WHERE _part = {part:String} GROUP BY site, day LIMIT "+strconv.Itoa(mostDays+1),
		clickhouse.Named("part", p.Name))
	if err != nil {
		return nil, fmt.Errorf("cannot count the rows of part %s: %w", p.Name, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	days := map[schema.MissingDay]int64{}
	for rows.Next() {
		var site string
		var day time.Time
		var n uint64
		if err := rows.Scan(&site, &day, &n); err != nil {
			return nil, err
		}
		days[schema.MissingDay{Month: schema.EventMonth(month), Site: site, Day: day.UTC()}] = int64(n)
	}
	if len(days) > mostDays {
		clear(days)
	}
	return days, rows.Err()
}

// SetAside takes a damaged part out of its table. A part of the events table is moved to the table's folder `detached`.
// A part with aggregate states is deleted, because queries compute the states again. `done` is false if the table no
// longer had the part.
func (c *ClickHouse) SetAside(ctx context.Context, p Part) (done bool, err error) {
	change := " DETACH PART " + sqltree.Quote(p.Name)
	if p.Derived() {
		change = " DROP PARTITION ID " + sqltree.Quote(p.Partition)
	}
	err = c.cfg.Conn.Exec(ctx, "ALTER TABLE "+sqltree.Ident(p.Table)+change)
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok && (e.Code == codeNoPart || e.Code == codeNoTable) {
		return false, nil // a merge or a deletion has replaced the part
	}
	if err != nil {
		return false, fmt.Errorf("cannot set part %s of %s aside: %w", p.Name, p.Table, err)
	}
	return true, nil
}

// Aside returns the folders of the parts that are set aside: by SetAside, or by ClickHouse, which sets a part aside at
// its start if it cannot open the part's files. On a cluster it returns the folders of one server.
func (c *ClickHouse) Aside(ctx context.Context) (folders []string, err error) {
	err = c.cfg.Conn.QueryRow(ctx, "SELECT groupArray(path) FROM (SELECT path FROM system.detached_parts "+
		"WHERE database = currentDatabase() AND table = {table:String} ORDER BY path)",
		clickhouse.Named("table", c.topology().LocalTable())).Scan(&folders)
	if err != nil {
		err = fmt.Errorf("cannot list the parts that are set aside: %w", err)
	}
	return folders, err
}
