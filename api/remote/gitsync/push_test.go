package gitsync

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
)

func plumbingHash(text string) plumbing.Hash { return plumbing.NewHash(text) }

var pushedAt = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// shown returns the tree of a commit in git's format.
func shown(f *gitsynctest.Forge, repository, commit string) string {
	return f.Git(repository, "", "-c", "core.quotePath=false", "ls-tree", "-r", commit)
}

func TestPush(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	page, script := f.Blob("a.git", "# Page\n"), f.Blob("a.git", "#!/bin/sh\n")
	link, inner := f.Blob("a.git", "/etc/passwd"), f.Tree("a.git", gitsynctest.Entry("100644", "page.md", page), gitsynctest.Entry("100644", "same.md", page))
	first := f.Commit("a.git", "first", f.Tree("a.git", gitsynctest.Entry("100644", "a", page)))
	parent := f.Commit("a.git", "main", f.Tree("a.git",
		gitsynctest.Entry("100644", "docs.md", page), gitsynctest.Entry("40000", "docs", inner), gitsynctest.Entry("120000", "link", link), gitsynctest.Entry("40000", "only", inner), gitsynctest.Entry("100755", "run.sh", script),
		gitsynctest.Entry("40000", "untouched", inner), gitsynctest.Entry("160000", "vendored", first), gitsynctest.Entry("100644", "was-file", page),
	), first)
	client, remote := newClient(t, testLimits), remoteOf(f, "a.git", "main")
	s := fetch(t, client, remote)
	got, err := client.Push(t.Context(), remote, Commit{
		Parent: s, Message: "docs: change\n\nMore.\n", Name: "A <x> B\n", Email: "a@example", At: pushedAt,
		Changes: []Change{
			{Path: "docs/page.md", Content: []byte("# Changed\n")}, {Path: "docs/new/deep/ü.md", Content: []byte("# New\n")},
			{Path: "only/page.md", Delete: true}, {Path: "only/same.md", Delete: true}, {Path: "run.sh", Content: []byte("#!/bin/bash\n")},
			{Path: "was-file", Delete: true}, {Path: "was-file/now.md", Content: []byte("# New\n")}, {Path: "docs.txt", Content: []byte("t")},
		},
	})
	if err != nil {
		t.Fatal(chain(err))
	}
	f.Git("a.git", "", "fsck", "--strict")
	hash := func(content string) string { return f.Git("a.git", content, "hash-object", "--stdin") }
	want := strings.Join([]string{
		"100644 blob " + page + "\tdocs.md",
		"100644 blob " + hash("t") + "\tdocs.txt",
		"100644 blob " + hash("# New\n") + "\tdocs/new/deep/ü.md",
		"100644 blob " + hash("# Changed\n") + "\tdocs/page.md",
		"100644 blob " + page + "\tdocs/same.md",
		"120000 blob " + link + "\tlink",
		"100755 blob " + hash("#!/bin/bash\n") + "\trun.sh",
		"100644 blob " + page + "\tuntouched/page.md",
		"100644 blob " + page + "\tuntouched/same.md",
		"160000 commit " + first + "\tvendored",
		"100644 blob " + hash("# New\n") + "\twas-file/now.md",
	}, "\n")
	if diff := cmp.Diff(want, shown(f, "a.git", "main")); diff != "" {
		t.Error(diff)
	}
	if shown := f.Git("a.git", "", "log", "-1", "--format=%H|%P|%an|%ae|%cn|%at|%B", "main"); shown != strings.Join([]string{got, parent, "A x B", "a@example", "A x B", "1795435200", "docs: change\n\nMore.\n"}, "|") {
		t.Errorf("%q", shown)
	}
	// If changes have no effect, no data is sent.
	s = fetch(t, client, remote)
	f.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			t.Error("something was sent")
		}
		return false
	}
	same, err := client.Push(t.Context(), remote, Commit{Parent: s, Changes: []Change{{Path: "docs/page.md", Content: []byte("# Changed\n")}}, Message: "m"})
	if err != nil || same != got {
		t.Errorf("got %s, %v", same, err)
	}
}

