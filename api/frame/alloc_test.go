//go:build !race

package frame_test

import (
	"testing"

	"github.com/valyala/fasthttp"
)

// TestFrameAllocatesNothing checks that a request with events allocates no more than the router does for path values.
func TestFrameAllocatesNothing(t *testing.T) {
	handler, request := benchFrame(t)
	allocatesAtMost(t, 6, handler, request)
}

// TestDoorAllocatesNoMore: a request with a browser's batch allocates as often as any other request with events. The
// router and the texts of headers cause these allocations.
func TestDoorAllocatesNoMore(t *testing.T) {
	handler, request := benchDoor(t)
	allocatesAtMost(t, 6, handler, request)
}

func allocatesAtMost(
	t *testing.T, most float64, handler fasthttp.RequestHandler, request func(ctx *fasthttp.RequestCtx),
) {
	t.Helper()
	ctx := &fasthttp.RequestCtx{}
	request(ctx)
	handler(ctx)
	routed := testing.AllocsPerRun(1000, func() {
		ctx.Response.Reset()
		handler(ctx)
	})
	// The router copies and boxes each path value: https://github.com/fasthttp/router/blob/v1.5.4/radix/node.go
	if routed > most {
		t.Errorf("an event request makes %v allocations, want at most %v", routed, most)
	}
	if status := ctx.Response.StatusCode(); status != fasthttp.StatusNoContent {
		t.Errorf("%d %s", status, ctx.Response.Body())
	}
}
