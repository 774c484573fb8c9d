package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/ingest/eventgen"
	"github.com/octavo-docs/octavo/schema/insights"
)

// fill posts the data set to a separate site, and waits until queries find all of its events. Only the first call does
// this. The data set has the events of 30 days of a busy site. All events differ.
func (b *bench) fill(ctx context.Context) error {
	if b.data.site != "" {
		return nil
	}
	t := b.rig.target
	var err error
	if t.site, err = b.rig.newSite(ctx); err != nil {
		return err
	}
	progress("posting %d events", b.dataset)
	const perRequest = 500
	generator := eventgen.New(eventgen.Options{Seed: 1, Events: b.dataset, End: time.Now()})
	bodies := make(chan []byte, 4)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(bodies)
		for left := b.dataset; left > 0; {
			n := min(perRequest, left)
			left -= n
			body := generator.AppendBatch(nil, n)
			b.dataBytes += len(body)
			select {
			case bodies <- body:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range 4 {
		group.Go(func() error {
			for body := range bodies {
				if err := b.rig.Call(ctx, http.MethodPost, t.insights()+"/events", body, http.StatusNoContent, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.rig.awaitEvents(context.WithoutCancel(ctx), t, b.dataset, stallLimit); err != nil {
		return err
	}
	b.data = t
	return nil
}

// store opens a connection to the insights engine.
func (b *bench) store() (driver.Conn, error) { return b.storeIn("") }

// storeIn opens a connection to a database of the insights engine. If `database` is "", it is the node's database.
func (b *bench) storeIn(database string) (driver.Conn, error) {
	options, err := clickhouse.ParseDSN(b.rig.engines.ClickHouseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot read the engine's address: %w", err)
	}
	// These are the settings that a node uses for a loopback address. With other settings, the ceiling would have an
	// advantage or a disadvantage.
	options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionNone}
	options.Auth.Database = cmp.Or(database, options.Auth.Database)
	return clickhouse.Open(options)
}

// diskRow measures the size of the events table on disk: after ClickHouse's own merges, and after a full merge.
func (b *bench) diskRow(ctx context.Context) error {
	if err := b.fill(ctx); err != nil {
		return err
	}
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	select {
	case <-time.After(b.settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	size := func() (perRow float64, parts uint64, err error) {
		var bytes, rows uint64
		err = conn.QueryRow(ctx, "SELECT sum(bytes_on_disk), sum(rows), count() FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", insights.Table).
			Scan(&bytes, &rows, &parts)
		if err == nil && rows != uint64(b.dataset) {
			err = fmt.Errorf("the table has %d rows but %d were sent", rows, b.dataset)
		}
		return float64(bytes) / float64(rows), parts, err
	}
	settled, parts, err := size()
	if err != nil {
		return err
	}
	if err := conn.Exec(ctx, "OPTIMIZE TABLE "+insights.Table+" FINAL"); err != nil {
		return fmt.Errorf("cannot merge the table: %w", err)
	}
	merged, mergedParts, err := size()
	if err != nil {
		return err
	}
	largest, err := largestColumns(ctx, conn, b.dataset)
	if err != nil {
		return err
	}
	b.report.add(row{
		What: "disk per event", Unit: "B", Ours: spreadOf([]float64{settled}), Budget: &budget{AtMost: 40},
		Notes: []string{
			fmt.Sprintf("%d events of %d bytes JSON on average, in %d parts; fully merged %s B in %d parts", b.dataset, b.dataBytes/b.dataset, parts, number(merged), mergedParts),
			"largest columns, bytes per event when merged: " + largest,
		},
	})
	return nil
}

func largestColumns(ctx context.Context, conn driver.Conn, rows int) (string, error) {
	list, err := conn.Query(ctx, `SELECT column, sum(column_bytes_on_disk) AS bytes FROM system.parts_columns
		WHERE active AND database = currentDatabase() AND table = ? GROUP BY column ORDER BY bytes DESC LIMIT 8`, insights.Table)
	if err != nil {
		return "", fmt.Errorf("cannot read the columns' sizes: %w", err)
	}
	defer func() { _ = list.Close() }() // list.Err returns the same error
	text := ""
	for list.Next() {
		var name string
		var bytes uint64
		if err := list.Scan(&name, &bytes); err != nil {
			return "", fmt.Errorf("cannot read the columns' sizes: %w", err)
		}
		if bytes == 0 {
			// A small part stores all columns in one file, so the sizes of its columns are unknown.
			return "unknown for parts this small", nil
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %s", name, number(float64(bytes)/float64(rows)))
	}
	return text, list.Err()
}
