package frame_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// benchFrame returns the server's handler, and a function that fills a request with events. The token and the site of
// the request are cached, so only the frame is measured.
func benchFrame(b testing.TB) (handler fasthttp.RequestHandler, request func(ctx *fasthttp.RequestCtx)) {
	b.Helper()
	h := apitest.New(b, func(c *frame.Config, d *api.Deps) {
		c.AuthTTL, d.Intake, d.Log = time.Hour, discard{}, slog.New(slog.DiscardHandler)
	})
	if a := h.Do(http.MethodPost, h.EventsPath(), h.Ours.SiteKey, `{"events":[]}`); a.Status != http.StatusNoContent {
		b.Fatalf("%d %s", a.Status, a.Body)
	}
	body := make([]byte, 600)
	return h.Server.Handler(), func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.SetMethod(http.MethodPost)
		ctx.Request.SetRequestURI(h.EventsPath())
		ctx.Request.Header.Set("Authorization", "Bearer "+h.Ours.SiteKey)
		ctx.Request.Header.SetContentType("application/json")
		ctx.Request.SetBody(body)
	}
}

type discard struct{}

func (discard) Accept(context.Context, schema.EventSite, []byte, schema.ClientInfo) (int, error) {
	return 0, nil
}

func (discard) AcceptDoor(context.Context, schema.EventSite, []byte, schema.DoorInfo) error {
	return nil
}

func (discard) RefuseUnread(string, *insights.Reason) {}

func (discard) OneAddress(string) bool { return false }

// BenchmarkDoor is like BenchmarkFrame, for a browser's batch of one event.
func BenchmarkDoor(b *testing.B) {
	handler, request := benchDoor(b)
	handleAll(b, handler, request)
}

// benchDoor is like benchFrame, for a browser's batch of one event.
func benchDoor(b testing.TB) (handler fasthttp.RequestHandler, request func(ctx *fasthttp.RequestCtx)) {
	b.Helper()
	h := apitest.New(b, func(c *frame.Config, d *api.Deps) {
		c.AuthTTL, d.Intake, d.Log = time.Hour, discard{}, slog.New(slog.DiscardHandler)
	})
	_, key := h.PublishableKey(h.Ours, "docs.example.com")
	return h.Server.Handler(), func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.SetMethod(http.MethodPost)
		ctx.Request.SetRequestURI("/e/" + key)
		ctx.Request.Header.SetContentType("text/plain;charset=UTF-8")
		ctx.Request.Header.Set("Origin", "https://docs.example.com")
		ctx.Request.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		ctx.Request.SetBodyString(`{"id":"0123456789abcdef","events":[{"type":"page_view","age":1500,"language":"de",` +
			`"url":"https://docs.example.com/guides/install?utm_source=x","referrer":"https://search.example/","title":"Install"}]}`)
	}
}

// BenchmarkFrame measures a request with events through the whole frame. The intake does nothing.
func BenchmarkFrame(b *testing.B) {
	handler, request := benchFrame(b)
	handleAll(b, handler, request)
}

// handleAll measures how fast a handler answers the same request many times.
func handleAll(b *testing.B, handler fasthttp.RequestHandler, request func(ctx *fasthttp.RequestCtx)) {
	b.Helper()
	b.ResetTimer()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := &fasthttp.RequestCtx{}
		request(ctx)
		for pb.Next() {
			ctx.Response.Reset()
			ctx.ResetUserValues()
			handler(ctx)
			if ctx.Response.StatusCode() != http.StatusNoContent {
				b.Errorf("%d %s", ctx.Response.StatusCode(), ctx.Response.Body())
				return
			}
		}
	})
}

// BenchmarkBare is the baseline for BenchmarkFrame: a handler without the frame answers the same request with 204.
func BenchmarkBare(b *testing.B) {
	_, request := benchFrame(b)
	handleAll(b, func(ctx *fasthttp.RequestCtx) { ctx.SetStatusCode(http.StatusNoContent) }, request)
}

// BenchmarkServed measures the frame and the baseline over a connection, including the parsing of requests.
func BenchmarkServed(b *testing.B) {
	handler, request := benchFrame(b)
	bare := func(ctx *fasthttp.RequestCtx) { ctx.SetStatusCode(http.StatusNoContent) }
	for name, h := range map[string]fasthttp.RequestHandler{"frame": handler, "bare": bare} {
		b.Run(name, func(b *testing.B) {
			server := &fasthttp.Server{Handler: h, NoDefaultContentType: true, NoDefaultServerHeader: true}
			listener := fasthttputil.NewInmemoryListener()
			go func() { _ = server.Serve(listener) }()
			defer func() { _ = server.Shutdown() }()
			client := &fasthttp.HostClient{Addr: "x", Dial: func(string) (net.Conn, error) { return listener.Dial() }, MaxConns: 64}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				ctx := &fasthttp.RequestCtx{}
				request(ctx)
				ctx.Request.SetHost("x")
				response := &fasthttp.Response{}
				for pb.Next() {
					if err := client.Do(&ctx.Request, response); err != nil || response.StatusCode() != http.StatusNoContent {
						b.Errorf("%d %v", response.StatusCode(), err)
						return
					}
				}
			})
		})
	}
}
