package apitest

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Encoders has an encoder for every Content-Encoding that the server accepts.
var Encoders = map[string]func(t testing.TB, body []byte) []byte{
	"gzip":    encodeWith(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }),
	"deflate": encodeWith(func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }),
	"Deflate": encodeWith(func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) }),
	"br":      encodeWith(func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }),
	"zstd":    encodeWith(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }),
}

func encodeWith(open func(w io.Writer) (io.WriteCloser, error)) func(t testing.TB, body []byte) []byte {
	return func(t testing.TB, body []byte) []byte {
		t.Helper()
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
}
