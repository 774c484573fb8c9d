package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest"
)

// ReconcileCmd is `octavo reconcile`.
type ReconcileCmd struct {
	Settings `embed:""`
	From     int64 `help:"The offset to begin at in each partition; the log's first if that is later."`
	JSON     bool  `help:"Print JSON objects, one a line: each difference, then each partition."`
}

// Validate is called by kong.
func (c *ReconcileCmd) Validate() error {
	if c.From < 0 {
		return fmt.Errorf("--from: must not be negative")
	}
	return c.Settings.Validate()
}

// Run compares the event log with the events table: a running node's, or its
// own for the moment.
func (c *ReconcileCmd) Run() (err error) {
	ctx, stop := untilSignalled()
	defer stop()
	b, err := besideRunning(ctx, &c.Settings, embedded.Set{Kafka: true, ClickHouse: true})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.stop(context.WithoutCancel(ctx))) }()
	conn, err := openClickHouse(b.clickHouseURL, c.ClickHouseTLSCA, 1)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	table, err := ingest.NewClickHouse(ingest.ClickHouseConfig{Conn: conn, Cluster: c.ClickHouseCluster})
	if err != nil {
		return err
	}
	cfg, err := c.sinkConfig(b, table, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	r, err := ingest.NewReconciler(cfg)
	if err != nil {
		return err
	}
	defer r.Close()
	return c.print(ctx, r, os.Stdout)
}

// print prints what differs, then what was compared. Any difference is an
// error.
func (c *ReconcileCmd) print(ctx context.Context, r *ingest.Reconciler, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(w, format+"\t\n", arguments...) } // what fails is told by Flush
	encode := json.NewEncoder(out).Encode
	differences := 0
	list, err := r.Run(ctx, c.From, func(d ingest.Difference) error {
		if differences++; c.JSON {
			return encode(d)
		}
		if differences == 1 {
			line("PARTITION\tFROM\tTO\tEVENTS\tMISSING\tDOUBLED\tUNWANTED")
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d", d.Partition, d.From, d.To, d.Events, d.Missing, d.Doubled, d.Unwanted)
		return nil
	})
	if !c.JSON {
		if differences > 0 {
			line("")
		}
		line("PARTITION\tFROM\tTO\tMESSAGES\tREPEATS\tUNREADABLE\tEVENTS\tDEAD LETTERS\tROWS\tOTHER ROWS\tDIFFERENCES")
	}
	for _, p := range list {
		if c.JSON {
			err = firstError(err, encode(p))
			continue
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d",
			p.Partition, p.From, p.To, p.Messages, p.Repeats, p.Unreadable, p.Events, p.DeadLettered, p.Rows, p.Others, p.Differences)
	}
	if err = firstError(err, w.Flush()); err == nil && differences > 0 {
		err = fmt.Errorf("the log and the table differ in %d ranges of offsets", differences)
	}
	return err
}
