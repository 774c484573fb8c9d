package eventstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// ErrBaseline is wrapped by the error about an events table that does not have this version's baseline.
var ErrBaseline = errors.New("another baseline")

var baselineMark = regexp.MustCompile(insights.BaselineMark + "([0-9]+)")

// CheckBaseline returns an error if the database's events table has another baseline or no baseline. CheckBaseline
// accepts a database without the table. It only reads.
func CheckBaseline(ctx context.Context, conn driver.Conn) error {
	local := insights.Topology{Cluster: "any"}.LocalTable()
	rows, err := conn.Query(ctx, `SELECT currentDatabase(), name, comment FROM system.tables
		WHERE database = currentDatabase() AND name IN ({table:String}, {local:String}) ORDER BY name`,
		clickhouse.Named("table", insights.Table), clickhouse.Named("local", local))
	if err != nil {
		return fmt.Errorf("cannot read the baseline of the events table: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		var database, table, comment string
		if err := rows.Scan(&database, &table, &comment); err != nil {
			return fmt.Errorf("cannot read the baseline of the events table: %w", err)
		}
		found, own := baselineOf(comment)
		if own {
			continue
		}
		return fmt.Errorf("cannot use the ClickHouse database %s of %w: "+
			"its table %s has %s and this version uses baseline %d: "+
			"name another database in OCTAVO_CLICKHOUSE_URL, or run the version that created the table",
			database, ErrBaseline, table, found, schema.Baseline)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("cannot read the baseline of the events table: %w", err)
	}
	return nil
}

// baselineOf describes the baseline in the comment of a table. `own` reports whether this version uses the baseline.
func baselineOf(comment string) (found string, own bool) {
	mark := baselineMark.FindStringSubmatch(comment)
	if mark == nil {
		return "no baseline", false
	}
	return "baseline " + mark[1], mark[1] == strconv.Itoa(schema.Baseline)
}
