package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// wire is a connection on which a test writes what it likes.
type wire struct {
	t testing.TB
	net.Conn
	answers *bufio.Reader
}

func (h *harness) wire() *wire {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &wire{t: h.t, Conn: conn, answers: bufio.NewReader(conn)}
}

func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.t.Fatal(err)
	}
}

// answer reads the next one.
func (w *wire) answer() answer {
	w.t.Helper()
	response, err := http.ReadResponse(w.answers, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

// wantClosed wants the server's end of the connection, without another answer.
func (w *wire) wantClosed() {
	w.t.Helper()
	if rest, err := io.ReadAll(w.answers); err != nil && !strings.Contains(err.Error(), "reset") || len(rest) > 0 {
		w.t.Errorf("the connection goes on: %q %v", rest, err)
	}
}

func (h *harness) eventsPath() string {
	return "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events"
}

// post is the head of an event request with a token ("" for none) and more header lines.
func (h *harness) post(token string, lines ...string) string {
	if token != "" {
		lines = append(lines, "Authorization: Bearer "+token)
	}
	return "POST " + h.eventsPath() + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(lines, "", ""), "\r\n")
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// TestNoBodyIsAwaitedWithoutToken announces bodies that never come: the answer does not wait for them.
func TestNoBodyIsAwaitedWithoutToken(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"announced":    {h.post("", "Content-Length: 8388600"), 401},
		"chunked":      {h.post("", "Transfer-Encoding: chunked"), 401},
		"no token":     {h.post("", "Content-Length: 8388600", "Authorization: Basic eDp4eHh4eHh4eHh4eHh4eA=="), 401},
		"short":        {h.post("short", "Content-Length: 8388600"), 401},
		"expected":     {h.post("", "Content-Length: 10", "Expect: 100-continue"), 401},
		"other method": {strings.Replace(h.post("", "Content-Length: 8388600"), "POST", "PUT", 1), 405},
		"other path":   {strings.Replace(h.post("", "Content-Length: 8388600"), "/v1", "/v2", 1), 404},
		"page":         {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 8388600\r\n\r\n", 200},
	} {
		w := h.wire()
		w.send(test.request)
		if got := w.answer(); got.status != test.status || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		w.wantClosed()
	}
}

// TestAnnouncedBodiesTakeNoMemory holds connections that announce as much as any operation takes: with a token that nobody
// knows, and with a good one.
func TestAnnouncedBodiesTakeNoMemory(t *testing.T) {
	h := newHarness(t)
	const conns, most = 500, 64 << 10
	for name, head := range map[string]string{
		"made up": h.post(schema.NewToken(), "Content-Length: 8388600"),
		"good":    h.post(h.ours.SiteKey, fmt.Sprint("Content-Length: ", EventBodyLimit)) + "{",
		"chunked": h.post(h.ours.SiteKey, "Transfer-Encoding: chunked") + "400000\r\n{",
	} {
		h.serve(nil)
		before := heap()
		for range conns {
			h.wire().send(head)
		}
		eventually.True(t, patience, "all requests", func() bool { return h.server.Busy() == conns })
		h.wantError(h.do("GET", "/v1/user", "", nil), http.StatusUnauthorized)
		if grown := (heap() - before) / conns; grown > most {
			t.Errorf("%s: %d bytes for each connection", name, grown)
		}
	}
}

// TestSilentConnectionsTakeLittle: what has sent nothing has no buffers yet, and ends with the time for it or with the server.
func TestSilentConnectionsTakeLittle(t *testing.T) {
	h := newHarness(t)
	const conns, most = 500, 8 << 10 // with the client's end
	before := heap()
	silent := make([]*wire, conns)
	for i := range silent {
		silent[i] = &wire{t: t, Conn: h.wire().Conn}
	}
	eventually.True(t, patience, "all connections", func() bool { return h.server.OpenConnections() == conns })
	if grown := (heap() - before) / conns; grown > most {
		t.Errorf("%d bytes for each connection", grown)
	}
	if n := h.server.Buffered(); n != 0 {
		t.Errorf("fasthttp has buffers for %d of them", n)
	}
	late := silent[0]
	late.answers = bufio.NewReader(late.Conn)
	late.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := late.answer(); got.status != http.StatusOK {
		t.Errorf("one that asks at last: %d", got.status)
	}
	if err := h.server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, w := range silent[1:] {
		w.answers = bufio.NewReader(w.Conn)
		w.wantClosed()
	}
	h.serve(nil, func(c *Config, _ *Deps) { c.HeaderTimeout = time.Millisecond })
	h.wire().wantClosed()
	eventually.True(t, patience, "no connection", func() bool { return h.server.OpenConnections() == 0 })
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestBodyMemoryIsBounded fills the memory for bodies: the next large one is refused, small ones are not, and it passes.
func TestBodyMemoryIsBounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.server.SetBodyMemory(4 * BodyPieces[2])
	var holders []*wire
	for range 4 {
		w := h.wire()
		w.send(h.post(h.ours.SiteKey, "Content-Length: 1000000") + strings.Repeat(" ", 20_000))
		holders = append(holders, w)
	}
	large := `{"events":[]}` + strings.Repeat(" ", 30_000)
	var refused answer
	eventually.True(t, patience, "a refusal", func() bool {
		refused = h.do("POST", h.eventsPath(), h.ours.SiteKey, large)
		return refused.status == http.StatusServiceUnavailable
	})
	h.wantError(refused, http.StatusServiceUnavailable)
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	inflated := h.do("POST", h.eventsPath(), h.ours.SiteKey, encoders["gzip"](t, []byte(large)), "Content-Encoding", "gzip")
	h.wantError(inflated, http.StatusServiceUnavailable)
	if a := h.do("POST", h.eventsPath(), h.ours.SiteKey, `{"events":[]}`); a.status != 204 {
		t.Errorf("a small body: %d %s", a.status, a.body)
	}
	for _, w := range holders {
		_ = w.Close()
	}
	eventually.True(t, patience, "the memory's return", func() bool {
		return h.do("POST", h.eventsPath(), h.ours.SiteKey, large).status == 204
	})
}

// TestBodyMemoryIsShared fills the share of a site's key: its next large body is refused, and those of others pass.
func TestBodyMemoryIsShared(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	memory := h.server.SetBodyMemory(DefaultBodyMemory)
	key, err := h.st.Authenticate(t.Context(), schema.HashToken([]byte(h.ours.SiteKey)))
	if err != nil {
		t.Fatal(err)
	}
	var releases []func()
	fill := func(size int) error {
		release, err := memory.Fill(t.Context(), key.TokenID, size)
		releases = append(releases, release)
		return err
	}
	for range LeastBodyShare / EventBodyLimit {
		if err := fill(EventBodyLimit); err != nil {
			t.Fatal(err)
		}
	}
	if err := fill(BodyPieces[1]); !schema.IsCode(err, schema.CodeTooManyRequests) {
		t.Errorf("beyond the share: %v", err)
	}
	large := `{"events":[]}` + strings.Repeat(" ", 30_000)
	refused := h.do("POST", h.eventsPath(), h.ours.SiteKey, large)
	h.wantError(refused, http.StatusTooManyRequests)
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if a := h.do("POST", h.eventsPath(), h.ours.SiteKey, `{"events":[]}`); a.status != 204 {
		t.Errorf("a small body: %d %s", a.status, a.body)
	}
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	largest := 0
	for i := range h.table {
		if op := &h.table[i]; op.BodyLimit == BodyPieces[len(BodyPieces)-1] {
			largest++
			path, body := h.example(op, h.ours)
			if a := h.do(op.Method, path, h.ours.Tokens[schema.RoleAdmin], padded(body.(string), op.BodyLimit)); a.status != op.Status {
				t.Errorf("%s of another token, 8 MiB: %d %s", op.ID, a.status, a.body)
			}
		}
	}
	if largest == 0 {
		t.Error("no operation takes 8 MiB")
	}
	for _, release := range releases {
		release()
	}
	if a := h.do("POST", h.eventsPath(), h.ours.SiteKey, padded(`{"events":[]}`, EventBodyLimit)); a.status != 204 {
		t.Errorf("after the others: %d %s", a.status, a.body)
	}
	eventually.True(t, patience, "no holders", func() bool { return memory.Holders() == 0 })
}

// TestContinueIsForThoseWhoMaySend asks by Expect whether a body is welcome.
func TestContinueIsForThoseWhoMaySend(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	expect := "Expect: 100-continue"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"made up token": {h.post(schema.NewToken(), expect, "Content-Length: 13"), 401},
		"too large":     {h.post(h.ours.SiteKey, expect, "Content-Length: 99999999"), 413},
		"other path":    {strings.Replace(h.post(h.ours.SiteKey, expect, "Content-Length: 13"), "/v1", "/v2", 1), 404},
		"other method":  {strings.Replace(h.post(h.ours.SiteKey, expect, "Content-Length: 13"), "POST", "PUT", 1), 405},
	} {
		w := h.wire()
		w.send(test.request)
		h.wantError(w.answer(), test.status)
		w.wantClosed()
		_ = name
	}
	w := h.wire()
	w.send(h.post(h.ours.SiteKey, expect, "Content-Length: 13"))
	if got := w.answer(); got.status != http.StatusContinue {
		t.Fatalf("%d %s", got.status, got.body)
	}
	w.send(`{"events":[]}`)
	if got := w.answer(); got.status != http.StatusNoContent || got.header.Get("Content-Type") != "" {
		t.Fatalf("%d %v %s", got.status, got.header, got.body)
	}
}

// TestFramingIsStrict sends what a proxy could read otherwise than we do. The connection ends, and what came behind is no
// request.
func TestFramingIsStrict(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	second := h.post(h.ours.SiteKey, "Content-Length: 13") + `{"events":[]}`
	for name, request := range map[string]string{
		"both lengths":      h.post(h.ours.SiteKey, "Content-Length: 13", "Transfer-Encoding: chunked") + chunk(`{"events":[]}`) + "0\r\n\r\n",
		"both, other order": h.post(h.ours.SiteKey, "tRANSFER-eNCODING: chunked", "cONTENT-lENGTH: 13") + chunk(`{"events":[]}`) + "0\r\n\r\n",
		"identity":          h.post(h.ours.SiteKey, "Transfer-Encoding: identity", "Content-Length: 13") + `{"events":[]}`,
		"folded":            h.post(h.ours.SiteKey, "X-Folded: a\r\n b", "Content-Length: 13") + `{"events":[]}`,
		"folded by tab":     h.post(h.ours.SiteKey, "X-Folded: a\r\n\tb", "Content-Length: 13") + `{"events":[]}`,
		"version":           strings.Replace(h.post(h.ours.SiteKey, "Content-Length: 13"), "HTTP/1.1", "HTTP/9.9", 1) + `{"events":[]}`,
	} {
		w := h.wire()
		w.send(request + second)
		if got := w.answer(); got.status != 400 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		} else {
			h.wantError(got, 400)
		}
		w.wantClosed()
	}
	if len(h.intake.bodies) > 0 {
		t.Errorf("the intake has got %q", h.intake.bodies)
	}
}

