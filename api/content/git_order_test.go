package content_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// texts returns the Markdown of all pages in the space, by the pages' titles.
func (b *gitBench) texts() map[string]string {
	b.T.Helper()
	texts := map[string]string{}
	var each func(pages []schema.RevisionPage)
	each = func(pages []schema.RevisionPage) {
		for _, p := range pages {
			title := p.Title
			for n := 2; texts[title] != ""; n++ {
				title = fmt.Sprint(p.Title, " ", n)
			}
			page := apitest.Ask[schema.RevisionPage](
				b.Harness, schema.RoleAdmin, "GET",
				"/v1/spaces/"+b.Ours.Space.ID+"/content/page/"+p.ID+"?format=markdown", nil, 200,
			)
			texts[title] = schema.Or(page.Markdown, "") + "\n"
			each(p.Pages)
		}
	}
	each(apitest.Ask[schema.RevisionPages](
		b.Harness, schema.RoleAdmin, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content/pages", nil, 200,
	).Pages)
	return texts
}

// has checks the texts of all pages.
func (b *gitBench) has(what string, want map[string]string) {
	b.T.Helper()
	if diff := cmp.Diff(want, b.texts()); diff != "" {
		b.T.Errorf("%s: %s", what, diff)
	}
}

// filesOf returns the files of a branch in a repository.
func (b *gitBench) filesOf(repository, branch string) map[string]string {
	b.T.Helper()
	files := b.forge.Contents(repository, branch)
	for path, text := range files {
		files[path] = strings.TrimSuffix(text, "\n") + "\n"
	}
	return files
}

// of returns the parameters of an operation for a branch of a repository, and for a folder in the branch.
func (b *gitBench) of(repository, branch, folder string) map[string]any {
	more := map[string]any{
		"url": strings.Replace(b.forge.HTTP.URL, "http://", "http://me:s3cr3t@", 1) + "/" + repository,
		"ref": "refs/heads/" + branch,
	}
	if folder != "" {
		more["repoProjectDirectory"] = folder
	}
	return more
}

func (b *gitBench) insert(title, markdown string) {
	b.T.Helper()
	b.change(map[string]any{
		"operation": "insert_page", "title": title, "document": map[string]any{"markdown": markdown},
	})
}

// conflicting runs an import that has conflicts. It returns the change request that the import has created or updated.
// It checks that the space is unchanged.
func (b *gitBench) conflicting(more map[string]any) (request schema.ChangeRequest, o schema.GitOperation) {
	b.T.Helper()
	head := b.head()
	o = b.done("import", more)
	if o.ChangeRequest == "" || b.head() != head {
		b.T.Fatalf("the import changed the space: %+v", o)
	}
	request = b.request(o.ChangeRequest)
	if request.Status != "open" || !strings.Contains(o.Reason, fmt.Sprintf("change request %d", request.Number)) {
		b.T.Fatalf("%+v %+v", request, o)
	}
	return request, o
}

// resolve takes the same side in all conflicts of a request, and merges the request.
func (b *gitBench) resolve(request, take string) {
	b.T.Helper()
	list := conflictList(b.Harness, request, "")
	if len(list) == 0 {
		b.T.Fatal("no conflict")
	}
	for _, conflict := range list {
		b.Want(200, "POST", b.RequestPath(request)+"/conflicts/"+conflict["id"].(string),
			b.Ours.Tokens[schema.RoleAdmin], map[string]any{"take": take})
	}
	b.merged(request)
}

var handbook = map[string]string{
	"README.md":       "# Home\n\nWelcome to the handbook.\n\nSecond   paragraph.\n",
	"guide/README.md": "# Guide\n\nFirst words.\n",
	"guide/setup.md":  "# Setup\n\nRun it.\n",
}

func handbookTexts(with map[string]string) map[string]string {
	texts := map[string]string{
		"Home": "Welcome to the handbook.\n\nSecond   paragraph.\n", "Guide": "First words.\n", "Setup": "Run it.\n",
	}
	maps.Copy(texts, with)
	return texts
}

