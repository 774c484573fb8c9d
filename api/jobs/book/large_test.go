package book_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/pdf"
)

// TestLargeBook renders a book of several parts. It checks that this process and the renderer together use at most 2
// GiB of memory. If OCTAVO_TEST_BOOK names a file, the test writes a book of more than 1,200 dense sheets to this file.
// This takes a quarter of an hour: see make bench-book.
func TestLargeBook(t *testing.T) { // It is not parallel, because it measures this process.
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	pages, sheets := 260, 300
	file, err := os.CreateTemp(t.TempDir(), "book")
	if err != nil {
		t.Fatal(err)
	}
	if keep := os.Getenv("OCTAVO_TEST_BOOK"); keep != "" {
		pages, sheets = 1100, 1200
		if file, err = os.Create(keep); err != nil {
			t.Fatal(err)
		}
	}
	before, began := own(t), time.Now()
	counted := &counting{Renderer: renderer}
	c := book.Config{Renderer: counted, Memory: 1 << 30}
	if err := c.Write(t.Context(), dense(pages), file); err != nil {
		t.Fatal(err)
	}
	took, after := time.Since(began), own(t)
	var children unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &children); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	child := children.Maxrss << 10
	f := factsOf(t, text)
	t.Logf("%d sheets of %d pages in %s, %d MB; %d parts; peaks: renderer %d MiB, this process %d MiB, before %d MiB",
		len(f.texts), pages, took.Round(time.Second), len(text)>>20, counted.parts, child>>20, after>>20, before>>20)
	if counted.parts < 2 || len(f.texts) < sheets || len(f.outline) == 0 || len(f.labels) != len(f.texts) {
		t.Errorf("%d parts, %d sheets, %d labels, %d bookmarks",
			counted.parts, len(f.texts), len(f.labels), len(f.outline))
	}
	if child+after > 2<<30 {
		t.Errorf("%d MiB and %d MiB were needed", child>>20, after>>20)
	}
	bookmarks := map[string]bool{}
	for _, line := range f.outline {
		_, place, _ := strings.Cut(line, ": ")
		sheet, _, _ := strings.Cut(place, " ")
		bookmarks[sheet] = true
		title, _, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if n, err := strconv.Atoi(sheet); err != nil || !strings.Contains(solid(f.texts[n-1]), solid(title)) {
			t.Errorf("%s is not on its sheet", line)
		}
	}
	for _, link := range f.links {
		_, to, _ := strings.Cut(link, ": ")
		if sheet, _, _ := strings.Cut(to, " "); !bookmarks[sheet] {
			t.Errorf("the link %s leads to no page", link)
		}
	}
	for i, text := range f.texts[1:] {
		if number := strconv.Itoa(i + 2); !strings.Contains(text, number) {
			t.Errorf("sheet %s has no number", number)
		}
	}
}

// own returns the largest amount of memory that this process has used so far, in bytes.
func own(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

func solid(text string) string { return strings.Join(strings.Fields(text), "") }

// dense returns a book in which each page has code, a table, an image, a hint, a list and a link to another page.
func dense(pages int) pdf.Source {
	s := pdf.Source{
		Title: "Generated pages", Date: "2026-11-28",
		Document: func(i int) (schema.Document, error) { return markdown.Read(denseText(i, pages)) },
		Image:    drawn,
	}
	for i := range pages {
		title := fmt.Sprintf("Page %d %s", i, words(seeded(i), 3))
		s.Pages = append(s.Pages, pdf.Page{ID: fmt.Sprintf("p%d", i), Title: title, Level: min(i%20, 1)})
	}
	return s
}

func seeded(i int) *rand.Rand { return rand.New(rand.NewPCG(7, uint64(i))) }

func words(random *rand.Rand, n int) string {
	syllables := strings.Fields("ba con de fi gra ho in ka lo mer na or per qui ra sta ter un ver zo")
	list := make([]string, n)
	for i := range list {
		for range 1 + random.IntN(3) {
			list[i] += syllables[random.IntN(len(syllables))]
		}
	}
	return strings.Join(list, " ")
}

func denseText(i, pages int) string {
	random := seeded(i)
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s, see [%s](ref:page/p%d).\n\n", words(random, 3), words(random, 20), words(random, 2),
		(i*7+1)%pages)
	b.WriteString("```go\n")
	for line := range 8 {
		fmt.Fprintf(&b, "func %s%d(%s string, n int) error { // %s\n\treturn fmt.Errorf(\"%s %%d\", n*%d)\n}\n",
			words(random, 1), line, words(random, 1), words(random, 3), words(random, 2), line)
	}
	b.WriteString("```\n\n| Name | Method | Type | Default | Meaning |\n| --- | --- | --- | ---: | --- |\n")
	for row := range 12 {
		fmt.Fprintf(&b, "| `%s` | **%s** | %s | %d | %s |\n", words(random, 1), words(random, 1), words(random, 1),
			row*i, words(random, 5))
	}
	fmt.Fprintf(&b, "\n![%s](ref:file/image%d)\n\n", words(random, 2), i)
	fmt.Fprintf(&b, "{%% hint style=\"info\" %%}\n%s\n{%% endhint %%}\n\n", words(random, 10))
	for range 3 {
		fmt.Fprintf(&b, "- %s `%s`\n", words(random, 6), words(random, 1))
	}
	return b.String()
}

// drawn returns an image of 640 × 200 pixels.
func drawn(id string) ([]byte, error) {
	i, err := strconv.Atoi(strings.TrimPrefix(id, "image"))
	if err != nil {
		return nil, err
	}
	random := seeded(i)
	to := image.NewRGBA(image.Rect(0, 0, 640, 200))
	for x := range 640 {
		for y := range 200 {
			shade := uint8(x/40*16^y/25*32) + uint8(random.IntN(24))
			to.SetRGBA(x, y, color.RGBA{shade, shade / 2, uint8(i), 255})
		}
	}
	var out bytes.Buffer
	err = jpeg.Encode(&out, to, nil)
	return out.Bytes(), err
}
