package frame

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// Only answers with a size between these limits are compressed. A smaller answer fits into one or two packets.
// Compressing a larger answer would take too long.
const (
	leastCompressed = 1 << 10
	mostCompressed  = 8 << 20
)

var (
	acceptGzip       = []byte("gzip")
	varyEncoding     = "Accept-Encoding"
	headerETagWeakly = []byte("W/")
)

// compressible reports whether an answer of this size may be sent compressed to clients that accept gzip.
func compressible(size int) bool { return size >= leastCompressed && size <= mostCompressed }

// accepted reports whether the client accepts gzip. It does not parse weights (such as gzip;q=0.5), so a client that
// sends weights gets an uncompressed answer.
func accepted(ctx *fasthttp.RequestCtx) bool {
	return ctx.Request.Header.HasAcceptEncodingBytes(acceptGzip)
}

// compress compresses a JSON answer for a client that accepts gzip, at the fastest level. The ETag of a compressed
// answer is weak, because it was made from the uncompressed bytes. Shared answers are not compressed, because all
// clients get the same bytes.
func compress(c *call) {
	response := &c.http.Response
	if c.shared != nil || response.IsBodyStream() || len(response.Header.ContentEncoding()) > 0 ||
		!bytes.Equal(response.Header.ContentType(), contentJSON) || !compressible(len(response.Body())) {
		return
	}
	response.Header.Add("Vary", varyEncoding)
	if !accepted(c.http) {
		return
	}
	response.SetBodyRaw(fasthttp.AppendGzipBytesLevel(nil, response.Body(), fasthttp.CompressBestSpeed))
	response.Header.SetContentEncodingBytes(acceptGzip)
	weaken(c.http)
}

// unsentHeaders sets the headers of a compressed answer on a 304, which has no body.
func unsentHeaders(ctx *fasthttp.RequestCtx) {
	if !bytes.Equal(ctx.Response.Header.ContentType(), contentJSON) {
		return
	}
	ctx.Response.Header.Add("Vary", varyEncoding)
	if accepted(ctx) {
		weaken(ctx)
	}
}

// weaken makes the answer's ETag weak, if it has an ETag.
func weaken(ctx *fasthttp.RequestCtx) {
	if tag := ctx.Response.Header.PeekBytes(headerETag); len(tag) > 0 && !bytes.HasPrefix(tag, headerETagWeakly) {
		ctx.Response.Header.SetCanonical(headerETag, append(bytes.Clone(headerETagWeakly), tag...))
	}
}
