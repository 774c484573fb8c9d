package chserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Server serves one engine. There can be only one running in a process: the
// library cannot open two data directories.
type Server struct {
	cfg    Config
	engine *engine

	mu      sync.Mutex
	conns   map[*conn]struct{}
	closing bool
	open    sync.WaitGroup
}

// New checks cfg and builds. Nothing is loaded or opened.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, conns: map[*conn]struct{}{}}, nil
}

// Run opens the engine, listens and serves until ctx ends. Then it stops
// accepting, lets running statements finish for the drain timeout, ends what
// is left and closes the engine. It returns nil after such an end. A Server
// runs once.
func (s *Server) Run(ctx context.Context) error {
	started := time.Now()
	engine, err := startEngine(s.cfg)
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
		full, ok := s.add(c)
		if !ok {
			_ = socket.Close()
			continue
		}
		go func() {
			defer s.remove(c)
			c.serve(full)
		}()
	}
}

// refusals is how many connections above the limit are told so; more are cut.
const refusals = 16

// add registers c. Above the limit it is full: to be greeted and refused.
func (s *Server) add(c *conn) (full, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || len(s.conns) >= s.cfg.MaxConnections+refusals {
		return false, false
	}
	s.conns[c] = struct{}{}
	s.open.Add(1)
	return len(s.conns) > s.cfg.MaxConnections, true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.open.Done()
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
