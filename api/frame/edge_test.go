package frame_test

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

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/insights"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// TestNoBodyIsAwaitedWithoutToken sends requests without a valid token that announce bodies and never send them. The
// server answers without waiting for the body. If the operation admits callers without a token, the server waits only
// for the first byte.
func TestNoBodyIsAwaitedWithoutToken(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"announced":    {strings.Replace(h.Post("", "Content-Length: 8388600"), "/events", "/events/aggregate", 1), 401},
		"chunked":      {strings.Replace(h.Post("", "Transfer-Encoding: chunked"), "/events", "/events/aggregate", 1), 401},
		"events":       {h.Post("", "Content-Length: 4000000") + "{", 401},
		"event chunks": {h.Post("", "Transfer-Encoding: chunked") + "400000\r\n{", 401},
		"no token":     {h.Post("", "Content-Length: 8388600", "Authorization: Basic eDp4eHh4eHh4eHh4eHh4eA=="), 401},
		"short":        {h.Post("short", "Content-Length: 8388600"), 401},
		"expected":     {h.Post("", "Content-Length: 10", "Expect: 100-continue"), 401},
		"other method": {strings.Replace(h.Post("", "Content-Length: 8388600"), "POST", "PUT", 1), 405},
		"other path":   {strings.Replace(h.Post("", "Content-Length: 8388600"), "/v1", "/v2", 1), 404},
		"page":         {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 8388600\r\n\r\n", 200},
	} {
		w := h.Wire()
		w.Send(test.request)
		if got := w.Answer(); got.Status != test.status || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		w.WantClosed()
	}
}

// TestAnnouncedBodiesTakeNoMemory opens many connections whose requests announce very large bodies and do not send
// them. The connections take little memory, with an unknown token and with a valid token.
func TestAnnouncedBodiesTakeNoMemory(t *testing.T) {
	h := apitest.New(t)
	const conns, most = 500, 64 << 10
	for name, head := range map[string]string{
		"made up": h.Post(schema.NewToken(), "Content-Length: 8388600"),
		"good":    h.Post(h.Ours.SiteKey, fmt.Sprint("Content-Length: ", insights.EventBodyLimit)) + "{",
		"chunked": h.Post(h.Ours.SiteKey, "Transfer-Encoding: chunked") + "400000\r\n{",
	} {
		h.Serve(nil)
		before := heap()
		for range conns {
			h.Wire().Send(head)
		}
		eventually.True(t, "the server to be busy with all requests", func() bool { return h.Server.Busy() == conns })
		h.WantError(h.Do("GET", "/v1/user", "", nil), http.StatusUnauthorized)
		if grown := (heap() - before) / conns; grown > most {
			t.Errorf("%s: %d bytes for each connection", name, grown)
		}
	}
}

