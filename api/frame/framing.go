package frame

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

// fasthttp reads a whole body into one buffer of the announced length before it calls a handler. With StreamRequestBody it
// does not, but it still waits for the first MaxRequestBodySize bytes, or 8 KiB: hence firstBodyBytes. The frame reads the
// rest once it has admitted the caller (see received.go).
//
// What fasthttp takes and does not show, so that it cannot be refused here: blanks and extensions behind a chunk's size (they
// are skipped, as RFC 9112, 7.1.1, demands of extensions that are not understood).

// firstBodyBytes is how much of a body fasthttp waits for before it calls the handler; it takes no 0.
const firstBodyBytes = 1

// A verdict on a request's headers travels to the handler in front of the method, behind a NUL, which no method holds.
// fasthttp gives the hook that sees the headers before the body nothing else to write to.
const (
	verdictUnread byte = iota + 1
	verdictBothLengths
	verdictTransferCoding
	verdictFoldedHeader
	verdictVersion
)

// framingFaults says why headers leave open where the request ends, or how it is to be read. A proxy in front may read such a
// request otherwise than we do, so the connection ends with it (RFC 9112, 6.3 and 11.2).
var framingFaults = map[byte]error{
	verdictBothLengths:    errors.New("the request has a Content-Length and a Transfer-Encoding"),
	verdictTransferCoding: errors.New("the Transfer-Encoding is not chunked"),
	verdictFoldedHeader:   errors.New("a header is folded over several lines"),
	verdictVersion:        errors.New("the HTTP version is neither 1.0 nor 1.1"),
}

// headersReceived looks at a request between its headers and its body. Who shows no token gets an answer at once: a body that
// was announced is neither waited for nor read.
func headersReceived(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	verdict := framingVerdict(h)
	if verdict == 0 {
		if length := h.ContentLength(); length != 0 && length != -2 && !plausibleToken(h.Peek("Authorization")) {
			verdict = verdictUnread
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

func framingVerdict(h *fasthttp.RequestHeader) byte {
	if version := h.Protocol(); string(version) != "HTTP/1.1" && string(version) != "HTTP/1.0" {
		return verdictVersion
	}
	var lengths, codings bool
	for line := h.RawHeaders(); len(line) > 1; {
		switch line[0] {
		case ' ', '\t':
			return verdictFoldedHeader
		case 'c', 'C':
			lengths = lengths || hasName(line, "content-length")
		case 't', 'T':
			codings = codings || hasName(line, "transfer-encoding")
		}
		next := bytes.IndexByte(line, '\n')
		if next < 0 {
			break
		}
		line = line[next+1:]
	}
	switch {
	case codings && lengths:
		return verdictBothLengths
	case codings && h.ContentLength() != -1:
		return verdictTransferCoding
	}
	return 0
}

// hasName tells whether a header line is the one of that name, which is in lower case.
func hasName(line []byte, name string) bool {
	return len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name))
}

// plausibleToken tells whether an Authorization header holds what could be a token.
func plausibleToken(header []byte) bool {
	token, ok := access.BearerToken(header)
	return ok && schema.ValidToken(token)
}

// Bounds of what is still read of a body that nobody wanted, so that the connection can be kept. A client that was refused
// with a small body has sent it already, as a rule.
const (
	drainBytes = 16 << 10
	drainTime  = time.Second
)

// framed is the outermost handler. It acts on the verdict about the headers, and sees to it that a body which was not read to
// its end is not taken for the next request.
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

// endBody makes the connection ready for its next request, or lets it end.
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

// leaveUnread ends the connection with this request.
func leaveUnread(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	if conn, ok := ctx.Conn().(*edgeConn); ok {
		conn.unread = conn.begun
	}
}

// mayContinue answers `Expect: 100-continue`: only a caller whom the operation could admit, and whose body it could take, is
// asked for the body. fasthttp sends the response as it stands if the status is another than 100.
func (s *Server) mayContinue(continues fasthttp.RequestHandler) func(ctx *fasthttp.RequestCtx) int {
	return func(ctx *fasthttp.RequestCtx) int {
		continues(ctx)
		if status := ctx.Response.StatusCode(); status >= fasthttp.StatusBadRequest {
			leaveUnread(ctx)
			return status
		}
		ctx.Response.Reset()
		ctx.Response.Header.SetNoDefaultContentType(true) // As the server has it.
		return fasthttp.StatusContinue
	}
}
