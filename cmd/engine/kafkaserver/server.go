package kafkaserver

import (
	"container/list"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxConns limits all connections. maxStrangers limits the connections that have not logged in, which are called
	// strangers. At maxStrangers, a new connection replaces the oldest stranger. So idle connections cannot block new
	// connections.
	maxConns     = 4096
	maxStrangers = 128
	// strangerTime is the time limit of a login.
	strangerTime = 10 * time.Second
	// maxInFlight limits the bytes of large requests in progress.
	maxInFlight = 256 << 20
)

// server accepts connections and answers their requests.
type server struct {
	broker   *broker
	listener net.Listener
	auth     *authenticator // auth is nil if no login is required
	host     string
	port     int32
	inFlight *semaphore.Weighted
	ctx      context.Context
	cancel   context.CancelFunc
	workers  sync.WaitGroup

	mu        sync.Mutex
	conns     map[*conn]struct{}
	strangers *list.List // values of type *conn, oldest first
}

func newServer(b *broker, listener net.Listener) (*server, error) {
	s := &server{
		broker: b, listener: listener, inFlight: semaphore.NewWeighted(maxInFlight), conns: map[*conn]struct{}{}, strangers: list.New(),
	}
	if address, ok := listener.Addr().(*net.TCPAddr); ok {
		s.host, s.port = address.IP.String(), int32(address.Port)
	}
	if b.cfg.User != "" {
		var err error
		if s.auth, err = newAuthenticator(b.cfg.User, b.cfg.Password); err != nil {
			return nil, err
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func (s *server) start() { s.workers.Go(s.accept) }

// stop closes all connections, and waits until no request is in progress.
func (s *server) stop() {
	s.cancel()
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.net.Close()
	}
	s.mu.Unlock()
	s.workers.Wait()
}

func (s *server) accept() {
	for {
		n, err := s.listener.Accept()
		if err != nil {
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			s.broker.cfg.Logger.Warn("Cannot accept a connection.", "error", err)
			select { // the usual cause is too many open files
			case <-s.ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		c := newConn(s, n)
		if !s.admit(c) {
			_ = n.Close()
			continue
		}
		s.workers.Go(func() {
			defer s.forget(c)
			c.serve()
		})
	}
}

func (s *server) admit(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.conns) >= maxConns {
		return false
	}
	if s.auth != nil {
		if s.strangers.Len() >= maxStrangers {
			oldest := s.strangers.Remove(s.strangers.Front()).(*conn)
			oldest.stranger = nil
			_ = oldest.net.Close()
		}
		c.stranger = s.strangers.PushBack(c)
	}
	s.conns[c] = struct{}{}
	return true
}

// forgetStranger removes a connection from the strangers, because it has logged in or ended.
func (s *server) forgetStranger(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.stranger != nil {
		s.strangers.Remove(c.stranger)
		c.stranger = nil
	}
}

func (s *server) forget(c *conn) {
	s.forgetStranger(c)
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.net.Close()
}
