package frame_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// unreader sends a request over a connection with a small buffer. It reads the status of the answer, and nothing after
// it.
func unreader(h *apitest.Harness, request string) (net.Conn, string) {
	h.T.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048)
		})
	}}
	conn, err := dialer.DialContext(h.T.Context(), "tcp", strings.TrimPrefix(h.Base, "http://"))
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(eventually.Patience))
	if _, err := io.WriteString(conn, request); err != nil {
		h.T.Fatal(err)
	}
	line := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, line); err != nil {
		h.T.Fatal(err)
	}
	return conn, string(line[len("HTTP/1.1 "):])
}

func get(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// random returns bytes that cannot be compressed.
func random(size int) []byte {
	made := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(made)
	return made
}

// downloads stores content as a file and as a PDF, and returns the paths for downloading them.
func downloads(h *apitest.Harness, content []byte) map[string]string {
	h.T.Helper()
	paths := map[string]string{}
	for i := range h.Table {
		if op := &h.Table[i]; op.ID == "downloadFile" || op.ID == "downloadPDF" {
			paths[op.ID], _ = h.Example(op, h.Ours)
		}
	}
	h.Exec("update files set content = $1", content)
	h.Exec("update branch_files set size = $1", len(content))
	h.Exec("delete from pdf_chunks")
	for at := 0; at < len(content); at += 1 << 20 {
		chunk := content[at:min(at+1<<20, len(content))]
		h.Exec("insert into pdf_chunks select content, $1, $2 from pdf_contents", at>>20, chunk)
	}
	h.Exec("update pdfs set size = $1", len(content))
	return paths
}

// publicDownloads returns the paths of large answers that need no token. The OpenAPI specification among them has 1
// MiB. A busy machine could not read a larger specification within the time limit of an operation.
func publicDownloads(h *apitest.Harness, content []byte) map[string]string {
	h.T.Helper()
	paths := downloads(h, content)
	admin, specs := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID+"/openapi/large"
	text := strings.TrimSpace(apitest.SpecText) + "\nx-large: " + fmt.Sprintf("%x", content[:512<<10]) + "\n"
	if a := h.Do("PUT", specs, admin, apitest.SpecBody(text)); a.Status >= http.StatusBadRequest {
		h.T.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := h.Do("PATCH", specs, admin, `{"visibility":"public"}`); a.Status != http.StatusOK {
		h.T.Fatalf("%d %s", a.Status, a.Body)
	}
	paths["getPublishedOpenAPISpec"] = specs + "/published"
	paths["document"], paths["docs"] = "/v1/openapi.json", "/docs/insights"
	return paths
}

// TestUnreadAnswersTakeNoMemory opens connections that request large answers without a token and read nothing. Every
// connection gets an answer, and the unread answers take little memory.
func TestUnreadAnswersTakeNoMemory(t *testing.T) {
	h := apitest.New(t)
	const conns, most = 100, 64 << 10 // most also includes the memory of the client's side.
	for name, path := range publicDownloads(h, random(5<<20)) {
		h.Serve(nil)
		h.Do("GET", path, "", nil) // The first answer fills the caches.
		before := heap()
		var open []net.Conn
		for range conns {
			conn, status := unreader(h, get(path))
			if open = append(open, conn); status != "200" {
				t.Fatalf("%s: %s", name, status)
			}
		}
		// The server may still be reading pieces of the answers, a few at a time.
		eventually.True(t, name+" to take little memory", func() bool { return (heap()-before)/conns <= most })
		for _, conn := range open {
			_ = conn.Close()
		}
		eventually.True(
			t,
			"the server to close all connections",
			func() bool { return h.Server.OpenConnections() <= 1 },
		)
	}
}

// TestLargeAnswersAreWhole compares answers that are sent piece by piece with the stored bytes. It uses sizes at and
// around the ends of stored pieces, and sends several requests over one connection.
func TestLargeAnswersAreWhole(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for _, size := range []int{1, 4095, 1 << 20, 5<<20 + 1} {
		content := random(size)
		paths := downloads(h, content)
		for _, id := range []string{"downloadFile", "downloadPDF"} {
			for _, method := range []string{"GET", "HEAD", "GET"} {
				a := h.Do(method, paths[id], "", nil)
				want := content
				if method == "HEAD" {
					want = nil
				}
				if a.Status != http.StatusOK || !bytes.Equal(a.Body, want) ||
					a.Header.Get("Content-Length") != fmt.Sprint(size) {
					t.Errorf("%s %s of %d: %d %x %v", method, id, size, a.Status, sha256.Sum256(a.Body), a.Header)
				}
			}
		}
	}
}

// large is the size of the probes' answers in bytes. It is larger than the kernel's buffers.
const large = 5 << 20

// unsentProbes serves operations with large answers. The memory for unread answers has room for eight of them, and for
// two from one address. Requests name their address in X-Forwarded-For.
func unsentProbes(t *testing.T) (h *apitest.Harness, metrics *frame.PrometheusMetrics, changes *atomic.Int64) {
	t.Helper()
	changes = new(atomic.Int64)
	answer := func() frame.Encoded { return frame.Encoded{Body: bytes.Repeat([]byte(" "), large)} }
	read := probe("GET", "/probe", func(context.Context, *access.Caller, *struct{}) (frame.Encoded, error) {
		return answer(), nil
	})
	small := probe("GET", "/small", func(context.Context, *access.Caller, *struct{}) (frame.Encoded, error) {
		return frame.Encoded{Body: []byte("{}")}, nil
	})
	change := probe("POST", "/change", func(context.Context, *access.Caller, *struct{}) (frame.Encoded, error) {
		changes.Add(1)
		return answer(), nil
	})
	read.ID, small.ID, change.ID = "probeLarge", "probeSmall", "probeChange"
	h = apitest.New(t)
	metrics = apitest.TestMetrics(t)
	h.Serve([]frame.Operation{read, small, change}, func(c *frame.Config, d *api.Deps) {
		c.AnswerMemory = 8*large + 4*large/2
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.Metrics = metrics
	})
	return h, metrics, changes
}

// TestUnreadAnswersAreBounded fills the share of an address, and then all memory for answers, with answers that clients
// do not read.
func TestUnreadAnswersAreBounded(t *testing.T) {
	t.Parallel()
	h, metrics, changes := unsentProbes(t)
	token := h.Ours.Tokens[schema.RoleAdmin]
	ask := func(method, path, from string) apitest.Answer {
		// The answer must not be compressed, because it would then be small.
		return h.Do(method, path, token, nil, "X-Forwarded-For", from, "Accept-Encoding", "identity")
	}
	refused := func(method, path, from string, status int) {
		t.Helper()
		a := ask(method, path, from)
		if h.WantError(a, status); a.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", a.Header)
		}
	}
	unread := func(from string) (net.Conn, string) {
		return unreader(h, get("/v1/probe", "Authorization: Bearer "+token, "X-Forwarded-For: "+from))
	}
	var first []net.Conn
	for range 2 {
		conn, status := unread("192.0.2.1")
		if first = append(first, conn); status != "200" {
			t.Fatal(status)
		}
	}
	if got := testutil.ToFloat64(metrics.Unsent()); got < 2*large || got > 3*large {
		t.Errorf("%v bytes are unsent", got)
	}
	refused("GET", "/v1/probe", "192.0.2.1", http.StatusTooManyRequests)
	if a := ask("GET", "/v1/small", "192.0.2.1"); a.Status != http.StatusOK {
		t.Errorf("a small answer: %d", a.Status)
	}
	if a := ask("GET", "/v1/probe", "192.0.2.2"); a.Status != http.StatusOK || len(a.Body) != large {
		t.Errorf("another address: %d", a.Status)
	}
	// IPv6 addresses of one network use the same share.
	for i := range 2 {
		unread(fmt.Sprintf("2001:db8::%d", i+1))
	}
	refused("GET", "/v1/probe", "2001:db8::3", http.StatusTooManyRequests)
	// A change that is answered with success was made, and a change that is refused was not made.
	if a := ask("POST", "/v1/change", "192.0.2.2"); a.Status != http.StatusOK || changes.Load() != 1 {
		t.Errorf("a change: %d", a.Status)
	}
	for range 4 {
		change := strings.Replace(
			get("/v1/change", "Content-Length: 0", "X-Forwarded-For: 192.0.2.3"),
			"GET",
			"POST",
			1,
		)
		unreader(h, change)
		if changes.Load() == 4 {
			refused("POST", "/v1/change", "192.0.2.3", http.StatusTooManyRequests)
			break
		}
	}
	if got := changes.Load(); got != 4 {
		t.Errorf("%d changes", got)
	}
	for i := range 4 {
		unread(fmt.Sprintf("192.0.2.%d", 10+i))
	}
	refused("GET", "/v1/probe", "192.0.2.20", http.StatusServiceUnavailable)
	for _, conn := range first {
		_ = conn.Close()
	}
	eventually.True(t, "the room to be given back", func() bool {
		return ask("GET", "/v1/probe", "192.0.2.1").Status == http.StatusOK
	})
}

// TestUnreadAnswersAreGivenBack: an answer is counted until the client has read it or the connection has ended.
func TestUnreadAnswersAreGivenBack(t *testing.T) {
	t.Parallel()
	h, metrics, _ := unsentProbes(t)
	token := h.Ours.Tokens[schema.RoleAdmin]
	for range 50 { // All requests use one connection.
		if a := h.Do("GET", "/v1/probe", token, nil, "X-Forwarded-For", "192.0.2.1"); a.Status != http.StatusOK {
			t.Fatal(a.Status)
		}
	}
	conn, _ := unreader(h, get("/v1/probe", "Authorization: Bearer "+token, "Connection: close"))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Error(err)
	}
	eventually.True(t, "nothing to be unsent", func() bool { return testutil.ToFloat64(metrics.Unsent()) == 0 })
}

