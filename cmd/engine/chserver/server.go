package chserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// Server serves one engine. A process can run only one Server, because the library cannot open two data directories.
type Server struct {
	cfg    Config
	engine *engine

	inserts budget

	mu      sync.Mutex
	conns   map[*conn]struct{} // connections that have logged in
	greeted []*conn            // connections that have not logged in, the oldest first
	closing bool
	open    sync.WaitGroup

	lastRefusal time.Time // when a refused login was last logged
	refusals    int       // refused logins since then
}

// New checks cfg and builds the server. Nothing is loaded or opened.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, inserts: budget{limit: cfg.MaxInserts}, conns: map[*conn]struct{}{}}, nil
}

// Run opens the engine, listens and serves until ctx ends. Then it accepts no more connections, and gives running
// statements the drain timeout to finish. It ends the remaining statements, closes the engine and returns nil. Call Run
// once.
func (s *Server) Run(ctx context.Context) error {
	started := time.Now()
	engine, err := startEngine(ctx, s.cfg)
	if err != nil {
		return err
	}
	s.engine = engine
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		engine.close()
		return fmt.Errorf("cannot listen: %w", err)
	}
	s.cfg.Logger.Info("The ClickHouse engine is ready.", "address", listener.Addr().String(),
		"data", s.cfg.DataDir, "version", engine.version.String(), "took", time.Since(started))
	if s.cfg.OnReady != nil {
		s.cfg.OnReady(listener.Addr())
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	err = s.accept(listener)
	if ctx.Err() != nil {
		err = nil
	}
	_ = listener.Close() // the listener is already closed, unless accept failed
	if !s.drain() {
		s.cfg.Logger.Warn("Statements are still running, so the engine is not closed. Acknowledged data is safe.")
		return err
	}
	engine.close()
	s.cfg.Logger.Info("The ClickHouse engine is closed.")
	return err
}

// accept serves connections until the listener is closed or fails.
func (s *Server) accept(listener net.Listener) error {
	for {
		socket, err := listener.Accept()
		if err != nil {
			var temporary interface{ Temporary() bool }
			// Usually the process has too many open files. Other connections may close some of them, so retry.
			if errors.As(err, &temporary) && temporary.Temporary() {
				s.cfg.Logger.Warn("Cannot accept a connection.", "error", err)
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return fmt.Errorf("cannot accept connections: %w", err)
		}
		c := newConn(s, socket)
		if !s.add(c) {
			_ = socket.Close()
			continue
		}
		go func() {
			defer s.remove(c)
			c.serve()
		}()
	}
}

// maxGreeted limits the connections that have not logged in. Connections that have logged in have a separate limit. At
// maxGreeted, a new connection replaces the oldest connection that has not logged in. So clients without the password
// cannot block clients with the password.
const maxGreeted = 256

func (s *Server) add(c *conn) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if len(s.greeted) >= maxGreeted {
		_ = s.greeted[0].socket.Close()
		s.greeted = slices.Delete(s.greeted, 0, 1)
	}
	s.greeted = append(s.greeted, c)
	s.open.Add(1)
	return true
}

// admit adds c to the connections that have logged in. It returns false if their number has reached the limit.
func (s *Server) admit(c *conn) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || len(s.conns) >= s.cfg.MaxConnections {
		return false
	}
	s.forget(c)
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.forget(c)
	s.mu.Unlock()
	s.open.Done()
}

// forget removes c from the connections that have not logged in, if it is
// there.
func (s *Server) forget(c *conn) {
	if i := slices.Index(s.greeted, c); i >= 0 {
		s.greeted = slices.Delete(s.greeted, i, i+1)
	}
}

// refused logs a connection that failed to log in, at most one line per second.
func (s *Server) refused(client net.Addr, err error) {
	const every = time.Second
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
	if now := time.Now(); now.Sub(s.lastRefusal) >= every {
		s.cfg.Logger.Warn("A connection was refused.", "client", client.String(), "error", err, "since_last", s.refusals)
		s.lastRefusal, s.refusals = now, 0
	}
}

// setBusy records whether c is handling a packet. It returns false if c is idle
// and must end because the server is closing.
func (s *Server) setBusy(c *conn, busy bool) (goOn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.busy = busy
	return busy || !s.closing
}

// drain ends all connections and reports whether all have ended.
func (s *Server) drain() bool {
	s.mu.Lock()
	s.closing = true
	for c := range s.conns {
		if !c.busy {
			_ = c.socket.Close()
		}
	}
	for _, c := range s.greeted {
		_ = c.socket.Close()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.open.Wait()
		close(done)
	}()
	if waitFor(done, s.cfg.DrainTimeout) {
		return true
	}
	s.mu.Lock()
	for c := range s.conns {
		_ = c.socket.Close() // watch then kills the connection's statement
	}
	s.mu.Unlock()
	return waitFor(done, s.cfg.DrainTimeout)
}

func waitFor(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
