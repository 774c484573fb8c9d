package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// oddBlocks has blocks that Write would write in another way. Neighbouring blocks do not change how these blocks are
// read.
var oddBlocks = []string{
	"*one*   two", "Title\n=====", "##   Closed ##", "+ a\n+ b", "10) x\n\n\n10) y", "~~~js\ncode\n~~~", "    indented", "***", "> quote\ngoes on",
	"|a|b|\n|-|:-:|\n|1|2|", "{% hint style='info' %}\nx\n{% endhint %}", "{%tabs%}\n{%tab title='a'%}\nx\n\n{%endtab%}\n{%endtabs%}",
	"{% columns %}\n{% column %}\n* a\n{% endcolumn %}\n{% endcolumns %}", "<details><summary>t</summary>\n\n* x\n\n</details>",
	"<div class='odd'>x</div>", "<!-- comment -->", "$$\nx\n$$", "<p align=center>x</p>", "<img src='a.png'>",
	"{% embed url='https://v.example' %}", "text with [link][ref] ", "[ref]: /target 'title'", "word[^n]", "[^n]: *note*",
}

func TestEditKeepsWhatIsTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(contenttest.Markdown, contenttest.Dialect, contenttest.Foreign) {
		if content.Clean(c.In) != c.In {
			continue // such a text is never stored
		}
		for _, original := range []string{c.In, "\n\n" + c.In + "\n\n\n", "first *a*\n\n\n" + c.In + "\n"} {
			if got := Edit(original, read(t, original)); got != original {
				t.Errorf("got  %q\nwant %q", got, original)
			}
		}
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	paragraph := func(text string) schema.Node { return schema.Block("paragraph", schema.Text(text)) }
	for _, c := range []struct {
		name, original, want string
		edit                 func(nodes []schema.Node) []schema.Node
	}{
		{"replaced", "# A #\n\n\n*one*\n\n+ x\n", "# A #\n\n\nnew\n\n+ x\n", func(n []schema.Node) []schema.Node { n[1] = paragraph("new"); return n }},
		{"inserted", "*a*\n\n\n*b*\n", "*a*\n\n\nnew\n\n\n*b*\n", func(n []schema.Node) []schema.Node { return slices.Insert(n, 1, paragraph("new")) }},
		{"first", "\n*a*\n", "new\n\n*a*\n", func(n []schema.Node) []schema.Node { return slices.Insert(n, 0, paragraph("new")) }},
		{"last", "*a*\n", "*a*\n\nnew\n", func(n []schema.Node) []schema.Node { return append(n, paragraph("new")) }},
		{"removed", "*a*\n\n*b*\n\n\n*c*", "*a*\n\n\n*c*", func(n []schema.Node) []schema.Node { return slices.Delete(n, 1, 2) }},
		{"moved", "*a*\n\n*b*\n\n*c*", "*b*\n\n*c*\n\n_a_", func(n []schema.Node) []schema.Node { return append(n[1:], n[0]) }},
		{"all", "*a*\n", "", func([]schema.Node) []schema.Node { return nil }},
		{"of nothing", "", "new", func(n []schema.Node) []schema.Node { return append(n, paragraph("new")) }},
		{"in columns", "*a*\n\n{% columns %}\n{% column %}\nx\n{% endcolumn %}\n{% endcolumns %}\n\n*b*\n",
			"*a*\n\n{% columns %}\n{% column %}\nnew\n{% endcolumn %}\n{% endcolumns %}\n\n*b*\n",
			func(n []schema.Node) []schema.Node { n[3] = paragraph("new"); return n }},
		{"beside definitions", "[a][r]\n\n[r]: /u\n\n*b*\n", "[a][r]\n\n[r]: /u\n\nnew\n", func(n []schema.Node) []schema.Node { n[1] = paragraph("new"); return n }},
		{"a list beside a list", "* a\n\ntext\n\n* b\n", "- a\n\n* b\n", func(n []schema.Node) []schema.Node { return slices.Delete(n, 1, 2) }},
		{"a note", "a[^1]\n\n*b*\n\n[^1]: c\n", "a[^1]\n\nnew\n\n[^1]: c\n", func(n []schema.Node) []schema.Node { n[1] = paragraph("new"); return n }},
		{"a removed note", "*a*[^1]\n\n*b*[^2]\n\n[^1]: *c*\n[^2]: *d*\n", "*b*[^2]\n\n[^2]: *d*\n", func(n []schema.Node) []schema.Node { return n[1:] }},
		{"one of two references", "*a*[^1]\n\n*b*[^1]\n\n[^1]: *c*\n", "*b*[^1]\n\n[^1]: *c*\n", func(n []schema.Node) []schema.Node { return n[1:] }},
		{
			"a line beside a tag over lines", "a b {% hint\n  style=\"info\" %} c d\ne f\n", "a b {% hint\n  style=\"info\" %} c d\ne new\n",
			func(n []schema.Node) []schema.Node {
				return read(t, "a b {% hint style=\"info\" %} c d e new").Nodes
			},
		},
		{
			"a block beside a tag over lines", "{% embed\n  url=\"https://v.example\"\n%}\n\nb\n", "{% embed\n  url=\"https://v.example\"\n%}\n\nnew\n",
			func(n []schema.Node) []schema.Node { n[1] = paragraph("new"); return n },
		},
		{"a heading with an id of its own", "## *A*\n\nb\n", "## *A*\n\nnew\n", func(n []schema.Node) []schema.Node {
			n[0].Key, n[0].Meta, n[1] = "k", schema.Data{"id": "a"}, paragraph("new")
			return n
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := schema.NewDocument(c.edit(read(t, c.original).Nodes)...)
			if got := Edit(c.original, d); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestEditIsMinimal replaces, adds and removes blocks of a text. It compares the result with the expected bytes.
func TestEditIsMinimal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts, gaps []string
		for range rapid.IntRange(1, 8).Draw(t, "blocks") {
			parts = append(parts, rapid.SampledFrom(oddBlocks).Draw(t, "block"))
			parts = append(parts, "between *them* "+rapid.StringMatching("z[a-z]{2}").Draw(t, "words"))
			gaps = append(gaps, rapid.SampledFrom([]string{"\n\n", "\n\n\n", "\n \n"}).Draw(t, "gap"), "\n\n")
		}
		join := func() string {
			var b strings.Builder
			for i, part := range parts {
				b.WriteString(part + gaps[i])
			}
			return b.String()
		}
		original := join()
		before := read(t, original)
		at := 2*rapid.IntRange(0, len(parts)/2-1).Draw(t, "at") + 1
		text := rapid.StringMatching("[a-z]{1,8}").Draw(t, "new")
		marked := strings.TrimPrefix(parts[at], "between *them* ")
		i := slices.IndexFunc(before.Nodes, func(n schema.Node) bool { return strings.HasSuffix(outline([]schema.Node{n}), " "+marked+"')") })
		if i < 0 {
			t.Skip("the words are a part of the block before")
		}
		after := slices.Clone(before.Nodes)
		after[i] = schema.Block("paragraph", schema.Text(text))
		edited := schema.NewDocument(after...)
		got := Edit(original, edited)
		if again := read(t, got); !sameNodes(again.Nodes, fittedOf(edited.Nodes)) {
			t.Fatalf("%q reads as\n%s\nwant\n%s", got, outline(again.Nodes), outline(edited.Nodes))
		}
		if slices.Index(parts, parts[at]) != at {
			// the word occurs twice, so the edit may have changed either place
			return
		}
		parts[at] = text
		if want := join(); got != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// TestEditReadsAsEdited makes random edits of random texts. If the result of Edit is read, it must give the edited
// document.
func TestEditReadsAsEdited(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(tokens[0], oddBlocks, []string{"\n\n", "\n\n", "\n"})), 1, 20)
		original := strings.Join(source.Draw(t, "original"), "")
		nodes := slices.Clone(read(t, original).Nodes)
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			at := rapid.IntRange(0, len(nodes)).Draw(t, "at")
			if at < len(nodes) && rapid.Bool().Draw(t, "remove") {
				nodes = slices.Delete(nodes, at, at+1)
				continue
			}
			nodes = slices.Insert(nodes, at, genBlock(t, rapid.SampledFrom([]string{"paragraph", "code", "list-unordered", "hint"}).Draw(t, "kind"), 2))
		}
		edited := schema.NewDocument(nodes...)
		got := Edit(original, edited)
		again, whole := read(t, got), edited
		if edited = withoutBrokenTags(edited); len(edited.Nodes) != len(whole.Nodes) && shown(again) != shown(whole) {
			t.Fatalf("%q edited to %q shows\n%q, and not\n%q", original, got, shown(again), shown(whole))
		}
		if !isEdited(again.Nodes, edited.Nodes) {
			t.Fatalf("%q edited to %q reads as\n%s\nwant\n%s", original, got, outline(again.Nodes), outline(edited.Nodes))
		}
	})
}

