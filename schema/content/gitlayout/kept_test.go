package gitlayout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// utf16LE returns a text in UTF-16 with a byte order mark.
func utf16LE(text string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, r := range text {
		b.WriteByte(byte(r))
		b.WriteByte(byte(r >> 8))
	}
	return b.String()
}

// kepts has entries of a table of contents that become read-only pages. Each entry is the only entry in its repository.
var kepts = []struct {
	name, path string
	files      map[string]string
	left       map[string]string
	// The sentence on the page must contain `why`. The page's text must contain `shows`.
	why, shows string
	// listed is true if the file also becomes a page when there is no table of contents.
	listed bool
}{
	{"LFS", "x.md", nil, map[string]string{"x.md": "file in Git LFS"}, "is left as it is: file in Git LFS", "", true},
	{"symbolic link", "docs/x.md", nil, map[string]string{"docs/x.md": "symbolic link"}, "symbolic link", "", true},
	{"large", "x.md", nil, map[string]string{"x.md": "too large"}, "too large", "", true},
	{"submodule", "x.md", nil, map[string]string{"x.md": "submodule"}, "submodule", "", true},
	{"in a submodule", "mod/deep/x.md", nil, map[string]string{"mod": "submodule"},
		"is in mod, which is left as it is: submodule", "", false},
	{"in a linked folder", "mod/README.md", nil, map[string]string{"mod": "symbolic link"}, "is in mod", "", false},
	{"case", "x.md", map[string]string{"X.md": "# Upper\n"}, map[string]string{"x.md": "same name but for case"},
		"same name but for case", "", true},
	{"folder in another case", "mod/x.md", map[string]string{"MOD/x.md": "# X\n"},
		map[string]string{"mod": "same name but for case"}, "has the name of MOD/x.md in another spelling", "", false},
	{"spelled in another case", "X.md", map[string]string{"x.md": "# X\n"}, nil,
		"has the name of x.md in another spelling", "", false},
	{"folder spelled in another case", "Mod/y.md", map[string]string{"mod/x.md": "# X\n"}, nil,
		"has the name of mod in another spelling", "", false},
	{"folder", "x.md", map[string]string{"x.md/y.png": "y"}, nil, "is a folder", "", false},
	{"in a file", "README.md/x.md", nil, nil, "is in README.md, which is no folder", "", false},
	{"no path", ".git/x.md", nil, nil, "has a name that cannot be written", "", false},
	{"binary", "x.md", map[string]string{"x.md": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"}, nil, "is binary", "", true},
	{"Latin-1", "x.md", map[string]string{"x.md": "# Caf\xe9\n\nD\xe9j\xe0 vu, twice.\n"}, nil,
		"has bytes that are not UTF-8", "vu, twice.", true},
	{"GBK", "x.md", map[string]string{"x.md": "# \xb1\xea\n\n\xc4\xe3\xba\xc3 and words.\n"}, nil, "not UTF-8",
		"and words.", true},
	{"mixed", "x.md", map[string]string{"x.md": "# Gr\u00fc\u00dfe\n\nGood \u00fc.\n\nBad \xfc.\n"}, nil, "not UTF-8",
		"Good \u00fc.", true},
	{"cut character", "x.md", map[string]string{"x.md": "# X\n\nWhole.\xe4\xbd"}, nil, "not UTF-8", "Whole.", true},
	{"UTF-16", "x.md", map[string]string{"x.md": utf16LE("# Caf\u00e9\n\nAll of it.\n")}, nil, "is text in UTF-16",
		"All of it.", true},
	{"UTF-16, no mark", "x.md", map[string]string{"x.md": utf16LE("# X\n")[2:]}, nil, "encoding other than UTF-8", "",
		true},
	{"long", "x.md", map[string]string{"x.md": "# Long\n\n" + strings.Repeat("word ", schema.MaxPage/5+1)}, nil,
		"is too long for a page", "", true},
	{"many blocks", "x.md", map[string]string{"x.md": "# Many\n\n" + strings.Repeat("a\n\n", schema.MaxDocumentNodes)},
		nil, "is too long for a page", "", true},
}

// TestKept checks that the page of an unusable file is read-only and states the reason. The file is never written, and
// other pages are still exported.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, c := range kepts {
		for _, summary := range []bool{true, false} {
			if !summary && !c.listed {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", c.name, summary), func(t *testing.T) {
				t.Parallel()
				s := newSpace(map[string]string{"README.md": "# Home\n\nHi.\n"})
				maps.Copy(s.files, c.files)
				s.left = c.left
				if summary {
					s.files["SUMMARY.md"] = "# S\n\n* [Home](README.md)\n* [Kept](" + c.path + ")\n"
				}
				content := s.pull(t, "")
				id := content.Synced[c.path].Page
				find := func() *tree.Node {
					return &s.pages[slices.IndexFunc(s.pages, func(n tree.Node) bool { return n.ID == id })]
				}
				n := find()
				text := markdown.Write(s.documents[n.Document])
				want := c.path + " cannot be edited here: it "
				if !strings.HasPrefix(n.Kept, want) || !strings.Contains(n.Kept, c.why) || strings.ContainsRune(n.Title,
					'\ufffd') && summary {
					t.Errorf("%q: %q", n.Title, n.Kept)
				}
				if plain := strings.ReplaceAll(text, `\`, ""); !strings.Contains(plain, n.Kept) ||
					!strings.Contains(plain,
						c.shows) {
					t.Errorf("the page says %q", text)
				}
				noted := slices.ContainsFunc(content.Notes, func(note Note) bool {
					return note.Path == c.path &&
						strings.Contains(note.Text, c.why)
				})
				if _, left := c.left[c.path]; noted == left {
					t.Errorf("notes: %+v", content.Notes)
				}
				if changed := s.push(t, "", false); len(changed) > 0 {
					t.Fatalf("exported without an edit: %v", changed)
				}
				before := slices.Clone(s.pages)
				if s.pull(t, ""); !slices.EqualFunc(before, s.pages, tree.Node.Same) {
					t.Errorf("imported without a change: %v", s.pages)
				}
				// The API refuses this edit, but a choice in a conflict can make it.
				s.edit(t, "Home", "Hi.", "Hello.")
				for _, kept := range []string{find().Kept, ""} {
					n = find()
					n.Kept = kept
					s.edit(t, n.Title, "", "Edited.")
					n.Icon += "bolt"
					// new pages must get names of files that are free
					for i, title := range []string{"x", "X", "MOD", "mod"} {
						page := tree.Page{ID: fmt.Sprint("new", i, kept == ""), Kind: tree.KindDocument, Title: title,
							Slug: fmt.Sprint(title, kept == "")[:len(title)]}
						s.pages = append(s.pages,
							tree.Node{Page: page, Position: fmt.Sprint("zz", i, kept == "")},
							tree.Node{
								Page: tree.Page{
									ID:    page.ID + "b",
									Kind:  tree.KindDocument,
									Title: "Below",
									Slug:  "below",
								},
								Parent:   page.ID,
								Position: "a0",
							},
						)
					}
					files := maps.Clone(s.files)
					changed, notes := s.export(t, "", false)
					if slices.Contains(changed, c.path) || files[c.path] != s.files[c.path] {
						t.Errorf("wrote %v", changed)
					}
					if !strings.Contains(s.files["README.md"], "Hello.") {
						t.Errorf("home was not exported: %v", changed)
					}
					if !slices.ContainsFunc(notes, func(note Note) bool { return note.Path == c.path }) {
						t.Errorf("notes: %+v", notes)
					}
				}
				if again := s.push(t, "", false); len(again) > 0 {
					t.Errorf("exported again: %v", again)
				}
				was := maps.Clone(s.files)
				// When the file becomes usable, the page must become editable.
				s.left = nil
				maps.DeleteFunc(s.files, func(name, _ string) bool {
					return strings.HasPrefix(strings.ToLower(name), strings.ToLower(c.path)) ||
						strings.HasPrefix(strings.ToLower(name), "mod/")
				})
				if strings.HasPrefix(c.path, ".git/") || strings.HasPrefix(c.path, "README.md/") {
					return
				}
				s.files[c.path] = "# Now\n\nA page.\n"
				id = s.pull(t, "").Synced[c.path].Page
				now, want := find(), "A page."
				if now.Title != "Now" { // the table of contents has the title
					want = "# Now\n\n" + want
				}
				if got := markdown.Write(s.documents[now.Document]); now.Kept != "" || strings.TrimSpace(got) != want {
					t.Errorf("%q: %q", now.Kept, got)
				}
				if changed := s.push(t, "", false); len(changed) > 0 {
					t.Errorf("exported without an edit: %v", changed)
				}
				// A forced export must not write the file either, even if there was no synchronisation before.
				s.files, s.left, s.base = was, c.left, Base{}
				if changed := s.push(t, "", true); slices.Contains(changed, c.path) {
					t.Errorf("forced: %v", changed)
				}
			})
		}
	}
}

// TestKeptSummary checks that an import reports a table of contents that cannot be read. If a table of contents is a
// symbolic link, an export does not change it.
func TestKeptSummary(t *testing.T) {
	t.Parallel()
	s := newSpace(map[string]string{"README.md": "# Home\n", "a.md": "# A\n",
		"SUMMARY.md": utf16LE("* [Home](README.md)\n")})
	if _, err := s.open(t, "").Import(s.base, s.tools()); err == nil || !strings.Contains(err.Error(),
		"SUMMARY.md is text in UTF-16") {
		t.Errorf("%v", err)
	}
	s.files["SUMMARY.md"] = "* [Home](README.md)\n* [Caf\xe9](a.md)\n* [B](b.md)\n"
	if content := s.pull(t, ""); !slices.ContainsFunc(content.Notes,
		func(n Note) bool { return n.Path == "SUMMARY.md" }) {
		t.Errorf("%+v", content.Notes)
	}
	s.byTitle(t, "B").Title = "Bee"
	s.push(t, "", false)
	if want := "* [Home](README.md)\n* [Caf\xe9](a.md)\n* [Bee](b.md)\n"; s.files["SUMMARY.md"] != want {
		t.Errorf("%q", s.files["SUMMARY.md"])
	}
	s = newSpace(map[string]string{"README.md": "# Home\n", "a.md": "# A\n"})
	s.left = map[string]string{"SUMMARY.md": "symbolic link"}
	s.pull(t, "")
	s.byTitle(t, "A").Position = "Zz"
	if changed, notes := s.export(t, "", false); len(changed) > 0 || len(notes) != 1 || notes[0].Path != "SUMMARY.md" {
		t.Errorf("%v %+v", changed, notes)
	}
}

// TestDeepFolders checks that pages below pages with long titles get paths that can be written.
func TestDeepFolders(t *testing.T) {
	t.Parallel()
	s := newSpace(map[string]string{"README.md": "# Home\n"})
	s.pull(t, "")
	parent := ""
	for i := range maxNesting + 1 {
		id, slug := fmt.Sprint("deep", i), strings.Repeat("long-", 19)+fmt.Sprint(i)
		s.pages = append(s.pages, tree.Node{
			Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: "Deep", Slug: slug}, Parent: parent, Position: "b0",
		})
		parent = id
	}
	if changed := s.push(t, "", false); len(changed) != maxNesting+2 {
		t.Errorf("%d files: %v", len(changed), changed)
	}
	if changed := s.push(t, "", false); len(changed) != 0 {
		t.Errorf("again: %v", changed)
	}
}