// TestGitImportMeetsPages imports into spaces whose pages were never in a repository.
func TestGitImportMeetsPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		title, markdown string
		take            string // side to take in the conflict, or "" if there is no conflict
		want            map[string]string
		home            string // README.md after the export, if the export changes this file
	}{
		"another page":        {"Own page", "Mine.", "", handbookTexts(map[string]string{"Own page": "Mine.\n"}), ""},
		"an equal page":       {"Home", "Welcome to the handbook.\n\nSecond   paragraph.", "", handbookTexts(nil), ""},
		"a page without text": {"Home", "", "", handbookTexts(nil), ""},
		"another text, ours": {
			"Home", "Welcome to the handbook.\n\nAnother.", "ours", handbookTexts(nil), "",
		},
		"another text, the space's": {
			"Home", "Welcome to the handbook.\n\nAnother.", "theirs",
			handbookTexts(map[string]string{"Home": "Welcome to the handbook.\n\nAnother.\n"}),
			"# Home\n\nWelcome to the handbook.\n\nAnother.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			b.commit(handbook)
			b.insert(c.title, c.markdown)
			if c.take == "" {
				if o := b.done("import", nil); o.ChangeRequest != "" {
					t.Errorf("%+v", o)
				}
			} else {
				request, o := b.conflicting(nil)
				if !strings.Contains(o.Reason, `"Home" (the whole text)`) {
					t.Errorf("%q", o.Reason)
				}
				b.resolve(request.ID, c.take)
			}
			b.has(name, c.want)
			want := maps.Clone(handbook)
			if name == "another page" {
				want["own-page.md"] = "# Own page\n\nMine.\n"
				delete(want, "SUMMARY.md")
			}
			if c.home != "" {
				want["README.md"] = c.home
			}
			b.done("export", nil)
			got := b.files()
			delete(got, "SUMMARY.md") // the order of the pages may differ from the order of the folders
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			b.done("import", nil)
			b.has(name+", imported again", c.want)
		})
	}
}

// TestGitImportOfACopy imports two branches at one commit, and edits a page in between. Afterwards, the space contains
// the edit once.
func TestGitImportOfACopy(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	tip := b.commit(handbook)
	b.forge.Git("a.git", "", "update-ref", "refs/heads/copy", tip)
	b.done("import", nil)
	b.edit("readme", "Welcome to the handbook.", "Welcome to the handbook, edited here.")
	edited := handbookTexts(map[string]string{
		"Home": "Welcome to the handbook, edited here.\n\nSecond   paragraph.\n",
	})
	b.done("import", b.of("a.git", "copy", ""))
	b.has("the copy", edited)
	b.done("export", b.of("a.git", "copy", ""))
	want := maps.Clone(handbook)
	want["README.md"] = strings.Replace(want["README.md"], "handbook.", "handbook, edited here.", 1)
	if diff := cmp.Diff(want, b.filesOf("a.git", "copy")); diff != "" {
		t.Error(diff)
	}
	// The space keeps the edit, even if main does not have the edit yet.
	b.done("import", nil)
	b.has("main again", edited)
	b.commit(want)
	b.done("import", nil)
	b.has("main with the edit", edited)
}

// TestGitImportsOfBranches imports several branches in turn, with edits in between.
func TestGitImportsOfBranches(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(handbook)
	other := maps.Clone(handbook)
	other["README.md"] = strings.Replace(other["README.md"], "handbook.", "other handbook.", 1)
	other["extra.md"] = "# Extra\n\nMore.\n"
	delete(other, "guide/setup.md")
	b.forge.Files("a.git", "other", other)
	b.done("import", nil)
	setup := b.page("guide/setup").ID
	b.edit("guide", "First words.", "First words of us.")
	b.done("import", b.of("a.git", "other", ""))
	b.has("other", map[string]string{
		"Home": "Welcome to the other handbook.\n\nSecond   paragraph.\n", "Guide": "First words of us.\n",
		"Extra": "More.\n",
	})
	b.edit("extra", "More.", "More of us.")
	// The only conflict is about an edited page that main does not have.
	request, o := b.conflicting(nil)
	if !strings.Contains(o.Reason, `pages "Extra" (deleted on one side, changed on the other): `) {
		t.Errorf("%q", o.Reason)
	}
	b.resolve(request.ID, "theirs")
	want := handbookTexts(map[string]string{"Guide": "First words of us.\n", "Extra": "More of us.\n"})
	b.has("main again", want)
	if again := b.page("guide/setup").ID; again != setup {
		t.Errorf("the page was %s and is %s", setup, again)
	}
	b.done("export", nil)
	files := maps.Clone(handbook)
	files["guide/README.md"], files["extra.md"] = "# Guide\n\nFirst words of us.\n", "# Extra\n\nMore of us.\n"
	if diff := cmp.Diff(files, b.files()); diff != "" {
		t.Error(diff)
	}
	// With force, the import makes the space equal to the branch. The next import starts from this state.
	b.done("import", map[string]any{"ref": "refs/heads/other", "force": true})
	b.edit("extra", "More.", "More again.")
	b.done("import", b.of("a.git", "other", ""))
	b.has("other by force", map[string]string{
		"Home": "Welcome to the other handbook.\n\nSecond   paragraph.\n", "Guide": "First words.\n",
		"Extra": "More again.\n",
	})
}

