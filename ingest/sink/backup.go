package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
)

// FromBackup is the result of ReadBackup: the number of the events table's missing rows that the backup has.
type FromBackup struct {
	Found    map[schema.MissingDay]int64 // number of missing rows that the backup has
	Restored int64                       // number of rows of Found that were restored
	Gone     int64                       // number of rows not restored because they were erased, expired or refused
	// Unsure counts rows that an old erasure may have deleted. The tombstones of this erasure were removed since. These
	// rows are not restored.
	Unsure int64
	// Surplus has the months in which the events table lacks more rows of the backup than the ledger reports as
	// missing. A month's value is the number of these additional rows. In such a month, some rows were
	// deleted on purpose, and it is unknown which. Found does not count the rows of these months.
	Surplus map[schema.EventMonth]int64
	Damaged []eventstore.BackupDamage
	Missing []schema.MissingRows // rows that are missing after ReadBackup
}

// FoundRows returns the number of missing rows that the backup has.
func (f *FromBackup) FoundRows() (rows int64) {
	for _, n := range f.Found {
		rows += n
	}
	return rows
}

// BackupConfig has the settings for reading a backup. Backup and Fits are required.
type BackupConfig struct {
	Backup *eventstore.Backup
	// Fits returns an error if the disk of a folder has no space for a number of bytes.
	Fits func(folder string, bytes int64) error
	// Skip has the ranges of offsets that a repair restores from the log. ReadBackup does not take rows in these
	// ranges from the backup.
	Skip []Difference
	// Store means that ReadBackup stores the missing rows. Without Store, it only counts them.
	Store bool
	// Note is called before missing rows of a month are stored. It records the number of these rows, and the damaged
	// parts of the backup, whose rows are not restored. So the record exists even if the process is killed during the
	// repair. Note is required if Store is true.
	Note func(ctx context.Context, month schema.EventMonth, rows int64, damaged []eventstore.BackupDamage) error
}

// ReadBackup looks for missing rows in a backup, and stores them if cfg.Store is true. Only one process at a time does
// this. An error of Lock means that another process runs a repair, or that visitors are being erased. Before
// ReadBackup, the caller runs a repair from the log, so that rows are taken from the backup only if the log does not
// have them.
func (m *Mender) ReadBackup(ctx context.Context, cfg BackupConfig) (done FromBackup, err error) {
	holds, release, err := m.cfg.Lock(ctx, eventstore.RepairLock, AuditLock)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if done.Missing, err = Audit(ctx, m.cfg.Ledger, m.cfg.Table); err != nil || schema.MissingTotal(done.Missing) == 0 {
		return done, err
	}
	r, err := m.cfg.Reconciler(ctx)
	if err != nil {
		return done, err
	}
	defer r.Close()
	done.Found, done.Surplus = map[schema.MissingDay]int64{}, map[schema.EventMonth]int64{}
	reading := &backupReading{r: r, m: m, cfg: cfg, holds: holds, done: &done}
	if err := reading.prepare(ctx); err != nil {
		return done, err
	}
	for _, of := range done.Missing {
		if err == nil && of.Rows > 0 {
			err = reading.month(ctx, of)
		}
	}
	for _, rows := range r.restored {
		done.Restored += rows
	}
	if len(r.restored) > 0 {
		err = errors.Join(err, m.cfg.Ledger.RestoreMissingDays(ctx, r.restored))
	}
	if err != nil {
		return done, fmt.Errorf("cannot restore what the backup has: %w", err)
	}
	if done.Restored > 0 {
		var unknown error
		done.Missing, unknown, err = m.compare(ctx)
		err = lookError(unknown, err)
	}
	return done, err
}

// backupReading reads a backup, month by month.
type backupReading struct {
	r     *Reconciler
	m     *Mender
	cfg   BackupConfig
	holds func(context.Context) error
	done  *FromBackup

	waiting map[uint16]logRange // messages that a sink will store
	refused map[refusedEvent]bool
	made    time.Time // beginning of the last month with rows in the backup; the backup was made later
	scratch *eventstore.Scratch
}

// logRange is the range of offsets [from, to).
type logRange struct{ from, to int64 }

