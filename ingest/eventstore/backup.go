package eventstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// ErrBackup means that a backup cannot be used. Each such error wraps ErrBackup.
var ErrBackup = errors.New("cannot use the backup")

// Backup is a copy of the events table's files. While an Octavo command reads it, no process changes these files.
type Backup struct {
	folder string // the folder with the events table's parts
	parts  map[schema.EventMonth][]backupPart
}

// backupPart is a part of the table in the backup, described by the name of its folder. A merge or a deletion writes a
// new part, which replaces the parts that it was made from.
type backupPart struct {
	name                         string
	first, last, level, mutation uint64
}

var (
	tableID = regexp.MustCompile(`UUID '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'`)
	// partFolder matches the name of a part's folder. Its groups are the month, the first and the last insert, the
	// number of merges, and the last mutation.
	partFolder = regexp.MustCompile(`^([0-9]{6})_([0-9]+)_([0-9]+)_([0-9]+)(?:_([0-9]+))?$`)
)

// OpenBackup finds the events table in a copy of a server's folder. It refuses a table of another baseline.
func OpenBackup(server string) (*Backup, error) {
	files := os.DirFS(server)
	statements, err := fs.Glob(files, "store/*/*/"+insights.Table+".sql")
	if err != nil {
		return nil, err
	}
	if len(statements) != 1 {
		return nil, fmt.Errorf("%w in %s: it has %d tables with the name %s, and must have one",
			ErrBackup, server, len(statements), insights.Table)
	}
	statement, err := fs.ReadFile(files, statements[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	if found, own := baselineOf(string(statement)); !own {
		return nil, fmt.Errorf("%w in %s: its table %s has %s and this version uses baseline %d: use the version that "+
			"wrote it", ErrBackup, server, insights.Table, found, schema.Baseline)
	}
	id := tableID.FindSubmatch(statement)
	if id == nil {
		return nil, fmt.Errorf("%w in %s: %s does not name the table's folder", ErrBackup, server, statements[0])
	}
	b := &Backup{
		folder: filepath.Join(server, "store", string(id[1][:3]), string(id[1])),
		parts:  map[schema.EventMonth][]backupPart{},
	}
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	for _, e := range entries {
		if month, part, ok := readPartFolder(e.Name()); ok && e.IsDir() {
			b.parts[month] = append(b.parts[month], part)
		}
	}
	for month, parts := range b.parts {
		b.parts[month] = slices.DeleteFunc(slices.Clone(parts), func(p backupPart) bool {
			return slices.ContainsFunc(parts, func(by backupPart) bool { return by.covers(p) })
		})
	}
	return b, nil
}

func readPartFolder(name string) (month schema.EventMonth, p backupPart, ok bool) {
	found := partFolder.FindStringSubmatch(name)
	if found == nil {
		return 0, p, false
	}
	var numbers [5]uint64
	for i, text := range found[1:] {
		if text == "" {
			continue // the part had no mutation
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, p, false
		}
		numbers[i] = n
	}
	p = backupPart{name, numbers[1], numbers[2], numbers[3], numbers[4]}
	return schema.EventMonth(numbers[0]), p, true
}

// covers reports whether the part p contains all rows of another part of the same month, so that p replaces the other
// part.
func (p backupPart) covers(other backupPart) bool {
	return p.name != other.name && p.first <= other.first && p.last >= other.last &&
		p.level >= other.level && p.mutation >= other.mutation
}

// LastMonth returns the last month that has rows in the backup, or 0 if the backup has no rows. The backup was made
// after this month began.
func (b *Backup) LastMonth() (last schema.EventMonth) {
	for month := range b.parts {
		last = max(last, month)
	}
	return last
}

// Bytes returns the size of a month's parts.
func (b *Backup) Bytes(month schema.EventMonth) (bytes int64, err error) {
	for _, p := range b.parts[month] {
		err = filepath.WalkDir(filepath.Join(b.folder, p.name), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrBackup, err)
		}
	}
	return bytes, nil
}
