package gitlayout

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// refForms are the forms in which a page's document can be read: the stored form, and Markdown and JSON of the API.
var refForms = map[string]func(d schema.Document, from pagelinks.Page, known pagelinks.Known,
	files map[string]string) schema.Document{
	"ref": func(d schema.Document, _ pagelinks.Page, _ pagelinks.Known, _ map[string]string) schema.Document {
		return d
	},
	"relative": func(d schema.Document, from pagelinks.Page, _ pagelinks.Known,
		files map[string]string) schema.Document {
		return pagelinks.RelativeFiles(d, from, files)
	},
	"stable": func(d schema.Document, from pagelinks.Page, known pagelinks.Known, _ map[string]string) schema.Document {
		return pagelinks.Stable(pagelinks.ToPages(d, from, known.Pages))
	},
	"linked": func(d schema.Document, from pagelinks.Page, known pagelinks.Known, _ map[string]string) schema.Document {
		return pagelinks.ToPages(d, from, known.Pages)
	},
}

// spell returns a link from one file to another, in a random spelling.
func spell(t *rapid.T, from, to string) string {
	link := content.RelativeLink(from, to)
	switch rapid.SampledFrom([]string{"", "", "dot", "plain", "folder", "around", "site"}).Draw(t, "spelling") {
	case "dot":
		link = "./" + link
	case "plain":
		if !strings.ContainsAny(to, " ()") {
			link = strings.ReplaceAll(link, "%20", " ")
		}
	case "folder":
		if link = strings.TrimSuffix(link, "README.md"); link == "" {
			link = "./"
		}
	case "site": // relative to the page's address, as if the page were a folder
		link = content.RelativeLink(strings.TrimSuffix(from, ".md")+"/x", strings.TrimSuffix(to, ".md"))
	case "around":
		if dir := path.Dir(from); dir != "." {
			link = "../" + path.Base(dir) + "/" + link
		}
	}
	return link + rapid.SampledFrom([]string{"", "", "#one", "#own"}).Draw(t, "fragment")
}

// TestAnyReferences reads references in any form and writes them again. The file must stay unchanged. An edit of a
// paragraph must change only its line.
func TestAnyReferences(t *testing.T) {
	t.Parallel()
	names := []string{
		"README.md", "My_Page.md", "a b.md", "guide/README.md", "guide/my_first_page.md", "guide/Deep/X.Y.md",
		"other/README.md", "other/my-page.md",
		"my-page.md", "guide.md", "\u00e9t\u00e9.md",
	}
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.SampledFrom([]string{"", "docs/"}).Draw(t, "root")
		pages := append([]string{root + "README.md"}, rapid.SliceOfNDistinct(rapid.SampledFrom(names[1:]), 1, 6,
			rapid.ID).Draw(t, "pages")...)
		for i := range pages[1:] {
			pages[1+i] = root + pages[1+i]
		}
		files := map[string]string{root + "img/P_1.png": "png", "src/main.go": "package main\n"}
		summary := "# S\n"
		depth := 0
		for i, name := range pages {
			depth = rapid.IntRange(0, min(depth+1, i)).Draw(t, "depth")
			summary += strings.Repeat(
				"  ",
				depth,
			) + "* [T" + fmt.Sprint(
				i,
			) + "](<" + strings.TrimPrefix(
				name,
				root,
			) + ">)\n"
			text := fmt.Sprintf("# T%d\n\nPlain %d.\n\nLinks.", i, i)
			for range rapid.IntRange(0, 4).Draw(t, "links") {
				target := rapid.SampledFrom(slices.Concat(pages, pages, []string{root + "img/P_1.png", root + "gone.md",
					"src/main.go", name})).Draw(t, "target")
				link := "[l](<" + spell(t, name, target) + ">)"
				if rapid.IntRange(0, 3).Draw(t, "own") == 0 {
					link = "[o](#own)"
				}
				text += rapid.SampledFrom([]string{"\n\n", "\n\n", "\n- a "}).Draw(t, "before") + link +
					rapid.SampledFrom([]string{"\n", ""}).Draw(t, "after")
			}
			files[name] = text + "\n"
		}
		files[root+"SUMMARY.md"] = summary
		if root != "" {
			files[".gitbook.yaml"] = "root: docs\n"
		}
		s := newSpace(files)
		s.treeURL = rapid.SampledFrom([]string{"", "https://git.example/tree/main/"}).Draw(t, "tree")
		s.pull(t, "")
		byID, known := map[string]string{}, pagelinks.Known{
			Pages: map[string]string{},
			Files: map[string]pagelinks.Target{},
		}
		for name, synced := range s.base.Files {
			known.Files[name] = pagelinks.Target{Page: synced.Page, File: synced.File}
			byID[synced.Page] = name
		}
		paths := map[string]string{}
		tree.Walk(tree.Nest(s.pages, ""), func(p tree.Placed) bool {
			known.Pages[p.Path], paths[p.ID] = p.ID, p.Path
			return true
		})
		for form, shown := range refForms {
			for _, edit := range []bool{false, true} {
				want := maps.Clone(s.files)
				for i := range s.pages {
					n := &s.pages[i]
					if n.Document == "" {
						continue
					}
					from := pagelinks.Page{ID: n.ID, Path: paths[n.ID], File: byID[n.ID], Root: root}
					d := s.documents[n.Document]
					text := markdown.Write(shown(d, from, known, byID))
					if edit {
						text = strings.Replace(text, "Plain ", "Plainly ", 1)
						want[from.File] = strings.Replace(want[from.File], "Plain ", "Plainly ", 1)
					}
					read, err := markdown.Read(text)
					if err != nil {
						t.Fatal(err)
					}
					if form == "linked" && !edit {
						read = shown(d, from, known, byID)
					}
					n.Document, _ = s.tools().Keep(known.AsIn(d, known.Resolve(read, from), from))
				}
				s.push(t, "", false)
				if diff := cmp.Diff(want, s.files); diff != "" {
					t.Fatalf("%s, edit %v: %s", form, edit, diff)
				}
				for name, text := range s.files { // the next round starts with these files
					s.files[name] = strings.Replace(text, "Plainly ", "Plain ", 1)
				}
				s.pull(t, "")
			}
		}
	})
}
