package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// The words of ClickHouseConfig.InsertQuorum.
const (
	quorumAuto = "auto"
	quorumOff  = "off"
)

// quorumTimeout is below what an insert may take: a server that waits for its
// replicas longer than its client does would only hold the connection.
const quorumTimeout = 45 * time.Second

// CheckInsertQuorum says what is wrong with a ClickHouseConfig.InsertQuorum.
func CheckInsertQuorum(quorum string) error {
	if n, err := strconv.ParseUint(quorum, 10, 8); quorum != quorumAuto && quorum != quorumOff && (err != nil || n == 0) {
		return errors.New("must be auto, a number of replicas, or off")
	}
	return nil
}

// wanted are the settings of an insert. On a cluster it counts only when several
// replicas have it: what one alone has is lost with its disk, and the offset is
// past it.
func (c *ClickHouse) wanted() clickhouse.Settings {
	if c.cfg.Cluster == "" || c.cfg.InsertQuorum == quorumOff {
		return insertSettings
	}
	wanted := maps.Clone(insertSettings)
	wanted[insertQuorum] = c.cfg.InsertQuorum
	// Inserts of several partitions do not wait for each other's quorum.
	wanted["insert_quorum_parallel"] = 1
	wanted["insert_quorum_timeout"] = quorumTimeout.Milliseconds()
	return wanted
}

// CheckQuorum looks whether an insert that counts is on several replicas, and
// says and shows if not.
func (c *ClickHouse) CheckQuorum(ctx context.Context, m *Metrics, log *slog.Logger) {
	if c.cfg.Cluster == "" {
		return
	}
	replicas, err := c.replicas(ctx)
	if err != nil {
		log.Warn("ClickHouse does not tell how many replicas the events have.", "cluster", c.cfg.Cluster, "error", err)
		return
	}
	why := whyUnsafe(c.cfg.InsertQuorum, replicas)
	m.settingUnsafe(insertQuorum, why != "")
	if why != "" {
		log.Warn("The events' replicas in ClickHouse are not as they should be.", "cluster", c.cfg.Cluster, "insert_quorum", c.cfg.InsertQuorum, "why", why)
	}
}

// replicas is how many each shard of the cluster has.
func (c *ClickHouse) replicas(ctx context.Context) (list []uint64, err error) {
	rows, err := c.cfg.Conn.Query(ctx, "SELECT count() FROM system.clusters WHERE cluster = {cluster:String} GROUP BY shard_num",
		clickhouse.Named("cluster", c.cfg.Cluster))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n uint64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

// whyUnsafe says what is wrong with a quorum for shards with so many replicas.
func whyUnsafe(quorum string, replicas []uint64) string {
	if len(replicas) == 0 {
		return "the server knows no such cluster"
	}
	least := slices.Min(replicas)
	n, _ := strconv.ParseUint(quorum, 10, 8)
	switch {
	case least < 2:
		return "a shard has one replica: events are lost with its disk"
	case quorum == quorumOff || n == 1:
		return "an insert counts when one replica has it: events are lost with its disk"
	case n > least:
		return fmt.Sprintf("a shard has %d replicas, so no insert into it ever counts", least)
	}
	return ""
}
