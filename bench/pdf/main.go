// Command pdf measures what the renderer of PDFs needs: go run ./bench/pdf --help. It renders generated pages, or a folder with
// a Git repository's files, in the renderer's own process, and prints that process's peak of memory.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	reader "github.com/ledongthuc/pdf"

	"github.com/octavo-docs/octavo/cmd/engine/typst"
	"github.com/octavo-docs/octavo/store/content/pdf"
)

type commands struct {
	Pages  int    `help:"Pages to generate." default:"1000"`
	Kind   string `help:"What generated pages are full of." enum:"plain,dense" default:"dense"`
	Parts  string `help:"What dense pages have: c code, t a table, i an image, h a hint, l a list." default:"ctihl"`
	Folder string `help:"Render the Markdown and the images of this folder instead." type:"existingdir"`
	Out    string `help:"Keep the PDF in this file." type:"path"`
	Memory uint64 `help:"Bound of the renderer's memory, in bytes." default:"4294967296"`
}

func main() {
	var c commands
	k := kong.Parse(&c, kong.Description("Measure the renderer of PDFs."))
	k.FatalIfErrorf(c.Run())
}

// Run renders once.
func (c *commands) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	source, name := generated(c.Pages, c.Kind, c.Parts), c.Kind
	if c.Folder != "" {
		var err error
		if source, err = repository(c.Folder); err != nil {
			return err
		}
		name = c.Folder
	}
	var out bytes.Buffer
	files, input := 0, 0
	send := func(send func(name string, content []byte) error) error {
		for file, err := range pdf.Files(source) {
			if err == nil {
				files, input = files+1, input+len(file.Content)
				err = send(file.Name, file.Content)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	failed := typst.New(typst.Config{MemoryBytes: c.Memory}).Render(ctx, send, &out)
	peak, err := peak()
	if err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%s failed at %.0f MB: %w", name, peak, failed)
	}
	if c.Out != "" {
		if err := os.WriteFile(c.Out, out.Bytes(), 0o600); err != nil {
			return err
		}
	}
	r, err := reader.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%s: %d pages, %d sheets; input %.1f MB in %d files; PDF %.1f MB; the renderer's peak %.0f MB\n",
		name, len(source.Pages), r.NumPage(), float64(input)/1e6, files, float64(out.Len())/1e6, peak)
	return err
}

// peak is the most memory, in megabytes, that a child which has ended had resident at once: its VmHWM.
func peak() (float64, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage)
	return float64(usage.Maxrss) / 1024, err
}
