package pdf

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// maxPDFSheets bounds a PDF, which is built in memory. What does not fit is left out, and the last sheet says so.
const maxPDFSheets = 2000

// The sizes of a sheet, in millimetres, and of text, in points.
const (
	pdfMargin   = 20.0
	pdfTextSize = 10.5
	pdfCodeSize = 9.0
	pdfIndent   = 7.0
	pdfMaxDepth = 12 // Beyond it the indent would leave no room for text.
)

// Page is a page of a space: Level is its depth in the tree of pages, 0 at the top.
type Page struct {
	Title    string
	Level    int
	Document schema.Document
}

// pdfFonts has a row per face. The Go fonts come as a module and cover Latin, Greek and Cyrillic.
var pdfFonts = []struct {
	family, style string
	data          []byte
}{
	{"go", "", goregular.TTF}, {"go", "B", gobold.TTF}, {"go", "I", goitalic.TTF}, {"go", "BI", gobolditalic.TTF},
	{"mono", "", gomono.TTF},
}

// Write writes pages as one readable PDF file with an outline and page numbers. The same pages give the same bytes.
// Characters that the fonts lack are shown as question marks. It stops when the context ends, and reads no pages that
// it has no room for.
func Write(ctx context.Context, w io.Writer, title string, pages iter.Seq2[Page, error]) error {
	glyphs, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return fmt.Errorf("cannot read the font: %w", err)
	}
	p := &pdfWriter{ctx: ctx, file: fpdf.New("P", "mm", "A4", ""), glyphs: glyphs}
	p.prepare(title)
	p.cover(title)
	for page, err := range pages {
		if err != nil {
			return err
		}
		if p.full() {
			break
		}
		p.page(page)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.cut {
		p.file.SetFont("go", "I", pdfTextSize)
		p.file.MultiCell(0, pdfIndent, fmt.Sprintf("The rest is left out: a PDF holds at most %d sheets.", maxPDFSheets), "", "L", false)
	}
	if err := p.file.Output(w); err != nil {
		return fmt.Errorf("cannot write the PDF: %w", err)
	}
	return nil
}

// pdfWriter lays text out from top to bottom.
type pdfWriter struct {
	ctx    context.Context
	file   *fpdf.Fpdf
	glyphs *sfnt.Font
	buffer sfnt.Buffer
	level  int  // of the last bookmark
	depth  int  // of the indent
	cut    bool // something was left out
}

// full reports whether there is no room left. Call it before writing; if it returns true, skip the write.
func (p *pdfWriter) full() bool {
	full := p.ctx.Err() != nil || p.file.PageNo() >= maxPDFSheets || p.file.Err()
	p.cut = p.cut || full
	return full
}

func (p *pdfWriter) prepare(title string) {
	fixed := time.Unix(0, 0).UTC()
	p.file.SetCatalogSort(true)
	p.file.SetCreationDate(fixed)
	p.file.SetModificationDate(fixed)
	p.file.SetTitle(p.shown(title), true)
	p.file.SetMargins(pdfMargin, pdfMargin, pdfMargin)
	p.file.SetAutoPageBreak(true, pdfMargin)
	for _, font := range pdfFonts {
		// Pass a copy, because the library modifies the bytes when it removes unused glyphs.
		p.file.AddUTF8FontFromBytes(font.family, font.style, slices.Clone(font.data))
	}
	p.file.SetFooterFunc(func() {
		p.file.SetY(-pdfMargin + 6)
		p.file.SetFont("go", "", 8)
		p.file.CellFormat(0, 6, fmt.Sprint(p.file.PageNo()), "", 0, "C", false, 0, "")
	})
}

func (p *pdfWriter) cover(title string) {
	p.file.AddPage()
	p.file.SetFont("go", "B", 24)
	p.paragraph(title)
}

// page writes a page, starting with its title. A top-level page starts on a new sheet.
func (p *pdfWriter) page(page Page) {
	if page.Level <= 0 {
		p.file.AddPage()
	}
	// PDF outlines may go down only one level at a time.
	level := max(0, min(page.Level, p.level+1))
	if p.file.PageNo() == 1 || p.level < 0 {
		level = 0
	}
	p.level = level
	p.file.SetFont("go", "B", max(18-2*float64(level), 12))
	p.file.Bookmark(p.shown(page.Title), level, -1)
	p.paragraph(page.Title)
	p.blocks(page.Document.Nodes)
}

// shown replaces characters that the fonts lack.
func (p *pdfWriter) shown(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == ' ':
			return r
		case r < ' ' || r == 0x7f:
			return -1
		case r > 0xFFFF:
			return '?'
		}
		if index, err := p.glyphs.GlyphIndex(&p.buffer, r); err != nil || index == 0 {
			return '?'
		}
		return r
	}, content.Clean(text))
}

// paragraph writes text in the current font, with a little space below.
func (p *pdfWriter) paragraph(text string) {
	p.lines(text)
	p.file.Ln(2)
}

// lines writes text from the margin on.
func (p *pdfWriter) lines(text string) {
	text = content.Clean(text)
	_, size := p.file.GetFontSize()
	p.pieces(text, func(piece string) {
		piece = strings.TrimSuffix(piece, "\n")
		p.file.MultiCell(0, size*1.35, strings.ReplaceAll(p.shown(piece), "\t", "    "), "", "L", false)
	})
}

// maxPDFPiece is how much text is laid out between two checks of the bound. The library's layout time is also
// superlinear in the length of a text.
const maxPDFPiece = 2 << 10

// pieces splits text, after a space or a newline if possible, and stops when the file is full.
func (p *pdfWriter) pieces(text string, write func(piece string)) {
	for text != "" && !p.full() {
		end := len(text)
		if end > maxPDFPiece {
			end = 1 + strings.LastIndexAny(text[:maxPDFPiece], " \n")
			if end == 0 {
				for end = maxPDFPiece; !utf8.RuneStart(text[end]); end-- {
				}
			}
		}
		write(text[:end])
		text = text[end:]
	}
}

// indented calls write with a larger indent.
func (p *pdfWriter) indented(write func()) {
	p.depth++
	if p.depth <= pdfMaxDepth {
		left, _, _, _ := p.file.GetMargins()
		p.file.SetLeftMargin(left + pdfIndent)
		p.file.SetX(left + pdfIndent)
		defer func() {
			p.file.SetLeftMargin(left)
			p.file.SetX(left)
		}()
	}
	write()
	p.depth--
}
