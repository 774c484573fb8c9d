package docs_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/docs"
)

// TestServedPages requests each page in each encoding. It requests each page again with its ETag, and the answer is
// 304.
func TestServedPages(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	described := func() ([]byte, error) { return api.OpenAPI("https://docs.example.com/base") }
	all, err := docs.Pages(api.Table(), described).Build()
	if err != nil {
		t.Fatal(err)
	}
	for path, file := range all {
		for accepted, unpack := range map[string]func(io.Reader) (io.Reader, error){
			"":                  func(r io.Reader) (io.Reader, error) { return r, nil },
			"gzip":              func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"gzip, deflate, br": func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		} {
			a := h.Do(http.MethodGet, path, "", nil, "Accept-Encoding", accepted)
			r, err := unpack(bytes.NewReader(a.Body))
			if err != nil {
				t.Fatalf("%s as %q: %v", path, accepted, err)
			}
			body, err := io.ReadAll(r)
			if err != nil || a.Status != http.StatusOK || !bytes.Equal(body, file.Plain) {
				t.Errorf("%s as %q: %d %v", path, accepted, a.Status, err)
			}
			for header, want := range map[string]string{
				"Content-Type": file.Media, "Cache-Control": "no-cache", "Access-Control-Allow-Origin": "",
				"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Vary": "Accept-Encoding",
			} {
				if got := a.Header.Get(header); got != want {
					t.Errorf("%s as %q: %s is %q, want %q", path, accepted, header, got, want)
				}
			}
			tag := a.Header.Get("ETag")
			same := h.Do(http.MethodGet, path, "", nil, "Accept-Encoding", accepted, "If-None-Match", tag)
			if same.Status != http.StatusNotModified || len(same.Body) > 0 {
				t.Errorf("%s as %q again: %d", path, accepted, same.Status)
			}
		}
	}
	for _, path := range []string{"/docs/none", "/docs/insights.html", "/docs/insights/", "/docs/../docs/x"} {
		h.WantError(h.Do(http.MethodGet, path, "", nil), http.StatusNotFound)
	}
	if a := h.Do(http.MethodHead, "/docs", "", nil); a.Status != http.StatusOK || len(a.Body) > 0 {
		t.Errorf("HEAD /docs: %d", a.Status)
	}
}
