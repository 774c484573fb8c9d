package content_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/schema"
)

// keptBook imports the page Home, and an unreadable page of each kind.
func (b *gitBench) keptBook() (titles []string) {
	b.T.Helper()
	blob := func(content string) string { return b.forge.Blob("a.git", content) }
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 1\n"
	module := b.forge.Commit(
		"a.git",
		"module",
		b.forge.Tree("a.git", gitsynctest.Entry("100644", "x.md", blob("# X\n"))),
	)
	entries := []gitsynctest.TreeEntry{
		gitsynctest.Entry("100644", "A.md", blob("# Upper\n")), gitsynctest.Entry("100644", "README.md",
			blob("# Home\n\nHi.\n")),
		gitsynctest.Entry("100644", "a.md", blob("# Lower\n")), gitsynctest.Entry("100644", "gbk.md",
			blob("# G\n\n\xc4\xe3\xba\xc3\n")),
		gitsynctest.Entry("100644", "latin.md", blob("# Caf\xe9\n\nD\xe9j\xe0 vu.\n")), gitsynctest.Entry("100644",
			"lfs.md", blob(pointer)),
		gitsynctest.Entry("120000", "link.md", blob("README.md")), gitsynctest.Entry("160000", "mod", module),
		gitsynctest.Entry("100644", "pic.md", blob("\x89PNG\r\n\x1a\n\x00\x00")), gitsynctest.Entry("100644", "wide.md",
			blob("\xff\xfe#\x00 \x00W\x00")),
	}
	summary := "# S\n\n* [Home](README.md)\n"
	for _, name := range []string{"a", "gbk", "latin", "lfs", "link", "mod/x", "pic", "wide"} {
		titles = append(titles, "K "+name)
		summary += "* [K " + name + "](" + name + ".md)\n"
	}
	at := slices.IndexFunc(entries, func(e gitsynctest.TreeEntry) bool { return e.Name == "a.md" })
	entries = slices.Insert(entries, at, gitsynctest.Entry("100644", "SUMMARY.md", blob(summary)))
	b.forge.Commit("a.git", "main", b.forge.Tree("a.git", entries...))
	return titles
}

