package markdown

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// read calls Read, and fails the test if the text is too large.
func read(t fataler, markdown string) schema.Document {
	t.Helper()
	d, err := Read(markdown)
	if err != nil {
		t.Fatalf("%q: %v", markdown, err)
	}
	return d
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// outline returns a document in one line: type(children). A text is in quotes, followed by its marks.
func outline(nodes []schema.Node) string {
	var parts []string
	for _, n := range nodes {
		if n.Object == schema.ObjectText {
			for _, leaf := range n.Leaves {
				if source := hiddenSource(leaf); source != "" {
					parts = append(parts, "hidden="+strconv.Quote(source))
					continue
				}
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
		text += outlineData(n)
		parts = append(parts, text+"("+outline(append(append([]schema.Node{}, n.Nodes...), n.Fragments...))+")")
	}
	return strings.Join(parts, " ")
}

// outlineData returns the data of a node, and the source that the node stores. It leaves out the members of tables.
func outlineData(n schema.Node) string {
	var b strings.Builder
	first := []string{"level", "style", "start", "checked", "syntax", "title", "formula", "alt", "ref"}
	seen := map[string]bool{}
	for _, name := range append(first, slices.Sorted(maps.Keys(n.Data))...) {
		value, ok := n.Data[name]
		if !ok || n.Type == "table" && name != "attributes" && name != "fullWidth" || seen[name] {
			continue
		}
		seen[name] = true
		if link := content.Link(value); link != "" {
			value = link
		}
		encoded, _ := json.Marshal(value, json.Deterministic(true))
		b.WriteString(" " + name + "=" + string(encoded))
	}
	if source := keptSource(&n); source != "" {
		b.WriteString(" kept=" + strconv.Quote(source))
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(contenttest.Markdown, contenttest.Dialect, contenttest.Foreign) {
		d := read(t, c.In)
		if problems := d.Problems(""); len(problems) > 0 {
			t.Errorf("%q: %+v", c.In, problems)
		}
		if got := outline(d.Nodes); got != c.Outline {
			t.Errorf("%q:\ngot  %s\nwant %s", c.In, got, c.Outline)
		}
		want := c.Out
		if want == "" {
			want = c.In
		}
		if got := Write(d); got != want {
			t.Errorf("%q written:\ngot  %q\nwant %q", c.In, got, want)
		}
		if again := read(t, Write(d)); !sameNodes(again.Nodes, d.Nodes) {
			t.Errorf("%q read again:\ngot  %s\nwant %s", c.In, outline(again.Nodes), outline(d.Nodes))
		}
	}
}

// TestEveryKindIsWritten checks that the result of Write contains the Markdown for each kind of node.
func TestEveryKindIsWritten(t *testing.T) {
	t.Parallel()
	d := contenttest.EveryKind(t)
	markdown, plain := Write(d), content.Plain(d)
	for _, want := range []string{
		`<h1 align="center">Title <a href="#top" id="top"></a></h1>`, `<mark style="color:red;"><strong>a</strong></mark>`,
		"<kbd><sup><sub><code>b</code></sub></sup></kbd>", `<a href="https://a.example">there<img src="ref:file/f" alt="" data-size="line"></a>`,
		":grinning:", `<i class="fa-star" style="color:$primary;">:star:</i>`, `<code class="expression">space.vars.x</code>`,
		`<span class="math">x^2</span>`, `<a data-mention href="ref:user/u">ref:user/u</a>`, `<a href="ref:page/p" class="button primary">Go</a>`,
		"noted", "* [x]", "3.", "{% hint style=\"info\" %}", `<img src="u" alt="x" width="3px" height="4">`, `{% file src="ref:file/f?space=s" %}`,
		`class="gitbook-drawing"`, `{% embed url="https://v.example" fullWidth="true" %}`, `{% code overflow="wrap" collapsedLineCount="10" %}`,
		"<strong>x := 1{{y}}\n</strong>", "$$\ne\n$$", "<details>", `{% tab title="one" %}`, `<th width="100">C</th><th data-hidden data-type="number">E</th>`,
		`{% openapi src="u" path="/p" method="get" expanded="true" %}`, `{% openapi-operation spec="s" path="/p" method="get" %}`,
		`{% openapi-webhook spec="s" name="n" method="post" %}`, `{% openapi-schemas spec="s" schemas="A" grouped="true" %}`,
		`{% content-ref url="ref:anchor/a?page=p" %}`, "```octavo-integration\n", `{% include "r" %}`, `{% step icon="i" %}`,
	} {
		if !strings.Contains(markdown, want) {
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

// settled reads and writes Markdown twice. It checks that the second round changes nothing.
func settled(t fataler, markdown string) {
	t.Helper()
	first := read(t, markdown)
	once := Write(first)
	second := read(t, once)
	if twice := Write(second); twice != once {
		t.Fatalf("%q is not settled:\nonce  %q\ntwice %q", markdown, once, twice)
	}
	if !sameNodes(first.Nodes, second.Nodes) {
		t.Fatalf("%q reads differently:\nonce  %s\ntwice %s", markdown, outline(first.Nodes), outline(second.Nodes))
	}
}

func TestMarkdownHoldsDocuments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := schema.NewDocument(genBlocks(t, "", 0)...)
		if problems := d.Problems(""); len(problems) > 0 {
			t.Fatalf("%s: %+v", outline(d.Nodes), problems)
		}
		markdown := Write(d)
		again := read(t, markdown)
		if diff := cmp.Diff(outline(d.Nodes), outline(again.Nodes)); diff != "" {
			t.Fatalf("%s\n%s", markdown, diff)
		}
		if !sameNodes(d.Nodes, again.Nodes) {
			t.Fatalf("%s\n%s", markdown, cmp.Diff(d.Nodes, again.Nodes))
		}
		settled(t, markdown)
	})
}

// tokens are pieces of Markdown syntax, for blocks and for inlines.
var tokens = [][]string{
	{"\n", "\n", "\n\n", "\n  ", "\n    ", "\n\n  ", "\n> ", " ", "  ", "\t", "- ", "* ", "+ ", "1. ", "0) ", "- [ ] ", "> ", "# ", "-", "=", "***", "---",
		"```\n", "~~~", "{% hint %}\n", "{% endhint %}\n", "{% hint\n", "style='info' %}", "|", "| a ", "\n|-|-|\n", "[r]: /u", "![a](/b)", "0", "a", "c", "`", "<", "\\"},
	{"{{<", ">}}", "{{% a %}}", "{{< b >}}", "{{/*", "*/}}", "*", "**", "_", "`", "[", "](", "](/u)",
		"\n", "\\", " ", "{", "<", ">", "a", "b"},
	{"*", "**", "_", "~~", "`", "[", "](", ")", "](/u)", "![", "\n", "\\", " ", "&#10;", "&", "<", ">", "https://x.y", "!", ":", "{", "%", "1", ".", "x@y.z", "a", "b"},
}

func TestMarkdownSettles(t *testing.T) {
	t.Parallel()
	for _, found := range []string{"> \t{% hint %}\n", "> \t{% hint %}\na", "> \t{% hint %} a", "a\n> \t{% endhint %}", "- [ ] \n  {% hint %}\n", "1. [x] \n   <div>\n", "-\\\n    {% hint %}\n",
		"- \n    <div class='odd'>x</div>", "- [ ] \n  <div class='odd'>x</div> ", "<div class='odd'>x</div>\n-\n\n> a", "a[^n]\n> [^n]: b",
		"- [ ] \n  <p align=center>x</p>", "- [ ] {% hint %}\n  - ", "> \t<details><summary>t</summary>\n\n* x\n\n</details>", "a\\\n\t<details>\n\n</details>",
		"[r]: /u\n    <div class='odd'>x</div>[r]: /u", "***<div class='odd'>x</div>***", "<img src='a.png'>\t", "[r]: /u\n<img src='a.png'>", "- [ ] <div>",
		"word[^n]\n[^n]: *note*word[^n]", "[^n]: *note*\n\n[^n]: *note*0) ", "[^n]: *note*\n    ```\n\n  ",
		"word[^n]\n[^n]: *note*$$\nx\n$$", ":b:*1*", "*1*:b:", ":**:b:**",
		"{% hint %}\n- \n\n  {% endhint %}\n", "{% hint %}\n1. a\n2. \n\n   {% endhint %}\n",
		"<details><summary>a</summary>\n\n- \n\n  </details>\n",
		"<div data-gb-custom-block data-tag=\"hint\">\n- \n\n  </div>\n",
		"{% hint %}\n- a\n\n  - \n\n    {% endhint %}\n", "{% hint %}\n- \n  {% endhint %}\n",
		"{% hint %}\n- [ ] \n  ```\n# {% endhint %}\n", "{% hint %}\n- a\n  - b\n    ~~~\n# {% endhint %}\n",
		"{% hint %}\n-\t```\n  # {% endhint %}\n", "{% hint %}\n-      ```\n# {% endhint %}\n"} {
		settled(t, found)
	}
	rapid.Check(t, func(t *rapid.T) {
		markdown := rapid.SliceOfN(rapid.SampledFrom(rapid.SampledFrom(tokens).Draw(t, "kind")), 1, 30).Draw(t, "tokens")
		settled(t, strings.Join(markdown, ""))
	})
}

// TestMarkedWordsSettle checks words with marks, in links and between links. Reading and writing must be stable for
// them.
func TestMarkedWordsSettle(t *testing.T) {
	t.Parallel()
	for _, found := range []string{
		"a [**b** **c**](/x)**.** d", "a [*b* *c*](/x). d", "~~[~~b~~ ~~c~~](/x)~~", "[ **b** **c** ](/x)**d**",
	} {
		settled(t, found)
	}
	words := func(t *rapid.T) string {
		var line strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "words") {
			mark := rapid.SampledFrom([]string{"", "", "**", "*", "~~", "`", "***"}).Draw(t, "mark")
			word := rapid.SampledFrom([]string{"a", "b", "c d", "e.", "(f)", `g\*`}).Draw(t, "word")
			line.WriteString(mark + word + mark + rapid.SampledFrom([]string{" ", "", ", "}).Draw(t, "space"))
		}
		return line.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		var line strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			mark := rapid.SampledFrom([]string{"", "", "", "**", "*", "~~"}).Draw(t, "around")
			part := words(t)
			if rapid.Bool().Draw(t, "linked") {
				part = "[" + part + "](/x)"
			}
			line.WriteString(mark + part + mark + rapid.SampledFrom([]string{" ", ""}).Draw(t, "space"))
		}
		settled(t, line.String())
	})
}

// FuzzMarkdown reads any text as Markdown. The document must satisfy the grammar. After one round of writing and
// reading, further rounds must not change the document, and readers must see the same text.
func FuzzMarkdown(f *testing.F) {
	for _, c := range slices.Concat(contenttest.Markdown, contenttest.Dialect, contenttest.Foreign) {
		f.Add(c.In)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if len(markdown) > 4096 {
			return
		}
		d := read(t, markdown)
		if problems := d.Problems(""); len(problems) > 0 {
			t.Fatalf("%q: %+v", markdown, problems)
		}
		once := Write(d)
		again := read(t, once)
		if twice := Write(again); twice != once {
			t.Fatalf("%q is not settled:\nonce  %q\ntwice %q", markdown, once, twice)
		}
		if a, b := shown(d), shown(again); a != b {
			t.Fatalf("%q shows\n%q, then\n%q", markdown, a, b)
		}
	})
}

