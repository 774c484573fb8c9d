package markdown

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// spelledBlocks has blocks that Write would write in another way. Each block contains WORD.
var spelledBlocks = []string{
	"a line of\ntext with WORD and\nmore of it", "WORD begins\nhere", "it ends with\nWORD", "two  spaces and WORD",
	"break  \nthen WORD", "break\\\nthen WORD",
	"* a\n* WORD\n* c", "+ a\n\n+ WORD\n\n+ c", "1. a\n1. WORD\n1. c", "1) a\n2) WORD\n3) c", "3. a\n4. b\n5. WORD",
	"-   a\n-   WORD\n\n    - below\n-   c",
	"* a\n\n  WORD\n* c", "- a\n  wrapped WORD\n  line\n- c", "- [ ] a\n- [X] WORD", "* a\n    * b\n        * WORD",
	"> [!NOTE]\n> text WORD\n> more", "> a lazy\nline WORD", ":::tip\nWORD here\n:::", "!!! note\nWORD here",
	"Term\n: definition WORD",
	"*it*, __bold__ and WORD", "a \\_b\\_ and WORD &nbsp; &copy; &lt;", "$\\{a\\}$ $x\\\\y$ and WORD",
	"$\\{WORD\\}$ is a formula of WORDs", "\\(x\\) \\[y\\] WORD \\!",
	"|a|b|\n|-|:-:|\n|1|WORD|\n|3|4|", "a | b\n--|--\nWORD | *c*", "| a   | b    |\n| :-- | ---- |\n| 1   | WORD |",
	"<details><summary>t</summary>\n\n* x\n* WORD\n\n</details>",
	"{% hint style='info' %}\nWORD *and*\nmore\n{% endhint %}",
	"{%tabs%}\n{%tab title='a'%}\nx WORD\n\n{%endtab%}\n{%endtabs%}", "Title WORD\n=====", "##   WORD *x* ##",
	"<me@e.example> WORD", "<https://a.example/b_c?d=e&f> *x*\nand __y__ WORD",
	"a <name> *b*\nof <tel:+123> and <ftp://f.example> WORD",
	"`` a`b `` WORD",
	"![x](y.png 'title') WORD", "[a](/u 'title') *WORD*", "**bold**WORD and _x_", "WORD -- dashes... \"quotes\"",
	"http://a.example/b_c_d WORD",
	"{{< note \"*a*\" >}}\n*it* WORD\n{{< /note >}}", "{{% tab _a_ %}} __x__ {{</* b */>}} WORD\n{{% /tab %}}",
	"a {{< b\nc=\"*d*\" >}} __e__ WORD",
	"汉字 WORD 汉字\n汉字*汉字*", "<sub>a</sub> WORD<br>more", "~~~js\nlet x = WORD\n~~~", "text\n***\nWORD",
}

// inLeaf edits the first text that contains a word. The result is false if no text contains it.
func inLeaf(nodes []schema.Node, word string, edit func(text string) string) bool {
	for i := range nodes {
		for j := range nodes[i].Leaves {
			if leaf := &nodes[i].Leaves[j]; strings.Contains(leaf.Text, word) {
				leaf.Text = edit(leaf.Text)
				return true
			}
		}
		if inLeaf(nodes[i].Nodes, word, edit) {
			return true
		}
		for j := range nodes[i].Fragments {
			if inLeaf(nodes[i].Fragments[j].Nodes, word, edit) {
				return true
			}
		}
	}
	return false
}

// TestEditOfAWord edits a word of a block, or of a footnote's block. In the written text, only this word must change.
func TestEditOfAWord(t *testing.T) {
	t.Parallel()
	for _, block := range spelledBlocks {
		for _, original := range []string{
			block, "# Touching\n" + block + "\n", "*a*\n\n" + block + "\n\n\n+ x\n+ y\n",
			"+ x\n\n" + block + "\n***\n",
			"*see*[^n]\nhere\n\n[^n]: " + strings.TrimSpace(indented(block, "    ")) + "\n\n*b*\n",
			"[^1]: *a*\n[^n]: " + strings.TrimSpace(indented(block, "    ")) + "\n\n* x[^1]\n* y[^n]\n",
		} {
			for from, to := range map[string]string{"WORD": "WORDS", "WORD ": "new WORD ", " WORD": ""} {
				edited := read(t, original)
				want := strings.Replace(original, from, to, 1)
				if strings.Count(original, from) != 1 ||
					!inLeaf(
						edited.Nodes,
						from,
						func(text string) string { return strings.Replace(text, from, to, 1) },
					) {
					continue
				}
				if strings.Contains(want, "\n   \n") {
					continue // the space is the indent of a line that has only the word
				}
				if !sameNodes(read(t, want).Nodes, fittedOf(edited.Nodes)) {
					continue // at this place, the word would be read as syntax
				}
				if got := Edit(original, edited); got != want {
					t.Errorf("%q to %q\ngot  %q\nwant %q", from, to, got, want)
				}
			}
		}
	}
}

