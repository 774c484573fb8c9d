package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/octavo-docs/octavo/cmd/engine/pgserver"
)

// inventoryFile lists Postgres's files with their state at its last clean stop. It is outside of Postgres's folder. So
// if the folder is replaced by an older copy, the copy does not match the inventory. Postgres itself does not detect
// such damage: it reads a page of zeros as empty, and accepts a truncated file or a file from an older copy.
const inventoryFile = "postgres.inventory.json"

// inventoryBytes is the largest number of bytes that an inventory reads. It reads the smallest files first. For the
// other files, it has only the sizes.
const inventoryBytes = 2 << 30

// inventory has the size and the checksum of each file, by its path.
type inventory map[string]counted

type counted struct {
	Size int64   `json:"size"`
	Sum  *uint64 `json:"sum,omitzero"` // Sum is nil if the content was not read
}

// takeInventory lists files of Postgres with their sizes. It also computes the checksum of each file that has a
// checksum in `with`. If `with` is nil, it computes the checksums of the smallest files, up to inventoryBytes.
func takeInventory(dir string, with inventory) (inventory, error) {
	list := inventory{}
	for _, root := range pgserver.Stored {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() || pgserver.Temporary(path) {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			below, err := filepath.Rel(dir, path)
			list[below] = counted{Size: info.Size()}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	paths := make([]string, 0, len(list))
	for path := range list {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return int(list[a].Size - list[b].Size) })
	left := int64(inventoryBytes)
	for _, path := range paths {
		at := list[path]
		left -= at.Size
		was := with[path]
		if with == nil && left < 0 || with != nil && (was.Sum == nil || was.Size != at.Size) {
			continue
		}
		sum, err := sumOf(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		at.Sum = &sum
		list[path] = at
	}
	return list, nil
}

// sumOf returns the xxHash of a file. A CRC does not work, because every file that ends with its own CRC, such as
// pg_control, has the same CRC.
func sumOf(path string) (uint64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	sum := xxhash.New()
	_, err = io.Copy(sum, file)
	return sum.Sum64(), errors.Join(err, file.Close())
}

// differences lists the files of i that the inventory `now` lacks, and the files that have changed.
func (i inventory) differences(now inventory) (list []string) {
	for path, was := range i {
		is, ok := now[path]
		switch {
		case !ok:
			list = append(list, path+" is gone")
		case is.Size != was.Size:
			list = append(list, fmt.Sprintf("%s has %d of %d bytes", path, is.Size, was.Size))
		case was.Sum != nil && *was.Sum != *is.Sum:
			list = append(list, path+" has other bytes")
		}
	}
	slices.Sort(list)
	return list
}

// checkInventory returns an error if Postgres's files have changed since its last clean stop. If the operator accepts
// the changes, it returns the damaged files instead.
func (c *Config) checkInventory() (accepted string, err error) {
	if !c.Want.Postgres {
		return "", nil
	}
	accepts := slices.Contains(c.AcceptLoss, Postgres)
	var was inventory
	path := filepath.Join(c.DataDir, inventoryFile)
	known, err := readMarks(path, &was)
	switch {
	case err != nil && accepts:
		return path + " is damaged", nil
	case err != nil:
		return "", fmt.Errorf("%w: remove it if Postgres's files are whole", err)
	case !known:
		return "", nil
	}
	folder := filepath.Join(c.DataDir, Postgres, "data")
	now, err := takeInventory(folder, was)
	if err != nil && !accepts {
		return "", fmt.Errorf("cannot compare Postgres's files with %s: %w", path, err)
	}
	if list := was.differences(now); len(list) > 0 {
		const shown = 3
		text := strings.Join(list[:min(shown, len(list))], ", ")
		if len(list) > shown {
			text += fmt.Sprintf(" and %d more", len(list)-shown)
		}
		if accepts {
			return "files of Postgres in " + folder + " are damaged: " + text, nil
		}
		return "", fmt.Errorf("cannot use data directory %s: files of Postgres in %s are damaged, which its last stop "+
			"left whole: %s: check the disk and put back the files, or restore the whole data directory from one "+
			"backup; `octavo serve --accept-loss %s` goes on with the damaged files", c.DataDir, folder, text, Postgres)
	}
	return "", nil
}

// forgetInventory durably removes the inventory before Postgres changes its files.
func forgetInventory(dir string) error {
	err := os.Remove(filepath.Join(dir, inventoryFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncFolder(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot remove the inventory of Postgres's files: %w", err)
	}
	return nil
}

// saveInventory writes the inventory after a clean stop of Postgres. After any other exit, there is no inventory.
func saveInventory(dir string) error {
	folder := filepath.Join(dir, Postgres, "data")
	if !pgserver.StoppedCleanly(folder) {
		return nil
	}
	list, err := takeInventory(folder, nil)
	if err == nil {
		err = replaceJSON(filepath.Join(dir, inventoryFile), list)
	}
	if err != nil {
		return fmt.Errorf("cannot list Postgres's files: %w", err)
	}
	return nil
}
