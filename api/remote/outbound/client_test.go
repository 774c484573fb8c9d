package outbound

import (
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

var testLimits = Limits{
	TLS: eventually.Patience, Headers: eventually.Patience, Whole: eventually.Patience,
	Redirects: 3, WireBytes: 10_000, Bytes: 50_000,
}

// web has servers on loopback. The operator has allowed open.example and other.example. The name inner.example has the
// same address, but is not allowed.
type web struct {
	plain, secure *httptest.Server
	guard         *Guard
	client        *http.Client
	dns           *names
}

func newWeb(t *testing.T, limits Limits, handler http.HandlerFunc) *web {
	t.Helper()
	w := &web{
		plain: httptest.NewServer(handler), secure: httptest.NewUnstartedServer(handler),
		dns: &names{answers: map[string][]string{
			"open.example": {"127.0.0.1"}, "other.example": {"127.0.0.1"}, "example.com": {"127.0.0.1"}, "inner.example": {"127.0.0.1"},
		}},
	}
	// Certificates are refused on purpose, so these errors are not logged.
	w.secure.EnableHTTP2, w.secure.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	w.secure.StartTLS()
	t.Cleanup(w.plain.Close)
	t.Cleanup(w.secure.Close)
	authorities := x509.NewCertPool()
	authorities.AddCert(w.secure.Certificate())
	w.guard = New(Config{Policy: policy(t, "open.example", "other.example", "example.com"), Resolver: w.dns, Authorities: authorities})
	w.client = w.guard.Client(limits)
	t.Cleanup(w.client.CloseIdleConnections)
	return w
}

// at returns the URL of a path on one of the servers.
func (w *web) at(scheme, host, path string) string {
	server := w.plain
	if scheme == "https" {
		server = w.secure
	}
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	return scheme + "://" + net.JoinHostPort(host, port) + path
}

func (w *web) do(t *testing.T, method, url, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		req.Body, req.GetBody = nil, nil
	}
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("Private-Token", "secret")
	req.Header.Set("Cookie", "a=secret")
	req.Header.Set("User-Agent", "octavo")
	response, err := w.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

func TestClientAnswers(t *testing.T) {
	t.Parallel()
	w := newWeb(t, testLimits, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Proto, " ", r.Host, " ", r.URL, " ", r.Header.Get("Authorization"))
	})
	for url, want := range map[string]string{
		w.at("http", "open.example", "/a?b#c"):    "HTTP/1.1 " + strings.TrimPrefix(w.at("http", "open.example", ""), "http://") + " /a?b Bearer secret",
		w.at("http", "OPEN.Example.", "/a"):       "HTTP/1.1 " + strings.TrimPrefix(w.at("http", "open.example", ""), "http://") + " /a Bearer secret",
		w.at("https", "example.com", "/a"):        "HTTP/2.0 " + strings.TrimPrefix(w.at("https", "example.com", ""), "https://") + " /a Bearer secret",
		w.at("http", "ｏpen。ｅxample", "/%2e%2e/a"): "HTTP/1.1 " + strings.TrimPrefix(w.at("http", "open.example", ""), "http://") + " /%2e%2e/a Bearer secret",
	} {
		if got, err := w.do(t, "GET", url, ""); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", url, got, err, want)
		}
	}
	if w.client.Transport.(*transport).base.Proxy != nil {
		t.Error("the client would ask a proxy of the environment")
	}
}

