package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Rows are deleted by a mutation. The mutation rewrites the parts that have rows to delete, with their projections. The
// statement DELETE FROM would only hide the rows, and ClickHouse refuses it on a table with projections.

func (c *ClickHouse) topology() insights.Topology { return insights.Topology{Cluster: c.cfg.Cluster} }

// Delete starts a mutation that deletes the rows which satisfy the condition `where` now. The method Deletion finds
// this mutation by its name, even after a restart. First, Delete drops the table that a killed repair left, because a
// copy in that table may have rows that must be deleted.
func (c *ClickHouse) Delete(ctx context.Context, name, where string) error {
	if err := c.DropScratch(ctx); err != nil {
		return err
	}
	on := ""
	if c.cfg.Cluster != "" {
		on = " ON CLUSTER " + sqltree.Ident(c.cfg.Cluster)
	}
	statement := "ALTER TABLE " + c.topology().LocalTable() + on + " DELETE WHERE (" + where + ") OR site = " + sqltree.Quote(name) + " SETTINGS mutations_sync = 0"
	if err := c.cfg.Conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("cannot delete rows: %w", err)
	}
	return nil
}

// Deletion is the progress of a Delete.
type Deletion struct {
	Found   bool
	Done    bool      // whether no active part has a row to delete
	Created time.Time // time of the mutation's creation by the server's clock, rounded up to whole seconds
	Failure string    // the error of the last attempt; the server continues to try
}

// Deletion returns the progress of the Delete with a name.
func (c *ClickHouse) Deletion(ctx context.Context, name string) (d Deletion, err error) {
	var hosts, all uint64
	err = c.cfg.Conn.QueryRow(ctx, "SELECT uniqExact(hostName()), (SELECT uniqExact(hostName()) FROM "+onAllNodes(c.cfg.Cluster, "system.one")+"), countIf(NOT is_done) = 0, max(create_time), max(latest_fail_reason) FROM "+
		onAllNodes(c.cfg.Cluster, "system.mutations")+" WHERE database = currentDatabase() AND table = {table:String} AND position(command, {name:String}) > 0 AND NOT is_killed",
		clickhouse.Named("table", c.topology().LocalTable()), clickhouse.Named("name", sqltree.Quote(name))).
		Scan(&hosts, &all, &d.Done, &d.Created, &d.Failure)
	if err != nil {
		return d, fmt.Errorf("cannot ask how far a deletion is: %w", err)
	}
	d.Found = hosts == all
	d.Done = d.Done && d.Found
	return d, nil
}

// OldParts counts the parts that were replaced at or before `until`, by the server's clock, and whose files still
// exist. A server that has just started has not yet read the list of such parts from its disk. OldParts counts this
// server as one such part. The count includes parts whose files the server is removing.
func (c *ClickHouse) OldParts(ctx context.Context, until time.Time) (n uint64, err error) {
	ofTable := " WHERE database = currentDatabase() AND table = " + sqltree.Quote(c.topology().LocalTable())
	parts := onAllNodes(c.cfg.Cluster, "(SELECT database, table, _state, remove_time FROM system.parts)")
	err = c.cfg.Conn.QueryRow(ctx, "SELECT (SELECT count() FROM "+parts+ofTable+
		" AND _state != 'Active' AND toUnixTimestamp(remove_time) <= {until:UInt32})"+
		" + (SELECT count() FROM "+onAllNodes(c.cfg.Cluster, "system.dropped_tables")+ofTable+")"+
		" + (SELECT countIf(uptime() < "+fmt.Sprint(oldPartsKnown)+" AND toUnixTimestamp(now()) - uptime() >= {until:UInt32}) FROM "+onAllNodes(c.cfg.Cluster, "system.one")+")",
		clickhouse.Named("until", until.Unix())).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("cannot ask for replaced parts: %w", err)
	}
	return n, nil
}

// DropStates drops the aggregate states that were made at or before `until`, by the server's clock. Queries compute
// missing states again. DropStates returns how many parts with such states are still on the disk. A cluster has no
// aggregate states.
func (c *ClickHouse) DropStates(ctx context.Context, until time.Time) (left uint64, err error) {
	if c.cfg.Cluster != "" {
		return 0, nil
	}
	ofStates := []any{clickhouse.Named("tables", insights.StatesTables), clickhouse.Named("until", until.Unix())}
	rows, err := c.cfg.Conn.Query(ctx, "SELECT table, arrayJoin(groupArray(100)(partition_id)) FROM system.parts WHERE database = currentDatabase() AND match(table, {tables:String}) AND active AND toUnixTimestamp(modification_time) <= {until:UInt32} GROUP BY table", ofStates...)
	if err != nil {
		return 0, fmt.Errorf("cannot ask for aggregate states: %w", err)
	}
	drops := map[string][]string{}
	for rows.Next() {
		var table, partition string
		if err := rows.Scan(&table, &partition); err != nil {
			return 0, errors.Join(fmt.Errorf("cannot read which aggregate states there are: %w", err), rows.Close())
		}
		drops[table] = append(drops[table], "DROP PARTITION ID "+sqltree.Quote(partition))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, fmt.Errorf("cannot ask for aggregate states: %w", err)
	}
	var failed error
	for table, partitions := range drops {
		err := c.cfg.Conn.Exec(ctx, "ALTER TABLE "+sqltree.Ident(table)+" "+strings.Join(partitions, ", "))
		if e, ok := errors.AsType[*clickhouse.Exception](err); ok && e.Code == codeNoTable {
			continue // another process has dropped it
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("cannot drop aggregate states: %w", err))
		}
	}
	err = c.cfg.Conn.QueryRow(ctx, "SELECT count() FROM system.parts WHERE database = currentDatabase() AND match(table, {tables:String}) AND "+insights.OnDisk+" AND toUnixTimestamp(modification_time) <= {until:UInt32}", ofStates...).Scan(&left)
	if err != nil {
		return 0, errors.Join(failed, fmt.Errorf("cannot ask for aggregate states: %w", err))
	}
	return left, failed
}

const codeNoTable = 60

// Now returns the time of the server's clock in whole seconds.
func (c *ClickHouse) Now(ctx context.Context) (now time.Time, err error) {
	if err = c.cfg.Conn.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		err = fmt.Errorf("cannot ask for the time: %w", err)
	}
	return now, err
}

// oldPartsKnown is a number of seconds. Within this time after its start, a server has read the list of its replaced
// parts.
const oldPartsKnown = 60

// Having counts the rows of the events table that satisfy the SQL condition `where`.
func (c *ClickHouse) Having(ctx context.Context, where string) (n uint64, err error) {
	if err = c.cfg.Conn.QueryRow(ctx, "SELECT count() FROM "+insights.Table+" WHERE "+where).Scan(&n); err != nil {
		err = fmt.Errorf("cannot count rows: %w", err)
	}
	return n, err
}

// Received returns the first and the last time at which the rows that satisfy `where` were received. Both times are
// zero if there are no such rows.
func (c *ClickHouse) Received(ctx context.Context, where string) (first, last time.Time, err error) {
	var n uint64
	err = c.cfg.Conn.QueryRow(ctx, "SELECT count(), min("+insights.ColumnReceived+"), max("+insights.ColumnReceived+
		") FROM "+insights.Table+" WHERE "+where).Scan(&n, &first, &last)
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("cannot ask when rows were received: %w", err)
	}
	if n == 0 {
		return time.Time{}, time.Time{}, nil
	}
	return first.UTC(), last.UTC(), nil
}
