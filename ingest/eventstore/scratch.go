package eventstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// scratchTable has copies of a backup's parts while a repair reads them.
const scratchTable = "octavo_backup"

// ErrFolder means that the server's files are not on this machine.
var ErrFolder = errors.New("the files of the insights store are not on this machine, or may not be written")

// Scratch is a table with the columns of the events table. It contains copies of a backup's parts. The caller of its
// methods must hold RepairLock.
type Scratch struct {
	store  *ClickHouse
	folder string   // the folder for copies of parts
	names  []string // names of the columns that an insert may set
}

// DropScratch drops the table of a repair that was killed. ClickHouse removes the table's files some minutes later.
// With SYNC, the statement would wait until they are removed, which took minutes in tests. The caller holds RepairLock
// or sink.AuditLock.
func (c *ClickHouse) DropScratch(ctx context.Context) error {
	if c.cfg.Cluster != "" {
		return nil
	}
	err := c.cfg.Conn.Exec(ctx, "DROP TABLE IF EXISTS "+scratchTable)
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok && e.Code == codeDenied {
		return nil // a user without this right cannot have created the table
	}
	if err != nil {
		err = fmt.Errorf("cannot drop the table of a backup's rows: %w", err)
	}
	return err
}

const codeDenied = 497

// NewScratch creates an empty Scratch. The caller must call DropScratch at the end.
func (c *ClickHouse) NewScratch(ctx context.Context) (*Scratch, error) {
	if c.cfg.Cluster != "" {
		return nil, errors.New("cannot read a backup into the table of a cluster")
	}
	if err := c.DropScratch(ctx); err != nil {
		return nil, err
	}
	s := &Scratch{store: c}
	for _, statement := range []string{
		"CREATE TABLE " + scratchTable + " AS " + insights.Table,
		"SYSTEM STOP MERGES " + scratchTable, // a merge would replace the part that Attach checks
	} {
		if err := c.cfg.Conn.Exec(ctx, statement); err != nil {
			return nil, fmt.Errorf("cannot create a table for a backup's rows: %w", err)
		}
	}
	err := c.cfg.Conn.QueryRow(ctx, `SELECT data_paths[1], (SELECT groupArray(name) FROM system.columns
			WHERE database = currentDatabase() AND table = {name:String} AND default_kind IN ('', 'DEFAULT'))
		FROM system.tables WHERE database = currentDatabase() AND name = {name:String}`,
		clickhouse.Named("name", scratchTable)).Scan(&s.folder, &s.names)
	if err != nil {
		return nil, fmt.Errorf("cannot find the table of a backup's rows: %w", err)
	}
	s.folder = filepath.Join(s.folder, "detached")
	if _, err := os.Stat(s.folder); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return s, nil
}

// Folder returns the folder into which Attach writes copies.
func (s *Scratch) Folder() string { return s.folder }

// BackupDamage describes a part of a backup that cannot be read.
type BackupDamage struct{ Part, Reason string }

// Attach copies the parts of a month from a backup into the table. It leaves out damaged parts, and returns a
// description of each damaged part.
func (s *Scratch) Attach(ctx context.Context, b *Backup, month schema.EventMonth) (damaged []BackupDamage, err error) {
	var known []string
	for _, p := range b.parts[month] {
		reason, err := s.attach(ctx, filepath.Join(b.folder, p.name), p.name)
		if err != nil {
			return damaged, err
		}
		if reason != "" {
			damaged = append(damaged, BackupDamage{p.name, reason})
			continue
		}
		parts, err := s.parts(ctx)
		if err != nil {
			return damaged, err
		}
		for _, part := range parts {
			if slices.Contains(known, part.Name) {
				continue
			}
			is, reason, err := s.store.Check(ctx, part)
			if err != nil {
				return damaged, err
			}
			if is != DamagedContents {
				known = append(known, part.Name)
				continue
			}
			damaged = append(damaged, BackupDamage{p.name, reason})
			if err := s.drop(ctx, part.Name); err != nil {
				return damaged, err
			}
		}
	}
	return damaged, nil
}

