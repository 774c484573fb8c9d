package pdf_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	reader "github.com/ledongthuc/pdf"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/pdf"
)

// TestNothingOverflows prints long words at every place that may be narrow. All letters must be within the margins of
// the sheet and must not overlap. Each word must be complete.
func TestNothingOverflows(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("abcdefghij", 25)
	table := "| a | b | c | d |\n| - | - | - | - |\n| `" + word + "` | " + word +
		" | next | `kubernetes.io/service-account.name` |\n" +
		"| https://example.com/" + word + " | [link](https://example.com) | **" + word + "** | `short` |\n"
	cases := map[string]string{
		"inline code": "See `" + word + "` here.",
		"a word":      "See " + word + " here.",
		"an address":  "See <https://example.com/" + word + "> here.",
		"a block":     "```\nlet a = " + word + "\n```",
		"a language":  "```json\n{\"a\": \"" + word + "\", \"b\": [" + strings.Repeat("[1],", 60) + "[2]]}\n```",
		"a table":     table,
		"a hint":      "{% hint style=\"info\" %}\n`" + word + "`\n\n```\n" + word + "\n```\n{% endhint %}",
		"a list":      "- a\n  - b\n    - `" + word + "`\n\n      ```go\n      " + word + "\n      ```\n",
		"a line of many words": "1. one\n\n   - two\n\n     ```bash\n     " + word +
			strings.Repeat(" --an=option", 600) + "\n     ```\n",
		"no language, on one line": "```rust,editable\n" + strings.Repeat(word+" <p> ", 10) + "\n```",
		"a heading":                "## `" + word + "` and " + word,
		"titles": strings.Join([]string{
			"{% tabs %}\n{% tab title=\"" + word + "\" %}\n`" + word + "`\n{% endtab %}\n{% endtabs %}",
			"<details>\n<summary>" + word + "</summary>\n" + word + "\n</details>",
			"{% stepper %}\n{% step %}\n## " + word + "\n{% endstep %}\n{% endstepper %}",
			"{% code title=\"" + word + "\" %}\n```\nx\n```\n{% endcode %}",
			"{% embed url=\"https://example.com/" + word + "\" %}",
		}, "\n\n"),
		"parts": strings.Join([]string{
			"{% columns %}\n{% column %}\n" + word + "\n\n```\n" + word + "\n```\n{% endcolumn %}\n\n" +
				"{% column %}\n`" + word + "`\n{% endcolumn %}\n{% endcolumns %}",
			"<figure><img src=\"ref:file/f1\" alt=\"\"><figcaption>" + word + "</figcaption></figure>",
			"Text[^1].\n\n[^1]: `" + word + "`",
			"> - > - `" + word + "`\n>   > - " + word,
			"- [ ] `" + word + "`\n- [x] " + word,
			"1000. `" + word + "`\n1001. " + word,
		}, "\n\n"),
		"inlines": strings.Join([]string{
			"in $$\\unknown{" + word + "}$$ text\n\n$$\n\\unknown{" + word + "}\n$$",
			strings.Repeat("**abcdefghij**`abcdefghij`[abcdefghij](https://example.com)", 8),
			strings.Repeat("abcdefghij&nbsp;", 25),
		}, "\n\n"),
		"tables": strings.Join([]string{
			"- item\n\n  | a | b | c | d | e | f |\n  | - | - | - | - | - | - |\n  | `abcdefghij` | (`abcdefghij`). |" +
				" abcdefghij-abcdefghij | x`abcdefghij` | **abcdefghij**, | abcdefghij |\n",
			strings.Repeat("| `abcdefghij` ", 10) + "|\n" + strings.Repeat("| - ", 10) + "|\n" +
				strings.Repeat("| (abcdefghij) ", 10) + "|\n",
		}, "\n\n"),
	}
	// Each case is a page with its own words. The first page has a long title and a long description.
	names := slices.Sorted(maps.Keys(cases))
	partOf := func(i int) string { return "abcdefghi" + string(rune('k'+i)) }
	documents := []schema.Document{read(t, "Text.")}
	for i, name := range names {
		documents = append(documents, read(t, strings.ReplaceAll(cases[name], "abcdefghij", partOf(i))))
	}
	s := source(t, documents...)
	s.Pages[0].Title, s.Pages[0].Description = word, "About "+word
	r := render(t, s)
	var all strings.Builder
	for i := 1; i <= r.NumPage(); i++ {
		page := r.Page(i)
		glyphs := page.Content().Text
		right := page.V.Key("MediaBox").Index(2).Float64()
		for _, g := range glyphs {
			all.WriteString(g.S)
			if strings.TrimSpace(g.S) != "" && (g.X < 0 || g.X+g.W > right-50) {
				t.Errorf("sheet %d: %q is at %.0f of %.0f", i, g.S, g.X, right)
			}
		}
		overlapping(t, i, glyphs)
	}
	text := strip(all.String())
	for i, name := range names {
		got, want := strings.Count(text, partOf(i)), strings.Count(cases[name], "abcdefghij")
		if got < want || want == 0 {
			t.Errorf("%s: %d of %d parts of words are there: %s", name, got, want, text)
		}
	}
}

// overlapping reports the letters of a sheet that overlap within a line.
func overlapping(t *testing.T, sheet int, glyphs []reader.Text) {
	t.Helper()
	shown := slices.DeleteFunc(slices.Clone(glyphs), func(g reader.Text) bool { return strip(g.S) == "" })
	slices.SortStableFunc(
		shown,
		func(a, b reader.Text) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) },
	)
	for i := 1; i < len(shown); i++ {
		before, g := shown[i-1], shown[i]
		if before.Y == g.Y && g.X < before.X+before.W-0.2*before.FontSize {
			t.Errorf("sheet %d: %q at %.0f is on %q, which ends at %.0f", sheet, g.S, g.X, before.S, before.X+before.W)
			return
		}
	}
}

// strip removes white space. It also removes the characters at which words may break.
func strip(text string) string {
	return strings.Join(
		strings.Fields(strings.NewReplacer("\ufffd", "", "\u200b", "", "\u00ad", "", "\u2010", "").Replace(text)),
		"",
	)
}

// TestBookLanguage checks a space without a language. The contents of its PDF must be in the language of its titles.
func TestBookLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, title, page, want string }{
		{"", "دليل Frappe", "البدء السريع", `"lang":"ar","dir":"rtl"`},
		{"", "Frappe", "البدء السريع والإعدادات", `"lang":"ar","dir":"ltr"`},
		{"", "Guide", "Начало работы", `"lang":"ru","dir":"ltr"`},
		{"", "手册", "安装", `"lang":"zh","dir":"ltr"`},
		{"", "ガイド", "インストール", `"lang":"ja","dir":"ltr"`},
		{"", "Guide", "Start, مرحبا", `"lang":"en","dir":"ltr"`},
		{"fr", "Guide", "مرحبا", `"lang":"fr","dir":"ltr"`},
	} {
		s := source(t, read(t, "Text."))
		s.Title, s.Language, s.Pages[0].Title = c.title, c.language, c.page
		for f, err := range pdf.Files(s) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Name == "info.json" && !strings.Contains(string(f.Content), c.want) {
				t.Errorf("%q, %q: %s, want %s", c.title, c.page, f.Content, c.want)
			}
		}
	}
}
