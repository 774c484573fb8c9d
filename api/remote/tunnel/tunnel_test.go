package tunnel

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
)

// TestAnswers checks that Send returns the HTTP status of the server's answer, whatever the length of its body. If the
// answer ends early, Send must return an error.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		announced, body string
		failed          bool
	}{
		"no body": {}, "a short one": {body: "OK"}, "a long one": {body: strings.Repeat("x", 1<<20)}, "half of one": {announced: "10", body: "OK", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1" || r.FormValue("event") != `{"a":1}` || r.FormValue("environment") != `{"b":2}` {
					t.Errorf("%s %v", r.URL, r.Form)
				}
				if test.announced != "" {
					w.Header().Set("Content-Length", test.announced)
				}
				_, _ = w.Write([]byte(test.body)) // the client may not read all of it
			}))
			defer server.Close()
			status, err := New(outboundtest.Guard(t, outboundtest.Loopback)).Send(t.Context(), server.URL, []byte(`{"a":1}`), []byte(`{"b":2}`))
			if (err != nil) != test.failed || err == nil && status != http.StatusOK {
				t.Errorf("%d %v", status, err)
			}
		})
	}
}