// TestGitKept checks that every edit of a read-only page is refused with the reason. Exports of other pages still work.
func TestGitKept(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.keptBook()
	o := b.done("import", nil)
	for _, name := range []string{"a.md", "gbk.md", "latin.md", "lfs.md", "link.md", "mod/x.md", "pic.md", "wide.md"} {
		if !slices.ContainsFunc(o.Notes, func(n schema.GitNote) bool { return n.Path == name }) {
			t.Errorf("no note names %s: %+v", name, o.Notes)
		}
	}
	tree := func() string { return b.forge.Git("a.git", "", "ls-tree", "-r", "main") }
	before := tree()
	pages := apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleRead, "GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/content/pages", nil, 200).Pages
	if len(pages) != 9 {
		t.Fatalf("%+v", pages)
	}
	first := o.Revision
	for _, p := range pages[1:] {
		shown := *b.page(p.Path).Markdown
		if !strings.Contains(strings.ReplaceAll(shown, `\`, ""), " cannot be edited here: it ") {
			t.Errorf("%s: %q", p.Path, shown)
		}
		nodes := []any{map[string]any{"type": "paragraph"}}
		for name, change := range map[string]map[string]any{
			"Markdown": {"operation": "update_page", "document": map[string]any{"markdown": shown + "\n\nMore.\n"}},
			"document": {"operation": "update_page",
				"document": map[string]any{"document": map[string]any{"nodes": nodes}}},
			"nothing": {"operation": "update_page", "document": map[string]any{}},
			"title":   {"operation": "update_page", "title": "New", "document": map[string]any{"markdown": "x"}},
		} {
			change["page"] = p.ID
			request := b.ChangeRequest(b.Ours)
			answer := b.Do(
				"POST",
				b.RequestPath(request.ID)+"/content",
				b.token,
				map[string]any{"changes": []any{change}},
			)
			refused := b.WantError(answer, http.StatusBadRequest)
			if !strings.Contains(string(answer.Body), "changes[0].document") || !strings.Contains(string(answer.Body),
				"cannot be edited here: it ") {
				t.Errorf("%s, %s: %+v", p.Path, name, refused)
			}
		}
	}
	// Users can still change the title and the position of the page.
	b.change(map[string]any{"operation": "update_page", "page": pages[2].ID, "title": "Gee"})
	b.edit("readme", "Hi.", "Hello.")
	b.done("export", nil)
	changed := func(after string) (paths []string) {
		was := strings.Split(before, "\n")
		for _, line := range strings.Split(after, "\n") {
			if !slices.Contains(was, line) {
				_, path, _ := strings.Cut(line, "\t")
				paths = append(paths, path)
			}
		}
		return paths
	}
	if got := changed(tree()); !slices.Equal(got, []string{"README.md", "SUMMARY.md"}) {
		t.Errorf("the export changed %v", got)
	}
	before = tree()
	if o := b.done("import", nil); tree() != before || b.page(pages[2].Path).Title != "Gee" {
		t.Errorf("%+v", o)
	}
	// When the file becomes readable, its page can be edited. The earlier read-only state of the page cannot be
	// restored.
	files := map[string]string{"README.md": "# Home\n\nHello.\n",
		"SUMMARY.md": "# S\n\n* [Home](README.md)\n* [L](latin.md)\n", "latin.md": "# L\n\nCafé.\n"}
	b.commit(files)
	b.done("import", nil)
	latin := b.page("latin")
	if *latin.Markdown != "Café." {
		t.Errorf("%q", *latin.Markdown)
	}
	request := b.ChangeRequest(b.Ours)
	b.WantError(b.Do("POST", b.RequestPath(request.ID)+"/content", b.token, map[string]any{"changes": []any{
		map[string]any{"operation": "revert_page", "page": latin.ID, "revision": first},
	}}), http.StatusBadRequest)
	b.edit("latin", "Café.", "Cafés.")
	b.done("export", nil)
	files["latin.md"] = "# L\n\nCafés.\n"
	if got := b.files(); !maps.Equal(got, files) {
		t.Errorf("%q", got)
	}
}

// TestGitKeptMerges edits a page in a change request. Then the file of the page becomes unreadable. The edit is in
// conflict with the unreadable file. With both choices, the file stays unchanged.
func TestGitKeptMerges(t *testing.T) {
	t.Parallel()
	for _, take := range []string{"ours", "theirs"} {
		t.Run(take, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			files := map[string]string{"README.md": "# Home\n", "a.md": "# A\n\nText.\n"}
			b.commit(files)
			b.done("import", nil)
			request := b.ChangeRequest(b.Ours)
			b.ChangeContent(schema.RoleAdmin, request.ID,
				fmt.Sprintf(`{"operation":"update_page","page":%q,"document":{"markdown":"Edited."}}`, b.page("a").ID))
			files["a.md"] = "# A\n\nT\xe9xt.\n"
			tip := b.commit(files)
			b.done("import", nil)
			if result := b.MergeNow(request.ID); result.Result != "conflicts" {
				t.Fatalf("%+v", result)
			}
			conflict := conflictAt(b.Harness, request.ID, "document")
			if takes := fmt.Sprint(conflict["takes"]); takes != "[ours theirs]" {
				t.Errorf("takes %s", takes)
			}
			resolve(
				b.Harness,
				request.ID,
				conflict["id"],
				`{"take":"value","value":{"nodes":[]}}`,
				http.StatusBadRequest,
			)
			resolve(b.Harness, request.ID, conflict["id"], fmt.Sprintf(`{"take":%q}`, take), http.StatusOK)
			if result := b.MergeNow(request.ID); result.Result != "merge" {
				t.Fatalf("%+v", result)
			}
			if shown := *b.page("a").Markdown; strings.Contains(shown, "Edited.") != (take == "ours") {
				t.Errorf("%q", shown)
			}
			o := b.done("export", nil)
			noted := slices.ContainsFunc(o.Notes, func(n schema.GitNote) bool { return n.Path == "a.md" })
			if o.Commit != tip || noted != (take == "ours") {
				t.Errorf("%+v", o)
			}
			if o := b.done("import", nil); strings.Contains(*b.page("a").Markdown, "Edited.") != (take == "ours") {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestGitKeptTranslation checks that a translation does not change the text of a read-only page. The translated page is
// also read-only.
func TestGitKeptTranslation(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.keptBook()
	b.done("import", nil)
	server := chattest.New(t, func(r chattest.Request) chattest.Answer { return translationtest.LoudModel(t, r) })
	translator := translationtest.Model(t, server)
	path := "/v1/orgs/" + b.Ours.Organization.ID + "/translations"
	made := b.Want(http.StatusCreated, "POST", path, b.token,
		fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"de"}`, b.Ours.Space.ID))
	run := func() {
		t.Helper()
		if failed := jobstest.RunAllWith(t, b.Store, translator); len(failed) > 0 {
			t.Fatalf("%+v", failed)
		}
	}
	b.Want(http.StatusNoContent, "POST", path+"/"+made["id"].(string)+"/run", b.token, nil)
	run()
	copied := b.Want(http.StatusOK, "GET", path+"/"+made["id"].(string), b.token,
		nil)["result"].(map[string]any)["space"].(string)
	pages := apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleRead, "GET", "/v1/spaces/"+copied+"/content/pages",
		nil, 200).Pages
	if len(pages) != 9 {
		t.Fatalf("%+v", pages)
	}
	for _, p := range pages[1:] {
		page := b.Want(
			http.StatusOK,
			"GET",
			"/v1/spaces/"+copied+"/content/page/"+p.ID+"?format=markdown",
			b.token,
			nil,
		)
		if !strings.Contains(strings.ReplaceAll(fmt.Sprint(page["markdown"]), `\`, ""), "cannot be edited here: it ") {
			t.Errorf("%v", page)
		}
		request := b.Want(http.StatusCreated, "POST", "/v1/spaces/"+copied+"/change-requests", b.token,
			map[string]any{})["id"].(string)
		b.Want(http.StatusBadRequest, "POST", "/v1/spaces/"+copied+"/change-requests/"+request+"/content", b.token,
			map[string]any{"changes": []any{
				map[string]any{"operation": "update_page", "page": p.ID, "document": map[string]any{"markdown": "x"}},
			}})
	}
	b.Want(http.StatusNoContent, "POST", path+"/"+made["id"].(string)+"/run", b.token, nil)
	run()
}
