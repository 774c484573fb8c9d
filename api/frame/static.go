package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/valyala/fasthttp"
)

// Static is a file that is part of the program, such as a script that pages of any site load. It needs no token. All
// answers share its bytes.
type Static struct {
	// Path is the file's path at the root.
	Path string
	// Media is its Content-Type.
	Media string
	// Fixed means that the bytes of the path never change. Caches keep such a file for a year, and others for an hour.
	Fixed bool
	Plain []byte
	// Compressed returns the file's compressed forms. The first request calls it.
	Compressed func() Compressed
}

// Compressed are the compressed forms of a file.
type Compressed struct{ Brotli, Gzip []byte }

const (
	keepFixed = "public, max-age=31536000, immutable"
	keepHour  = "public, max-age=3600"
)

// static serves a file to pages of any origin. With `integrity`, browsers load it under the rules for other origins.
func static(file Static) fasthttp.RequestHandler {
	sum := sha256.Sum256(file.Plain)
	hash, keep := hex.EncodeToString(sum[:16]), keepHour
	if file.Fixed {
		keep = keepFixed
	}
	return func(ctx *fasthttp.RequestCtx) {
		header := &ctx.Response.Header
		header.SetCanonical(headerAllowOrigin, anyOrigin)
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
		header.Set("Cache-Control", keep)
		header.SetCanonical(headerContentTypeOptions, noSniff)
		header.Add("Vary", "Accept-Encoding")
		body, encoding := file.Plain, ""
		switch accepted := &ctx.Request.Header; {
		case accepted.HasAcceptEncoding("br"):
			body, encoding = file.Compressed().Brotli, "br"
		case accepted.HasAcceptEncoding("gzip"):
			body, encoding = file.Compressed().Gzip, "gzip"
		}
		// Each form has a tag of its own.
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
