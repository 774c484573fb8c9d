package book_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/cmd/engine/typst"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/pdf"
)

var renderer = typst.New(typst.Config{})

// page is a page of a book, with its text in Markdown.
type page struct {
	title string
	level int
	text  string
}

func sourceOf(t *testing.T, title string, pages []page) pdf.Source {
	t.Helper()
	s := pdf.Source{Title: title, Date: "2026-11-28"}
	documents := make([]schema.Document, len(pages))
	for i, p := range pages {
		s.Pages = append(s.Pages, pdf.Page{ID: fmt.Sprintf("p%d", i), Title: p.title, Level: p.level})
		var err error
		if documents[i], err = markdown.Read(p.text); err != nil {
			t.Fatal(err)
		}
		if p.text == everyKind {
			documents[i] = contenttest.EveryKind(t)
		}
		documents[i] = expanded(documents[i])
	}
	s.Document = func(i int) (schema.Document, error) { return documents[i], nil }
	s.Image = func(string) ([]byte, error) { return nil, nil }
	return s
}

// everyKind is the text that stands for a document with all kinds of blocks.
const everyKind = "every kind"

// tiny is a memory limit that every part exceeds, so that each unit becomes a part.
const tiny = 1

func write(t *testing.T, c book.Config, s pdf.Source) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := c.Write(t.Context(), s, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// english returns pages of several levels, with notes, tables, long texts, and links to earlier and later pages.
func english() []page {
	long := strings.Repeat("Some words that fill a line of a sheet, and then the next one. ", 120)
	pages := []page{
		{"Start (here)", 0, "See [the end](ref:page/p7), [this](ref:anchor/own?page=p0) and [far](ref:anchor/far?page=p5)." +
			" A note[^1].\n\n[^1]: The *first* note, to [the end](ref:page/p7).\n\n## Own <a href=\"#own\" id=\"own\"></a>\n"},
		{"Guide", 0, ""},
		{"Below the guide", 1, long + "\n\n[back](ref:page/p0) [none](ref:anchor/none?page=p7) [away](https://a.example)"},
		{"Deep", 5, "| a | b |\n| - | - |\n| 1 | [2](ref:page/p5) |\n\nAgain[^1].\n\n[^1]: The second note.\n"},
		{"Code", 0, "```go\nfunc main() {}\n```\n\n" + long},
		{"Far", 0, "| c | d |\n| - | - |\n| 3 | 4 |\n\n## Far <a href=\"#far\" id=\"far\"></a>\n\n" + long + long},
		{"Every kind", 0, everyKind},
		{"End", 0, "A third note[^1], $$x$$, and [the start](ref:page/p0), [own](ref:anchor/own?page=p0).\n\n[^1]: It is the last.\n"},
	}
	return pages
}

func chinese() []page {
	var pages []page
	for i := range 6 {
		links := fmt.Sprintf("[下一章](ref:page/p%d) [链接](ref:anchor/标题?page=p%d)\n", (i+1)%6, (i+3)%6)
		pages = append(pages, page{fmt.Sprintf("第%d章（简介）", i), 0,
			strings.Repeat("中文的文字没有空格，每一行都可以断开。", 150) +
				"\n\n## 标题 <a href=\"#标题\" id=\"标题\"></a>\n\n" + links})
	}
	return pages
}

func small() []page {
	var pages []page
	for i := range 60 {
		pages = append(pages, page{fmt.Sprintf("Page %d with a title of some words", i), 0,
			fmt.Sprintf("Text %d, [other](ref:page/p%d).", i, (i*7)%60)})
	}
	return pages
}

// TestPartsAreTheBook renders a book in parts and as a whole. Both PDFs must have the same sheets, labels, bookmarks
// and links. The parts begin at pages of the first level.
func TestPartsAreTheBook(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		pages  []page
		memory int64
	}{
		"english": {english(), 0}, "chinese": {chinese(), 0}, "small": {small(), 0}, "groups": {groups(), 0},
		"reusing": {reusing(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sourceOf(t, "The book", c.pages)
			memory := memoryOfParts(t, s, 3)
			whole := factsOf(t, write(t, book.Config{Renderer: renderer}, s))
			counted := &counting{Renderer: renderer}
			parts := factsOf(t, write(t, book.Config{Renderer: counted, Memory: memory}, s))
			if counted.front != 2 || counted.parts < 3 {
				t.Errorf("%d fronts and %d parts were made", counted.front, counted.parts)
			}
			for i := range max(len(whole.texts), len(parts.texts)) {
				if i >= len(whole.texts) || i >= len(parts.texts) || whole.texts[i] != parts.texts[i] {
					t.Fatalf("sheet %d differs:\n%s", i+1, cmp.Diff(whole.texts, parts.texts))
				}
			}
			for what, list := range map[string][2][]string{
				"labels": {whole.labels, parts.labels}, "bookmarks": {whole.outline, parts.outline},
				"links": {whole.links, parts.links},
			} {
				if !slices.Equal(list[0], list[1]) {
					t.Errorf("%s differ:\n%s", what, cmp.Diff(list[0], list[1]))
				}
			}
			if len(whole.links) < len(c.pages) || len(whole.outline) != len(c.pages) {
				t.Errorf("%d links and %d bookmarks", len(whole.links), len(whole.outline))
			}
		})
	}
}

// memoryOfParts finds a memory limit that splits a source into at least the given number of parts. With this limit each
// part begins at a page of the first level.
func memoryOfParts(t *testing.T, s pdf.Source, least int) int64 {
	t.Helper()
	measured, err := pdf.Measure(s)
	if err != nil {
		t.Fatal(err)
	}
	for memory := int64(2 << 30); memory > tiny; memory = memory * 99 / 100 {
		parts := measured.Parts(memory)
		inside := slices.ContainsFunc(parts, func(p pdf.Part) bool {
			return p.From.Block > 0 || s.Pages[p.From.Page].Level > 0
		})
		if inside {
			break
		}
		if len(parts) >= least {
			return memory
		}
	}
	t.Fatal("no bound gives the parts")
	return 0
}

// counting is a renderer that counts its calls.
type counting struct {
	book.Renderer
	front, parts, whole int
}

func (c *counting) Render(
	ctx context.Context, input func(send func(name string, content []byte) error) error, out io.Writer,
) error {
	return c.Renderer.Render(ctx, func(send func(name string, content []byte) error) error {
		return input(func(name string, content []byte) error {
			switch {
			case name != "info.json":
			case bytes.Contains(content, []byte(`"front":true`)):
				c.front++
			case bytes.Contains(content, []byte(`"front":false`)):
				c.parts++
			default:
				c.whole++
			}
			return send(name, content)
		})
	}, out)
}