// isEdited reports whether each node is a block of the edited document, either unchanged or in the form that Read
// returns for the block. Edit keeps the Markdown of an unchanged block, so such a block may have another form. For
// example, invisible tags in a quote have another form if they are written on one line.
func isEdited(nodes, edited []schema.Node) bool {
	fitted := fittedOf(edited)
	if sameNodes(nodes, edited) || sameNodes(nodes, fitted) {
		return true
	}
	same := func(i int, other []schema.Node) bool { return sameNodes(nodes[i:i+1], other[i:i+1]) }
	for i := range nodes {
		if len(nodes) != len(edited) || len(nodes) != len(fitted) || !same(i, edited) && !same(i, fitted) {
			return false
		}
	}
	return len(nodes) > 0
}

// TestEditKeepsTagsInQuotes has a quote whose invisible tags span two lines, and edits another block. The quote must
// stay unchanged.
func TestEditKeepsTagsInQuotes(t *testing.T) {
	t.Parallel()
	const quote = "> {% hint\nstyle='info' %}{% endhint %}\n"
	for _, original := range []string{"\n" + quote, quote + "\nbefore\n"} {
		nodes := read(t, original).Nodes
		if got := Edit(original, schema.NewDocument(nodes...)); got != original {
			t.Errorf("%q is written as %q", original, got)
		}
		nodes = append(slices.Clone(nodes[:1]), schema.Block("paragraph", schema.Text("after")))
		got := Edit(original, schema.NewDocument(nodes...))
		if !strings.Contains(got, quote) || !isEdited(read(t, got).Nodes, nodes) {
			t.Errorf("%q becomes %q, which reads as %s", original, got, outline(read(t, got).Nodes))
		}
	}
}

