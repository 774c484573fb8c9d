package markdown

import (
	"strings"
	"testing"
)

// keptBlocks has blocks that a document stores as source. The document shows the text of each block. This text contains
// WORD once.
var keptBlocks = []string{
	"<aside class=\"warning\" role=\"note\">\n<p class=\"note-title\"> A WORD here</p>\n",
	"<div class=\"a\">\nSome WORD here.\n</div>", "<div>\n  <div class=\"WORDS\">Some WORD</div>\n  <b>bold</b>\n</div>",
	"<section>\n<b>WORD</b> &amp; <i>more</i> of &lt;it&gt;\n</section>", "<center>A &copy; WORD &nbsp; b</center>",
	"<div><a href=\"https://a.example/WORD_\">the WORD of it</a></div>",
	"<dl>\n<dt>One</dt>\n<dd>the WORD of one</dd>\n<dt>Two</dt>\n<dd>that</dd>\n</dl>",
	"<div align=left>\n<span data-x='1'>汉字 WORD 汉字</span>\n</div>",
	"<header>\n<h2>A</h2>\n<!-- why -->\n<p>B WORD</p>\n</header>",
	"{% hint style=\"info\" %}\n| a | b |\n|---|:--|\n| 1 | WORD |\n{% endhint %}",
}

// TestEditOfKeptText edits a word in the visible text of a block that is stored as source. In the source, only this
// word must change.
func TestEditOfKeptText(t *testing.T) {
	t.Parallel()
	for _, block := range keptBlocks {
		for _, original := range []string{block + "\n", "# Touching\n\n" + block + "\n\n* x\n* y\n"} {
			for from, to := range map[string]string{
				"WORD": "words <more> & \"all\"", " WORD": "", "WORD ": "new WORD ",
			} {
				edited := read(t, original)
				if !inLeaf(edited.Nodes, from, func(text string) string { return strings.Replace(text, from, to, 1) }) {
					continue
				}
				shown := strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(to)
				if !strings.HasPrefix(block, "<") {
					shown = strings.Replace(to, "<", `\<`, 1)
				}
				at := strings.LastIndex(original, from)
				want := original[:at] + shown + original[at+len(from):]
				if got := Edit(original, edited); got != want {
					t.Errorf("%q to %q\ngot  %q\nwant %q", from, to, got, want)
				}
			}
		}
	}
}
