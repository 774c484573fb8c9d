package crashdisk

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"sort"
	"strings"
	"sync"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// Op is an operation that a test can make fail.
type Op string

// These are the operations.
const (
	OpCreate   Op = "create"
	OpOpen     Op = "open"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
	OpSyncDir  Op = "syncdir"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
)

// Disk is a file system. Its root is "/".
type Disk struct {
	mu    sync.Mutex
	names map[string]*inode // the current files by name
	kept  map[string]*inode // names that survive a crash for certain
	dirs  map[string]bool   // current directories; the directories in kdirs survive a crash
	kdirs map[string]bool
	// fail, if set, can make an operation fail. It is called without locks.
	fail func(op Op, name string) error
}

// inode is a file's content.
type inode struct {
	data   []byte
	synced []byte
	// lost marks the bytes that a failed sync did not write. As on Linux, the next sync treats these bytes as written,
	// unless they have been written again.
	lost []bool
	// `bad` is the error of reads between the positions `badFrom` and `badTo`.
	bad            error
	badFrom, badTo int64
}

// New makes an empty disk.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, kept: map[string]*inode{}, dirs: map[string]bool{"/": true}, kdirs: map[string]bool{"/": true}}
}

// SetFail sets the function that decides which operations fail.
func (d *Disk) SetFail(f func(op Op, name string) error) {
	d.mu.Lock()
	d.fail = f
	d.mu.Unlock()
}

func (d *Disk) failing(op Op, name string) error {
	d.mu.Lock()
	f := d.fail
	d.mu.Unlock()
	if f == nil {
		return nil
	}
	return f(op, name)
}