// TestEditKeepsEnds edits blocks of texts with every kind of line break. All other lines must keep their line breaks.
func TestEditKeepsEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		end := func() string { return rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end") }
		var parts []string
		var b strings.Builder
		blank := func() {
			if e := end(); e == "\n" && strings.HasSuffix(b.String(), "\r") {
				b.WriteString("\r\n")
			} else {
				b.WriteString(e)
			}
		}
		for i := range rapid.IntRange(1, 6).Draw(t, "blocks") {
			odd := rapid.SampledFrom(oddBlocks).Draw(t, "block")
			for line := range strings.SplitSeq(odd, "\n") {
				b.WriteString(line + end())
			}
			blank()
			parts = append(parts, fmt.Sprintf("between *them* word%d", i))
			b.WriteString(parts[i] + end())
			blank()
		}
		original := b.String()
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "at")
		d := read(t, content.Clean(original))
		was := parts[i][strings.LastIndex(parts[i], " ")+1:]
		words, ok := replaceWord(d.Nodes, was, was+"new")
		if !ok {
			t.Skip("the word is no word of a text")
		}
		d.Nodes = words
		want := strings.Replace(original, was, was+"new", 1)
		if plain := Edit(
			content.Clean(original), d,
		); plain != strings.Replace(content.Clean(original), was, was+"new", 1) {
			t.Skip("more lines change, with one kind of ends too")
		}
		if got := Edit(original, d); got != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// replaceWord replaces a word in the text of nodes.
func replaceWord(nodes []schema.Node, word, by string) ([]schema.Node, bool) {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		n.Leaves = slices.Clone(n.Leaves)
		for j := range n.Leaves {
			if strings.Contains(n.Leaves[j].Text, word) {
				n.Leaves[j].Text = strings.Replace(n.Leaves[j].Text, word, by, 1)
				return nodes, true
			}
		}
		for _, list := range []*[]schema.Node{&n.Nodes, &n.Fragments} {
			if changed, ok := replaceWord(*list, word, by); ok {
				*list = changed
				return nodes, true
			}
		}
	}
	return nodes, false
}
