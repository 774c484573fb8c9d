package content_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
)

// fieldBook is a repository with names of files, front matter, line breaks and a table of contents that an export must
// not change.
var fieldBook = map[string]string{
	"SUMMARY.md": "# Contents\n\n* [Home](README.md)\n* [First](guide/my_first_page.md)\n",
	"README.md":  "---\ntitle: Home\ndate: 2024-01-01\n---\n\n# Another heading\n\nHello.\n",
	"guide/my_first_page.md": "---\nowner: ann\ntags: [a,  b]\n---\n\n# First\n\nOne line\nbroken in " +
		"two.\n\n![P](../img/Pic_One.png)\n",
	"img/Pic_One.png": "a picture\n",
	"tools/script.sh": "echo hi\n",
}

// TestGitExportElsewhere imports content from the branch main, and exports it to other branches and repositories.
// Untouched files keep their names and bytes. If the other repository has the imported commit, this commit is the
// parent of the exported commit.
func TestGitExportElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		repository, branch string
		// prepare changes the repositories after the import.
		prepare func(b *gitBench, imported string)
		parent  bool // whether the imported commit is the parent of the exported commit
		only    bool // whether the exported branch has only synchronized files
		reason  string
	}{
		"a new branch": {"a.git", "review", nil, true, false, ""},
		"a new branch, main went on": {"a.git", "review", func(b *gitBench, imported string) {
			files := maps.Clone(fieldBook)
			files["later.md"] = "# Later\n"
			b.forge.Files("a.git", "main", files, imported)
		}, true, false, ""},
		"a branch at the commit": {"a.git", "review", func(b *gitBench, imported string) {
			b.forge.Git("a.git", "", "update-ref", "refs/heads/review", imported)
		}, true, false, ""},
		"a branch with equal files": {"a.git", "review", func(b *gitBench, imported string) {
			b.forge.Files("a.git", "review", fieldBook, imported)
		}, false, false, ""},
		"a branch with other files": {"a.git", "review", func(b *gitBench, imported string) {
			files := maps.Clone(fieldBook)
			files["README.md"] += "More.\n"
			b.forge.Files("a.git", "review", files, imported)
		}, false, false, "the branch has content that was never synchronized with this space: README.md"},
		"an empty repository": {"b.git", "main", nil, false, true, ""},
		"a repository with other branches": {"b.git", "main", func(b *gitBench, _ string) {
			b.forge.Files("b.git", "other", map[string]string{"x.md": "# X\n"})
		}, false, true, ""},
		"a fork": {"b.git", "review", func(b *gitBench, _ string) {
			b.forge.Git("b.git", "", "fetch", "--quiet", b.forge.Root+"/a.git", "main:main")
		}, true, false, ""},
		"a fork's branch": {"b.git", "main", func(b *gitBench, _ string) {
			b.forge.Git("b.git", "", "fetch", "--quiet", b.forge.Root+"/a.git", "main:main")
		}, true, false, ""},
		"an empty repository, behind a login": {"b.git", "main", func(b *gitBench, _ string) {
			b.forge.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if user, password, _ := r.BasicAuth(); user == "me" && password == "s3cr3t" {
					return false
				}
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
		}, false, true, ""},
	} {
		for _, edited := range []bool{false, true} {
			if edited {
				name += ", edited"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newGitBench(t)
				b.forge.Repository("b.git")
				imported := b.commit(fieldBook)
				b.done("import", nil)
				if c.prepare != nil {
					c.prepare(b, imported)
				}
				want := maps.Clone(fieldBook)
				if edited {
					b.edit("readme", "Hello.", "Hello, edited.")
					want["README.md"] = strings.Replace(want["README.md"], "Hello.", "Hello, edited.", 1)
				}
				to := b.of(c.repository, c.branch, "")
				if c.reason != "" {
					if o := b.sync("export", to); o.State != schema.GitFailed || !strings.Contains(o.Reason, c.reason) {
						t.Errorf("%+v", o)
					}
					return
				}
				o := b.done("export", to)
				if c.only {
					delete(want, "tools/script.sh")
				}
				if diff := cmp.Diff(want, b.filesOf(c.repository, c.branch)); diff != "" {
					t.Error(diff)
				}
				tip := b.forge.Git(c.repository, "", "rev-parse", c.branch)
				if o.Commit != tip || len(o.Notes) > 0 {
					t.Errorf("%+v, the branch is at %s", o, tip)
				}
				if parent := b.forge.Git(c.repository, "", "log", "-1", "--format=%P", c.branch); c.parent && edited {
					if parent != imported {
						t.Errorf("the parent is %q, not %s", parent, imported)
					}
				} else if c.parent && tip != imported {
					t.Errorf("the branch is at %s, not at %s", tip, imported)
				}
				// From now on, the space is synchronized with this branch.
				b.edit("my-first-page", "One line", "A line")
				b.done("export", to)
				want["guide/my_first_page.md"] = strings.Replace(
					want["guide/my_first_page.md"],
					"One line\nbroken",
					"A line broken",
					1,
				)
				got := b.filesOf(c.repository, c.branch)
				got["guide/my_first_page.md"] = strings.Replace(
					got["guide/my_first_page.md"],
					"A line\nbroken",
					"A line broken",
					1,
				)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestGitExportToADeletedBranch exports to a branch that was deleted. The export reports the problem. With force, the
// export creates the branch again at the branch's last commit.
func TestGitExportToADeletedBranch(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	imported := b.commit(fieldBook)
	b.done("import", nil)
	b.forge.Git("a.git", "", "update-ref", "refs/heads/kept", imported)
	b.forge.Git("a.git", "", "update-ref", "-d", "refs/heads/main")
	b.edit("readme", "Hello.", "Hello, edited.")
	o := b.sync("export", nil)
	if o.State != schema.GitFailed ||
		!strings.Contains(o.Reason, "the branch was deleted in the repository after its commit "+imported) {
		t.Errorf("%+v", o)
	}
	b.done("export", map[string]any{"force": true})
	want := maps.Clone(fieldBook)
	want["README.md"] = strings.Replace(want["README.md"], "Hello.", "Hello, edited.", 1)
	if diff := cmp.Diff(want, b.files()); diff != "" {
		t.Error(diff)
	}
	if parent := b.forge.Git("a.git", "", "log", "-1", "--format=%P", "main"); parent != imported {
		t.Errorf("the parent is %q, not %s", parent, imported)
	}
	// The commit was deleted in all branches. The files keep their names, and a note names the missing commit.
	b.forge.Git("a.git", "", "update-ref", "-d", "refs/heads/kept")
	b.forge.Git("a.git", "", "update-ref", "-d", "refs/heads/main")
	b.forge.Git("a.git", "", "reflog", "expire", "--expire=now", "--all")
	b.forge.Git("a.git", "", "gc", "--quiet", "--prune=now")
	o = b.done("export", b.of("a.git", "other", ""))
	got := b.filesOf("a.git", "other")
	if got["guide/my_first_page.md"] == "" || !strings.Contains(got["README.md"], "Hello, edited.") ||
		len(o.Notes) != 1 ||
		!strings.Contains(o.Notes[0].Text, "cannot be read any more") {
		t.Errorf("%q %+v", got, o)
	}
}
