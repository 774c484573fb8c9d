package gitlayout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// forms has repositories in the formats of GitBook, GitHub and other tools. Each row has the expected pages, and the
// expected changes of the files after an edit. An export without an edit must not change a file.
var forms = []struct {
	name    string
	files   map[string]string
	outline string
	// edit changes the space. `lines` has, by file, two texts: a line before the edit, and the same line after the
	// edit. If the text before the edit is "", the edit creates the file.
	edit  func(t *testing.T, s *space)
	lines map[string][2]string
}{
	{"entries with an anchor or a slash", map[string]string{
		"README.md": "# Home\n", "pivot.md": "# Pivot\n\n## Add\n", "guide/a.md": "# A\n", "both.md": "# Both\n",
		"dir/README.md": "# Dir\n",
		"SUMMARY.md": "* [Home](/)\n* [Pivot](pivot.md#top)\n  * [Child](pivot.md#add)\n* [Abs](/guide/a.md)\n* " +
			"[Part](both.md#x)\n* [Both](/both.md)\n* [Dir](/dir/)\n" +
			"* [None](none.md#x)\n",
	}, `document "Home" readme
document "Pivot" pivot
  link "Child"  -> anchor add of Pivot
document "Abs" a
link "Part"  -> anchor x of Both
document "Both" both
document "Dir" dir
link "None"  -> none.md#x
`, func(t *testing.T, s *space) { s.byTitle(t, "Pivot").Title = "Excel" }, map[string][2]string{
		"pivot.md": {"# Pivot", "# Excel"}, "SUMMARY.md": {"* [Pivot](pivot.md#top)", "* [Excel](pivot.md#top)"},
	}},
	{"entries below a root", map[string]string{
		".gitbook.yaml": "root: docs\n", "docs/README.md": "# Home\n", "docs/a.md": "# A\n", "docs/b.md": "# B\n",
		"docs/SUMMARY.md": "* [Home](/README.md)\n* [A](/a.md#x)\n* [B](/docs/b.md)\n",
	}, "document \"Home\" readme\ndocument \"A\" a\ndocument \"B\" b\n", nil, nil},
	{"groups with an id", map[string]string{
		"README.md": "# Home\n", "features/b.md": "# B\n", "c.md": "# C\n", "d.md": "# D\n", "e.md": "# E\n",
		"SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n\n## ⚙️ Features <a href=\"#features\" " +
			"id=\"features\"></a>\n\n* [B](features/b.md)\n\n" +
			"## Old <a id=\"older\"></a>\n\n* [C](c.md)\n\n## Kramdown {#kram}\n\n* [D](d.md)\n\n## 🛠️ " +
			"Soft\u00adware 1️⃣\n\n* [E](e.md)\n",
	}, `document "Home" readme
group "⚙️ Features" features
  document "B" b
group "Old" older
  document "C" c
group "Kramdown" kram
  document "D" d
group "🛠️ Soft\u00adware 1️⃣" software-1
  document "E" e
`, func(t *testing.T, s *space) {
		s.byTitle(t, "⚙️ Features").Title = "Functions"
	}, map[string][2]string{"SUMMARY.md": {
		"## ⚙️ Features <a href=\"#features\" id=\"features\"></a>",
		"## Functions <a href=\"#features\" id=\"features\"></a>",
	}}},
	{"a new page in a group with an id", map[string]string{
		"README.md": "# Home\n", "features/b.md": "# B\n",
		"SUMMARY.md": "* [Home](README.md)\n\n## ⚙️ Features <a href=\"#features\" id=\"features\"></a>\n\n* " +
			"[B](features/b.md)\n",
	}, "document \"Home\" readme\ngroup \"⚙️ Features\" features\n  document \"B\" b\n", func(t *testing.T, s *space) {
		s.pages = append(s.pages, tree.Node{
			Parent: s.byTitle(
				t,
				"⚙️ Features",
			).ID, Position: "z", Page: tree.Page{ID: "new", Kind: tree.KindDocument, Title: "New", Slug: "new"},
		})
	}, map[string][2]string{
		"SUMMARY.md": {
			"* [B](features/b.md)",
			"* [B](features/b.md)\n* [New](features/new.md)",
		}, "features/new.md": {"", "# New\n"},
	}},
	{"titles and labels of entries", map[string]string{
		"README.md": "# Home {#home}\n", "amqp.md": "# Axon AMQP Extension\n\nText.\n",
		"cdi.md": "---\ntitle: Axon CDI\n---\n\n# CDI\n\nText.\n", "plain.md": "Text.\n",
		"SUMMARY.md": "* [Home](README.md)\n* [AMQP](amqp.md \"Queues\")\n* [CDI](cdi.md 'Beans')\n* " +
			"[Plain](plain.md)\n",
	}, `document "Home" readme
document "AMQP" amqp called "Queues"
document "CDI" cdi called "Beans"
document "Plain" plain
`, func(t *testing.T, s *space) {
		s.byTitle(t, "Home").Title = "Start"
		s.byTitle(t, "AMQP").Title = "MQ"
		s.byTitle(t, "CDI").LinkTitle = "Bean \"bags\""
		s.edit(t, "Plain", "Text.", "Words.")
	}, map[string][2]string{
		"README.md": {"# Home {#home}", "# Start {#home}"}, "plain.md": {"Text.", "Words."}, "SUMMARY.md": {
			"* [Home](README.md)\n* [AMQP](amqp.md \"Queues\")\n* [CDI](cdi.md 'Beans')",
			"* [Start](README.md)\n* [MQ](amqp.md \"Queues\")\n* [CDI](cdi.md 'Bean \\\"bags\\\"')",
		},
	}},
	{"a title that is the heading from now on", map[string]string{
		"README.md": "# Home\n", "amqp.md": "# Axon AMQP Extension\n\nText.\n",
		"SUMMARY.md": "* [Home](README.md)\n* [AMQP](amqp.md)\n",
	}, "document \"Home\" readme\ndocument \"AMQP\" amqp\n", func(t *testing.T, s *space) {
		s.files["SUMMARY.md"] = "* [Home](README.md)\n* [Axon AMQP Extension](amqp.md)\n"
		s.pull(t, "")
		s.edit(t, "Axon AMQP Extension", "Text.", "Words.")
		s.push(t, "", false)
		s.files["SUMMARY.md"] = "* [Home](README.md)\n* [AMQP](amqp.md)\n"
		s.pull(t, "")
		s.edit(t, "AMQP", "Words.", "More.")
	}, map[string][2]string{"amqp.md": {"# Axon AMQP Extension\n\nText.", "# Axon AMQP Extension\n\nMore."}}},
	{"the slug of a group", map[string]string{
		"README.md": "# Home\n", "b.md": "# B\n", "SUMMARY.md": "* [Home](README.md)\n\n## Features\n\n* [B](b.md)\n",
	}, "document \"Home\" readme\ngroup \"Features\" features\n  document \"B\" b\n", func(t *testing.T, s *space) {
		s.byTitle(t, "Features").Slug = "what"
	}, map[string][2]string{"SUMMARY.md": {"## Features", "## Features <a href=\"#what\" id=\"what\"></a>"}}},
	{"covers, layouts and variables", map[string]string{
		"README.md": "---\ncover: .gitbook/assets/c.png\ncoverDark: https://h.example/d.png\ncoverY: " +
			"-20\nlayout:\n  width: wide\n  cover:\n    visible: true\n    size: full\n" +
			"  outline:\n    visible: false\n  tags:\n    visible: false\nvars:\n  version: 2\n  name: Pelagia\n  beta: " +
			"true\n  list: [1]\ntags:\n  - news\n  - tag: beta\n    primary: true\n  - news\n  - 1\n---\n\n# Home\n\nText.\n",
		"gone.md":               "---\ncover: none.png\nlayout: wide\nvars: none\ntags: none\n---\n\n# Gone\n",
		".gitbook/assets/c.png": "c",
		".gitbook/vars.yaml":    "a: 1\n", ".gitbook/tags.yaml": "- tag: news\n",
	}, "document \"Home\" readme\ndocument \"Gone\" gone\n", func(t *testing.T, s *space) {
		home, gone := s.byTitle(t, "Home"), s.byTitle(t, "Gone")
		got := []schema.Data{home.Cover, home.Layout, home.Variables, gone.Cover, gone.Layout, gone.Variables}
		cover := map[string]any{"kind": "file", "file": s.base.Files[".gitbook/assets/c.png"].File}
		want := []schema.Data{
			{"ref": cover, "refDark": map[string]any{"kind": "url", "url": "https://h.example/d.png"}, "yPos": -20.0},
			{
				"width":     "wide",
				"cover":     true,
				"coverSize": "full",
				"outline":   false,
				"tags":      false,
			}, {"version": 2.0, "name": "Pelagia", "beta": true}, nil, nil, nil,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		tags := []tree.Tag{{Name: "news"}, {Name: "beta", Primary: true}}
		if diff := cmp.Diff(tags, home.Tags); diff != "" || gone.Tags != nil {
			t.Error(diff, gone.Tags)
		}
		for _, name := range []string{".gitbook/vars.yaml", ".gitbook/tags.yaml"} {
			if id := s.base.Files[name].File; id == "" || s.uploads[id] != name {
				t.Errorf("%s is no file of the space: %v", name, s.base.Files)
			}
		}
		s.edit(t, "Home", "Text.", "Words.")
	}, map[string][2]string{"README.md": {"Text.", "Words."}}},
	{"a cover in the background", map[string]string{
		"README.md": "---\ncover: .gitbook/assets/hero (1).png\ncoverY: 0\ncoverHeight: 461\nlayout:\n  cover:\n    " +
			"visible: true\n    size: background\n    mask: none\n---\n\n# Home\n\nText.\n",
		".gitbook/assets/hero (1).png": "c",
	}, "document \"Home\" readme\n", func(t *testing.T, s *space) {
		home := s.byTitle(t, "Home")
		cover := map[string]any{"kind": "file", "file": s.base.Files[".gitbook/assets/hero (1).png"].File}
		want := []schema.Data{
			{"ref": cover, "yPos": 0.0, "height": 461.0}, {"cover": true, "coverSize": "background"},
		}
		if diff := cmp.Diff(want, []schema.Data{home.Cover, home.Layout}); diff != "" {
			t.Error(diff)
		}
		s.edit(t, "Home", "Text.", "Words.")
	}, map[string][2]string{"README.md": {"Text.", "Words."}}},
	{"columns of files", map[string]string{
		"README.md": "# Home\n\nText.\n\n<table><thead><tr><th>A</th><th " +
			"data-type=\"files\">F</th></tr></thead><tbody><tr><td>x</td><td><a " +
			"href=\".gitbook/assets/a.csv\">a.csv</a><a " +
			"href=\"https://h.example/b.csv\">https://h.example/b.csv</a></td></tr></tbody></table>\n",
		".gitbook/assets/a.csv": "a",
	}, "document \"Home\" readme: file\n", func(t *testing.T, s *space) {
		home := s.byTitle(t, "Home")
		file := "ref:file/" + s.base.Files[".gitbook/assets/a.csv"].File
		want := `<a href="` + file + `">` + file + `</a><a href="https://h.example/b.csv">`
		if got := markdown.Write(s.documents[home.Document]); !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %s", got, want)
		}
		s.edit(t, "Home", "<td>x</td>", "<td>y</td>")
	}, map[string][2]string{"README.md": {
		"<table><thead><tr><th>A</th><th data-type=\"files\">F</th></tr></thead><tbody><tr><td>x</td><td><a " +
			"href=\".gitbook/assets/a.csv\">a.csv</a><a " +
			"href=\"https://h.example/b.csv\">https://h.example/b.csv</a></td></tr></tbody></table>",
		"<table><thead><tr><th>A</th><th data-type=\"files\">F</th></tr></thead><tbody><tr><td>y</td><td><a " +
			"href=\".gitbook/assets/a.csv\">a.csv</a><a " +
			"href=\"https://h.example/b.csv\">https://h.example/b.csv</a></td></tr></tbody></table>",
	}}},
	{"folders as they are spelled", map[string]string{
		"README.md": "# Home\n", "_private/x.md": "# X\n", "API Guide/v1/y.md": "# Y\n",
	}, "document \"Home\" readme\ndocument \"Private\" private\n  document \"X\" x\ndocument \"API Guide\" " +
		"api-guide\n  document \"V1\" v1\n    document \"Y\" y\n",
		func(t *testing.T, s *space) {
			s.edit(t, "Private", "", "Text.")
			s.edit(t, "V1", "", "Text.")
			s.pages = append(s.pages, tree.Node{
				Parent: s.byTitle(
					t,
					"API Guide",
				).ID, Position: "z", Page: tree.Page{ID: "new", Kind: tree.KindDocument, Title: "Z", Slug: "z"},
			})
		}, map[string][2]string{
			"_private/README.md": {
				"",
				"# Private\n\nText.\n",
			}, "API Guide/v1/README.md": {"", "# V1\n\nText.\n"}, "API Guide/z.md": {"", "# Z\n"},
		}},
	{"MDX, TOML and empty front matter", map[string]string{
		"README.md": "+++\ntitle = 'Start'\nhidden = true\n[menu]\nmain = 1\n+++\n\n[q](/quick) [q](quick#x)\n",
		"empty.md":  "---\n---\n\n# Empty\n\nText.\n",
		"quick.mdx": "---\ntitle: Quick start\nsidebarTitle: Q\n---\n\nimport X from 'x'\n\n<Card title=\"a\">\n " +
			" text\n</Card>\n\nMore {value}.\n",
	}, "document \"Start\" readme: anchor x of Quick start, page Quick start\ndocument \"Empty\" empty\ndocument " +
		"\"Quick start\" quick\n", func(t *testing.T, s *space) {
		s.byTitle(t, "Start").Title, s.byTitle(t, "Start").Description = "Begin", "Why \"not\"?"
		s.edit(t, "Empty", "Text.", "Words.")
		s.edit(t, "Quick start", "More", "Some")
	}, map[string][2]string{
		"README.md": {
			"+++\ntitle = 'Start'",
			"+++\ndescription = \"Why \\\"not\\\"?\"\ntitle = \"Begin\"",
		}, "empty.md": {"Text.", "Words."}, "quick.mdx": {"More {value}.", "Some {value}."},
	}},
	{"components, attributes and tables with blank lines", map[string]string{
		"README.md": "# Home\n\n[one](tabs.md#one)\n",
		"tabs.md": "import Tabs, { Tab } from '@theme/Tabs';\nimport {\n  A,\n} from \"a\"\nimport 'x.css'\n\n# " +
			"Tabs\n\n{#one}\n## One\n\nText of <Tabs.Tab a={1}>one</Tabs.Tab>.\n{: .note}\n\n{/* c\n\nd */}\n\n" +
			"<table>\n<tr><td>\n\n*in* it\n\n</td></tr>\n\n</table>\n\nLast words.\n",
		"titled.mdx": "---\ntitle: Titled\n---\nimport X from 'x'\n\nimport * as Y from \"y\";\n\n## Part\n" +
			"{: #part }\nPart of it.\n",
		"from.md": "# From\n\nimport text from 'there' is not in this line.\n",
	}, `document "Home" readme: anchor one of Tabs
document "From" from
document "Tabs" tabs
document "Titled" titled
`, func(t *testing.T, s *space) {
		for _, n := range s.pages {
			if text := markdown.Write(
				s.documents[n.Document],
			); strings.Contains(text, "import") != (n.Title == "From") {
				t.Errorf("%s has the text %q", n.Title, text)
			}
		}
		s.edit(t, "Tabs", "Last", "More")
		s.edit(t, "Titled", "Part of", "Some of")
		s.byTitle(t, "Home").Title = "Start"
	}, map[string][2]string{
		"tabs.md": {"Last words.", "More words."}, "titled.mdx": {"Part of it.", "Some of it."},
		"README.md": {"# Home", "# Start"},
	}},
	{"links from the root and images with a fragment", map[string]string{
		".gitbook.yaml": "root: ./docs/\n", "docs/README.md": "# Home\n\n[a](/guide/a.md) [b](/guide/a.md#x) " +
			"[c](/) [d](/docs/guide/a.md) [e](/guide)\n\n" +
			"![p](/img/p.png)\n\n![q](img/p.png#gh-light-mode-only) " +
			"![r](img/p.png#gh-dark-mode-only)\n\n![s](/docs/img/p.png) [t](/f.pdf#page=2) [u](//host/x) " +
			"[v](/none.md)\n",
		"docs/guide/a.md": "# A\n\n![p](/img/p.png) text\n", "docs/guide/README.md": "# Guide\n",
		"docs/img/p.png": "p", "docs/f.pdf": "f",
	}, "document \"Home\" readme: /none.md, anchor x of A, file, file dark, file light, file of 2, " +
		"https://host/x, page A, page Guide, page Home\ndocument \"Guide\" guide\n" +
		"  document \"A\" a\n", func(t *testing.T, s *space) {
		s.edit(t, "A", "text", "words")
	}, map[string][2]string{"docs/guide/a.md": {"![p](/img/p.png) text", "![p](/img/p.png) words"}}},
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range forms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(maps.Clone(c.files))
			s.pull(t, "")
			if diff := cmp.Diff(c.outline, s.outlineOf(c.outline)); diff != "" {
				t.Error(diff)
			}
			if changed := s.push(t, "", false); len(changed) > 0 {
				t.Errorf("exported without an edit: %v\n%s", changed, cmp.Diff(c.files, s.files))
			}
			if c.edit == nil {
				return
			}
			want := maps.Clone(s.files)
			for name, line := range c.lines {
				if line[0] == "" {
					want[name] = line[1]
					continue
				}
				want[name] = strings.Replace(s.files[name], line[0]+"\n", line[1]+"\n", 1)
				if want[name] == s.files[name] {
					t.Errorf("%s has no line %q", name, line[0])
				}
			}
			c.edit(t, s)
			s.push(t, "", false)
			if diff := cmp.Diff(want, s.files); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// outlineOf returns the outline of the pages, with the targets of links. If the line of a page in `want` has a colon,
// the outline also has the targets of the references in this page.
func (s *space) outlineOf(want string) string {
	titles := map[string]string{}
	for _, n := range s.pages {
		titles[n.ID] = n.Title
	}
	target := func(ref map[string]any) string {
		switch ref["kind"] {
		case "page":
			return "page " + titles[ref["page"].(string)]
		case "anchor":
			return fmt.Sprintf("anchor %s of %s", ref["anchor"], titles[ref["page"].(string)])
		case "file":
			form := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(" ", ref["fragment"]), " gh-"), "-mode-only")
			return strings.TrimSuffix("file "+strings.NewReplacer(" <nil>", "", " page=", "of ").Replace(form), " ")
		}
		return fmt.Sprint(ref["url"])
	}
	var b strings.Builder
	var walk func(pages []tree.Page, depth int)
	walk = func(pages []tree.Page, depth int) {
		for _, p := range pages {
			line := fmt.Sprintf("%s%s %q %s", strings.Repeat("  ", depth), p.Kind, p.Title, p.Slug)
			if p.LinkTitle != "" {
				line += fmt.Sprintf(" called %q", p.LinkTitle)
			}
			if p.Target != nil {
				line += " -> " + target(p.Target)
			}
			if strings.Contains(want, line+":") {
				var refs []string
				markdown.MapRefs(s.documents[p.Document], func(ref map[string]any) map[string]any {
					refs = append(refs, target(ref))
					return nil
				})
				slices.Sort(refs)
				line += ": " + strings.Join(slices.Compact(refs), ", ")
			}
			b.WriteString(line + "\n")
			walk(p.Pages, depth+1)
		}
	}
	walk(tree.Nest(s.pages, ""), 0)
	return b.String()
}

