package outbound

import (
	"compress/gzip"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Limits bound one use of HTTP. All limits except Redirects must be set.
type Limits struct {
	TLS     time.Duration // longest time of the TLS handshake
	Headers time.Duration // longest time from the end of the request to the headers of the answer
	Whole   time.Duration // longest time of the whole request, with redirects and the body of the answer
	// Redirects is the largest number of redirects that are followed. If it is 0, redirects are not followed.
	Redirects int
	// WireBytes bounds the body as it is sent. Bytes bounds the body after decompression.
	WireBytes, Bytes int64
}

const (
	maxResponseHeader = 64 << 10
	idleTimeout       = 30 * time.Second
)

// Client returns a client for one use of HTTP. Callers should call Client once and share the result, because the client
// reuses connections. Explain converts the errors of the client.
//
// If an answer is compressed with gzip, the client decompresses it. If a redirect leads to another origin, only the
// headers in safeHeaders are sent there.
func (g *Guard) Client(l Limits) *http.Client {
	base := &http.Transport{
		Proxy:       nil, // a proxy of the environment is not used, because it would resolve names itself
		DialContext: g.DialContext, TLSClientConfig: &tls.Config{RootCAs: g.authorities, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: l.TLS, ResponseHeaderTimeout: l.Headers, MaxResponseHeaderBytes: maxResponseHeader,
		IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: 2, MaxIdleConns: 16, ForceAttemptHTTP2: true,
		DisableCompression: true, // transport decompresses, and limits both sizes of an answer
	}
	return &http.Client{Transport: &transport{base, l}, CheckRedirect: checkRedirect(l.Redirects), Timeout: l.Whole}
}

// transport checks the URL of each request in a chain of redirects. It also limits the size of each body.
type transport struct {
	base   *http.Transport
	limits Limits
}

// CloseIdleConnections is called by CloseIdleConnections of http.Client.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper. Its errors are of type *Error.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	fail := func(err error) (*http.Response, error) {
		if req.Body != nil {
			_ = req.Body.Close() // RoundTrip must close the body; the first error is more useful
		}
		return nil, firstHop(req, err)
	}
	target, _, refused := parseURL(req.URL)
	if refused != nil {
		return fail(refused)
	}
	if req.URL.User != nil {
		return fail(&Error{Reason: InvalidAddress, Host: target.Hostname(), Detail: "the URL has login data"})
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = target, target.Host
	if out.Header.Get("Accept-Encoding") == "" && out.Header.Get("Range") == "" {
		out.Header.Set("Accept-Encoding", "gzip")
	}
	watched := startPace(req.Context())
	out.Body = watched.watch(out.Body, false)
	response, err := t.base.RoundTrip(out)
	if err != nil {
		watched.end()
		return nil, firstHop(req, err)
	}
	response.Body = watched.watch(response.Body, true)
	if err := t.bound(req, response); err != nil {
		_ = response.Body.Close() // the first error is more informative
		return nil, firstHop(req, err)
	}
	return response, nil
}

// bound replaces the body of a response by a decompressed body. Reading this body fails if it exceeds a limit.
func (t *transport) bound(req *http.Request, response *http.Response) error {
	if response.StatusCode == http.StatusSwitchingProtocols {
		return &Error{Reason: BadResponse}
	}
	response.Request = req // base received a copy of req
	if req.Method == http.MethodHead {
		return nil
	}
	if response.ContentLength > t.limits.WireBytes {
		return &Error{Reason: TooLarge}
	}
	wire := &bounded{from: response.Body, left: t.limits.WireBytes, req: req}
	body := &bounded{from: wire, left: t.limits.Bytes, req: req}
	switch response.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip", "x-gzip":
		body.from = &inflated{wire: wire}
		response.Header.Del("Content-Encoding")
		response.Header.Del("Content-Length")
		response.ContentLength, response.Uncompressed = -1, true
	default:
		return &Error{Reason: BadResponse}
	}
	response.Body = &closing{body, response.Body}
	return nil
}

// firstHop returns an Error that names the host that the user typed. This is the host of the first request in a chain
// of redirects.
func firstHop(req *http.Request, err error) *Error {
	known := Explain(err)
	e := &Error{Reason: known.Reason, Host: known.Host, Detail: known.Detail, cause: err}
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	if first != req {
		e.Redirected, e.Detail = true, "" // the detail is about a text that the user did not type
	}
	if _, h, refused := parseURL(first.URL); refused == nil {
		e.Host = h.String()
	}
	return e
}

// safeHeaders are the headers that are also sent to another origin after a redirect. So callers must not put secrets
// into them.
var safeHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "User-Agent"}

// checkRedirect returns the function that decides whether a redirect is followed. The URL of the redirect is checked by
// `transport`.
func checkRedirect(most int) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		refuse := func(reason *Reason) error {
			e := firstHop(via[0], &Error{Reason: reason})
			return e
		}
		if len(via) > most {
			return refuse(TooManyHops)
		}
		last := via[len(via)-1]
		if req.URL.Scheme != "https" && (req.URL.Scheme != "http" || last.URL.Scheme == "https") {
			return refuse(RefusedRedirect)
		}
		req.Header.Del("Referer") // the query in the Referer may contain a secret
		// net/http sends the headers of the first request with every request of the chain. If a request of the chain
		// goes to another origin, this request and all later requests have only the headers in safeHeaders.
		for _, hop := range append(via[1:len(via):len(via)], req) {
			if SameOrigin(via[0].URL, hop.URL) {
				continue
			}
			if req.Body != nil {
				return refuse(RefusedRedirect)
			}
			kept := http.Header{}
			for _, name := range safeHeaders {
				if values := req.Header.Values(name); len(values) > 0 {
					kept[name] = values
				}
			}
			req.Header = kept
			break
		}
		return nil
	}
}

// SameOrigin reports whether two URLs have the same scheme, host and port. If one of the URLs cannot be read, the
// result is false.
func SameOrigin(a, b *url.URL) bool {
	targetA, _, errA := parseURL(a)
	targetB, _, errB := parseURL(b)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && targetA.Hostname() == targetB.Hostname() && port(targetA) == port(targetB)
}

func port(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// bounded reads at most `left` bytes. If there are more bytes, it returns an error, because a part of an answer would
// be wrong data.
type bounded struct {
	from io.Reader
	left int64
	req  *http.Request
}

func (b *bounded) Read(p []byte) (int, error) {
	// The code below reads up to one byte more than the limit. So it can distinguish an answer of exactly the limit
	// from a larger answer.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, firstHop(b.req, &Error{Reason: TooLarge})
	}
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = firstHop(b.req, err)
	}
	return n, err
}

// inflated decompresses gzip. It reads the gzip header in the first Read, because a response may have no body.
type inflated struct {
	wire io.Reader
	gzip *gzip.Reader
}

func (i *inflated) Read(p []byte) (int, error) {
	if i.gzip == nil {
		reader, err := gzip.NewReader(i.wire)
		if err != nil {
			return 0, err
		}
		i.gzip = reader
	}
	return i.gzip.Read(p)
}

type closing struct {
	io.Reader
	io.Closer
}

// RetryAfter returns the pause that an answer requests. The header has a number of seconds, or a date. The pause is at
// most `longest`. It is 0 if the answer requests no pause.
func RetryAfter(header http.Header, now time.Time, longest time.Duration) time.Duration {
	value := header.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second // the product fits, because seconds has 31 bits
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longest)
}
