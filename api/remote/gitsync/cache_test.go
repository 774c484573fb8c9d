package gitsync

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
)

// newCache returns a client with a cache, and the folder of the cache.
func newCache(t *testing.T, limits Limits) (*Client, string) {
	t.Helper()
	c := newClient(t, limits)
	c.cacheDir, c.cacheBytes = t.TempDir(), 64<<20
	c.warn = func(err error) { t.Errorf("not kept: %v", chain(err)) }
	return c, c.cacheDir
}

// manyFiles returns n files in folders. The files hardly compress.
func manyFiles(n int) map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("folder%d/page%d.md", i%10, i)] = fmt.Sprintf("# Page %d\n\n%x\n", i, random.Perm(300))
	}
	return files
}

// received returns the number of objects that the server has sent.
func received(s *Snapshot) int {
	n := 0
	for _, p := range s.packs {
		if p.dir != "" {
			n += len(p.infos) - len(p.bases)
		}
	}
	return n
}

func files(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestCache fetches a branch repeatedly, after different changes of the branch. The server sends only new objects.
func TestCache(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"true", "false"} {
		t.Run("uploadpack.allowFilter="+filter, func(t *testing.T) {
			t.Parallel()
			f := gitsynctest.New(t)
			f.Repository("a.git", "uploadpack.allowFilter="+filter)
			c, dir := newCache(t, testLimits)
			remote := remoteOf(f, "a.git", "main")
			remote.Cache = CacheKey{"organization", "cache"}
			want := manyFiles(400)
			large := "huge.bin"
			look := func(what string, most int) int64 {
				t.Helper()
				before := f.Sent.Load()
				s := fetch(t, c, remote)
				present := maps.Clone(want)
				delete(present, large)
				if diff := cmp.Diff(present, contents(t, s)); diff != "" {
					t.Error(what, diff)
				}
				if n := received(s); n > most {
					t.Errorf("%s: %d objects came", what, n)
				}
				if n := len(files(t, dir)); n != 1 {
					t.Errorf("%s: %d files are kept", what, n)
				}
				return f.Sent.Load() - before
			}
			want[large] = strings.Repeat("huge", 30_000)
			tip := f.Files("a.git", "main", want)
			whole := look("all", 1000)
			if n := look("nothing new", 0); n != 0 {
				t.Errorf("%d bytes came for the same commit", n)
			}
			name := "folder3/page3.md"
			want[name] = strings.Replace(want[name], "# Page 3", "# Page three", 1)
			tip = f.Files("a.git", "main", want, tip)
			n := look("one file", 4) // the server sends a commit, two trees and a file
			if n > whole/20 {
				t.Errorf("%d bytes came for one file, of %d", n, whole)
			}
			t.Logf("all: %d bytes, one file: %d bytes", whole, n)
			want["new.md"], want["folder1/copy.md"] = "# New\n", want["folder2/page2.md"]
			delete(want, "folder2/page2.md")
			f.Files("a.git", "main", want, tip)
			look("moved", 5)
			// The branch gets another history. Its files were in the branch before.
			want["new.md"] = "# Forced\n"
			f.Files("a.git", "main", want)
			if n := look("forced", 3); n > whole/20 {
				t.Errorf("%d bytes came after a push by force, of %d", n, whole)
			}
			// The server has deleted the old commit and its files.
			f.Git("a.git", "", "reflog", "expire", "--expire=now", "--all")
			want = manyFiles(30)
			f.Files("a.git", "main", want)
			f.Git("a.git", "", "gc", "--quiet", "--prune=now")
			look("unknown", 100)
			name = "folder5/page5.md"
			want[name] += "more\n"
			f.Files("a.git", "main", want)
			look("after unknown", 4)
			push, err := c.Push(t.Context(), remote, Commit{Parent: fetch(t, c, remote), Changes: []Change{{Path: "folder5/page5.md", Content: []byte("ours\n")}}, Message: "m", Name: "a", Email: "a@example", At: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			want[name] = "ours\n"
			look("pushed", 4)
			if got := f.Git("a.git", "", "rev-parse", "main"); got != push {
				t.Error(got)
			}
			f.Git("a.git", "", "fsck", "--strict")
		})
	}
}

// TestCacheDamaged damages the cache file in many ways. The client then fetches all objects of the branch, and writes
// the file again.
func TestCacheDamaged(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	c, dir := newCache(t, testLimits)
	remote := remoteOf(f, "a.git", "main")
	remote.Cache = CacheKey{"organization", "cache"}
	want := manyFiles(50)
	tip := f.Files("a.git", "main", want)
	fetch(t, c, remote)
	path := filepath.Join(dir, files(t, dir)[0].Name())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// This pack has fewer objects and a correct checksum. The missing files would seem to be too large.
	fewer := func() []byte {
		p, _ := c.cached(t.Context(), path)
		defer func() { _ = p.close() }()
		tree, err := treeOf(p, plumbingHash(tip))
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writePack(t.Context(), file, p, append(plumbingHashes(tip), tree), 1<<20); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return data
	}()
	flipped := func(at int) []byte {
		data := bytes.Clone(good)
		data[at] ^= 0x40
		return data
	}
	for i, data := range [][]byte{nil, []byte("PACK"), good[:len(good)/2], flipped(5), flipped(9), flipped(len(good) / 2), flipped(len(good) - 1), fewer, make([]byte, 1000)} {
		for _, change := range []bool{false, true} {
			if change {
				name := fmt.Sprintf("folder%d/page%d.md", i, i)
				want[name] += "more\n"
				tip = f.Files("a.git", "main", want, tip)
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, contents(t, fetch(t, c, remote))); diff != "" {
				t.Errorf("%d: %s", i, diff)
			}
			if p, kept := c.cached(t.Context(), path); p == nil || kept.String() != tip {
				t.Errorf("%d: %v is kept", i, kept)
			} else if err := p.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCacheScope checks that a server cannot read cached objects of another repository or organization. The server
// tries this by naming their commit as its own.
func TestCacheScope(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	f.Repository("b.git")
	secret := f.Files("a.git", "main", map[string]string{"secret.md": "secret"})
	other := f.Files("b.git", "main", map[string]string{"other.md": "other"})
	c, dir := newCache(t, testLimits)
	victim := remoteOf(f, "a.git", "main")
	victim.Cache = CacheKey{"victim", "cache"}
	fetch(t, c, victim)
	for _, test := range []struct {
		name       string
		repository string
		cache      CacheKey
	}{
		{"address", "b.git", CacheKey{"victim", "cache"}}, {"organization", "a.git", CacheKey{"attacker", "cache"}},
		{"organization that runs over", "a.git", CacheKey{`victim" "`, "cache"}}, {"cache", "a.git", CacheKey{"victim", "other"}}, {"none", "a.git", CacheKey{"victim", ""}},
	} {
		endpoint, _, err := Remote{URL: f.HTTP.URL + "/" + test.repository, Ref: "refs/heads/main"}.open()
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := c.cached(t.Context(), c.cachePath(endpoint.String(), test.cache, false)); p != nil {
			t.Errorf("%s: another one's objects are open", test.name)
		}
	}
	// The hostile server names the secret commit as the commit of its branch. It sends no objects.
	f.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/b.git/info/refs") {
			return false
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		line := fmt.Sprintf("%s refs/heads/main\x00shallow thin-pack\n", secret)
		_, _ = fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s0000", len(line)+4, line)
		return true
	}
	hostile := remoteOf(f, "b.git", "main")
	hostile.Cache = CacheKey{"attacker", "cache"}
	if s, err := c.Fetch(t.Context(), hostile); err == nil {
		t.Errorf("%v", contents(t, s))
	}
	f.Before = nil
	if got := contents(t, fetch(t, c, hostile)); got["other.md"] != "other" || len(got) != 1 || other == secret {
		t.Error(got)
	}
	// A wrong login gives no access to the cache either, because the client first sends the login to the server.
	f.Before = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusUnauthorized); return true }
	if _, err := c.Fetch(t.Context(), victim); err == nil {
		t.Error("no login was asked for")
	}
	if n := len(files(t, dir)); n != 2 {
		t.Errorf("%d files", n)
	}
}

// TestCacheLimits checks that the cache deletes packs that are too large, and packs that were not used for a long time.
func TestCacheLimits(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	c, dir := newCache(t, testLimits)
	var paths []string
	for i := range 3 {
		name := fmt.Sprintf("%d.git", i)
		f.Repository(name)
		f.Files(name, "main", manyFiles(20+i))
		remote := remoteOf(f, name, "main")
		remote.Cache = CacheKey{"organization", "cache"}
		fetch(t, c, remote)
		endpoint, _, err := remote.open()
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, c.cachePath(endpoint.String(), remote.Cache, false))
	}
	now := time.Now()
	size := int64(0)
	for i, path := range paths {
		if err := os.Chtimes(path, now, now.Add(-[]time.Duration{time.Minute, time.Hour, time.Second}[i])); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	sweep := func(bytes int64, now time.Time, want ...bool) {
		t.Helper()
		if err := SweepCache(dir, bytes, now); err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			if _, err := os.Stat(path); (err == nil) != want[i] {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	sweep(size, now, true, true, true)
	// A pack that was just used is treated as new.
	remote := remoteOf(f, "1.git", "main")
	remote.Cache = CacheKey{"organization", "cache"}
	fetch(t, c, remote)
	sweep(size-1, now, false, true, true)
	if err := os.Chtimes(paths[2], now, now.Add(-cacheKept-time.Second)); err != nil {
		t.Fatal(err)
	}
	sweep(size, now, false, true, false)
	// If a pack is too large for the cache, other packs are not deleted because of it.
	c.cacheBytes = 30_000
	f.Repository("large.git")
	f.Files("large.git", "main", manyFiles(300))
	remote = remoteOf(f, "large.git", "main")
	remote.Cache = CacheKey{"organization", "cache"}
	fetch(t, c, remote)
	sweep(size, now, false, true, false)
	if n := len(files(t, dir)); n != 1 {
		t.Errorf("%d files", n)
	}
}

func plumbingHashes(texts ...string) []plumbing.Hash {
	var hashes []plumbing.Hash
	for _, text := range texts {
		hashes = append(hashes, plumbingHash(text))
	}
	return hashes
}
