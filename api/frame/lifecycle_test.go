package frame_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	var broken error
	panics := false
	h := apitest.New(t, func(_ *frame.Config, d *api.Deps) {
		d.Checks = []frame.Check{
			{Name: "postgres", Run: d.Store.Ready},
			{Name: "log", Run: func(context.Context) error {
				if panics {
					panic("password")
				}
				return broken
			}},
		}
	})
	if a := h.Do("GET", "/healthz", "", nil); a.Status != 200 {
		t.Errorf("healthz: %d", a.Status)
	}
	// Metrics show data about organizations, so only the operator's listener serves them.
	h.WantError(h.Do("GET", "/metrics", "", nil), http.StatusNotFound)
	readyBut := func(query string, status int, want string) {
		t.Helper()
		a := h.Do("GET", "/readyz"+query, "", nil)
		var got struct{ Checks map[string]string }
		if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != status || got.Checks["log"] != want || got.Checks["postgres"] != "ok" {
			t.Errorf("readyz: %d %s", a.Status, a.Body)
		}
		if strings.Contains(string(a.Body), "password") {
			t.Errorf("readyz tells why: %s", a.Body)
		}
	}
	ready := func(status int, want string) { t.Helper(); readyBut("", status, want) }
	ready(200, "ok")
	broken = errors.New("password rejected")
	ready(503, "failing")
	readyBut("?exclude=log", 200, "failing")
	readyBut("?exclude=no-such&exclude=log", 200, "failing")
	readyBut("?exclude=postgres", 503, "failing")
	broken = &frame.Condition{Word: "full", Err: broken}
	ready(503, "full")
	readyBut("?exclude=log", 200, "full")
	broken = &frame.Condition{Word: "differs", Serves: true, Err: errors.New("password")}
	ready(200, "differs")
	broken, panics = nil, true
	ready(503, "failing")
	panics = false
	ready(200, "ok")
	h.Server.Drain()
	ready(503, "ok")
	readyBut("?exclude=server&exclude=log", 503, "ok")
}

// TestStopFinishesWhatIsInFlight stops the server during a request. The request is still answered.
func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	entered, release := make(chan struct{}), make(chan struct{})
	h.Serve([]frame.Operation{probe("GET", "/probe", func(context.Context, *access.Caller, *struct{}) (schema.User, error) {
		close(entered)
		<-release
		return schema.User{ID: "finished"}, nil
	})})
	base := h.Base
	answered := make(chan apitest.Answer, 1)
	go func() { answered <- h.DoBase(base, "GET", "/v1/probe", "", nil) }()
	<-entered
	stopped := make(chan error, 1)
	go func() {
		err := h.Server.Stop(context.Background())
		select {
		case <-release:
		default:
			err = errors.New("Stop returned before the request ended")
		}
		stopped <- err
	}()
	// The listener is closed before the request ends.
	eventually.True(t, "the listener to close", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			return true
		}
		_ = conn.Close()
		return false
	})
	close(release)
	if a := <-answered; a.Status != 200 || !strings.Contains(string(a.Body), "finished") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-h.Server.Done(); err != nil {
		t.Error(err)
	}
}

// TestStopLetsClientsLeave: when the server stops, it closes no keep-alive connection before its next answer. This
// answer has a header that announces the end of the connection.
func TestStopLetsClientsLeave(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.DrainWait = time.Hour })
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.Base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	answers := bufio.NewReader(conn)
	ask := func() (status int, last bool) {
		t.Helper()
		if _, err := io.WriteString(conn, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // The answer was read to its end.
		return res.StatusCode, res.Close
	}
	if status, last := ask(); status != http.StatusOK || last {
		t.Errorf("%d, close %v", status, last)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- h.Server.Stop(context.Background()) }()
	eventually.True(t, "the server to be stopping", h.Server.Stopping)
	if status, last := ask(); status != http.StatusServiceUnavailable || !last {
		t.Errorf("%d, close %v", status, last)
	}
	if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection is open: %v", err)
	}
	if err := <-stopped; err != nil { // Stop returns at once, not after DrainWait, which is an hour.
		t.Error(err)
	}
}

// TestStopGivesUp: if a function does not return in time, Stop cancels the function's context.
func TestStopGivesUp(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	entered, ended := make(chan struct{}), make(chan struct{})
	h.Serve([]frame.Operation{probe("GET", "/probe", func(ctx context.Context, _ *access.Caller, _ *struct{}) (schema.User, error) {
		close(entered)
		<-ctx.Done()
		close(ended)
		return schema.User{}, ctx.Err()
	})})
	base := h.Base
	answered := make(chan apitest.Answer, 1)
	go func() { answered <- h.DoBase(base, "GET", "/v1/probe", "", nil) }()
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := h.Server.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	<-ended
	h.WantError(<-answered, http.StatusServiceUnavailable)
}

func TestOperationsHaveDeadlines(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Serve([]frame.Operation{probe("GET", "/probe", func(ctx context.Context, _ *access.Caller, _ *struct{}) (schema.User, error) {
		<-ctx.Done()
		return schema.User{}, ctx.Err()
	})}, func(c *frame.Config, _ *api.Deps) { c.OperationTimeout = time.Millisecond })
	h.WantError(h.Do("GET", "/v1/probe", "", nil), http.StatusServiceUnavailable)
}

// TestUseOfATokenIsRecorded: a request sets LastUsedAt of its token.
func TestUseOfATokenIsRecorded(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	if a := h.Do("GET", "/v1/user", h.Ours.Tokens[schema.RoleRead], nil); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	eventually.True(t, "the use to be recorded", func() bool {
		tokens, err := h.Store.ListTokens(t.Context(), store.TokenFilter{User: h.Ours.Users[schema.RoleRead].ID})
		if err != nil || len(tokens) != 1 {
			t.Fatalf("%d tokens, %v", len(tokens), err)
		}
		return tokens[0].LastUsedAt != nil
	})
}

// TestIntakeDoesNotAskPostgres: if a token and a site are cached, requests with events need no query to Postgres.
func TestIntakeDoesNotAskPostgres(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.AuthTTL = time.Hour })
	events := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events"
	if a := h.Do("POST", events, h.Ours.SiteKey, `{"events":[]}`); a.Status != 204 {
		t.Fatal(a.Status)
	}
	h.Store.Stop()
	if a := h.Do("POST", events, h.Ours.SiteKey, `{"events":[]}`); a.Status != 204 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
