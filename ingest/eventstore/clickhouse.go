package eventstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Config configures the access to the events table. A zero field means the default named in its comment.
type Config struct {
	// Conn is a connection pool for ClickHouse's native protocol. It is required, and the caller closes it.
	Conn driver.Conn
	// Cluster is the name of a ClickHouse cluster, as in insights.Topology. "" means a single server.
	Cluster string
	// InsertQuorum is, on a cluster, the number of replicas that must have the rows of an insert before it is
	// acknowledged. It is "auto" (the majority), a number, or "off". The default is "auto".
	InsertQuorum string
	// SettleWait is the interval at which Settle checks for running inserts. The default is 50 ms.
	SettleWait time.Duration
}

// ClickHouse implements Store with the events table of a ClickHouse server or cluster.
type ClickHouse struct {
	cfg    Config
	insert string

	mu       sync.Mutex
	settings clickhouse.Settings // the wanted settings that the server knows; nil until they are read
	spare    driverColumns       // the columns of a finished insert, for reuse
}

// New builds a store. It starts nothing.
func New(cfg Config) (*ClickHouse, error) {
	if cfg.Conn == nil {
		return nil, errors.New("cannot build the store without a connection")
	}
	cfg.SettleWait = cmp.Or(cfg.SettleWait, 50*time.Millisecond)
	cfg.InsertQuorum = cmp.Or(cfg.InsertQuorum, quorumAuto)
	if err := CheckInsertQuorum(cfg.InsertQuorum); err != nil {
		return nil, fmt.Errorf("cannot build the store: %w", err)
	}
	names := insights.InsertColumns()
	for i := range names {
		names[i] = sqltree.Ident(names[i])
	}
	return &ClickHouse{
		cfg:    cfg,
		insert: "INSERT INTO " + insights.Table + " (" + strings.Join(names, ", ") + ")",
	}, nil
}

// Insert implements [Store].
func (c *ClickHouse) Insert(ctx context.Context, rows *insights.Batch, token string) error {
	settings, err := c.settingsFor(ctx, token)
	if err != nil {
		return err
	}
	batch, err := c.cfg.Conn.PrepareBatch(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), c.insert)
	if err != nil {
		c.forgetSettings(err)
		return fmt.Errorf("cannot begin an insert: %w", err)
	}
	// Close has no effect on a batch that was sent.
	defer func() { _ = batch.Close() }()
	// All rows are sent as one block. ClickHouse 26.5 combines the token with the number of each block, before it joins
	// the blocks of an insert. So if a repeated insert divided the same rows into other blocks, ClickHouse would store
	// the rows again.
	columns := c.takeColumns(batch)
	defer c.returnColumns(columns)
	for i, values := range rows.Values() {
		if _, err := columns[i].Append(values); err != nil {
			return errors.Join(badValue{fmt.Errorf("cannot fill column %s: %w", insights.InsertColumns()[i], err)}, batch.Abort())
		}
	}
	columns.moveInto(batch)
	if err := batch.Send(); err != nil {
		c.forgetSettings(err)
		return fmt.Errorf("cannot insert %d rows: %w", rows.Rows(), err)
	}
	return nil
}

// Sequential implements [Store].
func (c *ClickHouse) Sequential() bool { return c.cfg.Cluster == "" }

// Settle implements [Store]. Settle must ask the server, because a server that has received all rows of an insert
// continues the insert after the client disconnects.
func (c *ClickHouse) Settle(ctx context.Context) error {
	running, err := c.runningInserts(ctx)
	for err == nil && len(running) > 0 {
		retry.Sleep(ctx, c.cfg.SettleWait)
		if err = ctx.Err(); err != nil {
			break
		}
		var now map[string]bool
		if now, err = c.runningInserts(ctx); err == nil {
			for id := range running {
				if !now[id] {
					delete(running, id)
				}
			}
		}
	}
	if err != nil {
		return fmt.Errorf("cannot wait for running inserts: %w", err)
	}
	return nil
}

// runningInserts returns the query ids of running inserts into the events table. It includes inserts into tables whose
// names contain the events table's name.
func (c *ClickHouse) runningInserts(ctx context.Context) (map[string]bool, error) {
	query := "SELECT query_id FROM " + onAllNodes(c.cfg.Cluster, "system.processes") +
		" WHERE startsWith(upper(query), 'INSERT INTO ') AND position(query, '" + insights.Table + "') > 0"
	if c.cfg.Cluster == "" {
		// This condition is only for single servers: on a cluster, a shard may run its part of an insert with another
		// current database.
		query += " AND current_database = currentDatabase()"
	}
	rows, err := c.cfg.Conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	ids := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids[id] = true
	}
	return ids, rows.Err()
}

const whereOffsets = " FROM " + insights.Table + " WHERE " + insights.ColumnPartition + " = {partition:UInt16} AND " +
	insights.ColumnOffset + " >= {from:UInt64} AND " + insights.ColumnOffset

func (c *ClickHouse) offsets(ctx context.Context, partition uint16, from, to uint64) context.Context {
	settings := clickhouse.Settings{}
	if c.Sequential() {
		// On a single server, the setting has no effect. ClickHouse Cloud has several replicas behind one address.
		// There, only this setting makes a read return every acknowledged insert, as Sequential promises.
		settings["select_sequential_consistency"] = 1
	}
	return clickhouse.Context(ctx, clickhouse.WithSettings(settings), clickhouse.WithParameters(clickhouse.Parameters{
		"partition": fmt.Sprint(partition), "from": fmt.Sprint(from), "to": fmt.Sprint(to),
	}))
}

// LastStored implements [Store].
func (c *ClickHouse) LastStored(ctx context.Context, partition uint16, from, to uint64) (offset uint64, found bool, err error) {
	var count uint64
	err = c.cfg.Conn.QueryRow(c.offsets(ctx, partition, from, to),
		"SELECT max("+insights.ColumnOffset+"), count()"+whereOffsets+" < {to:UInt64}").Scan(&offset, &count)
	if err != nil {
		return 0, false, fmt.Errorf("cannot ask what is stored of partition %d: %w", partition, err)
	}
	return offset, count > 0, nil
}

// Stored implements [Store].
func (c *ClickHouse) Stored(ctx context.Context, partition uint16, from, to uint64) (list []Row, err error) {
	rows, err := c.cfg.Conn.Query(c.offsets(ctx, partition, from, to),
		"SELECT "+insights.ColumnOffset+", "+insights.ColumnIndex+", site, visitor, session, toUnixTimestamp64Milli(time)"+whereOffsets+" <= {to:UInt64}")
	if err == nil {
		defer func() { _ = rows.Close() }()
		for err == nil && rows.Next() {
			var r Row
			err = rows.Scan(&r.Offset, &r.Index, &r.Content.Site, &r.Content.Visitor, &r.Content.Session, &r.Content.TimeMillis)
			list = append(list, r)
		}
		err = errors.Join(err, rows.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what is stored of partition %d: %w", partition, err)
	}
	return list, nil
}
