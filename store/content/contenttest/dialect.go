package contenttest

// Dialect has the constructs of GitBook's Markdown, as Markdown has those of CommonMark and GFM.
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

text with {% raw %} in it`, `paragraph kept="{% anything a=\"1\" %}"('{% anything a="1" %}'.code) paragraph('text with ' '{% raw %}'.code ' in it')`, ``},
	{`$$
a^2

b
$$`, `math formula="a^2\n\nb"()`, ``},
	{`inline $$a^2$$ and \$$5$$`, `paragraph('inline ' inline-math formula="a^2"() ' and $$5$$')`, `inline $$a^2$$ and \$$5\$$`},
	{`<details>

<summary>More <strong>about</strong> it</summary>

text

* a

</details>`, `expandable(expandable-title(paragraph('More ' 'about'.bold ' it')) expandable-body(paragraph('text') list-unordered(list-item(paragraph('a')))))`, `<details>

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
	{`<p align="center">some <strong>bold</strong> and <a href="x.md">link</a></p>`, `paragraph align="center"('some ' 'bold'.bold ' and ' link ref="x.md"('link'))`, ``},
	{`<h2 align="center">Middle</h2>`, `heading-2 align="center"('Middle')`, ``},
	{`<code class="expression">space.vars.a_b["c"]</code>`, `paragraph(expression expression="space.vars.a_b[\"c\"]"())`, ``},
	{`<!-- a comment -->`, `paragraph kept="<!-- a comment -->"()`, ``},
	{`a <!-- b --> c`, `paragraph('a ' '<!-- b -->'.code ' c')`, ``},
	{`<div class="x">

**md**

</div>`, `paragraph kept="<div class=\"x\">"('<div class="x">'.code) paragraph('md'.bold) paragraph kept="</div>"('</div>'.code)`, ``},
	{`- [ ] task
- one
- [x] done`, `list-unordered(list-item checked=false(paragraph('task')) list-item(paragraph('one')) list-item checked=true(paragraph('done')))`, ``},
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

## \{#nine} {#ten} x`, `heading-2 anchor="<a id=\"one-x\"></a>" id="one-x"('One') heading-2 anchor="<a name=\"two-x\"></a>" id="two-x"('Two') heading-2 anchor="{#three-x}" id="three-x"('Three') heading-2 anchor="<a name=\"Four-X\"></a>" anchorName="Four-X"('Four and more') heading-2 anchor="{#日本 .class}" anchorName="日本"('日本') heading-2 anchor="{#five}" id="five"('Five') heading-2 anchor="{#eight}" id="eight"() heading-2('{#nine} {#ten} x')`, `## One <a id="one-x"></a>

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
	{`<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th><th data-hidden data-card-cover data-type="image">Cover</th></tr></thead><tbody><tr><td><strong>A</strong><br>b</td><td><a href="a.md">a.md</a></td><td><a href=".gitbook/assets/a.png">a.png</a></td></tr><tr><td><ul><li>x</li></ul></td><td></td><td data-object-fit="contain"><img src="b.png" alt="b"></td></tr></tbody></table>`, `table(r1c1(paragraph('A'.bold '\nb')) r2c1(list-unordered(list-item(paragraph('x')))))`, ``},
	{`<table data-header-hidden data-full-width="true"><thead><tr><th width="150" align="center">A</th><th data-type="checkbox">B</th><th data-type="number">C</th><th data-type="rating" data-max="3">D</th><th>E<select multiple><option value="o1" label="One" color="blue"></option><option value="o2" label="Two" color="red"></option></select></th><th data-type="files">F</th></tr></thead><tbody><tr><td align="center">a</td><td>true</td><td>1.5</td><td>2</td><td><span data-option="o1">One</span></td><td><a href="x/f.pdf">f.pdf</a><a href="g.pdf">g.pdf</a></td></tr></tbody></table>`, `table fullWidth=true(r1c1(paragraph('a')))`, ``},
	{`<table><tr><td>not GitBook's</td></tr></table>`, `paragraph kept="<table><tr><td>not GitBook's</td></tr></table>"('<table><tr><td>not GitBook's</td></tr></table>'.code)`, ``},
}