func TestClientRefuses(t *testing.T) {
	t.Parallel()
	w := newWeb(t, testLimits, func(http.ResponseWriter, *http.Request) { t.Error("reached") })
	stranger := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(stranger.Close)
	closed := newWeb(t, testLimits, nil)
	closed.plain.Close()
	for _, test := range []struct {
		url    string
		reason *Reason
		text   string
	}{
		{w.at("http", "inner.example", ""), RefusedNetwork, "inner.example is not on the public network"},
		{w.at("http", "127.0.0.1", ""), RefusedNetwork, "127.0.0.1 is not on the public network"},
		{w.at("http", "::ffff:127.0.0.1", ""), RefusedNetwork, "127.0.0.1 is not on the public network"},
		{w.at("http", "127.1", ""), InvalidAddress, `"127.1" is not an address that can be reached: an IPv4 address has four decimal numbers`},
		{"http://missing.example", HostNotFound, "missing.example has no address"},
		{"http://me:secret@open.example", InvalidAddress, "open.example is not an address that can be reached: the URL has login data"},
		{"ftp://open.example", InvalidAddress, `"open.example" is not an address that can be reached: only http and https URLs are reached`},
		{"http://open.example:22", RefusedPort, "open.example is not reached on this port"},
		{"http://open.example:6379", RefusedPort, "open.example is not reached on this port"},
		{closed.at("http", "open.example", ""), ConnectFailed, "open.example accepted no connection"},
		// the certificate is for example.com
		{w.at("https", "open.example", ""), TLSFailed, "open.example has no TLS certificate that can be trusted"},
		{strings.Replace(w.at("http", "example.com", ""), "http:", "https:", 1), TLSFailed, "example.com has no TLS certificate that can be trusted"},
	} {
		_, err := w.do(t, "GET", test.url, "")
		if e := Explain(err); err == nil || e.Reason != test.reason || e.Error() != test.text {
			t.Errorf("%s: got %v (%v)", test.url, e, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	type seen struct{ method, host, body, authorization, token, cookie, referer, agent string }
	for _, test := range []struct {
		name             string
		method, body     string
		from, status, to string // the first answer is a redirect from "from" to "to"
		reason           *Reason
		last             seen
	}{
		{"same origin", "GET", "", "http://open.example", "302", "/end", nil, seen{"GET", "open.example", "", "Bearer secret", "secret", "a=secret", "", "octavo"}},
		{"a body to the same origin", "POST", "body", "http://open.example", "307", "/end", nil, seen{"POST", "open.example", "body", "Bearer secret", "secret", "a=secret", "", "octavo"}},
		{"another host", "GET", "", "http://open.example", "302", "http://other.example/end", nil, seen{"GET", "other.example", "", "", "", "", "", "octavo"}},
		{"there and back", "GET", "", "http://open.example", "302", "http://other.example/back", nil, seen{"GET", "open.example", "", "", "", "", "", "octavo"}},
		{"another scheme", "GET", "", "http://example.com", "302", "https://example.com/end", nil, seen{"GET", "example.com", "", "", "", "", "", "octavo"}},
		{"a post becomes a get", "POST", "body", "http://open.example", "303", "http://other.example/end", nil, seen{"GET", "other.example", "", "", "", "", "", "octavo"}},
		{"a body to another host", "POST", "body", "http://open.example", "307", "http://other.example/end", RefusedRedirect, seen{}},
		{"https to http", "GET", "", "https://example.com", "302", "http://example.com/end", RefusedRedirect, seen{}},
		{"another protocol", "GET", "", "http://open.example", "302", "ftp://open.example/end", RefusedRedirect, seen{}},
		{"a file", "GET", "", "http://open.example", "302", "file:///etc/passwd", RefusedRedirect, seen{}},
		{"a private name", "GET", "", "http://open.example", "302", "http://inner.example/end", RefusedNetwork, seen{}},
		{"a private address", "GET", "", "http://open.example", "302", "http://127.0.0.1/end", RefusedNetwork, seen{}},
		{"metadata", "GET", "", "http://open.example", "301", "http://169.254.169.254/latest/meta-data/", RefusedNetwork, seen{}},
		{"a number", "GET", "", "http://open.example", "302", "http://2130706433/end", InvalidAddress, seen{}},
		{"a port", "GET", "", "http://open.example", "302", "http://open.example:22/", RefusedPort, seen{}},
		{"login data", "GET", "", "http://open.example", "302", "", InvalidAddress, seen{}},
		{"a loop", "GET", "", "http://open.example", "302", "/start", TooManyHops, seen{}},
		{"no URL", "GET", "", "http://open.example", "302", "http://[::1", BadResponse, seen{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var hops []seen
			var web *web
			web = newWeb(t, testLimits, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				host, _, _ := net.SplitHostPort(r.Host)
				h := r.Header
				hops = append(hops, seen{r.Method, host, string(body), h.Get("Authorization"), h.Get("Private-Token"), h.Get("Cookie"), h.Get("Referer"), h.Get("User-Agent")})
				target := test.to
				switch r.URL.Path {
				case "/start":
				case "/back":
					target = "http://open.example/end"
				default:
					return
				}
				for _, origin := range []string{"http://open.example/", "http://other.example/", "http://example.com/", "https://example.com/", "http://inner.example/", "http://127.0.0.1/"} {
					scheme, rest, _ := strings.Cut(strings.TrimSuffix(origin, "/"), "://")
					if path, found := strings.CutPrefix(target, origin); found {
						target = web.at(scheme, rest, "/"+path)
					}
				}
				if test.name == "login data" {
					target = strings.Replace(web.at("http", "open.example", "/end"), "open", "me:pass@open", 1)
				}
				w.Header().Set("Location", target)
				w.WriteHeader(map[string]int{"301": 301, "302": 302, "303": 303, "307": 307}[test.status])
			})
			scheme, host, _ := strings.Cut(test.from, "://")
			_, err := web.do(t, test.method, web.at(scheme, host, "/start"), test.body)
			if test.reason == nil {
				if err != nil || hops[len(hops)-1] != test.last {
					t.Errorf("got %v, the last hop %+v, want %+v", err, hops[len(hops)-1], test.last)
				}
				return
			}
			e := Explain(err)
			if err == nil || e.Reason != test.reason || len(hops) > 1 && test.reason != TooManyHops || len(hops) > testLimits.Redirects+1 {
				t.Fatalf("got %v (%v) after %d hops", e, err, len(hops))
			}
			for _, secret := range []string{"127.0.0.1", "inner", "169.254", "pass", "2130706433", "[::1"} {
				if strings.Contains(e.Error(), secret) {
					t.Errorf("the message %q names the target", e)
				}
			}
			if test.reason != BadResponse && !strings.HasPrefix(e.Error(), host) {
				t.Errorf("the message %q does not name the host", e)
			}
		})
	}
}

// TestRebindingRedirect redirects to the same host. The client opens a new connection and checks its address again.
func TestRebindingRedirect(t *testing.T) {
	t.Parallel()
	hops := 0
	w := newWeb(t, testLimits, nil)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops++
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, "/next", http.StatusFound)
	})
	w.dns.answers["rebind.example"] = []string{"127.0.0.2", "10.0.0.1"}
	w.guard.policy = policy(t, "127.0.0.2")
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_, err = w.do(t, "GET", "http://rebind.example:"+port, "")
	e := Explain(err)
	if err == nil || e.Reason != RefusedNetwork || hops != 1 || e.Error() != "rebind.example (after a redirect) is not on the public network" {
		t.Errorf("got %v after %d hops", e, hops)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	zip := func(size int) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(make([]byte, size)) // Write of a Buffer never fails
		_ = w.Close()
		return out.Bytes()
	}
	noise := func(size int) []byte { // noise cannot be compressed
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * i >> 3 * 7)
		}
		return data
	}
	empty := zip(0)
	for _, test := range []struct {
		name, encoding string
		body           []byte
		method         string
		length         bool // whether the answer has a Content-Length
		reason         *Reason
		size           int
	}{
		{"at the limit", "", noise(10_000), "GET", true, nil, 10_000},
		{"at the limit, chunked", "", noise(10_000), "GET", false, nil, 10_000},
		{"above the limit", "", noise(10_001), "GET", true, TooLarge, 0},
		{"above the limit, chunked", "", noise(10_001), "GET", false, TooLarge, 10_000},
		{"inflated to the limit", "gzip", zip(50_000), "GET", true, nil, 50_000},
		{"inflated above the limit", "gzip", zip(50_001), "GET", true, TooLarge, 50_000},
		{"a bomb", "gzip", zip(5_000_000), "GET", false, TooLarge, 50_000},
		{"many empty parts", "gzip", bytes.Repeat(empty, 10_000/len(empty)+1), "GET", false, TooLarge, 0},
		{"empty", "gzip", nil, "GET", true, nil, 0},
		{"a head", "", noise(20_000), "HEAD", true, nil, 0},
		{"cut gzip", "gzip", zip(50_000)[:30], "GET", true, ConnectionLost, -1},
		{"no gzip", "gzip", []byte("plain text"), "GET", true, BadResponse, 0},
		{"another encoding", "br", []byte("x"), "GET", true, BadResponse, 0},
		{"two encodings", "gzip, gzip", zip(1), "GET", true, BadResponse, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, testLimits, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					t.Errorf("accepts %q", r.Header.Get("Accept-Encoding"))
				}
				if test.encoding != "" {
					w.Header().Set("Content-Encoding", test.encoding)
				}
				if test.length {
					w.Header().Set("Content-Length", fmt.Sprint(len(test.body)))
				} else {
					w.(http.Flusher).Flush()
				}
				_, _ = w.Write(test.body) // the client may have disconnected
			})
			text, err := w.do(t, test.method, w.at("http", "open.example", ""), "")
			if test.reason == nil && err != nil || test.reason != nil && (err == nil || Explain(err).Reason != test.reason || Explain(err).Host != "open.example") {
				t.Errorf("got %v", err)
			}
			if test.size >= 0 && len(text) != test.size {
				t.Errorf("%d bytes, want %d", len(text), test.size)
			}
		})
	}
}

