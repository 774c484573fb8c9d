package frame_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// TestWatched: if a client closes its connection, or only its sending half, the context of its watched operation ends.
// If a client keeps its connection, or sends its next request early, it gets all answers. If a client closes its
// sending half after the answer is complete, it still gets the answer.
func TestWatched(t *testing.T) {
	t.Parallel()
	metrics := apitest.TestMetrics(t)
	h := apitest.New(t)
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	// When the context ends, the function returns the context's error. If inTime is true, it returns an answer, as if
	// it had been complete in time. If refused is true, it returns a refusal.
	var inTime, refused atomic.Bool
	op := probe("POST", "/probe", func(ctx context.Context, _ *access.Caller, _ *struct {
		Body []byte `body:"raw"`
	}) (schema.User, error) {
		entered <- struct{}{}
		select {
		case <-release:
			return schema.User{ID: "finished"}, ctx.Err()
		case <-ctx.Done():
			ended <- struct{}{}
			if refused.Load() {
				return schema.User{}, schema.Invalid("range", "is required")
			}
			if inTime.Load() {
				return schema.User{ID: "finished"}, nil
			}
			return schema.User{}, ctx.Err()
		}
	})
	op.Watched, op.Scope, op.BodyLimit, op.Accepts = true, access.AnyUser(), 1<<20, frame.MediaJSON
	h.Serve([]frame.Operation{op}, func(_ *frame.Config, d *api.Deps) { d.Metrics = metrics })
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.Base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	header := "POST /v1/probe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.Ours.Tokens[schema.RoleAdmin] + "\r\nContent-Length: 100000\r\n\r\n"
	body := strings.Repeat("x", 100_000) // The body is longer than the part that arrives with the header.
	write := func(conn net.Conn, text string) {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Error(err)
		}
	}
	send := func(conn net.Conn) { write(conn, header+body) }
	wantStatus := func(answers *bufio.Reader, status int, part string) {
		t.Helper()
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if _ = res.Body.Close(); err != nil || res.StatusCode != status || !strings.Contains(string(text), part) {
			t.Errorf("%d %s %v", res.StatusCode, text, err)
		}
	}
	wantAnswer := func(answers *bufio.Reader) {
		t.Helper()
		wantStatus(answers, http.StatusOK, "finished")
	}
	stays := dial()
	answers := bufio.NewReader(stays)
	for range 3 {
		send(stays)
		<-entered
		release <- struct{}{}
		wantAnswer(answers)
	}
	send(stays)
	<-entered
	write(stays, header) // The next request arrives before the answer.
	release <- struct{}{}
	wantAnswer(answers)
	write(stays, body)
	<-entered
	release <- struct{}{}
	wantAnswer(answers)
	for n := 1; n <= 3; n++ {
		leaves := dial().(*net.TCPConn)
		send(leaves)
		<-entered
		if n == 1 {
			_ = leaves.CloseWrite()
		} else {
			_ = leaves.Close()
		}
		<-ended
		eventually.True(t, "a request to be counted as left", func() bool {
			return testutil.ToFloat64(metrics.Requests("probe", "499")) == float64(n)
		})
	}
	closesHalf := func() *bufio.Reader {
		half := dial().(*net.TCPConn)
		send(half)
		<-entered
		_ = half.CloseWrite()
		<-ended
		return bufio.NewReader(half)
	}
	inTime.Store(true)
	wantAnswer(closesHalf())
	refused.Store(true)
	wantStatus(closesHalf(), http.StatusBadRequest, "range is required")
	if n := testutil.ToFloat64(metrics.Requests("probe", "200")); n != 6 {
		t.Errorf("%v were answered", n)
	}
}
