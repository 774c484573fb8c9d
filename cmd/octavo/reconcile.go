package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/store"
)

// ReconcileCmd is `octavo reconcile`.
type ReconcileCmd struct {
	Settings `embed:""`
	From     int64 `help:"The offset to begin at in each partition; the log's first if that is later."`
	Repair   bool  `help:"Put events that are in the log and not in the table back into the table, each once: after a restored backup, say. Rows that were deleted on purpose come back too."`
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
	b, err := besideRunning(ctx, &c.Settings, embedded.Set{Postgres: c.Repair, Kafka: true, ClickHouse: true})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.stop(context.WithoutCancel(ctx))) }()
	conn, err := openClickHouse(b.clickHouseURL, c.ClickHouseTLSCA, 1)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	table, err := eventstore.New(eventstore.Config{Conn: conn, Cluster: c.ClickHouseCluster})
	if err != nil {
		return err
	}
	cfg, err := c.sinkConfig(b, table, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	r, err := sink.NewReconciler(cfg)
	if err != nil {
		return err
	}
	defer r.Close()
	if !c.Repair {
		return c.print(ctx, r.Run, os.Stdout)
	}
	// Postgres has the lock: two repairs at once could both find the same rows missing.
	st, err := openStore(ctx, store.Config{URL: b.postgresURL})
	if err != nil {
		return err
	}
	defer st.Stop()
	lock, err := st.TryLock(ctx, "reconcile --repair")
	if errors.Is(err, store.ErrLocked) {
		return errors.New("cannot repair: another `octavo reconcile --repair` is at it")
	}
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, lock.Release(ctx)) }()
	return c.print(ctx, func(ctx context.Context, from int64, report func(sink.Difference) error) ([]sink.Reconciled, error) {
		return r.Repair(ctx, from, lock.Holds, report)
	}, os.Stdout)
}

// comparison is Run or Repair of an sink.Reconciler.
type comparison func(ctx context.Context, from int64, report func(sink.Difference) error) ([]sink.Reconciled, error)

// print prints what differs or was put back, then what was compared. Any
// difference that remains is an error.
func (c *ReconcileCmd) print(ctx context.Context, compare comparison, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(w, format+"\t\n", arguments...) } // what fails is told by Flush
	encode := json.NewEncoder(out).Encode
	reported, differences := 0, 0
	list, err := compare(ctx, c.From, func(d sink.Difference) error {
		if reported++; d.Remains() {
			differences++
		}
		if c.JSON {
			return encode(d)
		}
		if reported == 1 {
			line("PARTITION\tFROM\tTO\tEVENTS\tMISSING\tDOUBLED\tUNWANTED\tPUT BACK")
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", d.Partition, d.From, d.To, d.Events, d.Missing, d.Doubled, d.Unwanted, d.Restored)
		return nil
	})
	if !c.JSON {
		if reported > 0 {
			line("")
		}
		line("PARTITION\tFROM\tTO\tMESSAGES\tREPEATS\tUNREADABLE\tEVENTS\tDEAD LETTERS\tROWS\tOTHER ROWS\tPUT BACK\tDIFFERENCES")
	}
	for _, p := range list {
		if c.JSON {
			err = firstError(err, encode(p))
			continue
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d",
			p.Partition, p.From, p.To, p.Messages, p.Repeats, p.Unreadable, p.Events, p.DeadLettered, p.Rows, p.Others, p.Restored, p.Differences)
	}
	if err = firstError(err, w.Flush()); err == nil && differences > 0 {
		err = fmt.Errorf("the log and the table differ in %d ranges of offsets", differences)
	}
	return err
}
