// Package book makes the PDF of a source. If the renderer would need too much memory for a single PDF, package book
// makes several PDFs and joins them. These parts are unnamed files in the system's folder for temporary files.
package book

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/octavo-docs/octavo/schema/content/pdf"
	"github.com/octavo-docs/octavo/schema/content/pdf/join"
)

// Renderer makes a PDF of the files that `input` sends, and writes it to `out`. It streams the files and the PDF, so
// they are never completely in memory. Its errors may have these methods: Public returns the text for users. Final
// reports whether another attempt would fail in the same way. TooLarge reports whether a smaller part of the files
// might be rendered.
type Renderer interface {
	Render(ctx context.Context, input func(send func(name string, content []byte) error) error, out io.Writer) error
}

// Config has the settings of Write.
type Config struct {
	Renderer Renderer
	// Memory is the largest estimated memory, in bytes, that the renderer may need for a part; 0 means no limit.
	Memory int64
}

// most is the largest number of times that the front, with the table of contents, is made. The page numbers in the
// front depend on the number of its sheets, and other page numbers may change this number again.
const most = 4

// Write makes the PDF of a source and writes it to `out`.
func (c Config) Write(ctx context.Context, s pdf.Source, out io.Writer) error {
	measured, err := pdf.Measure(s)
	if err != nil {
		return err
	}
	m := maker{Config: c, book: measured, pages: len(s.Pages)}
	if c.Memory > 0 {
		m.parts = measured.Parts(c.Memory)
	}
	if len(m.parts) <= 1 {
		counted := counter{out: out}
		err := c.render(ctx, pdf.Files(s), &counted)
		if !tooLarge(err) || counted.any {
			return err
		}
		if m.parts = measured.Halve(measured.Whole()); len(m.parts) <= 1 {
			return err
		}
	}
	defer m.drop()
	return m.write(ctx, out)
}

// counter is a writer that records whether anything was written.
type counter struct {
	out io.Writer
	any bool
}

func (c *counter) Write(p []byte) (int, error) {
	c.any = c.any || len(p) > 0
	return c.out.Write(p)
}

func tooLarge(err error) bool {
	var e interface{ TooLarge() bool }
	return errors.As(err, &e) && e.TooLarge()
}

func (c Config) render(ctx context.Context, files iter.Seq2[pdf.File, error], out io.Writer) error {
	return c.Renderer.Render(ctx, func(send func(name string, content []byte) error) error {
		for file, err := range files {
			if err == nil {
				err = send(file.Name, file.Content)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, out)
}

// maker makes a PDF in parts.
type maker struct {
	Config
	book  *pdf.Book
	pages int
	parts []pdf.Part
	front *made
	made  []*made // made has the rendered parts.
}

// made is a part that has been rendered.
type made struct {
	*join.Part
	file *os.File
}

func (m *maker) write(ctx context.Context, out io.Writer) error {
	sheets := make([]int, m.pages)
	for i := range sheets {
		sheets[i] = i + 1
	}
	if err := m.makeFront(ctx, sheets); err != nil {
		return err
	}
	for range most {
		before := m.front.Sheets()
		if err := m.makeParts(ctx, before, sheets); err != nil {
			return err
		}
		if err := m.makeFront(ctx, sheets); err != nil {
			return err
		}
		if m.front.Sheets() == before {
			all := []*join.Part{m.front.Part}
			for _, part := range m.made {
				all = append(all, part.Part)
			}
			return join.Join(out, all)
		}
	}
	return errors.New("the number of sheets of a book's contents does not settle")
}

func (m *maker) makeFront(ctx context.Context, sheets []int) (err error) {
	m.front.drop()
	m.front, err = m.make(ctx, m.book.Front(sheets))
	return err
}

// makeParts renders the parts. `before` is the number of sheets in front of the first part. It sets the sheet number of
// each page in `sheets`. If a part needs too much memory, makeParts renders it as two halves.
func (m *maker) makeParts(ctx context.Context, before int, sheets []int) error {
	m.dropParts()
	for at := 0; at < len(m.parts); {
		part, err := m.make(ctx, m.book.Files(m.parts[at], before+1))
		if tooLarge(err) {
			halves := m.book.Halve(m.parts[at])
			if len(halves) < 2 {
				return err
			}
			m.parts = append(m.parts[:at:at], append(halves, m.parts[at+1:]...)...)
			continue
		}
		if err != nil {
			return err
		}
		m.made = append(m.made, part)
		for i := range sheets {
			if sheet, ok := part.Sheet(pdf.PlaceOf(i)); ok {
				sheets[i] = before + sheet + 1
			}
		}
		before += part.Sheets()
		at++
	}
	return nil
}

// make renders a part into a temporary file.
func (m *maker) make(ctx context.Context, files iter.Seq2[pdf.File, error]) (*made, error) {
	file, err := os.CreateTemp("", "octavo-book-*.pdf")
	if err != nil {
		return nil, err
	}
	part := &made{file: file}
	if err := os.Remove(file.Name()); err != nil { // The file has no name now. Closing it deletes it.
		part.drop()
		return nil, err
	}
	if err := m.render(ctx, files, file); err != nil {
		part.drop()
		return nil, err
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		part.Part, err = join.Open(file, size)
	}
	if err != nil {
		part.drop()
		return nil, fmt.Errorf("cannot read a part of a book: %w", err)
	}
	return part, nil
}

func (p *made) drop() {
	if p != nil {
		_ = p.file.Close() // Errors of Close do not matter: the file was only read, or is discarded.
	}
}

func (m *maker) dropParts() {
	for _, part := range m.made {
		part.drop()
	}
	m.made = nil
}

func (m *maker) drop() {
	m.front.drop()
	m.dropParts()
}
