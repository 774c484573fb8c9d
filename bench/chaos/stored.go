package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema/insights"
)

// events is the insights engine, asked directly.
type events struct{ conn driver.Conn }

func openEvents(url string) (*events, error) {
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		return nil, fmt.Errorf("cannot read the insights engine's address: %w", err)
	}
	options.DialTimeout, options.ReadTimeout, options.MaxOpenConns = 5*time.Second, time.Minute, 4
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("cannot use the insights engine: %w", err)
	}
	return &events{conn}, nil
}

func (e *events) close() error { return e.conn.Close() }

// settle returns when the inserts into the events table that are running now
// have ended.
func (e *events) settle(ctx context.Context) error {
	waitFor, err := e.inserts(ctx)
	if err != nil {
		return err
	}
	return await(ctx, func(ctx context.Context) error {
		running, err := e.inserts(ctx)
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

func (e *events) inserts(ctx context.Context) (ids map[string]bool, err error) {
	rows, err := e.conn.Query(ctx, "SELECT query_id FROM system.processes WHERE startsWith(query, 'INSERT INTO ') AND position(query, '"+insights.Table+"') > 0")
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

// read is every stored event of a site: how many rows it has and where in the
// log they came from.
func (e *events) read(ctx context.Context, site string) (_ map[uint64]storedRow, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"site": site}))
	rows, err := e.conn.Query(ctx, "SELECT url, count(), if(count() > 1, toString(groupArray(("+insights.ColumnPartition+", "+insights.ColumnOffset+", "+insights.ColumnIndex+", _part))), '')"+
		" FROM "+insights.Table+" WHERE "+insights.ColumnSite+" = {site:String} GROUP BY url")
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored events: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	stored := map[uint64]storedRow{}
	for rows.Next() {
		var url, where string
		var count uint64
		if err := rows.Scan(&url, &count, &where); err != nil {
			return nil, err
		}
		text, found := strings.CutPrefix(url, eventURL)
		id, err := strconv.ParseUint(text, 10, 64)
		if !found || err != nil {
			return nil, fmt.Errorf("an event of %q is stored: nobody sent it", url)
		}
		stored[id] = storedRow{rows: int(count), where: where}
	}
	return stored, rows.Err()
}

// rollup is a table that the engine keeps beside the raw rows, and must agree
// with them: Raw and Rolled each select a key and a count of events.
type rollup struct{ Name, Raw, Rolled string }

// rollups is every rollup there is. There are none yet: the first one is one
// row here.
var rollups = []rollup{}

// differences compares every rollup with the raw rows.
func (e *events) differences(ctx context.Context, list []rollup) (found []string, err error) {
	for _, r := range list {
		raw, err := e.pairs(ctx, r.Raw)
		if err != nil {
			return nil, err
		}
		rolled, err := e.pairs(ctx, r.Rolled)
		if err != nil {
			return nil, err
		}
		for key, n := range raw {
			if rolled[key] != n {
				found = append(found, fmt.Sprintf("%s: %s has %d events raw and %d rolled up", r.Name, key, n, rolled[key]))
			}
		}
		for key, n := range rolled {
			if _, ok := raw[key]; !ok {
				found = append(found, fmt.Sprintf("%s: %s has no event raw and %d rolled up", r.Name, key, n))
			}
		}
	}
	return found, nil
}

func (e *events) pairs(ctx context.Context, query string) (_ map[string]uint64, err error) {
	rows, err := e.conn.Query(ctx, query)
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

// lag is how many messages of the log the sinks have not committed.
func (r *rig) lag(ctx context.Context) (int64, error) {
	transport := &kafka.Transport{DialTimeout: 5 * time.Second}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: 10 * time.Second, Transport: transport}
	ids := make([]int, partitions)
	ask := make([]kafka.OffsetRequest, partitions)
	for i := range ids {
		ids[i], ask[i] = i, kafka.LastOffsetOf(i)
	}
	ends, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{r.topic: ask}})
	if err != nil {
		return 0, fmt.Errorf("cannot ask how long the log is: %w", err)
	}
	group, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: r.topic + ".sink", Topics: map[string][]int{r.topic: ids}})
	if err == nil {
		err = group.Error
	}
	if err != nil {
		return 0, fmt.Errorf("cannot ask how far the sinks are: %w", err)
	}
	committed := map[int]int64{}
	for _, p := range group.Topics[r.topic] {
		if p.Error != nil {
			return 0, fmt.Errorf("cannot ask how far the sinks are: %w", p.Error)
		}
		committed[p.Partition] = max(0, p.CommittedOffset)
	}
	lag, told := int64(0), 0
	for _, p := range ends.Topics[r.topic] {
		if p.Error != nil {
			return 0, fmt.Errorf("cannot ask how long the log is: %w", p.Error)
		}
		lag += p.LastOffset - committed[p.Partition]
		told++
	}
	if told != partitions || len(committed) != partitions {
		return 0, fmt.Errorf("the broker tells of %d partitions' ends and %d commits, want %d", told, len(committed), partitions)
	}
	return lag, nil
}

// caughtUp waits until nothing of the log is left to store.
func (r *rig) caughtUp(ctx context.Context) error {
	return await(ctx, func(ctx context.Context) error {
		lag, err := r.lag(ctx)
		if err == nil && lag != 0 {
			err = fmt.Errorf("%d messages of the log are not stored", lag)
		}
		return err
	})
}