// TestSilentConnectionsTakeLittle: a connection has no buffers until its first byte arrives. A connection that sends
// nothing is closed after its timeout, or when the server stops.
func TestSilentConnectionsTakeLittle(t *testing.T) {
	h := apitest.New(t)
	const conns, most = 500, 8 << 10 // most includes the memory of the client's end.
	before := heap()
	silent := make([]*apitest.Wire, conns)
	for i := range silent {
		silent[i] = &apitest.Wire{T: t, Conn: h.Wire().Conn}
	}
	eventually.True(t, "the server to open all connections", func() bool { return h.Server.OpenConnections() == conns })
	if grown := (heap() - before) / conns; grown > most {
		t.Errorf("%d bytes for each connection", grown)
	}
	if n := h.Server.Buffered(); n != 0 {
		t.Errorf("fasthttp has buffers for %d of them", n)
	}
	late := silent[0]
	late.Answers = bufio.NewReader(late.Conn)
	late.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := late.Answer(); got.Status != http.StatusOK {
		t.Errorf("one that asks at last: %d", got.Status)
	}
	if err := h.Server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, w := range silent[1:] {
		w.Answers = bufio.NewReader(w.Conn)
		w.WantClosed()
	}
	h.Serve(nil, func(c *frame.Config, _ *api.Deps) { c.HeaderTimeout = time.Millisecond })
	h.Wire().WantClosed()
	eventually.True(t, "the server to close all connections", func() bool { return h.Server.OpenConnections() == 0 })
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestBodyMemoryIsBounded fills the memory for bodies. Until memory is free again, further large bodies are refused,
// and small bodies are accepted.
func TestBodyMemoryIsBounded(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	most := 4 * frame.BodyPieces[2]
	memory := h.Server.SetBodyMemory(most)
	var holders []*apitest.Wire
	for range 4 {
		w := h.Wire()
		w.Send(h.Post(h.Ours.SiteKey, "Content-Length: 1000000") + strings.Repeat(" ", 20_000))
		holders = append(holders, w)
	}
	// The test first waits until all memory is taken. Otherwise the next large body could take memory before the other
	// bodies do.
	eventually.True(t, "the holders to take all memory", func() bool { return memory.Taken() == int64(most) })
	large := `{"events":[]}` + strings.Repeat(" ", 30_000)
	refused := h.Do("POST", h.EventsPath(), h.Ours.SiteKey, large)
	h.WantError(refused, http.StatusServiceUnavailable)
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	inflated := h.Do("POST", h.EventsPath(), h.Ours.SiteKey, apitest.Encoders["gzip"](t, []byte(large)), "Content-Encoding", "gzip")
	h.WantError(inflated, http.StatusServiceUnavailable)
	if a := h.Do("POST", h.EventsPath(), h.Ours.SiteKey, `{"events":[]}`); a.Status != 204 {
		t.Errorf("a small body: %d %s", a.Status, a.Body)
	}
	for _, w := range holders {
		_ = w.Close()
	}
	eventually.True(t, "the server to free the memory", func() bool {
		return h.Do("POST", h.EventsPath(), h.Ours.SiteKey, large).Status == 204
	})
}

// TestBodyMemoryIsShared fills the share of a site key in the memory for bodies. The next large body with this key is
// refused, and large bodies of other callers are accepted.
func TestBodyMemoryIsShared(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	memory := h.Server.SetBodyMemory(frame.DefaultBodyMemory)
	key, err := h.Store.Authenticate(t.Context(), schema.HashToken([]byte(h.Ours.SiteKey)))
	if err != nil {
		t.Fatal(err)
	}
	var releases []func()
	fill := func(size int) error {
		release, err := memory.Fill(t.Context(), key.TokenID, size)
		releases = append(releases, release)
		return err
	}
	for range frame.LeastBodyShare / insights.EventBodyLimit {
		if err := fill(insights.EventBodyLimit); err != nil {
			t.Fatal(err)
		}
	}
	if err := fill(frame.BodyPieces[1]); !schema.IsCode(err, schema.CodeTooManyRequests) {
		t.Errorf("beyond the share: %v", err)
	}
	large := `{"events":[]}` + strings.Repeat(" ", 30_000)
	refused := h.Do("POST", h.EventsPath(), h.Ours.SiteKey, large)
	h.WantError(refused, http.StatusTooManyRequests)
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if a := h.Do("POST", h.EventsPath(), h.Ours.SiteKey, `{"events":[]}`); a.Status != 204 {
		t.Errorf("a small body: %d %s", a.Status, a.Body)
	}
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	largest := 0
	for i := range h.Table {
		if op := &h.Table[i]; op.BodyLimit == frame.BodyPieces[len(frame.BodyPieces)-1] {
			largest++
			path, body := h.Example(op, h.Ours)
			if a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], padded(body.(string), op.BodyLimit)); a.Status != op.Status {
				t.Errorf("%s of another token, 8 MiB: %d %s", op.ID, a.Status, a.Body)
			}
		}
	}
	if largest == 0 {
		t.Error("no operation takes 8 MiB")
	}
	for _, release := range releases {
		release()
	}
	if a := h.Do("POST", h.EventsPath(), h.Ours.SiteKey, padded(`{"events":[]}`, insights.EventBodyLimit)); a.Status != 204 {
		t.Errorf("after the others: %d %s", a.Status, a.Body)
	}
	eventually.True(t, "the memory to have no holders", func() bool { return memory.Holders() == 0 })
}

// TestContinueIsForThoseWhoMaySend sends Expect: 100-continue. Only callers that may send a body get 100.
func TestContinueIsForThoseWhoMaySend(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	expect := "Expect: 100-continue"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"made up token": {h.Post(schema.NewToken(), expect, "Content-Length: 13"), 401},
		"too large":     {h.Post(h.Ours.SiteKey, expect, "Content-Length: 99999999"), 413},
		"other path":    {strings.Replace(h.Post(h.Ours.SiteKey, expect, "Content-Length: 13"), "/v1", "/v2", 1), 404},
		"other method":  {strings.Replace(h.Post(h.Ours.SiteKey, expect, "Content-Length: 13"), "POST", "PUT", 1), 405},
	} {
		w := h.Wire()
		w.Send(test.request)
		h.WantError(w.Answer(), test.status)
		w.WantClosed()
		_ = name
	}
	w := h.Wire()
	w.Send(h.Post(h.Ours.SiteKey, expect, "Content-Length: 13"))
	if got := w.Answer(); got.Status != http.StatusContinue {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	w.Send(`{"events":[]}`)
	if got := w.Answer(); got.Status != http.StatusNoContent || got.Header.Get("Content-Type") != "" {
		t.Fatalf("%d %v %s", got.Status, got.Header, got.Body)
	}
}

