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
	JSON     bool  `help:"Print a JSON array: each difference, then each partition."`
}

// Validate is called by kong.
func (c *ReconcileCmd) Validate() error {
	if c.From < 0 {
		return fmt.Errorf("--from: must not be negative")
	}
	return c.Settings.Validate()
}

// Run compares the event log with the events table. It uses a running node's engines, or starts the embedded engines
// for the duration of the command.
func (c *ReconcileCmd) Run() error {
	return withRows(&c.Settings, "reconcile", func(ctx context.Context, t *rowsTools) error {
		r, err := t.reconciler(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		differ, err := printComparison(os.Stdout, c.JSON,
			func(report func(sink.Difference) error) ([]sink.Reconciled, error) { return r.Run(ctx, c.From, report) })
		if err == nil && differ > 0 {
			err = fmt.Errorf("the log and the table differ in %d ranges of offsets", differ)
		}
		missing := t.missing(ctx)
		if c.From > 0 {
			missing = nil // with --from, the command does not compare the whole table
		}
		return firstError(err, missing)
	})
}

// rowsTools has the parts of Octavo that commands about stored events need.
type rowsTools struct {
	settings *Settings
	backends *backends
	store    *store.Store
	table    *eventstore.ClickHouse
	mender   *sink.Mender
}

// withRows runs a command's work on the engines of a running node, or on embedded engines that it starts.
func withRows(s *Settings, command string, work func(context.Context, *rowsTools) error) error {
	ctx, stop := untilSignalled()
	defer stop()
	want := embedded.Set{Postgres: true, Kafka: true}
	return withInsights(ctx, s, want, func(b *backends, conn driver.Conn) error {
		table, err := eventstore.New(eventstore.Config{Conn: conn, Cluster: s.ClickHouseCluster})
		if err != nil {
			return err
		}
		st, err := openStore(ctx, postgres.Config{URL: b.postgresURL}, store.Config{})
		if err != nil {
			return err
		}
		defer st.Stop()
		noted := func(context.Context) error { return nil } // this process answers no queries
		mender := s.mender(b, st, sink.MendConfig{
			Table: table, Noted: noted, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
			Everywhere: command == repairCommand,
		})
		t := &rowsTools{s, b, st, table, mender}
		return work(postgres.By(ctx, operator(command)), t)
	})
}

func (t *rowsTools) reconciler(ctx context.Context) (*sink.Reconciler, error) {
	return t.settings.reconciler(ctx, t.backends, t.store, t.table, slog.New(slog.DiscardHandler))
}

// reconciler builds a Reconciler. The Reconciler knows which events have no rows on purpose, such as erased events.
func (s *Settings) reconciler(
	ctx context.Context, b *backends, st *store.Store, table eventstore.Store, log *slog.Logger,
) (*sink.Reconciler, error) {
	cfg, err := s.sinkConfig(b, table, log)
	if err != nil {
		return nil, err
	}
	if cfg.Erased, cfg.Expired, err = erased(ctx, st); err != nil {
		return nil, err
	}
	if cfg.Forgotten, err = st.Sites.ForgottenErasures(ctx); err != nil {
		return nil, err
	}
	return sink.NewReconciler(cfg)
}

// missing compares the events table with the ledger. It returns an error if events are missing or doubled. If another
// process is comparing them, it uses the result of the last comparison.
func (t *rowsTools) missing(ctx context.Context) error {
	list, err := t.mender.Compare(ctx, nil)
	if lockIsBusy(err) {
		list, err = t.store.Rows.Missing(ctx)
	}
	if len(list) == 0 {
		return err
	}
	return errors.Join(fmt.Errorf("%s. `octavo repair` says what can be done", describeMissing(list)), err)
}

// describeMissing describes missing and doubled rows by the month of their arrival.
func describeMissing(list []schema.MissingRows) string {
	var months, doubled []string
	for _, m := range list {
		if m.Rows > 0 {
			months = append(months, fmt.Sprintf("%d of %d", m.Rows, m.Month))
		}
		if m.Doubled > 0 {
			doubled = append(doubled, fmt.Sprintf("%d of %d", m.Doubled, m.Month))
		}
	}
	var texts []string
	if len(months) > 0 {
		texts = append(texts, fmt.Sprintf("%d stored events are missing, by the month in which they arrived: %s",
			schema.MissingTotal(list), strings.Join(months, ", ")))
	}
	if len(doubled) > 0 {
		texts = append(texts, fmt.Sprintf("%d stored events are there twice, by the month in which they arrived: %s",
			schema.DoubledTotal(list), strings.Join(doubled, ", ")))
	}
	return strings.Join(texts, ". ")
}

// erased reads which events were erased, and which events were deleted by age.
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

// printComparison prints the differences and the restored events, and then a summary of each partition. It returns the
// number of differences that remain.
func printComparison(
	out io.Writer, asJSON bool, compare func(report func(sink.Difference) error) ([]sink.Reconciled, error),
) (differences int, err error) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(w, format+"\t\n", arguments...) } // Flush returns write errors
	array := jsonList{to: out}
	reported := 0
	list, err := compare(func(d sink.Difference) error {
		if reported++; d.Remains() {
			differences++
		}
		if asJSON {
			return array.add(d)
		}
		if reported == 1 {
			line("PARTITION\tFROM\tTO\tEVENTS\tMISSING\tDOUBLED\tUNWANTED\tPUT BACK")
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", d.Partition, d.From, d.To, d.Events, d.Missing, d.Doubled, d.Unwanted, d.Restored)
		return nil
	})
	if !asJSON {
		if reported > 0 {
			line("")
		}
		line("PARTITION\tFROM\tTO\tMESSAGES\tREPEATS\tUNREADABLE\tEVENTS\tDEAD LETTERS\tERASED\tROWS\tOTHER ROWS\tPUT BACK\tDIFFERENCES")
	}
	for _, p := range list {
		if asJSON {
			err = firstError(err, array.add(p))
			continue
		}
		line("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d",
			p.Partition, p.From, p.To, p.Messages, p.Repeats, p.Unreadable, p.Events, p.DeadLettered, p.Erased, p.Rows, p.Others, p.Restored, p.Differences)
	}
	if asJSON {
		err = array.end(err)
	}
	return differences, firstError(err, w.Flush())
}
