package webhooks

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/webhooks/webhookstest"
)

// TestSignature uses the example with which the libraries of the specification are tested.
func TestSignature(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	at, body := time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)
	timestamp, signature := sign([][]byte{key, []byte("another")}, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body)
	first, second, _ := strings.Cut(signature, " ")
	if timestamp != "1614265330" || first != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || !strings.HasPrefix(second, "v1,") {
		t.Errorf("%s %s", timestamp, signature)
	}
	header := http.Header{}
	header.Set(headerID, "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set(headerTimestamp, timestamp)
	header.Set(headerSignature, second+" v2,x "+first)
	if err := webhookstest.Verify(secret, header, body, at); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]error{
		"another body":   webhookstest.Verify(secret, header, []byte(`{}`), at),
		"another secret": webhookstest.Verify("whsec_AAAA", header, body, at),
		"too old":        webhookstest.Verify(secret, header, body, at.Add(time.Hour)),
	} {
		if wrong == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

const payload = `{"id":"a","type":"webhook.ping","createdAt":"2026-01-01T00:00:00Z","organization":"o","data":{}}`

func newClient(t *testing.T, timeout time.Duration, allow ...string) (*Client, *Metrics) {
	t.Helper()
	m := NewMetrics(prometheus.NewRegistry())
	return New(Config{Guard: outboundtest.Guard(t, allow...), Timeout: timeout, Metrics: m}), m
}

// TestSend uses a receiver for each possible outcome of a delivery.
func TestSend(t *testing.T) {
	t.Parallel()
	key := []byte("a key of 24 bytes or more, or so")
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	other := webhookstest.New(t)
	const long = 300 * time.Millisecond
	for name, test := range map[string]struct {
		answer   webhookstest.Answer
		timeout  time.Duration
		closed   bool
		outside  bool
		status   int
		reason   string // "" means success
		response string
		gone     bool
		after    time.Duration
		outcome  string
	}{
		"ok":         {answer: webhookstest.Status(200), status: 200, outcome: outcomeTaken},
		"no content": {answer: webhookstest.Status(204), status: 204, outcome: outcomeTaken},
		"a text": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("t\x00hank \xffyou"))
		}, status: 200, response: "thank you", outcome: outcomeTaken},
		"a long text": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
		}, status: 200, response: strings.Repeat("x", 1<<10), outcome: outcomeTaken},
		"server error": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("try later"))
		}, status: 503, reason: " answered 503", response: "try later", after: 2 * time.Minute, outcome: outcomeRefused},
		"unauthorized": {answer: webhookstest.Status(401), status: 401, reason: " answered 401", outcome: outcomeRefused},
		"gone":         {answer: webhookstest.Status(410), status: 410, reason: " answered 410", gone: true, outcome: outcomeRefused},
		"redirect": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, status: 307, reason: "redirects more often than is followed", outcome: outcomeRefused},
		"half an answer": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
			hijack(t, w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		}, status: 200, reason: "ended the connection before its answer was complete", response: "half", outcome: outcomeRefused},
		"half of the headers": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
			hijack(t, w, "HTTP/1.1 200 OK\r\nContent-Le")
		}, reason: "gave an answer that is not understood", outcome: outcomeUnanswered},
		"no HTTP": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
			hijack(t, w, "220 mail.example.com ESMTP\r\n")
		}, reason: "gave an answer that is not understood", outcome: outcomeUnanswered},
		"no answer": {answer: func(_ int, _ webhookstest.Received, _ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, timeout: long, reason: "did not answer in time", outcome: outcomeUnanswered},
		"an answer without end": {answer: func(_ int, _ webhookstest.Received, w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("wait"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, timeout: long, status: 200, reason: "did not answer in time", response: "wait", outcome: outcomeRefused},
		"nobody there":     {closed: true, reason: "accepted no connection", outcome: outcomeUnanswered},
		"not opened to us": {outside: true, reason: "is not on the public network", outcome: outcomeUnanswered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := webhookstest.New(t)
			r.Knows(secret)
			if test.answer != nil {
				r.Answers(test.answer)
			}
			if test.closed {
				r.Close()
			}
			allow := []string{"127.0.0.1"}
			if test.outside {
				allow = nil
			}
			c, m := newClient(t, test.timeout, allow...)
			got := c.Send(t.Context(), Message{ID: "a", URL: r.URL + "/hook?token=hidden", Keys: [][]byte{[]byte("newer"), key}, Body: []byte(payload)})
			status := 0
			if got.StatusCode != nil {
				status = *got.StatusCode
			}
			if status != test.status || !strings.HasSuffix(got.Reason, test.reason) || (got.Reason == "") != (test.reason == "") {
				t.Errorf("status %d, %q", status, got.Reason)
			}
			if got.Response != test.response || got.Gone != test.gone || got.RetryAfter != test.after || strings.Contains(got.Reason, "hidden") {
				t.Errorf("%+v", got)
			}
			if (len(r.Received()) == 0) != (test.closed || test.outside) {
				t.Errorf("%d messages", len(r.Received()))
			}
			for _, outcome := range outcomes {
				if n := testutil.ToFloat64(m.attempts.WithLabelValues(outcome)); (n == 1) != (outcome == test.outcome) {
					t.Errorf("%v attempts are %s", n, outcome)
				}
			}
		})
	}
	t.Cleanup(func() {
		if len(other.Received()) > 0 {
			t.Error("a redirect was followed")
		}
	})
}

// hijack writes these bytes as the answer and closes the connection.
func hijack(t *testing.T, w http.ResponseWriter, answer string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = conn.Write([]byte(answer))
	_ = conn.Close()
}

// TestSendCanceled cancels a delivery before the receiver answers.
func TestSendCanceled(t *testing.T) {
	t.Parallel()
	r := webhookstest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.Answers(func(_ int, _ webhookstest.Received, _ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	c, _ := newClient(t, 0, "127.0.0.1")
	if got := c.Send(ctx, Message{ID: "a", URL: r.URL, Body: []byte(payload)}); got.StatusCode != nil || !strings.HasSuffix(got.Reason, "was not waited for") {
		t.Errorf("%+v", got)
	}
}

// TestForbiddenAddresses checks that forbidden addresses are not reached, in any spelling.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Error("it was reached")
			_ = conn.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, _ := newClient(t, time.Second)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "2130706433", "0x7f.1"} {
		if got := c.Send(t.Context(), Message{ID: "a", URL: fmt.Sprintf("http://%s:%s/", host, port), Body: []byte(payload)}); got.Reason == "" {
			t.Errorf("%s: %+v", host, got)
		}
	}
}

// FuzzText checks that the stored texts of bodies can be stored in Postgres and are not too long.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "ok", "\x00\xff", strings.Repeat("é", 600), "<html>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := text(body)
		if len(got) > keptResponse || strings.Contains(got, "\x00") || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q of %q", got, body)
		}
	})
}