// TestFramingIsStrict sends requests whose end a proxy could see at another place. The server closes the connection,
// and does not read the following bytes as a request.
func TestFramingIsStrict(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	second := h.Post(h.Ours.SiteKey, "Content-Length: 13") + `{"events":[]}`
	for name, request := range map[string]string{
		"both lengths": h.Post(h.Ours.SiteKey, "Content-Length: 13", "Transfer-Encoding: chunked") +
			chunk(`{"events":[]}`) + "0\r\n\r\n",
		"both, other order": h.Post(h.Ours.SiteKey, "tRANSFER-eNCODING: chunked", "cONTENT-lENGTH: 13") +
			chunk(`{"events":[]}`) + "0\r\n\r\n",
		"identity": h.Post(h.Ours.SiteKey, "Transfer-Encoding: identity", "Content-Length: 13") +
			`{"events":[]}`,
		"folded": h.Post(h.Ours.SiteKey, "X-Folded: a\r\n b", "Content-Length: 13") + `{"events":[]}`,
		"two tokens": h.Post(h.Ours.SiteKey, "Authorization: Bearer "+h.Ours.SiteKey, "Content-Length: 13") +
			`{"events":[]}`,
		"bare LF": h.Post(h.Ours.SiteKey, "X-Bare: a\nContent-Length: 13") + `{"events":[]}`,
		"bare LF at the end": strings.TrimSuffix(h.Post(h.Ours.SiteKey, "Content-Length: 13"), "\r\n") +
			"\n" + `{"events":[]}`,
		"bare LF of coding": h.Post(h.Ours.SiteKey, "X-Bare: a\nTransfer-Encoding: chunked") + "0\r\n\r\n",
		"folded by tab":     h.Post(h.Ours.SiteKey, "X-Folded: a\r\n\tb", "Content-Length: 13") + `{"events":[]}`,
		"version": strings.Replace(h.Post(h.Ours.SiteKey, "Content-Length: 13"), "HTTP/1.1", "HTTP/9.9", 1) +
			`{"events":[]}`,
	} {
		w := h.Wire()
		w.Send(request + second)
		if got := w.Answer(); got.Status != 400 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		} else {
			h.WantError(got, 400)
		}
		w.WantClosed()
	}
	if len(h.Intake.Bodies) > 0 {
		t.Errorf("the intake has got %q", h.Intake.Bodies)
	}
}

// TestChunkFraming sends chunked bodies whose framing is ambiguous or endless. The server refuses them and closes the
// connection.
func TestChunkFraming(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	const events = `{"events":[]}`
	head, last := h.Post(h.Ours.SiteKey, "Transfer-Encoding: chunked"), "0\r\n\r\n"
	second := h.Post(h.Ours.SiteKey, "Content-Length: 13") + events
	sized := func(line, end string) string { return head + line + events + end + last + second }
	for name, request := range map[string]string{
		"LF after a size": sized("d\n", "\r\n"), "LF after a chunk": sized("d\r\n", "\n"),
		"LF after an extension": sized("d;a=b\n", "\r\n"), "LF in an extension": sized("d;a\nb\r\n", "\r\n"),
		"LF after the last size": head + chunk(events) + "0\n\r\n" + second, "two LF": sized("d\n", "\n"),
		"endless extension":      sized("d;"+strings.Repeat("a", 200_000)+"\r\n", "\r\n"),
		"endless last extension": head + chunk(events) + "0;" + strings.Repeat("a", 200_000) + "\r\n\r\n" + second,
		"endless later extension": head + chunk(`{"events":[`+strings.Repeat(" ", 300_000)) + "2;" +
			strings.Repeat("a", 200_000) + "\r\n]}\r\n" + last + second,
	} {
		w := h.Wire()
		w.Send(request)
		if got := w.Answer(); got.Status != 400 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		w.WantClosed()
	}
	if n := len(h.Intake.Bodies); n > 0 {
		t.Errorf("the intake has got %d bodies", n)
	}
	pieces := chunk(`{"events":[`)
	for range 20_000 {
		pieces += chunk(" ")
	}
	for name, request := range map[string]string{
		"an extension": sized("d;a=b\r\n", "\r\n"), "small chunks": head + pieces + chunk("]}") + last + second,
		"a large chunk":  head + chunk(`{"events":[`+strings.Repeat(" ", 800_000)+`]}`) + last + second,
		"four kilobytes": sized("d;"+strings.Repeat("a", 4000)+"\r\n", "\r\n"),
	} {
		w := h.Wire()
		w.Send(request)
		for range 2 {
			if got := w.Answer(); got.Status != 204 {
				t.Errorf("%s: %d %s", name, got.Status, got.Body)
			}
		}
	}
}

