package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// target has the absolute paths of the file that a case damages and of related files.
type target struct {
	path  string
	other string // the way swapped exchanges this file with path; "" if there is no such file
	older string // an earlier version of the file; "" if there is no such version
	at    int64  // the offset at which the damage begins
}

// block is the number of bytes that are zero after the way `zeros`, as if a disk had lost a sector or page.
const block = 8 << 10

// ways has a function for each way of damage, by name. Each function returns the number of bytes that it changed or
// removed.
var ways = map[string]func(t target) (int64, error){
	"flip":    flip,
	"zeros":   zeros,
	"cut":     cut,
	"gone":    gone,
	"twice":   twice,
	"older":   older,
	"swapped": swapped,
	"whole":   func(target) (int64, error) { return 0, nil },
}

func flip(t target) (int64, error) {
	return 1, change(t.path, func(text []byte) { text[t.at] ^= 1 << 4 })
}

func zeros(t target) (n int64, err error) {
	return block, change(t.path, func(text []byte) { clear(text[t.at:min(t.at+block, int64(len(text)))]) })
}

// change changes bytes of a file in place, like a faulty disk.
func change(path string, how func(text []byte)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before := bytes.Clone(text)
	if how(text); bytes.Equal(before, text) {
		return fmt.Errorf("the damage of %s changes nothing", path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(text, 0)
	return errors.Join(err, file.Close())
}

func cut(t target) (int64, error) {
	size, err := sizeOf(t.path)
	return size - t.at, errors.Join(err, os.Truncate(t.path, t.at))
}

func gone(t target) (int64, error) {
	size, err := sizeOf(t.path)
	return size, errors.Join(err, os.RemoveAll(t.path))
}

var partName = regexp.MustCompile(`^[0-9]+_[0-9]+_[0-9]+_[0-9]+$`)

// copyOf returns the path to which the way `twice` copies a folder. The copy of a ClickHouse part gets the name of
// another part, so that ClickHouse loads it.
func copyOf(path string) string {
	name := filepath.Base(path)
	if partName.MatchString(name) {
		month, _, _ := strings.Cut(name, "_")
		return filepath.Join(filepath.Dir(path), month+"_900000_900000_0")
	}
	return path + ".copy"
}

// twice appends a file's content to the file again, or copies a folder.
func twice(t target) (int64, error) {
	info, err := os.Stat(t.path)
	if err != nil {
		return 0, err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(t.path)
		return 0, errors.Join(err, os.WriteFile(t.path, append(text, text...), info.Mode()))
	}
	return 0, copyTree(t.path, copyOf(t.path))
}

func older(t target) (int64, error) {
	if t.older == "" {
		return 0, errors.New("there was no earlier file")
	}
	size, err := sizeOf(t.path)
	return size, errors.Join(err, os.RemoveAll(t.path), copyTree(t.older, t.path))
}

func swapped(t target) (int64, error) {
	if t.other == "" {
		return 0, errors.New("there is no other file")
	}
	size, err := sizeOf(t.path)
	aside := t.path + ".aside"
	return size, errors.Join(err, os.Rename(t.path, aside), os.Rename(t.other, t.path), os.Rename(aside, t.other))
}

// sizeOf returns the size of a file, or of all files in a folder.
func sizeOf(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// undo restores the files of a target from an undamaged data directory, and removes the copy that `twice` made.
func undo(t target, dir, from string) error {
	if err := os.RemoveAll(copyOf(t.path)); err != nil {
		return err
	}
	for _, path := range []string{t.path, t.other} {
		if path == "" {
			continue
		}
		below, err := filepath.Rel(dir, path)
		if err == nil {
			err = errors.Join(os.RemoveAll(path), copyTree(filepath.Join(from, below), path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file or a folder. It preserves file modes, and the holes of sparse files.
func copyTree(from, to string) error {
	cmd := exec.CommandContext(context.Background(), "cp", "-a", "--reflink=auto", from, to) // a short command
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot copy %s: %w: %s", from, err, output)
	}
	return nil
}

// find returns the files in a data directory that match a kind's pattern. The largest file is first.
func (w *world) find(dir string, k kind) (list []string, err error) {
	pattern := k.files
	if name, ok := strings.CutPrefix(pattern, relation); ok {
		if pattern = w.relations[name]; pattern == "" {
			return nil, fmt.Errorf("%s: no relation %s", k.name, name)
		}
	}
	if list, err = filepath.Glob(filepath.Join(dir, pattern)); err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, path := range list {
		if sizes[path], err = sizeOf(path); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return int(sizes[b] - sizes[a]) })
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no file matches %s", k.name, k.files)
	}
	return list, nil
}

// target returns the target of a case in a data directory.
func (w *world) target(dir string, c damageCase) (t target, err error) {
	list, err := w.find(dir, c.kind)
	if err != nil {
		return t, err
	}
	t.path = list[0]
	if len(list) > 1 {
		t.other = list[1]
	}
	if strings.HasPrefix(c.files, relation) {
		t.other = filepath.Join(dir, w.relations["branch_pages"])
	}
	below, err := filepath.Rel(dir, t.path)
	if err != nil {
		return t, err
	}
	t.older = filepath.Join(w.older, below)
	if _, err := os.Stat(t.older); err != nil {
		if list, err = w.find(w.older, c.kind); err != nil {
			return t, err
		}
		t.older = list[0]
	}
	size, err := sizeOf(t.path)
	// The end of a log has the messages that are not stored yet. The first page of a table has its oldest rows.
	switch t.at = size / 2; {
	case c.when == waiting:
		t.at = size * 9 / 10
	case c.way == "zeros" && (strings.HasPrefix(c.files, relation) || strings.HasPrefix(c.files, "postgres")):
		t.at = 0
	}
	return t, err
}
