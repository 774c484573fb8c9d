// Package contenttest contains the documents that the tests of schema/content and the packages below it share.
package contenttest

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/schematest"
)

// EveryKind reads the document that has each kind of node.
func EveryKind(tb testing.TB) schema.Document {
	tb.Helper()
	var d schema.Document
	if err := json.Unmarshal(schematest.Document, &d); err != nil {
		tb.Fatal(err)
	}
	d.Normalize()
	return d
}

// Markdown has pairs of a Markdown text and the outline of its document. Out is the Markdown that Write writes for the
// document. Out is empty if it equals In.
var Markdown = []struct{ In, Outline, Out string }{
	{"", "", ""},
	{"one\ntwo\n\nthree", "paragraph('one two') paragraph('three')", "one two\n\nthree"},
	{"one  \ntwo\\\nthree", `paragraph('one\ntwo\nthree')`, "one\\\ntwo\\\nthree"},
	{"# A\n## B\n### C\n#### D #", "heading-1('A') heading-2('B') heading-3('C') heading-3 level=4('D')", "# A\n\n## B\n\n### C\n\n#### D"},
	{"A\n===\nB\n---", "heading-1('A') heading-2('B')", "# A\n\n## B"},
	{"# C#\\#", "heading-1('C##')", "# C#\\#"},
	{"#", "heading-1()", "#"},
	{"*a* **b** ***c*** ~~d~~ `e`", "paragraph('a'.italic ' ' 'b'.bold ' ' 'c'.bold.italic ' ' 'd'.strikethrough ' ' 'e'.code)",
		"_a_ **b** **_c_** ~~d~~ `e`"},
	{"in*tra*word", "paragraph('in' 'tra'.italic 'word')", ""},
	{"**a** b", "paragraph('a'.bold ' b')", ""},
	{"`` a`b ``", "paragraph('a`b'.code)", "``a`b``"},
	{"[a **b**](https://x.example/?q=1&r=2 'title')", `paragraph(link title="title" ref="https://x.example/?q=1&r=2"('a ' 'b'.bold))`,
		"[a **b**](https://x.example/?q=1&r=2 \"title\")"},
	{"[a](</x y>)", `paragraph(link ref="/x y"('a'))`, ""},
	{"[a](ref:page/p?space=s)", `paragraph(link ref="ref:page/p?space=s"('a'))`, ""},
	{"[a](ref:nothing/p)", "paragraph('a (ref:nothing/p)')", "a (ref:nothing/p)"},
	{"[a](javascript:alert(1))", "paragraph('a (javascript:alert(1))')", "a (javascript:alert(1))"},
	{"[a](JaVa&#10;Script:alert)", `paragraph('a (JaVa\nScript:alert)')`, "a (JaVa\\\nScript:alert)"},
	{"![a](data:text/html,x)", "paragraph('a (data:text/html,x)')", "a (data:text/html,x)"},
	{"<https://x.example> <a@b.example> <javascript:x>",
		`paragraph(link ref="https://x.example"('https://x.example') ' ' link ref="mailto:a@b.example"('a@b.example') ' javascript:x')`,
		"[https://x.example](https://x.example) [a@b.example](mailto:a@b.example) javascript:x"},
	{"[a][r]\n\n[r]: /u", `paragraph(link ref="/u"('a'))`, "[a](/u)"},
	{
		"<b>x</b> <script>alert(1)</script>",
		"paragraph('x'.bold ' ' hidden=\"<script>alert(1)</script>\")",
		"**x** <script>alert(1)</script>",
	},
	{"<div>\n*x*\n</div>", `paragraph kept="<div>\n*x*\n</div>"('*x*')`, ""},
	{"&lt;b&gt; &copy; &#65; &nothing; \\&lt; &#0;", "paragraph('<b> © A &nothing; &lt; \uFFFD')", "\\<b> © A \\&nothing; \\&lt; \uFFFD"},
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
		`code syntax="go" title="a \"b\"" info="title=\"a &quot;b&quot;\""(code-line('x := 1') code-line() code-line('` + "\t" + `y()'))`, ""},
	{"````\n```\n````", "code(code-line('```'))", ""},
	{"```\n```", "code()", ""},
	{"    indented", "code(code-line('indented'))", "```\nindented\n```"},
	{"```math\nx^2\n```", `math formula="x^2"()`, "$$\nx^2\n$$"},
	{"> a\n>\n> > b", "blockquote(paragraph('a') blockquote(paragraph('b')))", ""},
	{"> ```\n> x\n> y\n> ```", "blockquote(paragraph kept=\"```\\nx\\ny\\n```\"('x'.code '\\n' 'y'.code))", ""},
	{"---", "divider()", ""},
	{"{% hint style=\"warning\" %}\nMind *this*.\n\n- a\n{% endhint %}\nafter",
		`hint style="warning"(paragraph('Mind ' 'this'.italic '.') list-unordered(list-item(paragraph('a')))) paragraph('after')`,
		"{% hint style=\"warning\" %}\nMind _this_.\n\n- a\n{% endhint %}\n\nafter"},
	{"{% hint style=\"info\" %}\n- {% hint style=\"info\" %}\n  a\n  {% endhint %}\n\nb\n{% endhint %}",
		`hint style="info"(list-unordered(list-item(hint style="info"(paragraph('a')))) paragraph('b'))`, ""},
	{"{% hint %}\n```\n{% endhint %}\n```\n- a\n {% endhint %}\nb", "hint style=\"info\"(paragraph kept=\"```\\n{% endhint %}\\n```\"('{% endhint %}'.code) list-unordered(list-item(paragraph('a')))) paragraph('b')",
		"{% hint style=\"info\" %}\n```\n{% endhint %}\n```\n\n- a\n{% endhint %}\n\nb"},
	// A block of code in a list item ends at the end of the item. Its lines are not read as tags.
	{"- ```\n  x\n  ```\n\n{% hint %} a {% endhint %}",
		"list-unordered(list-item(code(code-line('x')))) hint style=\"info\"(paragraph('a'))",
		"- ```\n  x\n  ```\n\n{% hint style=\"info\" %}\na\n{% endhint %}"},
	{"1. a\n   - ```\n     {% hint %} x {% endhint %}\n{% hint %} a {% endhint %}",
		"list-ordered(list-item(paragraph('a') " +
			"list-unordered(list-item(code(code-line('{% hint %} x {% endhint %}')))))) " +
			"hint style=\"info\"(paragraph('a'))",
		"1. a\n   - ```\n     {% hint %} x {% endhint %}\n     ```\n\n{% hint style=\"info\" %}\na\n{% endhint %}"},
	{"-\t```\n\tx\n  {% hint %} a {% endhint %}",
		"list-unordered(list-item(code(code-line('x')))) hint style=\"info\"(paragraph('a'))",
		"- ```\n  x\n  ```\n\n{% hint style=\"info\" %}\na\n{% endhint %}"},
	{"{% hint %}\n> a\n\nb", `paragraph kept="{% hint %}"() blockquote(paragraph('a')) paragraph('b')`, "{% hint %}\n\n> a\n\nb"},
	{"\\{% hint %}", "paragraph('{% hint %}')", ""},
	{"![a b](/i.png \"cap\")", `images(image title=true alt="a b" ref="/i.png"(caption(paragraph('cap'))))`, ""},
	{"x ![a](/i.png)", `paragraph('x ' inline-image alt="a" ref="/i.png"())`, ""},
	{"| A | *B* |\n|:-:|--:|\n| `x` | y \\| z |\n| 1 |",
		"table(hc2(paragraph('B'.italic)) r1c1(paragraph('x'.code)) r1c2(paragraph('y | z')) r2c1(paragraph('1')) r2c2(paragraph()))",
		"| A | _B_ |\n| :---: | ---: |\n| `x` | y \\| z |\n| 1 |  |"},
	{"1\\. a", "paragraph('1. a')", ""},
	{"\\- a\\\n\\+ b\\\n\\# c\\\n\\=", `paragraph('- a\n+ b\n# c\n=')`, ""},
	{"a\x00\xff", "paragraph('a\uFFFD\uFFFD')", "a\uFFFD\uFFFD"},
}
