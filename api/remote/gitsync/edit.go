package gitsync

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Change is the new state of a file.
type Change struct {
	Path    string
	Delete  bool
	Content []byte // Content must not change before the push has ended
}

// folder is a folder with the changes below it.
type folder struct {
	files   map[string]Change
	folders map[string]*folder
}

func badChange(path, detail string) error {
	return &Error{Step: StepWrite, Reason: BadChange, Detail: said(path) + " " + detail}
}

// group sorts changes by their folders.
func group(changes []Change, limits Limits) (*folder, error) {
	root := &folder{files: map[string]Change{}, folders: map[string]*folder{}}
	var size int64
	for _, change := range changes {
		names, ok := splitPath(change.Path, limits)
		if !ok {
			return nil, badChange(change.Path, "is no path of a file")
		}
		if size += int64(len(change.Content)); size > limits.PushBytes {
			return nil, &Error{Step: StepWrite, Reason: TooLarge, Detail: fmt.Sprintf("changes of more than %d bytes", limits.PushBytes)}
		}
		at := root
		for _, name := range names[:len(names)-1] {
			if at.folders[name] == nil {
				at.folders[name] = &folder{files: map[string]Change{}, folders: map[string]*folder{}}
			}
			at = at.folders[name]
		}
		name := names[len(names)-1]
		if _, twice := at.files[name]; twice {
			return nil, badChange(change.Path, "is changed twice")
		}
		at.files[name] = change
	}
	return root, nil
}

// editor makes the new objects of a commit. If a tree or a file has no changes, the editor uses its existing hash and
// does not read it.
type editor struct {
	from objects // from is nil if the commit has no parent
	made []plumbing.EncodedObject
}

// edit returns the hash of a tree after the changes. It returns the zero hash if the tree is then empty.
func (e *editor) edit(tree plumbing.Hash, changes *folder, path string) (plumbing.Hash, error) {
	var entries []object.TreeEntry
	if !tree.IsZero() {
		var err error
		if entries, err = readTree(e.from, tree); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	l := newListing(entries)
	// Deletions come first, because a deleted file may make room for a folder.
	for _, name := range slices.Sorted(maps.Keys(changes.files)) {
		if changes.files[name].Delete {
			if old, ok := l.find(name); !ok || !isFile(old.Mode) {
				return plumbing.ZeroHash, badChange(path+name, "is no file that could be deleted")
			}
			l.put(object.TreeEntry{Name: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes.folders)) {
		old, ok := l.find(name)
		if ok && old.Mode != filemode.Dir {
			return plumbing.ZeroHash, badChange(path+name, "is no folder")
		}
		hash, err := e.edit(old.Hash, changes.folders[name], path+name+"/")
		if err != nil {
			return plumbing.ZeroHash, err
		}
		l.put(object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	for _, name := range slices.Sorted(maps.Keys(changes.files)) {
		change, mode := changes.files[name], filemode.Regular
		if change.Delete {
			continue
		}
		if old, ok := l.find(name); ok {
			if mode = old.Mode; !isFile(mode) {
				return plumbing.ZeroHash, badChange(path+name, "is no file")
			}
		}
		hash, err := e.add(plumbing.BlobObject, change.Content)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		l.put(object.TreeEntry{Name: name, Mode: mode, Hash: hash})
	}
	if entries = l.rest(); len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	return e.add(plumbing.TreeObject, encodeTree(entries))
}

// listing finds the entries of a tree by name. If two entries have the same name, it finds the first one.
type listing struct {
	entries []object.TreeEntry
	at      map[string]int
}

func newListing(entries []object.TreeEntry) *listing {
	l := &listing{entries, make(map[string]int, len(entries))}
	for i, entry := range slices.Backward(entries) {
		l.at[entry.Name] = i
	}
	return l
}

func (l *listing) find(name string) (object.TreeEntry, bool) {
	i, ok := l.at[name]
	if !ok {
		return object.TreeEntry{}, false
	}
	return l.entries[i], !l.entries[i].Hash.IsZero()
}

// put adds or replaces an entry. If the entry has no hash, `put` removes the existing entry.
func (l *listing) put(entry object.TreeEntry) {
	i, ok := l.at[entry.Name]
	if !ok {
		i = len(l.entries)
		l.at[entry.Name] = i
		l.entries = append(l.entries, entry)
	}
	l.entries[i] = entry
}

func (l *listing) rest() []object.TreeEntry {
	return slices.DeleteFunc(l.entries, func(e object.TreeEntry) bool { return e.Hash.IsZero() })
}

func isFile(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable || mode == filemode.Deprecated
}

// encodeTree encodes a tree as Git does. Package object would refuse some names that a repository may have. A push must
// not change entries with such names.
func encodeTree(entries []object.TreeEntry) []byte {
	sortName := func(e object.TreeEntry) string {
		if e.Mode == filemode.Dir {
			return e.Name + "/"
		}
		return e.Name
	}
	slices.SortStableFunc(entries, func(a, b object.TreeEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	var out bytes.Buffer
	for _, entry := range entries {
		fmt.Fprintf(&out, "%o %s\x00", uint32(entry.Mode), entry.Name)
		out.Write(entry.Hash[:])
	}
	return out.Bytes()
}

// add makes an object and returns its hash.
func (e *editor) add(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	made := new(plumbing.MemoryObject)
	made.SetType(kind)
	if _, err := made.Write(content); err != nil {
		return plumbing.ZeroHash, explain(StepWrite, err)
	}
	e.made = append(e.made, made)
	return made.Hash(), nil
}