// TestEditOfAList adds, moves and removes items and cells. New items and cells must have the same spelling as the
// existing ones.
func TestEditOfAList(t *testing.T) {
	t.Parallel()
	item := func(list *schema.Node, text string) schema.Node {
		added := schema.Block("list-item", schema.Block("paragraph", schema.Text(text)))
		added.Data = list.Nodes[0].Data
		return added
	}
	insert := func(at int) func(*schema.Node) {
		return func(list *schema.Node) { list.Nodes = slices.Insert(list.Nodes, at, item(list, "new")) }
	}
	remove := func(list *schema.Node) { list.Nodes = slices.Delete(list.Nodes, 1, 2) }
	for _, c := range []struct {
		name, original, want string
		edit                 func(list *schema.Node)
	}{
		{"in the middle", "* a\n* b\n* c\n", "* a\n* new\n* b\n* c\n", insert(1)},
		{"first", "* a\n* b\n* c\n", "* new\n* a\n* b\n* c\n", insert(0)},
		{"last", "+ a\n+ b\n+ c\n", "+ a\n+ b\n+ c\n+ new\n", insert(3)},
		{"loose", "* a\n\n* b\n\n* c\n", "* a\n\n* new\n\n* b\n\n* c\n", insert(1)},
		{"last of a loose list", "* a\n\n* b\n\n* c\n", "* a\n\n* b\n\n* c\n\n* new\n", insert(3)},
		{"numbers of one", "1. a\n1. b\n1. c\n", "1. a\n1. new\n1. b\n1. c\n", insert(1)},
		{"last number of one", "1. a\n1. b\n1. c\n", "1. a\n1. b\n1. c\n1. new\n", insert(3)},
		{"numbers", "1) a\n2) b\n3) c\n", "1) a\n2) new\n3) b\n4) c\n", insert(1)},
		{"last number", "1) a\n2) b\n3) c\n", "1) a\n2) b\n3) c\n4) new\n", insert(3)},
		{"in a quote", "> * a\n> * b\n> * c\n", "> * a\n> * new\n> * b\n> * c\n",
			func(quote *schema.Node) { insert(1)(&quote.Nodes[0]) }},
		{"removed", "* a\n* b\n* c\n", "* a\n* c\n", remove},
		{"removed from a loose list", "* a\n\n* b\n\n* c\n", "* a\n\n* c\n", remove},
		{"removed number", "1) a\n2) b\n3) c\n", "1) a\n2) c\n", remove},
		{"removed number of one", "1. a\n1. b\n1. c\n", "1. a\n1. c\n", remove},
		{"a moved item", "* a\n* b\n* c\n", "* b\n* a\n* c\n", func(list *schema.Node) {
			list.Nodes[0],
				list.Nodes[1] = list.Nodes[1], list.Nodes[0]
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := read(t, c.original)
			c.edit(&d.Nodes[0])
			if got := Edit(c.original, d); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestEditOfWords edits blocks next to other blocks. The other blocks must not change. If the text is read, it must
// give the edited document.
func TestEditOfWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.SliceOfN(rapid.SampledFrom(spelledBlocks), 1, 6).Draw(t, "blocks")
		var parts []string
		for range blocks {
			parts = append(parts, rapid.SampledFrom([]string{"\n\n", "\n\n\n", "\n \n", "\n"}).Draw(t, "gap"))
		}
		var b strings.Builder
		for i, block := range blocks {
			b.WriteString(block + parts[i])
		}
		original := b.String()
		edited := read(t, original)
		replace := rapid.SampledFrom([]string{"", "WORDS", "*", "a b\nc", "1.", "汉", "new WORD and more", "- x"}).
			Draw(t, "new")
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			inLeaf(edited.Nodes, "WORD", func(text string) string { return strings.Replace(text, "WORD", replace, 1) })
		}
		if got := read(t, Edit(original, edited)); !sameNodes(got.Nodes, fittedOf(edited.Nodes)) {
			t.Fatalf(
				"%q edited to %q reads as\n%s\nwant\n%s",
				original,
				Edit(original, edited),
				outline(got.Nodes),
				outline(edited.Nodes),
			)
		}
	})
}

