package frame

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// frame passes every request of the table through the same steps.
type frame struct {
	guard   *access.Guard
	metrics Metrics
	log     *slog.Logger
	// refusals decides which refusals are logged.
	refusals *refusalLog
	bodies   *bodyMemory
	unsent   *unsent
	shared   sharedAnswers
	ids      *requestIDs
	proxies  []netip.Prefix
	origins  map[string]bool // origins has Config.TrustedOrigins.
	origin   string          // origin is the origin of Config.BaseURL.
	timeout  time.Duration
	// base is the parent context of every call. It ends when Stop stops waiting for calls. fasthttp's own context is
	// not used: it must not be retained, and a derived context costs a goroutine.
	base   context.Context
	cancel context.CancelFunc
	calls  sync.Pool
}

// route is a row of the table, prepared for serving.
type route struct {
	op   *Operation
	plan *bindPlan
	// changes means that the operation may change resources, by a caller whom the audit log shows.
	changes bool
}

// call is one request on its way through the frame. Calls are pooled: do not retain any part of a call.
type call struct {
	access.Caller
	idBuffer []byte // The request's id, which the Caller reads.
	frame    *frame
	http     *fasthttp.RequestCtx
	checks   rules.Checker
	// raw is the body as sent, and inflated is the same body without its Content-Encoding. received counts the bytes
	// read.
	raw, inflated body
	received      int
	readTimeout   time.Duration
	bodyStall     time.Duration
	shared        *sharedAnswer // shared is the answer, if several calls share its bytes.
	gone          bool          // The client has closed the connection: see watched.
	page          bool          // A refusal is sent as a page: see Page.
	pixel         bool          // A refusal is sent as an image: see Pixel.
	trusted       bool          // The sender is a trusted proxy or a front end, and speaks for its client.
}

func newFrame(cfg Config, d Deps) (*frame, error) {
	guard, err := access.NewGuard(cfg.guard(), d.Store, d.Log)
	if err != nil {
		return nil, err
	}
	f := &frame{
		guard: guard, metrics: d.Metrics, log: d.Log, ids: newRequestIDs(), refusals: newRefusalLog(),
		bodies: newBodyMemory(cfg.BodyMemory, bodyWait),
		unsent: newUnsent(cfg, d.Metrics.ObserveUnsent), shared: sharedAnswers{held: map[string]*sharedAnswer{}},
		proxies: cfg.TrustedProxies, origins: map[string]bool{}, timeout: cfg.OperationTimeout,
		origin: access.OriginOf(cfg.BaseURL),
	}
	for _, origin := range cfg.TrustedOrigins {
		f.origins[origin] = true
	}
	f.base, f.cancel = context.WithCancel(context.Background())
	f.calls.New = func() any {
		return &call{
			frame: f, raw: body{memory: f.bodies}, inflated: body{memory: f.bodies},
			readTimeout: cfg.ReadTimeout, bodyStall: cfg.BodyStall,
		}
	}
	return f, nil
}

// prepare compiles the rows for serving, in the table's order.
func (f *frame) prepare(table Table) ([]*route, error) {
	if err := checkTable(table.Operations); err != nil {
		return nil, err
	}
	words, err := table.Vocabulary()
	if err != nil {
		return nil, err
	}
	routes := make([]*route, len(table.Operations))
	var problems []error
	for i := range table.Operations {
		op := &table.Operations[i]
		if op.Timeout == 0 {
			op.Timeout = f.timeout
		}
		plan, err := newBindPlan(op, words)
		if err != nil {
			problems = append(problems, fmt.Errorf("operation %q: %w", op.ID, err))
			continue
		}
		routes[i] = &route{op: op, plan: plan, changes: op.Method != http.MethodGet && !plan.body.raw}
	}
	return routes, errors.Join(problems...)
}

// serve answers one request of a route.
func (f *frame) serve(rt *route, ctx *fasthttp.RequestCtx) {
	c := f.begin(ctx)
	if rt.op.CORS {
		allowOrigin(ctx)
	}
	c.page, c.pixel = rt.op.forBrowsers() && acceptsPage(ctx), rt.op.pixel()
	err := f.run(rt, c)
	if err == nil {
		compress(c)
		err = f.keep(c, rt)
	}
	if c.gone && errors.Is(err, context.Canceled) { // Other answers are sent: the client may have closed its sending half only.
		ctx.SetStatusCode(statusClientGone)
		ctx.SetConnectionClose()
	} else if err != nil {
		f.refuse(c, rt.op.ID, schema.AsError(err))
	} else if f.log.Enabled(f.base, slog.LevelDebug) {
		f.log.Debug("request", "request_id", c.RequestID(), "operation", rt.op.ID, "status", ctx.Response.StatusCode(),
			"duration", time.Since(c.Now))
	}
	if c.Reader != nil {
		tagAnswer(c, err)
	}
	f.end(c, rt.op.ID)
}

