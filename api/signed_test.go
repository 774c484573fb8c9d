package api

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSignedAddressesEnd looks at an address with a clock that has gone on.
func TestSignedAddressesEnd(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	exports := newExports(st, links{})
	now := time.Now()
	e := export{space: tenant.Space.ID, revision: tenant.Space.Revision}
	signature, err := exports.signature(t.Context(), pdfPath, e.query(now.Add(pdfLifetime)))
	if err != nil {
		t.Fatal(err)
	}
	encoded, expires := base64.RawURLEncoding.EncodeToString(signature), int(now.Add(pdfLifetime).Unix())
	r := &signedRequest{Space: &e.space, Revision: &e.revision, Expires: &expires, Signature: &encoded}
	for after, ok := range map[time.Duration]bool{0: true, pdfLifetime - 2*time.Second: true, pdfLifetime + time.Second: false} {
		if err := exports.check(t.Context(), &Caller{Now: now.Add(after)}, pdfPath, r, e); (err == nil) != ok {
			t.Errorf("after %s: %v", after, err)
		}
	}
}