// TestCutBodiesAreNotTaken ends the client's side in the middle of a body.
func TestCutBodiesAreNotTaken(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, request := range map[string]string{
		"length":         h.post(h.ours.SiteKey, "Content-Length: 20") + `{"events":[]}`,
		"chunk":          h.post(h.ours.SiteKey, "Transfer-Encoding: chunked") + "14\r\n" + `{"events":[]}`,
		"no last chunk":  h.post(h.ours.SiteKey, "Transfer-Encoding: chunked") + chunk(`{"events":[]}`),
		"large, no last": h.post(h.ours.SiteKey, "Transfer-Encoding: chunked") + chunk(`{"events":[`+strings.Repeat(" ", 40_000)+`]}`),
	} {
		w := h.wire()
		w.send(request)
		if err := w.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got := w.answer(); got.status != 400 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if len(h.intake.bodies) > 0 {
		t.Errorf("the intake has got %q", h.intake.bodies)
	}
}

// TestRefusedBodiesAreNotRequests sends a refused request and another behind it, in one piece.
func TestRefusedBodiesAreNotRequests(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	inner := "GET /v1/user HTTP/1.1\r\nHost: x\r\n\r\n"
	next := h.post(h.ours.SiteKey, "Content-Length: 13") + `{"events":[]}`
	refused := "POST /v1/orgs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.ours.SiteKey + "\r\n"
	w := h.wire()
	w.send(refused + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(inner)) + inner + next)
	h.wantError(w.answer(), http.StatusForbidden)
	if got := w.answer(); got.status != 204 {
		t.Errorf("the connection is not kept: %d %s", got.status, got.body)
	}
	w = h.wire()
	w.send(refused + fmt.Sprintf("Content-Length: %d\r\n\r\n", 1<<20) + strings.Repeat(inner, (1<<20)/len(inner)+1))
	h.wantError(w.answer(), http.StatusForbidden)
	w.wantClosed()
	w = h.wire()
	w.send(refused + "Transfer-Encoding: chunked\r\n\r\n" + chunk(inner) + "0\r\n\r\n" + next)
	h.wantError(w.answer(), http.StatusForbidden)
	w.wantClosed()
}

