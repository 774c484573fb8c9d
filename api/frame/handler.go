package frame

import (
	"context"
	"mime"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Handler contains the function of an operation. It also has the function's request type and response type, which the
// OpenAPI document and tests read.
type Handler struct {
	Request  reflect.Type
	Response reflect.Type
	invoke   func(ctx context.Context, rt *route, c *call) error
}

// NoContent is the response type of operations that answer 204. Header adds headers to the response; it is usually nil.
type NoContent struct{ Header map[string]string }

// Encoded is an encoded response with additional headers. It is JSON unless ContentType names another type. The frame
// copies Body before the call ends.
type Encoded struct {
	Body []byte
	// If Shared is not nil, it gives the bytes of the response, and Body is not used.
	Shared      *Shared
	Header      map[string]string
	ContentType string
}

// Statused is a response type that chooses the success status. Operations that either create or update an object use
// it.
type Statused interface {
	Status() int
}

// File is the response type of operations that answer with a file. Operation.Produces lists the media types that the
// file can have.
type File struct {
	// Stream reads the Size bytes of the file. They are read while they are sent, so the whole file is never in memory.
	Stream    pieces
	Size      int64
	MediaType string
	Name      string
	// Shown means that a browser may display the file. Otherwise browsers only save it, which is safe for files that
	// users have uploaded.
	Shown bool
}

// Located is a resource that an operation can read alone. When it is created, the header Location of the answer has its
// address. A resource that can only be listed has no address.
type Located interface {
	Location() string
}

// validator is a request type with checks across several members. Validate runs only if each member obeys its own
// rules.
type validator interface {
	Validate() []schema.Detail
}

// Handle makes a Handler from a function. If the request has a raw body, the request and the body are pooled and
// reused. A function that stored either of them would later see the data of another caller there. Strings in requests
// are copies and may be stored.
func Handle[Req, Resp any](fn func(ctx context.Context, c *access.Caller, req *Req) (Resp, error)) Handler {
	pool := sync.Pool{New: func() any { return new(Req) }}
	respond := responder[Resp]()
	return Handler{
		Request:  reflect.TypeFor[Req](),
		Response: reflect.TypeFor[Resp](),
		invoke: func(ctx context.Context, rt *route, c *call) error {
			var req *Req
			// Raw bodies are mostly events, which arrive often. So their requests are not allocated each time.
			if rt.plan.body.raw {
				req = pool.Get().(*Req)
				defer func() {
					var empty Req
					*req = empty
					pool.Put(req)
				}()
			} else {
				req = new(Req)
			}
			if err := rt.plan.bind(ctx, reflect.ValueOf(req).Elem(), c); err != nil {
				return err
			}
			if err := rt.plan.validate(req, &c.checks); err != nil {
				return err
			}
			if rt.op.Scope.Widens {
				if err := c.frame.authorizeWidening(ctx, c, req); err != nil {
					return err
				}
			}
			// Only changes of resources need the actor. Events and reads do without it, which saves an allocation.
			if rt.changes {
				ctx = postgres.By(ctx, acting{c, rt.op})
			}
			ctx, stop := c.watched(ctx, rt.op)
			resp, err := func() (Resp, error) {
				defer stop()
				return fn(ctx, &c.Caller, req)
			}()
			if err != nil {
				return err
			}
			return respond(ctx, rt, c, resp)
		},
	}
}

// responder returns the function that sends a response of this type. It is called once for each operation.
func responder[Resp any]() func(_ context.Context, rt *route, c *call, resp Resp) error {
	var zero Resp
	switch any(zero).(type) {
	case NoContent:
		return func(_ context.Context, _ *route, c *call, resp Resp) error {
			for name, value := range any(resp).(NoContent).Header {
				c.http.Response.Header.Set(name, value)
			}
			c.http.SetStatusCode(http.StatusNoContent)
			return nil
		}
	case Encoded:
		return func(ctx context.Context, rt *route, c *call, resp Resp) error {
			return writeEncoded(ctx, c, rt, any(resp).(Encoded))
		}
	case File:
		return func(_ context.Context, rt *route, c *call, resp Resp) error {
			writeFile(c.http, rt.op.Status, any(resp).(File))
			return nil
		}
	case Redirect:
		return func(_ context.Context, rt *route, c *call, resp Resp) error {
			writeRedirect(c.http, rt.op.Status, any(resp).(Redirect))
			return nil
		}
	case Pixel:
		return func(_ context.Context, rt *route, c *call, _ Resp) error {
			writePixel(c.http, rt.op.Status)
			return nil
		}
	case Page:
		return func(_ context.Context, rt *route, c *call, resp Resp) error {
			return writePage(c.http, rt.op, any(resp).(Page))
		}
	}
	return func(_ context.Context, rt *route, c *call, resp Resp) error {
		status := rt.op.Status
		if own, ok := any(resp).(Statused); ok {
			status = own.Status()
		}
		if made, ok := any(resp).(Located); ok && status == http.StatusCreated {
			c.http.Response.Header.Set("Location", made.Location())
		}
		c.http.SetStatusCode(status)
		return writeJSON(c.http, resp)
	}
}

// writeEncoded sends an encoded answer. The ETag of a shared answer is made from its name. So the answer is not loaded
// if the client already has it.
func writeEncoded(ctx context.Context, c *call, rt *route, encoded Encoded) error {
	tagged := encoded.Body
	if encoded.Shared != nil {
		tagged = []byte(encoded.Shared.Name)
	}
	if rt.op.Conditional && conditional(c, tagged) {
		encodedHeaders(c.http, encoded)
		if encoded.Shared == nil && compressible(len(encoded.Body)) {
			unsentHeaders(c.http)
		}
		return nil
	}
	if encoded.Shared != nil {
		shared, err := c.frame.shared.get(ctx, encoded.Shared)
		if err != nil {
			return err
		}
		c.shared, encoded = shared, shared.answer
		c.http.Response.SetBodyRaw(encoded.Body)
	} else {
		c.http.SetBody(encoded.Body)
	}
	c.http.SetStatusCode(rt.op.Status)
	encodedHeaders(c.http, encoded)
	return nil
}

func encodedHeaders(ctx *fasthttp.RequestCtx, encoded Encoded) {
	jsonHeaders(ctx)
	for name, value := range encoded.Header {
		ctx.Response.Header.Set(name, value)
	}
	if encoded.ContentType != "" {
		ctx.SetContentType(encoded.ContentType)
	}
}

// baseName removes the folders from a file's name. Otherwise a bad name could make a client save the file in another
// folder.
func baseName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if base == "." || base == ".." || base == "/" {
		return "file"
	}
	return base
}

// writeFile sends a file with headers that stop browsers from guessing its type and from running it.
func writeFile(ctx *fasthttp.RequestCtx, status int, file File) {
	disposition := "attachment"
	if file.Shown {
		disposition = "inline"
	}
	header := &ctx.Response.Header
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": baseName(file.Name)}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	ctx.SetStatusCode(status)
	ctx.SetContentType(file.MediaType)
	ctx.Response.SetBodyStream(file.Stream, int(file.Size))
	// Without this flush, the first write would only fill the rest of the small buffer that contains the headers.
	ctx.Response.ImmediateHeaderFlush = true
}
