package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema/insights"
)

// layoutBatches is how many of the sink's batches a round inserts at most.
const layoutBatches = 8

// layoutInserts compares how fast the sink's store inserts the same batches into an
// empty table of each candidate, candidate after candidate in each round. The engine
// merges nothing meanwhile.
func (b *bench) layoutInserts(ctx context.Context, conn driver.Conn, layouts []layout) error {
	batches, rows, err := b.layoutBatches(ctx)
	if err != nil {
		return err
	}
	var names []string
	var tables []driver.Conn
	for i, l := range layouts {
		if l.site != "" { // it takes other values than the sink's
			continue
		}
		database := layoutTable(i)
		if err := conn.Exec(ctx, "CREATE DATABASE "+database); err != nil {
			return err
		}
		table, err := b.storeIn(database)
		if err != nil {
			return err
		}
		defer func() { _ = table.Close() }()
		create, err := l.create(insights.Table)
		if err != nil {
			return err
		}
		for _, statement := range []string{create, "SYSTEM STOP MERGES " + insights.Table} {
			if err := table.Exec(ctx, statement); err != nil {
				return err
			}
		}
		names, tables = append(names, l.name), append(tables, table)
	}
	rates := make([][]float64, len(tables))
	for round := range b.rounds + 1 {
		for turn := range tables {
			i := (turn + round) % len(tables) // a table is slower after some than after others
			took, err := insertBatches(ctx, tables[i], batches, round)
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			if round > 0 { // the first only fills caches
				rates[i] = append(rates[i], float64(rows)/took.Seconds())
			}
		}
	}
	for i, name := range names {
		b.report.compare("layout "+name+": the sink's inserts", "today's", "rows/s", paired(rates[i], rates[0]), nil,
			fmt.Sprintf("%d batches of %d rows in all, of one site", len(batches), rows))
	}
	return nil
}

// layoutBatches are batches of the sink's size, of the events in the log.
func (b *bench) layoutBatches(ctx context.Context) (batches []*insights.Batch, rows int, err error) {
	log, err := b.log()
	if err != nil {
		return nil, 0, err
	}
	messages, err := log.since(ctx, map[int]int64{})
	if err != nil {
		return nil, 0, err
	}
	batch := insights.NewBatch()
	for _, m := range messages {
		message, err := insights.ParseMessage(m.Value)
		if err == nil {
			err = batch.Add(message, insights.Position{Partition: uint16(m.Partition), Offset: uint64(m.Offset)}, nil)
		}
		if err != nil {
			return nil, 0, err
		}
		if batch.Rows() >= insertRows {
			if batches, rows = append(batches, batch), rows+batch.Rows(); len(batches) == layoutBatches {
				break
			}
			batch = insights.NewBatch()
		}
	}
	if len(batches) == 0 {
		return nil, 0, fmt.Errorf("the log has less than %d events", insertRows)
	}
	return batches, rows, nil
}

// insertBatches inserts the batches into an empty table and empties it again.
func insertBatches(ctx context.Context, conn driver.Conn, batches []*insights.Batch, round int) (took time.Duration, err error) {
	store, err := eventstore.New(eventstore.Config{Conn: conn})
	if err != nil {
		return 0, err
	}
	if _, err := store.Stored(ctx, 0, 0, 0); err != nil { // connects
		return 0, err
	}
	began := time.Now()
	for i, batch := range batches {
		if err := store.Insert(ctx, batch, fmt.Sprintf("round %d, batch %d", round, i)); err != nil {
			return 0, err
		}
	}
	took = time.Since(began)
	return took, conn.Exec(ctx, "TRUNCATE TABLE "+insights.Table)
}
