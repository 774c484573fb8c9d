package gitlayout

import (
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// TestLongFiles imports files of the largest size, and larger files. The page of a larger file says that the file is
// too long. This file stays unchanged, and other files are still written. An earlier version made an empty page from a
// file that was too long. When longer pages are allowed, this page gets the text of the file.
func TestLongFiles(t *testing.T) {
	t.Parallel()
	const heading = "# A\n\n"
	for name, c := range map[string]struct {
		text   string
		kept   bool
		repair bool
	}{
		"words":             {text: contenttest.LongWords()},
		"chinese":           {text: contenttest.LongChinese()},
		"sections":          {text: contenttest.LongPage()},
		"one byte above":    {text: contenttest.LongWords() + "x", kept: true},
		"one letter above":  {text: contenttest.LongChinese() + "终", kept: true},
		"too many nodes":    {text: strings.Repeat("a\n\n", schema.MaxDocumentNodes), kept: true},
		"imported as empty": {text: contenttest.LongWords(), repair: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(map[string]string{"README.md": "# Home\n\nText.\n", "a.md": heading + c.text + "\n"})
			content := s.pull(t, "")
			if c.repair {
				s.byTitle(t, "A").Document = ""
				s.base = Base{s.base.Files, slices.Clone(s.pages)}
				content = s.pull(t, "")
			}
			noted := slices.ContainsFunc(
				content.Notes,
				func(n Note) bool { return n.Path == "a.md" && strings.Contains(n.Text, "too long") },
			)
			if kept := s.byTitle(t, "A").Kept != ""; kept != c.kept || noted != c.kept {
				t.Errorf("the page cannot be edited: %v, want %v, notes %v", kept, c.kept, content.Notes)
			}
			s.edit(t, "Home", "Text", "Another text")
			if paths := s.push(t, "", false); !slices.Equal(paths, []string{"README.md"}) {
				t.Errorf("changed %v", paths)
			}
			if !c.kept {
				s.edit(t, "A", "", "The end.")
				if s.push(t, "", false); s.files["a.md"] != heading+c.text+"\n\nThe end.\n" {
					t.Errorf(
						"the file has %d bytes, and ends in %q",
						len(s.files["a.md"]),
						s.files["a.md"][max(0, len(s.files["a.md"])-40):],
					)
				}
			}
		})
	}
}