func (l logRange) has(offset uint64) bool { return l.from <= int64(offset) && int64(offset) < l.to }

// refusedEvent identifies an event that has a dead letter.
type refusedEvent struct {
	partition int
	offset    int64
	index     int
	site      string
	received  int64 // received is in seconds
}

// prepare reads the data that decide which rows of the backup are not restored.
func (b *backupReading) prepare(ctx context.Context) (err error) {
	if b.waiting, err = b.r.waiting(ctx); err != nil {
		return err
	}
	b.refused, err = b.r.refusedEvents(ctx)
	b.made = b.cfg.Backup.LastMonth().Begin()
	return err
}

// waiting returns the messages that are not committed, by partition of the log. A sink will read these messages and
// store the rows that the events table lacks, so ReadBackup must not store these rows.
func (r *Reconciler) waiting(ctx context.Context) (map[uint16]logRange, error) {
	count, err := r.log.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot ask for the partitions of %s: %w", r.cfg.Topic, err)
	}
	ids := partitionRange(count)
	committed, err := groupProgress(ctx, r.log, r.cfg.Group, ids)
	if errors.Is(err, kafka.GroupIdNotFound) {
		committed, err = map[int]progress{}, nil // no sink has ever committed
	}
	if err != nil {
		return nil, fmt.Errorf("cannot ask how far the sinks are: %w", err)
	}
	list := map[uint16]logRange{}
	for _, id := range ids {
		first, next, err := r.log.Offsets(ctx, id)
		if err != nil {
			return nil, err
		}
		list[uint16(id)] = logRange{max(first, committed[id].offset), next}
	}
	return list, nil
}

// refusedEvents returns the events that have dead letters, including replayed letters. A replayed event was appended to
// the log again, so its row has another position.
func (r *Reconciler) refusedEvents(ctx context.Context) (map[refusedEvent]bool, error) {
	list := map[refusedEvent]bool{}
	err := r.eachLetter(ctx, func(l *deadletter.Letter) {
		list[refusedEvent{l.Partition, l.Offset, l.Index, l.Site, l.Received.Unix()}] = true
	})
	return list, err
}

// mostBackupRows is the number of rows that one step reads at most.
const mostBackupRows = 10_000

