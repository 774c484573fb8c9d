package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/valyala/fasthttp"
)

// Static is a file that is part of the program, such as a script that pages of any site load. Requests for it need no
// token. All answers share the bytes of the file.
type Static struct {
	// Path is the file's path at the root of the server.
	Path string
	// Media is the file's Content-Type.
	Media string
	// Fixed means that the bytes at this path never change. Caches store such a file for a year, and other files for an
	// hour.
	Fixed bool
	Plain []byte
	// Policy is the Content-Security-Policy of one of our pages. Caches must revalidate such a page each time, search
	// engines must not index it, and other sites may not load or frame it. Policy is empty for other files.
	Policy string
	// Compressed returns the file's compressed forms. It is called when a client first requests a compressed form.
	Compressed func() Compressed
}

// Compressed are the compressed forms of a file.
type Compressed struct{ Brotli, Gzip []byte }

// OwnPagePolicy is the Policy of a page that only loads its own files and calls its own server.
const OwnPagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

const (
	keepFixed = "public, max-age=31536000, immutable"
	keepHour  = "public, max-age=3600"
)

// NewStatic returns a file with its compressed forms.
func NewStatic(path, media string, content []byte) Static {
	return Static{
		Path: path, Media: media, Plain: content,
		Compressed: sync.OnceValue(func() Compressed { return Compress(content, brotli.BestCompression) }),
	}
}

// static returns the handler that serves a file.
func static(file Static) fasthttp.RequestHandler {
	sum := sha256.Sum256(file.Plain)
	hash := hex.EncodeToString(sum[:16])
	return func(ctx *fasthttp.RequestCtx) {
		header := &ctx.Response.Header
		if file.Policy != "" {
			ownPageHeaders(header, file.Policy)
		} else {
			sharedHeaders(header, file.Fixed)
		}
		header.SetCanonical(headerContentTypeOptions, noSniff)
		header.Add("Vary", "Accept-Encoding")
		body, encoding := file.Plain, ""
		switch accepted := &ctx.Request.Header; {
		case accepted.HasAcceptEncoding("br"):
			body, encoding = file.Compressed().Brotli, "br"
		case accepted.HasAcceptEncoding("gzip"):
			body, encoding = file.Compressed().Gzip, "gzip"
		}
		// Each encoding has its own ETag.
		tag := `"` + hash + encoding + `"`
		header.SetCanonical(headerETag, []byte(tag))
		if tagMatches(ctx, tag) {
			ctx.SetStatusCode(http.StatusNotModified)
			return
		}
		ctx.SetContentType(file.Media)
		if encoding != "" {
			header.SetContentEncoding(encoding)
		}
		ctx.Response.SetBodyRaw(body)
	}
}

// sharedHeaders sets headers that let pages of any origin load the file. A script tag with the attribute `integrity`
// needs them: the browser then demands permission by CORS.
func sharedHeaders(header *fasthttp.ResponseHeader, fixed bool) {
	header.SetCanonical(headerAllowOrigin, anyOrigin)
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if fixed {
		header.Set("Cache-Control", keepFixed)
	} else {
		header.Set("Cache-Control", keepHour)
	}
}

// ownPageHeaders sets the headers of one of our pages. With these headers, other sites cannot load or frame the page.
func ownPageHeaders(header *fasthttp.ResponseHeader, policy string) {
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Robots-Tag", "noindex")
	header.Set("Referrer-Policy", "no-referrer")
}

// Compress returns the compressed forms of a file. Brotli's best level takes a second for a large file. So a file is
// compressed only when it is first requested.
func Compress(content []byte, brotliLevel int) Compressed {
	write := func(to func(io.Writer) io.WriteCloser) []byte {
		var b bytes.Buffer
		w := to(&b)
		_, err := w.Write(content)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			panic("BUG: memory takes all that is written: " + err.Error())
		}
		return b.Bytes()
	}
	return Compressed{
		Brotli: write(func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotliLevel) }),
		Gzip: write(func(w io.Writer) io.WriteCloser {
			compressor, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			return compressor
		}),
	}
}
