package statecache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// These are the errors of Put.
var (
	ErrFull   = errors.New("there is no room for more aggregate states")
	ErrSlow   = errors.New("aggregate states take too long to make")
	ErrCreate = errors.New("cannot create a table for aggregate states")
)

// Write runs a statement that writes, within the limits of a query. The settings replace the query's settings.
type Write func(ctx context.Context, st sqltree.Statement, settings clickhouse.Settings) error

// TableOf returns the name of the table for the states of a statement. The name depends on the text of the statement's
// columns, which contains no values. So requests that differ only in values share a table.
func TableOf(rows sqltree.Statement) string {
	columns, _, _ := strings.Cut(rows.SQL, "\nWHERE ")
	return insights.StatesTable(columns)
}

// KeyOf returns a key of everything that states depend on: their table, the statement that reads them, and the parts.
func KeyOf(table string, rows sqltree.Statement, parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%q\n", p.Version)
	}
	fmt.Fprintf(&b, "%s\n%s\n", table, rows.SQL)
	for _, p := range rows.Params {
		fmt.Fprintf(&b, "%s %s = %#v\n", p.Name, p.Type, p.Value)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return string(sum[:])
}

// Put builds the states of an entry. `rows` is a statement over the entry's parts. Put stops at the time `until`. The
// states are used for other queries only after Confirm has found the answer right.
func (c *Cache) Put(
	ctx context.Context, table string, e *Entry, rows *sqltree.Select, until time.Time, write Write,
) error {
	made := Keyed(e, rows)
	if err := c.makeRoom(ctx, table, made, write); err != nil {
		return err
	}
	left := time.Until(until).Seconds()
	if left <= 0 {
		return ErrSlow
	}
	e.begun = true
	return write(ctx, Insert(table, made), clickhouse.Settings{
		"max_execution_time": left, "max_result_rows": nil,
		"max_rows_to_group_by": c.MaxGroups, "group_by_overflow_mode": "throw",
		// The settings make the insert write a single part.
		"max_insert_threads": 1, "min_insert_block_size_rows": oneBlock, "min_insert_block_size_bytes": 0,
		"max_insert_block_size": oneBlock, "async_insert": 0,
		"deduplicate_insert_select": "disable", "insert_deduplicate": 0,
	})
}

// oneBlock is more rows than a span has.
const oneBlock = 1_000_000_000

// Keyed returns the statement that reads an entry's rows with their key in the table.
func Keyed(e *Entry, rows *sqltree.Select) sqltree.Statement {
	tree := *rows
	tree.Columns = append([]sqltree.Aliased{
		{Expr: sqltree.Param(sqltree.T("String"), e.row), As: columnKey},
		{Expr: sqltree.Call("now"), As: columnMade},
	}, rows.Columns...)
	return tree.Print()
}

// Create returns the statement that creates the table of these states. All rows of an entry are in one part. The engine
// never merges this part, and deletes it as a whole.
func Create(table string, made sqltree.Statement) sqltree.Statement {
	return sqltree.Statement{Params: made.Params, SQL: "CREATE TABLE IF NOT EXISTS " + sqltree.Ident(table) + `
ENGINE = MergeTree
PARTITION BY ` + columnKey + `
ORDER BY tuple()
TTL ` + columnMade + ` + INTERVAL ` + strconv.Itoa(int(maxAge/time.Hour)+1) + ` HOUR
SETTINGS ttl_only_drop_parts = 1, old_parts_lifetime = 1
EMPTY AS
` + made.SQL}
}

// Insert returns the statement that fills the table.
func Insert(table string, made sqltree.Statement) sqltree.Statement {
	return sqltree.Statement{SQL: "INSERT INTO " + sqltree.Ident(table) + "\n" + made.SQL, Params: made.Params}
}

// makeRoom creates the table of states if it is not known. First it drops tables of states without parts. If there is
// no room, it returns ErrFull.
func (c *Cache) makeRoom(ctx context.Context, table string, made sqltree.Statement, write Write) error {
	room, known, empty, err := c.room(ctx, table)
	if err != nil || known {
		return err
	}
	for _, name := range empty {
		drop := sqltree.Statement{SQL: "DROP TABLE IF EXISTS " + sqltree.Ident(name)}
		if err := write(ctx, drop, clickhouse.Settings{}); err != nil {
			return err
		}
	}
	if !room && len(empty) == 0 {
		return ErrFull
	}
	if err := write(ctx, Create(table, made), clickhouse.Settings{}); err != nil {
		return fmt.Errorf("%w: %w", ErrCreate, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tables[table] = true
	return nil
}

// room reports whether there is space for more states, and whether their table is known. `empty` has the tables without
// parts on the disk. Dropping them makes room.
func (c *Cache) room(ctx context.Context, table string) (room, known bool, empty []string, err error) {
	var bytes, parts, tables uint64
	err = c.Ask(ctx, `SELECT toUInt64(ifNull(sum(total_bytes), 0)), toUInt64(ifNull(sum(active_parts), 0)), count(),
			groupArrayIf(10)(name, name NOT IN (
				SELECT table FROM system.parts WHERE database = currentDatabase() AND `+insights.OnDisk+`))
		FROM system.tables WHERE database = currentDatabase() AND match(name, {tables:String})`,
		[]any{clickhouse.Named("tables", insights.StatesTables)}, []any{&bytes, &parts, &tables, &empty}, func() {})
	if err != nil {
		return false, false, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes >= c.MaxBytes || parts >= maxTableParts {
		c.full = time.Now()
		return false, false, nil, nil
	}
	if known = c.tables[table]; known || tables < c.MaxTables {
		return true, known, nil, nil
	}
	for _, name := range empty {
		delete(c.tables, name)
	}
	return false, false, empty, nil
}

// Drop drops the states that were written but not cached. It is called if an answer from states was not right. The
// states' parts may have been replaced to erase a visitor, so the states must not stay on the disk.
func (c *Cache) Drop(ctx context.Context, table string, entries []*Entry) error {
	var failed error
	for _, row := range c.unused(entries) {
		drop := "ALTER TABLE " + sqltree.Ident(table) + " DROP PARTITION " + sqltree.Quote(row)
		failed = errors.Join(failed, c.Exec(ctx, drop))
	}
	return failed
}

// unused returns the names of the states that were written, but are not in the cache. Their rows can be dropped.
func (c *Cache) unused(entries []*Entry) (rows []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if have, ok := c.entries.Peek(e.Key); e.begun && (!ok || have.row != e.row) {
			rows = append(rows, e.row)
		}
	}
	return rows
}