// TestEditOfAReference edits the text of a link whose target is in a definition. Only the link must change. Its target
// must stay in the definition, even if the text was also the label.
func TestEditOfAReference(t *testing.T) {
	t.Parallel()
	for _, around := range spelledBlocks {
		for _, c := range []struct{ link, worded, retargeted string }{
			{"[the link]", "[the new link][the link]", "[the link](/other)"},
			{"[the link][]", "[the new link][the link]", "[the link](/other)"},
			{"[the link][Label]", "[the new link][Label]", "[the link](/other)"},
			{"[*the* link]", "[*the* new link][*the* link]", "[*the* link](/other)"},
			{"[the  link]", "[the  new link][the link]", "[the  link](/other)"},
			{"[same] [the link]", "[same] [the new link][the link]", "[same] [the link](/other)"},
			{"[the link] [the link]", "[the new link][the link] [the link]", "[the link](/other) [the link]"},
		} {
			block := strings.Replace(around, "WORD", c.link, 1)
			original := "# Title [same]\n\n" + block + "\n\n[the link]: /u 'title'\n[label]: /l\n[*the* link]: /m\n[same]: /s\n"
			var link *schema.Node
			edited := read(t, original)
			eachLink(edited.Nodes, func(n *schema.Node) {
				if link == nil && strings.HasSuffix(content.InlineText(n.Nodes), "link") {
					link = n
				}
			})
			if link == nil {
				continue // the block is code or a formula
			}
			last := &link.Nodes[0].Leaves[len(link.Nodes[0].Leaves)-1]
			text := last.Text
			last.Text = strings.Replace(text, "link", "new link", 1)
			if got, want := Edit(original, edited), strings.Replace(original, c.link, c.worded, 1); got != want {
				t.Errorf("new text\ngot  %q\nwant %q", got, want)
			}
			last.Text = text
			link.Data = schema.Data{"ref": map[string]any{"kind": "url", "url": "/other"}}
			if got, want := Edit(original, edited), strings.Replace(original, c.link, c.retargeted, 1); got != want {
				t.Errorf("new target\ngot  %q\nwant %q", got, want)
			}
		}
	}
}

// TestEditOfAnAutoLink edits the text or the target of a link in angle brackets. Only this link must change.
func TestEditOfAnAutoLink(t *testing.T) {
	t.Parallel()
	for _, around := range spelledBlocks {
		for _, c := range []struct{ link, worded, retargeted string }{
			{"<https://a.example/x>", "[https://a.example/xnew](https://a.example/x)", "[https://a.example/x](/other)"},
			{"<me@a.example>", "[me@a.examplenew](mailto:me@a.example)", "[me@a.example](/other)"},
			{"<MAILTO:me@a.example>", "[MAILTO:me@a.examplenew](MAILTO:me@a.example)", "[MAILTO:me@a.example](/other)"},
			{"<https://a.example/*x*>", `[https://a.example/\*x\*new](https://a.example/*x*)`,
				`[https://a.example/\*x\*](/other)`},
			{"<tel:+4> <tel:+4>", "[tel:+4new](tel:+4) <tel:+4>", "[tel:+4](/other) <tel:+4>"},
		} {
			block := strings.Replace(around, "WORD", c.link, 1)
			original := "# Title <https://t.example>\n\n" + block + "\n\nlast <https://l.example>\n"
			var link *schema.Node
			edited := read(t, original)
			eachLink(edited.Nodes, func(n *schema.Node) {
				if text := content.InlineText(n.Nodes); link == nil && strings.HasPrefix(c.link, "<"+text+">") {
					link = n
				}
			})
			if link == nil {
				continue // the block is code or a formula
			}
			last := &link.Nodes[0].Leaves[len(link.Nodes[0].Leaves)-1]
			text := last.Text
			last.Text += "new"
			if got, want := Edit(original, edited), strings.Replace(original, c.link, c.worded, 1); got != want {
				t.Errorf("new text\ngot  %q\nwant %q", got, want)
			}
			last.Text = text
			link.Data = schema.Data{"ref": map[string]any{"kind": "url", "url": "/other"}}
			if got, want := Edit(original, edited), strings.Replace(original, c.link, c.retargeted, 1); got != want {
				t.Errorf("new target\ngot  %q\nwant %q", got, want)
			}
		}
	}
}

