package content_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// linkedBooks are repositories whose pages spell links in many ways. Almost every page has a paragraph that the test
// edits.
var linkedBooks = map[string]map[string]string{
	"names that are no slugs": {
		"SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/my_first_page.md)\n",
		"README.md": "# Home\n\nPlain words.\n\nSee [the guide](guide/my_first_page.md) and " +
			"[sec](guide/my_first_page.md#one).\n\n" +
			"![Pic](img/Pic_One.png) and [own](#below), [own too](README.md#below), [self](README.md).\n\n## " +
			"Below\n\nAgain " +
			"[own](#below).\n",
		"guide/my_first_page.md": "# Guide\n\nPlain words.\n\n## One\n\n[back](../README.md) ![](../img/Pic_One.png) " +
			"[pdf](../img/a%20b.pdf)\n",
		"img/Pic_One.png": "png\n", "img/a b.pdf": "pdf\n",
	},
	"a root, assets, includes, odd nesting": {
		".gitbook.yaml": "root: ./docs/\n",
		"docs/SUMMARY.md": "# S\n\n* [Home](README.md)\n  * [Far](x/y/Far_Away.md)\n  * Plain\n    * " +
			"[Under](other/UNDER.md)\n\n## Group\n\n" +
			"* [Folder](folder/README.md)\n  * [In](folder/in.md)\n",
		"docs/README.md": "# Home\n\nPlain words.\n\n[a](./x/y/Far_Away.md) [b](x/y/Far_Away.md) [c](folder/) " +
			"[d](folder) [e](folder/README.md#h)\n\n" +
			"{% include \".gitbook/includes/note.md\" %}\n\n{% file src=\".gitbook/assets/a b.pdf\" %}\n\n" +
			"{% content-ref url=\"folder/in.md\" %}\n[in.md](folder/in.md)\n{% endcontent-ref %}\n",
		"docs/x/y/Far_Away.md": "---\ndescription: d\n---\n\n# Far\n\nPlain words.\n\n* [up](../../README.md)\n* " +
			"[under](../../other/UNDER.md#x)\n\n" +
			"| a | b |\n| - | - |\n| [in](../../folder/in.md) | ![](<../../.gitbook/assets/p q.png>) |\n",
		"docs/other/UNDER.md": "Plain words.\n\n[gone](missing.md), [code](../../src/main.go), " +
			"[mail](mailto:a@b.example), [web](https://x.example/a.md), <https://x.example>\n",
		"docs/folder/README.md": "# Folder\n\nPlain words.\n\nSee [one][1] and [two].\n\n[1]: in.md\n[two]: " +
			"../README.md#below\n",
		"docs/folder/in.md": "# In\n\nPlain words.\n\n[up](./)\n\n{% hint style=\"info\" %}\n" +
			"[far](../x/y/Far_Away.md)\n{% endhint %}\n",
		"docs/.gitbook/includes/note.md": "Note [home](../../README.md).\n",
		"docs/.gitbook/assets/a b.pdf":   "pdf\n",
		"docs/.gitbook/assets/p q.png":   "png\n",
		"src/main.go":                    "package main\n",
	},
	"links as sites have them": {
		".gitbook.yaml":  "root: ./docs/\n",
		"docs/README.md": "# Home\n\nPlain words.\n\n[a](FAQ) [b](FAQ/) [c](features/analysis/) [d](features)\n",
		"docs/FAQ.md":    "# FAQ\n\nPlain words.\n\n[a](../best-practices) [b](../features/analysis/#one)\n",
		"docs/best-practices.md": "# Best\n\nPlain words. Read the [FAQ page](../FAQ) as well.\n" +
			"Or [this](../features/analysis),\n[that](features/analysis.md) and [the FAQ](FAQ.md).\n",
		"docs/features/analysis.md": "# Analysis\n\nPlain words.\n\n* [a](../../FAQ)\n* [b](../FAQ.md#x) " +
			"[c](../../FAQ/#x)\n",
		"docs/analysis/prometheus.md": "# P\n\nPlain words.\n\nSee [the overview](../../features/analysis) [x](../web).\n",
		"docs/analysis/web.md":        "# Web\n\nPlain words.\n",
	},
	"folders": {
		"README.md": "# Home\r\n\r\nPlain words.\r\n\r\n[a](Upper_Case/Some_Page.md), " +
			"[b](Upper_Case/README.md#h), [none](#nowhere)\r\n",
		"Upper_Case/README.md": "# Upper\n\nPlain words.\n\n[x](Some_Page.md#two) [y](./Some_Page.md) " +
			"[z](../README.md)\n",
		"Upper_Case/Some_Page.md": "# Some\n\nPlain words.\n\n[up](README.md) [dot](../Upper_Case/README.md)\n",
		"a.b/v1.2.md":             "# V\n\nPlain words.\n\n[h](../README.md) [s](../Upper_Case/Some_Page.md)\n",
	},
}