// TestCutBodiesAreNotTaken closes the client's side in the middle of a body. The incomplete body must be refused.
func TestCutBodiesAreNotTaken(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for name, request := range map[string]string{
		"length":         h.Post(h.Ours.SiteKey, "Content-Length: 20") + `{"events":[]}`,
		"chunk":          h.Post(h.Ours.SiteKey, "Transfer-Encoding: chunked") + "14\r\n" + `{"events":[]}`,
		"no last chunk":  h.Post(h.Ours.SiteKey, "Transfer-Encoding: chunked") + chunk(`{"events":[]}`),
		"large, no last": h.Post(h.Ours.SiteKey, "Transfer-Encoding: chunked") + chunk(`{"events":[`+strings.Repeat(" ", 40_000)+`]}`),
	} {
		w := h.Wire()
		w.Send(request)
		if err := w.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got := w.Answer(); got.Status != 400 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	if len(h.Intake.Bodies) > 0 {
		t.Errorf("the intake has got %q", h.Intake.Bodies)
	}
}

// TestRefusedBodiesAreNotRequests sends, in one write, a request that is refused and another request after it. The body
// of the refused request looks like a request, and is not answered.
func TestRefusedBodiesAreNotRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	inner := "GET /v1/user HTTP/1.1\r\nHost: x\r\n\r\n"
	next := h.Post(h.Ours.SiteKey, "Content-Length: 13") + `{"events":[]}`
	refused := "POST /v1/orgs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.Ours.SiteKey + "\r\n"
	w := h.Wire()
	w.Send(refused + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(inner)) + inner + next)
	h.WantError(w.Answer(), http.StatusForbidden)
	if got := w.Answer(); got.Status != 204 {
		t.Errorf("the connection is not kept: %d %s", got.Status, got.Body)
	}
	w = h.Wire()
	w.Send(refused + fmt.Sprintf("Content-Length: %d\r\n\r\n", 1<<20) + strings.Repeat(inner, (1<<20)/len(inner)+1))
	h.WantError(w.Answer(), http.StatusForbidden)
	w.WantClosed()
	w = h.Wire()
	w.Send(refused + "Transfer-Encoding: chunked\r\n\r\n" + chunk(inner) + "0\r\n\r\n" + next)
	h.WantError(w.Answer(), http.StatusForbidden)
	w.WantClosed()
}

