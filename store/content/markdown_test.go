package content

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
)

// read is FromMarkdown for text that is not too large.
func read(t fataler, markdown string) schema.Document {
	t.Helper()
	d, err := FromMarkdown(markdown)
	if err != nil {
		t.Fatalf("%q: %v", markdown, err)
	}
	return d
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// outline writes a document in one line, for tests: type(children), text in quotes with its marks behind it.
func outline(nodes []schema.Node) string {
	var parts []string
	for _, n := range nodes {
		if n.Object == schema.ObjectText {
			for _, leaf := range n.Leaves {
				text := "'" + strings.ReplaceAll(leaf.Text, "\n", "\\n") + "'"
				for _, mark := range leaf.Marks {
					text += "." + mark.Type
				}
				parts = append(parts, text)
			}
			continue
		}
		text := n.Type
		if n.Object == schema.ObjectFragment {
			text = n.Fragment
		}
		for _, name := range []string{"style", "start", "checked", "syntax", "title", "formula", "alt", "ref"} {
			if value, ok := n.Data[name]; ok {
				if name == "ref" {
					value = linkOf(value)
				}
				encoded, _ := json.Marshal(value)
				text += " " + name + "=" + string(encoded)
			}
		}
		parts = append(parts, text+"("+outline(append(append([]schema.Node{}, n.Nodes...), n.Fragments...))+")")
	}
	return strings.Join(parts, " ")
}

// markdownCases pairs Markdown with the outline of its document and, where it differs, what is written for that document.
var markdownCases = []struct{ in, outline, out string }{
	{"", "", ""},
	{"one\ntwo\n\nthree", "paragraph('one two') paragraph('three')", "one two\n\nthree"},
	{"one  \ntwo\\\nthree", `paragraph('one\ntwo\nthree')`, "one\\\ntwo\\\nthree"},
	{"# A\n## B\n### C\n#### D #", "heading-1('A') heading-2('B') heading-3('C') heading-3('D')", "# A\n\n## B\n\n### C\n\n### D"},
	{"A\n===\nB\n---", "heading-1('A') heading-2('B')", "# A\n\n## B"},
	{"# C#\\#", "heading-1('C##')", "# C#\\#"},
	{"#", "heading-1()", "#"},
	{"*a* **b** ***c*** ~~d~~ `e`", "paragraph('a'.italic ' ' 'b'.bold ' ' 'c'.bold.italic ' ' 'd'.strikethrough ' ' 'e'.code)",
		"_a_ **b _c_** ~~d~~ `e`"},
	{"in*tra*word", "paragraph('in' 'tra'.italic 'word')", ""},
	{"**a** b", "paragraph('a'.bold ' b')", ""},
	{"`` a`b ``", "paragraph('a`b'.code)", "``a`b``"},
	{"[a **b**](https://x.example/?q=1&r=2 'title')", `paragraph(link ref="https://x.example/?q=1&r=2"('a ' 'b'.bold))`,
		"[a **b**](<https://x.example/?q=1&amp;r=2>)"},
	{"[a](</x y>)", `paragraph(link ref="/x y"('a'))`, ""},
	{"[a](ref:page/p?space=s)", `paragraph(link ref="ref:page/p?space=s"('a'))`, ""},
	{"[a](ref:nothing/p)", "paragraph('a (ref:nothing/p)')", "a (ref:nothing/p)"},
	{"[a](javascript:alert(1))", "paragraph('a (javascript:alert(1))')", "a (javascript:alert(1))"},
	{"[a](JaVa&#10;Script:alert)", `paragraph('a (JaVa\nScript:alert)')`, "a (JaVa\\\nScript:alert)"},
	{"![a](data:text/html,x)", "paragraph('a (data:text/html,x)')", "a (data:text/html,x)"},
	{"<https://x.example> <a@b.example> <javascript:x>",
		`paragraph(link ref="https://x.example"('https://x.example') ' ' link ref="mailto:a@b.example"('a@b.example') ' javascript:x (javascript:x)')`,
		"[https://x.example](https://x.example) [a@b.example](mailto:a@b.example) javascript:x (javascript:x)"},
	{"[a][r]\n\n[r]: /u", `paragraph(link ref="/u"('a'))`, "[a](/u)"},
	{"<b>x</b> <script>alert(1)</script>", "paragraph('<b>x</b> <script>alert(1)</script>')",
		`\<b\>x\</b\> \<script\>alert(1)\</script\>`},
	{"<div>\n*x*\n</div>", "paragraph('<div> ' 'x'.italic ' </div>')", `\<div\> _x_ \</div\>`},
	{"&lt;b&gt; &copy; &#65; &nothing; \\&lt; &#0;", "paragraph('<b> © A &nothing; &lt; \uFFFD')", "\\<b\\> © A \\&nothing; \\&lt; \uFFFD"},
	{"- a\n- b\n  - c\n\n    d", "list-unordered(list-item(paragraph('a')) list-item(paragraph('b') list-unordered(list-item(paragraph('c') paragraph('d')))))", ""},
	{"1. a\n2. b", "list-ordered(list-item(paragraph('a')) list-item(paragraph('b')))", ""},
	{"7) a", "list-ordered start=7(list-item(paragraph('a')))", "7. a"},
	{"- [ ] a\n- [x] b", "list-tasks(list-item checked=false(paragraph('a')) list-item checked=true(paragraph('b')))", ""},
	{"- a\n\n* b", "list-unordered(list-item(paragraph('a'))) list-unordered(list-item(paragraph('b')))", ""},
	{"-\n- a", "list-unordered(list-item(paragraph()) list-item(paragraph('a')))", ""},
	{"- 0\n\n  - 0.\n  0", "list-unordered(list-item(paragraph('0') list-unordered(list-item(list-ordered start=0(list-item(paragraph())))) paragraph('0')))", ""},
	{"- *\n  - a\n  2.\n  b", "list-unordered(list-item(list-unordered(list-item(paragraph())) list-unordered(list-item(paragraph('a'))) list-ordered start=2(list-item(paragraph())) paragraph('b')))",
		"- -\n  * a\n\n  2.\n  b"},
	{"- - a", "list-unordered(list-item(list-unordered(list-item(paragraph('a')))))", ""},
	{"- ```\n  x\n  ```", "list-unordered(list-item(code(code-line('x'))))", ""},
	{"- a\n\n  ***", "list-unordered(list-item(paragraph('a') divider()))", "- a\n\n  ___"},
	{"```go title=\"a &quot;b&quot;\"\nx := 1\n\n\ty()\n```",
		`code syntax="go" title="a \"b\""(code-line('x := 1') code-line() code-line('` + "\t" + `y()'))`, ""},
	{"````\n```\n````", "code(code-line('```'))", ""},
	{"```\n```", "code()", ""},
	{"    indented", "code(code-line('indented'))", "```\nindented\n```"},
	{"```math\nx^2\n```", `math formula="x^2"()`, ""},
	{"> a\n>\n> > b", "blockquote(paragraph('a') blockquote(paragraph('b')))", ""},
	{"> ```\n> x\n> y\n> ```", `blockquote(paragraph('x'.code '\n' 'y'.code))`, "> `x`\\\n> `y`"},
	{"---", "divider()", ""},
	{"{% hint style=\"warning\" %}\nMind *this*.\n\n- a\n{% endhint %}\nafter",
		`hint style="warning"(paragraph('Mind ' 'this'.italic '.') list-unordered(list-item(paragraph('a')))) paragraph('after')`,
		"{% hint style=\"warning\" %}\nMind _this_.\n\n- a\n{% endhint %}\n\nafter"},
	{"{% hint style=\"info\" %}\n- {% hint style=\"info\" %}\n  a\n  {% endhint %}\n\nb\n{% endhint %}",
		`hint style="info"(list-unordered(list-item(hint style="info"(paragraph('a')))) paragraph('b'))`, ""},
	{"{% hint %}\n```\n{% endhint %}\n```\n- a\n {% endhint %}\nb", `hint style="info"(paragraph('{% endhint %}'.code) list-unordered(list-item(paragraph('a')))) paragraph('b')`,
		"{% hint style=\"info\" %}\n`{% endhint %}`\n\n- a\n{% endhint %}\n\nb"},
	{"{% hint %}\n> a\n\nb", `hint style="info"(paragraph('a') paragraph('b'))`, "{% hint style=\"info\" %}\na\n\nb\n{% endhint %}"},
	{"\\{% hint %}", "paragraph('{% hint %}')", ""},
	{"![a b](/i.png \"cap\")", `images(image alt="a b" ref="/i.png"(caption(paragraph('cap'))))`, ""},
	{"x ![a](/i.png)", `paragraph('x ' inline-image alt="a" ref="/i.png"())`, ""},
	{"| A | *B* |\n|:-:|--:|\n| `x` | y \\| z |\n| 1 |",
		"table(r1c1(paragraph('x'.code)) r1c2(paragraph('y | z')) r2c1(paragraph('1')) r2c2(paragraph()))",
		"| A | B |\n| :---: | ---: |\n| `x` | y \\| z |\n| 1 |  |"},
	{"1\\. a", "paragraph('1. a')", ""},
	{"\\- a\\\n\\+ b\\\n\\# c\\\n\\=", `paragraph('- a\n+ b\n# c\n=')`, ""},
	{"a\x00\xff", "paragraph('a\uFFFD\uFFFD')", "a\uFFFD\uFFFD"},
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range markdownCases {
		d := read(t, c.in)
		if problems := d.Problems(""); len(problems) > 0 {
			t.Errorf("%q: %+v", c.in, problems)
		}
		if got := outline(d.Nodes); got != c.outline {
			t.Errorf("%q:\ngot  %s\nwant %s", c.in, got, c.outline)
		}
		want := c.out
		if want == "" {
			want = c.in
		}
		if got := ToMarkdown(d); got != want {
			t.Errorf("%q written:\ngot  %q\nwant %q", c.in, got, want)
		}
	}
}

// everyKind reads the document with each kind of node.
func everyKind(tb testing.TB) schema.Document {
	tb.Helper()
	return readDocument(tb, "../../schema/testdata/document.json")
}

func TestEveryKindIsReadable(t *testing.T) {
	t.Parallel()
	d := everyKind(t)
	markdown, plain := ToMarkdown(d), Plain(d)
	for _, want := range []string{
		"# Title", "**a**", "[there![](ref:file/f)](https://a.example)", "😀", ":star:", "{{space.vars.x}}", "`x^2`", "[user/u](ref:user/u)",
		"[Go](ref:page/p)", "noted", "* [x]", "3.", "{% hint style=\"info\" %}", "![x](u)", "[file/f?space=s](ref:file/f?space=s)",
		"[https://v.example](https://v.example)", "```go\nx := 1{{y}}\n```", "```math\ne\n```", "**one**", "| C | E | R | S |",
		"GET /p", "POST n", "[A](ref:openapi/s)", "anchor/a", "i/b", "reusable-content/r",
	} {
		if !strings.Contains(strings.ReplaceAll(markdown, "u)\n", "u)"), want) {
			t.Errorf("Markdown without %s:\n%s", want, markdown)
		}
	}
	for _, want := range []string{"Title\n", "ab", "there", "😀", "noted", "x := 1{{y}}", "one\n", "GET /p"} {
		if !strings.Contains(plain, want) {
			t.Errorf("text without %s:\n%s", want, plain)
		}
	}
	again := read(t, markdown)
	if problems := again.Problems(""); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	settled(t, markdown)
}

// settled asserts that Markdown which was read and written once does not change when that is done again.
func settled(t fataler, markdown string) {
	t.Helper()
	once := ToMarkdown(read(t, markdown))
	if twice := ToMarkdown(read(t, once)); twice != once {
		t.Fatalf("%q is not settled:\nonce  %q\ntwice %q", markdown, once, twice)
	}
}

// genText has all that Markdown could mistake for its own.
var genText = rapid.StringOfN(rapid.SampledFrom([]rune("ab1 .)-+#*_`~[]()<>!|\\&;:={%}$\"'ä漢\t\n")), 1, 20, -1)

func genInlines(t *rapid.T, breaks bool) []schema.Node {
	var b inlineBuilder
	for i := range rapid.IntRange(1, 4).Draw(t, "runs") {
		if i > 0 {
			b.marks = 0
			b.text(" and ")
		}
		switch rapid.IntRange(0, 3).Draw(t, "run") {
		case 0:
			text := genText.Draw(t, "text")
			if !breaks {
				text = strings.ReplaceAll(text, "\n", "")
			}
			b.text(text)
		case 1:
			b.marks = marks(rapid.IntRange(0, 15).Draw(t, "marks"))
			b.text(rapid.StringMatching(`[a-zä]{1,5}`).Draw(t, "word"))
		case 2:
			b.add(schema.Node{Type: "link",
				Data:  schema.Data{"ref": map[string]any{"kind": "url", "url": "/" + rapid.StringMatching(`[a-z()<> &;|\\]{0,8}`).Draw(t, "url")}},
				Nodes: []schema.Node{schema.Text(rapid.StringMatching(`[a-z!\[\]]{1,8}`).Draw(t, "label"))}})
		default:
			b.text("w")
		}
	}
	return b.inlines()
}

func genBlocks(t *rapid.T, parent string, depth int) []schema.Node {
	kinds := []string{"paragraph", "heading-2", "divider"}
	for _, kind := range []string{"code", "blockquote", "hint", "list-ordered", "list-unordered", "list-tasks"} {
		if schema.Allows(parent, kind) && (depth < 2 || kind == "code") {
			kinds = append(kinds, kind)
		}
	}
	var nodes []schema.Node
	for range rapid.IntRange(1, 3).Draw(t, "blocks") {
		nodes = append(nodes, genBlock(t, rapid.SampledFrom(kinds).Draw(t, "kind"), depth))
	}
	return nodes
}

func genBlock(t *rapid.T, kind string, depth int) schema.Node {
	n := schema.Node{Type: kind}
	switch kind {
	case "paragraph":
		n.Nodes = genInlines(t, true)
	case "heading-2":
		n.Nodes = genInlines(t, false)
	case "code":
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			line := schema.Block("code-line")
			// A line of spaces is an empty line to goldmark, in some containers.
			if text := rapid.StringMatching("([ ab`~{%\\-]{0,5}[b`~]|{% endhint %})?").Draw(t, "line"); text != "" {
				line.Nodes = []schema.Node{schema.Text(text)}
			}
			n.Nodes = append(n.Nodes, line)
		}
	case "blockquote":
		n.Nodes = genBlocks(t, kind, depth+1)
	case "hint":
		n.Data = schema.Data{"style": rapid.SampledFrom([]string{"info", "danger"}).Draw(t, "style")}
		n.Nodes = genBlocks(t, kind, depth+1)
	case "list-ordered", "list-unordered", "list-tasks":
		for range rapid.IntRange(1, 3).Draw(t, "items") {
			item := schema.Node{Type: "list-item"}
			if kind == "list-tasks" {
				item.Data = schema.Data{"checked": rapid.Bool().Draw(t, "checked")}
				item.Nodes = []schema.Node{schema.Block("paragraph", genInlines(t, true)...)}
			}
			if kind != "list-tasks" && rapid.IntRange(0, 3).Draw(t, "empty") == 0 {
				item.Nodes = []schema.Node{schema.Block("paragraph")}
			} else {
				item.Nodes = append(item.Nodes, genBlocks(t, "list-item", depth+1)...)
			}
			n.Nodes = append(n.Nodes, item)
		}
	}
	return n
}

