package eventstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// tableLayout describes a table.
type tableLayout struct {
	exists                      bool
	partition, sorting, primary string
	held                        bool
	rows, bytes                 uint64
	views                       []string
	columns                     map[string]string // their types
	visits                      []string          // projections of visits
	bare                        uint64            // parts without the present projection of visits
	projecting                  bool              // whether the engine is making it
}

// current reports whether it has the present keys.
func (t tableLayout) current() bool {
	return t.exists && t.partition == insights.PartitionKey && "("+t.sorting+")" == insights.SortKey && "("+t.primary+")" == insights.PrimaryKey
}

func (l *Layout) table(ctx context.Context, name string) (t tableLayout, err error) {
	rows, err := l.cfg.Conn.Query(ctx, "SELECT partition_key, sorting_key, primary_key, position(create_table_query, {held:String}) > 0, ifNull(total_rows, 0), ifNull(total_bytes, 0), dependencies_table, "+insights.VisitsOf+","+
		" (SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = {name:String} AND active AND rows > 0 AND (NOT has(projections, {visits:String}) OR name IN"+
		" (SELECT parent_name FROM system.projection_parts WHERE database = currentDatabase() AND table = {name:String} AND name = {visits:String} AND active AND is_broken))),"+
		" (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = {name:String} AND NOT is_done AND position(command, {visits:String}) > 0) > 0,"+
		" (SELECT mapFromArrays(groupArray(name), groupArray(type)) FROM system.columns WHERE database = currentDatabase() AND table = {name:String})"+
		" FROM system.tables WHERE database = currentDatabase() AND name = {name:String}",
		clickhouse.Named("held", "CONSTRAINT "+heldConstraint), clickhouse.Named("name", name), clickhouse.Named("visits", insights.VisitsProjection()))
	if err == nil {
		defer func() { _ = rows.Close() }()
		for err == nil && rows.Next() {
			t.exists = true
			err = rows.Scan(&t.partition, &t.sorting, &t.primary, &t.held, &t.rows, &t.bytes, &t.views, &t.visits, &t.bare, &t.projecting, &t.columns)
		}
		err = errors.Join(err, rows.Err())
	}
	if err != nil {
		return t, fmt.Errorf("cannot describe the table %s: %w", name, err)
	}
	return t, nil
}

// check refuses a move that would lose something.
func (l *Layout) check(ctx context.Context, events, next tableLayout) error {
	if next.exists && !next.current() {
		return fmt.Errorf("cannot move the events table: there is a table %s with another layout; look at it and drop it", insights.NextTable)
	}
	if len(events.views) > 0 {
		return fmt.Errorf("cannot move the events table: materialized views read it (%s) and would stay with the old one; drop them, and make them again after the move", strings.Join(events.views, ", "))
	}
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(events.columns)), func(name string) bool { return slices.Contains(insights.InsertColumns(), name) })
	var free uint64
	err := l.cfg.Conn.QueryRow(ctx, "SELECT max(unreserved_space) FROM system.disks").Scan(&free)
	switch {
	case err != nil:
		return fmt.Errorf("cannot check the events table: %w", err)
	case len(unknown) > 0:
		return fmt.Errorf("cannot move the events table: it has columns that this version does not know: %s", strings.Join(unknown, ", "))
	case free < events.bytes+events.bytes/4 && !next.exists:
		return fmt.Errorf("cannot move the events table: its copy needs %d bytes on the disk and %d are free", events.bytes+events.bytes/4, free)
	}
	return nil
}

// piece is what is copied together: the rows of one old partition and of one range of the
// log.
type piece struct {
	part      string // value of the old table's partition key
	partition uint16
	block     uint64
}

// amount is equal for two tables that have the same rows in a piece.
type amount struct{ rows, sum uint64 }

// amounts are a table's, by piece of the old layout.
func (l *Layout) amounts(ctx context.Context, table, key string) (all map[piece]amount, kind string, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepMost)
	defer cancel()
	rows, err := l.cfg.Conn.Query(ctx, fmt.Sprintf("SELECT toString(%s) AS part, any(toTypeName(%s)), log_partition, intDiv(log_offset, %d) AS block, count(), sum(cityHash64(log_offset, log_index, %s)) FROM %s GROUP BY part, log_partition, block",
		key, key, l.cfg.Block, contentColumns, table))
	all = map[piece]amount{}
	if err == nil {
		defer func() { _ = rows.Close() }()
		for err == nil && rows.Next() {
			var p piece
			var a amount
			if err = rows.Scan(&p.part, &kind, &p.partition, &p.block, &a.rows, &a.sum); err == nil {
				all[p] = a
			}
		}
		err = errors.Join(err, rows.Err())
	}
	if err != nil {
		return nil, "", fmt.Errorf("cannot compare the tables: %w", err)
	}
	return all, kind, nil
}