// continues answers `Expect: 100-continue`, with which a client requests permission to send its body. It refuses
// callers without a valid token and bodies over the operation's limit. Other refusals wait until the body has arrived.
func (f *frame) continues(rt *route, ctx *fasthttp.RequestCtx) {
	c := f.begin(ctx)
	c.Now = time.Now() // fasthttp sets its time only before the handler, which runs later.
	if rt.op.CORS {
		allowOrigin(ctx)
	}
	var err error
	if ctx.Request.Header.ContentLength() > rt.op.BodyLimit {
		err = tooLarge(rt.op)
	} else if presented := f.presented(ctx); len(presented.Authorization) == 0 && rt.op.Scope.Nobody {
		err = f.guard.AdmitNobody(f.base, c, &c.Caller)
	} else if rt.op.Scope.Key {
		err = f.guard.AdmitKey(f.base, c, &c.Caller)
	} else if !rt.op.Scope.Public {
		_, err = f.guard.Authenticate(f.base, presented, c.IP, c.Now)
	}
	if err != nil {
		f.refuse(c, rt.op.ID, schema.AsError(err))
		f.end(c, rt.op.ID)
		return
	}
	f.leave(c)
}

// run does the steps from authentication to encoding. A panic in a handler fails only its request. fasthttp itself
// would not catch the panic, and the process would end.
func (f *frame) run(rt *route, c *call) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			f.metrics.ObservePanic(rt.op.ID)
			f.log.Error("panic in operation", "request_id", c.RequestID(), "operation", rt.op.ID, "panic", fmt.Sprint(fault),
				"stack", string(debug.Stack()))
			c.http.Response.ResetBody()
			err = schema.Internal(fmt.Errorf("panic: %v", fault))
		}
	}()
	ctx := f.base
	if rt.op.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rt.op.Timeout)
		defer cancel()
	}
	if rt.op.BodyLimit > 0 && c.http.Request.Header.ContentLength() > rt.op.BodyLimit {
		return tooLarge(rt.op)
	}
	if err := f.authorize(ctx, rt.op, c); err != nil {
		if errors.Is(err, access.ErrAlreadyGone) {
			c.http.SetStatusCode(rt.op.Status)
			return nil
		}
		return err
	}
	if rt.changes {
		if err := f.unsent.admit(c.IP); err != nil {
			return err
		}
	}
	return rt.op.Handler.invoke(ctx, rt, c)
}

var headerRequestID = []byte("X-Request-Id")

func (f *frame) begin(ctx *fasthttp.RequestCtx) *call {
	c := f.calls.Get().(*call)
	c.http = ctx
	c.idBuffer = f.ids.append(c.idBuffer[:0], ctx.Request.Header.Peek("X-Request-Id"))
	ip, trusted := clientIP(ctx, f.proxies, false)
	c.trusted = trusted
	c.Begin(c.idBuffer, ctx.Conn(), ip, ctx.Time())
	c.Head = ctx.IsHead()
	ctx.Response.Header.SetCanonical(headerRequestID, c.idBuffer)
	f.allowTrusted(ctx)
	return c
}

// end records the metrics of the call and releases the call.
func (f *frame) end(c *call, operation string) {
	response := &c.http.Response
	bytesOut := response.Header.ContentLength()
	if !response.IsBodyStream() { // Body would read a stream to its end.
		bytesOut = len(response.Body())
	}
	f.metrics.ObserveRequest(operation, response.StatusCode(), time.Since(c.Now), c.received, max(bytesOut, 0))
	f.leave(c)
}

// leave releases the call's buffers and memory. Code that retains a buffer would see the data of the next call.
func (f *frame) leave(c *call) {
	c.raw.release()
	c.inflated.release()
	if c.shared != nil {
		f.shared.leave(c.shared)
	}
	c.Caller, c.http, c.checks, c.received = access.Caller{}, nil, rules.Checker{}, 0
	c.shared, c.gone, c.page, c.pixel = nil, false, false, false
	f.calls.Put(c)
}

// PathParam returns a path parameter as it was sent. The result may alias the request.
func (c *call) PathParam(name string) string {
	value, _ := c.http.UserValue(name).(string)
	return value
}
