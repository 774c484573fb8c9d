package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
)

// RepairCmd is `octavo repair`.
type RepairCmd struct {
	Settings   `embed:""`
	Yes        bool   `help:"Do it. Without --yes, the command says what it would do."`
	From       string `placeholder:"DIR" help:"Copy of this installation's data directory, or of its folder clickhouse, such as yesterday's backup. Missing events that the log does not have are restored from it. The copy is only read. Not for a ClickHouse cluster: see OPERATING.md, Copies of a cluster."`
	AcceptLoss bool   `help:"Accept that missing events which the log does not have are lost: the alert and /readyz become quiet, and answers about their days still say that events are missing."`
	JSON       bool   `help:"Print a JSON array: each difference, then each partition."`

	backup *eventstore.Backup // the backup in the folder From
}

const repairCommand = "repair"

// errFromCluster is the error of a repair of a cluster from a copy. The folders of a cluster's servers are on other
// machines, and a copy of one server has the events of one shard.
var errFromCluster = errors.New("--from: cannot restore events of a ClickHouse cluster from a copy. Its replicas " +
	"restore damaged parts, and `octavo repair --yes` restores what the log has. For other events, follow " +
	"deploy/OPERATING.md, Copies of a cluster")

// Run repairs the events table of a running node, or of embedded engines that it starts. It sets damaged parts aside,
// and deletes the copies of doubled events. It restores missing events from the log and from a copy.
func (c *RepairCmd) Run() (err error) {
	if c.From != "" {
		if c.ClickHouseCluster != "" {
			return errFromCluster
		}
		if c.backup, err = openBackup(c.From, c.DataDir); err != nil {
			return err
		}
	}
	return withRows(&c.Settings, repairCommand, func(ctx context.Context, t *rowsTools) error {
		if !c.Yes {
			return c.plan(ctx, t)
		}
		return c.repair(ctx, t)
	})
}

