package contenttest

// Dialect has cases with the constructs of GitBook's Markdown. The list Markdown has cases with CommonMark and GFM.
var Dialect = []struct{ In, Outline, Out string }{
	{`{% tabs %}
{% tab title="One" %}
first **b**
{% endtab %}

{% tab title="Two" icon="bolt" %}
second
{% endtab %}
{% endtabs %}`, `tabs(tabs-item title="One"(paragraph('first ' 'b'.bold)) tabs-item title="Two" icon="bolt"(paragraph('second')))`, ``},
	{`{% embed url="https://www.youtube.com/watch?v=x&t=1" %}`, `embed url="https://www.youtube.com/watch?v=x&t=1"()`, ``},
	{`{% embed url="https://v.example" fullWidth="true" %}
A *caption*.
{% endembed %}`, `embed caption="A _caption_." fullWidth=true url="https://v.example"()`, `{% embed url="https://v.example" fullWidth="true" %}
A _caption_.
{% endembed %}`},
	{"{% embed\n  url=\"https://v.example\"\n%}", `embed url="https://v.example"()`, `{% embed url="https://v.example" %}`},
	{
		"text {% embed\nurl=\"https://v.example\" %} more {% set\na %}.\n\n> a {% hint\n> style=\"info\" %} b",
		`paragraph('text ' hidden="{% embed url=\"https://v.example\" %}" ' more ' '{% set a %}'.code '.') ` +
			`blockquote(paragraph('a ' hidden="{% hint style=\"info\" %}" ' b'))`,
		"text {% embed url=\"https://v.example\" %} more {% set a %}.\n\n> a {% hint style=\"info\" %} b",
	},
	{
		"{% tabs %}{% tab\n title=\"x\" %}\na\n{% endtab %}\n{% endtabs %}\n\n> {% hint\n> style=\"info\" %}\n> b\n> " +
			"{% endhint %}\n\n{% if a\n> 1 %}\nc\n{% endif %}\n\n    {% hint\n    style=\"info\" %}",
		`tabs(tabs-item title="x"(paragraph('a'))) blockquote(paragraph kept="{% hint style=\"info\" %}"() ` +
			`paragraph('b') paragraph kept="{% endhint %}"()) paragraph kept="{% if a > 1 %}"() paragraph('c') ` +
			`paragraph kept="{% endif %}"() code(code-line('{% hint') code-line('style="info" %}'))`,
		"{% tabs %}\n{% tab title=\"x\" %}\na\n{% endtab %}\n{% endtabs %}\n\n> {% hint style=\"info\" %}\n> b\n> " +
			"{% endhint %}\n\n{% if a > 1 %}\nc\n{% endif %}\n\n```\n{% hint\nstyle=\"info\" %}\n```",
	},
	{
		"Use <code>{% hint %}</code>, <code class=\"x\">{% hint %}</code> and <code style=\"color: red\">a &lt; *b*</code>.\n\n" +
			"<b class=\"x\">a</b> <tt>b</tt> <samp>c</samp> <var>d</var>\n\n| a |\n| --- |\n| <code class=\"x\">b</code> |",
		`paragraph('Use ' '{% hint %}'.code ', ' '{% hint %}'.code.color ' and ' 'a < '.code.color ` +
			`'b'.italic.code.color '.') paragraph('a'.bold.color ' ' 'b'.code.color ' ' 'c'.code.color ' ' ` +
			`'d'.italic.color) table(r1c1(paragraph('b'.code.color)))`,
		"Use `{% hint %}`, <code class=\"x\">\\{% hint %}</code> and <code style=\"color: red\">a < _b_</code>.\n\n" +
			"<b class=\"x\">a</b> <tt>b</tt> <samp>c</samp> <var>d</var>\n\n| a |\n| --- |\n| <code class=\"x\">b</code> |",
	},
	{`{% stepper %}
{% step %}
## One

text
{% endstep %}

{% step %}
## Two
{% endstep %}
{% endstepper %}`, `stepper(stepper-step(heading-2('One') paragraph('text')) stepper-step(heading-2('Two')))`, ``},
	{"{% code title=\"main.go\" overflow=\"wrap\" lineNumbers=\"true\" fullWidth=\"false\" %}\n```go\nx := 1\n```\n{% endcode %}", `code syntax="go" title="main.go" fullWidth=false lineNumbers=true overflow="wrap"(code-line('x := 1'))`, ``},
	{`{% content-ref url="install.md" %}
[install.md](install.md)
{% endcontent-ref %}`, `content-ref ref="install.md"()`, ``},
	{`{% content-ref url="../guides/" %}
[The guides](../guides/)
{% endcontent-ref %}`, `content-ref ref="../guides/" label="The guides"()`, ``},
	{`{% page-ref page="install.md" %}`, `content-ref ref="install.md" tag="page-ref"()`, ``},
	{`{% file src="../.gitbook/assets/a b.pdf" %}`, `file ref="ref:file/..%2F.gitbook%2Fassets%2Fa%20b.pdf"()`, ``},
	{`{% file src="../.gitbook/assets/a.pdf" caption="x" %}
The terms.
{% endfile %}`, `file ref="ref:file/..%2F.gitbook%2Fassets%2Fa.pdf" attributes={"caption":"x"} caption="The terms."()`, ``},
	{`{% openapi src="https://petstore3.swagger.io/api/v3/openapi.json" path="/pet" method="post" %}
[https://petstore3.swagger.io/api/v3/openapi.json](https://petstore3.swagger.io/api/v3/openapi.json)
{% endopenapi %}`, `swagger ref="https://petstore3.swagger.io/api/v3/openapi.json" method="post" path="/pet"()`, ``},
	{`{% openapi-operation spec="petstore" path="/pet" method="get" %}
[OpenAPI petstore](https://api.example/openapi.yaml)
{% endopenapi-operation %}`, `openapi-operation ref="ref:openapi/petstore" body="[OpenAPI petstore](https://api.example/openapi.yaml)" method="get" path="/pet"()`, ``},
	{`{% openapi-schemas spec="petstore" schemas="Pet,Order" grouped="true" %}
[OpenAPI petstore](https://api.example/openapi.yaml)
{% endopenapi-schemas %}`, `openapi-schemas ref="ref:openapi/petstore" body="[OpenAPI petstore](https://api.example/openapi.yaml)" grouped=true schemas=["Pet","Order"]()`, ``},
	{`{% openapi-webhook spec="petstore" name="newPet" method="post" %}
[OpenAPI petstore](https://api.example/openapi.yaml)
{% endopenapi-webhook %}`, `openapi-webhook ref="ref:openapi/petstore" body="[OpenAPI petstore](https://api.example/openapi.yaml)" method="post" name="newPet"()`, ``},
	{`{% swagger src="../.gitbook/assets/api.yaml" path="/pet" method="get" %}
[api.yaml](../.gitbook/assets/api.yaml)
{% endswagger %}`, `swagger ref="../.gitbook/assets/api.yaml" label="api.yaml" method="get" path="/pet" tag="swagger"()`, ``},
	{`{% swagger method="get" path="/x" baseUrl="https://a" summary="Old" %}
{% swagger-description %}
The old form.
{% endswagger-description %}
{% endswagger %}`, `paragraph kept="{% swagger method=\"get\" path=\"/x\" baseUrl=\"https://a\" summary=\"Old\" %}"() paragraph kept="{% swagger-description %}"('{% swagger-description %}'.code) paragraph('The old form.') paragraph kept="{% endswagger-description %}"('{% endswagger-description %}'.code) paragraph kept="{% endswagger %}"()`, `{% swagger method="get" path="/x" baseUrl="https://a" summary="Old" %}
{% swagger-description %}

The old form.

{% endswagger-description %}
{% endswagger %}`},
	{`{% columns %}
{% column width="50%" %}
left
{% endcolumn %}

{% column %}
right
{% endcolumn %}
{% endcolumns %}`, `paragraph kept="{% columns %}"() paragraph kept="{% column width=\"50%\" %}"() paragraph('left') paragraph kept="{% endcolumn %}"() paragraph kept="{% column %}"() paragraph('right') paragraph kept="{% endcolumn %}"() paragraph kept="{% endcolumns %}"()`, ``},
	{`{% include "../.gitbook/includes/block.md" %}`, `reusable-content ref="ref:reusable-content/..%2F.gitbook%2Fincludes%2Fblock.md"()`, ``},
	{`{% if visitor.claims.plan === "pro" && page.title %}
for some
{% endif %}`, `paragraph kept="{% if visitor.claims.plan === \"pro\" && page.title %}"() paragraph('for some') paragraph kept="{% endif %}"()`, ``},
	{`{% updates format="full" %}
{% update date="2025-12-25" tags="beta" %}
## New

text
{% endupdate %}
{% endupdates %}`, `paragraph kept="{% updates format=\"full\" %}"() paragraph kept="{% update date=\"2025-12-25\" tags=\"beta\" %}"() heading-2('New') paragraph('text') paragraph kept="{% endupdate %}"() paragraph kept="{% endupdates %}"()`, ``},
	{`{% hint style="success" icon="check" %}
yes
{% endhint %}`, `hint style="success" icon="check"(paragraph('yes'))`, ``},
	{`{% hint style='info' %}
single
{% endhint %}`, `hint style="info"(paragraph('single'))`, `{% hint style="info" %}
single
{% endhint %}`},
	{`{% hint style="loud" %}
unknown
{% endhint %}`, `paragraph kept="{% hint style=\"loud\" %}"() paragraph('unknown') paragraph kept="{% endhint %}"()`, ``},
	{`{% anything a="1" %}

text with {% raw %} in it`,
		`paragraph kept="{% anything a=\"1\" %}"('{% anything a="1" %}'.code) paragraph('text with ' '{% raw %}'.code ' in it')`, ``},
	{`$$
a^2

b
$$`, `math formula="a^2\n\nb"()`, ``},
	{`inline $$a^2$$ and \$$5$$`, `paragraph('inline ' inline-math formula="a^2"() ' and $$5$$')`, `inline $$a^2$$ and \$$5\$$`},
	{`<details>

<summary>More <strong>about</strong> it</summary>

text

* a

</details>`,
		`expandable(expandable-title(paragraph('More ' 'about'.bold ' it')) expandable-body(paragraph('text') list-unordered(list-item(paragraph('a')))))`, `<details>

<summary>More <strong>about</strong> it</summary>

text

- a

</details>`},
	{`<details open><summary>T</summary>

text

</details>`, `expandable(expandable-title(paragraph('T')) expandable-body(paragraph('text')))`, `<details open>

<summary>T</summary>

text

</details>`},
	{`<figure><img src="../.gitbook/assets/a b.png" alt="x &#x26; y" width="375"><figcaption><p>A <em>caption</em></p></figcaption></figure>`, `images(image alt="x & y" ref="../.gitbook/assets/a b.png" width=375(caption(paragraph('A ' 'caption'.italic))))`, ``},
	{`<figure><picture><source srcset="dark.png" media="(prefers-color-scheme: dark)"><img src="light.png" alt=""></picture><figcaption></figcaption></figure>`, `images(image ref="light.png" refDark="dark.png"(caption(paragraph())))`, ``},
	{`<div align="left" data-full-width="true" data-with-frame="true"><figure><img src="a.png" alt=""></figure></div>`, `images align="left" fullWidth=true withFrame=true(image ref="a.png"())`, ``},
	{`<div>
<figure><img src="a.png" alt=""><figcaption></figcaption></figure>
<figure><img src="b.png" alt=""><figcaption></figcaption></figure>
</div>`, `images(image ref="a.png"(caption(paragraph())) image ref="b.png"(caption(paragraph())))`, ``},
	{`<img src="a.png" alt="" data-size="original">`, `paragraph(inline-image ref="a.png" size="original"())`, ``},
	{`text <img src="a.png" alt="x" data-size="line"> text`, `paragraph('text ' inline-image alt="x" ref="a.png" size="line"() ' text')`, ``},
	{`<img src="a.png" alt="" width="200">`, `images(image ref="a.png" width=200())`, ``},
	{`<img src="../.gitbook/assets/file.excalidraw.svg" alt="" class="gitbook-drawing">`, `drawing ref="ref:file/..%2F.gitbook%2Fassets%2Ffile.excalidraw.svg"()`, ``},
	{`<mark style="color:red;">red</mark> <mark style="color:$primary;background-color:yellow;">both</mark> <mark style="color:#123456;">no</mark>`, `paragraph('red'.color ' ' 'both'.color ' ' 'no'.color)`, ``},
	{`<kbd>Ctrl</kbd> + x<sub>1</sub><sup>2</sup> <u>under</u> <span class="a">s</span> **<kbd>b</kbd>**`, `paragraph('Ctrl'.keyboard ' + x' '1'.subscript '2'.superscript ' ' 'under'.color ' ' 's'.color ' ' 'b'.bold.keyboard)`, ``},
	{`one<br>two<br/>three`, `paragraph('one\ntwo\nthree')`, `one\
two\
three`},
	{"| a | b |\n| --- | --- |\n| one<br>two | `p \\| q` |", `table(r1c1(paragraph('one\ntwo')) r1c2(paragraph('p | q'.code)))`, ``},
	{`<a href="https://a.example" class="button primary">Go & see</a> <a href="x.md" class="button secondary" data-icon="rocket">R</a>`, `paragraph(button ref="https://a.example" kind="primary" label="Go & see"() ' ' button ref="x.md" icon="rocket" kind="secondary" label="R"())`, ``},
	{`<i class="fa-rocket">:rocket:</i> <i class="fa-x" style="color:$danger;">:x:</i> <i>it</i>`, `paragraph(icon icon="rocket"() ' ' icon color="$danger" icon="x"() ' ' 'it'.italic)`, `<i class="fa-rocket">:rocket:</i> <i class="fa-x" style="color:$danger;">:x:</i> _it_`},
	{`<a data-mention href="page.md">page.md</a> <a data-mention href="page.md">Page</a>`, `paragraph(mention ref="page.md"() ' ' mention ref="page.md" label="Page"())`, ``},
	{`<p align="center">a {% foo %} b {% endhint %} &#123;% c %}</p>`, `paragraph align="center"('a ' '{% foo %}'.code ' b ' hidden="{% endhint %}" ' {% c %}')`, ``},
	{`<table data-header-hidden><thead><tr><th></th></tr></thead><tbody><tr><td><code>{% x %}</code> {% set a = {"b": 1} %}{% endhint %}<br>{% if a > b %}</td></tr></tbody></table>`, `table(r1c1(paragraph('{% x %}'.code ' ' '{% set a = {"b": 1} %}'.code hidden="{% endhint %}" '\n' hidden="{% if a > b %}")))`, ``},
	{"| a {% foo %} | b |\n| --- | --- |\n| c | {% endfoo %} |\n| {% hint %} | {% endhint %} |", `table(hc1(paragraph('a ' '{% foo %}'.code)) r1c1(paragraph('c')) r1c2(paragraph('{% endfoo %}'.code)) r2c1(paragraph(hidden="{% hint %}")) r2c2(paragraph(hidden="{% endhint %}")))`, ``},
	{`<p align="center">some <strong>bold</strong> and <a href="x.md">link</a></p>`, `paragraph align="center"('some ' 'bold'.bold ' and ' link ref="x.md"('link'))`, ``},
	{`<h2 align="center">Middle</h2>`, `heading-2 align="center"('Middle')`, ``},
	{`<code class="expression">space.vars.a_b["c"]</code>`, `paragraph(expression expression="space.vars.a_b[\"c\"]"())`, ``},
	{`<!-- a comment -->`, `paragraph kept="<!-- a comment -->"()`, ``},
	{`a <!-- b --> c`, `paragraph('a ' hidden="<!-- b -->" ' c')`, ``},
	{`Text <!-- not for readers --> and [x](README.md)<!-- ignore -->, **a<!-- b -->b**.

# One<!-- two --> three

| a<!-- b --> |
| --- |
| <!-- c --> d |`, `paragraph('Text ' hidden="<!-- not for readers -->" ' and ' link ref="README.md"('x') ` +
		`hidden="<!-- ignore -->" ', ' 'a'.bold hidden="<!-- b -->" 'b'.bold '.') heading-1('One' ` +
		`hidden="<!-- two -->" ' three') table(hc1(paragraph('a' hidden="<!-- b -->")) ` +
		`r1c1(paragraph(hidden="<!-- c -->" ' d')))`, ``},
	{`<!-- a --> text

<br>

<center>Middle <a href="a.md">link</a> <img src="b.png" alt="c" class="d"></center>

<video src="v.mp4" controls></video>

<p>open

<Card title="x"> in </Card> <your-key> List<String> x<br clear="all"/>y <font color="red">red</font> <input ` +
		`type="checkbox"></b>`, `paragraph kept="<!-- a --> text"('text') paragraph kept="<br>"() ` +
		`paragraph kept="<center>Middle <a href=\"a.md\">link</a> <img src=\"b.png\" alt=\"c\" ` +
		`class=\"d\"></center>"('Middle ' link ref="a.md"('link') ' ' inline-image alt="c" ref="b.png" ` +
		`attributes={"class":"d"}()) paragraph kept="<video src=\"v.mp4\" controls></video>"(link ` +
		`ref="v.mp4"('v.mp4')) paragraph kept="<p>open"('open') paragraph(hidden="<Card title=\"x\">" ' ` +
		`in ' hidden="</Card>" ' ' '<your-key>'.code ' List' '<String>'.code ' x\ny ' 'red'.color ' ' ` +
		`hidden="<input type=\"checkbox\">" hidden="</b>")`, `<!-- a --> text

<br>

<center>Middle <a href="a.md">link</a> <img src="b.png" alt="c" class="d"></center>

<video src="v.mp4" controls></video>

<p>open

<Card title="x"> in </Card> <your-key> List<String> x\
y <font color="red">red</font> <input type="checkbox"></b>`},
	{`<div class="x">

**md**

</div>`, `paragraph kept="<div class=\"x\">"() paragraph('md'.bold) paragraph kept="</div>"()`, ``},
	{`- [ ] task
- one
- [x] done`,
		`list-unordered(list-item checked=false(paragraph('task')) list-item(paragraph('one')) list-item checked=true(paragraph('done')))`, ``},
	{`1. [ ] a
2. b`, `list-ordered(list-item checked=false(paragraph('a')) list-item(paragraph('b')))`, ``},
	{"{% hint style=\"info\" %}\n```sh\nnpm i\nnpm start\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n> quote\n\n![x](a.png)\n\n{% embed url=\"https://v.example\" %}\n\n<details>\n\n<summary>T</summary>\n\nin\n\n</details>\n{% endhint %}", "hint style=\"info\"(paragraph kept=\"```sh\\nnpm i\\nnpm start\\n```\"('npm i'.code '\\n' 'npm start'.code) paragraph kept=\"| a | b |\\n| --- | --- |\\n| 1 | 2 |\"('a | b\\n1 | 2') paragraph kept=\"> quote\"('quote') paragraph kept=\"![x](a.png)\"(inline-image alt=\"x\" ref=\"a.png\"()) paragraph kept=\"{% embed url=\\\"https://v.example\\\" %}\"('https://v.example') paragraph kept=\"<details>\"() paragraph kept=\"<summary>T</summary>\"('T') paragraph('in') paragraph kept=\"</details>\"())", ``},
	{"> {% hint style=\"info\" %}\n> in\n> {% endhint %}\n>\n> ```go\n> x\n> ```", "blockquote(paragraph kept=\"{% hint style=\\\"info\\\" %}\"() paragraph('in') paragraph kept=\"{% endhint %}\"() paragraph kept=\"```go\\nx\\n```\"('x'.code))", ``},
	{`- ![a](b.png)

  {% tabs %}
  {% tab title="x" %}
  y
  {% endtab %}
  {% endtabs %}`, `list-unordered(list-item(paragraph kept="![a](b.png)"(inline-image alt="a" ref="b.png"()) paragraph kept="{% tabs %}"() paragraph kept="{% tab title=\"x\" %}"() paragraph('y') paragraph kept="{% endtab %}"() paragraph kept="{% endtabs %}"()))`, ``},
	{`#### Four

##### Five

###### Six`, `heading-3 level=4('Four') heading-3 level=5('Five') heading-3 level=6('Six')`, ``},
	{`## Title <a href="#my-id" id="my-id"></a>`, `heading-2 id="my-id"('Title')`, ``},
	{`## One <a id="one-x"></a>

## <a name="two-x"></a>Two

## Three {#three-x}

## <a name="Four-X">Four</a> and more

## 日本 {#日本 .class}

Five {#five}
----

## {#eight}

## \{#nine} {#ten} x`, `heading-2 anchor="<a id=\"one-x\"></a>" id="one-x"('One') heading-2 anchor="<a ` +
		`name=\"two-x\"></a>" id="two-x"('Two') heading-2 anchor="{#three-x}" id="three-x"('Three') ` +
		`heading-2 anchor="<a name=\"Four-X\"></a>" anchorName="Four-X"('Four and more') heading-2 ` +
		`anchor="{#日本 .class}" anchorName="日本"('日本') heading-2 anchor="{#five}" id="five"('Five') ` +
		`heading-2 anchor="{#eight}" id="eight"() heading-2('{#nine} {#ten} x')`, `## One <a id="one-x"></a>

## Two <a name="two-x"></a>

## Three {#three-x}

## Four and more <a name="Four-X"></a>

## 日本 {#日本 .class}

## Five {#five}

## {#eight}

## \{#nine} \{#ten} x`},
	{"Words[^1] and [noted words](#user-content-fn-big)[^big].\n\n[^1]: The note.\n\n[^big]: Two paragraphs.\n\n    With `code`.", `paragraph('Words' annotation((paragraph('The note.'))) ' and ' annotation('noted words' (paragraph('Two paragraphs.') paragraph('With ' 'code'.code '.'))) '.')`, ``},
	{`[^unused]: Not used.`, `paragraph kept="[^unused]: Not used."('[^unused]: Not used.'.code)`, ``},
	{`:smile: :+1: :thumbsup: 10:30:45 a:x:b \:rocket: :nosuch:`, `paragraph(emoji code="1f604"() ' ' emoji code="1f44d"() ' ' emoji code="1f44d" name="thumbsup"() ' 10:30:45 a:x:b :rocket: :nosuch:')`, ``},
	{`:rocket: start`, `paragraph(emoji code="1f680"() ' start')`, ``},
	{`| **b** | [l](u) |
| --- | :---: |
| 1 | 2 |`, `table(hc1(paragraph('b'.bold)) hc2(paragraph(link ref="u"('l'))) r1c1(paragraph('1')) r1c2(paragraph('2')))`, ``},
	{"```js {1,3} lineNumbers\nx\n```", `code syntax="js" info="{1,3} lineNumbers"(code-line('x'))`, ``},
	{`[a](b.md "t") ![c](d.png "e")`, `paragraph(link title="t" ref="b.md"('a') ' ' inline-image alt="c" ref="d.png" caption="e"())`, ``},
	{`**a** **b** ~~a~~ ~~b~~`, `paragraph('a'.bold ' ' 'b'.bold ' ' 'a'.strikethrough ' ' 'b'.strikethrough)`, ``},
	{`**Hi :rocket: there** **see [x](u) now**`, `paragraph('Hi '.bold emoji code="1f680"() ' there'.bold ' ' 'see '.bold link ref="u"('x'.bold) ' now'.bold)`, ``},
	{"` ` and `  a`", `paragraph(' '.code ' and ' '  a'.code)`, ``},
	{`https://docs.example.com/my_page_name?x=1&y=2 and snake_case *a*`, `paragraph('https://docs.example.com/my_page_name?x=1&y=2 and snake_case ' 'a'.italic)`, `https://docs.example.com/my_page_name?x=1&y=2 and snake_case _a_`},
	{"a\tb", "paragraph('a\tb')", ``},
	{`<pre class="language-yaml"><code class="lang-yaml">a: 1
<strong>b: 2
</strong>c: &#x3C;3
</code></pre>`, `code syntax="yaml"(code-line('a: 1') code-line highlighted=true('b: 2') code-line('c: <3'))`, ``},
	{`{{ liquid }} {% raw %}x{% endraw %}`, `paragraph('{{ liquid }} ' '{% raw %}'.code 'x' '{% endraw %}'.code)`, ``},
	{
		`<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target ` +
			`data-type="content-ref"></th><th data-hidden data-card-cover ` +
			`data-type="image">Cover</th></tr></thead><tbody><tr><td><strong>A</strong><br>b</td><td><a ` +
			`href="a.md">a.md</a></td><td><a href=".gitbook/assets/a.png">a.png</a></td></tr><tr><td><ul><li>x</li></ul></td>` +
			`<td></td><td data-object-fit="contain"><img src="b.png" alt="b"></td></tr></tbody></table>`,
		`table(r1c1(paragraph('A'.bold '\nb')) r2c1(list-unordered(list-item(paragraph('x')))))`,
		``,
	},
	{
		`<table data-header-hidden data-full-width="true"><thead><tr><th width="150" align="center">A</th><th ` +
			`data-type="checkbox">B</th><th data-type="number">C</th><th data-type="rating" ` +
			`data-max="3">D</th><th>E<select multiple><option value="o1" label="One" ` +
			`color="blue"></option><option value="o2" label="Two" color="red"></option></select></th><th ` +
			`data-type="files">F</th></tr></thead><tbody><tr><td ` +
			`align="center">a</td><td>true</td><td>1.5</td><td>2</td><td><span ` +
			`data-option="o1">One</span></td><td><a href="x/f.pdf">f.pdf</a><a ` +
			`href="g.pdf">g.pdf</a></td></tr></tbody></table>`,
		`table fullWidth=true(r1c1(paragraph('a')))`,
		``,
	},
	{
		`<table><tr><td>not GitBook's</td></tr></table>`,
		`table(r1c1(paragraph('not GitBook's')))`,
		`<table data-header-hidden><thead><tr><th></th></tr></thead><tbody><tr><td>not ` +
			`GitBook's</td></tr></tbody></table>`,
	},
	{`{% hint style="info" %}
Some *text*. {% endhint %}

{% hint style="info" %} one {% endhint %}

{% hint style="info" %}- two{% endhint %}
after

{% tabs %}{% tab title="A" %}a{% endtab %}
{% tab title="B" %}
b{% endtab %}{% endtabs %}

{% stepper %}
{% step %}
{% hint style="info" %}
c {% endhint %}
{% endstep %}{% endstepper %}`, `hint style="info"(paragraph('Some ' 'text'.italic '.')) hint ` +
		`style="info"(paragraph('one')) hint style="info"(list-unordered(list-item(paragraph('two')))) ` +
		`paragraph('after') tabs(tabs-item title="A"(paragraph('a')) tabs-item ` +
		`title="B"(paragraph('b'))) stepper(stepper-step(hint style="info"(paragraph('c'))))`, `{% hint ` +
		`style="info" %}
Some _text_.
{% endhint %}

{% hint style="info" %}
one
{% endhint %}

{% hint style="info" %}
- two
{% endhint %}

after

{% tabs %}
{% tab title="A" %}
a
{% endtab %}

{% tab title="B" %}
b
{% endtab %}
{% endtabs %}

{% stepper %}
{% step %}
{% hint style="info" %}
c
{% endhint %}
{% endstep %}
{% endstepper %}`},
	{
		"{% hint style=\"info\" %}\n```\na {% endhint %}\n```\nb \\{% endhint %}\n{% endhint %}\n\n{% include " +
			"\"a\" %} text {% endtab %}\n\n- {% hint style=\"info\" %}\n  in {% endhint %}",
		"hint style=\"info\"(paragraph kept=\"```\\na {% endhint %}\\n```\"('a {% endhint %}'.code) paragraph('b " +
			"{% endhint %}')) paragraph(hidden=\"{% include \\\"a\\\" %}\" ' text ' hidden=\"{% endtab %}\") " +
			"list-unordered(list-item(paragraph kept=\"{% hint style=\\\"info\\\" %}\"() paragraph('in ' " +
			"hidden=\"{% endhint %}\")))",
		"{% hint style=\"info\" %}\n```\na {% endhint %}\n```\n\nb \\{% endhint %}\n{% endhint %}\n\n{% include " +
			"\"a\" %} text {% endtab %}\n\n- {% hint style=\"info\" %}\n\n  in {% endhint %}",
	},
	{
		`<button type="button" class="button primary" data-action="ask" data-query="What & why?" ` +
			`data-icon="sparkles">Ask</button> <button type="button" class="button secondary" ` +
			`data-action="search">Find</button> <button>plain</button>

<p align="center"><a href="a.md" class="button primary">Go</a></p>

<i class="fa-x"></i> <i class="fa-brands fa-github">:github:</i> <i class="fa-x">it</i>

<img src="../.gitbook/assets/d.svg" alt="A drawing" class="gitbook-drawing" width="300">

{% hint style="info" %}
<img src="d.svg" alt="" class="gitbook-drawing">
{% endhint %}

* item

  <div data-gb-custom-block data-tag="hint" data-style='warning'>

  text

  </div>`,
		`paragraph(button action={"action":"ask","query":"What & why?"} icon="sparkles" kind="primary" ` +
			`label="Ask"() ' ' button action={"action":"search"} kind="secondary" label="Find"() ' ' ` +
			`hidden="<button>" 'plain' hidden="</button>") paragraph align="center"(button ref="a.md" ` +
			`kind="primary" label="Go"()) paragraph(icon icon="x"() ' ' icon class="fa-brands fa-github" ` +
			`icon="github"() ' ' 'it'.italic.color) drawing alt="A drawing" ` +
			`ref="ref:file/..%2F.gitbook%2Fassets%2Fd.svg" attributes={"width":"300"}() hint ` +
			`style="info"(paragraph kept="<img src=\"d.svg\" alt=\"\" ` +
			`class=\"gitbook-drawing\">"(inline-image ref="ref:file/d.svg"())) ` +
			`list-unordered(list-item(paragraph('item') hint style="warning"(paragraph('text'))))`,
		`<button type="button" class="button primary" data-action="ask" data-query="What &#x26; why?" ` +
			`data-icon="sparkles">Ask</button> <button type="button" class="button secondary" ` +
			`data-action="search">Find</button> <button>plain</button>

<p align="center"><a href="a.md" class="button primary">Go</a></p>

<i class="fa-x">:x:</i> <i class="fa-brands fa-github">:github:</i> <i class="fa-x">it</i>

<img src="../.gitbook/assets/d.svg" alt="A drawing" class="gitbook-drawing" width="300">

{% hint style="info" %}
<img src="d.svg" alt="" class="gitbook-drawing">
{% endhint %}

- item

  {% hint style="warning" %}
  text
  {% endhint %}`},
	{`<hr/>

Option<Address> Set<A> <ADDRESS>x <B>b</B>`, `divider() paragraph('Option' '<Address>'.code ' Set' '<A>'.code ' ` +
		`' hidden="<ADDRESS>" 'x ' 'b'.bold)`, `---

Option<Address> Set<A> <ADDRESS>x **b**`},
	{`<h2>Two</h2>

<h4 id="four" class="x">Four</h4>

<p style="color: red">red</p>

<p>plain</p>

Go <a href="README.md" target="_blank" rel="noopener">the **link**</a>, <a href="x.md" title="t">x</a>.

<h3 align="center">Three</h3>

<a href="a.md" target="_blank"><img src="a.png" alt="a"></a>`, `heading-2('Two') heading-3 level=4 ` +
		`attributes={"class":"x"} id="four"('Four') paragraph('red') paragraph('plain') paragraph('Go ' ` +
		`link ref="README.md" attributes={"rel":"noopener","target":"_blank"}('the ' 'link'.bold) ', ' ` +
		`link title="t" ref="x.md"('x') '.') heading-3 align="center"('Three') paragraph(link ref="a.md" ` +
		`attributes={"target":"_blank"}(inline-image alt="a" ref="a.png"()))`, `## Two

<h4 class="x">Four <a href="#four" id="four"></a></h4>

<p style="color: red">red</p>

plain

Go <a href="README.md" rel="noopener" target="_blank">the **link**</a>, [x](x.md "t").

<h3 align="center">Three</h3>

<a href="a.md" target="_blank">![a](a.png)</a>`},
	{`<table border="1">
<colgroup><col width="10"></colgroup>
<!-- c -->
<tr class="x"><th>A</th><th colspan="2" style="y">B</th></tr>
<tr><td rowspan="2" align="center">1</td><td>2</td><td><div class="d">3</div></td></tr>
<tr><td>4</td><td>5</td><td>6</td></tr>
</table>`, `table attributes={"border":"1"}(r1c1(paragraph align="center"('1')) r1c2(paragraph('2')) ` +
		`r1c3(paragraph(hidden="<div class=\"d\">" '3' hidden="</div>")) r1c4(paragraph()) ` +
		`r2c1(paragraph()) r2c2(paragraph('4')) r2c3(paragraph('5')) r2c4(paragraph('6')))`, `<table ` +
		`border="1"><thead><tr><th>A</th><th ` +
		`style="y">B</th><th></th><th></th></tr></thead><tbody><tr><td><p ` +
		`align="center">1</p></td><td>2</td><td><div ` +
		`class="d">3</div></td><td></td></tr><tr><td></td><td>4</td><td>5</td><td>6</td></tr></tbody></table>`},
	{
		`<table><thead><tr><th data-type="rating" data-max="5">R</th><th>S<select><option value="a1" label="One" ` +
			`color="blue"></option></select></th><th data-type="number" ` +
			`width="10%">N</th></tr></thead><tbody><tr><td>4</td><td><span ` +
			`data-option="a1">One</span></td><td>1</td></tr></tbody></table>`,
		`table()`,
		``,
	},
	{
		`<table><thead><tr><th data-type="number">N</th></tr></thead><tbody><tr><td>about ` +
			`<b>5</b></td></tr></tbody></table>`,
		`table(r1c1(paragraph('about ' '5'.bold)))`,
		`<table><thead><tr><th data-type="number">N</th></tr></thead><tbody><tr><td>about ` +
			`<strong>5</strong></td></tr></tbody></table>`,
	},
	{
		`<table data-view="cards" data-card-size="small"><thead><tr><th width="48">A</th><th data-hidden ` +
			`data-card-target data-type="content-ref"></th></tr></thead><tbody><tr><td>x</td><td><a ` +
			`href="a.md">a.md</a></td></tr></tbody></table>`,
		`table attributes={"data-card-size":"small"}(r1c1(paragraph('x')))`,
		`<table data-view="cards" data-card-size="small"><thead><tr><th width="48">A</th><th data-hidden ` +
			`data-card-target data-type="content-ref"></th></tr></thead><tbody><tr><td>x</td><td><a ` +
			`href="a.md">a.md</a></td></tr></tbody></table>`,
	},
}
