package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ReconcileCmd is `octavo reconcile`.
type ReconcileCmd struct {
	Settings `embed:""`
	From     int64 `help:"Offset to begin at in each partition, or the log's first one if that is later."`
	Repair   bool  `help:"Insert events that are in the log but not in the table, each once; for use after a restored backup, for example. Events of erased visitors, and those that their site no longer keeps, stay away; rows that an operator deleted come back."`
	JSON     bool  `help:"Print a JSON array: each difference, then each partition."`
}

// Validate is called by kong.
func (c *ReconcileCmd) Validate() error {
	if c.From < 0 {
		return fmt.Errorf("--from: must not be negative")
	}
	return c.Settings.Validate()
}

// Run compares the event log with the events table, of a running node or of
// embedded engines that it starts for the time of the command.
func (c *ReconcileCmd) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	return withInsights(ctx, &c.Settings, embedded.Set{Postgres: true, Kafka: true}, func(b *backends, conn driver.Conn) error {
		return c.reconcile(ctx, b, conn)
	})
}

func (c *ReconcileCmd) reconcile(ctx context.Context, b *backends, conn driver.Conn) (err error) {
	table, err := eventstore.New(eventstore.Config{Conn: conn, Cluster: c.ClickHouseCluster})
	if err != nil {
		return err
	}
	cfg, err := c.sinkConfig(b, table, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	st, err := openStore(ctx, postgres.Config{URL: b.postgresURL}, store.Config{})
	if err != nil {
		return err
	}
	defer st.Stop()
	var lock *postgres.Lock
	if c.Repair {
		// Two concurrent repairs could both insert the same missing rows. A repair during an erasure could restore rows
		// that it has just deleted.
		lock, err = st.TryLock(ctx, eventstore.RepairLock)
		if errors.Is(err, postgres.ErrLocked) {
			return errors.New("cannot repair: another `octavo reconcile --repair` is running, or visitors are being erased: try again")
		}
		if err != nil {
			return err
		}
		defer func() { err = firstError(err, lock.Release(ctx)) }()
	}
	// Not before the lock is held.
	if cfg.Erased, cfg.Expired, err = erased(ctx, st); err != nil {
		return err
	}
	r, err := sink.NewReconciler(cfg)
	if err != nil {
		return err
	}
	defer r.Close()
	compare := r.Run
	if c.Repair {
		compare = func(
			ctx context.Context, from int64, report func(sink.Difference) error,
		) ([]sink.Reconciled, error) {
			return r.Repair(ctx, from, lock.Holds, report)
		}
	}
	err = c.print(ctx, compare, os.Stdout)
	missing := missingRows(ctx, st, table)
	if c.From > 0 {
		missing = nil // the rest of the table is not asked about
	}
	return firstError(err, missing)
}

// missingRows compares the table with the counted rows. Rows that are missing now are not in the log.
func missingRows(ctx context.Context, st *store.Store, table *eventstore.ClickHouse) error {
	list, err := auditRows(ctx, st, table)
	if err != nil || len(list) == 0 {
		return err
	}
	months := make([]string, len(list))
	for i, m := range list {
		months[i] = fmt.Sprintf("%d of %d", m.Rows, m.Month)
	}
	return fmt.Errorf("%d stored events are missing, by the month in which they arrived: %s. "+
		"Without --repair, those that the log has are among them; the others are lost, unless a backup has them",
		schema.MissingTotal(list), strings.Join(months, ", "))
}

// erased reads which events intentionally have no rows.
func erased(ctx context.Context, st *store.Store) (*erasure.List, map[string][]schema.Expiry, error) {
	list := erasure.NewList(st.Sites, 0, nil)
	if err := list.Load(ctx); err != nil {
		return nil, nil, err
	}
	expiries, err := st.Sites.Expiries(ctx)
	expired := map[string][]schema.Expiry{}
	for _, e := range expiries {
		expired[e.SiteID] = append(expired[e.SiteID], e)
	}
	return list, expired, err
}

// comparison is Run or Repair of an sink.Reconciler.
type comparison func(ctx context.Context, from int64, report func(sink.Difference) error) ([]sink.Reconciled, error)

// print prints the differences and what was restored, then a summary of each
// partition. Any remaining difference is an error.
func (c *ReconcileCmd) print(ctx context.Context, compare comparison, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(w, format+"\t\n", arguments...) } // Flush returns write errors
	array := jsonList{to: out}
	reported, differences := 0, 0
	list, err := compare(ctx, c.From, func(d sink.Difference) error {
		if reported++; d.Remains() {
			differences++
		}
		if c.JSON {
			return array.add(d)
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
		line("PARTITION\tFROM\tTO\tMESSAGES\tREPEATS\tUNREADABLE\tEVENTS\tDEAD LETTERS\tERASED\tROWS\tOTHER ROWS\tPUT BACK\tDIFFERENCES")
	}
	for _, p := range list {
		if c.JSON {
			err = firstError(err, array.add(p))
			continue
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d",
			p.Partition, p.From, p.To, p.Messages, p.Repeats, p.Unreadable, p.Events, p.DeadLettered, p.Erased, p.Rows, p.Others, p.Restored, p.Differences)
	}
	if c.JSON {
		err = array.end(err)
	}
	if err = firstError(err, w.Flush()); err == nil && differences > 0 {
		err = fmt.Errorf("the log and the table differ in %d ranges of offsets", differences)
	}
	return err
}