// TestPushKeepsHostileNames checks that a push does not change entries that were left out, even if other entries of
// their folder change.
func TestPushKeepsHostileNames(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	blob := f.Blob("a.git", "x")
	f.Commit("a.git", "main", f.Tree("a.git", gitsynctest.Entry("100644", "..", blob), gitsynctest.Entry("100644", ".GIT", blob), gitsynctest.Entry("100644", "A.md", blob), gitsynctest.Entry("100644", "a.md", blob)))
	client, remote := newClient(t, testLimits), remoteOf(f, "a.git", "main")
	s := fetch(t, client, remote)
	if _, err := client.Push(t.Context(), remote, Commit{Parent: s, Changes: []Change{{Path: "b.md", Content: []byte("x")}}, Message: "m", At: pushedAt}); err != nil {
		t.Fatal(chain(err))
	}
	want := strings.ReplaceAll("100644 blob #\t..\n100644 blob #\t.GIT\n100644 blob #\tA.md\n100644 blob #\ta.md\n100644 blob #\tb.md", "#", blob)
	if diff := cmp.Diff(want, shown(f, "a.git", "main")); diff != "" {
		t.Error(diff)
	}
}

func TestPushFirstCommit(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("empty.git")
	f.Repository("a.git")
	f.Files("a.git", "main", map[string]string{"a.md": "a"})
	client := newClient(t, testLimits)
	first := Commit{Changes: []Change{{Path: "docs/a.md", Content: []byte("a")}}, Message: "m", At: pushedAt}
	for _, remote := range []Remote{remoteOf(f, "empty.git", "main"), remoteOf(f, "a.git", "new")} {
		commit, err := client.Push(t.Context(), remote, first)
		if err != nil {
			t.Fatal(chain(err))
		}
		if s := fetch(t, client, remote); s.Commit != commit || contents(t, s)["docs/a.md"] != "a" {
			t.Errorf("%+v", s)
		}
	}
	_, err := client.Push(t.Context(), remoteOf(f, "a.git", "main"), first)
	wantError(t, err, StepPush, RemoteMoved)
}

