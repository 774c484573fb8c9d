package gitlayout

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// space is a space together with its repository.
type space struct {
	files     map[string]string
	pages     []tree.Node
	base      Base
	documents map[string]schema.Document
	uploads   map[string]string
	next      int
	treeURL   string
	left      map[string]string
}

func newSpace(files map[string]string) *space {
	return &space{files: files, documents: map[string]schema.Document{}, uploads: map[string]string{}}
}

func (s *space) tools() Tools {
	return Tools{
		TreeURL: s.treeURL, Now: time.Unix(1, 0), Pages: s.pages,
		NewID: func() string { s.next++; return fmt.Sprintf("id%024d", s.next) },
		Load: func(hash string) (schema.Document, error) {
			d, ok := s.documents[hash]
			if !ok {
				return d, fmt.Errorf("no document %q", hash)
			}
			return d, nil
		},
		Keep: func(d schema.Document) (string, error) {
			hash := BlobOf([]byte(meaning(map[string]any{"d": d})))
			s.documents[hash] = d
			return hash, nil
		},
	}
}

func (s *space) repository() Repository {
	r := Repository{Read: func(name string) ([]byte, error) { return []byte(s.files[name]), nil }}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		r.Files = append(r.Files, File{name, BlobOf([]byte(s.files[name]))})
	}
	for _, name := range slices.Sorted(maps.Keys(s.left)) {
		r.Left = append(r.Left, Left{name, s.left[name]})
	}
	r.Writable = func(name string) bool { return len(name) <= 300 && !strings.Contains("/"+name, "/.git/") }
	return r
}

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func (s *space) open(t fataler, project string) *Layout {
	t.Helper()
	l, err := Open(s.repository(), project)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (s *space) pull(t fataler, project string) Content {
	t.Helper()
	content, err := s.open(t, project).Import(s.base, s.tools())
	if err != nil {
		t.Fatal(err)
	}
	for _, asset := range content.Assets {
		s.uploads[asset.ID] = asset.Path
	}
	s.pages, s.base = slices.Clone(content.Pages), Base{content.Synced, content.Pages}
	return content
}

// pushable fails the test if the checks of a Git server would refuse a new file. It also fails if the file's name
// collides on a file system that ignores case.
func (s *space) pushable(t fataler, name string) {
	t.Helper()
	for at := name; at != "."; at = path.Dir(at) {
		_, left := s.left[at]
		_, file := s.files[at]
		if left || file && at != name {
			t.Fatalf("%s cannot be written: %s is in its place", name, at)
		}
	}
	for other := range s.files {
		if other != name && strings.EqualFold(other, name) {
			t.Fatalf("%s cannot be written beside %s", name, other)
		}
	}
	if !s.repository().Writable(name) {
		t.Fatalf("%s cannot be written: no path", name)
	}
}

// push exports the space and returns the paths of the changed files.
func (s *space) push(t fataler, project string, force bool) []string {
	t.Helper()
	paths, _ := s.export(t, project, force)
	return paths
}

func (s *space) export(t fataler, project string, force bool) ([]string, []Note) {
	t.Helper()
	export, err := s.open(t, project).Export(s.base, s.pages, s.tools(), func(id string) (string, []byte, error) {
		name, ok := s.uploads[id]
		if !ok {
			return "", nil, schema.NotFound("file")
		}
		return name[strings.LastIndex(name, "/")+1:], []byte("bytes of " + id), nil
	}, force)
	if err != nil {
		t.Fatal(err)
	}
	if len(export.Moved) > 0 && !force {
		t.Fatalf("moved: %v", export.Moved)
	}
	var paths []string
	for _, change := range export.Changes {
		paths = append(paths, change.Path)
		if delete(s.files, change.Path); !change.Delete {
			s.pushable(t, change.Path)
			s.files[change.Path] = string(change.Content)
		}
	}
	for path, synced := range export.Synced {
		if synced.Blob != "" && synced.Blob != BlobOf([]byte(s.files[path])) {
			t.Fatalf("%s is noted as %s", path, synced.Blob)
		}
	}
	s.base = Base{export.Synced, slices.Clone(s.pages)}
	return paths, export.Notes
}

func (s *space) outline() string {
	var b strings.Builder
	var walk func(pages []tree.Page, depth int)
	walk = func(pages []tree.Page, depth int) {
		for _, p := range pages {
			fmt.Fprintf(&b, "%s%s %q %s", strings.Repeat("  ", depth), p.Kind, p.Title, p.Slug)
			if p.Target != nil {
				fmt.Fprintf(&b, " -> %v", p.Target["url"])
			}
			b.WriteString("\n")
			walk(p.Pages, depth+1)
		}
	}
	walk(tree.Nest(s.pages, ""), 0)
	return b.String()
}

func (s *space) byTitle(t fataler, title string) *tree.Node {
	for i := range s.pages {
		if s.pages[i].Title == title {
			return &s.pages[i]
		}
	}
	t.Fatalf("no page %q in\n%s", title, s.outline())
	return nil
}

// edit replaces a text in the Markdown of a page.
func (s *space) edit(t fataler, title, from, to string) {
	t.Helper()
	n := s.byTitle(t, title)
	before := markdown.Write(s.documents[n.Document])
	if from != "" && !strings.Contains(before, from) {
		t.Fatalf("%q has no %q", before, from)
	}
	after := strings.Replace(before, from, to, 1)
	if from == "" {
		after = strings.TrimSpace(before + "\n\n" + to)
	}
	d, err := markdown.Read(after)
	if err != nil {
		t.Fatal(err)
	}
	n.Document, _ = s.tools().Keep(d)
}

var book = map[string]string{
	".gitbook.yaml":                "root: ./docs/\n",
	"docs/SUMMARY.md":              "# Table of contents\n\n* [Welcome](README.md)\n* [Guides](guides/README.md)\n    * [Set it *up*](guides/setup.md)\n    - [Blog](https://blog.example/)\n\n## Reference\n\n* Plain\n  * [API](reference/api.md)\n* [Missing](reference/missing.md)\n\n***\n\n* [Last](last.md)\n<!-- end -->\n",
	"docs/README.md":               "---\ndescription: Hello   # why\nicon: house\nlayout:\n  title:\n    visible: true\n---\n\n# Welcome\n\nSee [setup](./guides/setup.md#first), [again](guides/setup.md) and ![a](.gitbook/assets/a%20b.png).\n\n*  odd   list\n*  of two\n",
	"docs/guides/README.md":        "Guides\n======\n\nBack [home](../README.md) or to [source](../../src/main.go).\n",
	"docs/guides/setup.md":         "# Set it _up_\r\n\r\n## First\r\n\r\nText.\r\n\r\n{% file src=\"../.gitbook/assets/a b.png\" %}\r\n",
	"docs/reference/api.md":        "No heading here.\n",
	"docs/last.md":                 "---\nhidden: true\ntitle: Last\n---\n# Another heading\n\nEnd",
	"docs/unlisted.md":             "# Unlisted\n",
	"docs/.gitbook/assets/a b.png": "png",
	"src/main.go":                  "package main\n",
}

const bookOutline = `document "Welcome" readme
document "Guides" guides
  document "Set it up" setup
  link "Blog"  -> https://blog.example/
group "Reference" reference
  document "Plain" plain
    document "API" api
  document "Missing" missing
document "Last" last
`

func TestImport(t *testing.T) {
	t.Parallel()
	s := newSpace(maps.Clone(book))
	s.treeURL = "https://git.example/tree/main/"
	content := s.pull(t, "/")
	if diff := cmp.Diff(bookOutline, s.outline()); diff != "" {
		t.Error(diff)
	}
	if len(content.Assets) != 1 || content.Assets[0].Path != "docs/.gitbook/assets/a b.png" {
		t.Errorf("%+v", content.Assets)
	}
	welcome := s.byTitle(t, "Welcome")
	if welcome.Description != "Hello" || welcome.Icon != "house" || !s.byTitle(t, "Last").Hidden {
		t.Errorf("%+v", welcome)
	}
	text := markdown.Write(s.documents[welcome.Document])
	setup := s.byTitle(t, "Set it up").ID
	for _, want := range []string{"[setup](ref:anchor/first?page=" + setup + ")", "[again](ref:page/" + setup + ")", "ref:file/" + content.Assets[0].ID} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if text := markdown.Write(s.documents[s.byTitle(t, "Guides").Document]); !strings.Contains(text, "(https://git.example/tree/main/src/main.go)") {
		t.Error(text)
	}
	if text := markdown.Write(s.documents[s.byTitle(t, "Last").Document]); !strings.HasPrefix(text, "# Another heading") {
		t.Error(text)
	}
	if len(content.Notes) != 1 || content.Notes[0].Path != "docs/reference/missing.md" {
		t.Errorf("%+v", content.Notes)
	}
	if changed := s.push(t, "", false); len(changed) > 0 {
		t.Errorf("exported without an edit: %v", changed)
	}
	before := slices.Clone(s.pages)
	if s.pull(t, ""); !slices.EqualFunc(before, s.pages, func(a, b tree.Node) bool { return a.Same(b) && a.UpdatedAt.Equal(b.UpdatedAt) }) {
		t.Errorf("imported without a change: %s", cmp.Diff(before, s.pages))
	}
}

// TestEdits checks that each edit of a space changes only the listed files and lines.
func TestEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		edit  func(t *testing.T, s *space)
		files map[string][2]string // old and new text of a file, by path; "" means a file that is new or deleted
	}{
		{"text", func(t *testing.T, s *space) { s.edit(t, "Welcome", "odd   list", "odd lists") },
			map[string][2]string{"docs/README.md": {"*  odd   list\n*  of two\n", "- odd lists\n- of two\n"}}},
		{"windows", func(t *testing.T, s *space) { s.edit(t, "Set it up", "Text.", "Texts.") },
			map[string][2]string{"docs/guides/setup.md": {"Text.", "Texts."}}},
		{"no final newline", func(t *testing.T, s *space) { s.edit(t, "Last", "End", "The end") },
			map[string][2]string{"docs/last.md": {"End", "The end"}}},
		{"title in a heading", func(t *testing.T, s *space) { s.byTitle(t, "Welcome").Title = "Hi *there*" },
			map[string][2]string{"docs/README.md": {"# Welcome", `# Hi \*there\*`}, "docs/SUMMARY.md": {"[Welcome]", `[Hi \*there\*]`}}},
		{"title in the contents", func(t *testing.T, s *space) { s.byTitle(t, "API").Title = "The API" },
			map[string][2]string{"docs/SUMMARY.md": {"[API]", "[The API]"}}},
		{"title in front", func(t *testing.T, s *space) { s.byTitle(t, "Last").Title = "Least" },
			map[string][2]string{"docs/last.md": {"title: Last", "title: Least"}, "docs/SUMMARY.md": {"[Last]", "[Least]"}}},
		{"description", func(t *testing.T, s *space) { s.byTitle(t, "Welcome").Description = "New" },
			map[string][2]string{"docs/README.md": {"description: Hello   # why", "description: New"}}},
		{"first front matter", func(t *testing.T, s *space) { s.byTitle(t, "API").Hidden = true },
			map[string][2]string{"docs/reference/api.md": {"No heading", "---\nhidden: true\n---\n\nNo heading"}}},
		{"gone", func(t *testing.T, s *space) {
			id := s.byTitle(t, "API").ID
			s.pages = slices.DeleteFunc(s.pages, func(n tree.Node) bool { return n.ID == id })
		}, map[string][2]string{"docs/reference/api.md": {"", ""}, "docs/SUMMARY.md": {"  * [API](reference/api.md)\n", ""}}},
		{"new", func(t *testing.T, s *space) {
			d, err := markdown.Read("Look [here](ref:page/" + s.byTitle(t, "Welcome").ID + ").")
			if err != nil {
				t.Fatal(err)
			}
			hash, _ := s.tools().Keep(d)
			s.pages = append(s.pages, tree.Node{
				Parent: s.byTitle(t, "Guides").ID, Position: "z0000000000000000000000000z",
				Page: tree.Page{ID: "new", Kind: tree.KindDocument, Title: "New: one", Slug: "new", Document: hash, Icon: "bolt"},
			})
		}, map[string][2]string{
			"docs/guides/new.md": {"", "---\nicon: bolt\n---\n\n# New: one\n\nLook [here](../README.md).\n"},
			"docs/SUMMARY.md": {
				"Blog](https://blog.example/)\n", "Blog](https://blog.example/)\n    - [New: one](guides/new.md)\n"},
		}},
		{"moved", func(t *testing.T, s *space) { s.byTitle(t, "Set it up").Parent = "" },
			map[string][2]string{"docs/SUMMARY.md": {"", "*"}}},
		{"plain entry gets text", func(t *testing.T, s *space) { s.edit(t, "Plain", "", "Now it has.") },
			map[string][2]string{"docs/reference/plain/README.md": {"", "*"}, "docs/SUMMARY.md": {"* Plain", "* [Plain](reference/plain/README.md)"}}},
		{"link", func(t *testing.T, s *space) {
			s.byTitle(t, "Blog").Target = schema.Data{"kind": "url", "url": "https://new.example/"}
		}, map[string][2]string{"docs/SUMMARY.md": {"https://blog.example/", "https://new.example/"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(maps.Clone(book))
			s.pull(t, "")
			before := maps.Clone(s.files)
			c.edit(t, s)
			want := s.outline()
			changed := s.push(t, "", false)
			for _, name := range changed {
				edit, expected := c.files[name]
				switch {
				case !expected:
					t.Errorf("%s has changed:\n%s", name, cmp.Diff(before[name], s.files[name]))
				case edit == [2]string{}:
					if _, there := s.files[name]; there {
						t.Errorf("%s is still there", name)
					}
				case edit[1] == "*":
				case edit[0] == "" && s.files[name] != edit[1]:
					t.Errorf("%s: %q", name, s.files[name])
				case edit[0] != "" && strings.Replace(before[name], edit[0], edit[1], 1) != s.files[name]:
					t.Errorf("%s:\n%s", name, cmp.Diff(strings.Replace(before[name], edit[0], edit[1], 1), s.files[name]))
				}
			}
			if len(changed) != len(c.files) {
				t.Errorf("changed: %v", changed)
			}
			if again := s.push(t, "", false); len(again) > 0 {
				t.Errorf("exported again: %v", again)
			}
			s.base = Base{}
			pages := s.pages
			s.pages = nil
			s.pull(t, "")
			if got := s.outline(); got != want {
				t.Errorf("reading it again gives another outline, which differs:\n%s", cmp.Diff(want, got))
			}
			s.pages = pages
		})
	}
}

func TestRepositoriesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, project, config string
		want                  error
	}{
		{"no such folder", "nowhere", "", ErrNoFolder},
		{"outside", "../x", "", ErrProject},
		{"root outside", "", "root: ../..\n", ErrConfig},
		{"root is not there", "", "root: other\n", ErrNoFolder},
		{"no YAML", "", "root: [\n", ErrConfig},
		{"summary outside", "", "structure:\n  summary: ../../S.md\n", ErrConfig},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(map[string]string{"README.md": "# A\n"})
			if c.config != "" {
				s.files[configName] = c.config
			}
			if _, err := Open(s.repository(), c.project); !strings.HasPrefix(fmt.Sprint(err), c.want.Error()) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestFolders checks a repository without a table of contents. The tree of pages follows the folders. An export creates
// a table of contents only if the folders do not match the pages.
func TestFolders(t *testing.T) {
	t.Parallel()
	s := newSpace(map[string]string{
		"README.md": "# Home\n", "b.md": "# Bee\n", "a-c.md": "text", "part/README.md": "# Part\n", "part/x.md": "# X\n", "bare/deep/y.md": "# Y\n", ".github/z.md": "# Z\n",
	})
	s.pull(t, "")
	const want = `document "Home" readme
document "A c" a-c
document "Bee" b
document "bare" bare
  document "Deep" deep
    document "Y" y
document "Part" part
  document "X" x
`
	if diff := cmp.Diff(strings.Replace(want, `"bare"`, `"Bare"`, 1), s.outline()); diff != "" {
		t.Error(diff)
	}
	s.byTitle(t, "Bee").Title = "Bumblebee"
	if changed := s.push(t, "", false); !slices.Equal(changed, []string{"b.md"}) || s.files["b.md"] != "# Bumblebee\n" {
		t.Errorf("%v %q", changed, s.files["b.md"])
	}
	s.byTitle(t, "Part").Position = "Zz"
	if changed := s.push(t, "", false); !slices.Equal(changed, []string{"SUMMARY.md"}) {
		t.Errorf("%v", changed)
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	s := newSpace(maps.Clone(book))
	s.pull(t, "")
	s.edit(t, "API", "heading", "title")
	s.files["docs/README.md"] += "\nMore.\n"
	s.files["docs/stray.md"] = "# Stray\n"
	s.files["docs/SUMMARY.md"] += "* [Stray](stray.md)\n"
	export, err := s.open(t, "").Export(s.base, s.pages, s.tools(), nil, false)
	if want := []string{"docs/README.md", "docs/SUMMARY.md", "docs/stray.md"}; err != nil || !slices.Equal(export.Moved, want) {
		t.Fatalf("%v %v", export.Moved, err)
	}
	want := s.outline()
	s.push(t, "", true)
	if strings.Contains(s.files["docs/README.md"], "More.") || s.files["docs/stray.md"] != "" {
		t.Errorf("%q %q", s.files["docs/README.md"], s.files["docs/stray.md"])
	}
	if s.pull(t, ""); s.outline() != want {
		t.Error(cmp.Diff(want, s.outline()))
	}
}

// TestRenamedFile checks that a page stays if its file is renamed. Links of other pages to the file still lead to the
// page.
func TestRenamedFile(t *testing.T) {
	t.Parallel()
	s := newSpace(maps.Clone(book))
	s.pull(t, "")
	id, document := s.byTitle(t, "Set it up").ID, s.byTitle(t, "Welcome").Document
	s.files["docs/guides/installation.md"] = s.files["docs/guides/setup.md"]
	delete(s.files, "docs/guides/setup.md")
	s.files["docs/SUMMARY.md"] = strings.Replace(s.files["docs/SUMMARY.md"], "guides/setup.md", "guides/installation.md", 1)
	s.pull(t, "")
	if got := s.byTitle(t, "Set it up").ID; got != id {
		t.Errorf("the page %s is now %s", id, got)
	}
	if s.byTitle(t, "Welcome").Document == document {
		t.Error("the links to the old name still lead to the page")
	}
}

// TestAnyEdits generates random repositories and spaces. An export without an edit changes nothing. An edit of a text
// changes one file. If the result is imported, it gives the content that was written.
func TestAnyEdits(t *testing.T) {
	t.Parallel()
	title := rapid.StringMatching(`[A-Z][a-z*_\[\]<&]{0,6}( [a-z#]{1,4})?`)
	texts := []string{"", "Text.\n", "\n\n- a\n- b\n\n\n1) c\n", "## H\n\ntext  \nmore\n\n\n", "> q\n\n```\ncode\n```", "# Other\n\nx\n", "[l](README.md) ![i](i.png)\n", "---\nx\n"}
	rapid.Check(t, func(t *rapid.T) {
		files := map[string]string{"README.md": "# Home\n", "i.png": "i"}
		for i := range rapid.IntRange(0, 6).Draw(t, "files") {
			folder := rapid.SampledFrom([]string{"", "a/", "a/b/", "c/"}).Draw(t, "folder")
			name := folder + rapid.SampledFrom([]string{"README.md", fmt.Sprintf("p%d.md", i)}).Draw(t, "name")
			text := rapid.SampledFrom(texts).Draw(t, "text")
			if rapid.Bool().Draw(t, "titled") {
				text = "# " + title.Draw(t, "title") + "\n" + text
			}
			if rapid.Bool().Draw(t, "front") {
				text = "---\nown: [1]\ndescription: d\n---\n" + text
			}
			if rapid.Bool().Draw(t, "crlf") {
				text = strings.ReplaceAll(text, "\n", "\r\n")
			}
			files[name] = text
		}
		if rapid.Bool().Draw(t, "summary") {
			lines, depth := []string{"# Contents", ""}, 0
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if strings.HasSuffix(name, ".png") {
					continue
				}
				depth = rapid.IntRange(0, depth+1).Draw(t, "depth")
				if rapid.IntRange(0, 3).Draw(t, "heading") == 0 {
					lines, depth = append(lines, "", "## "+title.Draw(t, "group"), ""), 0
				}
				if rapid.IntRange(0, 5).Draw(t, "plain") == 0 {
					lines, depth = append(lines, strings.Repeat("   ", depth)+"- Plain"), depth+1
				}
				lines = append(lines, strings.Repeat("   ", depth)+"- ["+inlineText(title.Draw(t, "entry"))+"]("+name+")")
			}
			files["SUMMARY.md"] = strings.Join(lines, "\n")
		}
		s := newSpace(files)
		s.pull(t, "")
		if changed := s.push(t, "", false); len(changed) > 0 {
			t.Fatalf("exported without an edit: %v", changed)
		}
		var documents []string
		for _, n := range s.pages {
			if _, there := s.files[pathOf(s, n.ID)]; there {
				documents = append(documents, n.ID)
			}
		}
		edited := rapid.SampledFrom(documents).Draw(t, "edited")
		i := slices.IndexFunc(s.pages, func(n tree.Node) bool { return n.ID == edited })
		old := s.documents[s.pages[i].Document]
		added := schema.NewDocument(append(slices.Clone(old.Nodes), schema.Block("paragraph", schema.Text("Added.")))...)
		s.pages[i].Document, _ = s.tools().Keep(added)
		if changed := s.push(t, "", false); !slices.Equal(changed, []string{pathOf(s, edited)}) {
			t.Fatalf("an edit of %s changed %v", pathOf(s, edited), changed)
		}
		wanted := meaning(map[string]any{"d": normal(s.documents[s.pages[i].Document])})
		outline := s.outline()
		file := s.files[pathOf(s, edited)]
		s.base.Files[pathOf(s, edited)] = Synced{Blob: "another", Page: edited}
		if s.pull(t, ""); s.outline() != outline {
			t.Fatalf("read again: %s", cmp.Diff(outline, s.outline()))
		}
		i = slices.IndexFunc(s.pages, func(n tree.Node) bool { return n.ID == edited })
		if got := meaning(map[string]any{"d": normal(s.documents[s.pages[i].Document])}); got != wanted {
			t.Fatalf("the document of\n%s\ndiffers: %s", file, cmp.Diff(wanted, got))
		}
	})
}

// normal returns the Markdown that Write writes for a document.
func normal(d schema.Document) string { return markdown.Write(d) }

func pathOf(s *space, id string) string {
	for path, synced := range s.base.Files {
		if synced.Page == id {
			return path
		}
	}
	return ""
}

// TestRedirects checks that redirects in the configuration lead from old paths to pages, in every spelling. Notes list
// the redirects that have no target.
func TestRedirects(t *testing.T) {
	t.Parallel()
	s := newSpace(map[string]string{
		".gitbook.yaml": "root: ./docs/\nredirects:\n  old: new.md\n  /old/deep/: ./guide/setup.md#run\n  folder: guide\n  bare: new\n  'a%20b': /new.md\n  home: README.md\n  ' /': new.md\n" +
			"  a//b: new.md\n  gone: gone.md\n  outside: ../x.md\n  empty:\n  image: pic.png\n",
		"docs/README.md": "# Home\n", "docs/new.md": "# New\n", "docs/guide/README.md": "# Guide\n", "docs/guide/setup.md": "# Setup\n", "docs/pic.png": "x", "x.md": "# X\n",
	})
	content := s.pull(t, "")
	titles := map[string]string{}
	for _, n := range content.Pages {
		titles[n.ID] = n.Title
	}
	got := map[string]string{}
	for source, id := range content.Redirects {
		got[source] = titles[id]
	}
	want := map[string]string{"old": "New", "old/deep": "Setup", "folder": "Guide", "bare": "New", "a b": "New", "home": "Home"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var notes []string
	for _, note := range content.Notes {
		notes = append(notes, note.Text)
	}
	wantNotes := []string{
		"a redirect leads from no path: /", "a redirect leads from no path: a//b", "a redirect leads to no page: ", "a redirect leads to no page: gone.md",
		"a redirect leads to no page: pic.png", "a redirect leads to no page: ../x.md",
	}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Error(diff)
	}
}

// TestEditedPagesKeepTheirSpelling edits a word in a page. In the file, links to anchors, references and blank lines
// must stay unchanged.
func TestEditedPagesKeepTheirSpelling(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"anchors of the page":      "# A\n\nWORD [one](#one)\n\n* [two](#two)\n* c\n\n## One\n\n## Two\n",
		"anchors with its name":    "# A\n\nWORD [one](a.md#one), [one](#one)\n\n## One\n",
		"a text below its heading": "# A\nWORD\ngoes on\n\n* x\n",
		"a text below underlines":  "A\n===\nWORD\n",
		"references":               "# A\n\nWORD [one][x] and [two]\ngo on\n\n[x]: b.md\n[two]: b.md#two\n",
		"front matter":             "---\ntitle: A\n---\nWORD\ngoes on\n",
		"stray carriage returns":   "# A\r\n\n* b\n*   c\rWORD\n\r\rgoes  on\r\n| a |b |\n|-|-|\n| c |d |\r\n",
		"carriage returns":         "# A\r\r* b\r*   c\r\rWORD\rgoes on\\\rand on\r",
		"ends of both kinds":       "---\r\ntitle: A\n---\r\n\r\n# A\r\n\nWORD\r\ngoes on\n\r\n```\na\r\nb\n```\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(map[string]string{"README.md": "# Home\n", "a.md": text, "b.md": "# B\n"})
			s.pull(t, "")
			s.edit(t, "A", "WORD", "WORDS")
			// In a client's document, links to anchors of the same page are references. The next lines make the same
			// change.
			page := s.byTitle(t, "A")
			page.Document, _ = s.tools().
				Keep(markdown.MapRefs(s.documents[page.Document], func(ref map[string]any) map[string]any {
					if link, _ := ref["url"].(string); strings.HasPrefix(link, "#") {
						return map[string]any{"kind": "anchor", "page": page.ID, "anchor": link[1:]}
					}
					return nil
				}))
			if changed := s.push(t, "", false); !slices.Equal(changed, []string{"a.md"}) {
				t.Errorf("changed %q", changed)
			}
			if want := strings.Replace(text, "WORD", "WORDS", 1); s.files["a.md"] != want {
				t.Errorf("got  %q\nwant %q", s.files["a.md"], want)
			}
		})
	}
}
