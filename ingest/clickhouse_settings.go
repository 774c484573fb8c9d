package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// oneBlock is more rows than any insert has.
const oneBlock = 1_000_000_000

// insertSettings are said with every insert: the defaults of several changed
// between releases of the server, and any of them would break what Insert
// promises.
var insertSettings = clickhouse.Settings{
	// Acknowledged means written: not buffered, and on a cluster by the shard.
	"async_insert":                        0,
	"distributed_foreground_insert":       1,
	"insert_distributed_one_random_shard": 0,
	// A token's rows come once, into the table and into each view of it.
	"insert_deduplicate":                                 1,
	"deduplicate_insert":                                 "enable",
	"deduplicate_insert_select":                          "enable_when_possible",
	"deduplicate_blocks_in_dependent_materialized_views": 1,
	// The server knows a repeated insert block by block, so an insert is one
	// block, which the server divides by its table's partitions and by nothing
	// else: neither by limits of its own nor over threads.
	"min_insert_block_size_rows":                         oneBlock,
	"min_insert_block_size_bytes":                        0,
	"min_insert_block_size_rows_for_materialized_views":  0,
	"min_insert_block_size_bytes_for_materialized_views": 0,
	"max_insert_block_size":                              oneBlock,
	"max_insert_block_size_bytes":                        0,
	"max_insert_threads":                                 1,
	"parallel_view_processing":                           0,
	// A table that still has the first version's layout is cut by event time, and
	// an import has all months since 1970.
	"max_partitions_per_insert_block": 0,
}

const insertToken = "insert_deduplication_token"

// settingsFor are the settings of one insert. Those that the server does not
// know are left out: it would refuse the insert.
func (c *ClickHouse) settingsFor(ctx context.Context, token string) (clickhouse.Settings, error) {
	c.mu.Lock()
	known := c.settings
	c.mu.Unlock()
	if known == nil {
		var err error
		if known, err = c.askSettings(ctx); err != nil {
			return nil, fmt.Errorf("cannot ask which settings the server knows: %w", err)
		}
		c.mu.Lock()
		c.settings = known
		c.mu.Unlock()
	}
	own := maps.Clone(known)
	own[insertToken] = token
	return own, nil
}

func (c *ClickHouse) askSettings(ctx context.Context) (clickhouse.Settings, error) {
	wanted := c.wanted()
	rows, err := c.cfg.Conn.Query(ctx, "SELECT name FROM system.settings WHERE has({names:Array(String)}, name)",
		clickhouse.Named("names", slices.Collect(maps.Keys(wanted))))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	known := clickhouse.Settings{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		known[name] = wanted[name]
	}
	return known, rows.Err()
}

// heard makes the next insert ask for the settings anew if the server is
// another than the one that was asked.
func (c *ClickHouse) heard(err error) {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok && e.Code == unknownSetting {
		c.mu.Lock()
		c.settings = nil
		c.mu.Unlock()
	}
}
