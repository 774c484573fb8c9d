package content

import (
	"context"
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPDFRenderersAreFew: a request that finds no free slot waits for a while, is refused, and keeps no slot.
func TestPDFRenderersAreFew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newExports(nil, view.Presenter{})
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

// TestSignedAddressesEnd checks a signed URL against a later clock.
func TestSignedAddressesEnd(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	exports := newExports(st, view.Presenter{})
	now := time.Now()
	e := export{space: tenant.Space.ID, revision: tenant.Space.Revision}
	signature, err := exports.signature(t.Context(), pdfPath, e.query(now.Add(pdfLifetime)))
	if err != nil {
		t.Fatal(err)
	}
	encoded, expires := base64.RawURLEncoding.EncodeToString(signature), int(now.Add(pdfLifetime).Unix())
	r := &signedRequest{Space: &e.space, Revision: &e.revision, Expires: &expires, Signature: &encoded}
	for after, ok := range map[time.Duration]bool{0: true, pdfLifetime - 2*time.Second: true, pdfLifetime + time.Second: false} {
		if err := exports.check(t.Context(), &access.Caller{Now: now.Add(after)}, pdfPath, r, e); (err == nil) != ok {
			t.Errorf("after %s: %v", after, err)
		}
	}
}
