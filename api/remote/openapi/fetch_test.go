package openapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// web has a fetcher, and servers on loopback. The policy of the fetcher allows specs.example and mirror.example. The
// canary is a server at the addresses of all other names. It must get no connection.
type web struct {
	t       *testing.T
	fetcher *Fetcher
	canary  *httptest.Server
	heard   atomic.Int64
}

type names struct{}

func (names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func newWeb(t *testing.T, l Limits) *web {
	t.Helper()
	policy := outboundtest.Policy(t, "specs.example", "mirror.example")
	w := &web{t: t, fetcher: NewFetcher(outbound.New(outbound.Config{Policy: policy, Resolver: names{}}), l)}
	w.canary = httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w.canary.Config.ConnState = func(net.Conn, http.ConnState) { w.heard.Add(1) }
	w.canary.Start()
	t.Cleanup(w.canary.Close)
	return w
}

// untouched checks that the canary has got no connection.
func (w *web) untouched() {
	w.t.Helper()
	if n := w.heard.Load(); n > 0 {
		w.t.Errorf("the canary heard %d times of a connection", n)
	}
}

// at returns the address of a path on a server, with a host name that the policy allows.
func (w *web) at(server *httptest.Server, path string) string {
	u, err := url.Parse(server.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return "http://specs.example:" + u.Port() + path
}

// canaryPort returns the port of the canary. Addresses with this port must not be reached.
func (w *web) canaryPort() string {
	_, port, _ := net.SplitHostPort(w.canary.Listener.Addr().String())
	return port
}

const good = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {}\n"

func withRef(ref string) string {
	return "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {/a: {$ref: '" + ref + "'}}\n"
}

// TestFetchFails uses a server that fails in every way. No other server must get a request.
func TestFetchFails(t *testing.T) {
	t.Parallel()
	limits := Limits{Whole: eventually.Patience, Each: eventually.Patience, Documents: 3, Bytes: 20_000}
	w := newWeb(t, limits)
	answers := map[string]http.HandlerFunc{
		"/500":     func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) },
		"/404":     http.NotFound,
		"/204":     func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) },
		"/unasked": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNotModified) },
		"/html":    func(rw http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(rw, "\n <html><p>Sign in</p></html>") },
		"/empty":   func(http.ResponseWriter, *http.Request) {},
		"/redirect": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, r.URL.Query().Get("to"), http.StatusFound)
		},
		"/loop": func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/loop", http.StatusFound) },
		"/half": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(rw, good)
			panic(http.ErrAbortHandler)
		},
		"/large": func(rw http.ResponseWriter, _ *http.Request) {
			for range MaxText/1000 + 1 {
				_, _ = fmt.Fprint(rw, "#"+strings.Repeat("x", 1000)+"\n")
			}
		},
		"/ref": func(rw http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(rw, withRef(r.URL.Query().Get("to"))) },
		"/fat": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(rw, "get: {responses: {}}\n"+strings.Repeat("# fat\n", 4000))
		},
		"/next": func(rw http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(rw, "$ref: /next?%sx", r.URL.RawQuery)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.URL.Path]; ok {
			answer(rw, r)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(server.Close)
	ref := func(to string) string { return w.at(server, "/ref?to="+url.QueryEscape(to)) }
	redirect := func(to string) string { return "/redirect?to=" + url.QueryEscape(to) }
	private, inner := "http://127.0.0.1:"+w.canaryPort()+"/", "http://inner.example:"+w.canaryPort()+"/"
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, test := range []struct {
		url, code, text string
		retryable       bool
	}{
		{w.at(server, "/500"), schema.SpecFetchError, "answered 500", true},
		{w.at(server, "/404"), schema.SpecFetchError, "answered 404", false},
		{w.at(server, "/204"), schema.SpecFetchError, "answered 204", false},
		{w.at(server, "/unasked"), schema.SpecFetchError, "answered 304", false},
		{w.at(server, "/html"), schema.SpecParseError, "is a web page", false},
		{w.at(server, "/empty"), schema.SpecParseError, "is empty", false},
		{w.at(server, "/half"), schema.SpecFetchError, "ended the connection before its answer was complete", true},
		{w.at(server, "/large"), schema.SpecFetchError, "an answer that is too large", false},
		{w.at(server, "/loop"), schema.SpecFetchError, "redirects more often than is followed", false},
		{w.at(closed, "/"), schema.SpecFetchError, "accepted no connection", true},
		{w.at(server, redirect(private)), schema.SpecFetchError, "(after a redirect) is not on the public network", false},
		{w.at(server, redirect(inner)), schema.SpecFetchError, "(after a redirect) is not on the public network", false},
		{w.at(server, redirect("file:///etc/passwd")), schema.SpecFetchError, "redirects to where no redirect is followed", false},
		{private, schema.SpecFetchError, "is not on the public network", false},
		{inner, schema.SpecFetchError, "is not on the public network", false},
		{"file:///etc/passwd", schema.SpecFetchError, "", false},
		{"http://[::1]:" + w.canaryPort() + "/", schema.SpecFetchError, "is not on the public network", false},
		{ref(private), schema.SpecFetchError, "(#/paths/~1a): refers to \"" + private + "\", which cannot be read: it is on another host", false},
		{ref("//inner.example:" + w.canaryPort()), schema.SpecFetchError, "it is on another host", false},
		{ref("file:///etc/passwd"), schema.SpecFetchError, "only http and https addresses are read", false},
		{ref("data:application/json,{}"), schema.SpecFetchError, "only http and https addresses are read", false},
		{ref(redirect(private)), schema.SpecFetchError, "which cannot be read: specs.example (after a redirect) is not on the public network", false},
		{ref("/500"), schema.SpecFetchError, "line 3, column 20 (#/paths/~1a): refers to \"/500\", which cannot be read: specs.example answered 500", true},
		{ref("/html"), schema.SpecParseError, "is a web page", false},
		{ref("/fat"), schema.SpecFetchError, "all documents together are larger", false},
		{ref("/next?"), schema.SpecFetchError, "there are more than 3 documents", false},
	} {
		fetched, err := w.fetcher.Fetch(t.Context(), test.url, nil)
		problems, ok := errors.AsType[Problems](err)
		if !ok || problems[0].Code != test.code || !strings.Contains(problems[0].Error(), test.text) || problems[0].Retryable != test.retryable {
			t.Errorf("%s: %s %v, want %s %q %v", test.url, fetched.Document, err, test.code, test.text, test.retryable)
		}
	}
	w.untouched()
}