func TestPushFails(t *testing.T) {
	t.Parallel()
	change := []Change{{Path: "a.md", Content: []byte("changed")}}
	for _, test := range []struct {
		name    string
		changes []Change
		force   bool
		prepare func(*gitsynctest.Forge) // runs after the fetch
		step    Step
		reason  *Reason
		detail  string
	}{
		{"moved before", change, false, func(f *gitsynctest.Forge) { f.Files("a.git", "main", map[string]string{"a.md": "theirs"}) }, StepPush, RemoteMoved, ""},
		{"deleted before", change, false, func(f *gitsynctest.Forge) { f.Git("a.git", "", "update-ref", "-d", "refs/heads/main") }, StepPush, RemoteMoved, ""},
		{"moved before, by force", change, true, func(f *gitsynctest.Forge) { f.Files("a.git", "main", map[string]string{"a.md": "theirs"}) }, "", nil, ""},
		{"moved meanwhile", change, false, func(f *gitsynctest.Forge) {
			f.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					f.Files("a.git", "main", map[string]string{"a.md": "theirs"})
				}
				return false
			}
		}, StepPush, RemoteMoved, ""},
		{"the answer is lost", change, false, func(f *gitsynctest.Forge) {
			f.After = func(r *http.Request) {
				if r.Method == http.MethodPost {
					panic(http.ErrAbortHandler)
				}
			}
		}, "", nil, ""},
		{"refused by a hook", change, false, func(f *gitsynctest.Forge) {
			if err := os.WriteFile(filepath.Join(f.Root, "a.git/hooks/update"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
				t.Error(err)
			}
		}, StepPush, PushRefused, "hook declined"},
		{"not allowed", change, false, func(f *gitsynctest.Forge) { f.Git("a.git", "", "config", "http.receivepack", "false") }, StepAuthenticate, LoginRefused, ""},
		{"gone", change, false, func(f *gitsynctest.Forge) {
			if err := os.RemoveAll(filepath.Join(f.Root, "a.git")); err != nil {
				t.Error(err)
			}
		}, StepFindRef, NoRepository, ""},
		{"server fails", change, false, func(f *gitsynctest.Forge) {
			f.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					http.Error(w, r.Header.Get("Authorization"), http.StatusInternalServerError)
				}
				return r.Method == http.MethodPost
			}
		}, StepPush, ServerFailed, ""},

		{"a path above", []Change{{Path: "../a"}}, false, nil, StepWrite, BadChange, "../a is no path"},
		{"an absolute path", []Change{{Path: "/a"}}, false, nil, StepWrite, BadChange, "/a is no path"},
		{"no path", []Change{{Path: ""}}, false, nil, StepWrite, BadChange, ""},
		{"into .git", []Change{{Path: "docs/.Git/config"}}, false, nil, StepWrite, BadChange, ""},
		{"twice", []Change{{Path: "b"}, {Path: "b", Delete: true}}, false, nil, StepWrite, BadChange, "b is changed twice"},
		{"below a file", []Change{{Path: "a.md/b"}}, false, nil, StepWrite, BadChange, "a.md is no folder"},
		{"below a link", []Change{{Path: "link/b"}}, false, nil, StepWrite, BadChange, "link is no folder"},
		{"over a link", []Change{{Path: "link"}}, false, nil, StepWrite, BadChange, "link is no file"},
		{"over a folder", []Change{{Path: "docs"}}, false, nil, StepWrite, BadChange, "docs is no file"},
		{"a file and a folder", []Change{{Path: "n"}, {Path: "n/m"}}, false, nil, StepWrite, BadChange, "n is no file"},
		{"delete what is not there", []Change{{Path: "docs/none", Delete: true}}, false, nil, StepWrite, BadChange, "docs/none is no file"},
		{"delete a folder", []Change{{Path: "docs", Delete: true}}, false, nil, StepWrite, BadChange, ""},
		{"delete a link", []Change{{Path: "link", Delete: true}}, false, nil, StepWrite, BadChange, ""},
		{"too much", []Change{{Path: "b", Content: make([]byte, 1<<20+1)}}, false, nil, StepWrite, TooLarge, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := gitsynctest.New(t)
			f.Repository("a.git")
			blob := f.Blob("a.git", "a")
			parent := f.Commit("a.git", "main", f.Tree("a.git", gitsynctest.Entry("100644", "a.md", blob), gitsynctest.Entry("40000", "docs", f.Tree("a.git", gitsynctest.Entry("100644", "b.md", blob))), gitsynctest.Entry("120000", "link", blob)))
			client, remote := newClient(t, testLimits), remoteOf(f, "a.git", "main")
			remote.Username, remote.Password = "me", "s3cr3t"
			s := fetch(t, client, remote)
			if test.prepare != nil {
				test.prepare(f)
			}
			commit, err := client.Push(t.Context(), remote, Commit{Parent: s, Changes: test.changes, Message: "m", At: pushedAt, Force: test.force})
			if test.reason == nil {
				if err != nil || f.Git("a.git", "", "rev-parse", "main") != commit || f.Git("a.git", "", "rev-parse", "main^") != parent {
					t.Errorf("got %s, %v", commit, chain(err))
				}
				return
			}
			wantError(t, err, test.step, test.reason)
			if !strings.Contains(err.Error(), test.detail) {
				t.Errorf("%q does not say %q", err, test.detail)
			}
			if test.step == StepWrite && f.Git("a.git", "", "rev-parse", "main") != parent {
				t.Error("the branch moved")
			}
		})
	}
}
