package markdown

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"

	"github.com/octavo-docs/octavo/schema"
)

// badLinks has unsafe targets. After Safe, no link may lead to such a target.
var badLinks = []string{
	"javascript:alert(1)", "JAVASCRIPT:alert(1)", "JaVaScRiPt:alert(1)", "vbscript:x", "data:text/html,x",
	"file:///etc/passwd", "blob:x",
	"javascript&colon;alert(1)", "javascript&#58;alert(1)", "javascript&#x3a;alert(1)", "&#106;avascript:alert(1)",
	"java&Tab;script:alert(1)",
	"java&NewLine;script:alert(1)", "&#1;javascript:alert(1)", "javascript\\:alert(1)",
	"j&#97;vascript&colon;alert(1)", "java&#0000009;script:x",
	"javascript&amp;colon;alert(1)", "&sol;/evil.test", "/&sol;evil.test", "/&Tab;/evil.test", "///evil.test",
	`/\evil.test`, `\\\\evil.test`, `\//evil.test`, `\\/evil.test`, "//evil.test", "//evil.test/a?b#c",
}

// linkForms has the forms of links in Markdown. %s stands for the target.
var linkForms = []string{
	"[a](%s)", "[a](<%s>)", "![a](%s)", "![a](<%s> 't')", "[a][b]\n\n[b]: %s", "[a][b]\n\n[b]: <%s>", "<%s>",
	"[![a](/i.png)](%s)",
	"> - [a](%s)\n", "| a |\n| --- |\n| [a](%s) |", "# [a](%s)", "*[a](%s)*", "- [ ] [a](%s)", "1.\t[a](%s)",
	"[a]\n\n[a]:\n  %s",
	`<a href="%s">a</a>`, `<a href='%s'>a</a>`, `<a href=%s>a</a>`, `<img src="%s">`, `<div><a href="%s">a</a></div>`,
	`<picture><source srcset="%s 2x"></picture>`, `<table><tr><td><a href="%s">a</a></td></tr></table>`,
	"<details>\n\n[a](%s)\n\n</details>",
	"<details><summary><a href=\"%s\">a</a></summary>\n\nb\n\n</details>", "[^1]\n\n[^1]: [a](%s)",
	"{%% hint %%}\n[a](%s)\n{%% endhint %%}",
	"> [a]: %s\n\n[a]", "[a](\n%s)", "[a]( %s )", "[a](%s \"t\")", "\\\\[a](%s)", "`b` [a](%s) `c`",
}

// activeHTML has HTML that Safe must change into text.
var activeHTML = []string{
	"<script>alert(1)</script>", "<SCRIPT SRC=//evil.test/x.js></SCRIPT>", "<img src=x onerror=alert(1)>",
	"<img/src=x/onerror=alert(1)>",
	"<a href=x onclick=alert(1)>a</a>", "<iframe src=//evil.test></iframe>", "<iframe srcdoc='&lt;script>'>",
	"<style>a{}</style>",
	"<p style='background:url(javascript:x)'>a</p>", "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>",
	"<object data=x></object>",
	"<embed src=x>", "<form action=//evil.test><input></form>", "<base href=//evil.test>",
	"<meta http-equiv=refresh content=0>", "<link rel=x href=y>",
	"<math><mi xlink:href='javascript:x'>", "<details open ontoggle=alert(1)>\n\na\n\n</details>",
	"<template><script></script></template>",
	"<video src=x onerror=alert(1)>", "<body onload=alert(1)>", "<button formaction=javascript:x>",
	"<noscript><img title=\"</noscript><img src=x onerror=1>\">",
	"<!--><script>alert(1)</script>", "<!-- a --><img src=x onerror=alert(1)>",
	"<a title='<b title=\"'onmouseover=alert(1) x=\">a", "<div\nonclick=alert(1)>",
	"<script", "<img src=x onerror=alert(1) ", "<?x ><script>?>", "<!DOCTYPE x [<script>]>", "<![CDATA[<script>]]>",
	"<xmp><script></xmp>",
	"<a href=\"x\"onclick=\"alert(1)\">a</a>", "<https://a.test/onclick=alert(1)//>",
	"<textarea><img title=\"</textarea><script>\">",
}

var htmlForms = []string{
	"%s", "a %s b", "> %s", "- %s", "# %s", "| a |\n| --- |\n| %s |", "<div>\n%s\n</div>", "$$%s$$", "$$\n%s\n$$",
	"{%% hint %%}\n%s\n{%% endhint %%}",
	"[a %s](b)", "*%s*", "\\%s", "\\\\%s", "[^1]\n\n[^1]: %s", "<div>\n\\%s", "<p>\n```\n%s\n```\n</p>",
	"[a]: b '%s'", "{%% %s %%}", "{%% hint %%}\n    %s",
	"<details>\n<summary>%s</summary>\n\nb\n\n</details>", "`a` %s `b`", "$$`$$ %s $$`$$",
	"a\n{%% code %%}\n    %s\n{%% endcode %%}",
}

func badTexts() []string {
	var texts []string
	for _, form := range linkForms {
		for _, link := range badLinks {
			texts = append(texts, fmt.Sprintf(form, link))
		}
	}
	for _, form := range htmlForms {
		for _, html := range activeHTML {
			texts = append(texts, fmt.Sprintf(form, html))
		}
	}
	for _, tag := range []string{"embed url=", "content-ref url=", "swagger src=", "file src="} {
		for _, link := range badLinks[:8] {
			texts = append(texts, "{% "+tag+`"`+link+`" %}`, "a {% "+tag+`'`+link+`' %} b`)
		}
	}
	return texts
}

// careless renders Markdown as a client without any checks does.
var careless = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

