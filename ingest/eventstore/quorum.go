package eventstore

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

// Values of Config.InsertQuorum other than numbers.
const (
	quorumAuto = "auto"
	quorumOff  = "off"
)

// quorumTimeout is how long a server waits for its replicas during an insert. It is shorter than the insert's timeout.
// If the server waited longer than the client, it would only block the connection.
const quorumTimeout = 45 * time.Second

// CheckInsertQuorum checks a Config.InsertQuorum.
func CheckInsertQuorum(quorum string) error {
	if n, err := strconv.ParseUint(quorum, 10, 8); quorum != quorumAuto && quorum != quorumOff && (err != nil || n == 0) {
		return errors.New("must be auto, a number of replicas, or off")
	}
	return nil
}

// wantedSettings are the settings of an insert. On a cluster, an insert is acknowledged only when several replicas have
// its rows. If only one replica had the rows, they would be lost with its disk, and the sink would not insert them
// again.
func (c *ClickHouse) wantedSettings() clickhouse.Settings {
	if c.cfg.Cluster == "" || c.cfg.InsertQuorum == quorumOff {
		return insertSettings
	}
	wanted := maps.Clone(insertSettings)
	wanted[QuorumSetting] = c.cfg.InsertQuorum
	// With this setting, inserts of different log partitions do not wait for each other's quorum.
	wanted["insert_quorum_parallel"] = 1
	wanted["insert_quorum_timeout"] = quorumTimeout.Milliseconds()
	return wanted
}

// QuorumSetting is the setting that CheckQuorum reports.
const QuorumSetting = "insert_quorum"

// CheckQuorum reports and logs whether an acknowledged insert may exist on one replica only. For a single server, and
// if the cluster does not answer, it does not call `report`.
func (c *ClickHouse) CheckQuorum(ctx context.Context, report func(setting string, unsafe bool), log *slog.Logger) {
	if c.cfg.Cluster == "" {
		return
	}
	replicas, err := c.replicas(ctx)
	if err != nil {
		log.Warn("Cannot read from ClickHouse how many replicas the events have.",
			"cluster", c.cfg.Cluster, "error", err)
		return
	}
	why := whyUnsafe(c.cfg.InsertQuorum, replicas)
	report(QuorumSetting, why != "")
	if why != "" {
		log.Warn("Acknowledged inserts are not safe on this ClickHouse cluster.", "cluster", c.cfg.Cluster, "insert_quorum", c.cfg.InsertQuorum, "why", why)
	}
}

// replicas returns the number of replicas of each shard.
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

// whyUnsafe returns the problem of a quorum, given each shard's number of replicas, or "" if there is no problem.
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
