package gitsync

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// The cache has a pack for each key. The pack has only the last commit that was fetched with the key, with all trees
// and files of the commit. When a client fetches with the key again, it offers this commit to the server, which then
// sends only newer objects. Packs are not trusted. The server names the commit of a branch, and every object is found
// by the hash of its bytes. If an object is missing or damaged, all objects are fetched. Each node stores its packs as
// files, and not in Postgres. Postgres would write, replicate and back up data that the Git server can send again.

// CacheKey names cached objects and their owner. Only fetches by the same owner from the same address use these
// objects. Otherwise a server could name a commit of another repository, and so read the contents of that repository.
// If ID is empty, nothing is cached.
type CacheKey struct{ Owner, ID string }

const (
	// cacheKept is the time for which a pack is stored after it was last used.
	cacheKept = 7 * 24 * time.Hour
	// cacheBegun is the age at which an unfinished pack is deleted. Writing a pack takes less time.
	cacheBegun   = 2 * time.Hour
	cacheSuffix  = ".pack"
	cachePattern = "new-*"
)

// cachePath returns the path of the cache file for a key, or "" if nothing is cached. `partial` is true if the server
// leaves out large files.
func (c *Client) cachePath(address string, key CacheKey, partial bool) string {
	if c.cacheDir == "" || key.ID == "" || c.cacheBytes <= 0 {
		return ""
	}
	of := fmt.Sprintf("%q %q %q", key.Owner, address, key.ID)
	if partial {
		of += fmt.Sprint(" ", c.limits.FileBytes)
	}
	return filepath.Join(c.cacheDir, fmt.Sprintf("%x", sha256.Sum256([]byte(of)))+cacheSuffix)
}

// cached opens the cached pack and returns the commit in it. The pack is nil if there is no usable pack.
func (c *Client) cached(ctx context.Context, path string) (*pack, plumbing.Hash) {
	if path == "" {
		return nil, plumbing.ZeroHash
	}
	file, err := openPack(path, os.O_RDONLY)
	if err != nil {
		return nil, plumbing.ZeroHash
	}
	p := &pack{file: file, infos: map[plumbing.Hash]objectInfo{}}
	var tips []plumbing.Hash
	if err = p.verify(); err == nil {
		if err = p.measure(ctx, c.limits); err == nil {
			err = p.index(ctx)
		}
	}
	for hash, info := range p.infos {
		if info.kind == plumbing.CommitObject {
			tips = append(tips, hash)
		}
	}
	if err != nil || len(tips) != 1 {
		_ = p.close() // the new fetch replaces the pack
		return nil, plumbing.ZeroHash
	}
	return p, tips[0]
}

// keep stores a commit in the cache. If the cache already has the commit for this key, `keep` only records that the
// pack was used.
func (c *Client) keep(ctx context.Context, path string, from layers, tip, kept plumbing.Hash, partial bool) {
	if path == "" {
		return
	}
	now := time.Now()
	var err error
	if tip == kept {
		err = os.Chtimes(path, now, now)
	} else {
		err = c.write(ctx, path, from, tip, partial)
	}
	if err == nil {
		err = SweepCache(c.cacheDir, c.cacheBytes, now)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil && c.warn != nil {
		c.warn(err)
	}
}

// write replaces a file of the cache by a new file.
func (c *Client) write(ctx context.Context, path string, from layers, tip plumbing.Hash, partial bool) error {
	hashes, err := reachable(ctx, from, tip, partial)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.cacheDir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(c.cacheDir, cachePattern)
	if err != nil {
		return err
	}
	fits, err := writePack(ctx, file, from, hashes, c.cacheBytes)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil && fits {
		return os.Rename(file.Name(), path)
	}
	return afterClose(err, os.Remove(file.Name()))
}

// reachable returns a commit and all objects of its tree. It includes objects with unsafe names, so that the server can
// treat all objects of the commit as known.
func reachable(ctx context.Context, from objects, tip plumbing.Hash, partial bool) ([]plumbing.Hash, error) {
	root, err := treeOf(from, tip)
	if err != nil {
		return nil, err
	}
	hashes, seen := []plumbing.Hash{tip, root}, map[plumbing.Hash]bool{root: true}
	for trees := []plumbing.Hash{root}; len(trees) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := readTree(from, trees[len(trees)-1])
		if err != nil {
			return nil, err
		}
		trees = trees[:len(trees)-1]
		for _, entry := range entries {
			if seen[entry.Hash] || entry.Mode == filemode.Submodule {
				continue
			}
			seen[entry.Hash] = true
			if _, there := from.find(entry.Hash); !there {
				if partial && entry.Mode != filemode.Dir {
					continue // the server left out this object, because it is too large
				}
				return nil, fmt.Errorf("object %s is missing", entry.Hash)
			}
			hashes = append(hashes, entry.Hash)
			if entry.Mode == filemode.Dir {
				trees = append(trees, entry.Hash)
			}
		}
	}
	return hashes, nil
}

// treeOf reads the hash of a commit's tree.
func treeOf(from objects, tip plumbing.Hash) (plumbing.Hash, error) {
	encoded, err := from.read(tip)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var commit object.Commit
	if err := commit.Decode(encoded); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("commit %s: %w", tip, err)
	}
	return commit.TreeHash, nil
}

// SweepCache deletes packs that were not used for a week. If the remaining packs have more bytes in total than the
// limit `bytes`, it deletes the least recently used packs. Several processes may use the same folder.
func SweepCache(dir string, bytes int64, now time.Time) (failed error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		files = append(files, info)
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, file := range files {
		age, kept := now.Sub(file.ModTime()), cacheKept
		if !strings.HasSuffix(file.Name(), cacheSuffix) {
			kept = cacheBegun
		} else if bytes -= file.Size(); bytes < 0 {
			kept = 0
		}
		if kept > 0 && age < kept {
			continue
		}
		if err := os.Remove(filepath.Join(dir, file.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err) // the other files are deleted all the same
		}
	}
	return failed
}

// VerifyCache reads the packs of a cache. It calls `each` for every pack, with the pack's size. `err` is nil if the
// pack is not damaged.
func VerifyCache(ctx context.Context, dir string, each func(path string, size int64, err error)) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+cacheSuffix))
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		file, err := openPack(path, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a sweep has deleted the pack
		}
		size := int64(0)
		if err == nil {
			p := &pack{file: file}
			if err = p.verify(); err == nil {
				size, err = file.Seek(0, io.SeekEnd)
			}
			err = errors.Join(err, p.close())
		}
		each(path, size, err)
	}
	return err
}
