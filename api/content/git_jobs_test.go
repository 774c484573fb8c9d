package content_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// gitBench is an API server together with a Git server.
type gitBench struct {
	*apitest.Harness
	forge *gitsynctest.Forge
	at    time.Time
	// token is the token of the user who requests imports and exports.
	token string
}

func newGitBench(t *testing.T) *gitBench {
	t.Helper()
	opened := outboundtest.Policy(t, outboundtest.Loopback)
	b := &gitBench{forge: gitsynctest.New(t), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.Harness = apitest.New(t, func(_ *frame.Config, d *api.Deps) { d.Outbound = opened })
	b.forge.Repository("a.git")
	b.token = b.Ours.Tokens[schema.RoleAdmin]
	return b
}

// commit replaces the files of the branch.
func (b *gitBench) commit(files map[string]string) string {
	b.T.Helper()
	var parents []string
	if tip := b.forge.Git("a.git", "", "for-each-ref", "--format=%(objectname)", "refs/heads/main"); tip != "" {
		parents = []string{tip}
	}
	return b.forge.Files("a.git", "main", files, parents...)
}

// files returns the files of the branch.
func (b *gitBench) files() map[string]string {
	b.T.Helper()
	return b.filesOf("a.git", "main")
}

// queue requests an operation. Its time is later than the time of the previous operation.
func (b *gitBench) queue(kind string, more map[string]any) {
	b.T.Helper()
	b.at = b.at.Add(time.Minute)
	body := map[string]any{
		"url": strings.Replace(b.forge.HTTP.URL, "http://", "http://me:s3cr3t@", 1) + "/a.git", "ref": "refs/heads/main", "timestamp": b.at.Format(time.RFC3339),
		"commitMessage": "Write it",
	}
	maps.Copy(body, more)
	if a := b.Do("POST", "/v1/spaces/"+b.Ours.Space.ID+"/git/"+kind, b.token, body); a.Status != http.StatusNoContent {
		b.T.Fatalf("%d %s", a.Status, a.Body)
	}
}

// sync requests an operation, runs it, and returns its result.
func (b *gitBench) sync(kind string, more map[string]any) schema.GitOperation {
	b.T.Helper()
	b.queue(kind, more)
	jobstest.RunAll(b.T, b.Store)
	return b.operations()[0]
}

func (b *gitBench) done(kind string, more map[string]any) schema.GitOperation {
	b.T.Helper()
	o := b.sync(kind, more)
	if o.State != schema.GitDone {
		b.T.Fatalf("%s is %s: %s", kind, o.State, o.Reason)
	}
	return o
}

// operations returns the operations of the space. The newest operation comes first.
func (b *gitBench) operations() []schema.GitOperation {
	b.T.Helper()
	return apitest.Ask[schema.List[schema.GitOperation]](b.Harness, schema.RoleAdmin, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/git/operations", nil, 200).Items
}

func (b *gitBench) failedJobs() []schema.Job {
	b.T.Helper()
	return apitest.Ask[schema.List[schema.Job]](b.Harness, schema.RoleAdmin, "GET", "/v1/orgs/"+b.Ours.Organization.ID+"/jobs?state=failed", nil, 200).Items
}

// page returns the page at a path, with its Markdown.
func (b *gitBench) page(path string) schema.RevisionPage {
	b.T.Helper()
	return apitest.Ask[schema.RevisionPage](b.Harness, schema.RoleAdmin, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content/path/"+path+"?format=markdown", nil, 200)
}

// edit replaces a text of a page with a change request, and merges the request.
func (b *gitBench) edit(path, from, to string) {
	b.T.Helper()
	page := b.page(path)
	if !strings.Contains(*page.Markdown, from) {
		b.T.Fatalf("%q has no %q", *page.Markdown, from)
	}
	b.change(map[string]any{"operation": "update_page", "page": page.ID, "document": map[string]any{"markdown": strings.Replace(*page.Markdown, from, to, 1)}})
}

func (b *gitBench) change(change map[string]any) {
	b.T.Helper()
	request := b.ChangeRequest(b.Ours)
	text, err := json.Marshal(change)
	if err != nil {
		b.T.Fatal(err)
	}
	b.ChangeContent(schema.RoleAdmin, request.ID, string(text))
	if result := b.MergeNow(request.ID); result.Result != "merge" {
		b.T.Fatalf("%+v", result)
	}
}

var gitBook = map[string]string{
	"SUMMARY.md":              "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n\n## More\n\n* [Last](last.md)\n",
	"README.md":               "---\nicon: house   # kept\nlayout: {x: 1}\n---\n\n# Home\n\nSee [setup](./guide/setup.md).\n\n*  odd\n*  list\n\n![pic](.gitbook/assets/pic.png)\n",
	"guide/README.md":         "# Guide\n\nFirst words.\n\nSecond   words stay.\n",
	"guide/setup.md":          "# Setup\n\nRun it.\n\n1) one\n2) two\n",
	"last.md":                 "# Last\n\nThe end.\n",
	".gitbook/assets/pic.png": "not really a picture\n",
	"tools/script.sh":         "echo hi\n",
}

// TestGitRoundTrip imports a repository, edits a page, and exports the space. Untouched parts of the files keep their
// bytes.
func TestGitRoundTrip(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	first := b.commit(gitBook)
	o := b.done("import", map[string]any{"repoCommitURL": "https://git.example/commit", "gitInfo": map[string]any{"provider": "gitlab", "url": "https://git.example/acme/docs"}})
	if o.Commit != first || o.CommitURL != "https://git.example/commit/"+first || o.Revision == "" || o.FinishedAt == nil {
		t.Errorf("%+v", o)
	}
	info := apitest.Ask[schema.GitSyncState](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/git/info", nil, 200)
	if info.RepoName != "acme/docs" || info.InstallationProvider != "gitlab" || info.UpdatedAt == nil {
		t.Errorf("%+v", info)
	}
	home, setup := b.page("readme"), b.page("guide/setup")
	if home.Title != "Home" || home.Icon != "house" || !strings.Contains(*home.Markdown, "[setup](guide/setup.md)") ||
		b.page("more/last").Title != "Last" {
		t.Errorf("%+v", home)
	}
	revision := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content", nil, 200)
	if len(revision.Files) != 1 || revision.Files[0].Name != "pic.png" || revision.Files[0].ContentType != "image/png" || revision.Files[0].Size != int64(len(gitBook[".gitbook/assets/pic.png"])) {
		t.Errorf("%+v", revision.Files)
	}
	if o := b.done("export", nil); o.Commit != first {
		t.Errorf("an export without an edit made the commit %s", o.Commit)
	}
	b.edit("guide", "First words.", "First words, edited.")
	o = b.done("export", nil)
	want := maps.Clone(gitBook)
	want["guide/README.md"] = "# Guide\n\nFirst words, edited.\n\nSecond   words stay.\n"
	if diff := cmp.Diff(want, b.files()); diff != "" {
		t.Error(diff)
	}
	if log := b.forge.Git("a.git", "", "log", "--format=%H %an %s", "main"); log != o.Commit+" Octavo Write it\n"+first+" a m" {
		t.Errorf("%q", log)
	}
	// Changes that were exported are not imported again.
	before := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content", nil, 200).ID
	if o := b.done("import", nil); o.Revision != before {
		t.Errorf("revision %s instead of %s", o.Revision, before)
	}
	b.change(map[string]any{"operation": "insert_page", "title": "New page", "into": setup.ID, "document": map[string]any{"markdown": "Back [home](ref:page/" + home.ID + ")."}})
	b.done("export", nil)
	want["guide/setup/new-page.md"] = "# New page\n\nBack [home](../../README.md).\n"
	want["SUMMARY.md"] = strings.Replace(want["SUMMARY.md"], "(guide/setup.md)\n", "(guide/setup.md)\n    * [New page](guide/setup/new-page.md)\n", 1)
	if diff := cmp.Diff(want, b.files()); diff != "" {
		t.Error(diff)
	}
	b.Exec(`do $$ begin assert not exists (select 1 from git_operations where credentials is not null), 'credentials are kept'; end $$`)
	if strings.Contains(b.Log.String(), "s3cr3t") {
		t.Error("a password is in the log")
	}
}

// TestGitBothSides changes the space and the repository. If different blocks were changed, an import merges them. If
// the same words were changed, the import makes a change request and names the page and the words. With force, the
// import or export overwrites the other side.
func TestGitBothSides(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := maps.Clone(gitBook)
	b.commit(files)
	b.done("import", nil)
	setup := b.page("guide/setup").ID
	files["guide/README.md"] = strings.Replace(files["guide/README.md"], "Second   words", "Second words of Git", 1)
	files["guide/new.md"] = "# Of Git\n"
	files["SUMMARY.md"] = strings.Replace(files["SUMMARY.md"], "\n\n## More", "\n  * [Of Git](guide/new.md)\n\n## More", 1)
	b.commit(files)
	b.edit("guide", "First words.", "First words of us.")
	b.edit("guide/setup", "Run it.", "Run it twice.")
	if o := b.sync("export", nil); o.State != schema.GitFailed || !strings.Contains(o.Reason, "changes that were not imported: SUMMARY.md, guide/README.md, guide/new.md") {
		t.Errorf("%+v", o)
	}
	b.done("import", nil)
	guide := *b.page("guide").Markdown
	if !strings.Contains(guide, "First words of us.") || !strings.Contains(guide, "Second words of Git stay.") || b.page("guide/new").Title != "Of Git" ||
		!strings.Contains(*b.page("guide/setup").Markdown, "twice") || b.page("guide/setup").ID != setup {
		t.Errorf("%q", guide)
	}
	b.done("export", nil)
	files["guide/README.md"] = strings.Replace(files["guide/README.md"], "First words.", "First words of us.", 1)
	files["guide/setup.md"] = strings.Replace(files["guide/setup.md"], "Run it.", "Run it twice.", 1)
	if diff := cmp.Diff(files, b.files()); diff != "" {
		t.Error(diff)
	}

	files["last.md"] = "# Last\n\nThe end of Git.\n"
	b.commit(files)
	b.edit("more/last", "The end.", "The end of us.")
	head := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content", nil, 200).ID
	o := b.done("import", nil)
	request := b.request(o.ChangeRequest)
	if !strings.Contains(o.Reason, fmt.Sprintf(
		`pages "Last" (the text "The end of Git."): the import opened the change request %d`, request.Number,
	)) || request.Status != "open" {
		t.Errorf("%+v", o)
	}
	if now := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content", nil, 200).ID; now != head {
		t.Error("an import with conflicts changed the space")
	}
	// Another import updates the request. When both sides are equal, the next import needs no request.
	if again := b.done("import", nil); again.ChangeRequest != request.ID || len(b.requests("open")) != 1 ||
		!strings.Contains(again.Reason, "updated the change request") {
		t.Errorf("%+v", again)
	}
	b.edit("more/last", "The end of us.", "The end of Git.")
	if o := b.done("import", nil); o.ChangeRequest != "" || b.request(request.ID).Status != "archived" {
		t.Errorf("%+v", o)
	}

	files["last.md"] = "# Last\n\nForced by Git.\n"
	b.commit(files)
	b.edit("more/last", "The end of Git.", "Ours.")
	b.edit("guide", "of us", "of none")
	b.done("import", map[string]any{"force": true})
	if *b.page("more/last").Markdown != "Forced by Git." || !strings.Contains(*b.page("guide").Markdown, "First words of us") {
		t.Errorf("%q %q", *b.page("more/last").Markdown, *b.page("guide").Markdown)
	}
	b.edit("more/last", "Forced by Git.", "Forced by us.")
	files["stray.md"], files["last.md"] = "# Stray\n", "# Last\n\nAgain.\n"
	files["SUMMARY.md"] += "* [Stray](stray.md)\n"
	b.commit(files)
	b.done("export", map[string]any{"force": true})
	got := b.files()
	if got["last.md"] != "# Last\n\nForced by us.\n" || got["stray.md"] != "" || got["guide/setup.md"] != files["guide/setup.md"] || strings.Contains(got["SUMMARY.md"], "Stray") {
		t.Errorf("%q", got)
	}
}

// TestGitForcePush checks that a branch with another history is imported in the same way as any other branch.
func TestGitForcePush(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(gitBook)
	b.done("import", nil)
	b.forge.Files("a.git", "main", map[string]string{"README.md": "# Home\n\nAnew.\n"})
	home := b.page("readme").ID
	b.done("import", nil)
	pages := apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content/pages", nil, 200).Pages
	if len(pages) != 1 || pages[0].ID != home || *b.page("readme").Markdown != "Anew." {
		t.Errorf("%+v", pages)
	}
}

// TestGitStandalone imports a revision that does not become the content of the space.
func TestGitStandalone(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(gitBook)
	o := b.done("import", map[string]any{"standalone": true})
	pages := apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content/pages", nil, 200).Pages
	alone := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/revisions/"+o.Revision, nil, 200)
	if len(pages) != 0 || len(alone.Pages) != 3 || len(alone.Files) != 1 {
		t.Errorf("%+v %+v", pages, alone)
	}
	b.WantError(b.Do("GET", "/v1/spaces/"+b.Ours.Space.ID+"/git/info", b.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
}

// TestGitOrder checks that an operation is skipped if it is older than the newest finished operation. Its state shows
// this.
func TestGitOrder(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(gitBook)
	b.done("import", nil)
	b.queue("import", map[string]any{"timestamp": "2020-01-01T00:00:00Z"})
	jobstest.RunAll(t, b.Store)
	if o := b.operations()[1]; o.State != schema.GitSkipped || !strings.Contains(o.Reason, "later timestamp") {
		t.Errorf("%+v", o)
	}
}

// TestGitFirstExport exports a space to a repository without a branch.
func TestGitFirstExport(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.change(map[string]any{"operation": "insert_page", "title": "Welcome", "icon": "bolt", "document": map[string]any{"markdown": "Hello."}})
	b.change(map[string]any{"operation": "insert_page", "title": "Alpha", "document": map[string]any{"markdown": "First."}})
	b.done("export", map[string]any{"repoProjectDirectory": "/docs/"})
	want := map[string]string{"docs/README.md": "---\nicon: bolt\n---\n\n# Welcome\n\nHello.\n", "docs/alpha.md": "# Alpha\n\nFirst.\n"}
	if diff := cmp.Diff(want, b.files()); diff != "" {
		t.Error(diff)
	}
	b.Exec("delete from git_syncs") // Octavo then treats the repository as another repository
	if o := b.sync("export", map[string]any{"repoProjectDirectory": "docs"}); o.State != schema.GitDone {
		t.Errorf("an export of what is there: %+v", o)
	}
}

// TestGitFailures checks that each failure names its step. A failed operation is retried only if this may help. A user
// can retry a failed operation with one request.
func TestGitFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		files    map[string]string
		more     map[string]any
		breakIt  func(b *gitBench)
		repairIt func(b *gitBench)
		reason   string
		attempts int
	}{
		{"wrong password", gitBook, nil, func(b *gitBench) {
			b.forge.Before = func(w http.ResponseWriter, r *http.Request) bool {
				http.Error(w, "s3cr3t is wrong", http.StatusUnauthorized)
				return true
			}
		}, func(b *gitBench) { b.forge.Before = nil }, "cannot authenticate: ", 1},
		{"server fails", gitBook, nil, func(b *gitBench) {
			b.forge.Before = func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(http.StatusBadGateway); return true }
		}, func(b *gitBench) { b.forge.Before = nil }, "cannot connect: the server failed", 6},
		{"no branch", nil, nil, func(*gitBench) {}, func(b *gitBench) { b.commit(gitBook) }, "cannot find the ref: ", 1},
		{"no folder", map[string]string{"x.md": "# X\n"}, map[string]any{"repoProjectDirectory": "docs"}, func(*gitBench) {},
			func(b *gitBench) { b.commit(map[string]string{"docs/x.md": "# X\n"}) }, "the repository has no such folder: docs", 1},
		{"no page", map[string]string{"main.go": "package main\n"}, nil, func(*gitBench) {}, func(b *gitBench) { b.commit(gitBook) }, "the repository has no page", 1},
		{"outside", gitBook, map[string]any{"repoProjectDirectory": "../x"}, func(*gitBench) {}, nil, "the project directory must be", 1},
		{"configuration", map[string]string{".gitbook.yaml": "root: [\n", "README.md": "# A\n"}, nil, func(*gitBench) {}, func(b *gitBench) { b.commit(gitBook) }, ".gitbook.yaml cannot be read", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			if c.files != nil {
				b.commit(c.files)
			}
			c.breakIt(b)
			o := b.sync("import", c.more)
			failed := b.failedJobs()
			if o.State != schema.GitFailed || !strings.HasPrefix(o.Reason, c.reason) || len(failed) != 1 || failed[0].Reason != o.Reason || failed[0].Attempt != c.attempts {
				t.Fatalf("%+v, jobs %+v", o, failed)
			}
			if strings.Contains(o.Reason+b.Log.String(), "s3cr3t") {
				t.Errorf("the password is in %q or in the log", o.Reason)
			}
			if c.repairIt == nil {
				return
			}
			c.repairIt(b)
			b.Want(http.StatusOK, "POST", "/v1/orgs/"+b.Ours.Organization.ID+"/jobs/"+failed[0].ID+"/retry", b.Ours.Tokens[schema.RoleAdmin], nil)
			jobstest.RunAll(t, b.Store)
			if o := b.operations()[0]; o.State != schema.GitDone {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestGitNotesOfAFolder imports a folder. The notes name the ignored files of the folder. Other folders of the
// repository have many links, and names that begin with the folder's name. The notes must not list these links.
func TestGitNotesOfAFolder(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	page := b.forge.Blob("a.git", "# Home\n")
	links := []gitsynctest.TreeEntry{gitsynctest.Entry("100644", "README.md", page)}
	for i := range 300 {
		links = append(links, gitsynctest.Entry("120000", fmt.Sprintf("l%03d.md", i), page))
	}
	docs := b.forge.Tree("a.git", gitsynctest.Entry("100644", "README.md", page),
		gitsynctest.Entry("120000", "link.md", page))
	others := b.forge.Tree("a.git", links...)
	b.forge.Commit("a.git", "main", b.forge.Tree("a.git", gitsynctest.Entry("040000", "a", others),
		gitsynctest.Entry("040000", "docs", docs), gitsynctest.Entry("040000", "docs-old", others)))
	for _, c := range []struct {
		folder string
		notes  int
	}{{"docs", 1}, {"/docs/", 1}, {"docs-old", 201}, {"", 201}} {
		o := b.done("import", b.of("a.git", "main", c.folder))
		if len(o.Notes) != c.notes || c.notes == 1 && o.Notes[0].Path != "docs/link.md" {
			t.Errorf("%q: %d notes, want %d: %+v", c.folder, len(o.Notes), c.notes, o.Notes[:min(3, len(o.Notes))])
		}
	}
}

// TestGitLeaves checks that entries which cannot be read stay unchanged and are listed.
func TestGitLeaves(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	page := b.forge.Blob("a.git", "# Home\n\n![l](large.png)\n")
	pointer := b.forge.Blob("a.git", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("a", 64)+"\nsize 1\n")
	first := b.forge.Commit("a.git", "other", b.forge.Tree("a.git", gitsynctest.Entry("100644", "README.md", page)))
	b.forge.Commit("a.git", "main", b.forge.Tree("a.git", gitsynctest.Entry("100644", "..", page), gitsynctest.Entry("100644", ".git", page),
		gitsynctest.Entry("100644", "README.md", page), gitsynctest.Entry("100644", "large.png", pointer), gitsynctest.Entry("120000", "link.md", page), gitsynctest.Entry("160000", "vendored", first)))
	o := b.done("import", nil)
	var notes []string
	for _, note := range o.Notes {
		notes = append(notes, note.Path+": "+note.Text)
	}
	want := []string{
		"..: left as it is: unsafe name", ".git: left as it is: unsafe name", "large.png: left as it is: file in Git LFS",
		"link.md: left as it is: symbolic link", "vendored: left as it is: submodule",
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
	tree := func() []string {
		return slices.DeleteFunc(strings.Split(b.forge.Git("a.git", "", "ls-tree", "main"), "\n"), func(line string) bool { return strings.HasSuffix(line, "README.md") })
	}
	before := tree()
	b.change(map[string]any{"operation": "update_page", "page": b.page("readme").ID, "title": "House"})
	b.done("export", nil)
	if diff := cmp.Diff(before, tree()); diff != "" {
		t.Error(diff)
	}
}

// TestGitCache checks that an import or export with a repoCacheID receives only new objects. Without a repoCacheID, it
// receives all objects.
func TestGitCache(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("page-%d.md", i)] = fmt.Sprintf("# Page %d\n\n%x\n", i, sha256.Sum256([]byte{byte(i)}))
	}
	b.commit(files)
	cached := map[string]any{"repoCacheID": "docs"}
	sent := func(kind string, more map[string]any) int64 {
		t.Helper()
		before := b.forge.Sent.Load()
		b.done(kind, more)
		return b.forge.Sent.Load() - before
	}
	whole := sent("import", cached)
	if n := sent("export", cached); n != 0 {
		t.Errorf("an export received %d bytes of what is known", n)
	}
	files["page-7.md"] = "# Page 7\n\nChanged.\n"
	b.commit(files)
	if n := sent("import", cached); n > whole/10 {
		t.Errorf("%d bytes for one page, %d for all", n, whole)
	}
	if page := b.page("page-7"); *page.Markdown != "Changed." {
		t.Errorf("%q", *page.Markdown)
	}
	b.edit("page-7", "Changed.", "Changed by us.")
	b.done("export", cached)
	files["page-7.md"] = "# Page 7\n\nChanged by us.\n"
	if diff := cmp.Diff(files, b.files()); diff != "" {
		t.Error(diff)
	}
	for name, more := range map[string]map[string]any{"no": nil, "another": {"repoCacheID": "other"}} {
		if n := sent("import", more); n < whole/2 {
			t.Errorf("%d bytes with %s repoCacheID, %d for all", n, name, whole)
		}
	}
}

// TestGitRedirects checks redirects of the repository. An old path leads to the present path of its page, until the
// redirect is removed from the repository. A page at the old path has precedence. An export does not change the file
// with the redirects.
func TestGitRedirects(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := maps.Clone(gitBook)
	files[".gitbook.yaml"] = "redirects: {old/setup: 'guide/setup.md',   last: guide/README.md, guide: last.md} # kept\n"
	b.commit(files)
	b.done("import", nil)
	setup := b.page("guide/setup")
	if page := b.page("old/setup/"); page.ID != setup.ID || page.Path != setup.Path || !strings.Contains(*page.Markdown, "Run it.") {
		t.Errorf("%+v", page)
	}
	if page := b.page("guide"); page.Title != "Guide" || b.page("last").ID != page.ID {
		t.Errorf("%+v", page)
	}
	b.change(map[string]any{"operation": "update_page", "page": setup.ID, "slug": "moved", "title": "Moved"})
	if page := b.page("old/setup"); page.ID != setup.ID || page.Path != "guide/moved" {
		t.Errorf("%+v", page)
	}
	b.done("export", nil)
	if b.files()[".gitbook.yaml"] != files[".gitbook.yaml"] {
		t.Error("the file is changed")
	}
	files = b.files()
	delete(files, ".gitbook.yaml")
	b.commit(files)
	b.done("import", map[string]any{"standalone": true})
	b.page("old/setup")
	b.done("import", nil)
	b.WantError(b.Do("GET", "/v1/spaces/"+b.Ours.Space.ID+"/content/path/old/setup", b.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
}

// TestGitRemovedFiles removes a file from the repository. The space loses the file when no page refers to it. Older
// revisions keep the file. Pages that a change request has changed keep it too.
func TestGitRemovedFiles(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := maps.Clone(gitBook)
	files["README.md"] += "\n![b](b.png) ![c](c.png) ![d](d.png)\n"
	for _, name := range []string{"b.png", "c.png", "d.png"} {
		files[name] = "picture " + name
	}
	b.commit(files)
	b.done("import", nil)
	read := func(revision string) string {
		t.Helper()
		at := "/v1/spaces/" + b.Ours.Space.ID + "/content"
		if revision != "" {
			at = "/v1/spaces/" + b.Ours.Space.ID + "/revisions/" + revision
		}
		var names []string
		for _, file := range apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", at, nil, 200).Files {
			names = append(names, file.Name)
		}
		return strings.Join(slices.Sorted(slices.Values(names)), " ")
	}
	first := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content", nil, 200).ID
	if got := read(""); got != "b.png c.png d.png pic.png" {
		t.Fatal(got)
	}
	// Another page of the space refers to d.png, and a change request refers to c.png.
	picture := strings.Fields(strings.Split(*b.page("readme").Markdown, "![")[4])[0]
	b.edit("more/last", "The end.", "The end: !["+picture)
	request := b.ChangeRequest(b.Ours)
	third := strings.Fields(strings.Split(*b.page("readme").Markdown, "![")[3])[0]
	text, err := json.Marshal(map[string]any{"operation": "update_page", "page": b.page("guide").ID, "document": map[string]any{"markdown": "![" + third}})
	if err != nil {
		t.Fatal(err)
	}
	b.ChangeContent(schema.RoleAdmin, request.ID, string(text))
	files["README.md"] = gitBook["README.md"]
	b.commit(files)
	b.done("import", nil)
	if got := read(""); got != "b.png c.png d.png pic.png" {
		t.Errorf("files that are in Git: %s", got)
	}
	for _, name := range []string{"b.png", "c.png", "d.png"} {
		delete(files, name)
	}
	b.commit(files)
	o := b.done("import", nil)
	if got := read(""); got != "c.png d.png pic.png" || read(o.Revision) != got {
		t.Errorf("after the removal: %s", got)
	}
	if got := read(first); got != "b.png c.png d.png pic.png" {
		t.Errorf("the first revision: %s", got)
	}
	// A file whose content has changed becomes a new file of the space. The old file is deleted.
	files[".gitbook/assets/pic.png"] = "another picture"
	b.commit(files)
	b.done("import", nil)
	if got := read(""); got != "c.png d.png pic.png" {
		t.Errorf("after a change: %s", got)
	}
}

// TestGitIncludes imports pages with reusable contents. Readers get the text of the contents, and so do callers who
// request it. If a content is missing, its block stays. Untouched parts of the files keep their bytes. An edit of a
// content makes a new content.
func TestGitIncludes(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	repository := map[string]string{
		"README.md": "# Home\n\nBefore.\n\n{% include \".gitbook/includes/notice.md\" %}\n\nBetween.\n\n{% include \".gitbook/includes/notice.md\" %}\n\n{% include \".gitbook/includes/none.md\" %}\n\n" +
			"{% include \".gitbook/includes/broken.md\" %}\n",
		"guide/setup.md": "# Setup\n\n{% include \"../.gitbook/includes/notice.md\" %}\n\n" +
			"<details>\n\n<summary>More</summary>\n\n{% include \"../.gitbook/includes/again.md\" %}\n\n</details>\n",
		".gitbook/includes/notice.md": "---\ntitle: Notice\n---\n\n## Mind the gap\n\nRead [setup](../../guide/setup.md).\n\n" +
			"{% if visitor.claims.unsigned.plan == \"pro\" %}\nFor some.\n{% endif %}\n",
		".gitbook/includes/broken.md": "no text: \xff\xfe\n",
		".gitbook/includes/again.md":  "Once more.\n\n{% include \"notice.md\" %}\n",
	}
	b.commit(repository)
	b.done("import", nil)
	space := "/v1/spaces/" + b.Ours.Space.ID
	home, setup := b.page("readme"), b.page("guide/setup")
	read := func(path, token string) string {
		t.Helper()
		a := b.Do("GET", path, token, nil)
		if a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		return string(a.Body)
	}
	if _, err := b.Store.Sites.Publish(t.Context(), b.Ours.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	admin := b.Ours.Tokens[schema.RoleAdmin]
	reader := b.Want(http.StatusOK, "POST", "/v1/urls/published", storetest.Token(t, b.Store, store.NewToken{FrontEnd: true}),
		map[string]any{"url": "https://docs.example.com/base/~/sites/" + b.Ours.Site.ID})["apiToken"].(string)
	document := func(page, token, query string) string {
		revision := b.Want(http.StatusOK, "GET", space, admin, nil)["revision"].(string)
		return read(space+"/revisions/"+revision+"/page/"+page+"/document?"+query, token)
	}
	const block = `"type":"reusable-content"`
	for name, text := range map[string]string{
		"a user":          document(home.ID, admin, ""),
		"a user, the tag": read(space+"/content/page/"+home.ID+"?format=markdown", admin),
	} {
		if strings.Contains(text, "Mind the gap") || strings.Count(text, block)+strings.Count(text, "{% include") != 4 {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, text := range map[string]string{
		"a user who asks": document(home.ID, admin, "dereferenced=reusable-contents"),
		"a reader":        document(home.ID, reader, "evaluated=deterministic-only&dereferenced=reusable-contents"),
	} {
		asks := name == "a user who asks"
		if strings.Count(text, `"Mind the gap"`) != 2 || strings.Count(text, block) != 2 || strings.Count(text, `"page":"`+setup.ID+`"`) != 2 ||
			!strings.Contains(text, `"id":"mind-the-gap-1"`) || strings.Contains(text, "For some.") != asks {
			t.Errorf("%s: %s", name, text)
		}
		var d schema.Document
		if err := json.Unmarshal([]byte(text), &d); err != nil || !keys.Complete(d) {
			t.Errorf("%s: the keys are not unique: %s %v", name, text, err)
		}
	}
	if text := document(setup.ID, reader, ""); !strings.Contains(text, "Once more.") || strings.Count(text, "Mind the gap") != 1 || strings.Count(text, block) != 1 {
		t.Errorf("below another block: %s", text)
	}
	if text := read(space+"/content/page/"+home.ID+"?format=markdown", reader); strings.Count(text, "## Mind the gap") != 2 || !strings.Contains(text, "none.md") {
		t.Errorf("Markdown: %s", text)
	}
	if o := b.done("export", nil); o.Commit != b.operations()[0].Commit {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff(repository, b.files()); diff != "" {
		t.Error(diff)
	}
	b.edit("readme", "Between.", "In between.")
	b.done("export", nil)
	repository["README.md"] = strings.Replace(repository["README.md"], "Between.", "In between.", 1)
	if diff := cmp.Diff(repository, b.files()); diff != "" {
		t.Error(diff)
	}
	// A PDF contains what readers see. Links in the content lead to pages of the PDF.
	pages := printed{&strings.Builder{}}
	b.Want(http.StatusOK, "GET", b.RequestPath(b.ChangeRequest(b.Ours).ID)+"/pdf", admin, nil)
	jobstest.DrainWith(t, b.Store, pages)
	if text := pages.text.String(); strings.Count(text, "Mind the gap") != 3 || strings.Count(text, `"page":2`) != 3 ||
		strings.Count(text, "Once more.") != 1 || strings.Count(text, `"card"`) != 3 {
		t.Errorf("the PDF has other contents: %s", text)
	}
	// The content changes in the repository. Unchanged pages then show the new content.
	repository[".gitbook/includes/notice.md"] = "Mind nothing.\n"
	repository[".gitbook/includes/none.md"] = "Here by now.\n"
	b.commit(repository)
	b.done("import", nil)
	if text := document(home.ID, reader, ""); strings.Count(text, "Mind nothing.") != 2 || !strings.Contains(text, "Here by now.") || strings.Count(text, block) != 1 {
		t.Errorf("after the change: %s", text)
	}
}