const contentColumns = "site, visitor, session, time"

// copyDifferences copies each piece in which the tables differ. It returns in how many rows
// they differed when it began.
func (l *Layout) copyDifferences(ctx context.Context, events tableLayout) (left uint64, err error) {
	key := events.partition
	if key == "" {
		key = "toUInt8(0)"
	}
	have, kind, err := l.amounts(ctx, insights.Table, key)
	if err != nil {
		return 0, err
	}
	copied, otherKind, err := l.amounts(ctx, insights.NextTable, key)
	if err != nil {
		return 0, err
	}
	if kind == "" {
		kind = otherKind
	}
	var differ []piece
	var rows, total uint64
	for p, a := range have {
		total += a.rows
		if copied[p] != a {
			differ = append(differ, p)
			rows += max(a.rows, copied[p].rows) - min(a.rows, copied[p].rows)
			left++
		}
	}
	for p := range copied {
		if _, ok := have[p]; !ok { // its rows have been deleted
			differ = append(differ, p)
			left++
		}
	}
	left = max(left, rows)
	slices.SortFunc(differ, func(a, b piece) int {
		return strings.Compare(fmt.Sprintf("%s/%05d/%020d", a.part, a.partition, a.block), fmt.Sprintf("%s/%05d/%020d", b.part, b.partition, b.block))
	})
	done := total - min(rows, total)
	for _, p := range differ {
		l.progress(done, total)
		if err := l.copyPiece(ctx, key, kind, p, copied[p], have[p]); err != nil {
			return left, err
		}
		done += have[p].rows - min(copied[p].rows, have[p].rows)
	}
	l.progress(done, total)
	return left, nil
}

func (l *Layout) progress(done, total uint64) {
	if m := l.cfg.Metrics; m != nil {
		m.copied.Set(float64(done))
		m.rows.Set(float64(total))
	}
}

// copyPiece makes a piece of the new table equal to the old one's. Only one process copies,
// and its last insert has ended, so what it finds does not change under it.
func (l *Layout) copyPiece(ctx context.Context, key, kind string, p piece, copied, have amount) error {
	if err := l.cfg.Holds(ctx); err != nil {
		return err
	}
	// A killed mover's insert may still run.
	if err := l.store.settle(ctx, insights.NextTable); err != nil {
		return err
	}
	where := fmt.Sprintf("%s = CAST(%s AS %s) AND log_partition = %d AND log_offset >= %d AND log_offset < %d",
		key, sqltree.Quote(p.part), kind, p.partition, p.block*l.cfg.Block, (p.block+1)*l.cfg.Block)
	// The new table has too many rows or others, or copying what is missing changed
	// nothing: copy the piece from scratch.
	if copied.rows > 0 && (copied.rows >= have.rows || l.before[p] == copied) {
		if err := l.do(ctx, "clear", "ALTER TABLE "+insights.NextTable+" DELETE WHERE "+where+" SETTINGS mutations_sync = 2"); err != nil {
			return err
		}
		copied = amount{}
	}
	l.before[p] = copied
	if have.rows == 0 {
		return nil
	}
	names := make([]string, 0, len(insights.InsertColumns()))
	for _, name := range insights.InsertColumns() {
		names = append(names, sqltree.Ident(name))
	}
	columns := strings.Join(names, ", ")
	statement := "INSERT INTO " + insights.NextTable + " (" + columns + ") SELECT " + columns + " FROM " + insights.Table + " WHERE " + where
	if copied.rows > 0 {
		position := "(log_offset, log_index, " + contentColumns + ")"
		statement += " AND " + position + " NOT IN (SELECT " + position[1:len(position)-1] + " FROM " + insights.NextTable + " WHERE " + where + ")"
	}
	// One thread: queries and sinks share the machine. No deduplication: the tables show
	// what is copied.
	statement += " SETTINGS max_threads = 1, max_insert_threads = 1, insert_deduplicate = 0, deduplicate_insert_select = 'disable', max_partitions_per_insert_block = 0"
	return l.do(ctx, "copy", statement)
}
