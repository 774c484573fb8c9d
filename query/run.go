package query

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// maxParams limits the parameters of a statement. The embedded engine accepts at most 10,000.
const maxParams = 5000

// spilledGroups is the number of groups that a thread must have before the engine may write groups to disk.
const spilledGroups = 10_000

// rows runs a statement and calls `each` for every row, after it scanned the row into `targets`. `each` returns the
// number of bytes that it stores for the answer. If the query then holds too many bytes, the statement ends. If a
// statement fails, its rows are not counted.
func (q *query) rows(ctx context.Context, st sqltree.Statement, targets []any, each func() int) error {
	var rows uint64
	st = q.spilling(st)
	held := q.held
	err := q.told(st, &rows, func() error {
		return q.run(ctx, st, nil, func(ctx context.Context, args []any) error {
			return q.read(ctx, st.SQL, args, targets, func() { rows++; q.held += each() })
		})
	})
	if err != nil {
		q.held = held
	}
	return err
}

// spilling returns the statement of a query that spills, with a setting that lets the engine write few groups to disk.
//
// The engine (26.5) writes the groups of a GROUP BY to disk under two conditions. The whole statement must take more
// memory than spillsFrom, and the groups must exceed a limit: a number of groups, or a number of bytes. It counts as
// the groups' bytes everything that the whole statement has allocated. Long sessions fill the memory with few groups,
// each with a list of views. So the grouping of events has a limit of bytes. The limit is spillsFrom, so that it adds
// no condition. A grouping of groups has no limit of bytes, because the settings of the statement have no such limit:
// see `run`.
func (q *query) spilling(st sqltree.Statement) sqltree.Statement {
	if !q.spills {
		return st
	}
	return st.WithInnerSetting("group_by_two_level_threshold_bytes", q.service.config.spillsFrom())
}

// write runs a statement that makes, fills or drops a table of states.
func (q *query) write(ctx context.Context, st sqltree.Statement, settings clickhouse.Settings) error {
	var none uint64
	return q.told(st, &none, func() error {
		settings["readonly"] = nil
		return q.run(ctx, st, settings, func(ctx context.Context, args []any) error {
			if err := q.service.conn.Exec(ctx, st.SQL, args...); err != nil {
				return fmt.Errorf("cannot keep states: %w", cause(ctx, err))
			}
			return nil
		})
	})
}

// told runs a statement and reports it to q.ran, if that is set.
func (q *query) told(st sqltree.Statement, rows *uint64, run func() error) error {
	if q.ran == nil {
		return run()
	}
	x, begin, before := ExplainedStatement{SQL: st.SQL, Source: q.source.name, Params: st.Params}, time.Now(), q.rowsRead
	x.Err = run()
	x.Took, x.Rows, x.RowsRead = time.Since(begin), *rows, q.rowsRead-before
	q.ran(x)
	return x.Err
}

// run runs a statement with the limits of its query. The settings in `more` replace the usual settings.
func (q *query) run(
	ctx context.Context, st sqltree.Statement, more clickhouse.Settings,
	run func(ctx context.Context, args []any) error,
) error {
	if len(st.Params) > maxParams {
		return fmt.Errorf("%w: it has %d parameters", errTooLong, len(st.Params))
	}
	left := time.Until(q.ends)
	if left <= 0 {
		return errQueryTime
	}
	c := q.service.config
	// When the context ends, the driver's goroutine may still report progress
	// while this function returns.
	var rowsRead atomic.Uint64
	defer func() { q.rowsRead += rowsRead.Load() }()
	settings := c.settings(left)
	if q.most > 0 {
		settings["max_result_rows"] = q.most
	}
	if q.mostInSet > 0 {
		settings["max_rows_in_set"], settings["set_overflow_mode"] = q.mostInSet, "throw"
	}
	if q.source != rawEvents {
		// Without this setting, the engine (26.5) would read both tables with the snapshot of one table.
		settings["enable_shared_storage_snapshot_in_query"] = 0
	}
	if q.joins {
		// Sessions are the hashed side of the join, which every node builds from the events of all nodes.
		settings["join_algorithm"], settings["query_plan_join_swap_table"] = "hash", "false"
		if q.spills {
			// The engine checks the size of a hash table after each block. A block may double the hash table. The old
			// copy and the new copy then exist at the same time.
			settings["join_algorithm"], settings["max_bytes_in_join"] = "grace_hash", c.MaxMemory/8
		}
	}
	if q.joins || q.passes {
		settings["distributed_product_mode"] = "global"
	}
	if q.spills || q.passes {
		// A limit of bytes would also count the bytes of the inner groups. So the engine would write the few groups of
		// groups to disk after each block, in 256 parts. So only the number of groups counts. The statements of a
		// query that spills have a limit of bytes for their inner groups: see `spilling`.
		settings["group_by_two_level_threshold_bytes"] = 0
	}
	switch {
	case q.spills:
		settings["max_bytes_before_external_group_by"] = c.spillsFrom()
		settings["group_by_two_level_threshold"] = spilledGroups
	case q.passes:
		settings["max_bytes_before_external_group_by"] = c.MaxMemory / 4 * 3
	}
	maps.Copy(settings, more)
	maps.DeleteFunc(settings, func(_ string, value any) bool { return value == nil })
	options := []clickhouse.QueryOption{
		clickhouse.WithSettings(settings),
		clickhouse.WithProgress(func(p *clickhouse.Progress) { rowsRead.Add(p.Rows) }),
	}
	if q.who.Request != "" {
		settings["log_comment"] = q.comment()
		options = append(options, clickhouse.WithQueryID(q.queryID()))
	}
	return run(clickhouse.Context(ctx, options...), arguments(st.Params))
}

// read runs a statement, scans each row of its result into `targets`, and then calls `each`.
func (q *query) read(ctx context.Context, sql string, args, targets []any, each func()) error {
	rows, err := q.service.conn.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("cannot run the query: %w", cause(ctx, err))
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return errors.Join(fmt.Errorf("cannot read a row: %w", err), rows.Close())
		}
		if each(); q.service.config.exceeded(q.held / max(1, q.holds)) {
			return errors.Join(errLarge, rows.Close())
		}
	}
	// Progress is complete only after both calls, and Err must be called first.
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("cannot read the rows: %w", cause(ctx, err))
	}
	return nil
}

// queryID returns the id of one statement: the request's id and a random suffix. Clients choose the ids of their
// requests. Without the suffix, the engine would refuse a statement while another statement with the same id runs.
func (q *query) queryID() string {
	var suffix [6]byte
	_, _ = rand.Read(suffix[:]) // crypto/rand.Read never returns an error
	return q.who.Request + "/" + hex.EncodeToString(suffix[:])
}

// comment identifies a statement's request in the engine's log.
func (q *query) comment() string {
	text, _ := json.Marshal(struct { // strings always marshal
		Request      string `json:"request"`
		Kind         Report `json:"kind"`
		Organization string `json:"organization"`
		Site         string `json:"site"`
	}{q.who.Request, q.kind, q.who.Organization, q.site})
	return string(text)
}