// TestFetchWithBytesAsETag fetches from a server whose ETag is not valid UTF-8. The state of the document must be
// storable.
func TestFetchWithBytesAsETag(t *testing.T) {
	t.Parallel()
	w := newWeb(t, DefaultLimits)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("ETag", "\"\xff\"")
		_, _ = fmt.Fprint(rw, good)
	}))
	t.Cleanup(server.Close)
	fetched, err := w.fetcher.Fetch(t.Context(), w.at(server, "/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.EncodeJSON(fetched.Sources); err != nil {
		t.Errorf("%+v: %v", fetched.Sources, err)
	}
}

// TestFetchTimesOut uses servers that never answer, or whose answers never end. There are time limits for the
// specification, for another document, and for all documents together.
func TestFetchTimesOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ref":
			_, _ = fmt.Fprint(rw, withRef("/slow"))
			return
		case "/endless":
			_, _ = fmt.Fprint(rw, good)
			_ = http.NewResponseController(rw).Flush()
		}
		<-release
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	short := Limits{Whole: time.Minute, Each: 50 * time.Millisecond, Documents: 3, Bytes: 20_000}
	together := Limits{Whole: 50 * time.Millisecond, Each: time.Minute, Documents: 3, Bytes: 20_000}
	for _, limits := range []Limits{short, together} {
		w := newWeb(t, limits)
		for _, path := range []string{"/slow", "/endless", "/ref"} {
			_, err := w.fetcher.Fetch(t.Context(), w.at(server, path), nil)
			// On a busy machine, even the first document may take too long. The result is also a time-out.
			if problems, ok := errors.AsType[Problems](err); !ok || problems[0].Code != schema.SpecFetchTimeout || !problems[0].Retryable {
				t.Errorf("%s with %+v: %v", path, limits, err)
			}
		}
	}
	w := newWeb(t, DefaultLimits)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.fetcher.Fetch(ctx, w.at(server, "/slow"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestManyMissingDocuments uses a discriminator that names 200 missing documents. The number of requested documents
// must not exceed the number of problems that are reported.
func TestManyMissingDocuments(t *testing.T) {
	t.Parallel()
	w := newWeb(t, DefaultLimits)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/openapi.yaml" {
			asked.Add(1)
			http.NotFound(rw, r)
			return
		}
		_, _ = fmt.Fprint(rw, good+"components: {schemas: {A: {discriminator: {propertyName: kind, mapping: {")
		for i := range 200 {
			_, _ = fmt.Fprintf(rw, "n%d: n%d.yaml, ", i, i)
		}
		_, _ = fmt.Fprint(rw, "}}}}}\n")
	}))
	t.Cleanup(server.Close)
	_, err := w.fetcher.Fetch(t.Context(), w.at(server, "/openapi.yaml"), nil)
	problems, ok := errors.AsType[Problems](err)
	if !ok || len(problems) != mostProblems || problems[0].Code != schema.SpecFetchError || asked.Load() != mostProblems {
		t.Errorf("%v, %d documents were asked for", err, asked.Load())
	}
}

