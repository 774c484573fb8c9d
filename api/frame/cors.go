package frame

import (
	"github.com/valyala/fasthttp"
)

// allowOrigin lets a page of any origin read the answer. This is safe, because a script must add a token to its
// request, and browsers never add one. So a page of another origin cannot use the rights of a user.
func allowOrigin(ctx *fasthttp.RequestCtx) {
	ctx.Response.Header.SetCanonical(headerAllowOrigin, anyOrigin)
	ctx.Response.Header.SetCanonical(headerExposeHeaders, exposedHeaders)
}

// These names of headers are in fasthttp's canonical form, so fasthttp need not convert them in each request with
// events.
var (
	headerAllowOrigin   = []byte("Access-Control-Allow-Origin")
	anyOrigin           = []byte("*")
	headerExposeHeaders = []byte("Access-Control-Expose-Headers")
	exposedHeaders      = []byte("X-Request-Id, Retry-After, Octavo-Events-Refused")
	headerVary          = []byte("Vary")
	varyOrigin          = []byte("Origin")
	exposedToTrusted    = []byte("X-Request-Id, Retry-After, ETag, Location, Age, " +
		"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Octavo-Events-Refused, Octavo-Result, " +
		"Octavo-Error-Bound, Octavo-Source, Octavo-Truncated, Octavo-Rows-Read, Octavo-Range, Octavo-Fresh-Until, " +
		"Octavo-Sessions, Octavo-Complete, Octavo-Missing-Rows, Octavo-Missing-Range, " +
		"Octavo-Doubled-Rows, Octavo-Doubled-Range")
)

// allowTrusted lets a page of a trusted origin read the answer, including errors. The header Vary tells caches that the
// answer depends on the origin.
func (f *frame) allowTrusted(ctx *fasthttp.RequestCtx) {
	if len(f.origins) == 0 {
		return
	}
	ctx.Response.Header.SetCanonical(headerVary, varyOrigin)
	if origin := ctx.Request.Header.Peek("Origin"); f.origins[string(origin)] {
		ctx.Response.Header.SetCanonical(headerAllowOrigin, origin)
		ctx.Response.Header.SetCanonical(headerExposeHeaders, exposedToTrusted)
	}
}

// preflighted sets the headers that tell a browser which methods and headers a page may use.
func preflighted(ctx *fasthttp.RequestCtx, methods string) {
	ctx.Response.Header.Set("Access-Control-Allow-Methods", methods)
	ctx.Response.Header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Content-Encoding, "+
		"Idempotency-Key, If-Match, If-None-Match, Cache-Control, Prefer, X-Request-Id")
	ctx.Response.Header.Set("Access-Control-Max-Age", "86400")
}

// preflight answers preflight requests of pages of any origin.
func (f *frame) preflight(method string) fasthttp.RequestHandler {
	methods := method + ", OPTIONS"
	return func(ctx *fasthttp.RequestCtx) {
		c := f.begin(ctx)
		allowOrigin(ctx)
		ctx.Response.Header.Set("Allow", methods)
		preflighted(ctx, methods)
		ctx.SetStatusCode(fasthttp.StatusNoContent)
		f.end(c, noOperation)
	}
}
