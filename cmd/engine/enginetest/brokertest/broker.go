package brokertest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
)

// Options configure a broker. The zero value listens on any port, without TLS and login.
type Options struct {
	Address string      // the address to listen on; "" means any port of 127.0.0.1
	TLS     *tls.Config // nil means plain text
	Login   *Login      // nil means that no login is required
	Dir     string      // the data directory; "" means a new directory
	Nodes   int         // the number of brokers that it claims to be, for settings and replicas; 0 means one broker
	// Answers has answers that replace the broker's answers from the first request (see On).
	Answers map[kmsg.Key]Answer
}

// Broker is a broker whose answers a test can replace.
type Broker struct {
	login    *authenticator
	cluster  *cluster // cluster is nil for a single broker
	listener net.Listener
	host     string
	port     int32
	upstream string
	cancel   context.CancelFunc // cancel stops the broker behind the proxy
	running  sync.WaitGroup

	mu      sync.Mutex
	answers map[int16]Answer
	conns   map[net.Conn]struct{}
	stopped bool
}

// Answer returns the response that replaces the broker's response to a request. If it returns nil, the broker answers.
// An error breaks the connection. Several connections may call an Answer concurrently.
type Answer func(kmsg.Request) (kmsg.Response, error)

// Start starts a broker without topics. It is stopped when the test ends.
func Start(t testing.TB, o Options) *Broker {
	t.Helper()
	b := &Broker{answers: map[int16]Answer{}, conns: map[net.Conn]struct{}{}}
	for key, answer := range o.Answers {
		b.On(key, answer)
	}
	if o.Login != nil {
		var err error
		if b.login, err = newAuthenticator(o.Login); err != nil {
			t.Fatal(err)
		}
	}
	if o.Nodes > 1 {
		b.cluster = &cluster{nodes: o.Nodes, topics: map[string]*claim{}}
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if err := b.serve(o.Dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", o.Address)
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().(*net.TCPAddr)
	b.host, b.port, b.listener = at.IP.String(), int32(at.Port), listener
	if o.TLS != nil {
		b.listener = tls.NewListener(listener, o.TLS)
	}
	b.running.Go(b.accept)
	return b
}

// serve starts the broker behind the proxy.
func (b *Broker) serve(dir string) error {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	ready, failed := make(chan string, 1), make(chan error, 1)
	b.running.Go(func() {
		failed <- kafkaserver.Run(ctx, kafkaserver.Config{
			Listen: "127.0.0.1:0", DataDir: dir, OnReady: func(at net.Addr) { ready <- at.String() },
		})
	})
	select {
	case b.upstream = <-ready:
		return nil
	case err := <-failed:
		return err
	case <-time.After(eventually.Patience):
		cancel()
		return errors.New("cannot start the broker in time")
	}
}

// Addresses returns the addresses on which the broker listens.
func (b *Broker) Addresses() []string { return []string{b.listener.Addr().String()} }

// On replaces the broker's answers to a kind of request.
func (b *Broker) On(key kmsg.Key, answer Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[int16(key)] = answer
}

// Stop stops the broker. The topics are lost. Stop may be called twice.
func (b *Broker) Stop() {
	b.mu.Lock()
	b.stopped = true
	for c := range b.conns {
		_ = c.Close()
	}
	b.mu.Unlock()
	if b.listener != nil {
		_ = b.listener.Close()
	}
	b.cancel()
	b.running.Wait()
}

// track makes Stop close a connection. It returns false if the broker has stopped.
func (b *Broker) track(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		_ = c.Close()
		return false
	}
	b.conns[c] = struct{}{}
	return true
}

func (b *Broker) forget(c net.Conn) {
	_ = c.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, c)
}

func (b *Broker) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		b.running.Go(func() { b.relay(client) })
	}
}

// relay answers the requests of one connection, in order.
func (b *Broker) relay(client net.Conn) {
	if !b.track(client) {
		return
	}
	defer b.forget(client)
	server, err := (&net.Dialer{Timeout: eventually.Patience}).DialContext(context.Background(), "tcp", b.upstream)
	if err != nil || !b.track(server) {
		return
	}
	defer b.forget(server)
	l := &link{broker: b, client: client, server: server}
	if b.login != nil {
		l.login = b.login.begin()
	}
	for l.next() == nil {
		continue
	}
}
