package markdown

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// fill repeats a text until it has the largest size of a body.
func fill(piece string) string { return strings.Repeat(piece, schema.MaxMarkdown/len(piece)) }

func runsOfBackticks(line string) string {
	var b strings.Builder
	for n := 1; b.Len()+n < schema.MaxMarkdown/4; n++ {
		b.WriteString(strings.Repeat("`", n) + " ")
	}
	return b.String() + strings.Repeat(line, (schema.MaxMarkdown-b.Len())/len(line))
}

// costly has difficult texts. A simple parser, or goldmark without the parsers of this package, needs quadratic time
// for each of them.
var costly = map[string]string{
	"hints":                     fill("{% hint %}\n"),
	"loose tags":                fill("<b c=“d e”>"),
	"open loose tags":           fill("<b c=“d "),
	"closed hints":              fill("{% hint %}\n{% endhint %}\n"),
	"hints in quotes":           fill("> {% hint %}\n"),
	"tags in HTML":              "<div>\n" + fill("{% a %} ")[7:],
	"open tags in HTML":         "<div>\n" + fill("{% a")[6:],
	"tags in aligned HTML":      "<p align=center>" + fill("{% a %} ")[24:] + "</p>",
	"quotes":                    fill(">"),
	"quotes with spaces":        fill("> "),
	"quotes of lists":           fill("> - "),
	"bullets":                   fill("- "),
	"numbers":                   fill("1. "),
	"bullets in lines":          fill("- a\n"),
	"deeper lists":              deeper("- a\n"),
	"deeper quotes":             deeper("> a\n"),
	"stars in a line":           fill("* "),
	"opening brackets":          fill("["),
	"closing brackets":          fill("]"),
	"both brackets":             fill("[]"),
	"nested brackets":           strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000),
	"nested images":             strings.Repeat("![", 20_000) + "a" + strings.Repeat("](u)", 12_000),
	"nested links":              strings.Repeat("[a](u ", 16_000),
	"links":                     fill("[a](b)"),
	"links in lines":            fill("[a](b)\n"),
	"unclosed links":            fill("[a]("),
	"unclosed links in angles":  fill("[a](<"),
	"unclosed links with words": fill("[a](<b "),
	"unclosed titles":           fill("[a](b \""),
	"unclosed titles of two":    fill("[a](b '[a](b \""),
	"unclosed titles in lines":  fill("[a](b '\n"),
	"unclosed titles in round":  fill("[a](b ("),
	"parentheses":               "[a](" + strings.Repeat("(", 90_000),
	"long destination":          "[a](" + strings.Repeat("b", 90_000),
	"images":                    fill("!["),
	"unclosed references":       fill("[a]["),
	"full references":           "[a]: b\n\n" + strings.Repeat("[a][a]", 16_000),
	"unknown references":        "[a]: b\n\n" + strings.Repeat("[x]\n", 24_000),
	"references on lines":       "[a]: b\n\n" + strings.Repeat("[a]\n", 24_000),
	"long references":           "[a]: " + strings.Repeat("b", 50_000) + "\n\n" + strings.Repeat("[a]", 16_000),
	"long labels": "[a]: b\n\n" + strings.Repeat(strings.Repeat("[", 32)+strings.Repeat("x",
		900)+strings.Repeat("]", 32), 100),
	"definitions":             fill("[a]:b\n"),
	"definitions of many":     definitions(),
	"definitions with titles": fill("[a]: b '\n"),
	"definitions with rounds": fill("[a]: b (\n"),
	"unclosed definition":     "[" + fill("a\n"),
	"stars":                   fill("*"),
	"stars around":            strings.Repeat("*", 50_000) + "a" + strings.Repeat("*", 49_000),
	"underscores":             fill("_"),
	"opening stars":           fill("*a "),
	"closing stars":           fill("a* "),
	"stars and underscores":   fill("*a_ "),
	"one and two stars":       fill("*a **b "),
	"two and one":             fill("a**b"),
	"nested emphasis":         strings.Repeat("*a ", 16_000) + strings.Repeat("b* ", 16_000),
	"nested strong":           strings.Repeat("**a ", 12_000) + strings.Repeat("b** ", 12_000),
	"deep and wide": strings.Repeat("*a ", 40) + strings.Repeat("b* ", 40) + strings.Repeat("_c ",
		10_000) + strings.Repeat("d* ", 10_000),
	"waves":                     fill("~~a ~"),
	"emphasis in links":         fill("[*a"),
	"emphasis in closed links":  fill("[*a](b)"),
	"emphasis before links":     strings.Repeat("*a ", 10_000) + strings.Repeat("[b](c)", 10_000),
	"backticks":                 fill("`"),
	"backticks of growing runs": runsOfBackticks("a "),
	"backticks over lines":      runsOfBackticks("a\n"),
	"unclosed code":             fill("`` ` "),
	"angles":                    fill("<"),
	"addresses":                 fill("<a:"),
	"mail addresses":            fill("<a@a"),
	"mail addresses with dots":  fill("<a@" + strings.Repeat("a.", 100)),
	"long mail addresses":       fill("<" + strings.Repeat("a", 60) + "@" + strings.Repeat("a", 62)),
	"entities":                  fill("&amp;"),
	"entities without ends":     fill("&a"),
	"numbered entities":         fill("&#1"),
	"long entity":               "&" + strings.Repeat("a", 90_000),
	"backslashes":               fill("\\"),
	"escapes":                   fill("\\*"),
	"pipes":                     fill("|"),
	"pipes in lines":            fill("|\n"),
	"tables":                    fill("|a|b|\n|-|-|\n|c|d|\n\n"),
	"lines of dashes":           fill("|-|-|\n"),
	"wide table": "|" + strings.Repeat("a|", 5_000) + "\n|" + strings.Repeat("-|",
		5_000) + "\n" + strings.Repeat("a\n", 40_000),
	"almost a table": "|" + strings.Repeat("a|", 5_001) + "\n|" + strings.Repeat("-|",
		5_000) + "\n" + strings.Repeat("a\n", 35_000),
	"many dashes":              strings.Repeat("|"+strings.Repeat("-|", 100)+"\n", 480),
	"pipes in code":            "|a|\n|-|\n" + strings.Repeat("|`\\|`|\n", 14_000),
	"table of 92 KB":           "|a|b|c|\n|-|-|-|\n" + strings.Repeat("|\n", 46_000),
	"words":                    fill("word "),
	"one word":                 fill("a"),
	"lines":                    fill("a\n"),
	"paragraphs":               fill("a\n\n"),
	"headings":                 fill("# a\n"),
	"underlined headings":      fill("a\n=\n"),
	"number signs":             fill("#"),
	"dashes":                   fill("-"),
	"equals":                   fill("a\n=b\n"),
	"fences":                   fill("```\n"),
	"fences of growing length": runsOfBackticks("```\n"),
	"tabs":                     fill("\t"),
	"tabs in lists":            fill("-\t"),
	"spaces":                   fill(" ") + "a",
	"blank lines":              fill("\n"),
	"hard breaks":              fill("a  \n"),
	"tasks":                    fill("- [ ] a\n"),
	"tasks in a line":          fill("[ ] "),
	"link in a link":           fill("[[a](b)](c)"),
	"exclamation marks":        fill("!"),
	"empty links":              fill("[]()"),
	"quotes that go on":        strings.Repeat(">", 20) + fill("a\n"),
	"lists that go on":         strings.Repeat("- ", 20) + fill("a\n"),
	"backticks in table cells": "|a|b|\n|-|-|\n" + strings.Repeat("|`|``|\n", 13_000),
	"invalid UTF-8":            fill("\xff"),
	"wide characters":          strings.Repeat("漢", 33_000),
	"underscores within words": fill("a_"),
	"tags":                     fill("{% tabs %}\n{% tab %}\n"),
	"closed tags":              fill("{% tabs %}\n{% tab %}\n{% endtab %}\n{% endtabs %}\n"),
	"nested tags":              strings.Repeat("{% tabs %}\n", 4_000) + strings.Repeat("{% endtabs %}\n", 4_000),
	"crossed tags": strings.Repeat("{% tab %}\n{% hint %}\n",
		2_000) + strings.Repeat("{% endtab %}\n{% endhint %}\n", 1_500),
	"ends of tags":            fill("{% endhint %}\n"),
	"unknown tags":            fill("{% a %}\n"),
	"tags in a line":          fill("{% a %}"),
	"unclosed tags in a line": fill("{%"),
	"unclosed tags in lines":  fill("{% a\n"),
	"tags over lines":         fill("{% embed\nurl=a %}\n"),
	"open tags over lines":    fill("{% embed\nurl=a\n"),
	"long tags over lines":    "{% embed\n" + fill("url=a\n"),
	"tags over lines in text": fill("a {% b\nc %} "),
	"tags over lines within":  "> a\n" + fill("> {% b\n> c %}\n"),
	"open tags within":        "> a\n" + fill("> {% b\n"),
	"code with attributes":    fill("<code a=b>c</code>"),
	"nested code":             strings.Repeat("<code a=b>", 4_000) + strings.Repeat("c</code>", 4_000),
	"quotes in tags":          fill("{% a b=\""),
	"attributes":              "{% hint " + fill("a=1 ")[:90_000] + " %}\na\n{% endhint %}",
	"many attributes":         "{% hint " + manyAttributes("%s=1 ") + " %}\na\n{% endhint %}",
	"embeds":                  fill("{% embed url=\"a\" %}\n"),
	"embeds with captions":    fill("{% embed url=\"a\" %}\nb\n{% endembed %}\n"),
	"details":                 fill("<details>\n"),
	"nested details": strings.Repeat("<details>\n\n<summary>a</summary>\n\n",
		1_500) + strings.Repeat("</details>\n", 2_000),
	"details in quotes":        fill("> <details>\n"),
	"details in details":       fill("<details><summary>a</summary>\n</details>\n"),
	"dollars":                  fill("$"),
	"dollars in pairs":         fill("$$ "),
	"formulas":                 fill("$$a$$"),
	"unclosed formulas":        fill("$$a "),
	"unclosed formula blocks":  fill("$$\na\n"),
	"colons":                   fill(":"),
	"emojis":                   fill(":smile:"),
	"almost emojis":            fill(":aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	"elements":                 fill("<b>"),
	"closed elements":          fill("<b>a</b>"),
	"nested elements":          strings.Repeat("<u>", 10_000) + strings.Repeat("</u>", 10_000),
	"nested formulas":          strings.Repeat(`<span class="math">`, 3_000) + strings.Repeat("b</span>", 3_000),
	"nested pictures":          strings.Repeat("<picture>", 5_000) + strings.Repeat("</picture>", 5_000),
	"nested icons":             strings.Repeat(`<i class="fa-a">`, 4_000) + strings.Repeat("</i>", 4_000),
	"nested links of HTML":     strings.Repeat(`<a href="a">`, 4_000) + strings.Repeat("b</a>", 4_000),
	"elements that differ":     strings.Repeat("<u>", 10_000) + strings.Repeat("</b>", 10_000),
	"crossed elements":         fill("<b><u></b></u>"),
	"nested spans":             strings.Repeat(`<span class="a">`, 3_000) + strings.Repeat("b</span>", 3_000),
	"open tags":                fill("<a "),
	"open tags with values":    fill("<a b=\"c"),
	"open elements over lines": fill("<a b\n"),
	"attributes of an element": "<u " + manyAttributes("%s=1 ") + ">a</u>",
	"comments":                 fill("<!--"),
	"comments in a line":       fill("a <!-- b -->"),
	"declarations":             fill("a <!A "),
	"instructions":             fill("a <? "),
	"sections":                 fill("a <![CDATA["),
	"blocks of HTML":           fill("<div>\n\n"),
	"nested blocks of HTML":    fill("<div>"),
	"figures":                  fill("<figure><img src=\"a\"><figcaption></figcaption></figure>\n\n"),
	"pictures":                 fill("a <picture>"),
	"tables of HTML":           fill("<table>"),
	"table of HTML": "<table><thead><tr><th>a</th></tr></thead><tbody>" +
		fill("<tr><td>a</td></tr>")[:80_009] + "</tbody></table>",
	"table with many columns": "<table><thead><tr>" + strings.Repeat("<th>a</th>",
		4_000) + "</tr></thead><tbody>" + strings.Repeat("<tr><td>a</td></tr>", 2_500) + "</tbody></table>",
	"lists of HTML": "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>" +
		strings.Repeat("<ul><li>", 6_000) + "</td></tr></tbody></table>",
	"options":                     options(),
	"buttons":                     fill(`<a href="a" class="button primary">b</a>`),
	"links of HTML":               fill(`<a href="a">`),
	"footnotes":                   fill("[^1]\n"),
	"definitions of footnotes":    fill("[^1]: a\n"),
	"references to one footnote":  "[^1]: " + strings.Repeat("a ", 20_000) + "\n\n" + strings.Repeat("[^1]", 14_000),
	"footnotes in footnotes":      "[^1]: " + strings.Repeat("[^1]", 24_000),
	"nested footnotes":            fill("[^1]: [^2]: "),
	"many footnotes":              manyNotes(),
	"tables in hints":             fill("{% hint %}\n|a|\n|-|\n|b|\n{% endhint %}\n"),
	"quotes in hints":             fill("{% hint %}\n> > a\n{% endhint %}\n"),
	"code in hints":               fill("{% hint %}\n```\na\n```\n{% endhint %}\n"),
	"mixed openers":               fill("*_~"),
	"buttons of actions":          fill(`<button class="button primary" data-action="ask">a</button>`),
	"divisions of GitBook":        fill("<div data-gb-custom-block data-tag=\"hint\">\n"),
	"closed divisions of GitBook": fill("<div data-gb-custom-block data-tag=\"hint\">\na\n</div>\n"),
	"nested divisions of GitBook": strings.Repeat("<div data-gb-custom-block data-tag=\"hint\">\n",
		1_500) + strings.Repeat("</div>\n", 2_000),
	"headings with ids":     fill("# a {#b}\n"),
	"ids in a heading":      "# " + fill("{#a}"),
	"open ids in a heading": "# " + fill("{#a "),
	"anchors in a heading":  "# " + fill(`<a id="b"></a>`),
	"nested anchors":        "# " + strings.Repeat(`<a name="b">`, 4_000) + strings.Repeat("</a>", 4_000),
	"links with attributes": fill(`<a href="a" target="b">c</a>`),
	"components":            fill(`<A b="c">`),
	"closed components":     fill("<A>b</A>"),
	"tags that are missed":  "> \t" + fill("<div>"),
	"scripts in a line":     fill("a <script>b</script>"),
	"comments in cells":     "<table><tr><td>" + fill("<!--a-->")[:90_000] + "</td></tr></table>",
	"divisions in cells":    "<table><tr><td>" + fill("<div>a</div>")[:89_996] + "</td></tr></table>",
	"nested divisions in cells": "<table><tr><td>" + strings.Repeat("<div>", 7_000) + strings.Repeat("</div>",
		7_000) + "</td></tr></table>",
	"table without a head": "<table>" + fill("<tr><td>a</td></tr>")[:90_003] + "</table>",
	"cells that span": "<table>" + strings.Repeat(`<tr><td colspan="1000" rowspan="1000">a</td></tr>`,
		1_900) + "</table>",
	"cells that span rows": "<table>" + strings.Repeat(`<tr>`+strings.Repeat(`<td rowspan="9">`, 40)+"</tr>",
		140) + "</table>",
	"values that are text": "<table><thead><tr><th data-type=\"number\">a</th></tr></thead><tbody>" +
		fill("<tr><td>a</td></tr>")[:80_009] + "</tbody></table>",
	"divisions":                   fill("<div>a</div>\n\n"),
	"centered":                    "<center>" + fill("<p>a</p>") + "</center>",
	"players":                     fill("<video src=a></video>\n\n"),
	"ends behind text":            fill("{% hint %}\na {% endhint %}\n"),
	"tags behind tags":            fill("{% tabs %}{% tab %}") + "\n",
	"ends in a line":              "{% hint %}\n" + fill("{% endhint %}"),
	"tags with text":              fill("{% hint %} a {% endhint %}\n"),
	"open tags with text":         fill("{% hint %} a\n"),
	"links with escapes":          fill(`[a](\(`),
	"open tags of HTML":           fill("<a "),
	"tags with addresses":         fill("<a href=b>"),
	"scripts":                     fill("<script>"),
	"links to scripts":            fill("[a](javascript:b)"),
	"embeds of scripts":           fill("{% embed url=\"data:b\" %}\n"),
	"lines of attributes":         fill("{#a}\n"),
	"attributes of headings":      fill("{: #a .b}\n# c\n"),
	"long attributes":             "{" + fill(".a ")[:90_000] + "}",
	"attributes behind links":     fill("[a](b){.c}"),
	"open attributes":             fill("`a`{.b"),
	"attributes behind code":      "`a`{" + fill(".a ")[:90_000] + "}",
	"directives":                  fill("{{#a b}} "),
	"open directives":             fill("{{#a\n"),
	"shortcodes":                  fill("{{< a >}}"),
	"shortcodes in lines":         fill("{{% a\nb %}} c\n"),
	"open shortcodes":             fill("{{<"),
	"open shortcodes in lines":    fill("{{% a\n"),
	"open shortcodes with braces": fill("{{< }"),
	"long shortcodes":             fill("{{< " + strings.Repeat("a", 508)),
	"links in angle brackets":     fill("<ab:c>"),
	"mails in angle brackets":     fill("<a@b.c>"),
	"open angle brackets":         fill("<ab:"),
	"components with expressions": fill("<A.B c={d}>"),
	"open components":             fill("<A.B c={"),
	"open components in lines":    fill("<A.B c={\n"),
	"components in lines":         fill("<A\n  b={c}\n>\n\n"),
	"nested expressions":          "<A b=" + strings.Repeat("{", 45_000) + strings.Repeat("}", 45_000) + ">",
	"quotes in components":        fill(`<A.B c="`),
	"comments of MDX":             fill("{/* a */}"),
	"comments of MDX in lines":    fill("{/* a\n\nb */}\n\n"),
	"open comments of MDX":        fill("{/*"),
	"open comments in lines":      fill("{/*\n\n"),
	"imports of MDX":              fill("import a from 'b'\n"),
	"imports with blank lines":    fill("import a from 'b'\n\n"),
	"exports of MDX":              fill("export const a = {\n\n}\n\n"),
	"open exports":                fill("export const a = {\n\n"),
	"open templates in exports":   fill("export const a = `\n\n"),
	"open comments in exports":    "export const a = " + fill("/*")[:60_000],
	"texts in exports":            fill("export const a = '`'\n\n"),
	"import after import":         fill("import "),
	"comments with one end":       fill("{/*\n\n")[:90_000] + "*/}",
	"comments with text behind":   fill("{/*\n\n")[:90_000] + "*/} a",
	"tables with blank lines":     fill("<table>\n\n<tr><td>a</td></tr>\n\n</table>\n\n"),
	"open tables with lines":      fill("<table>\n\n"),
	"nested tables with lines": strings.Repeat("<table>\n\n", 4_000) + strings.Repeat("</table>\n\n",
		4_000),
	"cells of Markdown": "<table>\n\n" + fill("<tr><td>\n\n*a*\n\n</td></tr>\n")[:90_003] +
		"</table>",
	"open cells of Markdown": "<table>\n\n" + fill("<td>\n\n")[:90_000] + "</td></table>",
	"long cell of Markdown": "<table>\n<tr><td>\n\n" + fill("- *a* <b>b</b>\n")[:90_000] +
		"\n\n</td></tr></table>",
	"cells without ends":      "<table>" + fill("<tr><td>a")[:90_000] + "</table>",
	"paragraphs without ends": "<table><tr><td>" + fill("<p>a<p>b<td>")[:90_000] + "</table>",
	"tables without ends":     fill("<table><tr><td>a"),
	"cells of Markdown without ends": "<table>\n\n" + fill("<td>\n\n*a*\n\n")[:90_000] +
		"</table>",
	"code of HTML": "<pre>" + fill("<b>a</b>\n")[:90_000] + "</pre>",
	"nested code of HTML": "<pre>" + strings.Repeat("<b>", 20) + fill("a\n")[:90_000] + strings.Repeat("</b>",
		20) + "</pre>",
	"backslashes before tags":    strings.Repeat(`\`, 90_000) + "<b>",
	"references to characters":   "[a](" + fill("&amp;") + ")",
	"references with wide label": "[ä]: b\n\n" + strings.Repeat("[Ä]", 24_000),
}

func deeper(line string) string {
	var b strings.Builder
	for n := 0; b.Len() < schema.MaxMarkdown-n-len(line); n++ {
		b.WriteString(strings.Repeat(" ", 2*(n%200)) + line)
	}
	return b.String()
}

func manyAttributes(format string) string {
	var b strings.Builder
	for n := 0; b.Len() < schema.MaxMarkdown-40; n++ {
		fmt.Fprintf(&b, format, fmt.Sprintf("a%d", n))
	}
	return b.String()
}

func manyNotes() string {
	var b strings.Builder
	for n := 0; b.Len() < schema.MaxMarkdown-40; n++ {
		fmt.Fprintf(&b, "[^%d]: a\n\n[^%d]\n\n", n, n)
	}
	return b.String()
}

func options() string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th><select>")
	for n := range 800 {
		fmt.Fprintf(&b, `<option value="%d" label="a" color="b"></option>`, n)
	}
	b.WriteString("</select></th></tr></thead><tbody>")
	for b.Len() < schema.MaxMarkdown-100 {
		b.WriteString(`<tr><td><span data-option="799">a</span></td></tr>`)
	}
	return b.String() + "</tbody></table>"
}

func definitions() string {
	var b strings.Builder
	for n := 0; b.Len() < schema.MaxMarkdown-20; n++ {
		fmt.Fprintf(&b, "[%d]:b\n", n)
	}
	return b.String()
}

// maxCost bounds the time for the largest body. It is three times the promised time, because the machine may be busy.
// Without the parsers of this package, a text in costly takes up to half a minute.
const maxCost = cputime.RaceFactor * 600 * time.Millisecond

// TestMarkdownCost measures the CPU time of its thread, because other programs hardly affect this time. The best of
// several attempts is compared with the limit. The test also checks the number of steps of loops over earlier text. The
// long form also measures Safe.
func TestMarkdownCost(t *testing.T) {
	for name, markdown := range costly {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			var r *reader
			for range 5 {
				r = newReader(markdown)
				if best = min(best, cputime.Of(func() { _, _ = r.document() })); best < maxCost {
					break
				}
			}
			t.Log(best)
			if best > maxCost {
				t.Errorf("%d bytes took %s of processor time", len(markdown), best)
			}
			if r.state.steps > 100*len(markdown) {
				t.Errorf("%d steps back for %d bytes", r.state.steps, len(markdown))
			}
			if testing.Short() {
				return
			}
			best = time.Hour
			for range 5 {
				if best = min(best, cputime.Of(func() { Safe(markdown) })); best < maxCost {
					break
				}
			}
			if best > maxCost {
				t.Errorf("%d bytes took Safe %s of processor time", len(markdown), best)
			}
		})
	}
}

// TestWriteCost measures the writing of the documents of difficult texts. Writing may be slower than reading, because
// it reads the written lines again to check them.
func TestWriteCost(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	for name, markdown := range costly {
		t.Run(name, func(t *testing.T) {
			d, err := Read(markdown)
			if err != nil {
				t.Skip("the document is too large")
			}
			best := time.Hour
			for range 3 {
				if best = min(best, cputime.Of(func() { Write(d) })); best < 3*maxCost {
					break
				}
			}
			t.Log(best)
			if best > 3*maxCost {
				t.Errorf("the document of %d bytes took %s of processor time", len(markdown), best)
			}
		})
	}
}

// TestNotesWithoutLabelsCost gives labels to many annotations without labels, and counts the allocations. Each number
// that label tries is at least one allocation.
func TestNotesWithoutLabelsCost(t *testing.T) {
	const notes = 2000
	last := ""
	allocations := testing.AllocsPerRun(1, func() {
		l := newNoteList([]schema.Node{schema.Block("paragraph", schema.Text("a"))})
		for range notes {
			last = l.label(&schema.Node{Object: schema.ObjectInline, Type: "annotation"})
		}
	})
	if last != strconv.Itoa(notes) {
		t.Errorf("the last label is %s, want %d", last, notes)
	}
	if allocations > 100*notes {
		t.Errorf("%d labels took %.0f allocations", notes, allocations)
	}
}

// TestEditCost changes the text of a reference in every second paragraph. The page has many definitions, and a
// character that respell.References also uses, so all other spellings must be tried.
func TestEditCost(t *testing.T) {
	var b, definitions strings.Builder
	for n := range 700 {
		fmt.Fprintf(&b, "a%d [text] \U000F0000\n\nb%d\n\n", n, n)
	}
	for n := range 2_000 {
		fmt.Fprintf(&definitions, "[x%d]: u\n", n)
	}
	original := b.String() + "[text]: /u\n" + definitions.String()
	edited := read(t, original)
	eachLink(edited.Nodes, func(n *schema.Node) { n.Nodes[0].Leaves[0].Text = "other" })
	got, best := "", time.Hour
	for range 3 {
		if best = min(best, cputime.Of(func() { got = Edit(original, edited) })); best < 5*maxCost {
			break
		}
	}
	t.Log(best)
	if best > 5*maxCost {
		t.Errorf("the edit took %s of processor time", best)
	}
	if strings.Count(got, "[other]") != 700 || !sameNodes(read(t, got).Nodes, edited.Nodes) {
		t.Errorf("the result begins with %.200s", got)
	}
}

// TestShortcodesCost settles long leaves: of braces, and of many shortcodes before many pieces.
func TestShortcodesCost(t *testing.T) {
	many := []piece{{text: []byte(strings.Repeat("{{<a>}}", 60_000))}}
	for range 50_000 {
		many = append(many, piece{text: []byte("a")}, piece{style: style{marks: content.Bold}, text: []byte("b")})
	}
	for name, pieces := range map[string][]piece{
		"braces":     {{text: []byte(strings.Repeat("{", schema.MaxPage))}},
		"open":       {{text: []byte(strings.Repeat("{{<a ", schema.MaxPage/5))}},
		"shortcodes": many,
	} {
		best := time.Hour
		for range 5 {
			if best = min(best, cputime.Of(func() { settle(slices.Clone(pieces)) })); best < maxCost {
				break
			}
		}
		t.Log(name, best)
		if best > maxCost {
			t.Errorf("%s took %s of processor time", name, best)
		}
	}
}