func TestMarkdownHoldsDocuments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := schema.NewDocument(genBlocks(t, "", 0)...)
		markdown := ToMarkdown(d)
		if diff := cmp.Diff(outline(d.Nodes), outline(read(t, markdown).Nodes)); diff != "" {
			t.Fatalf("%s\n%s", markdown, diff)
		}
		settled(t, markdown)
	})
}

// tokens are what Markdown is made of: of blocks and of inlines.
var tokens = [][]string{
	{"\n", "\n", "\n\n", "\n  ", "\n    ", "\n\n  ", "\n> ", " ", "  ", "\t", "- ", "* ", "+ ", "1. ", "0) ", "- [ ] ", "> ", "# ", "-", "=", "***", "---",
		"```\n", "~~~", "{% hint %}\n", "{% endhint %}\n", "|", "| a ", "\n|-|-|\n", "[r]: /u", "![a](/b)", "0", "a", "c", "`", "<", "\\"},
	{"*", "**", "_", "~~", "`", "[", "](", ")", "](/u)", "![", "\n", "\\", " ", "&#10;", "&", "<", ">", "https://x.y", "!", ":", "{", "%", "1", ".", "x@y.z", "a", "b"},
}

func TestMarkdownSettles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		markdown := rapid.SliceOfN(rapid.SampledFrom(rapid.SampledFrom(tokens).Draw(t, "kind")), 1, 30).Draw(t, "tokens")
		settled(t, strings.Join(markdown, ""))
	})
}

