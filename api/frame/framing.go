package frame

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

// By default fasthttp reads a whole body into one buffer of the announced length before it calls a handler. With
// StreamRequestBody, it waits only for the first MaxRequestBodySize bytes, or 8 KiB if that is 0. So the server sets
// MaxRequestBodySize to firstBodyBytes. The frame reads the rest of the body after it has admitted the caller (see
// received.go).
//
// After the size of a chunk, fasthttp skips blanks and extensions without reporting them, as RFC 9112, 7.1.1, demands
// for unknown extensions. So this package cannot refuse them, but chunkFraming limits their length. fasthttp refuses a
// line feed without a carriage return after the size of a chunk. It accepts such a line feed after the request line and
// in trailers, as RFC 9112, 2.2, allows. Line feeds in these places do not change where a request ends.

// firstBodyBytes is the number of bytes of a body for which fasthttp waits before it calls the handler. For 0, fasthttp
// would use its default.
const firstBodyBytes = 1

// headersReceived passes a verdict about a request's headers to the handler. It writes a NUL and the verdict in front
// of the method, because no method contains a NUL. There is no other way: the hook gets only the headers of the
// request.
const (
	verdictUnread byte = iota + 1
	verdictBothLengths
	verdictTransferCoding
	verdictFoldedHeader
	verdictVersion
	verdictTwoTokens
	verdictBareLF
)

// framingFaults has an error for each verdict about headers that leave the end of the request or its sender unclear. A
// proxy may read such a request differently than this server does. So the server refuses the request and closes the
// connection (RFC 9112, 6.3 and 11.2).
var framingFaults = map[byte]error{
	verdictBothLengths:    errors.New("the request has a Content-Length and a Transfer-Encoding"),
	verdictTransferCoding: errors.New("the Transfer-Encoding is not chunked"),
	verdictFoldedHeader:   errors.New("a header is folded over several lines"),
	verdictVersion:        errors.New("the HTTP version is neither 1.0 nor 1.1"),
	verdictTwoTokens:      errors.New("the request has two Authorization headers"),
	verdictBareLF:         errors.New("a header ends with a line feed that no carriage return precedes"),
}

// headersReceived returns the hook that inspects a request between its headers and its body. A request that has a body
// and no plausible token is answered at once, and its body is not read. For operations that take bodies without a
// token, the server waits for the first byte of the body. The frame reads the rest after it has admitted the caller, as
// for callers with a token.
func headersReceived(routes []*route) func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	public := pathsOf(routes, func(op *Operation) bool { return op.Scope.Public && op.BodyLimit > 0 })
	open := pathsOf(routes, func(op *Operation) bool { return op.Scope.Nobody })
	return func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
		verdict := framingVerdict(h)
		if verdict == 0 {
			if length := h.ContentLength(); length != 0 && length != -2 {
				// Public operations ignore the Authorization header, because it may be meant for a proxy.
				named := len(h.Peek("Authorization")) > 0
				if !plausibleCaller(h) && (named || !open.have(h)) && !public.have(h) {
					verdict = verdictUnread
				}
			}
		}
		if verdict != 0 {
			h.SetMethodBytes(append([]byte{0, verdict}, h.Method()...))
			h.SetContentLength(0)
			h.Del("Expect")
			h.SetConnectionClose()
		}
		return fasthttp.RequestConfig{}
	}
}

// openOperations has the paths of operations, by method. Each path is a list of segments, in which a parameter is an
// empty segment.
type openOperations map[string][][]string

func pathsOf(routes []*route, belongs func(*Operation) bool) openOperations {
	open := openOperations{}
	for _, rt := range routes {
		if belongs(rt.op) {
			path := PathParam.ReplaceAllString(strings.TrimPrefix(rt.op.Route(), "/"), "")
			open[rt.op.Method] = append(open[rt.op.Method], strings.Split(path, "/"))
		}
	}
	return open
}

func (o openOperations) have(h *fasthttp.RequestHeader) bool {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte{'?'})
	return slices.ContainsFunc(o[string(h.Method())], func(segments []string) bool {
		rest := path
		for _, segment := range segments {
			if len(rest) == 0 || rest[0] != '/' {
				return false
			}
			end := bytes.IndexByte(rest[1:], '/') + 1
			if end == 0 {
				end = len(rest)
			}
			if segment != "" && segment != string(rest[1:end]) {
				return false
			}
			rest = rest[end:]
		}
		return len(rest) == 0
	})
}

