package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/bench/gitserver"
)

// importByGit imports a repository with a file for each page. This process serves the repository to the node.
func (b *bench) importByGit(ctx context.Context, space string, pages int) (err error) {
	root, err := os.MkdirTemp(b.rig.dir, "git-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if err := makeRepository(ctx, root, pages); err != nil {
		return err
	}
	address, stop, err := gitserver.Start(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	body, err := json.Marshal(map[string]string{"url": address + "/docs", "ref": "refs/heads/main"})
	if err != nil {
		return err
	}
	if err := b.rig.Call(ctx, http.MethodPost, spacePath(space)+"/git/import", body, http.StatusNoContent, nil); err != nil {
		return err
	}
	for {
		var operations struct {
			Items []struct{ State, Reason string }
		}
		if err := b.rig.Call(ctx, http.MethodGet, spacePath(space)+"/git/operations?limit=1", nil, http.StatusOK, &operations); err != nil {
			return err
		}
		switch last := operations.Items[0]; last.State {
		case "done":
			return nil
		case "failed":
			return fmt.Errorf("the import failed: %s", last.Reason)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// makeRepository creates a bare repository in which each page is a file. The file of a page with child pages is the
// README.md of a folder.
func makeRepository(ctx context.Context, root string, pages int) error {
	var stream bytes.Buffer
	stream.WriteString("commit refs/heads/main\ncommitter b <b@example> 1700000000 +0000\ndata 1\nm\n")
	for i := range pages {
		path := pagePath(i) + ".md"
		if (i+1)*siblings < pages { // the page has child pages
			path = pagePath(i) + "/README.md"
		}
		text := fmt.Sprintf("# %s\n\n%s", pageTitle(i), pageText(i))
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	return gitserver.Make(ctx, filepath.Join(root, "docs"), &stream)
}

// pdfRow measures how long the node takes to render a space as a PDF.
func (b *bench) pdfRow(ctx context.Context) error {
	space, err := b.filledSpace(ctx, b.pdfPages)
	if err != nil {
		return err
	}
	if err := b.rig.restart(ctx, b.rig.roles); err != nil {
		return err
	}
	request, err := b.newRequest(ctx, space)
	if err != nil {
		return err
	}
	var pdf struct{ URL string }
	began := time.Now()
	if err := b.rig.Call(ctx, http.MethodGet, request+"/pdf", nil, http.StatusOK, &pdf); err != nil {
		return err
	}
	size, err := b.download(ctx, pdf.URL)
	if err != nil {
		return err
	}
	b.report.add(row{What: fmt.Sprintf("PDF of %d pages", b.pdfPages), Unit: "s", Ours: spreadOf([]float64{time.Since(began).Seconds()})})
	b.report.note(fmt.Sprintf("%.1f MB; the node's memory was %.0f MB at most, without the renderer", float64(size)/1e6, b.rig.nodeProcess().Memory("VmHWM")))
	return nil
}

// download waits until the file at a signed address exists, and reads it.
func (b *bench) download(ctx context.Context, address string) (size int64, err error) {
	signed, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	signed.Scheme, signed.Host = "http", b.rig.Address
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, signed.String(), nil)
		if err != nil {
			return 0, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		size, err := io.Copy(io.Discard, res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return 0, err
		}
		switch res.StatusCode {
		case http.StatusOK:
			return size, nil
		case http.StatusServiceUnavailable: // the PDF is not ready yet
		default:
			return 0, fmt.Errorf("the PDF's address answers %s", res.Status)
		}
	}
}
