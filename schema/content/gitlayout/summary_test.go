package gitlayout

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// marksOfText replaces visible marks in the test cases by characters that editors do not show.
var marksOfText = strings.NewReplacer("␍", "\r", "\n␄\n", "", "␄\n", "", "␄", "")

// TestSummary checks that an edit of the space changes only the expected lines of the table of contents.
func TestSummary(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/summary.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		sections := map[string]string{}
		for _, section := range strings.Split("\n"+rest, "\n-- ")[1:] {
			title, body, _ := strings.Cut(section, "\n")
			sections[title] = strings.TrimRight(body, "\n") + "\n"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spaceOf(t, marksOfText.Replace(sections["SUMMARY.md"]))
			if changed := s.push(t, "", false); len(changed) > 0 {
				t.Fatalf("exported without an edit: %v", changed)
			}
			for line := range strings.Lines(sections["edits"]) {
				s.arrange(t, strings.TrimSuffix(line, "\n"))
			}
			want := s.outline()
			s.push(t, "", false)
			if diff := cmp.Diff(marksOfText.Replace(sections["want"]), s.files["SUMMARY.md"]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			s.pull(t, "")
			if diff := cmp.Diff(want, s.outline()); diff != "" {
				t.Errorf("the table stands for other pages\n%s", diff)
			}
		})
	}
}

var destinations = regexp.MustCompile(`\]\(<?(?:\./)?([^)>#":']+\.md)`)

// spaceOf imports a repository with this table of contents, and with the files that it names.
func spaceOf(t fataler, summary string) *space {
	files := map[string]string{"SUMMARY.md": summary}
	for _, found := range destinations.FindAllStringSubmatch(summary, -1) {
		files[found[1]] = "Text of " + found[1] + ".\n"
	}
	s := newSpace(files)
	s.pull(t, "")
	return s
}

var arrangements = regexp.MustCompile(
	`^(rename|label|link) (.+?): ?(.*)$|^(delete) (.+)$|^(move|add|group) (.+?)( first)?(?: (after|below) (.+))?$`)

// arrange makes the edit that a test case describes in words.
func (s *space) arrange(t *testing.T, edit string) {
	t.Helper()
	found := arrangements.FindStringSubmatch(edit)
	switch {
	case found == nil:
		t.Fatalf("no edit is %q", edit)
	case found[1] == "rename":
		s.byTitle(t, found[2]).Title = found[3]
	case found[1] == "label":
		s.byTitle(t, found[2]).LinkTitle = found[3]
	case found[1] == "link":
		s.byTitle(t, found[2]).Target = schema.Data{"kind": "url", "url": found[3]}
	case found[4] == "delete":
		s.remove(s.byTitle(t, found[5]).ID)
	default:
		s.place(t, found[6], found[7], found[8] != "", found[9], found[10])
	}
}

func (s *space) remove(id string) {
	s.pages = slices.DeleteFunc(s.pages, func(n tree.Node) bool { return n.ID == id })
	for _, n := range slices.Clone(s.pages) {
		if n.Parent == id {
			s.remove(n.ID)
		}
	}
}

// place moves or adds a page. The page becomes the first or the last child of another page, or is put directly after
// another page.
func (s *space) place(t fataler, what, title string, first bool, where, other string) {
	t.Helper()
	if what != "move" {
		kind := map[string]string{"add": tree.KindDocument, "group": tree.KindGroup}[what]
		s.pages = append(s.pages, tree.Node{
			Page: tree.Page{ID: "new " + title, Kind: kind, Title: title, Slug: tree.Slugify(title)},
		})
	}
	parent, after := "", ""
	switch where {
	case "after":
		sibling := s.titled(t, other)
		parent, after = sibling.Parent, sibling.Position
	case "below":
		parent = s.titled(t, other).ID
	}
	n := s.titled(t, title)
	var positions []string
	for _, sibling := range s.pages {
		if sibling.Parent == parent && sibling.ID != n.ID && sibling.Position != "" {
			positions = append(positions, sibling.Position)
		}
	}
	slices.Sort(positions)
	next := ""
	switch {
	case where == "after":
		if at := slices.Index(positions, after) + 1; at < len(positions) {
			next = positions[at]
		}
	case len(positions) > 0 && first:
		next = positions[0]
	case len(positions) > 0:
		after = positions[len(positions)-1]
	}
	n.Parent, n.Position = parent, tree.Between(after, next)
}

func (s *space) titled(t fataler, title string) *tree.Node {
	t.Helper()
	for i := range s.pages {
		if s.pages[i].Title == title {
			return &s.pages[i]
		}
	}
	t.Fatalf("no page is called %q", title)
	return nil
}

// TestRenameChangesOneLine renames a page in a random table of contents. Only the line of this page must change.
func TestRenameChangesOneLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := tableOf(t, true)
		s := spaceOf(t, strings.Join(lines, ""))
		if changed := s.push(t, "", false); len(changed) > 0 {
			t.Fatalf("exported without an edit: %v", changed)
		}
		var entries []int
		for i := range s.pages {
			entries = append(entries, i)
		}
		if len(entries) == 0 {
			return
		}
		n := &s.pages[rapid.SampledFrom(entries).Draw(t, "entry")]
		old := n.Title
		n.Title = rapid.SampledFrom([]string{"renamed", "two words", "a *b* [c]", "安装"}).Draw(t, "title")
		s.push(t, "", false)
		got := strings.SplitAfter(s.files["SUMMARY.md"], "\n")
		if got[len(got)-1] == "" {
			got = got[:len(got)-1]
		}
		if len(got) != len(lines) {
			t.Fatalf("%q became %q", lines, got)
		}
		for i, line := range lines {
			if named := regexp.MustCompile(`\b` + old + `\b`).MatchString(line); !named && got[i] != line {
				t.Fatalf("%q became %q", line, got[i])
			} else if named && got[i] == line {
				t.Fatalf("%q stays", line)
			}
		}
	})
}