func framingVerdict(h *fasthttp.RequestHeader) byte {
	if version := h.Protocol(); string(version) != "HTTP/1.1" && string(version) != "HTTP/1.0" {
		return verdictVersion
	}
	var lengths, codings bool
	tokens := 0
	for line := h.RawHeaders(); len(line) > 0; {
		switch line[0] {
		case ' ', '\t':
			return verdictFoldedHeader
		case 'a', 'A':
			if hasName(line, "authorization") {
				tokens++
			}
		case 'c', 'C':
			lengths = lengths || hasName(line, "content-length")
		case 't', 'T':
			codings = codings || hasName(line, "transfer-encoding")
		}
		next := bytes.IndexByte(line, '\n')
		if next < 0 {
			break
		}
		if next == 0 || line[next-1] != '\r' {
			return verdictBareLF
		}
		line = line[next+1:]
	}
	switch {
	case tokens > 1:
		return verdictTwoTokens
	case codings && lengths:
		return verdictBothLengths
	case codings && h.ContentLength() != -1:
		return verdictTransferCoding
	}
	return 0
}

// hasName reports whether a header line has the given lower-case name.
func hasName(line []byte, name string) bool {
	return len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name))
}

// plausibleCaller reports whether a request has a text with the form of a token in its Authorization header. Without
// this header, the request must have a cookie with the form of a session's secret.
func plausibleCaller(h *fasthttp.RequestHeader) bool {
	if header := h.Peek("Authorization"); len(header) > 0 {
		token, ok := access.BearerToken(header)
		return ok && access.PlausibleToken(token)
	}
	return len(h.Peek(access.BrowserHeader)) > 0 && schema.ValidToken(h.Cookie(access.BrowserCookie))
}

// These constants limit the reading of a body that nobody uses. After the whole body has been read, the connection can
// be reused. A refused client has usually already sent all of a small body.
const (
	drainBytes = 16 << 10
	drainTime  = time.Second
)

// framed refuses requests with a bad verdict about their headers. After each request, it ensures that the unread rest
// of a body is not taken for the next request.
func (s *Server) framed(serve fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if method := ctx.Method(); len(method) > 2 && method[0] == 0 {
			verdict := method[1]
			ctx.Request.Header.SetMethodBytes(method[2:])
			leaveUnread(ctx)
			if fault, bad := framingFaults[verdict]; bad {
				s.frame.malformed(ctx, fault)
				return
			}
		}
		serve(ctx)
		endBody(ctx)
	}
}

// endBody reads the unread rest of a small body, so that the connection can be reused. If the body is large or does not
// arrive in time, it closes the connection.
func endBody(ctx *fasthttp.RequestCtx) {
	stream := ctx.Request.BodyStream()
	if stream == nil {
		return
	}
	length := ctx.Request.Header.ContentLength()
	if length >= 0 && length <= drainBytes && !ctx.Response.ConnectionClose() &&
		ctx.Conn().SetReadDeadline(time.Now().Add(drainTime)) == nil {
		var scrap [512]byte
		for {
			if _, err := stream.Read(scrap[:]); err != nil {
				if errors.Is(err, io.EOF) && !clientEnded(ctx) {
					return
				}
				break
			}
		}
	}
	leaveUnread(ctx)
}

// leaveUnread closes the connection after this request.
func leaveUnread(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	if conn, ok := ctx.Conn().(*edgeConn); ok {
		conn.unread = conn.begun
	}
}

// mayContinue answers `Expect: 100-continue`. It returns the status 100 only if the operation may admit the caller and
// accept a body of this size. For another status, fasthttp sends the response that `continues` has set.
func (s *Server) mayContinue(continues fasthttp.RequestHandler) func(ctx *fasthttp.RequestCtx) int {
	return func(ctx *fasthttp.RequestCtx) int {
		continues(ctx)
		if status := ctx.Response.StatusCode(); status >= fasthttp.StatusBadRequest {
			leaveUnread(ctx)
			return status
		}
		ctx.Response.Reset()
		ctx.Response.Header.SetNoDefaultContentType(true) // Reset has cleared this setting of the server.
		return fasthttp.StatusContinue
	}
}
