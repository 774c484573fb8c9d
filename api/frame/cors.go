package frame

import (
	"github.com/valyala/fasthttp"
)

// allowOrigin lets a page of any origin read the answer. Scripts send tokens explicitly and browsers never add them, so
// there is no ambient authority that another origin could borrow.
func allowOrigin(ctx *fasthttp.RequestCtx) {
	ctx.Response.Header.SetCanonical(headerAllowOrigin, anyOrigin)
	ctx.Response.Header.SetCanonical(headerExposeHeaders, exposedHeaders)
}

// Headers of every event request, in fasthttp's canonical form so that it does not normalise them each time.
var (
	headerAllowOrigin   = []byte("Access-Control-Allow-Origin")
	anyOrigin           = []byte("*")
	headerExposeHeaders = []byte("Access-Control-Expose-Headers")
	exposedHeaders      = []byte("X-Request-Id, Retry-After, Octavo-Events-Refused")
)

// preflight answers a browser's CORS preflight request.
func (f *frame) preflight(method string) fasthttp.RequestHandler {
	methods := method + ", OPTIONS"
	return func(ctx *fasthttp.RequestCtx) {
		c := f.begin(ctx)
		allowOrigin(ctx)
		ctx.Response.Header.Set("Allow", methods)
		ctx.Response.Header.Set("Access-Control-Allow-Methods", methods)
		ctx.Response.Header.Set("Access-Control-Allow-Headers",
			"Authorization, Content-Type, Content-Encoding, Idempotency-Key, Prefer, X-Request-Id")
		ctx.Response.Header.Set("Access-Control-Max-Age", "86400")
		ctx.SetStatusCode(fasthttp.StatusNoContent)
		f.end(c, noOperation)
	}
}
