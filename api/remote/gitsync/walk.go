package gitsync

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// File is a file of a commit.
type File struct {
	Path       string
	Executable bool
	Blob       string // hash of the content
	Size       int64
}

// Left is an entry of a commit that was not read.
type Left struct {
	Path string // path as it is in the repository, so it may be unsafe to show or use
	Why  Leaving
}

// Leaving is the reason why an entry was not read.
type Leaving string

// These are the reasons why entries are left out.
const (
	LeftSymlink   Leaving = "symbolic link"
	LeftSubmodule Leaving = "submodule"
	LeftLFS       Leaving = "file in Git LFS"
	LeftLarge     Leaving = "too large"
	LeftName      Leaving = "unsafe name"
	LeftPath      Leaving = "path too long or too deep"
	LeftDuplicate Leaving = "second entry of the same name"
	LeftCase      Leaving = "same name as another but for upper and lower case"
	LeftMode      Leaving = "neither file nor folder"
)

// objects finds and reads objects in packs.
type objects interface {
	// find returns the type and the size of an object. The second result is false if there is no such object.
	find(hash plumbing.Hash) (objectInfo, bool)
	read(hash plumbing.Hash) (plumbing.EncodedObject, error)
}

type objectInfo struct {
	kind plumbing.ObjectType
	size int64
}

// walker lists the files below a tree.
type walker struct {
	objects objects
	limits  Limits
	partial bool // whether the fetch told the server to leave out files above the limit
	entries int
	files   []File
	left    []Left
}

func readTree(from objects, hash plumbing.Hash) ([]object.TreeEntry, error) {
	encoded, err := from.read(hash)
	if err != nil {
		return nil, err
	}
	var tree object.Tree
	if err := tree.Decode(encoded); err != nil {
		return nil, &Error{Step: StepRead, Reason: Damaged, cause: fmt.Errorf("tree %s: %w", hash, err)}
	}
	return tree.Entries, nil
}

// walk visits each entry of a tree. If a tree is repeated, `walk` visits it each time, so the limit on entries applies
// to visits.
func (w *walker) walk(ctx context.Context, tree plumbing.Hash, folder string, depth int) error {
	if err := ctx.Err(); err != nil {
		return explain(StepRead, err)
	}
	entries, err := readTree(w.objects, tree)
	if err != nil {
		return err
	}
	if w.entries += len(entries); w.entries > w.limits.Entries {
		return &Error{Step: StepRead, Reason: TooLarge, Detail: fmt.Sprintf("more than %d entries", w.limits.Entries)}
	}
	names := map[string]string{} // the keys are folded names
	for _, entry := range entries {
		path := folder + entry.Name
		why, err := w.entry(ctx, entry, path, depth, names)
		if err != nil {
			return err
		}
		if why != "" {
			w.left = append(w.left, Left{path, why})
		}
	}
	return nil
}

// entry reads one entry. If the entry is left out, it returns the reason.
func (w *walker) entry(ctx context.Context, entry object.TreeEntry, path string, depth int, names map[string]string) (Leaving, error) {
	if !safeName(entry.Name) {
		return LeftName, nil
	}
	if len(path) > w.limits.PathBytes || depth > w.limits.Depth {
		return LeftPath, nil
	}
	folded := FoldName(entry.Name)
	if first, taken := names[folded]; taken {
		if first == entry.Name {
			return LeftDuplicate, nil
		}
		return LeftCase, nil
	}
	names[folded] = entry.Name
	switch entry.Mode {
	case filemode.Dir:
		return "", w.walk(ctx, entry.Hash, path+"/", depth+1)
	case filemode.Symlink:
		return LeftSymlink, nil
	case filemode.Submodule:
		return LeftSubmodule, nil
	case filemode.Regular, filemode.Executable, filemode.Deprecated:
		return w.file(entry, path)
	default:
		return LeftMode, nil
	}
}

func (w *walker) file(entry object.TreeEntry, path string) (Leaving, error) {
	info, ok := w.objects.find(entry.Hash)
	if !ok && w.partial {
		return LeftLarge, nil
	}
	if !ok || info.kind != plumbing.BlobObject {
		return "", &Error{Step: StepRead, Reason: Damaged, cause: fmt.Errorf("%s is no file of the pack", entry.Hash)}
	}
	if info.size > w.limits.FileBytes {
		return LeftLarge, nil
	}
	if info.size <= maxLFSPointer {
		content, err := readBlob(w.objects, entry.Hash)
		if err != nil {
			return "", err
		}
		if isLFSPointer(content) {
			return LeftLFS, nil
		}
	}
	w.files = append(w.files, File{Path: path, Executable: entry.Mode == filemode.Executable, Blob: entry.Hash.String(), Size: info.size})
	return "", nil
}