// TestFetchAgain fetches a specification and its referenced documents again. Some of them have changed.
func TestFetchAgain(t *testing.T) {
	t.Parallel()
	w := newWeb(t, DefaultLimits)
	type document struct{ text, etag string }
	documents := map[string]document{
		"/openapi.yaml": {withRef("/a.yaml"), `"1"`},
		"/a.yaml":       {"get: {responses: {200: {description: One.}}}", ""},
	}
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		d := documents[r.URL.Path]
		modified := "Wed, 25 Nov 2026 00:00:00 GMT"
		if d.etag != "" {
			rw.Header().Set("ETag", d.etag)
		} else {
			rw.Header().Set("Last-Modified", modified)
		}
		if d.etag != "" && r.Header.Get("If-None-Match") == d.etag || d.etag == "" && r.Header.Get("If-Modified-Since") == modified {
			rw.WriteHeader(http.StatusNotModified)
			seen = append(seen, r.URL.Path+" 304")
			return
		}
		_, _ = fmt.Fprint(rw, d.text)
		seen = append(seen, r.URL.Path+" 200")
	}))
	t.Cleanup(server.Close)
	var known []schema.OpenAPISourceState
	step := func(name string, unchanged bool, requests ...string) string {
		seen = nil
		fetched, err := w.fetcher.Fetch(t.Context(), w.at(server, "/openapi.yaml"), known)
		if err != nil || fetched.Unchanged != unchanged || len(fetched.Sources) != 2 || !slices.Equal(seen, requests) {
			t.Fatalf("%s: %+v, %v, %q", name, fetched, err, seen)
		}
		known = fetched.Sources
		return string(fetched.Document)
	}
	step("first", false, "/openapi.yaml 200", "/a.yaml 200")
	step("unchanged", true, "/openapi.yaml 304", "/a.yaml 304")
	documents["/a.yaml"] = document{"get: {responses: {200: {description: Two.}}}", `"2"`}
	if got := step("part", false, "/openapi.yaml 304", "/a.yaml 200", "/openapi.yaml 200", "/a.yaml 200"); !strings.Contains(got, "Two.") {
		t.Errorf("%s", got)
	}
	documents["/openapi.yaml"] = document{withRef("/a.yaml") + "# changed", `"3"`}
	step("specification", false, "/openapi.yaml 200", "/a.yaml 200")
	// The state is for another address, so it is not used.
	known[0].URL = "http://specs.example/other"
	step("moved", false, "/openapi.yaml 200", "/a.yaml 200")
}

// TestFetchWithoutValidators fetches a document again whose server sends no validators. No document must be read twice.
func TestFetchWithoutValidators(t *testing.T) {
	t.Parallel()
	w := newWeb(t, DefaultLimits)
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path)
		if r.URL.Path == "/a.yaml" {
			_, _ = fmt.Fprint(rw, "get: {responses: {200: {description: One.}}}")
			return
		}
		rw.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(rw, withRef("/a.yaml"))
	}))
	t.Cleanup(server.Close)
	var known []schema.OpenAPISourceState
	for range 2 {
		seen = nil
		fetched, err := w.fetcher.Fetch(t.Context(), w.at(server, "/openapi.yaml"), known)
		if err != nil || fetched.Unchanged || len(fetched.Sources) != 2 || !slices.Equal(seen, []string{"/openapi.yaml", "/a.yaml"}) {
			t.Errorf("%+v, %v, %q", fetched, err, seen)
		}
		known = fetched.Sources
	}
}

// TestFetchRedirected fetches a specification through a redirect. Relative references are resolved against the target
// of the redirect.
func TestFetchRedirected(t *testing.T) {
	t.Parallel()
	w := newWeb(t, DefaultLimits)
	mirror := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/new/openapi.yaml":
			_, _ = fmt.Fprint(rw, withRef("a.yaml"))
		case "/new/a.yaml":
			_, _ = fmt.Fprint(rw, "get: {responses: {200: {description: Moved.}}}")
		default:
			http.NotFound(rw, r)
		}
	}))
	t.Cleanup(mirror.Close)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, strings.Replace(w.at(mirror, "/new/openapi.yaml"), "specs.", "mirror.", 1), http.StatusMovedPermanently)
	}))
	t.Cleanup(server.Close)
	fetched, err := w.fetcher.Fetch(t.Context(), w.at(server, "/openapi.yaml"), nil)
	if err != nil || !strings.Contains(string(fetched.Document), "Moved.") {
		t.Errorf("%s %v", fetched.Document, err)
	}
}

// TestOriginInCapitals refers to another document on the same host. The reference has the host name in capital letters.
func TestOriginInCapitals(t *testing.T) {
	t.Parallel()
	w := newWeb(t, DefaultLimits)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a.yaml" {
			_, _ = fmt.Fprint(rw, "get: {responses: {200: {description: One.}}}")
			return
		}
		_, _ = fmt.Fprint(rw, withRef("http://SPECS.Example:"+strings.TrimPrefix(r.Host, "specs.example:")+"/a.yaml"))
	}))
	t.Cleanup(server.Close)
	fetched, err := w.fetcher.Fetch(t.Context(), w.at(server, "/openapi.yaml"), nil)
	if err != nil || !strings.Contains(string(fetched.Document), "One.") {
		t.Errorf("%s %v", fetched.Document, err)
	}
}
