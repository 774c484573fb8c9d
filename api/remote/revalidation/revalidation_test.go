package revalidation_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/revalidation"
)

const secret = "what both sides know"

// frontEnd is a front end that checks signatures and records tags.
type frontEnd struct {
	*httptest.Server
	mu     sync.Mutex
	tags   []string
	calls  int
	status int
}

func newFrontEnd(t *testing.T) *frontEnd {
	f := &frontEnd{status: http.StatusOK}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		var sent struct {
			Tags []string `json:"tags"`
		}
		switch {
		case err != nil || r.Method != http.MethodPost || r.URL.Path != "/docs/~gitbook/revalidate" || json.Unmarshal(body, &sent) != nil:
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("X-Gitbook-Signature") != hex.EncodeToString(mac.Sum(nil)):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			f.calls++
			if f.status == http.StatusOK {
				f.tags = append(f.tags, sent.Tags...)
			}
			w.WriteHeader(f.status)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func client(t *testing.T, key string, allow []string, addresses ...string) *revalidation.Client {
	t.Helper()
	frontEnds, err := revalidation.ParseFrontEnds(addresses)
	if err != nil {
		t.Fatal(err)
	}
	return revalidation.New(revalidation.Config{Guard: outboundtest.Guard(t, allow...), FrontEnds: frontEnds, Secret: key})
}

var loopback = []string{"127.0.0.1"}

func TestRevalidate(t *testing.T) {
	t.Parallel()
	one, two := newFrontEnd(t), newFrontEnd(t)
	c := client(t, secret, loopback, one.URL+"/docs", two.URL+"/docs/")
	var tags []string
	for i := range 450 {
		tags = append(tags, fmt.Sprintf("space:%d", i))
	}
	if err := c.Revalidate(t.Context(), tags); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*frontEnd{one, two} {
		if !slices.Equal(f.tags, tags) || f.calls != 3 {
			t.Errorf("%d tags in %d calls", len(f.tags), f.calls)
		}
	}
	if err := c.Revalidate(t.Context(), nil); err != nil || one.calls != 3 {
		t.Errorf("nothing to tell: %v, %d calls", err, one.calls)
	}
}

// TestRevalidateFails uses a front end that fails. The other front end must still be notified.
func TestRevalidateFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secret string
		allow  []string
		status int
		closed bool
		want   string
	}{
		"wrong secret":     {secret: "another", allow: loopback, want: "answered 401"},
		"no secret":        {allow: loopback, want: "answered 401"},
		"server error":     {secret: secret, allow: loopback, status: http.StatusBadGateway, want: "answered 502"},
		"redirect":         {secret: secret, allow: loopback, status: http.StatusFound, want: "front end 127.0.0.1"},
		"closed":           {secret: secret, allow: loopback, closed: true, want: "front end 127.0.0.1"},
		"not opened to us": {secret: secret, want: "front end 127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken, well := newFrontEnd(t), newFrontEnd(t)
			if test.status != 0 {
				broken.status = test.status
			}
			if test.closed {
				broken.Close()
			}
			err := client(t, test.secret, test.allow, broken.URL+"/docs", well.URL+"/docs").Revalidate(t.Context(), []string{"site:a"})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if heard := len(well.tags) == 1; heard != (test.status != 0 || test.closed) {
				t.Errorf("the other front end heard %v", well.tags)
			}
		})
	}
}

func TestParseFrontEnds(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"docs.example.com", "ftp://docs.example.com", "https://", "https://user@docs.example.com", "https://docs.example.com?a=b", "https://docs.example.com/#a", "http://[::1"} {
		if _, err := revalidation.ParseFrontEnds([]string{"https://a.example", wrong}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if got, err := revalidation.ParseFrontEnds([]string{" https://a.example/docs ", ""}); err != nil || len(got) != 1 || got[0].String() != "https://a.example/docs" {
		t.Errorf("%v %v", got, err)
	}
}