// TestReadShowsAddressesOnce reads links with schemes that are not allowed, and links in links. Their text must show
// the address exactly once.
func TestReadShowsAddressesOnce(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<ftp://a.example>":                        "ftp://a.example",
		"[ftp://a.example](ftp://a.example)":       "ftp://a.example",
		"[a](ftp://a.example)":                     "a (ftp://a.example)",
		"<javascript:alert(1)>":                    "javascript:alert(1)",
		"[x <https://a.example>](/y)":              "x https://a.example",
		"[x <me@a.example>](/y)":                   "x me@a.example",
		`<a href="/y">x <https://a.example> z</a>`: "x https://a.example z",
	} {
		if got := content.Plain(read(t, in)); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// TestEditOfASource adds letters to a source that is shown, such as <name>. Only this source becomes code. The other
// sources and all marks must stay.
func TestEditOfASource(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"<name>", "<YOUR-KEY>", "{% other %}", "<T>", "<a,b>"} {
		for _, around := range spelledBlocks {
			if strings.Contains(around, "*WORD*") || strings.Contains(around, `{WORD`) {
				continue // a leaf with a source stores no marks, and a brace before a source has an escape
			}
			block := strings.Replace(around, "WORD", source, 1)
			original := "# Title <t>\n\n" + block + "\n\nlast <l> __x__\n"
			edited := read(t, original)
			if !inRaw(edited.Nodes, source, func(text string) string { return text + "new" }) {
				continue // the source is text or code at this place
			}
			want := strings.Replace(original, source, "`"+source+"new`", 1)
			if got := Edit(original, edited); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		}
	}
}

// inRaw edits the first leaf that stores the given source.
func inRaw(nodes []schema.Node, source string, edit func(text string) string) bool {
	for i := range nodes {
		for j := range nodes[i].Leaves {
			if leaf := &nodes[i].Leaves[j]; leaf.Text == source && styleOf(leaf.Marks).raw {
				leaf.Text = edit(leaf.Text)
				return true
			}
		}
		if inRaw(nodes[i].Nodes, source, edit) || inRaw(nodes[i].Fragments, source, edit) {
			return true
		}
	}
	return false
}

// TestEditOfALongBlock edits a word of a long table or list whose words all occur many times. Only this word must
// change.
func TestEditOfALongBlock(t *testing.T) {
	t.Parallel()
	vocabulary := strings.Fields("the commit hash tree of a file to git and in server set value if true name list")
	for name, row := range map[string]string{
		"HTML":           "<tr><td>%[1]s</td><td>%[2]s</td></tr>",
		"HTML in lines":  "<tr>\n  <td>%[1]s</td>\n  <td align=\"left\">%[2]s</td>\n</tr>",
		"marked HTML":    "<tr>\n<td><code>%[1]s</code></td><td>%[2]s &amp; <b>%[1]s</b><br>%[1]s</td>\n</tr>",
		"spanning HTML":  "<tr><td rowspan=2>%[1]s</td><td>%[2]s</td></tr>\n<tr><td>%[2]s</td></tr>",
		"pipes":          "|%[1]s|%[2]s __%[1]s__|",
		"list of links":  "* [%[1]s](#a)\n    + [%[2]s](#b)",
		"numbered list":  "1) %[2]s *%[1]s*",
		"wrapped text":   "%[2]s\n__%[1]s__",
		"quote of lists": "> + %[1]s\n> + %[2]s",
	} {
		var b strings.Builder
		random := rand.New(rand.NewPCG(1, 2))
		words := func(n int) string {
			var list []string
			for range n {
				list = append(list, vocabulary[random.IntN(len(vocabulary))])
			}
			return strings.Join(list, " ")
		}
		for range 60 {
			fmt.Fprintf(&b, row+"\n", words(2), words(9))
		}
		original := b.String()
		switch {
		case strings.Contains(name, "HTML"):
			original = "<table>\n" + original + "</table>\n"
		case name == "pipes":
			original = "|a|b|\n|-|-|\n" + original
		}
		for range 12 {
			edited := read(t, original)
			leaves := leavesOf(edited.Nodes)
			leaf := leaves[random.IntN(len(leaves))]
			word := strings.Fields(leaf.Text)
			if len(word) == 0 || word[0] == "&" {
				continue
			}
			leaf.Text = strings.Replace(leaf.Text, word[0], "MARK", 1)
			got := Edit(original, edited)
			if strings.Count(got, "MARK") != 1 || strings.Replace(got, "MARK", word[0], 1) != original {
				t.Errorf("%s: the edit of %q in %q rewrites\n%.300s", name, word[0], leaf.Text, got)
			}
		}
	}
}

func leavesOf(nodes []schema.Node) (list []*schema.Leaf) {
	for i := range nodes {
		for j := range nodes[i].Leaves {
			list = append(list, &nodes[i].Leaves[j])
		}
		list = append(append(list, leavesOf(nodes[i].Nodes)...), leavesOf(nodes[i].Fragments)...)
	}
	return list
}

// eachLink visits the links of a document.
func eachLink(nodes []schema.Node, visit func(n *schema.Node)) {
	for i := range nodes {
		if nodes[i].Type == "link" {
			visit(&nodes[i])
		}
		eachLink(nodes[i].Nodes, visit)
		eachLink(nodes[i].Fragments, visit)
	}
}
