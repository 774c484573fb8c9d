package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// FS is a file system. Changes survive a power loss only after a sync. [File.Sync] syncs a file's content. SyncDir
// syncs the creation, renaming or removal of names in a directory.
type FS interface {
	// Create creates a file, which must not exist.
	Create(name string) (File, error)
	// Open opens a file for reading and writing.
	Open(name string) (File, error)
	// List returns the entries of a directory.
	List(dir string) ([]Entry, error)
	// Mkdir creates one directory. It returns no error if the directory exists.
	Mkdir(dir string) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	SyncDir(dir string) error
	// Free returns the bytes that this user may still write on dir's file system, and the file system's size.
	Free(dir string) (free, size int64, err error)
}

// Entry is one name in a directory.
type Entry struct {
	Name string
	Dir  bool
	Size int64 // size of a file
}

// File is an open file.
type File interface {
	ReadAt(p []byte, at int64) (int, error)
	WriteAt(p []byte, at int64) (int, error)
	Truncate(size int64) error
	// Sync returns when the content and the size are on disk. After an error, the state of everything that was not
	// synced before is unknown.
	Sync() error
	Size() (int64, error)
	Close() error
}

// MakeDir durably creates a directory and its parents below `root`, which exists.
func MakeDir(f FS, root, dir string) error {
	relative, err := filepath.Rel(root, dir)
	if err != nil || relative == "." {
		return err
	}
	parent := filepath.Dir(dir)
	if err := MakeDir(f, root, parent); err != nil {
		return err
	}
	if err := f.Mkdir(dir); err != nil {
		return err
	}
	return f.SyncDir(parent)
}

// ReadFile reads a whole file. It fails if the file has more than `most` bytes.
func ReadFile(f FS, name string, most int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, fmt.Errorf("cannot read %s: it has %d bytes, more than %d", name, size, most)
	}
	data := make([]byte, size)
	if n, err := file.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return data, nil
}

// Exists reports whether a file or directory exists.
func Exists(f FS, name string) (bool, error) {
	entries, err := f.List(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if e.Name == filepath.Base(name) {
			return true, nil
		}
	}
	return false, err
}

// LeastFree returns the number of bytes that an engine leaves free on a file system with this size: 512 MiB, or a
// twentieth of the size if that is less.
func LeastFree(size int64) int64 { return min(512<<20, size/20) }
