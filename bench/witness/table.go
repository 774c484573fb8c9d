package witness

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Table reads the events table directly from the insights engine.
type Table struct{ conn driver.Conn }

// OpenTable opens the events table. It connects on first use.
func OpenTable(url string) (*Table, error) {
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		return nil, fmt.Errorf("cannot read the insights engine's address: %w", err)
	}
	options.DialTimeout, options.ReadTimeout, options.MaxOpenConns = 5*time.Second, time.Minute, 4
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("cannot use the insights engine: %w", err)
	}
	return &Table{conn}, nil
}

// Close closes the connections to the insights engine.
func (t *Table) Close() error { return t.conn.Close() }

// Settle waits until the inserts into the events table that are running at the time of the call have ended.
func (t *Table) Settle(ctx context.Context) error {
	waitFor, err := t.inserts(ctx)
	if err != nil {
		return err
	}
	return Await(ctx, func(ctx context.Context) error {
		running, err := t.inserts(ctx)
		if err != nil {
			return err
		}
		for id := range waitFor {
			if running[id] {
				return fmt.Errorf("insert %s is running", id)
			}
		}
		return nil
	})
}

func (t *Table) inserts(ctx context.Context) (ids map[string]bool, err error) {
	rows, err := t.conn.Query(ctx, "SELECT query_id FROM system.processes WHERE startsWith(query, 'INSERT INTO ') AND position(query, '"+insights.Table+"') > 0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	ids = map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids[id] = true
	}
	return ids, rows.Err()
}

// Read returns every stored event of a site, with the number of its rows and their positions in the log.
func (t *Table) Read(ctx context.Context, site string) (_ map[uint64]Row, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"site": site}))
	rows, err := t.conn.Query(ctx, "SELECT url, count(), if(count() > 1, toString(groupArray(("+insights.ColumnPartition+", "+insights.ColumnOffset+", "+insights.ColumnIndex+", _part))), '')"+
		" FROM "+insights.Table+" WHERE "+insights.ColumnSite+" = {site:String} GROUP BY url")
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored events: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	stored := map[uint64]Row{}
	for rows.Next() {
		var url, where string
		var count uint64
		if err := rows.Scan(&url, &count, &where); err != nil {
			return nil, err
		}
		text, found := strings.CutPrefix(url, EventURL)
		id, err := strconv.ParseUint(text, 10, 64)
		if !found || err != nil {
			return nil, fmt.Errorf("an event with the URL %q is stored but was never sent", url)
		}
		stored[id] = Row{Rows: int(count), Where: where}
	}
	return stored, rows.Err()
}

// Pairs runs an SQL query whose rows have a key and a count.
func (t *Table) Pairs(ctx context.Context, query string) (_ map[string]uint64, err error) {
	rows, err := t.conn.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("cannot read for the comparison: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	pairs := map[string]uint64{}
	for rows.Next() {
		var key string
		var n uint64
		if err := rows.Scan(&key, &n); err != nil {
			return nil, err
		}
		pairs[key] = n
	}
	return pairs, rows.Err()
}

// Exec runs a statement.
func (t *Table) Exec(ctx context.Context, statement string) error {
	if err := t.conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("cannot run %.60q: %w", statement, err)
	}
	return nil
}
