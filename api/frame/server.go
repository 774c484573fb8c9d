package frame

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// Server serves the table and, on the same listener, further pages.
type Server struct {
	cfg    Config
	frame  *frame
	checks []Check
	docs   *docs
	files  []Static
	pages  *Pages
	http   *fasthttp.Server
	// connections are the listener's open connections.
	connections *connections
	listener    net.Listener
	stopping    atomic.Bool
	served      chan error
	// endUses stops the recorder of token uses and the reports of refusals.
	endUses context.CancelFunc
}

// New builds the server for a table. It refuses invalid rows and settings, and opens no connections or listeners. The
// first request for the OpenAPI document calls describe.
func New(cfg Config, d Deps, table Table, describe func() ([]byte, error)) (*Server, error) {
	cfg = cfg.withDefaults()
	f, err := newFrame(cfg, d)
	if err != nil {
		return nil, fmt.Errorf("cannot build api: %w", err)
	}
	routes, err := f.prepare(table)
	if err != nil {
		return nil, fmt.Errorf("cannot build api: %w", err)
	}
	s := &Server{
		cfg: cfg, frame: f, checks: d.Checks, files: table.Files, pages: table.Pages, served: make(chan error, 1),
	}
	s.docs = newDocs(describe, table.Pages)
	s.connections = newConnections(cfg, d.Metrics.ObserveConnectionEnded, f.sent)
	s.http = &fasthttp.Server{
		Handler:        s.leaving(s.framed(s.router(routes, f.serve).Handler)),
		HeaderReceived: headersReceived(routes),
		ExpectHandler:  s.mayContinue(s.router(routes, f.continues).Handler),
		ConnState:      connState,
		ErrorHandler:   f.malformed,
		Logger:         serverLog{d.Log},
		ReadTimeout:    cfg.HeaderTimeout,
		IdleTimeout:    cfg.IdleTimeout,
		// The listener bounds the connections. This bound is higher, because fasthttp may still finish connections that
		// the listener has closed.
		Concurrency:                  2 * cfg.MaxConns,
		ReadBufferSize:               cfg.MaxHeaderBytes,
		WriteBufferSize:              writeBuffer,
		StreamRequestBody:            true,
		MaxRequestBodySize:           firstBodyBytes,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		SecureErrorLogMessage:        true,
		CloseOnShutdown:              true,
	}
	return s, nil
}

// router registers every row with the function that answers it. HEAD is answered wherever GET is: fasthttp leaves the
// body out.
func (s *Server) router(routes []*route, answer func(rt *route, ctx *fasthttp.RequestCtx)) *router.Router {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	r.HandleMethodNotAllowed, r.HandleOPTIONS = true, true
	r.NotFound, r.GlobalOPTIONS = s.frame.notFound, s.frame.options
	r.MethodNotAllowed = func(ctx *fasthttp.RequestCtx) {
		// A path has a row for OPTIONS if pages of any origin may call it.
		row, _ := r.Lookup(http.MethodOptions, string(ctx.Request.URI().PathOriginal()), nil)
		s.frame.methodNotAllowed(ctx, row != nil)
	}
	for _, rt := range routes {
		path := rt.op.Route()
		if rt.op.Tail {
			path = strings.TrimSuffix(path, "}") + ":*}"
		}
		serve := func(ctx *fasthttp.RequestCtx) { answer(rt, ctx) }
		r.Handle(rt.op.Method, path, serve)
		if rt.op.Method == http.MethodGet {
			r.Handle(http.MethodHead, path, serve)
		}
		if rt.op.CORS {
			r.OPTIONS(path, s.frame.preflight(rt.op.Method))
		}
	}
	if len(routes) > 0 {
		s.page(r, "/v1/openapi.json", s.counted(s.openAPI))
	}
	if s.pages != nil {
		for _, path := range s.pages.Paths {
			s.page(r, path, s.counted(s.docsPage))
		}
	}
	for _, file := range s.files {
		s.page(r, file.Path, s.counted(static(file)))
	}
	s.page(r, "/healthz", healthz)
	s.page(r, "/readyz", s.readyz)
	return r
}

// counted counts requests for a page against the caller's address, like requests to public operations.
func (s *Server) counted(handler fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		c := s.frame.begin(ctx)
		if err := s.frame.guard.TakePublic(c.IP, c.Now); err != nil {
			s.frame.refuse(c, noOperation, schema.AsError(err))
			s.frame.end(c, noOperation)
			return
		}
		s.frame.leave(c)
		handler(ctx)
	}
}

// page serves a page outside of the contract, with the frame's answer to a panic.
func (s *Server) page(r *router.Router, path string, handler fasthttp.RequestHandler) {
	guarded := func(ctx *fasthttp.RequestCtx) {
		defer func() {
			if fault := recover(); fault != nil {
				s.frame.metrics.ObservePanic(noOperation)
				s.frame.log.Error("panic in page", "path", path, "panic", fmt.Sprint(fault))
				writeError(ctx, schema.Internal(nil))
			}
		}()
		if ctx.Request.BodyStream() != nil {
			leaveUnread(ctx) // No page has a body, and reading the stream would read all of it.
			_ = ctx.Request.CloseBodyStream()
		}
		handler(ctx)
	}
	r.GET(path, guarded)
	r.HEAD(path, guarded)
}

// Start listens and serves until Stop.
func (s *Server) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	if tcp, ok := listener.(*net.TCPListener); ok {
		listener = listen(tcp, s.connections, s.cfg.HeaderTimeout)
	}
	s.listener = listener
	uses, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.endUses = cancel
	go s.frame.guard.Run(uses)
	go s.frame.refusals.run(uses, s.frame.log)
	go func() { s.served <- s.http.Serve(listener) }()
	return nil
}

// Addr returns the listening address, once Start has returned.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// OpenConnections counts the open connections.
func (s *Server) OpenConnections() int { return s.connections.count() }

// Done delivers the error that ended serving; nil after Stop. The caller of Start must watch it.
func (s *Server) Done() <-chan error { return s.served }

// leaving closes each connection after its answer once the server is stopping, so that clients reconnect elsewhere.
func (s *Server) leaving(serve fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		serve(ctx)
		if s.stopping.Load() {
			ctx.SetConnectionClose()
		}
	}
}

// Drain makes /readyz answer 503 while requests are still served, so that a load balancer can take the node out before
// Stop.
func (s *Server) Drain() { s.stopping.Store(true) }

// Stop drains and accepts no more connections. It lets the requests in flight finish until ctx ends, and then cancels
// them.
func (s *Server) Stop(ctx context.Context) error {
	s.Drain()
	s.awaitLeaving(ctx)
	err := s.http.ShutdownWithContext(ctx)
	// This ends the context of functions that still run.
	s.frame.cancel()
	if s.endUses != nil {
		s.endUses()
		select {
		case <-s.frame.guard.Done():
		case <-ctx.Done():
		}
	}
	if err != nil {
		return fmt.Errorf("cannot stop api in time: %w", err)
	}
	return nil
}

// awaitLeaving waits until all connections are closed, but at most for DrainWait.
func (s *Server) awaitLeaving(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.DrainWait)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for s.http.GetOpenConnectionsCount() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// serverLog writes fasthttp's messages, which are about connections, to the log.
type serverLog struct {
	log *slog.Logger
}

func (l serverLog) Printf(format string, args ...any) {
	l.log.Debug("http server", "message", fmt.Sprintf(format, args...))
}
