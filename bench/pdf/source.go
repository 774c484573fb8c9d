package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/gitlayout"
	"github.com/octavo-docs/octavo/store/content/markdown"
	"github.com/octavo-docs/octavo/store/content/pdf"
	"github.com/octavo-docs/octavo/store/content/tree"
)

// generated is a space whose pages have about a sheet each. Those of the kind dense have code, a table and an image of their own.
func generated(pages int, kind, parts string) pdf.Source {
	s := pdf.Source{
		Title: "Generated pages", Date: "2026-11-23",
		Document: func(i int) (schema.Document, error) {
			text := plain(i)
			if kind == "dense" {
				text = dense(i, parts)
			}
			return markdown.Read(text)
		},
		PageTitle: func(string) (string, bool) { return "", false },
		FileName:  func(id string) (string, bool) { return id, true },
		Image:     drawn,
	}
	for i := range pages {
		level := 1
		if i%20 == 0 {
			level = 0
		}
		s.Pages = append(s.Pages, pdf.Page{ID: "p" + strconv.Itoa(i), Title: "Page " + strconv.Itoa(i) + " " + words(seeded(i), 3), Level: level})
	}
	return s
}

func seeded(i int) *rand.Rand { return rand.New(rand.NewPCG(7, uint64(i))) }

var syllables = []string{"ba", "con", "de", "fi", "gra", "ho", "in", "ka", "lo", "mer", "na", "or", "per", "qui", "ra", "sta", "ter", "un", "ver", "zo"}

func words(random *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		for range 1 + random.IntN(3) {
			list[i] += syllables[random.IntN(len(syllables))]
		}
	}
	return strings.Join(list, " ")
}

// plain is about 400 words under five headings.
func plain(i int) string {
	random := seeded(i)
	var b strings.Builder
	for range 5 {
		fmt.Fprintf(&b, "## %s\n\n%s, **%s**. [%s](https://example.com/%d)\n\n", words(random, 3), words(random, 75), words(random, 3), words(random, 2), i)
	}
	return b.String()
}

// dense has 24 lines of code, a table of 12 rows and 5 columns, an image, a hint, a list, and a link to another page; or those of
// them that parts names by their first letters.
func dense(i int, parts string) string {
	random := seeded(i)
	var all strings.Builder
	fmt.Fprintf(&all, "## %s\n\n%s, see [%s](ref:page/p%d).\n\n", words(random, 3), words(random, 20), words(random, 2), (i*7+1)%1000)
	for _, part := range parts {
		var b strings.Builder
		switch part {
		case 'c':
			b.WriteString("```go\n")
			for line := range 8 {
				fmt.Fprintf(&b, "func %s%d(%s string, n int) error { // %s\n\treturn fmt.Errorf(\"%s %%d\", n*%d)\n}\n",
					words(random, 1), line, words(random, 1), words(random, 3), words(random, 2), line)
			}
			b.WriteString("```")
		case 't':
			b.WriteString("| Name | Method | Type | Default | Meaning |\n| --- | --- | --- | ---: | --- |\n")
			for row := range 12 {
				fmt.Fprintf(&b, "| `%s` | **%s** | %s | %d | %s |\n", words(random, 1), words(random, 1), words(random, 1), row*i, words(random, 5))
			}
		case 'i':
			fmt.Fprintf(&b, "![%s](ref:file/image%d)", words(random, 2), i)
		case 'h':
			fmt.Fprintf(&b, "{%% hint style=\"info\" %%}\n%s\n{%% endhint %%}", words(random, 10))
		case 'l':
			for range 3 {
				fmt.Fprintf(&b, "- %s `%s`\n", words(random, 6), words(random, 1))
			}
		}
		all.WriteString(b.String() + "\n\n")
	}
	return all.String()
}

// drawn is an image of 640 × 200 pixels: a photograph's noise as JPEG, or a diagram's areas as PNG.
func drawn(id string) ([]byte, error) {
	i, err := strconv.Atoi(strings.TrimPrefix(id, "image"))
	if err != nil {
		return nil, err
	}
	random := seeded(i)
	to := image.NewRGBA(image.Rect(0, 0, 640, 200))
	for x := range 640 {
		for y := range 200 {
			shade := uint8(x/40*16 ^ y/25*32)
			if i%2 == 0 {
				shade += uint8(random.IntN(24))
			}
			to.SetRGBA(x, y, color.RGBA{shade, shade / 2, uint8(i), 255})
		}
	}
	var out bytes.Buffer
	if i%2 == 0 {
		err = jpeg.Encode(&out, to, nil)
	} else {
		err = png.Encode(&out, to)
	}
	return out.Bytes(), err
}

// repository is a folder's files as an import of them would make pages.
func repository(folder string) (pdf.Source, error) {
	files := os.DirFS(folder)
	r := gitlayout.Repository{Read: func(path string) ([]byte, error) { return fs.ReadFile(files, path) }}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum := sha256.Sum256([]byte(path))
		r.Files = append(r.Files, gitlayout.File{Path: filepath.ToSlash(path), Blob: hex.EncodeToString(sum[:20])})
		return nil
	})
	if err != nil {
		return pdf.Source{}, err
	}
	layout, err := gitlayout.Open(r, "")
	if err != nil {
		return pdf.Source{}, err
	}
	documents := map[string]schema.Document{}
	number := 0
	next := func() string { number++; return strconv.Itoa(number) }
	made, err := layout.Import(gitlayout.Base{}, gitlayout.Tools{
		Now: time.Now(), NewID: next,
		Load: func(hash string) (schema.Document, error) { return documents[hash], nil },
		Keep: func(d schema.Document) (string, error) { hash := next(); documents[hash] = d; return hash, nil },
	})
	if err != nil {
		return pdf.Source{}, err
	}
	paths := map[string]string{}
	for _, asset := range made.Assets {
		paths[asset.ID] = asset.Path
	}
	var texts []string
	s := pdf.Source{
		Title: filepath.Base(folder), Date: "2026-11-23",
		Document:  func(i int) (schema.Document, error) { return documents[texts[i]], nil },
		PageTitle: func(string) (string, bool) { return "", false },
		FileName:  func(id string) (string, bool) { path, ok := paths[id]; return filepath.Base(path), ok },
		Image: func(id string) ([]byte, error) {
			if paths[id] == "" {
				return nil, nil
			}
			return r.Read(paths[id])
		},
	}
	tree.Walk(tree.Nest(made.Pages, ""), func(p tree.Placed) bool {
		if p.Kind != tree.KindLink {
			level := strings.Count(p.Path, "/")
			s.Pages = append(s.Pages, pdf.Page{ID: p.ID, Title: p.Title, Emoji: p.Emoji, Description: p.Description, Level: level})
			texts = append(texts, p.Document)
		}
		return true
	})
	return s, nil
}