var refForms = []string{"markdown", "markdown&format.markdown.refs=relative", "markdown&format.markdown.refs=stable",
	"document"}

// pageIDs returns the ids of the space's document pages, in the order of the pages.
func (b *gitBench) pageIDs() (ids []string) {
	b.T.Helper()
	var walk func(pages []schema.RevisionPage)
	walk = func(pages []schema.RevisionPage) {
		for _, p := range pages {
			if p.Type == "document" {
				ids = append(ids, p.ID)
			}
			walk(p.Pages)
		}
	}
	walk(apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleRead, "GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/content/pages", nil, 200).Pages)
	return ids
}

// body returns a page in a form that a client can send back.
func (b *gitBench) body(id, form string) map[string]any {
	b.T.Helper()
	page := b.Want(
		http.StatusOK,
		"GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/content/page/"+id+"?format="+form,
		b.token,
		nil,
	)
	if form == "document" {
		return map[string]any{"document": page["document"]}
	}
	return map[string]any{"markdown": page["markdown"]}
}

// update writes new bodies of pages with one change request, and merges the request.
func (b *gitBench) update(bodies map[string]map[string]any) {
	b.T.Helper()
	var changes []string
	for _, id := range slices.Sorted(maps.Keys(bodies)) {
		text, err := json.Marshal(map[string]any{"operation": "update_page", "page": id, "document": bodies[id]})
		if err != nil {
			b.T.Fatal(err)
		}
		changes = append(changes, string(text))
	}
	request := b.ChangeRequest(b.Ours)
	b.ChangeContent(schema.RoleAdmin, request.ID, changes...)
	if result := b.MergeNow(request.ID); result.Result != "merge" {
		b.T.Fatalf("%+v", result)
	}
}

// TestGitReferences reads pages in every form and writes them back. The files in Git stay unchanged. If one paragraph
// is edited, only its line changes.
func TestGitReferences(t *testing.T) {
	t.Parallel()
	for name, book := range linkedBooks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			files := maps.Clone(book)
			first := b.commit(files)
			b.done("import", nil)
			ids := b.pageIDs()
			for _, form := range refForms {
				bodies := map[string]map[string]any{}
				for _, id := range ids {
					if body := b.body(id, form); body["document"] != nil || fmt.Sprint(body["markdown"]) != "" {
						bodies[id] = body
					}
				}
				b.update(bodies)
				if o := b.done("export", nil); o.Commit != first {
					t.Errorf("%s: written back is exported as\n%s", form, cmp.Diff(files, b.files()))
					return
				}
			}
			// The forms have the same meaning for pages that were written as Markdown.
			for round, form := range slices.Concat(refForms, refForms[:3]) {
				was, word := "Plain words.", fmt.Sprintf("Plain %dwords.", round)
				if round > 0 {
					was = fmt.Sprintf("Plain %dwords.", round-1)
				}
				bodies := map[string]map[string]any{}
				for _, id := range ids {
					text, err := json.Marshal(b.body(id, form))
					if err != nil {
						t.Fatal(err)
					}
					edited := strings.Replace(string(text), was, word, 1)
					var body map[string]any
					if err := json.Unmarshal([]byte(edited), &body); err != nil {
						t.Fatal(err)
					}
					if edited != string(text) {
						bodies[id] = body
					}
				}
				b.update(bodies)
				b.done("export", nil)
				for path, text := range files {
					files[path] = strings.Replace(text, was, word, 1)
				}
				if diff := cmp.Diff(files, b.files()); diff != "" {
					t.Errorf("%s: %s", form, diff)
					return
				}
			}
		})
	}
}

