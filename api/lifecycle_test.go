package api

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

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	var broken error
	h := newHarness(t, func(_ *Config, d *Deps) {
		d.Checks = []Check{
			{Name: "postgres", Run: d.Store.Ready},
			{Name: "log", Run: func(context.Context) error { return broken }},
		}
	})
	if a := h.do("GET", "/healthz", "", nil); a.status != 200 {
		t.Errorf("healthz: %d", a.status)
	}
	// They name tenants: they are on the operators' listener.
	h.wantError(h.do("GET", "/metrics", "", nil), http.StatusNotFound)
	readyBut := func(query string, status int, want string) {
		t.Helper()
		a := h.do("GET", "/readyz"+query, "", nil)
		var got struct{ Checks map[string]string }
		if err := json.Unmarshal(a.body, &got); err != nil || a.status != status || got.Checks["log"] != want || got.Checks["postgres"] != "ok" {
			t.Errorf("readyz: %d %s", a.status, a.body)
		}
		if strings.Contains(string(a.body), "password") {
			t.Errorf("readyz tells why: %s", a.body)
		}
	}
	ready := func(status int, want string) { t.Helper(); readyBut("", status, want) }
	ready(200, "ok")
	broken = errors.New("password rejected")
	ready(503, "failing")
	readyBut("?exclude=log", 200, "failing")
	readyBut("?exclude=no-such&exclude=log", 200, "failing")
	readyBut("?exclude=postgres", 503, "failing")
	broken = nil
	ready(200, "ok")
	h.server.Drain()
	ready(503, "ok")
	readyBut("?exclude=server&exclude=log", 503, "ok")
}

// TestStopFinishesWhatIsInFlight stops the server while a request is being worked on.
func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	entered, release := make(chan struct{}), make(chan struct{})
	h.serve([]Operation{probe("GET", "/probe", func(context.Context, *Caller, *struct{}) (schema.User, error) {
		close(entered)
		<-release
		return schema.User{ID: "finished"}, nil
	})})
	base := h.base
	answered := make(chan answer, 1)
	go func() { answered <- h.doBase(base, "GET", "/v1/probe", "", nil) }()
	<-entered
	stopped := make(chan error, 1)
	go func() {
		err := h.server.Stop(context.Background())
		select {
		case <-release:
		default:
			err = errors.New("Stop returned before the request ended")
		}
		stopped <- err
	}()
	// The listener is closed before the request ends.
	eventually.True(t, patience, "the listener's end", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			return true
		}
		_ = conn.Close()
		return false
	})
	close(release)
	if a := <-answered; a.status != 200 || !strings.Contains(string(a.body), "finished") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-h.server.Done(); err != nil {
		t.Error(err)
	}
}

// TestStopLetsClientsLeave: a connection that is kept alive is not closed under a request. It has one more answer, which says
// that it is the last.
func TestStopLetsClientsLeave(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config, _ *Deps) { c.DrainWait = time.Hour })
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
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
		_ = res.Body.Close() // it was read to its end
		return res.StatusCode, res.Close
	}
	if status, last := ask(); status != http.StatusOK || last {
		t.Errorf("%d, close %v", status, last)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- h.server.Stop(context.Background()) }()
	eventually.True(t, patience, "the server to be stopping", h.server.Stopping)
	if status, last := ask(); status != http.StatusServiceUnavailable || !last {
		t.Errorf("%d, close %v", status, last)
	}
	if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection is open: %v", err)
	}
	if err := <-stopped; err != nil { // not after an hour
		t.Error(err)
	}
}

// TestStopGivesUp ends the context of a function that does not come to an end.
func TestStopGivesUp(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	entered, ended := make(chan struct{}), make(chan struct{})
	h.serve([]Operation{probe("GET", "/probe", func(ctx context.Context, _ *Caller, _ *struct{}) (schema.User, error) {
		close(entered)
		<-ctx.Done()
		close(ended)
		return schema.User{}, ctx.Err()
	})})
	base := h.base
	answered := make(chan answer, 1)
	go func() { answered <- h.doBase(base, "GET", "/v1/probe", "", nil) }()
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := h.server.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	<-ended
	h.wantError(<-answered, http.StatusServiceUnavailable)
}

func TestOperationsHaveDeadlines(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.serve([]Operation{probe("GET", "/probe", func(ctx context.Context, _ *Caller, _ *struct{}) (schema.User, error) {
		<-ctx.Done()
		return schema.User{}, ctx.Err()
	})}, func(c *Config, _ *Deps) { c.OperationTimeout = time.Millisecond })
	h.wantError(h.do("GET", "/v1/probe", "", nil), http.StatusServiceUnavailable)
}

// TestIntakeDoesNotAskPostgres: once a token and a site are known, events need no database.
func TestIntakeDoesNotAskPostgres(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config, _ *Deps) { c.AuthTTL = time.Hour })
	events := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events"
	if a := h.do("POST", events, h.ours.SiteKey, `{"events":[]}`); a.status != 204 {
		t.Fatal(a.status)
	}
	h.st.Stop()
	if a := h.do("POST", events, h.ours.SiteKey, `{"events":[]}`); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