// TestGitImportsOfFolders imports the root and a folder in turn, with edits in between.
func TestGitImportsOfFolders(t *testing.T) {
	t.Parallel()
	for _, steps := range [][]string{{"", "guide", ""}, {"guide", "", "guide"}} {
		t.Run(strings.Join(steps, " then "), func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			files := maps.Clone(handbook)
			files["README.md"] += "\nSee [setup](guide/setup.md) ![p](img/p.png)\n"
			files["guide/setup.md"] += "\nSee [home](../README.md) ![p](../img/p.png)\n"
			files["img/p.png"] = "picture\n"
			tip := b.commit(files)
			want := map[string]string{}
			for i, folder := range steps {
				b.done("import", b.of("a.git", "main", folder))
				texts := b.texts()
				for title, text := range texts {
					if strings.Contains(text, "paragraph.") && strings.Count(text, "Welcome") != 1 ||
						strings.HasSuffix(title, " 2") {
						t.Errorf("step %d: %q is %q", i, title, text)
					}
				}
				for title, edit := range want {
					if !strings.Contains(texts[title], edit) {
						t.Errorf("step %d: %q is %q", i, title, texts[title])
					}
				}
				if n := len(texts); n != 3 && (i > 0 || folder == "") {
					t.Errorf("step %d: %q", i, texts)
				}
				for _, p := range b.pagesNow() {
					if p.Title == "Setup" {
						from := fmt.Sprintf("Run it%s.", strings.Repeat(" again", i))
						b.edit(p.Path, from, strings.Replace(from, ".", " again.", 1))
						want["Setup"] = strings.Replace(from, ".", " again.", 1)
					}
				}
			}
			last := steps[len(steps)-1]
			b.done("export", b.of("a.git", "main", last))
			got := b.files()
			delete(got, "SUMMARY.md")
			delete(got, "guide/SUMMARY.md")
			files["guide/setup.md"] = strings.Replace(files["guide/setup.md"], "Run it.", want["Setup"], 1)
			if diff := cmp.Diff(files, got); diff != "" {
				t.Errorf("the export after %s: %s", tip, diff)
			}
		})
	}
}

// pagesNow returns all pages of the space, at every depth.
func (b *gitBench) pagesNow() (list []schema.RevisionPage) {
	b.T.Helper()
	var each func(pages []schema.RevisionPage)
	each = func(pages []schema.RevisionPage) {
		for _, p := range pages {
			list = append(list, p)
			each(p.Pages)
		}
	}
	each(apitest.Ask[schema.RevisionPages](
		b.Harness, schema.RoleAdmin, "GET", "/v1/spaces/"+b.Ours.Space.ID+"/content/pages", nil, 200,
	).Pages)
	return list
}

// TestGitImportOfAnotherRepository imports a copy of the repository from another address. It also imports a repository
// with other pages.
func TestGitImportOfAnotherRepository(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := maps.Clone(handbook)
	files["README.md"] += "\n![p](img/p.png)\n"
	files["img/p.png"] = "picture"
	b.commit(files)
	b.forge.Repository("copy.git")
	b.forge.Files("copy.git", "main", files)
	b.done("import", nil)
	before := b.texts()
	b.done("import", b.of("copy.git", "main", ""))
	b.has("a copy", before)
	// A page is moved in the space, and another page is edited.
	b.change(map[string]any{
		"operation": "update_page", "page": b.page("guide/setup").ID, "slug": "install", "title": "Install",
	})
	b.edit("guide", "First words.", "First words of us.")
	b.done("import", b.of("copy.git", "main", ""))
	moved := maps.Clone(before)
	delete(moved, "Setup")
	moved["Install"], moved["Guide"] = "Run it.\n", "First words of us.\n"
	b.has("a copy after edits", moved)
	b.forge.Repository("third.git")
	b.forge.Files("third.git", "main", map[string]string{
		"README.md": handbook["README.md"], "guide/README.md": "# Guide\n\nThird words.\n",
		"third.md": "# Third\n\nNew.\n",
	})
	request, o := b.conflicting(b.of("third.git", "main", ""))
	if !strings.Contains(o.Reason, `"Guide" (the whole text)`) {
		t.Errorf("%q", o.Reason)
	}
	b.resolve(request.ID, "theirs")
	want := maps.Clone(moved)
	want["Third"] = "New.\n"
	if got := b.texts(); got["Guide"] != want["Guide"] || got["Third"] != want["Third"] || len(got) != len(want) {
		t.Errorf("%q", got)
	}
}

// TestGitImportOfNothing checks that the import of a repository without commits fails immediately. The next operation
// then runs.
func TestGitImportOfNothing(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.insert("Home", "Mine.")
	if o := b.sync("import", nil); o.State != schema.GitFailed || !strings.Contains(o.Reason, "no commit") {
		t.Errorf("%+v", o)
	}
	b.has("nothing", map[string]string{"Home": "Mine.\n"})
	b.done("export", nil)
	b.done("import", nil)
	b.has("what was exported", map[string]string{"Home": "Mine.\n"})
	// In Git, another branch continues from the exported commit.
	b.forge.Files(
		"a.git",
		"dev",
		map[string]string{"README.md": "# Home\n\nMine, changed.\n", "new.md": "# New\n\nText.\n"},
	)
	b.done("import", b.of("a.git", "dev", ""))
	b.has("another branch", map[string]string{"Home": "Mine, changed.\n", "New": "Text.\n"})
}
