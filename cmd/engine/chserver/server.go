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

// Server serves one engine. There can be only one running in a process: the
// library cannot open two data directories.
type Server struct {
	cfg    Config
	engine *engine

	inserts budget

	mu      sync.Mutex
	conns   map[*conn]struct{} // that have logged in
	greeted []*conn            // that have not, the oldest first
	closing bool
	open    sync.WaitGroup

	told     time.Time // when a refused login was last logged
	refusals int       // since then
}

// New checks cfg and builds. Nothing is loaded or opened.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, inserts: budget{limit: cfg.MaxInserts}, conns: map[*conn]struct{}{}}, nil
}

// Run opens the engine, listens and serves until ctx ends. Then it stops
// accepting, lets running statements finish for the drain timeout, ends what
// is left and closes the engine. It returns nil after such an end. A Server
// runs once.
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
	_ = listener.Close() // closed already unless accept failed
	if !s.drain() {
		s.cfg.Logger.Warn("Statements are still running: the engine is left open. What was acknowledged is safe.")
		return err
	}
	engine.close()
	s.cfg.Logger.Info("The ClickHouse engine is closed.")
	return err
}

// accept serves connections until the listener is closed or broken.
func (s *Server) accept(listener net.Listener) error {
	for {
		socket, err := listener.Accept()
		if err != nil {
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() { // out of descriptors: others will close theirs
				s.cfg.Logger.Warn("A connection could not be accepted.", "error", err)
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

// maxGreeted is how many connections may be there that have not logged in.
// They count apart from those that have, and the oldest makes room for a new
// one: who has no password cannot keep out who has.
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

// admit counts c among those that have logged in, unless they are enough.
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

// forget takes c off those that have not logged in, if it is there.
func (s *Server) forget(c *conn) {
	if i := slices.Index(s.greeted, c); i >= 0 {
		s.greeted = slices.Delete(s.greeted, i, i+1)
	}
}

// refused logs a connection that did not log in, at most one in a second.
func (s *Server) refused(client net.Addr, err error) {
	const every = time.Second
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
	if now := time.Now(); now.Sub(s.told) >= every {
		s.cfg.Logger.Warn("A connection is refused.", "client", client.String(), "error", err, "since_last", s.refusals)
		s.told, s.refusals = now, 0
	}
}

// setBusy notes whether c works on a packet. It refuses to let c wait for
// another one once the server closes.
func (s *Server) setBusy(c *conn, busy bool) (goOn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.busy = busy
	return busy || !s.closing
}

// drain ends all connections and says whether it got them all.
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
		_ = c.socket.Close() // its watcher then kills the statement
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