// TestLeftOut checks that an import lists, for each file, the constructs that its page cannot show.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	s := newSpace(map[string]string{
		"README.md": "# Home\n\nText<!-- c -->, <a id=\"x\"></a><br>.\n\n{% hint style=\"info\" %}\na\n{% " +
			"endhint %}\n\n`<b>`\n",
		"a.md": "# A\n\n<Card title=\"x\">in</Card> <your-key>\n\n<video src=\"v.mp4\"></video>\n\n{% " +
			"code-tabs %}\nx\n{% endcode-tabs %}\n\n<table><tr><td><form>y</form></td></tr></table>\n",
		"b.mdx": "import X from 'x'\n\n# B {#b}\n\n<Tabs>\n\n<Connect />\n\n<B.C d={1}>in</B.C> [a](u){.x}\n{: .note}\n\n" +
			"</Tabs>\n\n{{#include f}}\n\n{/* c */}\n",
		"c.md": "# C\n\n{{< note >}}\na\n{{< /note >}}\n\n- {{% tab \"b\" %}}\n\n|a|\n|-|\n|{{<d/>}}|\n\n" +
			"{{</* c */>}} {{/* c */}}\n\n" +
			"`{{< code >}}`\n",
	})
	want := []Note{
		{"a.md", "shown as text or left out: <Card>, <form>, <video>, <your-key>, {% code-tabs %}"},
		{"b.mdx", "shown as text or left out: <B.C>, <Connect>, <Tabs>, {.x}, {: .note}, {{#include f}}"},
		{"b.mdx", "imports of components are left out"},
		{"b.mdx", "an MDX file is read as Markdown: its expressions are text, and its components what is in them"},
		{"c.md", "shown as text or left out: {{% tab %}}, {{< d >}}, {{< note >}}"},
	}
	if diff := cmp.Diff(want, s.pull(t, "").Notes); diff != "" {
		t.Error(diff)
	}
	if again := s.pull(t, "").Notes; len(again) > 0 {
		t.Errorf("noted again for files that did not change: %v", again)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schema.Data{
		"version: \"1.2\"\nbuild: 3\nratio: 0.5\nbeta: false\nnested: {a: 1}\nnone:\n": {"version": "1.2",
			"build": 3.0, "ratio": 0.5, "beta": false},
		"": nil, "- a\n": nil, "a: [\n": nil, "1: a\n": {"1": "a"}, "a: " + strings.Repeat("b", MaxVariables): nil,
	} {
		if diff := cmp.Diff(want, Variables([]byte(text))); diff != "" {
			t.Errorf("%.40q: %s", text, diff)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("- tag: a\n", 3)
	for i := range maxTags + 1 {
		many += fmt.Sprintf("- tag: t%d\n", i)
	}
	for text, want := range map[string][]schema.RevisionTag{
		"- tag: new\n  label: New releases\n  icon: rocket\n  color: $primary\n- tag: plain\n- label: none\n- tag: new\n": {
			{Slug: "new", Label: "New releases", Icon: "rocket", Color: "$primary"},
			{Slug: "plain", Label: "plain", Color: "default"},
		},
		"- tag: e\n  emoji: 1f600\n  icon: x\n  color: nothing\n": {
			{Slug: "e", Label: "e", Emoji: "1f600", Color: "default"},
		},
		"": {}, "a: 1\n": {}, "- [\n": {}, "- 1\n": {}, "- tag: " + strings.Repeat("a", MaxVariables): {},
	} {
		if diff := cmp.Diff(want, Tags([]byte(text))); diff != "" {
			t.Errorf("%.40q: %s", text, diff)
		}
	}
	if got := Tags([]byte(many)); len(got) != maxTags {
		t.Errorf("%d tags", len(got))
	}
}