// attach copies a part and adds it to the table. `reason` describes the damage of the part. It is "" if no damage was
// found.
func (s *Scratch) attach(ctx context.Context, from, name string) (reason string, err error) {
	damage, err := copyPart(from, filepath.Join(s.folder, name))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if damage != "" {
		return damage, nil
	}
	err = s.store.cfg.Conn.Exec(ctx, "ALTER TABLE "+scratchTable+" ATTACH PART "+sqltree.Quote(name))
	if _, ofEngine := errors.AsType[*clickhouse.Exception](err); ofEngine {
		// ClickHouse has many error codes for files that it cannot read, so most errors count as damage.
		switch fault := FaultOf(err); {
		case fault.Reason == DamageReason, fault == otherFault, fault.Rows:
			return err.Error(), nil
		}
	}
	if err != nil {
		err = fmt.Errorf("cannot read part %s of the backup: %w", name, err)
	}
	return "", err
}

func (s *Scratch) drop(ctx context.Context, part string) error {
	return s.store.cfg.Conn.Exec(ctx, "ALTER TABLE "+scratchTable+" DROP PART "+sqltree.Quote(part))
}

func (s *Scratch) parts(ctx context.Context) (list []Part, err error) {
	rows, err := s.store.cfg.Conn.Query(ctx, `SELECT name, partition_id, rows FROM system.parts
		WHERE database = currentDatabase() AND active AND table = {name:String} ORDER BY name`,
		clickhouse.Named("name", scratchTable))
	if err != nil {
		return nil, fmt.Errorf("cannot list the parts of the backup: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		p := Part{Table: scratchTable}
		if err := rows.Scan(&p.Name, &p.Partition, &p.Rows); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

// copyPart copies the files of a part. `damage` describes an error of reading the original files. `err` is an error of
// writing the copy.
func copyPart(from, to string) (damage string, err error) {
	original := os.DirFS(from)
	unreadable := fs.WalkDir(original, ".", func(path string, e fs.DirEntry, reads error) error {
		switch {
		case reads != nil:
			return reads
		case e.IsDir():
			err = os.MkdirAll(filepath.Join(to, path), 0o750)
		default:
			var file fs.File
			if file, reads = original.Open(path); reads != nil {
				return reads
			}
			reads, err = copyFile(filepath.Join(to, path), file)
			_ = file.Close() // an error of closing does not matter, because the file was only read
		}
		if err != nil {
			return fs.SkipAll
		}
		return reads
	})
	if unreadable != nil {
		damage = unreadable.Error()
	}
	return damage, err
}

// copyFile copies a file. `reads` is the error of reading the original, and `err` is the error of writing the copy.
func copyFile(path string, from io.Reader) (reads, err error) {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return nil, err
	}
	source := &remembering{from: from}
	_, err = io.Copy(to, source)
	if source.failed != nil {
		err = nil
	}
	return source.failed, errors.Join(err, to.Close())
}

// remembering is a reader that stores the error that its source `from` returned.
type remembering struct {
	from   io.Reader
	failed error
}

func (s *remembering) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

// Offsets is a range of offsets of a log partition. From and To belong to the range.
type Offsets struct {
	Partition uint16
	From, To  uint64
}

// A range that Ranges returns has at least offsetsStep offsets.
const offsetsStep = 16

// Ranges divides the rows of the scratch table into ranges of offsets. A range has at most `most` rows. A range of only
// offsetsStep offsets may have more rows.
func (s *Scratch) Ranges(ctx context.Context, most int) (list []Offsets, err error) {
	rows, err := s.store.cfg.Conn.Query(fromRows(ctx), fmt.Sprintf("SELECT %s AS p, intDiv(%s, %d) AS o, count() "+
		"FROM %s GROUP BY p, o ORDER BY p, o", insights.ColumnPartition, insights.ColumnOffset, offsetsStep,
		scratchTable))
	if err != nil {
		return nil, fmt.Errorf("cannot count the rows of the backup: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	have := uint64(0)
	for rows.Next() {
		var partition uint16
		var step, n uint64
		if err := rows.Scan(&partition, &step, &n); err != nil {
			return nil, err
		}
		next := Offsets{partition, step * offsetsStep, (step+1)*offsetsStep - 1}
		if last := len(list) - 1; last >= 0 && list[last].Partition == partition && have+n <= uint64(most) {
			list[last].To, have = next.To, have+n
			continue
		}
		list, have = append(list, next), n
	}
	return list, rows.Err()
}

// BackupRow is a row of the events table in a backup.
type BackupRow struct {
	Row
	EventKey string
	Received time.Time // in whole seconds
}

// scratchRows returns the end of a SELECT statement that reads the rows of the scratch table in a range of offsets:
// FROM, WHERE and ORDER BY. Rows and Insert use it, so they read the rows in the same order.
func (o Offsets) scratchRows() string {
	return fmt.Sprintf(" FROM %s WHERE %s = %d AND %s BETWEEN %d AND %d ORDER BY %s, %s, _part, _part_offset",
		scratchTable, insights.ColumnPartition, o.Partition, insights.ColumnOffset, o.From, o.To,
		insights.ColumnOffset, insights.ColumnIndex)
}

// fromRows returns a context with which ClickHouse reads the rows of a table, and not a projection of the table.
func fromRows(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"optimize_use_projections": 0, "max_threads": 1,
	}))
}

// Rows returns the rows of the scratch table in a range of offsets.
func (s *Scratch) Rows(ctx context.Context, of Offsets) (list []BackupRow, err error) {
	rows, err := s.store.cfg.Conn.Query(fromRows(ctx), "SELECT "+insights.ColumnOffset+", "+insights.ColumnIndex+
		", site, visitor, session, toUnixTimestamp64Milli(time), "+insights.ColumnEventKey+", "+insights.ColumnReceived+
		of.scratchRows())
	if err != nil {
		return nil, fmt.Errorf("cannot read the rows of the backup: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		var r BackupRow
		err := rows.Scan(&r.Offset, &r.Index, &r.Content.Site, &r.Content.Visitor, &r.Content.Session,
			&r.Content.TimeMillis, &r.EventKey, &r.Received)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// Insert copies rows of a range of offsets from the scratch table to the events table. `places` has the rows' indexes
// in the list that Rows returns. The caller must have checked that the events table lacks these rows.
func (s *Scratch) Insert(ctx context.Context, of Offsets, places []int) error {
	columns := make([]string, len(s.names))
	for i, name := range s.names {
		columns[i] = sqltree.Ident(name)
	}
	names := strings.Join(columns, ", ")
	values, err := s.read(ctx, "SELECT "+names+of.scratchRows(), places)
	if err != nil {
		return fmt.Errorf("cannot read the rows of the backup: %w", err)
	}
	// Each insert has a new token. With an earlier token, ClickHouse would drop rows that an earlier repair restored,
	// even if they were lost again.
	settings, err := s.store.settingsFor(ctx, "octavo/backup/"+rand.Text())
	if err != nil {
		return err
	}
	batch, err := s.store.cfg.Conn.PrepareBatch(clickhouse.Context(ctx, clickhouse.WithSettings(settings)),
		"INSERT INTO "+insights.Table+" ("+names+")")
	if err != nil {
		return fmt.Errorf("cannot begin an insert: %w", err)
	}
	defer func() { _ = batch.Close() }() // Close has no effect on a batch that was sent
	for _, row := range values {
		if err := batch.Append(row...); err != nil {
			return errors.Join(fmt.Errorf("cannot insert a row of the backup: %w", err), batch.Abort())
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("cannot insert %d rows of the backup: %w", len(values), err)
	}
	return nil
}

// read returns some rows of a query's result. `places` has the indexes of these rows in the result, in ascending order.
func (s *Scratch) read(ctx context.Context, query string, places []int) (list [][]any, err error) {
	rows, err := s.store.cfg.Conn.Query(fromRows(ctx), query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	types := rows.ColumnTypes()
	for place := 0; rows.Next(); place++ {
		if len(list) == len(places) || place != places[len(list)] {
			continue
		}
		row := make([]any, len(types))
		for i, t := range types {
			row[i] = reflect.New(t.ScanType()).Interface()
		}
		if err := rows.Scan(row...); err != nil {
			return nil, err
		}
		for i := range row {
			row[i] = reflect.ValueOf(row[i]).Elem().Interface()
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