// plan prints the steps of a repair.
func (c *RepairCmd) plan(ctx context.Context, t *rowsTools) error {
	parts, err := t.table.Parts(ctx, "")
	if err != nil {
		return err
	}
	damaged := 0
	for _, p := range parts {
		is, reason, err := t.table.Check(ctx, p)
		if err != nil {
			return err
		}
		if is == eventstore.DamagedContents {
			damaged++
			fmt.Fprintf(os.Stderr, "Part %s of %s is damaged and would be set aside: %d rows. %s\n",
				p.Name, p.Table, p.Rows, reason)
		}
	}
	r, err := t.reconciler(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var restorable int64
	var differences []sink.Difference
	_, err = printComparison(os.Stdout, c.JSON, func(report func(sink.Difference) error) ([]sink.Reconciled, error) {
		return r.Run(ctx, 0, func(d sink.Difference) error {
			restorable += d.Missing
			differences = append(differences, d)
			return report(d)
		})
	})
	if err != nil && damaged > 0 {
		fmt.Fprintln(os.Stderr, "The rest of the table cannot be compared before the damaged parts are set aside.")
		err = nil
	}
	if err != nil {
		return err
	}
	var found int64
	if c.backup != nil {
		if found, err = c.planBackup(ctx, t, damaged, differences); err != nil {
			return err
		}
	}
	list, err := t.store.Rows.Missing(ctx)
	if err != nil {
		return err
	}
	doubled, unknown := t.mender.Doubles(ctx)
	lost := max(0, schema.MissingOpen(list)-restorable-found)
	if damaged == 0 && restorable == 0 && found == 0 && lost == 0 && doubled == 0 {
		if unknown != nil {
			return unknown
		}
		fmt.Fprintln(os.Stderr, "Nothing needs a repair.")
		return nil
	}
	fmt.Fprintf(os.Stderr, "`octavo repair --yes` would set %d parts aside, and restore %d missing events that the "+
		"log has. It would also restore what the log has of the parts that it sets aside.\n", damaged, restorable)
	if doubled > 0 {
		fmt.Fprintf(os.Stderr, "It would leave one of each of %d events that are there twice.\n", doubled)
	}
	if lost > 0 {
		fmt.Fprintf(os.Stderr, "%d missing events are not in %s. `octavo repair --from DIR` restores what another "+
			"copy of the data directory has. `octavo repair --accept-loss --yes` accepts their loss.\n",
			lost, c.sources())
	}
	return unknown
}

var errRepairBusy = errors.New("cannot repair: another process compares or repairs the events table, or visitors are " +
	"being erased: try again")

// repair runs the steps that plan prints.
func (c *RepairCmd) repair(ctx context.Context, t *rowsTools) error {
	steps := []repairStep{func() ([]schema.MissingRows, error) { return c.restore(ctx, t) }}
	if c.backup != nil {
		steps = append(steps, func() ([]schema.MissingRows, error) { return c.restoreBackup(ctx, t) })
	}
	missing, unknown, err := inSteps(steps...)
	return firstError(c.accept(ctx, t, missing, err), unknown)
}

// repairStep is a step of a repair. It returns the rows that are missing after it.
type repairStep func() ([]schema.MissingRows, error)

// inSteps runs the steps of a repair until one fails. A failed look for doubled rows does not stop it, because the
// missing rows are known nevertheless. The error `unknown` is the last error of such a look.
func inSteps(steps ...repairStep) (missing []schema.MissingRows, unknown, err error) {
	for _, step := range steps {
		missing, err = step()
		if missing != nil && errors.Is(err, sink.ErrDoubledUnknown) {
			unknown, err = err, nil
		}
		if err != nil {
			break
		}
	}
	return missing, unknown, err
}

// accept ends a repair. With --accept-loss, it accepts the loss of the missing rows. Without it, missing rows are an
// error.
func (c *RepairCmd) accept(ctx context.Context, t *rowsTools, missing []schema.MissingRows, err error) error {
	switch {
	case lockIsBusy(err):
		return errRepairBusy
	case err != nil:
		return err
	case !c.AcceptLoss && schema.MissingOpen(missing) > 0:
		return fmt.Errorf("%s. They are not in %s. `octavo repair --from DIR --yes` restores what another copy of the "+
			"data directory has; otherwise, `octavo repair --accept-loss --yes` accepts the loss",
			describeMissing(missing), c.sources())
	case !c.AcceptLoss:
		return nil
	}
	accepted, err := t.store.Rows.AcceptMissing(ctx)
	for month, rows := range accepted {
		fmt.Fprintf(os.Stderr, "The loss of %d events that arrived in %d is accepted.\n", rows, month)
	}
	return err
}

// restore sets damaged parts aside, deletes the copies of doubled rows, and restores the missing rows that the log has.
// It returns the rows that are still missing.
func (c *RepairCmd) restore(ctx context.Context, t *rowsTools) ([]schema.MissingRows, error) {
	parts, err := t.table.Parts(ctx, "")
	if err != nil {
		return nil, err
	}
	var missing []schema.MissingRows
	err = whenFree(ctx, func() (err error) {
		missing, err = t.mender.Compare(ctx, parts)
		return err
	})
	if err == nil && schema.DoubledTotal(missing) > 0 {
		err = whenFree(ctx, func() (err error) {
			missing, err = t.mender.MergeDoubles(ctx)
			return err
		})
	}
	missing, unknown, err := inSteps(func() ([]schema.MissingRows, error) { return missing, err })
	if err != nil || c.AcceptLoss && !t.table.Sequential() {
		return missing, firstError(err, unknown) // on a cluster, the replicas restore the parts
	}
	_, err = printComparison(os.Stdout, c.JSON, func(report func(sink.Difference) error) ([]sink.Reconciled, error) {
		var done sink.Mended
		err := whenFree(ctx, func() (err error) {
			done, err = t.mender.Restore(ctx, true, report)
			return err
		})
		missing = done.Missing
		return done.Partitions, err
	})
	return missing, firstError(err, unknown)
}

const (
	freeWait = 30 * time.Second // the time to wait for a node that repairs concurrently
	freePoll = 200 * time.Millisecond
)

// whenFree calls the function do. If another process has the locks that the function needs, whenFree repeats the call
// for at most freeWait.
func whenFree(ctx context.Context, do func() error) error {
	for began := time.Now(); ; retry.Sleep(ctx, freePoll) {
		if err := do(); !lockIsBusy(err) || ctx.Err() != nil || time.Since(began) > freeWait {
			return err
		}
	}
}
