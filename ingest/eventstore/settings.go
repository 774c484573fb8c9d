package eventstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// oneBlock is a number of rows that is larger than the number of rows of any insert.
const oneBlock = 1_000_000_000

// insertSettings are sent with every insert. The defaults of ClickHouse have changed between releases, and some
// defaults would break the guarantees of Insert.
var insertSettings = clickhouse.Settings{
	// With these settings, an acknowledged insert is written to the events table, and not only to a buffer. On a
	// cluster, the shard has then written it.
	"async_insert":                        0,
	"distributed_foreground_insert":       1,
	"insert_distributed_one_random_shard": 0,
	// With these settings, inserts with the same token store their rows once: in the events table, and in each of its
	// materialized views.
	"insert_deduplicate":                                 1,
	"deduplicate_insert":                                 "enable",
	"deduplicate_insert_select":                          "enable_when_possible",
	"deduplicate_blocks_in_dependent_materialized_views": 1,
	// ClickHouse looks for repeated inserts by comparing blocks of rows. So an insert must be one block, which only the
	// events table's partitions divide. With these settings, ClickHouse's limits and threads do not divide it.
	"min_insert_block_size_rows":                         oneBlock,
	"min_insert_block_size_bytes":                        0,
	"min_insert_block_size_rows_for_materialized_views":  0,
	"min_insert_block_size_bytes_for_materialized_views": 0,
	"max_insert_block_size":                              oneBlock,
	"max_insert_block_size_bytes":                        0,
	"max_insert_threads":                                 1,
	"parallel_view_processing":                           0,
	// The client sends plain strings for LowCardinality columns too. ClickHouse builds the dictionaries of a part
	// itself, so the driver need not build dictionaries.
	"low_cardinality_allow_in_native_format": 0,
}

const insertToken = "insert_deduplication_token"

// settingsFor returns the settings of one insert. It leaves out settings that the server does not know, because the
// server would refuse the insert.
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
	settings := maps.Clone(known)
	settings[insertToken] = token
	return settings, nil
}

func (c *ClickHouse) askSettings(ctx context.Context) (clickhouse.Settings, error) {
	wanted := c.wantedSettings()
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

// forgetSettings makes the next insert read the server's settings again, if an error shows that the server has changed.
func (c *ClickHouse) forgetSettings(err error) {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok && e.Code == unknownSetting {
		c.mu.Lock()
		c.settings = nil
		c.mu.Unlock()
	}
}

// TopologyOf returns the facts about the server, or about the cluster's servers, on which the statements for the events
// table depend.
func TopologyOf(ctx context.Context, conn driver.Conn, cluster string) (insights.Topology, error) {
	t := insights.Topology{Cluster: cluster}
	err := conn.QueryRow(ctx, "SELECT uniqExactIf(hostName(), name = {name:String}) = uniqExact(hostName()) FROM "+onAllNodes(cluster, "system.merge_tree_settings"),
		clickhouse.Named("name", insights.StatisticsSetting)).Scan(&t.Statistics)
	if err != nil {
		return t, fmt.Errorf("cannot ask which settings of tables the server knows: %w", err)
	}
	return t, nil
}

// onAllNodes returns an expression for a system table, or for a subquery on a system table. The expression reads from
// the single server, or from all servers of the cluster.
func onAllNodes(cluster, table string) string {
	if cluster == "" {
		return table
	}
	if strings.HasPrefix(table, "(") {
		table = "view" + table
	}
	return "clusterAllReplicas(" + sqltree.Ident(cluster) + ", " + table + ")"
}