// TestOtherLinesStay adds, moves or deletes a page in a random table of contents. All other lines must stay unchanged
// and in order. Only blank lines and horizontal rules next to the page may change.
func TestOtherLinesStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := tableOf(t, false)
		s := spaceOf(t, strings.Join(lines, ""))
		if len(s.pages) == 0 {
			return
		}
		oneOf := func(name string, is func(n *tree.Node) bool) *tree.Node {
			var found []*tree.Node
			for i := range s.pages {
				if is(&s.pages[i]) {
					found = append(found, &s.pages[i])
				}
			}
			if len(found) == 0 {
				return nil
			}
			return rapid.SampledFrom(found).Draw(t, name)
		}
		leaf := func(n *tree.Node) bool {
			return !slices.ContainsFunc(s.pages, func(c tree.Node) bool { return c.Parent == n.ID })
		}
		page := func(n *tree.Node) bool { return n.Kind == tree.KindDocument }
		what := rapid.SampledFrom([]string{"add", "move", "delete"}).Draw(t, "what")
		title, where := "new", rapid.SampledFrom([]string{"after", "below"}).Draw(t, "where")
		if what != "add" {
			n := oneOf("page", func(n *tree.Node) bool { return leaf(n) && n.Kind != tree.KindGroup })
			if n == nil {
				return
			}
			title = n.Title
		}
		if what == "delete" {
			s.remove(s.titled(t, title).ID)
		} else {
			other := oneOf("other", func(n *tree.Node) bool { return page(n) && n.Title != title })
			if other == nil {
				return
			}
			s.place(t, what, title, rapid.Bool().Draw(t, "first"), where, other.Title)
		}
		want := s.outline()
		s.push(t, "", false)
		says := func(line string) bool {
			text := strings.TrimSpace(line)
			return text != "" && !ruleLine.MatchString(text) && !regexp.MustCompile(`\b`+title+`\b`).MatchString(line)
		}
		var got, kept []string
		for line := range strings.Lines(s.files["SUMMARY.md"]) {
			if says(line) {
				got = append(got, line)
			}
		}
		for _, line := range lines {
			if says(line) {
				kept = append(kept, line)
			}
		}
		// If two lines change places, either line may be the line that was moved.
		if what == "move" {
			slices.Sort(got)
			slices.Sort(kept)
		}
		if diff := cmp.Diff(kept, got); diff != "" {
			t.Fatalf("other lines have changed\n%s\n%s\n%s", diff, strings.Join(lines, ""), s.files["SUMMARY.md"])
		}
		s.pull(t, "")
		if diff := cmp.Diff(want, s.outline()); diff != "" {
			t.Fatalf("the table stands for other pages\n%s\n%s", diff, s.files["SUMMARY.md"])
		}
	})
}

// tableOf generates the lines of a random table of contents.
func tableOf(t *rapid.T, links bool) (lines []string) {
	draw := func(choices ...string) string { return rapid.SampledFrom(choices).Draw(t, "choice") }
	depth, indent := -1, draw("  ", "    ", "\t")
	if rapid.Bool().Draw(t, "titled") {
		lines = append(lines, "# Table of contents\n", draw("\n", "\r\n"))
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "lines") {
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind < 6:
			depth = rapid.IntRange(0, min(depth+1, 3)).Draw(t, "depth")
			name := fmt.Sprintf("page%d", i)
			title := draw(name, "**"+name+"**", "`"+name+"`", "a "+name)
			label := draw("", "", ` "Label"`, ` 'It "is"'`, ` (so)`)
			dest := draw(name+".md", "./"+name+".md", "<"+name+".md>")
			if links && draw("", "", "link") != "" {
				dest, depth = "https://h.example/"+name, 0
			}
			line := strings.Repeat(indent, depth) + draw("*", "-", "+", "1.", "7)") + draw(" ", "  ") +
				"[" + title + "](" + strings.Replace(dest, name, "at"+fmt.Sprint(i), 1) + label + ")" +
				draw("", "", "  ", " <!-- why -->")
			lines = append(lines, line)
		case kind == 6:
			depth = -1
			lines = append(lines, fmt.Sprintf(draw("## group%d", "### group%d ##", "## group%d {#g%[1]d}",
				"## group%d <a href=\"#h%[1]d\" id=\"h%[1]d\"></a>"), i))
		case kind == 7:
			depth = -1
			lines = append(lines, draw("***", "---", "_ _ _"))
		case kind == 8:
			lines = append(lines, draw("<!-- a comment -->", "Some text", "<!-- * [x](x.md) -->"))
		default:
			lines = append(lines, "")
		}
		lines[len(lines)-1] += draw("\n", "\n", "\r\n")
	}
	return lines
}
