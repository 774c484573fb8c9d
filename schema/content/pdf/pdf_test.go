package pdf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/pdf"
)

var update = flag.Bool("update", false, "write the golden files")

func read(tb testing.TB, text string) schema.Document {
	tb.Helper()
	d, err := markdown.Read(text)
	if err != nil {
		tb.Fatalf("%q: %v", text, err)
	}
	return d
}

// picture returns a small PNG image.
func picture(tb testing.TB) []byte {
	tb.Helper()
	drawn := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for x := range 40 {
		drawn.Set(x, 10, color.RGBA{R: 200, A: 255})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, drawn); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// nameOf returns the names of the targets of references: files, and a page that is not in the PDF.
func nameOf(ref map[string]any) string {
	id, _ := ref["file"].(string)
	_, elsewhere := ref["space"]
	switch {
	case ref["page"] == "gone":
		return "Elsewhere"
	case !elsewhere && strings.HasPrefix(id, "f"):
		return "name of " + id
	}
	return ""
}

// source returns a source with a page for each document: p0, p1 and so on.
func source(tb testing.TB, documents ...schema.Document) pdf.Source {
	tb.Helper()
	s := pdf.Source{
		Title: "The guide", Date: "2026-11-23",
		Document: func(i int) (schema.Document, error) {
			return markdown.Named(documents[i], nameOf, "file", "drawing", "reusable-content"), nil
		},
		Image: func(id string) ([]byte, error) {
			switch id {
			case "f1":
				return picture(tb), nil
			case "broken":
				return []byte("\x89PNG\r\n\x1a\nxx"), nil
			case "svg":
				return []byte(`<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg`), nil
			}
			return nil, nil
		},
	}
	for i := range documents {
		s.Pages = append(s.Pages, pdf.Page{ID: fmt.Sprintf("p%d", i), Title: fmt.Sprintf("Page %d", i), Level: i % 3})
	}
	return s
}

func files(tb testing.TB, s pdf.Source) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for f, err := range pdf.Files(s) {
		if err != nil {
			tb.Fatal(err)
		}
		if _, twice := all[f.Name]; twice {
			tb.Errorf("%s is sent twice", f.Name)
		}
		all[f.Name] = string(f.Content)
	}
	return all
}

// TestCases compares the renderer's input for Markdown with testdata/golden.txt. With the flag -update, it writes this
// file instead.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(string(cases), "== "), "\n== ") {
		title, text, _ := strings.Cut(part, "\n")
		made := files(t, source(t, read(t, text), read(t, "## Here <a href=\"#here\" id=\"here\"></a>")))
		var page struct {
			Blocks []json.RawMessage `json:"c"`
			Dir    string            `json:"dir"`
			Lang   string            `json:"lang"`
		}
		if err := json.Unmarshal([]byte(made["pages/0.json"]), &page); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "== %s (%s, %s)\n", title, page.Lang, page.Dir)
		for _, block := range page.Blocks {
			fmt.Fprintf(&got, "%s\n", block)
		}
	}
	const golden = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("what is written has changed; look at it, then run go test -update:\n%s", got.String())
	}
}

var ours = regexp.MustCompile(`^(main\.typ|info\.json|formulas\.json|pages/[0-9]+\.json|images/[0-9]+)$`)

// checkInput fails the test if a user's text is outside of JSON, or if a file has an unexpected name.
func checkInput(tb testing.TB, made map[string]string) {
	tb.Helper()
	layout, err := os.ReadFile("main.typ")
	if err != nil {
		tb.Fatal(err)
	}
	if made[pdf.Main] != string(layout) {
		tb.Error("the layout depends on the content")
	}
	for name, text := range made {
		if !ours.MatchString(name) {
			tb.Errorf("a file is called %q", name)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			tb.Errorf("%s is no JSON: %s", name, text)
		}
	}
}

// FuzzFiles checks that users' texts are always data and never markup. Equal pages must give equal bytes.
func FuzzFiles(f *testing.F) {
	for _, list := range [][]struct{ In, Outline, Out string }{
		contenttest.Markdown, contenttest.Dialect, contenttest.Foreign,
	} {
		for _, c := range list {
			f.Add(c.In, c.In)
		}
	}
	f.Add("\"}, #eval(\"panic()\")", "a\x00\xff\u202e</script>")
	f.Fuzz(func(t *testing.T, title, text string) {
		d, err := markdown.Read(text)
		if err != nil {
			return
		}
		s := source(t, d)
		s.Title, s.Pages[0].Title, s.Pages[0].Emoji, s.Pages[0].Description = title, title, title, title
		made := files(t, s)
		checkInput(t, made)
		var page struct {
			Title string `json:"title"`
		}
		if err := json.Unmarshal([]byte(made["pages/0.json"]), &page); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSpace(strings.Map(visible, content.Clean(title))); strings.TrimSpace(strings.Map(visible, page.Title)) != want {
			t.Errorf("the title %q became %q", title, page.Title)
		}
		again := files(t, s)
		for name := range made {
			if made[name] != again[name] {
				t.Errorf("%s differs between two runs", name)
			}
		}
	})
}

