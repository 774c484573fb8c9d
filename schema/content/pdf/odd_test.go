package pdf_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestRenderedOdd checks that a PDF is made even if content is too wide, too tall, too deep or empty.
func TestRenderedOdd(t *testing.T) {
	t.Parallel()
	tall := image.NewGray(image.Rect(0, 0, 1, 20_000))
	var thin, wide bytes.Buffer
	if err := png.Encode(&thin, tall); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 20_000, 1))); err != nil {
		t.Fatal(err)
	}
	bomb := `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><defs><g id="a0"><rect width="1" height="1"/></g>`
	for i := range 12 {
		bomb += fmt.Sprintf(`<g id="a%d">%s</g>`, i+1, strings.Repeat(fmt.Sprintf(`<use href="#a%d"/>`, i), 10))
	}
	bomb += `</defs><use href="#a12"/></svg>`
	row := strings.Repeat("| cell ", 50) + "|\n"
	list := ""
	for i := range 40 {
		list += strings.Repeat("  ", i) + "- level\n"
	}
	for name, c := range map[string]struct {
		text  string
		image []byte
	}{
		"nothing":    {},
		"long words": {text: strings.Repeat("w", 20_000) + "\n\n# " + strings.Repeat("h", 3000) + "\n\n| a | b |\n| - | - |\n| " + strings.Repeat("c", 3000) + " | d |\n"},
		"columns":    {text: row + strings.Repeat("| - ", 50) + "|\n" + strings.Repeat(row, 3)},
		"deep":       {text: list},
		"thin":       {text: "![a](ref:file/f1)\n\ntext ![b](ref:file/f1)", image: thin.Bytes()},
		"wide":       {text: "![a](ref:file/f1)", image: wide.Bytes()},
		"huge svg":   {text: "![a](ref:file/f1)", image: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="1e30" height="1"/>`)},
		"empty svg":  {text: "![a](ref:file/f1)", image: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"/>`)},
		"svg bomb":   {text: "![a](ref:file/f1)", image: []byte(bomb)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := schema.Document{}
			if c.text != "" {
				document = read(t, c.text)
			}
			s := source(t, document)
			s.Image = func(string) ([]byte, error) { return c.image, nil }
			if n := render(t, s).NumPage(); n < 2 || n > 40 {
				t.Errorf("%d sheets", n)
			}
		})
	}
}