// danger returns a dangerous part of Markdown. It renders the Markdown without any checks, and looks for parts that a
// browser would execute or follow.
func danger(t testing.TB, markdown string) string {
	t.Helper()
	var page bytes.Buffer
	if err := careless.Convert([]byte(markdown), &page); err != nil {
		t.Fatal(err)
	}
	root, err := xhtml.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != xhtml.ElementNode ||
			slices.Contains([]string{"html", "head", "body", "input", "section"}, n.Data) && len(n.Attr) == 0 {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"),
				a.Key == "srcdoc",
				a.Key == "formaction",
				a.Key == "style" && !strings.HasPrefix(a.Val, "text-align"):
				return n.Data + " " + a.Key
			case (a.Key == "href" || a.Key == "src") && leadsElsewhere(a.Val),
				a.Key == "srcset" && slices.ContainsFunc(strings.Fields(a.Val), leadsElsewhere):
				return n.Data + " " + a.Key + "=" + a.Val
			}
		}
		if slices.Contains([]string{"script", "style", "iframe", "svg", "math", "object", "embed", "form", "base",
			"meta", "link", "template", "video",
			"button", "noscript", "xmp", "textarea"}, n.Data) {
			return n.Data
		}
	}
	return ""
}

// browserScheme matches a scheme as browsers read it (RFC 3986 §3.1). "%7f:" is a relative address.
var browserScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// hostOnly matches an address that has a host and no scheme. Browsers add the scheme of the page.
var hostOnly = regexp.MustCompile(`^[\x00-\x20]*[/\\][\t\n\r]*[/\\]`)

// leadsElsewhere reports whether a browser would follow an address with a scheme that is not allowed. It also reports
// whether the address leads to another host with the scheme of the page.
func leadsElsewhere(address string) bool {
	scheme := schema.LinkScheme(address)
	return hostOnly.MatchString(address) ||
		!schema.LinkAllowed(address) && scheme != "ref" && browserScheme.MatchString(scheme)
}

// TestSafe puts every bad input into every form, and renders the result as careless clients do. After Safe, nothing
// must be dangerous. Some inputs must be dangerous before Safe, so that the test can fail.
func TestSafe(t *testing.T) {
	t.Parallel()
	dangerous := 0
	for _, text := range badTexts() {
		if danger(t, text) != "" {
			dangerous++
		}
		safe := Safe(text)
		if found := danger(t, safe); found != "" {
			t.Errorf("%q has %s: %q", text, found, safe)
		}
		if again := Safe(safe); again != safe {
			t.Errorf("%q is not stable: %q, then %q", text, safe, again)
		}
		if d, err := Read(safe); err != nil {
			t.Error(err)
		} else if found := danger(t, Safe(Write(d))); found != "" {
			t.Errorf("%q has %s when it is written again", text, found)
		}
	}
	if dangerous < 500 {
		t.Errorf("only %d texts are dangerous as they are written", dangerous)
	}
}

// TestSafeKeeps uses texts whose bytes Safe must not change.
func TestSafeKeeps(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "a < b > c", "1 <2", "[a](b.md) ![c](/d.png) <https://e.example/?a=b&c> <f@g.example>",
		"[a](<b c.md>)", "`<script>` and ``[a](javascript:x)``",
		"```html\n<script>alert(1)</script>\n[a](javascript:x)\n```", "    <script>\n",
		"[a]: https://b.example 'c'\n\n[a]", "[a](mailto:b@c.example) [d](tel:+49)",
		"[home](ref:page/x)", "<a href=\"ref:page/x\" data-mention>y</a>",
		"<details>\n\n<summary>A</summary>\n\nb\n\n</details>", "<!-- note: a -->", "//a [b](c//d) ![e](/f//g)",
		"<figure><img src=\"a.png\" alt=\"b\"><figcaption><p>c</p></figcaption></figure>",
		"{% hint style=\"info\" %}\nNote: a\n{% endhint %}",
		"{% embed url=\"https://a.example\" %}",
		"<table data-view=\"cards\"><thead><tr><th align=\"center\">a</th></tr></thead></table>",
		"H<sub>2</sub>O<br>",
	} {
		if safe := Safe(text); safe != text {
			t.Errorf("%q became %q", text, safe)
		}
	}
}

// TestSafeCompletes checks addresses with a host and no scheme. They get a scheme in every place of a text.
func TestSafeCompletes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[b](//c.example)":                  "[b](https://c.example)",
		"![b](<//c.example/d> \"e\") `//f`": "![b](<https://c.example/d> \"e\") `//f`",
		"[b]\n\n[b]: //c.example/d":         "[b]\n\n[b]: https://c.example/d",
		"<img src=\"//c.example/d.png\">":   "<img src=\"https://c.example/d.png\">",
		"<a href=//c.example>b</a>":         "<a href=https://c.example>b</a>",
		"{% embed url=\"//c.example\" %}":   "{% embed url=\"https://c.example\" %}",
		"[b](/\\c.example)":                 "[b](#)",
		"[b](///c.example)":                 "[b](#)",
		"<a href='/\\c.example'>b</a>":      "&lt;a href='/\\c.example'>b</a>",
	} {
		if safe := Safe(text); safe != want {
			t.Errorf("%q became %q, want %q", text, safe, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	// parsers do not agree on these destinations
	for _, text := range []string{
		"[](<00:000<0> '')", "[](\x7f:)", "[x](< javascript:alert(1)<0>)", "> [x]:\n> <00:0<0>\n>\n> [x]",
	} {
		f.Add(text)
	}
	for i, text := range badTexts() {
		if i%7 == 0 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		if found := danger(t, Safe(text)); found != "" {
			t.Errorf("%q has %s: %q", text, found, Safe(text))
		}
	})
}
