package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf16"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/contenttest"
	"github.com/octavo-docs/octavo/store/content/markdown"
)

func sequence(pages []Page) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for _, page := range pages {
			if !yield(page, nil) {
				return
			}
		}
	}
}

// TestPDFStops cancels the context between pages and within a page. Nothing is written then.
func TestPDFStops(t *testing.T) {
	t.Parallel()
	long := Page{Title: "Long", Document: schema.NewDocument(schema.Block("paragraph", schema.Text(strings.Repeat("a b ", 500_000))))}
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	var out bytes.Buffer
	err := Write(ctx, &out, "Stopped", func(yield func(Page, error) bool) {
		for yield(long, nil) {
			asked++
			cancel()
			long.Title = "Next"
		}
	})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 || asked != 1 {
		t.Errorf("%v after %d pages, %d bytes", err, asked, out.Len())
	}
	p := &pdfWriter{ctx: ctx}
	p.pieces("more", func(string) { t.Error("a piece was written after the end") })
}

func read(t *testing.T, text string) schema.Document {
	t.Helper()
	d, err := markdown.Read(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

func makePDF(tb testing.TB, title string, pages ...Page) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := Write(tb.Context(), &out, title, sequence(pages)); err != nil {
		tb.Fatal(err)
	}
	if !bytes.HasPrefix(out.Bytes(), []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(out.Bytes()), []byte("%%EOF")) {
		tb.Fatalf("not a PDF: %.20q", out.Bytes())
	}
	return out.Bytes()
}

var (
	pdfStream = regexp.MustCompile(`(?s)stream\n(.*?)\nendstream`)
	pdfString = regexp.MustCompile(`(?s)\(((?:\\.|[^\\()])*)\) ?T[jJ]`)
	pdfEscape = regexp.MustCompile(`(?s)\\(.)`)
)

// pdfText inflates the streams and returns the shown strings, in order. They are UTF-16 here.
func pdfText(t *testing.T, file []byte) string {
	t.Helper()
	var text strings.Builder
	for _, stream := range pdfStream.FindAllSubmatch(file, -1) {
		inflater, err := zlib.NewReader(bytes.NewReader(stream[1]))
		if err != nil {
			continue // A font, or its character map.
		}
		data, err := io.ReadAll(inflater)
		if err != nil || !bytes.Contains(data, []byte(" Tf ")) {
			continue
		}
		for _, match := range pdfString.FindAllSubmatch(data, -1) {
			raw := pdfEscape.ReplaceAllFunc(match[1], func(b []byte) []byte {
				if b[1] == 'r' {
					return []byte{'\r'}
				}
				return b[1:]
			})
			text.WriteString(fromUTF16(raw) + "\n")
		}
	}
	return text.String()
}

func fromUTF16(raw []byte) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	return string(utf16.Decode(units))
}

func TestPDF(t *testing.T) {
	t.Parallel()
	markdown := "## Überschrift\n\nSome **bold** Ελληνικά Кириллица 漢字 [link](https://a.example).\n\n3. three\n4. four\n\n- [x] done\n\n> quoted\n\n" +
		"```go\nfunc main() {}\n```\n\n| A | B |\n|---|---|\n| c | d |\n\n---\n\nend"
	pages := []Page{
		{Title: "First", Document: read(t, markdown)}, {Title: "Deep", Level: 7, Document: contenttest.EveryKind(t)},
		{Title: "Second", Document: read(t, "two")},
	}
	file := makePDF(t, "The guide", pages...)
	text := pdfText(t, file)
	for _, want := range []string{
		"The guide", "First", "Überschrift", "bold", "Ελληνικά", "Кириллица", "??", "https://a.example", "3.", "four", "[x]", "quoted",
		"func main() {}", "A  |  B", "c  |  d", "end", "Deep", "Second", "GET /p", "noted",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	for number := 1; number <= 3; number++ {
		if !strings.Contains(text, fmt.Sprintf("\n%d\n", number)) {
			t.Errorf("no page number %d", number)
		}
	}
	if got := bytes.Count(file, []byte("/Dest [")); got != len(pages) {
		t.Errorf("%d bookmarks for %d pages", got, len(pages))
	}
	// Run it at another time. The clock of a synctest bubble starts in the year 2000.
	synctest.Test(t, func(t *testing.T) {
		if !bytes.Equal(file, makePDF(t, "The guide", pages...)) {
			t.Error("the same pages give other bytes")
		}
	})
}

func TestPDFOfNothing(t *testing.T) {
	t.Parallel()
	if text := pdfText(t, makePDF(t, "")); !strings.Contains(text, "1") {
		t.Errorf("text %q", text)
	}
	makePDF(t, "\x00\xff", Page{Level: -3}, Page{Level: 9, Title: "a\x01\U0001F600"})
}

// TestPDFIsBounded writes more than fits, in many blocks and in a single one.
func TestPDFIsBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("a\n", 130_000)
	file := makePDF(t, "Huge", Page{Title: "One", Document: schema.NewDocument(schema.Block("paragraph", schema.Text(huge)))},
		Page{Title: "Two", Document: read(t, "never reached")})
	if sheets := bytes.Count(file, []byte("/Type /Page\n")); sheets < maxPDFSheets || sheets > maxPDFSheets+20 {
		t.Errorf("%d sheets", sheets)
	}
	text := pdfText(t, file)
	if !strings.Contains(text, "The rest is left out") || strings.Contains(text, "never reached") {
		t.Error("the end does not say that something is left out")
	}
}

// TestPDFOfMarkdown renders each of the Markdown reader's cases. The writer gets documents, which FuzzMarkdown makes; a
// fuzzer of its own would spend its time on fonts.
func TestPDFOfMarkdown(t *testing.T) {
	t.Parallel()
	for i, c := range contenttest.Markdown {
		makePDF(t, c.In, Page{Title: c.In, Level: i % 5, Document: read(t, c.In)})
	}
}

func BenchmarkPDF(b *testing.B) {
	pages := []Page{{Title: "Page", Document: contenttest.EveryKind(b)}}
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(b.Context(), io.Discard, "Title", sequence(pages)); err != nil {
			b.Fatal(err)
		}
	}
}
