// Package gitsynctest is a Git server for tests. Only tests may import it.
package gitsynctest

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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Forge is a Git server. It runs git http-backend with bare repositories in a temporary folder.
type Forge struct {
	t    testing.TB
	Root string
	HTTP *httptest.Server
	// Before is called before a request is handled. If it returns true, it has already answered the request.
	Before func(http.ResponseWriter, *http.Request) bool
	// After is called after the backend has answered a request.
	After func(*http.Request)
	// Sent is the number of bytes of packs that the server has sent.
	Sent atomic.Int64
}

// counter adds the bytes of an answer to sent.
type counter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counter) Write(data []byte) (int, error) {
	c.sent.Add(int64(len(data)))
	return c.ResponseWriter.Write(data)
}

// New starts a server that is closed when the test ends.
func New(t testing.TB) *Forge {
	t.Helper()
	f := &Forge{t: t, Root: t.TempDir()}
	backend := f.Backend()
	f.HTTP = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.Before != nil && f.Before(w, r) {
			return
		}
		if strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
			w = counter{w, &f.Sent}
		}
		backend.ServeHTTP(w, r)
		if f.After != nil {
			f.After(r)
		}
	}))
	t.Cleanup(f.HTTP.Close)
	return f
}

// programs returns the folder of Git's programs.
var programs = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("git", "--exec-path").Output()
	return strings.TrimSpace(string(path)), err
})

// Backend returns a handler that answers requests for repositories.
func (f *Forge) Backend() http.Handler {
	f.t.Helper()
	path, err := programs()
	if err != nil {
		f.t.Fatalf("these tests need git: %v", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(path, "git-http-backend"), Stderr: io.Discard,
		Env: append(f.env(), "GIT_PROJECT_ROOT="+f.Root, "GIT_HTTP_EXPORT_ALL=1"),
	}
}

func (f *Forge) env() []string {
	return []string{
		"HOME=" + f.Root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// Git runs git in a repository and returns its output.
func (f *Forge) Git(repository, stdin string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", append([]string{"-C", filepath.Join(f.Root, repository)}, args...)...)
	cmd.Env, cmd.Stdin = f.env(), strings.NewReader(stdin)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("git %q: %v: %s", args, err, errors.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Repository makes a bare repository. It does not start a process of Git.
func (f *Forge) Repository(name string, config ...string) {
	f.t.Helper()
	root := filepath.Join(f.Root, name)
	for _, folder := range []string{"hooks", "objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			f.t.Fatal(err)
		}
	}
	settings := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	for _, setting := range append(config, "http.receivepack=true") {
		section, rest, _ := strings.Cut(setting, ".")
		settings += "[" + section + "]\n\t" + rest + "\n"
	}
	for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": settings} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
}

// TreeEntry is an entry of a tree. It is written unchanged, even if Git would refuse the entry.
type TreeEntry struct {
	Mode, Name, Hash string
}

// Entry makes an entry.
func Entry(mode, name, hash string) TreeEntry { return TreeEntry{mode, name, hash} }

// Blob stores a file and returns its hash.
func (f *Forge) Blob(repository, content string) string {
	return f.Git(repository, content, "hash-object", "-w", "--stdin")
}

// Tree writes a tree as a loose object, because git refuses to write hostile trees.
func (f *Forge) Tree(repository string, entries ...TreeEntry) string {
	f.t.Helper()
	var raw bytes.Buffer
	for _, e := range entries {
		hash, err := hex.DecodeString(e.Hash)
		if err != nil || len(hash) != sha1.Size {
			f.t.Fatalf("hash %q", e.Hash)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", e.Mode, e.Name, hash)
	}
	return f.Git(repository, raw.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
}

// Commit makes a commit of a tree, and moves a branch to this commit.
func (f *Forge) Commit(repository, branch, tree string, parents ...string) string {
	f.t.Helper()
	args := []string{"commit-tree", "-m", "m", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	hash := f.Git(repository, "", args...)
	f.Git(repository, "", "update-ref", "refs/heads/"+branch, hash)
	return hash
}

// Files makes a commit of files. The keys of files are paths.
func (f *Forge) Files(repository, branch string, files map[string]string, parents ...string) string {
	f.t.Helper()
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/%s\nmark :1\ncommitter a <a@example> 1700000000 +0000\ndata 1\nm\n", branch)
	for i, parent := range parents {
		fmt.Fprintf(&stream, "%s %s\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	stream.WriteString("deleteall\n")
	for path, content := range files {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	stream.WriteString("get-mark :1\n") // the command prints the hash of the commit
	return f.Git(repository, stream.String(), "fast-import", "--quiet", "--force")
}

// Contents returns the contents of a branch's files, by their paths.
func (f *Forge) Contents(repository, branch string) map[string]string {
	f.t.Helper()
	names := strings.Split(f.Git(repository, "", "ls-tree", "-r", "-z", "--name-only", branch), "\x00")
	names = names[:len(names)-1]
	files := make(map[string]string, len(names))
	rest := f.Git(repository, branch+":"+strings.Join(names, "\n"+branch+":")+"\n", "cat-file", "--batch") + "\n"
	for _, name := range names {
		head, after, _ := strings.Cut(rest, "\n")
		size, err := strconv.Atoi(head[strings.LastIndexByte(head, ' ')+1:])
		if err != nil || size >= len(after) {
			f.t.Fatalf("git cat-file of %s: %q", name, head)
		}
		files[name], rest = after[:size], after[size+1:]
	}
	return files
}