// shown returns the text of a document, without white space.
func shown(d schema.Document) string { return strings.Join(strings.Fields(content.Plain(d)), "") }

// FuzzToMarkdown writes any document, even an invalid document. The Markdown must contain all text of the paragraphs.
func FuzzToMarkdown(f *testing.F) {
	for _, n := range contenttest.EveryKind(f).Nodes {
		// Each seed has only one node, because the fuzzer takes minutes to minimize a long input.
		text, err := json.Marshal(schema.NewDocument(n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	// These nodes are never the result of reading a text: a button without a kind, and a link in a link.
	for _, inline := range []string{`{"type":"button","data":{"label":"b"}}`, `{"type":"link","nodes":[{"type":"link","nodes":[{"leaves":[{"text":"b"}]}]}]}`} {
		f.Add([]byte(`{"nodes":[{"type":"paragraph","data":{"align":"start"},"nodes":[{"object":"text","leaves":[{"text":"a","marks":[{"type":"bold"}]},{"text":"b"}]},` + inline + `]}]}`))
	}
	f.Add([]byte(`{"nodes":[{"type":"table","data":{"view":{"columns":["c"]},"records":{"r":{"values":{"c":{}}}}}},{"type":"image"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d schema.Document
		if len(text) > 1<<16 || json.Unmarshal(text, &d) != nil {
			return
		}
		d.Normalize()
		markdown := Write(d)
		again := read(t, markdown)
		if problems := again.Problems(""); len(problems) > 0 {
			t.Fatalf("%q: %+v", markdown, problems)
		}
		for _, n := range d.Nodes {
			if n.Type == "paragraph" && len(d.Nodes) == 1 && len(n.Nodes) > 0 && n.Nodes[0].Object == schema.ObjectText {
				want := strings.Join(strings.Fields(content.LeafText(n.Nodes[0].Leaves)), "")
				if got := strings.Join(strings.Fields(content.Plain(again)), ""); !strings.Contains(got, want) {
					t.Fatalf("%q lost %q: %q", markdown, want, got)
				}
			}
		}
	})
}

func TestRender(t *testing.T) {
	t.Parallel()
	markdown, document := schema.MarkdownBody("**a**"), schema.DocumentBody(read(t, "**a**"))
	for _, c := range []struct {
		body   schema.Body
		format string
		want   schema.Body
	}{
		{schema.Body{}, FormatDocument, schema.Body{}}, {schema.Body{}, "", schema.Body{}},
		{markdown, "", markdown}, {markdown, "markdown", markdown}, {markdown, FormatDocument, document},
		{document, "", markdown}, {document, "markdown", markdown}, {document, FormatDocument, document},
	} {
		got, err := json.Marshal(Render(c.body, *document.Document, c.format))
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := json.Marshal(c.want); string(got) != string(want) {
			t.Errorf("%s: %s, want %s", c.format, got, want)
		}
	}
}

// TestMarkdownIsBounded reads texts that would nest without a limit.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{">", "- ", "1. ", "[", "*a", "`a", "![", "{% hint %}\n", "| a ", "**_~~"} {
		text := strings.Repeat(piece, 1000)
		d := read(t, text)
		if problems := d.Problems(""); len(problems) > 0 {
			t.Errorf("%q: %+v", piece, problems[0])
		}
		settled(t, text)
	}
}

func BenchmarkRead(b *testing.B) {
	text := Write(contenttest.EveryKind(b))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := Read(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	d := contenttest.EveryKind(b)
	b.SetBytes(int64(len(Write(d))))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			Write(d)
		}
	})
}

// FuzzEdit takes an arbitrary text and replaces one of its blocks. Reading the result must give the edited document.
func FuzzEdit(f *testing.F) {
	for _, c := range slices.Concat(contenttest.Markdown, contenttest.Dialect, contenttest.Foreign) {
		f.Add(c.In, uint(0))
	}
	f.Fuzz(func(t *testing.T, markdown string, at uint) {
		if len(markdown) > 4096 {
			return
		}
		markdown = content.Clean(markdown)
		nodes := read(t, markdown).Nodes
		if got := Edit(markdown, schema.NewDocument(nodes...)); got != markdown {
			t.Fatalf("%q edited by nothing: %q", markdown, got)
		}
		if len(nodes) == 0 {
			return
		}
		nodes[at%uint(len(nodes))] = schema.Block("paragraph", schema.Text("new"))
		edited := schema.NewDocument(nodes...)
		if got := Edit(markdown, edited); shown(read(t, got)) != shown(edited) {
			t.Fatalf("%q edited to %q shows\n%q, and not\n%q", markdown, got, shown(read(t, got)), shown(edited))
		}
	})
}
