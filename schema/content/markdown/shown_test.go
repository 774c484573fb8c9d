package markdown

import (
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// TestForRenderer checks that a block which is stored as source becomes a block of its own kind again. Each node must
// have the form that front ends read.
func TestForRenderer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, outline string }{
		{"{% columns %}\n{% column width=\"50%\" valign=\"top\" %}\nleft\n{% endcolumn %}\n\n{% column " +
			"%}\nright\n{% endcolumn %}\n{% endcolumns %}",
			`columns(column verticalAlignment="top" width={"unit":"%","value":50}(paragraph('left')) ` +
				`column(paragraph('right')))`},
		{"{% columns %}\ntext\n{% endcolumns %}", `paragraph('text')`},
		{"{% updates format=\"short\" %}\n{% update date=\"2025-12-25\" tags=\"beta, new\" %}\n## New\n\n{% tabs " +
			"%}\n{% tab title=\"x\" %}\ny\n{% endtab %}\n{% endtabs %}\n{% endupdate %}\n{% endupdates %}",
			`updates format="short"(update date="2025-12-25T00:00:00.000Z" tags=[{"kind":"tag","tag":"beta"},` +
				`{"kind":"tag","tag":"new"}](heading-2('New') tabs(tabs-item title="x"(paragraph('y')))))`},
		{"{% updates %}\n{% update date=\"some day\" %}\ntext\n{% endupdate %}\n{% endupdates %}", `paragraph('text')`},
		{"{% prompt description=\"d\" %}\n```\nx\n```\n{% endprompt %}\n\n{% prompt %}\nx\n{% endprompt %}",
			`prompt description="d"(code(code-line('x'))) paragraph('x')`},
		{"{% stepper %}\n{% step %}\n{% tabs %}\n{% tab title=\"apt\" %}\n```sh\napt\n```\n{% endtab %}\n{% " +
			"endtabs %}\n\n<details open>\n\n<summary>*More*</summary>\n\nin\n\n</details>\n{% endstep %}\n{% " +
			"endstepper %}",
			`stepper(stepper-step(tabs(tabs-item title="apt"(code syntax="sh"(code-line('apt')))) expandable ` +
				`defaultExpanded=true(expandable-title(paragraph('*More*')) expandable-body(paragraph('in')))))`},
		{"{% hint style=\"info\" %}\n```\nx\n```\n\n| a |\n| --- |\n| b |\n\n> q\n\n![i](i.png)\n{% endhint %}",
			`hint style="info"(code(code-line('x')) table(r1c1(paragraph('b'))) blockquote(paragraph('q')) ` +
				`images(image alt="i" ref="i.png"()))`},
		{"{% if a === 1 %}\n{% columns %}\n{% column %}\nx\n{% endcolumn %}\n{% endcolumns %}\n{% endif %}",
			`paragraph kept="{% if a === 1 %}"() columns(column(paragraph('x'))) paragraph kept="{% endif %}"()`},
		{"Words[^n] and <!-- c -->[more](#fn-m)[^m].\n\n[^n]: Note.\n\n[^m]: Other.",
			`paragraph('Words' annotation('n'.superscript (paragraph('Note.'))) ' and ' annotation('more' ` +
				`(paragraph('Other.'))) '.')`},
		{"{% file src=\"a.pdf\" %}\nThe *file*.\n{% endfile %}\n\n{% embed url=\"https://v.example\" %}\nA " +
			"film.\n{% endembed %}",
			`file ref="ref:file/a.pdf" caption="The _file_."(caption(paragraph('The ' 'file'.italic '.'))) embed ` +
				`caption="A film." url="https://v.example"(caption(paragraph('A film.')))`},
		{"<details open>\n\n<summary>T</summary>\n\nx\n\n</details>",
			`expandable defaultExpanded=true(expandable-title(paragraph('T')) expandable-body(paragraph('x')))`},
		{"a\n\n<!-- c -->\n\n<br>\n\n<div>\n\nb\n\n</div>\n\n<a id=\"x\"></a>\n\n<center>c</center>",
			`paragraph('a') paragraph kept="<br>"() paragraph('b') paragraph kept="<center>c</center>"('c')`},
		{"{#x}\n## One\n\n[a](u){.b}\n{: .c}\n\n{/* c\n\nd */}\n\n<Tabs>\n\n<B.C d={1}>in</B.C>\n\n</Tabs>\n\n{/* a */}" +
			" <D.E />\n\n- {/* x */}", `heading-2 anchor="{#x}\n" id="x"('One') paragraph(link ref="u"('a')) ` +
			`paragraph('in') list-unordered(list-item(paragraph()))`},
		{"<pre class=\"language-go\" data-title=\"t\"><code class=\"lang-go\">a <strong>b</strong>\n\nc &#x3C;</code></pre>" +
			"\n\n<pre>\nx <a href=\"u\">y</a><br>z\n</pre>", `code syntax="go" title="t"(code-line highlighted=true('a b') ` +
			`code-line() code-line('c <')) code(code-line('x y') code-line('z'))`},
		{"<a data-mention href=\"https://a.example/b\">API *x*</a> <a data-mention href=\"https://a.example/b\">The API</a> " +
			"<a data-mention href=\"https://a.example/b\">https://a.example/b</a> <a data-mention href=\"b.md\">b.md</a>",
			`paragraph(link ref="https://a.example/b"('API *x*') ' ' link ref="https://a.example/b"('The API') ' ' ` +
				`mention ref="https://a.example/b"() ' ' mention ref="b.md"())`},
		{"<div>\n{% hint style=\"info\" %}\nText {% x %}\n{% endhint %}\n</div>", `paragraph ` +
			`kept="<div>\n{% hint style=\"info\" %}\nText {% x %}\n{% endhint %}\n</div>"('Text ' '{% x %}'.code)`},
		{"<div>\n<b>a {% hint\n%} &lt;x> <code>{% x %}</code>\n{{#include a.svg}}\n</div>", `paragraph ` +
			`kept="<div>\n<b>a {% hint\n%} &lt;x> <code>{% x %}</code>\n{{#include a.svg}}\n</div>"` +
			`('a  <x> ' '{% x %}'.code)`},
		{"</p>a  <code>x &lt;y&gt; :tada: </code> <b>b<script>c</script></p><td>d<code>{{e}}\n", `paragraph ` +
			`kept="</p>a  <code>x &lt;y&gt; :tada: </code> <b>b<script>c</script></p><td>d<code>{{e}}"` +
			`('a ' 'x <y> :tada: '.code 'b d' '{{e}}'.code)`},
		{"<div>\n{{#include a.svg}}\nbecomes {{x}}\n</div>", `paragraph ` +
			`kept="<div>\n{{#include a.svg}}\nbecomes {{x}}\n</div>"('becomes {{x}}')`},
	} {
		d := read(t, c.in)
		before := outline(d.Nodes)
		shown := ForRenderer(d)
		if got := outline(shown.Nodes); got != c.outline {
			t.Errorf("%q:\ngot  %s\nwant %s", c.in, got, c.outline)
		}
		if outline(d.Nodes) != before {
			t.Errorf("%q: the document that is stored has changed", c.in)
		}
	}
	shown := ForRenderer(schema.NewDocument(schema.Node{Type: "table", Data: schema.Data{
		"view": map[string]any{"type": "grid", "hideHeader": false, "columns": []any{"c"}},
		"definition": map[string]any{
			"c": map[string]any{"id": "c", "title": "", "type": "select", "multiple": false, "options": []any{}},
		},
		"records": map[string]any{"r": map[string]any{"orderIndex": "1", "values": map[string]any{"c": "a1"}}},
	}}))
	values := stringMap(stringMap(stringMap(shown.Nodes[0].Data["records"])["r"])["values"])
	if list, ok := values["c"].([]any); !ok || len(list) != 1 || list[0] != "a1" {
		t.Errorf("%v", values)
	}
	every := contenttest.EveryKind(t)
	if len(ForRenderer(every).Nodes) != len(every.Nodes) {
		t.Error("a block is missing")
	}
}
