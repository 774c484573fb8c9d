package content

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

func readDocument(tb testing.TB, file string) schema.Document {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var d schema.Document
	if err := json.Unmarshal(text, &d); err != nil {
		tb.Fatal(err)
	}
	d.Normalize()
	return d
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
		{markdown, "", markdown}, {markdown, FormatMarkdown, markdown}, {markdown, FormatDocument, document},
		{document, "", markdown}, {document, FormatMarkdown, markdown}, {document, FormatDocument, document},
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

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		markdown, plain string
	}{
		{"", ""},
		{"# One **two**\n\nthree-four don't", "One two\nthree-four don't"},
		{"- a\n- b\n\n| A | B |\n|--|--|\n| c | d |", "a\nb\nA\tB\nc\td"},
		{"漢字 ok", "漢字 ok"},
		{"```\nx 1\n```", "x 1"},
		{"café — 3.5", "café — 3.5"},
	} {
		d := read(t, c.markdown)
		if got := Plain(d); got != c.plain {
			t.Errorf("%q: %q", c.markdown, got)
		}
	}
}

// TestMarkdownIsBounded reads what would nest without end.
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

func BenchmarkFromMarkdown(b *testing.B) {
	text := ToMarkdown(everyKind(b))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := FromMarkdown(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkToMarkdown(b *testing.B) {
	d := everyKind(b)
	b.SetBytes(int64(len(ToMarkdown(d))))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ToMarkdown(d)
		}
	})
}
