package pdf_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	reader "github.com/ledongthuc/pdf"

	"github.com/octavo-docs/octavo/cmd/engine/typst"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/pdf"
)

var renderer = typst.New(typst.Config{})

// render makes a PDF with the real renderer.
func render(t *testing.T, s pdf.Source) *reader.Reader {
	t.Helper()
	var out bytes.Buffer
	err := renderer.Render(t.Context(), func(send func(string, []byte) error) error {
		for f, err := range pdf.Files(s) {
			if err != nil {
				return err
			}
			if err := send(f.Name, f.Content); err != nil {
				return err
			}
		}
		return nil
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRendered checks a PDF of a page that has everything that a page may have.
func TestRendered(t *testing.T) {
	t.Parallel()
	s := source(t,
		read(t, "| Name | Value |\n| --- | ---: |\n| **alpha** | 42 |\n\n```go\nfunc main() { println(\"#code\") }\n```\n\n"+
			"[away](https://a.example/b) [there](ref:page/p1) [anchor](ref:anchor/here?page=p1)\n\n![alt](ref:file/f1)\n\n![lost](ref:file/broken)\n\n"+
			"![vector](ref:file/svg)\n\n#strong[no markup] $x$\n\n> quoted\n\n{% hint style=\"info\" %}\nhinted\n{% endhint %}"),
		read(t, "## Here <a href=\"#here\" id=\"here\"></a>\n\n日本語の文章 中文 한국어\n\nمرحبا بالعالم\n\nשלום עולם\n\nहिन्दी ไทย Ελληνικά ✓ 🚀"),
		contenttest.EveryKind(t),
	)
	s.Pages[0].Title = `A title #eval("1") *x*`
	r := render(t, s)
	var text strings.Builder
	links, pictures := map[string]int{}, 0
	for i := 1; i <= r.NumPage(); i++ {
		page := r.Page(i)
		shown, err := page.GetPlainText(nil)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(shown)
		notes := page.V.Key("Annots")
		for j := range notes.Len() {
			note := notes.Index(j)
			if uri := note.Key("A").Key("URI").RawString(); uri != "" {
				links[uri]++
			} else {
				links["within"]++
			}
		}
		pictures += len(page.Resources().Key("XObject").Keys())
	}
	got := strings.Join(strings.Fields(strings.ReplaceAll(text.String(), "\u00ad", "")), "")
	for _, want := range []string{
		"Theguide", "Contents", `Atitle#eval("1")*x*`, "alpha", "42", "funcmain()", `"#code"`, "#strong[nomarkup]$x$", "quoted", "hinted",
		"日本語の文章", "中文", "한국어", "Ελληνικά", "✓", "🚀", "[lost]", "[vector]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text has no %q", want)
		}
	}
	// The PDF library returns the glyphs of right-to-left scripts in the order in which they are on the sheet, from
	// left to right.
	for _, want := range []string{"שלום", "עולם"} {
		if !strings.Contains(got, want) && !strings.Contains(got, reversed(want)) {
			t.Errorf("the text has no %q", want)
		}
	}
	if links["https://a.example/b"] == 0 || links["within"] < 4 {
		t.Errorf("links: %v", links)
	}
	if pictures == 0 {
		t.Error("there is no image")
	}
	if r.Outline().Child == nil {
		t.Error("there are no bookmarks")
	}
	if t.Failed() {
		t.Log(text.String(), utf8.ValidString(text.String()))
	}
}

func reversed(s string) string {
	runes := []rune(s)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}

// TestRenderedDialect renders every construct that the Markdown reader knows, in one document.
func TestRenderedDialect(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, list := range [][]struct{ In, Outline, Out string }{
		contenttest.Markdown, contenttest.Dialect, contenttest.Foreign,
	} {
		for _, c := range list {
			all.WriteString(c.In + "\n\n")
		}
	}
	if r := render(t, source(t, read(t, all.String()))); r.NumPage() < 3 {
		t.Errorf("%d sheets", r.NumPage())
	}
}

// TestRenderedFormulas checks that formulas are laid out. If the renderer cannot lay out a formula, the PDF shows its
// TeX source.
func TestRenderedFormulas(t *testing.T) {
	t.Parallel()
	r := render(t, source(t, read(t, "in $$\\sqrt{a}$$ line, $$\\unknown{b}$$\n\n$$\n\\frac{c}{d}\n$$\n\n$$\n\\nothing{e}\n$$\n\n$$\\text{\"#panic()\"}$$\n")))
	var text strings.Builder
	for i := 1; i <= r.NumPage(); i++ {
		shown, err := r.Page(i).GetPlainText(nil)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(shown)
	}
	got := strings.Join(strings.Fields(text.String()), "")
	for want, there := range map[string]bool{`\unknown{b}`: true, `\nothing{e}`: true, "√": true, `\frac`: false, `\sqrt`: false, "”#panic()”": true} {
		if strings.Contains(got, want) != there {
			t.Errorf("%s: %v, want %v: %s", want, !there, there, got)
		}
	}
}
