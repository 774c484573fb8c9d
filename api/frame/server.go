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

// Server serves the table's operations. On the same listener, it serves the OpenAPI document, files, pages and health
// checks.
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
	// endUses stops the recording of tokens' uses and the reports about refused requests.
	endUses context.CancelFunc
}

// New builds the server for a table. It returns an error for invalid rows and settings. It opens no listener.
// `describe` returns the OpenAPI document, and is called when the document is first requested.
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
		// The listener limits the number of connections. This limit is higher, because fasthttp may still be working on
		// connections that the listener has closed.
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

// router returns the router of all requests. `answer` answers the requests of the table's operations. Each path with
// GET also has HEAD, for which fasthttp omits the body.
func (s *Server) router(routes []*route, answer func(rt *route, ctx *fasthttp.RequestCtx)) *router.Router {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	r.HandleMethodNotAllowed, r.HandleOPTIONS = true, true
	r.NotFound, r.GlobalOPTIONS = s.frame.notFound, s.frame.options
	r.MethodNotAllowed = func(ctx *fasthttp.RequestCtx) {
		// The router has OPTIONS for a path if pages of any origin may call its operation.
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

// counted limits the requests for a page by the caller's address, as for public operations.
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

// page registers a page that is not in the table. If the handler panics, the answer is 500.
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
			leaveUnread(ctx) // Pages take no body, and reading the stream would read all of it.
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

// OpenConnections returns the number of open connections.
func (s *Server) OpenConnections() int { return s.connections.count() }

// Done returns a channel that receives the error with which serving ended, or nil after Stop. The caller of Start must
// read from it.
func (s *Server) Done() <-chan error { return s.served }

// leaving closes each connection after its answer while the server stops, so that clients reconnect to other nodes.
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

// Stop calls Drain, waits for at most DrainWait, and then accepts no more connections. It waits for the requests in
// flight until ctx ends, and then cancels them.
func (s *Server) Stop(ctx context.Context) error {
	s.Drain()
	s.awaitLeaving(ctx)
	err := s.http.ShutdownWithContext(ctx)
	// This cancels the context of the functions that still run.
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

// awaitLeaving waits until all connections are closed, for DrainWait at most.
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
