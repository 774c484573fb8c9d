//go:build !race

package frame_test

import (
	"testing"

	"github.com/valyala/fasthttp"
)

// TestFrameAllocatesNothing checks that only the router's path values cause allocations.
func TestFrameAllocatesNothing(t *testing.T) {
	handler, request := benchFrame(t)
	ctx := &fasthttp.RequestCtx{}
	request(ctx)
	handler(ctx)
	routed := testing.AllocsPerRun(1000, func() {
		ctx.Response.Reset()
		handler(ctx)
	})
	// The router copies and boxes each path value: https://github.com/fasthttp/router/blob/v1.5.4/radix/node.go
	if routed > 6 {
		t.Errorf("an event request makes %v allocations, want at most 6", routed)
	}
}
