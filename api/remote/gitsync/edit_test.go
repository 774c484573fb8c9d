package gitsync

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-git/go-git/v5/plumbing"
)

// heap stores objects in memory.
type heap map[plumbing.Hash]plumbing.EncodedObject

func (h heap) find(hash plumbing.Hash) (objectInfo, bool) {
	o, ok := h[hash]
	if !ok {
		return objectInfo{}, false
	}
	return objectInfo{o.Type(), o.Size()}, true
}

func (h heap) read(hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if o, ok := h[hash]; ok {
		return o, nil
	}
	return nil, &Error{Step: StepRead, Reason: Damaged}
}

// apply makes the tree that results from changes, and stores the new objects. It returns the hash of the tree.
func (h heap) apply(tree plumbing.Hash, changes []Change) (plumbing.Hash, error) {
	grouped, err := group(changes, testLimits)
	if err != nil {
		return tree, err
	}
	e := &editor{from: h}
	after, err := e.edit(tree, grouped, "")
	if err != nil {
		return tree, err
	}
	for _, made := range e.made {
		h[made.Hash()] = made
	}
	return after, nil
}

// TestEdits compares trees with maps of paths. After any series of changes, the tree and the map have the same files. A
// tree depends only on its files, and not on the order of the changes.
func TestEdits(t *testing.T) {
	t.Parallel()
	path := rapid.StringMatching(`[ab.](/[ab.]{1,2}){0,2}`).Filter(func(path string) bool { _, ok := splitPath(path, testLimits); return ok })
	rapid.Check(t, func(t *rapid.T) {
		objects, model, tree := heap{}, map[string]string{}, plumbing.ZeroHash
		fits := func(path string) bool { // reports whether a file can be at this path
			for other := range model {
				if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") ||
					other != path && FoldName(other) == FoldName(path) {
					return false
				}
			}
			return true
		}
		for range rapid.IntRange(1, 6).Draw(t, "pushes") {
			var changes []Change
			for _, p := range rapid.SliceOfNDistinct(path, 0, 6, rapid.ID).Draw(t, "paths") {
				if _, there := model[p]; there && rapid.Bool().Draw(t, "delete") {
					changes = append(changes, Change{Path: p, Delete: true})
					delete(model, p)
				} else if fits(p) {
					content := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "content")
					changes = append(changes, Change{Path: p, Content: []byte(content)})
					model[p] = content
				}
			}
			after, err := objects.apply(tree, changes)
			if err != nil {
				t.Fatalf("%+v: %v", changes, err)
			}
			tree = after
			got := map[string]string{}
			if !tree.IsZero() {
				w := &walker{objects: objects, limits: testLimits}
				if err := w.walk(context.Background(), tree, "", 1); err != nil || len(w.left) > 0 {
					t.Fatalf("%v, left %+v", err, w.left)
				}
				for _, file := range w.files {
					content, err := readBlob(objects, plumbingHash(file.Blob))
					if err != nil {
						t.Fatal(err)
					}
					got[file.Path] = string(content)
				}
			}
			if diff := cmp.Diff(model, got); diff != "" {
				t.Fatal(diff)
			}
			var anew []Change
			for _, p := range slices.Sorted(maps.Keys(model)) {
				anew = append(anew, Change{Path: p, Content: []byte(model[p])})
			}
			if direct, err := (heap{}).apply(plumbing.ZeroHash, anew); err != nil || direct != tree {
				t.Fatalf("tree %s, made at once %s, %v", tree, direct, err)
			}
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	for path, ok := range map[string]bool{
		"a": true, "a/b/c.md": true, ".gitbook.yaml": true, ".gitignore": true, ".github/x": true, "git": true, "a b": true, "日本/ü.md": true, "..a": true, "a..": true, "...": true, "git~10": true,
		"": false, "/a": false, "a/": false, "a//b": false, ".": false, "a/./b": false, "a/../b": false, "..": false, `a\b`: false, "a\x00b": false, "a\tb": false, "\x7f": false,
		".git": false, "a/.git/config": false, ".GIT": false, ".git ": false, ".git...": false, ".git:a": false, "git~1": false, "Git~1 ": false, ".g\u200dit": false, "\u202e.git": false, "\xc3\x28": false,
		strings.Repeat("a", 200): true, strings.Repeat("a", 201): false, strings.Repeat("a/", 15) + "a": true, strings.Repeat("a/", 16) + "a": false,
	} {
		if _, got := splitPath(path, testLimits); got != ok {
			t.Errorf("%q: usable is %t", path, got)
		}
	}
	for a, b := range map[string]string{"A": "a", "ÉCOLE": "école", "K": "\u212a", "ſ": "S", "Σ": "ς"} {
		if FoldName(a) != FoldName(b) {
			t.Errorf("%q and %q are different", a, b)
		}
	}
	for content, pointer := range map[string]bool{
		lfsPointer: true, "": false, "version https://git-lfs.github.com/spec/v1\n": false, "# about\n" + lfsPointer: false, lfsPointer + strings.Repeat("x", 1024): false,
	} {
		if isLFSPointer([]byte(content)) != pointer {
			t.Errorf("%q: pointer is %t", content, !pointer)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Reasons {
		if seen[r.Label] || r.Text == "" || strings.HasSuffix(r.Text, ".") {
			t.Errorf("row %+v", *r)
		}
		seen[r.Label] = true
	}
}