// TestUnreadAnswersEnd: if a client does not read its answer, the connection is closed.
func TestUnreadAnswersEnd(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	metrics := apitest.TestMetrics(t)
	path := downloads(h, random(6<<20))
	h.Serve(nil, func(c *frame.Config, d *api.Deps) { c.WriteStall, d.Metrics = time.Millisecond, metrics })
	names := []string{"downloadFile", "downloadPDF"}
	for _, name := range names {
		unreader(h, get(path[name]))
	}
	eventually.True(t, "the server to close all connections", func() bool {
		return h.Server.OpenConnections() == 0 && testutil.ToFloat64(metrics.Ended("stalled")) == float64(len(names))
	})
	eventually.True(t, "nothing to be unsent", func() bool { return testutil.ToFloat64(metrics.Unsent()) == 0 })
}

// TestSharedAnswersFail: if one caller fails to load a shared answer, another caller that waits for it loads it again.
func TestSharedAnswersFail(t *testing.T) {
	t.Parallel()
	var loads atomic.Int64
	loading, fail := make(chan struct{}), make(chan struct{})
	h := apitest.New(t)
	op := probe("GET", "/probe", func(context.Context, *access.Caller, *struct{}) (frame.Encoded, error) {
		return frame.Encoded{Shared: &frame.Shared{Name: "shared", Load: func(context.Context) (frame.Encoded, error) {
			if loads.Add(1) == 1 {
				close(loading)
				<-fail
				return frame.Encoded{}, schema.Unavailable(errors.New("broken"), time.Second)
			}
			return frame.Encoded{Body: []byte(`{"loaded":true}`), Header: map[string]string{"X-Loaded": "yes"}}, nil
		}}}, nil
	})
	h.Serve([]frame.Operation{op})
	token := h.Ours.Tokens[schema.RoleAdmin]
	answers := make(chan apitest.Answer, 3)
	ask := func() { answers <- h.Do("GET", "/v1/probe", token, nil) }
	go ask()
	<-loading
	go ask()
	go ask()
	eventually.True(t, "all to wait", func() bool { return h.Server.SharedUsers("shared") == 3 })
	close(fail)
	broken := 0
	for range 3 {
		a := <-answers
		if a.Status == http.StatusServiceUnavailable {
			broken++
		} else if a.Status != http.StatusOK || string(a.Body) != `{"loaded":true}` ||
			a.Header.Get("X-Loaded") != "yes" {
			t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
		}
	}
	if broken != 1 {
		t.Errorf("%d failed", broken)
	}
	// A client may receive its answer before the server releases the answer's memory.
	eventually.True(t, "nobody to use the answer", func() bool { return h.Server.SharedUsers("shared") == 0 })
}