// Crash returns a disk in a state that a power loss could leave at this moment. Crash makes all random choices with
// `choose`: choose(n) returns a number from 0 to n.
func (d *Disk) Crash(choose func(n int) int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := New()
	for dir := range d.dirs {
		if d.kdirs[dir] || choose(1) == 1 && after.dirs[path.Dir(dir)] {
			after.dirs[dir], after.kdirs[dir] = true, true
		}
	}
	all := map[string]bool{}
	for name := range d.names {
		all[name] = true
	}
	for name := range d.kept {
		all[name] = true
	}
	sorted := make([]string, 0, len(all))
	for name := range all {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	for _, name := range sorted {
		f := d.kept[name]
		if now := d.names[name]; now != f && choose(1) == 1 {
			f = now
		}
		if f == nil || !after.kdirs[path.Dir(name)] {
			continue
		}
		content := f.crash(choose)
		after.names[name] = &inode{data: content, synced: append([]byte{}, content...)}
		after.kept[name] = after.names[name]
	}
	return after
}

// crash returns a possible content of the file after a power loss: the synced part, and any prefix of the later writes.
// Some pages of this prefix may be missing.
func (f *inode) crash(choose func(n int) int) []byte {
	content := append([]byte{}, f.synced...)
	if len(f.data) <= len(f.synced) {
		if choose(1) == 1 { // an unsynced truncation may survive
			content = content[:len(f.data)]
		}
		return content
	}
	upTo := len(f.synced) + choose(len(f.data)-len(f.synced))
	content = append(content, f.data[len(f.synced):upTo]...)
	for i := len(f.synced); i < min(upTo, len(f.lost)); i++ {
		if f.lost[i] {
			content[i] = 0
		}
	}
	if upTo > len(f.synced) && choose(2) == 2 { // the size was written, but not all of the content
		from := len(f.synced) + choose(upTo-len(f.synced)-1)
		clear(content[from:min(upTo, from+4096)])
	}
	return content
}

type file struct {
	disk *Disk
	name string
	of   *inode
}

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// Create implements disk.FS.
func (d *Disk) Create(name string) (disk.File, error) {
	if err := d.failing(OpCreate, name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	if !d.dirs[path.Dir(name)] {
		return nil, missing("create", name)
	}
	d.names[name] = &inode{}
	return &file{d, name, d.names[name]}, nil
}

// Open implements disk.FS.
func (d *Disk) Open(name string) (disk.File, error) {
	if err := d.failing(OpOpen, name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] == nil {
		return nil, missing("open", name)
	}
	return &file{d, name, d.names[name]}, nil
}

// List implements disk.FS.
func (d *Disk) List(dir string) ([]disk.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dirs[path.Clean(dir)] {
		return nil, missing("list", dir)
	}
	var list []disk.Entry
	for name, f := range d.names {
		if path.Dir(name) == path.Clean(dir) {
			list = append(list, disk.Entry{Name: path.Base(name), Size: int64(len(f.data))})
		}
	}
	for name := range d.dirs {
		if name != "/" && path.Dir(name) == path.Clean(dir) {
			list = append(list, disk.Entry{Name: path.Base(name), Dir: true})
		}
	}
	sort.Slice(list, func(i, k int) bool { return list[i].Name < list[k].Name })
	return list, nil
}

// Mkdir implements disk.FS.
func (d *Disk) Mkdir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dirs[path.Dir(dir)] {
		return missing("mkdir", dir)
	}
	d.dirs[dir] = true
	return nil
}

// Rename implements disk.FS.
func (d *Disk) Rename(from, to string) error {
	if err := d.failing(OpRename, to); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs[from] {
		return d.renameDir(from, to)
	}
	if d.names[from] == nil {
		return missing("rename", from)
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

// renameDir renames a directory durably. Its content must have been synced before.
func (d *Disk) renameDir(from, to string) error {
	for _, names := range []map[string]*inode{d.names, d.kept} {
		for name, f := range maps.Clone(names) {
			if strings.HasPrefix(name, from+"/") {
				delete(names, name)
				names[to+name[len(from):]] = f
			}
		}
	}
	for _, dirs := range []map[string]bool{d.dirs, d.kdirs} {
		for name := range maps.Clone(dirs) {
			if name == from || strings.HasPrefix(name, from+"/") {
				delete(dirs, name)
				dirs[to+name[len(from):]] = true
			}
		}
	}
	return nil
}

// Remove implements disk.FS.
func (d *Disk) Remove(name string) error {
	if err := d.failing(OpRemove, name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] == nil {
		return missing("remove", name)
	}
	delete(d.names, name)
	return nil
}

// RemoveAll implements disk.FS.
func (d *Disk) RemoveAll(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n := range maps.Clone(d.names) {
		if n == name || strings.HasPrefix(n, name+"/") {
			delete(d.names, n)
		}
	}
	for n := range maps.Clone(d.dirs) {
		if n == name || strings.HasPrefix(n, name+"/") {
			delete(d.dirs, n)
			delete(d.kdirs, n)
		}
	}
	return nil
}

// SyncDir implements disk.FS.
func (d *Disk) SyncDir(dir string) error {
	if err := d.failing(OpSyncDir, dir); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range maps.Clone(d.kept) {
		if path.Dir(name) == dir && d.names[name] == nil {
			delete(d.kept, name)
		}
	}
	for name, f := range d.names {
		if path.Dir(name) == dir {
			d.kept[name] = f
		}
	}
	for name := range d.dirs {
		if path.Dir(name) == dir {
			d.kdirs[name] = true
		}
	}
	return nil
}

// Free implements disk.FS.
func (d *Disk) Free(string) (free, size int64, err error) { return 1 << 40, 1 << 40, nil }

// Damage changes a byte of a file, including the synced content.
func (d *Disk) Damage(name string, at int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	if f == nil || at >= int64(len(f.data)) {
		return fmt.Errorf("cannot damage byte %d of %s", at, name)
	}
	f.data[at] ^= 0x55
	if at < int64(len(f.synced)) {
		f.synced[at] ^= 0x55
	}
	return nil
}

// Change replaces the content of a file, like damage to the disk. The change is immediately on disk.
func (d *Disk) Change(name string, change func(content []byte) []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	if f == nil {
		return missing("change", name)
	}
	f.data = change(append([]byte{}, f.data...))
	f.synced, f.lost = append([]byte{}, f.data...), nil
	return nil
}

// Lose renames or removes a file, like damage to the disk. The change is immediately on disk. If the new name is empty,
// it removes the file.
func (d *Disk) Lose(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[from]
	if f == nil {
		return missing("lose", from)
	}
	for _, names := range []map[string]*inode{d.names, d.kept} {
		delete(names, from)
		if to != "" {
			names[to] = f
		}
	}
	return nil
}

// SetUnreadable makes reads of a part of a file fail, like a bad sector. An empty part makes the file readable again.
func (d *Disk) SetUnreadable(name string, from, to int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.names[name]; f != nil {
		f.bad, f.badFrom, f.badTo = err, from, to
	}
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if at >= int64(len(f.of.data)) {
		return 0, io.EOF
	}
	if at < f.of.badTo && at+int64(len(p)) > f.of.badFrom {
		return 0, f.of.bad
	}
	n := copy(p, f.of.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	err := f.disk.failing(OpWrite, f.name)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err != nil {
		p = p[:len(p)/2] // like a disk that becomes full
	}
	if need := int(at) + len(p); need > len(f.of.data) {
		f.of.data = append(f.of.data, make([]byte, need-len(f.of.data))...)
	}
	clear(f.of.lost[min(int(at), len(f.of.lost)):min(int(at)+len(p), len(f.of.lost))])
	return copy(f.of.data[at:], p), err
}

func (f *file) Truncate(size int64) error {
	if err := f.disk.failing(OpTruncate, f.name); err != nil {
		return err
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if size < int64(len(f.of.data)) {
		f.of.data = f.of.data[:size:size]
		f.of.lost = f.of.lost[:min(int(size), len(f.of.lost))]
		f.of.badTo = min(f.of.badTo, size)
	}
	return nil
}

// Sync implements disk.File. Later syncs succeed without writing the bytes that a failed sync did not write.
func (f *file) Sync() error {
	err := f.disk.failing(OpSync, f.name)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err != nil {
		lost := make([]bool, len(f.of.data))
		copy(lost, f.of.lost)
		for i := len(f.of.synced); i < len(lost); i++ {
			lost[i] = true
		}
		f.of.lost = lost
		return err
	}
	content := append([]byte{}, f.of.data...)
	for i, lost := range f.of.lost {
		if lost && i >= len(f.of.synced) {
			content[i] = 0
		}
	}
	f.of.synced = content
	return nil
}

func (f *file) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.of.data)), nil
}

func (f *file) Close() error { return nil }
