package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/eventrows"
)

// openBackup finds the events table in a copy of a data directory, or in a copy of its folder clickhouse.
func openBackup(dir, dataDir string) (*eventstore.Backup, error) {
	server, err := embedded.ClickHouseCopy(dir, dataDir)
	if err == nil {
		var backup *eventstore.Backup
		if backup, err = eventstore.OpenBackup(server); err == nil {
			return backup, nil
		}
	}
	return nil, fmt.Errorf("--from: %w", err)
}

// sources names the places in which the repair has looked for missing events.
func (c *RepairCmd) sources() string {
	if c.backup == nil {
		return "the log"
	}
	return "the log or in " + c.From
}

// planBackup prints which missing events the copy has. It leaves out events that the log has.
func (c *RepairCmd) planBackup(
	ctx context.Context, t *rowsTools, damaged int, differences []sink.Difference,
) (int64, error) {
	if damaged > 0 {
		fmt.Fprintf(os.Stderr, "After the damaged parts are set aside, `octavo repair --from --yes` restores from %s "+
			"what the log does not have.\n", c.From)
		return 0, nil
	}
	done, err := c.readBackup(ctx, t, differences)
	if lockIsBusy(err) {
		err = errRepairBusy
	}
	return done.FoundRows(), err
}

// restoreBackup restores the missing events that the copy has. It returns the rows that are still missing.
func (c *RepairCmd) restoreBackup(ctx context.Context, t *rowsTools) ([]schema.MissingRows, error) {
	done, err := c.readBackup(ctx, t, nil)
	if (err == nil || errors.Is(err, sink.ErrDoubledUnknown)) && done.Restored < done.FoundRows() {
		err = fmt.Errorf("%d of %d events of the copy were acknowledged and are not stored: try again",
			done.FoundRows()-done.Restored, done.FoundRows())
	}
	return done.Missing, err
}

// readBackup looks for missing events in the copy, and prints the result. With --yes, it also restores these events.
func (c *RepairCmd) readBackup(
	ctx context.Context, t *rowsTools, skip []sink.Difference,
) (done sink.FromBackup, err error) {
	err = whenFree(ctx, func() (err error) {
		done, err = t.mender.ReadBackup(ctx, sink.BackupConfig{
			Backup: c.backup, Fits: fits, Skip: skip, Store: c.Yes, Note: c.noteBackup(t),
		})
		return err
	})
	c.describeBackup(&done)
	return done, err
}

// noteBackup returns a function that records in the audit log which events were restored from the copy.
func (c *RepairCmd) noteBackup(t *rowsTools) func(
	context.Context, schema.EventMonth, int64, []eventstore.BackupDamage,
) error {
	return func(ctx context.Context, month schema.EventMonth, rows int64, damaged []eventstore.BackupDamage) error {
		folder, err := filepath.Abs(c.From)
		of := eventrows.RowsOfCopy{Month: month, Rows: rows, Copy: folder}
		for _, d := range damaged {
			of.Damaged = append(of.Damaged, d.Part)
		}
		if err == nil {
			err = t.store.Rows.NoteRestored(ctx, of)
		}
		if err != nil {
			return fmt.Errorf("cannot note what is restored: %w", err)
		}
		return nil
	}
}

// describeBackup prints which missing events a copy has, and which events are not restored.
func (c *RepairCmd) describeBackup(done *sink.FromBackup) {
	say := func(format string, arguments ...any) { fmt.Fprintf(os.Stderr, format+"\n", arguments...) }
	for _, d := range done.Damaged {
		say("Part %s of the copy is damaged and left out. %s", d.Part, d.Reason)
	}
	days := map[string]int64{}
	for day, rows := range done.Found {
		days[day.Day.Format(time.DateOnly)] += rows
	}
	switch {
	case c.Yes:
		say("%d missing events were restored from %s.", done.Restored, c.From)
	case len(days) > 0:
		say("`octavo repair --from %s --yes` would restore %d missing events that the log does not have:",
			c.From, done.FoundRows())
	default:
		say("%s has no missing events that the log does not have.", c.From)
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		say("  %s: %d", day, days[day])
	}
	if done.Gone > 0 {
		say("%d events of the copy stay away: they were erased, their sites no longer keep them, or they were refused.",
			done.Gone)
	}
	if done.Unsure > 0 {
		say("%d events of the copy stay away: visitors of their sites were erased after the copy was made, and it is "+
			"not known any more which.", done.Unsure)
	}
	for _, month := range slices.Sorted(maps.Keys(done.Surplus)) {
		say("The copy has %d events that arrived in %d and that the table lacks. That is more than are missing: some "+
			"were deleted on purpose, and it is not known which. None of them is restored.", done.Surplus[month], month)
	}
}

// fits returns an error if the folder's disk has too little free space for the given number of bytes.
func fits(folder string, bytes int64) error {
	free, size, err := disk.OS{}.Free(folder)
	if err != nil {
		return fmt.Errorf("cannot ask for the free space of %s: %w", folder, err)
	}
	if free-bytes < disk.LeastFree(size) {
		return fmt.Errorf("cannot copy %d MiB of the copy's parts for reading: the disk of %s has only %d MiB free",
			bytes>>20, folder, free>>20)
	}
	return nil
}
