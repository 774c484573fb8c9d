package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// engine replaces the insights engine. The test reads and writes at the engine's end of each connection.
type engine struct {
	t     *testing.T
	proxy *proxy
	conns chan net.Conn
}

func newEngine(t *testing.T, settled func(context.Context) error) *engine {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t: t, conns: make(chan net.Conn, 4)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.conns <- c
		}
	}()
	if e.proxy, err = startProxy(t.Context(), "127.0.0.1:0", l.Addr().String(), settled); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(); e.proxy.stop() })
	return e
}

func settledAtOnce(context.Context) error { return nil }

// connect opens a connection through the proxy, and returns the client's end and the engine's end.
func (e *engine) connect() (client, server net.Conn) {
	e.t.Helper()
	client, err := net.Dial("tcp4", e.proxy.address())
	if err != nil {
		e.t.Fatal(err)
	}
	server = <-e.conns
	for _, c := range []net.Conn{client, server} {
		if err := c.SetDeadline(time.Now().Add(eventually.Patience)); err != nil {
			e.t.Fatal(err)
		}
		e.t.Cleanup(func() { _ = c.Close() })
	}
	return client, server
}

// pass sends bytes from one end of a connection, and fails if they do not arrive at the other end.
func pass(t *testing.T, from, to net.Conn, data string) {
	t.Helper()
	if _, err := from.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(data))
	if _, err := io.ReadFull(to, got); err != nil || !bytes.Equal(got, []byte(data)) {
		t.Fatalf("got %q, %v, want %q", got, err, data)
	}
}

// wantClosed fails if a connection is not closed, or if more bytes arrive before it is closed.
func wantClosed(t *testing.T, c net.Conn) {
	t.Helper()
	rest, err := io.ReadAll(c)
	if timeout := net.Error(nil); len(rest) > 0 || errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("got %q and %v instead of the end", rest, err)
	}
}

func armed(p *proxy) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut != nil || p.begun != nil
}

type cutResult struct{ applied, cut bool }

func (e *engine) arm(ctx context.Context) <-chan cutResult {
	result := make(chan cutResult, 1)
	go func() {
		applied, cut := e.proxy.cutNext(ctx)
		result <- cutResult{applied, cut}
	}()
	e.awaitArmed()
	return result
}

func (e *engine) awaitArmed() {
	e.t.Helper()
	eventually.True(e.t, "the proxy to be armed", func() bool { return armed(e.proxy) })
}

func TestProxyForwardsEverything(t *testing.T) {
	t.Parallel()
	e := newEngine(t, settledAtOnce)
	client, server := e.connect()
	for range 3 {
		pass(t, client, server, "INSERT INTO events")
		pass(t, server, client, "\x01columns")
		pass(t, client, server, "rows")
		pass(t, client, server, "more rows")
		pass(t, server, client, "done\x05")
		pass(t, client, server, "SELECT 1")
		pass(t, server, client, "\x01one\x05")
	}
	_ = client.Close()
	wantClosed(t, server)
}

// TestProxyCutsBeforeTheAnswer checks that the proxy does not forward the response to an insert. The proxy must wait
// until the engine has finished the insert, and then close both connections. It must forward all other bytes.
func TestProxyCutsBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []string
		applied bool
	}{
		"applied":                {[]string{"\x03progress\x05"}, true},
		"applied, in two parts":  {[]string{"\x03progress", "profile\x05"}, true},
		"refused":                {[]string{"\x02exception."}, false},
		"died before its answer": {[]string{"\x03progress"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settling, settle := make(chan struct{}), make(chan struct{})
			e := newEngine(t, func(context.Context) error { close(settling); <-settle; return nil })
			client, server := e.connect()
			result := e.arm(t.Context())
			pass(t, client, server, "SELECT 1")
			pass(t, server, client, "one\x05")
			pass(t, client, server, "INSERT INTO events")
			pass(t, server, client, "\x01columns")
			pass(t, client, server, "rows")
			if _, err := server.Write([]byte(c.answers[0])); err != nil {
				t.Fatal(err)
			}
			<-settling
			select {
			case r := <-result:
				t.Fatalf("%+v before the engine had settled", r)
			default:
			}
			for _, more := range c.answers[1:] {
				if _, err := server.Write([]byte(more)); err != nil {
					t.Fatal(err)
				}
			}
			close(settle)
			if !c.applied {
				_ = server.Close()
			}
			wantClosed(t, client)
			if r := <-result; !r.cut || r.applied != c.applied {
				t.Errorf("got %+v, want applied %v", r, c.applied)
			}
			if !c.applied {
				return
			}
			wantClosed(t, server)
			// Only one insert is cut. The next insert gets its response.
			client, server = e.connect()
			pass(t, client, server, "INSERT INTO events")
			pass(t, server, client, "\x01columns")
			pass(t, client, server, "rows")
			pass(t, server, client, "done\x05")
		})
	}
}

// TestProxyForwardsARefusedInsert checks that the proxy forwards an error that the engine sends before it has asked for
// rows. Such an error is not the response to an insert's rows.
func TestProxyForwardsARefusedInsert(t *testing.T) {
	t.Parallel()
	e := newEngine(t, settledAtOnce)
	client, server := e.connect()
	ctx, cancel := context.WithCancel(t.Context())
	result := e.arm(ctx)
	pass(t, client, server, "INSERT INTO events")
	pass(t, server, client, "\x02no such table")
	pass(t, client, server, "SELECT 1")
	pass(t, server, client, "one\x05")
	cancel()
	if r := <-result; r.cut {
		t.Errorf("something was cut: %+v", r)
	}
	if armed(e.proxy) {
		t.Error("the proxy is still armed")
	}
}

// TestProxyRunsTheHookAtAnInsert checks that the proxy recognises a statement that arrives in two parts. Before the
// hook has returned, the engine must get no byte of the second part.
func TestProxyRunsTheHookAtAnInsert(t *testing.T) {
	t.Parallel()
	e := newEngine(t, settledAtOnce)
	client, server := e.connect()
	began, goOn, told := make(chan struct{}), make(chan struct{}), make(chan bool)
	go func() {
		told <- e.proxy.atInsert(t.Context(), func() { close(began); <-goOn })
	}()
	e.awaitArmed()
	pass(t, client, server, "SELECT 1; INSERT")
	if _, err := client.Write([]byte(" INTO events")); err != nil {
		t.Fatal(err)
	}
	<-began
	// The deadline is in the future, because with a past deadline Read would return without reading.
	if err := server.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := server.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("the engine saw the insert before the hook returned")
	}
	if err := server.SetReadDeadline(time.Now().Add(eventually.Patience)); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if !<-told {
		t.Error("it reports that no insert began")
	}
	got := make([]byte, len(" INTO events"))
	if _, err := io.ReadFull(server, got); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if e.proxy.atInsert(cancelled, func() { t.Error("the hook ran without an insert") }) || armed(e.proxy) {
		t.Error("no insert began, but it reports one or is still armed")
	}
}