// TestHostileServers calls servers that speak another protocol, or that send nothing.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	quick := testLimits
	quick.Headers = 50 * time.Millisecond
	whole := testLimits
	whole.Whole = 50 * time.Millisecond
	for _, test := range []struct {
		name    string
		limits  Limits
		answer  string
		hold    bool // whether the connection stays open
		reasons []*Reason
	}{
		{"silence", quick, "", true, []*Reason{TimedOut}},
		{"silence for the whole time", whole, "", true, []*Reason{TimedOut}},
		{"half an answer", whole, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true, []*Reason{TimedOut}},
		{"a cut answer", testLimits, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false, []*Reason{ConnectionLost}},
		{"no answer", testLimits, "", false, []*Reason{ConnectionLost}},
		{"another protocol", testLimits, "SSH-2.0-OpenSSH_9.9\r\n", false, []*Reason{BadResponse}},
		{"large headers", testLimits, "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", maxResponseHeader+8192), true, []*Reason{BadResponse}},
		{"another protocol by upgrade", testLimits, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", true, []*Reason{BadResponse}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, test.limits, nil)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					defer func() { _ = conn.Close() }() // the connection is closed when the listener is
					_, _ = conn.Read(make([]byte, 4096))
					_, _ = io.WriteString(conn, test.answer)
					if !test.hold {
						_ = conn.Close()
					}
				}
			}()
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			_, err = w.do(t, "GET", "http://open.example:"+port, "")
			if err == nil || !slices.Contains(test.reasons, Explain(err).Reason) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	if Explain(nil) != nil {
		t.Error("nil is explained")
	}
	if got := Explain(fmt.Errorf("Get %q: %w", "http://10.0.0.1", io.ErrUnexpectedEOF)).Error(); got != "the server ended the connection before its answer was complete" {
		t.Errorf("got %q", got)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "90": 90 * time.Second, "-5": 0, "soon": 0, "999999999": 24 * time.Hour, "99999999999999999999": 0, "1.5": 0,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Wed, 31 Dec 2025 23:00:00 GMT": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {value}}, now, 24*time.Hour); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
