package eventstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

const byMonth = "SELECT toUInt32(" + insights.PartitionKey + ") AS month, count(), min(toUnixTimestamp64Milli(time))"

// Months implements [Store].
func (c *ClickHouse) Months(ctx context.Context, partition uint16, from, to uint64) (schema.RowsByMonth, error) {
	return c.months(c.offsets(ctx, partition, from, to), byMonth+whereOffsets+" < {to:UInt64} GROUP BY month")
}

// MonthsHaving counts the rows of the events table that satisfy the SQL condition `where`, by month.
func (c *ClickHouse) MonthsHaving(ctx context.Context, where string) (schema.RowsByMonth, error) {
	return c.months(ctx, byMonth+" FROM "+insights.Table+" WHERE "+where+" GROUP BY month")
}

// ErrBehind means that a replica has not yet received all rows that other replicas have. So the number of rows is
// unknown, and this says nothing about a loss.
var ErrBehind = errors.New("a replica of the cluster is behind")

// AllMonths counts all rows by month. ClickHouse takes the counts from the metadata of the parts, and does not read the
// parts.
func (c *ClickHouse) AllMonths(ctx context.Context) (schema.RowsByMonth, error) {
	if c.cfg.Cluster != "" {
		steps, err := c.stepsBehind(ctx)
		if err == nil && steps > 0 {
			err = ErrBehind
		}
		if err != nil {
			return nil, fmt.Errorf("cannot count rows: %w", err)
		}
	}
	return c.months(c.offsets(ctx, 0, 0, 0), "SELECT toUInt32("+insights.PartitionKey+") AS month, count(), toInt64(0)"+
		" FROM "+insights.Table+" GROUP BY "+insights.PartitionKey)
}

// stepsBehind returns how many changes of rows the replicas have not made yet. It does not count merges, because they
// change no rows. A cluster that receives events always has a pending merge.
func (c *ClickHouse) stepsBehind(ctx context.Context) (steps uint64, err error) {
	err = c.cfg.Conn.QueryRow(ctx, "SELECT toUInt64(sum(queue_size - merges_in_queue + "+
		"greatest(log_max_index, log_pointer) - log_pointer)) FROM "+onAllNodes(c.cfg.Cluster, "system.replicas")+
		" WHERE database = currentDatabase() AND table = {table:String}",
		clickhouse.Named("table", c.topology().LocalTable())).Scan(&steps)
	return steps, err
}

// MonthsFrom returns the number of rows in each of the given months. ends has an offset for each log partition.
// MonthsFrom counts only rows at or after the offset of their partition. If `ends` is empty, it counts all rows.
// ClickHouse skips most older rows with the index on offsets.
func (c *ClickHouse) MonthsFrom(
	ctx context.Context, ends map[int]int64, months []schema.EventMonth,
) (schema.RowsByMonth, error) {
	where := "true"
	if len(ends) > 0 {
		var from []string
		for id, end := range ends {
			from = append(from, fmt.Sprintf("%s = %d AND %s >= %d",
				insights.ColumnPartition, id, insights.ColumnOffset, end))
		}
		least := slices.Min(slices.Collect(maps.Values(ends)))
		where = fmt.Sprintf("%s >= %d AND (%s)", insights.ColumnOffset, least, strings.Join(from, " OR "))
	}
	of := make([]string, len(months))
	for i, month := range months {
		of[i] = strconv.Itoa(int(month))
	}
	return c.months(c.offsets(ctx, 0, 0, 0), "SELECT toUInt32("+insights.PartitionKey+") AS month, count(), toInt64(0)"+
		" FROM "+insights.Table+" WHERE "+insights.PartitionKey+" IN ("+strings.Join(of, ", ")+") AND "+where+
		" GROUP BY month")
}

func (c *ClickHouse) months(ctx context.Context, query string) (schema.RowsByMonth, error) {
	rows, err := c.cfg.Conn.Query(ctx, query)
	months := schema.RowsByMonth{}
	if err == nil {
		err = addMonths(months, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot count rows: %w", err)
	}
	return months, nil
}

func addMonths(to schema.RowsByMonth, rows driver.Rows) error {
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		var month uint32
		var count uint64
		var first int64
		if err := rows.Scan(&month, &count, &first); err != nil {
			return err
		}
		to.Add(schema.EventMonth(month), schema.MonthRows{Rows: int64(count), First: first})
	}
	return rows.Err()
}