// TestConnectionsOfOneAddress: the number of connections of each address is limited. The limit does not apply to
// trusted proxies.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	metrics := apitest.TestMetrics(t)
	h := apitest.New(t, func(c *frame.Config, d *api.Deps) { c.MaxConnsPerIP, d.Metrics = 3, metrics })
	var open []*apitest.Wire
	for range 3 {
		open = append(open, h.Wire())
	}
	w := h.Wire()
	got := w.Answer()
	h.WantError(got, http.StatusTooManyRequests)
	if got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.WantClosed()
	if n := testutil.ToFloat64(metrics.Ended("address")); n != 1 {
		t.Errorf("%v counted", n)
	}
	_ = open[0].Close()
	eventually.True(t, "room", func() bool {
		w := h.Wire()
		_, err := io.WriteString(w, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		return err == nil && w.Answer().Status == 200
	})

	trusting := apitest.New(t, func(c *frame.Config, _ *api.Deps) {
		c.MaxConnsPerIP, c.TrustedProxies = 3, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for range 5 {
		w := trusting.Wire()
		w.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if got := w.Answer(); got.Status != 200 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
}

// TestIdleConnectionsMakeRoom opens as many connections as are allowed. For a further connection, the server closes the
// connection that has been idle longest. If no connection is idle, it refuses the further connection.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	metrics := apitest.TestMetrics(t)
	h := apitest.New(t, func(c *frame.Config, d *api.Deps) { c.MaxConns, d.Metrics = 4, metrics })
	ask := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	first := h.Wire()
	first.Send(ask)
	first.Answer()
	eventually.True(t, "an idle connection", func() bool { return h.Server.Busy() == 0 })
	slow := make([]*apitest.Wire, 3)
	for i := range slow {
		slow[i] = h.Wire()
		slow[i].Send(ask[:10])
	}
	eventually.True(t, "busy connections", func() bool { return h.Server.Busy() == 3 })
	next := h.Wire()
	next.Send(ask)
	if got := next.Answer(); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	first.WantClosed()
	if n := testutil.ToFloat64(metrics.Ended("idle")); n != 1 {
		t.Errorf("%v counted", n)
	}
	next.Send(ask[:10])
	eventually.True(t, "only busy connections", func() bool { return h.Server.Busy() == 4 })
	over := h.Wire()
	got := over.Answer()
	h.WantError(got, http.StatusServiceUnavailable)
	if got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	slow[0].Send(ask[10:])
	if got := slow[0].Answer(); got.Status != 200 {
		t.Errorf("a busy one: %d", got.Status)
	}
}

// TestWrongTokensAreLimited: after a few wrong tokens an address gets 429 without a database query. Cached tokens are
// still accepted.
func TestWrongTokensAreLimited(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.WrongTokenRateLimit, c.AuthTTL = 1, time.Nanosecond })
	good := h.Ours.Tokens[schema.RoleAdmin]
	for range 5 { // A valid token is not counted, whether it is cached or not.
		if a := h.Do("GET", "/v1/user", good, nil); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	var last apitest.Answer
	for range 10 {
		if last = h.Do("GET", "/v1/user", schema.NewToken(), nil); last.Status == http.StatusTooManyRequests {
			break
		}
		h.WantError(last, http.StatusUnauthorized)
	}
	h.WantError(last, http.StatusTooManyRequests)
	if last.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.WantError(h.Do("GET", "/v1/user", "", nil), http.StatusTooManyRequests)
	if a := h.Do("GET", "/v1/user", good, nil); a.Status != 200 {
		t.Errorf("a good token: %d %s", a.Status, a.Body)
	}
	h.Exec("alter table tokens rename to tokens_lost")
	h.WantError(h.Do("GET", "/v1/user", schema.NewToken(), nil), http.StatusTooManyRequests)
	h.WantError(h.Do("GET", "/v1/user", good, nil), http.StatusInternalServerError)
}

// TestRefusalsQuoteLittle sends bodies that are compressed to a few bytes and contain names of several megabytes. The
// errors are short.
func TestRefusalsQuoteLittle(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for name, body := range map[string]string{
		"long name": `{"` + strings.Repeat("A", 3<<20) + `": x}`,
		"long key":  `{"secrets":{"` + strings.Repeat("é", 1<<20) + `":1}}`,
		"deep":      strings.Repeat("[", 200_000),
		"deep keys": strings.Repeat(`{"aaaaaaaaaaaaaaaaaaaa":`, 5000) + "x",
	} {
		before := len(h.Log.String())
		a := h.Do("POST", "/v1/integrations/zz", h.Ours.Tokens[schema.RoleAdmin], apitest.Encoders["br"](t, []byte(body)), "Content-Encoding", "br")
		h.WantError(a, 400)
		if len(a.Body) > 2000 {
			t.Errorf("%s: an answer of %d bytes", name, len(a.Body))
		}
		if grown := len(h.Log.String()) - before; grown > 4000 {
			t.Errorf("%s: %d bytes of log", name, grown)
		}
	}
	a := h.Do(strings.Repeat("X", 8000), "/v1/user?"+strings.Repeat("y", 4000), "", nil)
	if len(a.Body) > 2000 {
		t.Errorf("a long method: an answer of %d bytes", len(a.Body))
	}
}

// TestRefusalsAreLoggedInSamples: each refused request has its own log line, or is counted in a line about several
// requests.
func TestRefusalsAreLoggedInSamples(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	const sent = 200
	for range sent {
		h.WantError(h.Do("GET", "/v1/orgs", "", nil), http.StatusUnauthorized)
	}
	count := func() (logged int) {
		for line := range strings.Lines(h.Log.String()) {
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
	eventually.True(t, "the log to count all refused requests", func() bool { return count() == sent })
}

func TestDocsAreFramedByNobody(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for _, path := range []string{"/docs", "/docs/insights", "/docs/docs.js", "/llms.txt"} {
		a := h.Do("GET", path, "", nil)
		policy := a.Header.Get("Content-Security-Policy")
		framed, shared := a.Header.Get("X-Frame-Options"), a.Header.Get("Access-Control-Allow-Origin")
		if a.Status != 200 || framed != "DENY" || shared != "" ||
			!strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d %v", path, a.Status, a.Header)
		}
	}
}
