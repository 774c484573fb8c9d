package gitsync

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/outbound"
)

// forge is a Git server: git http-backend over bare repositories in a folder of its own.
type forge struct {
	t    *testing.T
	root string
	http *httptest.Server
	// before runs before a request; it answers itself if it returns true.
	before func(http.ResponseWriter, *http.Request) bool
	// after runs when the backend has answered.
	after func(*http.Request)
}

func newForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{t: t, root: t.TempDir()}
	backend := f.backend()
	f.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.before != nil && f.before(w, r) {
			return
		}
		backend.ServeHTTP(w, r)
		if f.after != nil {
			f.after(r)
		}
	}))
	t.Cleanup(f.http.Close)
	return f
}

func (f *forge) backend() http.Handler {
	f.t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		f.t.Fatalf("these tests need git: %v", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Stderr: io.Discard,
		Env: append(f.env(), "GIT_PROJECT_ROOT="+f.root, "GIT_HTTP_EXPORT_ALL=1"),
	}
}

func (f *forge) env() []string {
	return []string{
		"HOME=" + f.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// git runs git in a repository and returns what it prints.
func (f *forge) git(repository, stdin string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", append([]string{"-C", filepath.Join(f.root, repository)}, args...)...)
	cmd.Env, cmd.Stdin = f.env(), strings.NewReader(stdin)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("git %q: %v: %s", args, err, errors.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// repository makes a bare repository.
func (f *forge) repository(name string, config ...string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Join(f.root, name), 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.git(name, "", "init", "--quiet", "--bare", "--initial-branch=main")
	for _, setting := range append(config, "http.receivepack=true") {
		key, value, _ := strings.Cut(setting, "=")
		f.git(name, "", "config", key, value)
	}
}

// entry is an entry of a tree that is written as it is, whatever Git would say.
type entry struct {
	mode, name, hash string
}

func (f *forge) blob(repository, content string) string {
	return f.git(repository, content, "hash-object", "-w", "--stdin")
}

// tree writes a tree as a loose object, because git refuses to make hostile ones.
func (f *forge) tree(repository string, entries ...entry) string {
	f.t.Helper()
	var raw bytes.Buffer
	for _, e := range entries {
		hash, err := hex.DecodeString(e.hash)
		if err != nil || len(hash) != sha1.Size {
			f.t.Fatalf("hash %q", e.hash)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", e.mode, e.name, hash)
	}
	return f.git(repository, raw.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
}

// commit makes a commit of a tree and moves a branch to it.
func (f *forge) commit(repository, branch, tree string, parents ...string) string {
	f.t.Helper()
	args := []string{"commit-tree", "-m", "m", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	hash := f.git(repository, "", args...)
	f.git(repository, "", "update-ref", "refs/heads/"+branch, hash)
	return hash
}

// files makes a commit of files, by path.
func (f *forge) files(repository, branch string, files map[string]string, parents ...string) string {
	f.t.Helper()
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter a <a@example> 1700000000 +0000\ndata 1\nm\n", branch)
	for i, parent := range parents {
		fmt.Fprintf(&stream, "%s %s\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	stream.WriteString("deleteall\n")
	for path, content := range files {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	f.git(repository, stream.String(), "fast-import", "--quiet", "--force")
	return f.git(repository, "", "rev-parse", "refs/heads/"+branch)
}

// remote is a branch as a client reaches it.
func (f *forge) remote(repository, branch string) Remote {
	return Remote{URL: f.http.URL + "/" + repository, Ref: "refs/heads/" + branch}
}

// testLimits are small where a test may want to meet them.
var testLimits = Limits{
	Time: time.Minute, RefsBytes: 1 << 20, PackBytes: 8 << 20, Objects: 10_000, InflatedBytes: 64 << 20, ObjectBytes: 4 << 20, Entries: 20_000, Depth: 16,
	PathBytes: 200, FileBytes: 100_000, PushBytes: 1 << 20,
}

func newClient(t *testing.T, limits Limits, allow ...string) *Client {
	t.Helper()
	policy, err := outbound.ParsePolicy(append(allow, "127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("packs are left behind: %v, %v", left, err)
		}
	})
	return New(Config{Guard: outbound.New(outbound.Config{Policy: policy}), Limits: limits, TempDir: dir})
}

// fetch fetches and closes the snapshot at the end of the test.
func fetch(t *testing.T, c *Client, r Remote) *Snapshot {
	t.Helper()
	s, err := c.Fetch(t.Context(), r)
	if err != nil {
		t.Fatalf("%v (%v)", err, chain(err))
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// chain is all that a log could show of an error.
func chain(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%T %+v", err, err)
	switch wrapped := any(err).(type) {
	case interface{ Unwrap() error }:
		text += " | " + chain(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range wrapped.Unwrap() {
			text += " | " + chain(inner)
		}
	}
	return text
}