// TestGitPathsResolve checks that paths of files in an editor's text become references immediately. This also works in
// new pages.
func TestGitPathsResolve(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := maps.Clone(linkedBooks["names that are no slugs"])
	b.commit(files)
	b.done("import", nil)
	ids := b.pageIDs()
	home, guide := ids[0], ids[1]
	text := "Links [a](guide/my_first_page.md#one), [b](./guide/my_first_page.md), ![c](img/Pic_One.png), [d](#own), " +
		"[e](guide/none.md).\n"
	b.change(map[string]any{"operation": "update_page", "page": home, "document": map[string]any{"markdown": text}})
	shown := b.body(home, "markdown")["markdown"]
	if shown != text {
		t.Errorf("what was written is shown as %q", shown)
	}
	document, err := json.Marshal(b.body(home, "document"))
	if err != nil {
		t.Fatal(err)
	}
	revision := apitest.Ask[schema.Revision](b.Harness, schema.RoleRead, "GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/content", nil, 200)
	pic := revision.Files[slices.IndexFunc(revision.Files,
		func(f schema.RevisionFile) bool { return f.Name == "Pic_One.png" })].ID
	for _, want := range []string{
		`{"anchor":"one","kind":"anchor","page":"` + guide + `"}`, `{"kind":"page","page":"` + guide +
			`"}`, `{"file":"` +
			pic + `","kind":"file"}`,
		`{"anchor":"own","kind":"anchor","page":"` + home + `"}`, `{"kind":"url","url":"guide/none.md"}`,
	} {
		if !strings.Contains(string(document), want) {
			t.Errorf("no %s in %s", want, document)
		}
	}
	// The new pages are below a page with a file, at the root, and below another new page.
	insert := func(text string, more map[string]any) map[string]any {
		change := map[string]any{"operation": "insert_page", "document": map[string]any{"markdown": text}}
		maps.Copy(change, more)
		return change
	}
	changes := []map[string]any{
		insert("[a](../my_first_page.md), ![p](../../img/Pic_One.png)", map[string]any{"title": "Below Guide",
			"into": guide}),
		insert("[a](guide/my_first_page.md), [h](README.md)", map[string]any{"title": "At Root", "ref": "r"}),
		insert("[a](../guide/my_first_page.md#one)", map[string]any{"title": "Below Root", "into": "r"}),
		insert("[a](/pages/"+guide+"#one) [b](ref:page/"+guide+")", map[string]any{"title": "Stable"}),
	}
	var encoded []string
	for _, change := range changes {
		one, err := json.Marshal(change)
		if err != nil {
			t.Fatal(err)
		}
		encoded = append(encoded, string(one))
	}
	request := b.ChangeRequest(b.Ours)
	b.ChangeContent(schema.RoleAdmin, request.ID, encoded...)
	b.MergeNow(request.ID)
	space := "/v1/spaces/" + b.Ours.Space.ID
	template := b.Want(http.StatusCreated, "POST", space+"/change-request-templates", b.token,
		map[string]any{"title": "T", "pages": []any{
			map[string]any{"title": "Of Template",
				"document": map[string]any{"markdown": "[a](guide/my_first_page.md) [b](/pages/" + guide + ")"}},
		}})
	made := b.Want(http.StatusCreated, "POST", space+"/change-requests", b.token,
		map[string]any{"template": map[string]any{
			"id": template["id"], "params": map[string]any{"contentRefs": map[string]any{}},
		}})
	if result := b.MergeNow(made["id"].(string)); result.Result != "merge" {
		t.Errorf("%+v", result)
	}
	inserted := slices.DeleteFunc(b.pageIDs(), func(id string) bool { return id == home || id == guide })
	for _, id := range inserted {
		document, err := json.Marshal(b.body(id, "document"))
		if err != nil || !strings.Contains(string(document), `"page":"`+guide+`"`) || strings.Contains(string(document),
			".md") {
			t.Errorf("%s", document)
		}
		for _, form := range refForms { // the page is read and written back before it has a file
			b.update(map[string]map[string]any{id: b.body(id, form)})
		}
		if again, err := json.Marshal(b.body(id, "document")); err != nil || string(again) != string(document) {
			t.Errorf("%s\nwas %s", again, document)
		}
	}
	b.done("export", nil)
	files["README.md"] = "# Home\n\nLinks [a](guide/my_first_page.md#one), [b](guide/my_first_page.md), " +
		"![c](img/Pic_One.png), [d](#own), [e](guide/none.md).\n"
	files["guide/my_first_page/below-guide.md"] = "# Below Guide\n\n[a](../my_first_page.md), " +
		"![p](../../img/Pic_One.png)\n"
	files["at-root/README.md"] = "# At Root\n\n[a](../guide/my_first_page.md), [h](../README.md)\n"
	files["at-root/below-root.md"] = "# Below Root\n\n[a](../guide/my_first_page.md#one)\n"
	files["stable.md"] = "# Stable\n\n[a](guide/my_first_page.md#one) [b](guide/my_first_page.md)\n"
	files["SUMMARY.md"] += "  * [Below Guide](guide/my_first_page/below-guide.md)\n* [At Root](at-root/README.md)\n  " +
		"* [Below Root](at-root/below-root.md)\n* [Stable](stable.md)\n* [Of Template](of-template.md)\n"
	files["of-template.md"] = "# Of Template\n\n[a](guide/my_first_page.md) [b](guide/my_first_page.md)\n"
	if diff := cmp.Diff(files, b.files()); diff != "" {
		t.Error(diff)
	}
	commit := b.operations()[0].Commit
	for _, form := range refForms {
		bodies := map[string]map[string]any{}
		for _, id := range b.pageIDs() {
			bodies[id] = b.body(id, form)
		}
		b.update(bodies)
		if o := b.done("export", nil); o.Commit != commit {
			t.Errorf("%s: %s", form, cmp.Diff(files, b.files()))
		}
	}
}
