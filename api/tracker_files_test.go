package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/tracker"
)

// TestTrackerFiles requests each file of the tracker with each content encoding. Pages of any origin may load the file.
// The Cache-Control header depends on the file's name. If a browser revalidates its copy, the answer has no body.
func TestTrackerFiles(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for _, file := range tracker.Files() {
		for accepted, unpack := range map[string]func(io.Reader) (io.Reader, error){
			"":                  func(r io.Reader) (io.Reader, error) { return r, nil },
			"gzip":              func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"gzip, deflate, br": func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		} {
			a := h.Do(http.MethodGet, file.Path, "", nil, "Accept-Encoding", accepted)
			r, err := unpack(bytes.NewReader(a.Body))
			if err != nil {
				t.Fatalf("%s as %q: %v", file.Path, accepted, err)
			}
			body, err := io.ReadAll(r)
			if err != nil || a.Status != http.StatusOK || !bytes.Equal(body, file.Plain) {
				t.Errorf("%s as %q: %d %v", file.Path, accepted, a.Status, err)
			}
			keep := "public, max-age=3600"
			if file.Fixed {
				keep = "public, max-age=31536000, immutable"
			}
			for header, want := range map[string]string{
				"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": keep, "Access-Control-Allow-Origin": "*",
				"Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding",
			} {
				if got := a.Header.Get(header); got != want {
					t.Errorf("%s as %q: %s is %q, want %q", file.Path, accepted, header, got, want)
				}
			}
			same := h.Do(http.MethodGet, file.Path, "", nil,
				"Accept-Encoding", accepted, "If-None-Match", a.Header.Get("ETag"))
			if same.Status != http.StatusNotModified || len(same.Body) > 0 || same.Header.Get("Cache-Control") != keep {
				t.Errorf("%s as %q again: %d %v", file.Path, accepted, same.Status, same.Header)
			}
		}
		if a := h.Do(http.MethodHead, file.Path, "", nil); a.Status != http.StatusOK || len(a.Body) > 0 {
			t.Errorf("HEAD %s: %d", file.Path, a.Status)
		}
		h.WantError(h.Do(http.MethodPost, file.Path, "", nil), http.StatusMethodNotAllowed)
	}
	h.WantError(h.Do(http.MethodGet, "/o.0123456789abcdef.js", "", nil), http.StatusNotFound)
}
