package book_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/schema/content/pdf"
)

var errLarge = large{}

type large struct{}

func (large) Error() string  { return "too large" }
func (large) TooLarge() bool { return true }

// weak is a renderer that refuses sources with more than `most` bytes of text.
type weak struct {
	counting
	most int
}

func (w *weak) Render(
	ctx context.Context, input func(send func(name string, content []byte) error) error, out io.Writer,
) error {
	size := 0
	err := input(func(name string, content []byte) error {
		if strings.HasPrefix(name, "pages/") {
			size += len(content)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if size > w.most {
		return errLarge
	}
	return w.counting.Render(ctx, input, out)
}

// huge returns pages, and one page is too large for a single part.
func huge() []page {
	var text strings.Builder
	for i := range 20 {
		own, other := string(rune('a'+i)), string(rune('a'+(i+7)%20))
		text.WriteString("## Section <a href=\"#s" + own + "\" id=\"s" + own + "\"></a>\n\n" +
			strings.Repeat("Some words that fill a line. ", 60) + "\n\n[on](ref:anchor/s" + other +
			"?page=p1) [start](ref:page/p0) A note[^1].\n\n[^1]: To [the end](ref:page/p2).\n\n")
	}
	return []page{
		{"Start", 0, "[Into](ref:anchor/sk?page=p1) it."},
		{"Huge", 0, text.String()},
		{"End", 1, "[Back](ref:page/p1)"},
	}
}

// below returns one page of the first level, and pages below this page.
func below() []page {
	pages := []page{{"Top", 0, "The top."}}
	for range 12 {
		text := strings.Repeat("Words of a page below. ", 40) + "[up](ref:page/p0)"
		pages = append(pages, page{"Below", 1 + len(pages)%3, text})
	}
	return pages
}

// TestHalves: a part that is too large for the renderer is halved, if necessary inside a page. The book then has the
// same words, bookmarks and links as a book that is rendered as a whole, and more sheets. With -short, it tests only
// the small books.
func TestHalves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pages []page
		most  int
	}{
		"huge": {huge(), 30_000}, "below": {below(), 4_000}, "one page": {huge()[1:2], 30_000},
		"groups": {groups(), 3_200}, "reusing": {reusing(), 2_000},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "below" && name != "one page" {
				t.Skip("runs only in the long form: CI runs make test-long")
			}
			t.Parallel()
			s := sourceOf(t, bookTitle, c.pages)
			whole := factsOf(t, write(t, book.Config{Renderer: renderer}, s))
			halving := &weak{counting: counting{Renderer: renderer}, most: c.most}
			parts := factsOf(t, write(t, book.Config{Renderer: halving}, s))
			if halving.parts < 2 || len(parts.texts) <= len(whole.texts) {
				t.Errorf("%d parts were made, of %d sheets", halving.parts, len(parts.texts))
			}
			if want, got := plain(whole), plain(parts); !maps.Equal(want, got) {
				t.Errorf("the words differ:\n%s", cmp.Diff(want, got))
			}
			if want, got := titles(whole), titles(parts); !slices.Equal(want, got) {
				t.Errorf("the bookmarks differ:\n%s", cmp.Diff(want, got))
			}
			if len(whole.links) != len(parts.links) || len(parts.labels) != len(parts.texts) {
				t.Errorf("%d links, want %d; %d labels, want %d", len(parts.links), len(whole.links), len(parts.labels),
					len(parts.texts))
			}
		})
	}
}

// bookTitle is the title of the book. The foot of each sheet has this title and the number of the sheet.
const bookTitle = "Zeitung"

var footer = regexp.MustCompile(`^([0-9]+|\.|` + bookTitle + `)$`)

// plain counts each word of a PDF. It leaves out numbers, the dots before page numbers in the table of contents, and
// the footers of sheets. It does not compare the order of words: the place of a note depends on where a sheet ends.
func plain(f facts) map[string]int {
	words := map[string]int{}
	for word := range strings.FieldsSeq(strings.ReplaceAll(strings.Join(f.texts, " "), "\u2060", " ")) {
		if !footer.MatchString(word) {
			words[word]++
		}
	}
	return words
}

func titles(f facts) []string {
	made := make([]string, len(f.outline))
	for i, line := range f.outline {
		made[i], _, _ = strings.Cut(line, ": ")
	}
	return made
}

// TestNoHalves: the renderer refuses a source that cannot be divided, or fails after it has written a byte. Writing the
// book then fails with the renderer's error.
func TestNoHalves(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	one := sourceOf(t, "Title", []page{{"One", 0, strings.Repeat("word ", 100)}})
	for name, s := range map[string]pdf.Source{"one block": one, "nothing": {Title: "Title"}} {
		err := (book.Config{Renderer: refusing{}}).Write(t.Context(), s, &out)
		if !errors.Is(err, errLarge) || out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, out.Len())
		}
	}
	two := sourceOf(t, "Title", english())
	begun := refusing{begins: true}
	err := (book.Config{Renderer: begun}).Write(t.Context(), two, &out)
	if !errors.Is(err, errLarge) || out.Len() != 1 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

// refusing is a renderer that refuses every source. If begins is true, it writes a byte first.
type refusing struct{ begins bool }

func (r refusing) Render(
	_ context.Context, _ func(send func(name string, content []byte) error) error, out io.Writer,
) error {
	if r.begins {
		_, _ = out.Write([]byte("%"))
	}
	return errLarge
}
