package frame

import (
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// These names take the place of an operationId in metrics and logs: for requests that match no operation, and for
// requests that are not valid HTTP.
const (
	noOperation  = "none"
	badOperation = "malformed"
)

// refuse answers with an error in the form that the contract defines, and logs it with its private cause.
func (f *frame) refuse(c *call, operation string, e *schema.Error) {
	e = cut(e)
	writeError(c.http, e)
	if c.page {
		writeErrorPage(c.http, e, c.RequestID())
	}
	if c.pixel {
		writePixel(c.http, pixelStatus(e.Code))
	}
	level := slog.LevelInfo
	if e.Code >= schema.CodeInternal {
		level = slog.LevelWarn
	}
	if damage := schema.DamageOf(e); damage != nil {
		level = slog.LevelError
		f.metrics.ObserveDamage(damage.Store)
	}
	if !f.log.Enabled(f.base, level) || !f.refusals.take(operation, int(e.Code), c.Now) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", c.RequestID()),
		slog.String("operation", operation),
		slog.String("method", Clip(string(c.http.Method()), LongestName)),
		slog.String("path", Clip(string(c.http.Path()), longestMessage)),
		slog.Int("status", int(e.Code)),
		slog.String("message", e.Message),
		slog.Duration("duration", time.Since(c.Now)),
	}
	if c.Principal != nil {
		attrs = append(attrs, slog.String("token_id", c.Principal.TokenID))
	}
	if e.Cause != nil {
		attrs = append(attrs, slog.String("cause", Clip(e.Cause.Error(), longestCause)))
	}
	f.log.LogAttrs(f.base, level, "request refused", attrs...)
}

// These constants limit how many bytes an error quotes from its request, and how many details it has. Without them, a
// few compressed bytes with a name of megabytes would cause a huge answer.
const (
	LongestName    = 200
	longestMessage = 1000
	longestCause   = 4000
	mostDetails    = 100
)

// cut returns the error with its public part shortened to these limits.
func cut(e *schema.Error) *schema.Error {
	short := *e
	short.Message = Clip(e.Message, longestMessage)
	if len(e.Details) == 0 {
		return &short
	}
	short.Details = make([]schema.Detail, min(len(e.Details), mostDetails))
	for i := range short.Details {
		d := e.Details[i]
		short.Details[i] = schema.Detail{Field: Clip(d.Field, LongestName), Problem: Clip(d.Problem, longestMessage), Allowed: d.Allowed}
	}
	return &short
}

// Clip shortens a text to at most `most` bytes and an ellipsis. It never cuts within a character.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.Clone(text[:most]) + "…"
}

func writeError(ctx *fasthttp.RequestCtx, e *schema.Error) {
	ctx.Response.ResetBody()
	ctx.SetStatusCode(int(e.Code))
	if e.Code == schema.CodeUnauthorized {
		ctx.Response.Header.Set("WWW-Authenticate", "Bearer")
	}
	if seconds := e.RetryAfterSeconds(); seconds > 0 {
		ctx.Response.Header.Set("Retry-After", strconv.Itoa(seconds))
	}
	// Encoding cannot fail, because the body has only strings and integers.
	_ = writeJSON(ctx, e.Body())
}

// notFound answers requests for a path that no operation has.
func (f *frame) notFound(ctx *fasthttp.RequestCtx) {
	c := f.begin(ctx)
	f.refuse(c, noOperation, schema.NotFound("path"))
	f.end(c, noOperation)
}

// methodNotAllowed answers requests for a path that exists with other methods. The router has already set the header
// Allow. `cors` is true if pages of any origin may call an operation at this path, and so may read this answer.
func (f *frame) methodNotAllowed(ctx *fasthttp.RequestCtx, cors bool) {
	c := f.begin(ctx)
	if cors {
		allowOrigin(ctx)
	}
	f.refuse(c, noOperation, schema.MethodNotAllowed(string(ctx.Method())))
	f.end(c, noOperation)
}

// options answers OPTIONS for paths that only pages of trusted origins may call. The router has already set the header
// Allow.
func (f *frame) options(ctx *fasthttp.RequestCtx) {
	c := f.begin(ctx)
	if len(ctx.Response.Header.PeekBytes(headerAllowOrigin)) > 0 {
		preflighted(ctx, string(ctx.Response.Header.Peek("Allow")))
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
	f.end(c, noOperation)
}

// malformed answers a client that sent something else than a valid HTTP request. fasthttp closes the connection
// afterwards.
func (f *frame) malformed(ctx *fasthttp.RequestCtx, err error) {
	c := f.begin(ctx)
	c.Now = time.Now() // fasthttp sets its time only after it has read a valid request.
	// The path may be unknown here, so pages of any origin may read the answer.
	allowOrigin(ctx)
	f.refuse(c, badOperation, malformedError(err))
	leaveUnread(ctx)
	f.end(c, badOperation)
}

func malformedError(err error) *schema.Error {
	refusal := schema.BadRequest("the request is not valid HTTP")
	switch {
	case isA[*fasthttp.ErrSmallBuffer](err):
		refusal = schema.TooLarge("the request line and headers are too large")
	case isTimeout(err):
		refusal = &schema.Error{Code: schema.CodeTimeout, Message: "the request did not arrive in time"}
	}
	for _, fault := range framingFaults {
		if errors.Is(err, fault) {
			refusal = schema.BadRequest(fault.Error())
		}
	}
	refusal.Cause = err
	return refusal
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// byteSize formats a limit for people to read.
func byteSize(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.Itoa(n>>20) + " MiB"
	}
	if n >= 1<<10 && n%(1<<10) == 0 {
		return strconv.Itoa(n>>10) + " KiB"
	}
	return strconv.Itoa(n) + " bytes"
}
