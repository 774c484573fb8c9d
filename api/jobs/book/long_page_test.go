package book_test

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// TestLongPage renders a book of a single page that has the largest size, in English and in Chinese. It checks that the
// book has the page's last word, and samples of the text before this word.
func TestLongPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	const every = 10_000
	for name, c := range map[string]struct{ text, last string }{
		"words":   {contenttest.LongWords(), contenttest.Last},
		"chinese": {contenttest.LongChinese(), contenttest.LastChinese},
	} {
		t.Run(name, func(t *testing.T) {
			s := sourceOf(t, "The book", []page{{"Before", 0, "See [the page](ref:page/p1)."}, {"Long", 0, c.text}})
			f := factsOf(t, write(t, book.Config{Renderer: renderer, Memory: 1 << 30}, s))
			shown := solid(strings.Join(f.texts, ""))
			if !strings.Contains(shown, c.last) || len(f.outline) < 2 {
				t.Errorf("%d sheets, %d bookmarks, without %s", len(f.texts), len(f.outline), c.last)
			}
			pieces := 0
			for runes := []rune(c.text); len(runes) > every; runes = runes[every:] {
				pieces++
				if piece := strings.Fields(string(runes[every/2:][:12]))[0]; !strings.Contains(shown, piece) {
					t.Errorf("%q is missing", piece)
				}
			}
			if pieces < 30 {
				t.Errorf("only %d pieces were looked up", pieces)
			}
			t.Logf("%d sheets, %d pieces", len(f.texts), pieces)
		})
	}
}