// TestConnectionsOfOneAddress are bounded, but for trusted proxies.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	metrics := testMetrics(t)
	h := newHarness(t, func(c *Config, d *Deps) { c.MaxConnsPerIP, d.Metrics = 3, metrics })
	var open []*wire
	for range 3 {
		open = append(open, h.wire())
	}
	w := h.wire()
	got := w.answer()
	h.wantError(got, http.StatusTooManyRequests)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.wantClosed()
	if n := testutil.ToFloat64(metrics.Ended("address")); n != 1 {
		t.Errorf("%v counted", n)
	}
	_ = open[0].Close()
	eventually.True(t, patience, "room", func() bool {
		w := h.wire()
		_, err := io.WriteString(w, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		return err == nil && w.answer().status == 200
	})

	trusting := newHarness(t, func(c *Config, _ *Deps) {
		c.MaxConnsPerIP, c.TrustedProxies = 3, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for range 5 {
		w := trusting.wire()
		w.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if got := w.answer(); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// TestIdleConnectionsMakeRoom takes all connections. Idle ones, the oldest first, end for the next; where all are busy, the
// next is refused.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	metrics := testMetrics(t)
	h := newHarness(t, func(c *Config, d *Deps) { c.MaxConns, d.Metrics = 4, metrics })
	ask := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	first := h.wire()
	first.send(ask)
	first.answer()
	eventually.True(t, patience, "an idle connection", func() bool { return h.server.Busy() == 0 })
	slow := make([]*wire, 3)
	for i := range slow {
		slow[i] = h.wire()
		slow[i].send(ask[:10])
	}
	eventually.True(t, patience, "busy connections", func() bool { return h.server.Busy() == 3 })
	next := h.wire()
	next.send(ask)
	if got := next.answer(); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	first.wantClosed()
	if n := testutil.ToFloat64(metrics.Ended("idle")); n != 1 {
		t.Errorf("%v counted", n)
	}
	next.send(ask[:10])
	eventually.True(t, patience, "only busy connections", func() bool { return h.server.Busy() == 4 })
	over := h.wire()
	got := over.answer()
	h.wantError(got, http.StatusServiceUnavailable)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	slow[0].send(ask[10:])
	if got := slow[0].answer(); got.status != 200 {
		t.Errorf("a busy one: %d", got.status)
	}
}

// TestWrongTokensAreLimited: after some, an address is told to wait, and the database is not asked. Who was known goes on.
func TestWrongTokensAreLimited(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config, _ *Deps) { c.WrongTokenRateLimit, c.AuthTTL = 1, time.Nanosecond })
	good := h.ours.Tokens[schema.RoleAdmin]
	for range 5 { // A good one costs nothing, known or not.
		if a := h.do("GET", "/v1/user", good, nil); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	var last answer
	for range 10 {
		if last = h.do("GET", "/v1/user", schema.NewToken(), nil); last.status == http.StatusTooManyRequests {
			break
		}
		h.wantError(last, http.StatusUnauthorized)
	}
	h.wantError(last, http.StatusTooManyRequests)
	if last.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.wantError(h.do("GET", "/v1/user", "", nil), http.StatusTooManyRequests)
	if a := h.do("GET", "/v1/user", good, nil); a.status != 200 {
		t.Errorf("a good token: %d %s", a.status, a.body)
	}
	h.exec("alter table tokens rename to tokens_lost")
	h.wantError(h.do("GET", "/v1/user", schema.NewToken(), nil), http.StatusTooManyRequests)
	h.wantError(h.do("GET", "/v1/user", good, nil), http.StatusInternalServerError)
}

// TestPublicOperationsAreLimited uses an address up on every row that needs no token.
func TestPublicOperationsAreLimited(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config, _ *Deps) {
		c.PublicRateLimit, c.TrustedProxies = 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	found := 0
	for i := range h.table {
		op := &h.table[i]
		if !op.Scope.public {
			continue
		}
		if op.BodyLimit > 0 {
			t.Errorf("%s has a body, which is not read without a token", op.ID)
		}
		found++
		path, _ := h.example(op, ghost())
		client, other := fmt.Sprint("2001:db8::", found), fmt.Sprintf("2001:db8:%d::", found)
		var last answer
		for range 5 {
			last = h.do(op.Method, path, "", nil, "X-Forwarded-For", client)
		}
		h.wantError(last, http.StatusTooManyRequests)
		h.wantError(h.do(op.Method, path, "", nil, "X-Forwarded-For", client+"1"), http.StatusTooManyRequests)
		if a := h.do(op.Method, path, "", nil, "X-Forwarded-For", other); a.status == http.StatusTooManyRequests {
			t.Errorf("%s: another address has to wait", op.ID)
		}
	}
	if found == 0 {
		t.Error("no public operation")
	}
}

// TestRefusalsQuoteLittle sends names of megabytes in a few bytes.
func TestRefusalsQuoteLittle(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, body := range map[string]string{
		"long name": `{"` + strings.Repeat("A", 3<<20) + `": x}`,
		"long key":  `{"secrets":{"` + strings.Repeat("é", 1<<20) + `":1}}`,
		"deep":      strings.Repeat("[", 200_000),
		"deep keys": strings.Repeat(`{"aaaaaaaaaaaaaaaaaaaa":`, 5000) + "x",
	} {
		before := len(h.log.String())
		a := h.do("POST", "/v1/integrations/zz", h.ours.Tokens[schema.RoleAdmin], encoders["br"](t, []byte(body)), "Content-Encoding", "br")
		h.wantError(a, 400)
		if len(a.body) > 2000 {
			t.Errorf("%s: an answer of %d bytes", name, len(a.body))
		}
		if grown := len(h.log.String()) - before; grown > 4000 {
			t.Errorf("%s: %d bytes of log", name, grown)
		}
	}
	a := h.do(strings.Repeat("X", 8000), "/v1/user?"+strings.Repeat("y", 4000), "", nil)
	if len(a.body) > 2000 {
		t.Errorf("a long method: an answer of %d bytes", len(a.body))
	}
}

// TestRefusalsAreLoggedInSamples: every one is in a line of its own or in a count.
func TestRefusalsAreLoggedInSamples(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const sent = 200
	for range sent {
		h.wantError(h.do("GET", "/v1/orgs", "", nil), http.StatusUnauthorized)
	}
	count := func() (logged int) {
		for line := range strings.Lines(h.log.String()) {
			var entry struct {
				Msg, Operation string
				Count          int
			}
			if json.Unmarshal([]byte(line), &entry) != nil || entry.Operation != "listOrganizationsForAuthenticatedUser" {
				continue
			}
			switch entry.Msg {
			case "request refused":
				logged++
			case "more requests refused":
				logged += entry.Count
			}
		}
		return logged
	}
	eventually.True(t, patience, "the counts", func() bool { return count() == sent })
}

// TestAnswersAreNotKept looks at the headers of every operation's answer.
func TestAnswersAreNotKept(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for i := range h.table {
		op := &h.table[i]
		a := h.try(op, h.ours, h.ours.Tokens[schema.RoleAdmin])
		if a.header.Get("Content-Type") != "application/json" {
			continue
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", op.ID, a.header)
		}
	}
}

func TestDocsAreFramedByNobody(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := h.do("GET", "/docs", "", nil)
	policy := a.header.Get("Content-Security-Policy")
	if a.status != 200 || a.header.Get("Content-Type") != "text/html; charset=utf-8" || a.header.Get("X-Frame-Options") != "DENY" ||
		!strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src 'unsafe-inline'") {
		t.Errorf("%d %v", a.status, a.header)
	}
	scripts := InlineScript.FindAllSubmatch(a.body, -1)
	if got := strings.Count(policy, "'sha256-"); got == 0 || got != len(scripts) {
		t.Errorf("%d scripts, %s", len(scripts), policy)
	}
	if strings.Contains(string(a.body), "persistAuthorization") {
		t.Error("the page keeps tokens")
	}
}

// TestRightsComeBeforeTheBody sends what is no JSON to every operation on an object of somebody else. Where the body names the
// object, what is no JSON comes behind the name.
func TestRightsComeBeforeTheBody(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	named := 0
	for i := range h.table {
		op := &h.table[i]
		if op.BodyLimit == 0 || op.Scope.object == nil && op.Scope.named == nil {
			continue
		}
		path, _ := h.example(op, ghost())
		body := "{"
		if op.Scope.named != nil {
			named++
			body = fmt.Sprintf(`{"a":[{"%[1]s":"x"}],"%[1]s":"%s",`, op.Scope.named.member, h.ours.Organization.ID)
			for token, status := range map[string]int{h.ours.Tokens[schema.RoleEdit]: 403, h.ours.Tokens[schema.RoleGuest]: 403, h.ours.Tokens[schema.RoleAdmin]: 400} {
				if a := h.do(op.Method, path, token, body); a.status != status {
					t.Errorf("%s: %d %s, want %d", op.ID, a.status, a.body, status)
				}
			}
		}
		for token, status := range map[string]int{h.theirs.Tokens[schema.RoleAdmin]: 404, "": 401} {
			if a := h.do(op.Method, path, token, body); a.status != status {
				t.Errorf("%s: %d %s", op.ID, a.status, a.body)
			}
		}
	}
	if named == 0 {
		t.Error("no body names an object")
	}
}

// TestNamedObjects: the object that is checked is the one that the function uses.
func TestNamedObjects(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	manifest := `"title":"Linear","description":"","script":"export {}"`
	for body, want := range map[string]struct {
		status int
		field  string
	}{
		`{%[2]s}`:                                                      {400, "organization"},
		`{"organization":null,%[2]s}`:                                  {400, "organization"},
		`{"organization":1,%[2]s}`:                                     {400, "organization"},
		`{"organization":"",%[2]s}`:                                    {400, "organization"},
		`{"Organization":"%[1]s",%[2]s}`:                               {400, "organization"},
		`{"organization":"%[1]s","organization":"nobody",%[2]s}`:       {400, "organization"},
		`{"organization":"%[1]s","\u006frganization":"nobody",%[2]s}`:  {400, "organization"},
		`{"\u006frganization":"nobody","organization":"%[1]s",%[2]s}`:  {404, ""},
		`{"x":{"organization":"%[1]s"},"organization":"nobody",%[2]s}`: {404, ""},
		`[]`: {400, ""}, `"%[1]s"`: {400, ""}, `{"a" 1}`: {400, ""}, `{"a":`: {400, "a"}, `{"organization"`: {400, ""}, ``: {400, ""}, `{`: {400, ""},
		`{"title":1,"organization":"%[1]s"}`:                           {400, "title"},
		`{"\u006f\u0072ganization":"%[1]s",%[2]s}`:                     {200, ""},
		`{"x":{"organization":"nobody"},%[2]s,"organization":"%[1]s"}`: {200, ""},
	} {
		a := h.do("POST", "/v1/integrations/named", admin, strings.NewReplacer("%[1]s", h.ours.Organization.ID, "%[2]s", manifest).Replace(body))
		if a.status != want.status {
			t.Errorf("%s: %d %s", body, a.status, a.body)
			continue
		}
		if a.status == 400 {
			if e := h.wantError(a, 400); want.field != "" && (len(e.Details) == 0 || e.Details[0].Field != want.field) {
				t.Errorf("%s: %s", body, a.body)
			}
		}
	}
}
