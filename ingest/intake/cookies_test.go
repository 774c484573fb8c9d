package intake

import (
	"bytes"
	"testing"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// TestCookiesStayOutside checks that no byte of a cookie reaches the log. So no cookie reaches the store or a dead
// letter. It checks cookies of several forms, also for a site that stores ids in clear.
func TestCookiesStayOutside(t *testing.T) {
	t.Parallel()
	for name, cookies := range map[string]string{
		"texts":   `{"sid-name":"secret-value"}`,
		"escaped": `{"sid-name":"secr\u0065t-value","sid-name":"secret-value"}`,
		"nested":  `{"a":{"sid-name":["secret-value",{"sid-name":"secret-value"}]}}`,
		"numbers": `{"sid-name":1,"b":"secret-value"}`,
	} {
		for kind, c := range ingesttest.Minimal {
			log := &ingesttest.MemoryLog{}
			in := newTestIntake(t, log, nil)
			extra := `"session":{"cookies":` + cookies + `,"visitorId":"v","sessionId":"s","visitorAuthClaims":{"plan":"free"}}`
			if c.Extra != "" {
				extra += "," + c.Extra
			}
			body := []byte(ingesttest.Events(ingesttest.Event(kind, extra)))
			if err := in.Accept(t.Context(), Site{ID: "site_1", ClearIDs: true}, body, testClient); err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			for _, secret := range []string{"secret-value", "sid-name"} {
				if !bytes.Contains(body, []byte(secret)) || bytes.Contains(log.Messages[0], []byte(secret)) {
					t.Errorf("%s, %s: the log has %q", name, kind, secret)
				}
			}
			if !bytes.Contains(log.Messages[0], []byte("plan")) {
				t.Errorf("%s, %s: the log lacks a claim", name, kind)
			}
		}
	}
}