// month looks for missing rows of a month, and stores them if cfg.Store is true.
func (b *backupReading) month(ctx context.Context, missing schema.MissingRows) (err error) {
	bytes, err := b.cfg.Backup.Bytes(missing.Month)
	if err != nil || bytes == 0 {
		return err
	}
	table := b.m.cfg.Table
	if b.scratch, err = table.NewScratch(ctx); err == nil {
		err = b.cfg.Fits(b.scratch.Folder(), 2*bytes) // space for the copies, and for rows stored from them
	}
	defer func() { err = errors.Join(err, table.DropScratch(context.WithoutCancel(ctx))) }()
	if err != nil {
		return err
	}
	damaged, err := b.scratch.Attach(ctx, b.cfg.Backup, missing.Month)
	b.done.Damaged = append(b.done.Damaged, damaged...)
	if err != nil {
		return err
	}
	ranges, err := b.scratch.Ranges(ctx, min(b.r.batch, mostBackupRows))
	if err != nil {
		return err
	}
	found, total := map[schema.MissingDay]int64{}, int64(0)
	for _, of := range ranges {
		rows, err := b.missing(ctx, of, b.done)
		if err != nil {
			return err
		}
		for _, row := range rows {
			found[row.day]++
		}
		total += int64(len(rows))
	}
	uncounted, err := b.uncounted(ctx, missing.Month)
	if err != nil {
		return err
	}
	if total > missing.Rows+uncounted {
		b.done.Surplus[missing.Month] = total
		return nil
	}
	for day, rows := range found {
		b.done.Found[day] += rows
	}
	if !b.cfg.Store || total == 0 {
		return nil
	}
	// A repair that was killed may have a running insert of a missing row, so wait for its end.
	if err := b.r.cfg.Store.Settle(ctx); err != nil {
		return err
	}
	if err := b.cfg.Note(ctx, missing.Month, total, damaged); err != nil {
		return err
	}
	for _, of := range ranges {
		if err := b.store(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// uncounted returns the number of rows of a month that sinks have stored but not yet counted. The number of missing
// rows is too small by this number.
func (b *backupReading) uncounted(ctx context.Context, month schema.EventMonth) (int64, error) {
	ends, err := b.m.cfg.Ledger.RowsEnds(ctx)
	if err != nil {
		return 0, err
	}
	rows, err := b.m.cfg.Table.MonthsFrom(ctx, ends, []schema.EventMonth{month})
	return rows[month].Rows, err
}

// backupRow is a row of the backup that the events table lacks.
type backupRow struct {
	place int // the index in the list that Scratch.Rows returns for the row's range
	row   eventstore.Row
	day   schema.MissingDay
}

// missing returns the rows of the backup in a range of offsets that the events table lacks, without duplicates. It
// leaves out rows that must not be restored, and counts them in the parameter `count`.
func (b *backupReading) missing(ctx context.Context, of eventstore.Offsets, count *FromBackup) ([]backupRow, error) {
	rows, err := b.scratch.Rows(ctx, of)
	if err != nil {
		return nil, err
	}
	list, err := b.r.cfg.Store.Stored(ctx, of.Partition, of.From, of.To)
	if err != nil {
		return nil, err
	}
	stored := indexStored(list)
	var missing []backupRow
	for place, row := range rows {
		if stored.has(row.Row) || b.waiting[of.Partition].has(row.Offset) || b.skips(of.Partition, row.Offset) {
			continue
		}
		stored.add(row.Row) // the backup may contain the row twice
		refused := refusedEvent{
			int(of.Partition), int64(row.Offset), int(row.Index), row.Content.Site, row.Received.Unix(),
		}
		switch {
		case b.refused[refused], b.r.gone(arrived{row.Content, row.EventKey, row.Received.UnixMilli()}):
			count.Gone++
		case b.unsure(row):
			count.Unsure++
		default:
			missing = append(missing, backupRow{place, row.Row, schema.MissingDay{
				Month: schema.EventMonthOf(row.Received), Site: row.Content.Site,
				Day: time.UnixMilli(row.Content.TimeMillis).UTC().Truncate(24 * time.Hour),
			}})
		}
	}
	return missing, nil
}

// skips reports whether a repair from the log restores the missing rows at an offset.
func (b *backupReading) skips(partition uint16, offset uint64) bool {
	return slices.ContainsFunc(b.cfg.Skip, func(d Difference) bool {
		return d.Partition == int(partition) && d.Missing > 0 && logRange{d.From, d.To}.has(offset)
	})
}

// backupTakes is an upper bound of the time that copying the files of a backup takes.
const backupTakes = 24 * time.Hour

// unsure reports whether a row of the backup may belong to an erased visitor or key whose tombstones were removed
// since. A backup that was begun after this erasure has no such rows.
func (b *backupReading) unsure(row eventstore.BackupRow) bool {
	forgotten, found := b.r.cfg.Forgotten[row.Content.Site]
	return found && row.Received.Before(forgotten.ErasedUntil) && b.made.Add(-backupTakes).Before(forgotten.Done)
}

// store inserts the rows of the backup in a range of offsets that the events table lacks. It counts a row as restored
// if it then finds the row in the events table.
func (b *backupReading) store(ctx context.Context, of eventstore.Offsets) error {
	rows, err := b.missing(ctx, of, &FromBackup{}) // the counts in the FromBackup are not used here
	if err != nil || len(rows) == 0 {
		return err
	}
	places := make([]int, len(rows))
	for i, row := range rows {
		places[i] = row.place
	}
	// Check the lock as late as possible, because after this process has lost it, another repair may run.
	if err := b.holds(ctx); err != nil {
		return fmt.Errorf("cannot go on with the repair: %w", err)
	}
	if err := b.scratch.Insert(ctx, of, places); err != nil {
		return err
	}
	list, err := b.r.cfg.Store.Stored(ctx, of.Partition, of.From, of.To)
	if err != nil {
		return err
	}
	stored := indexStored(list)
	for _, row := range rows {
		if stored.has(row.row) {
			b.r.restored[row.day]++
		}
	}
	return nil
}