// visible removes a character that is not visible in a title of one line.
func visible(r rune) rune {
	if r <= ' ' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

func TestEveryKindIsShown(t *testing.T) {
	t.Parallel()
	checkInput(t, files(t, source(t, contenttest.EveryKind(t))))
}

func TestImagesAreBounded(t *testing.T) {
	t.Parallel()
	made := files(t, source(t, read(t, "![a](ref:file/f1)\n\n![a](ref:file/broken)\n\n![a](ref:file/none)\n\n![again](ref:file/f1)")))
	sent := 0
	for name := range made {
		if strings.HasPrefix(name, "images/") {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d images are sent", sent)
	}
}

// TestEmojisAreShown checks both forms of emojis that the API accepts: characters, and codes.
func TestEmojisAreShown(t *testing.T) {
	t.Parallel()
	s := source(t, read(t, "text"))
	s.Emoji, s.Pages[0].Emoji = "1f468-200d-1f4bb", "📖"
	made := files(t, s)
	if !strings.Contains(made["info.json"], `"emoji":"👨‍💻"`) || !strings.Contains(made["pages/0.json"], `"emoji":"📖"`) {
		t.Errorf("%s\n%s", made["info.json"], made["pages/0.json"])
	}
}

// TestImagesAreMadeSmaller checks the bound on all images together. The renderer has all decoded images in memory at
// the same time.
func TestImagesAreMadeSmaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		images int
		at     color.NRGBA
		format string
	}{
		"one": {1, color.NRGBA{R: 200, A: 255}, "jpeg"}, "many": {100, color.NRGBA{G: 200, A: 255}, "jpeg"},
		"see-through": {1, color.NRGBA{B: 200, A: 9}, "png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drawn := image.NewNRGBA(image.Rect(0, 0, 3000, 1000))
			draw.Draw(drawn, drawn.Bounds(), image.NewUniform(c.at), image.Point{}, draw.Src)
			var large bytes.Buffer
			if err := png.Encode(&large, drawn); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for i := range c.images {
				fmt.Fprintf(&text, "![a](ref:file/f%d)\n\n", i)
			}
			s := source(t, read(t, text.String()))
			s.Image = func(string) ([]byte, error) { return large.Bytes(), nil }
			pixels, sent := 0, 0
			for name, content := range files(t, s) {
				if !strings.HasPrefix(name, "images/") {
					continue
				}
				config, format, err := image.DecodeConfig(strings.NewReader(content))
				if err != nil || format != c.format || config.Width/config.Height != 3 {
					t.Fatalf("%s is a %s of %d × %d, %v", name, format, config.Width, config.Height, err)
				}
				pixels, sent = pixels+config.Width*config.Height, sent+1
			}
			if most := min(c.images*3<<19, 32<<20); sent != c.images || pixels > most || pixels < most*9/10 {
				t.Errorf("%d images of %d pixels, at most %d", sent, pixels, most)
			}
		})
	}
}

func TestFilesStop(t *testing.T) {
	t.Parallel()
	s := source(t, read(t, "one"), read(t, "two"))
	n := 0
	for _, err := range pdf.Files(s) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d files", n)
	}
	failed := errors.New("no document")
	s.Document = func(int) (schema.Document, error) { return schema.Document{}, failed }
	for _, err := range pdf.Files(s) {
		if !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
	}
}

// TestDeepBlocks nests blocks more deeply than the renderer allows. It checks that all text is shown.
func TestDeepBlocks(t *testing.T) {
	t.Parallel()
	deepest := schema.Block("blockquote", schema.Block("paragraph", schema.Text("the deepest words")))
	for range 60 {
		deepest = schema.Block("blockquote", deepest)
	}
	made := files(t, source(t, schema.NewDocument(deepest)))["pages/0.json"]
	if !strings.Contains(made, "the deepest words") || strings.Count(made, `"quote"`) > 20 {
		t.Error(made)
	}
}

// TestLinksOfHosts checks that a link in a PDF has an allowed scheme, or no target.
func TestLinksOfHosts(t *testing.T) {
	t.Parallel()
	for link, to := range map[string]string{
		"https://a.example": "https://a.example", "//a.example/b": "https://a.example/b", `/\a.example`: "",
		`\\a.example`:               "",
		"javascript&colon;alert(1)": "", "javascript:alert(1)": "", "/\t/a.example": "", "a.md": "",
	} {
		ref := map[string]any{"kind": "url", "url": link}
		for _, n := range []schema.Node{
			schema.Block("paragraph", schema.Node{Type: "link", Data: schema.Data{"ref": ref},
				Nodes: []schema.Node{schema.Text("x")}}),
			{Type: "embed", Data: schema.Data{"url": link}}, {Type: "content-ref", Data: schema.Data{"ref": ref}},
		} {
			d := schema.NewDocument(n)
			d.Normalize()
			made := files(t, source(t, d))["pages/0.json"]
			if _, leads, _ := strings.Cut(made, `"to":"`); !strings.HasPrefix(leads, to) ||
				(to == "") != (leads == "") {
				t.Errorf("%q in %s leads to %q: %s", link, n.Type, to, made)
			}
		}
	}
}