// FuzzMarkdown reads anything as Markdown: the document satisfies the grammar and settles after one round.
func FuzzMarkdown(f *testing.F) {
	for _, c := range markdownCases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if len(markdown) > 4096 {
			return
		}
		d := read(t, markdown)
		if problems := d.Problems(""); len(problems) > 0 {
			t.Fatalf("%q: %+v", markdown, problems)
		}
		settled(t, markdown)
		Plain(d)
	})
}

// FuzzToMarkdown writes any document, also one with problems, and loses no text of a paragraph.
func FuzzToMarkdown(f *testing.F) {
	for _, n := range everyKind(f).Nodes {
		// One by one, because the fuzzer takes minutes to make a long input short.
		text, err := json.Marshal(schema.NewDocument(n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"nodes":[{"type":"table","data":{"view":{"columns":["c"]},"records":{"r":{"values":{"c":{}}}}}},{"type":"image"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d schema.Document
		if len(text) > 1<<16 || json.Unmarshal(text, &d) != nil {
			return
		}
		d.Normalize()
		markdown := ToMarkdown(d)
		again := read(t, markdown)
		if problems := again.Problems(""); len(problems) > 0 {
			t.Fatalf("%q: %+v", markdown, problems)
		}
		for _, n := range d.Nodes {
			if n.Type == "paragraph" && len(d.Nodes) == 1 && len(n.Nodes) > 0 && n.Nodes[0].Object == schema.ObjectText {
				want := strings.Join(strings.Fields(plainLeaves(n.Nodes[0].Leaves)), "")
				if got := strings.Join(strings.Fields(Plain(again)), ""); !strings.Contains(got, want) {
					t.Fatalf("%q lost %q: %q", markdown, want, got)
				}
			}
		}
	})
}
