package api

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/octavo-docs/octavo/schema"
)

// TestPDFRenderersAreFew: who finds none free waits for a while, is refused then, and takes none.
func TestPDFRenderersAreFew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newExports(nil, links{})
		for range maxRenderers {
			if err := h.takeRenderer(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		err := h.takeRenderer(t.Context())
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || e.RetryAfterSeconds() == 0 {
			t.Errorf("%v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.takeRenderer(gone); err == nil {
			t.Error("a caller who has gone got a renderer")
		}
		<-h.renderers
		if err := h.takeRenderer(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
