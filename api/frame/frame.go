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

// frame passes every request for an operation of the table through the same steps.
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
	origins  map[string]bool // origins has the values of Config.TrustedOrigins.
	origin   string          // origin is the origin of Config.BaseURL.
	timeout  time.Duration
	// base is the parent context of every call. It ends when Stop no longer waits for calls. fasthttp's own context is
	// not the parent, because it must not be stored, and each derived context would need a goroutine.
	base   context.Context
	cancel context.CancelFunc
	calls  sync.Pool
}

// route is an operation with what the frame needs to serve it.
type route struct {
	op   *Operation
	plan *bindPlan
	// changes means that the operation may change resources. The audit log then shows the caller.
	changes bool
}

// call is one request while the frame serves it. Calls are pooled and reused, so no part of a call may be stored.
type call struct {
	access.Caller
	idBuffer []byte // idBuffer has the request's id, which the Caller reads.
	frame    *frame
	http     *fasthttp.RequestCtx
	checks   rules.Checker
	// raw is the body as it was sent, and `inflated` is the decompressed body. `received` is the number of bytes of
	// `raw`.
	raw, inflated body
	received      int
	readTimeout   time.Duration
	bodyStall     time.Duration
	shared        *sharedAnswer // shared is the answer, if several calls share its bytes.
	gone          bool          // gone means that the client has closed the connection. See watched.
	page          bool          // page means that a refusal is sent as a page. See Page.
	pixel         bool          // pixel means that a refusal is sent as an image. See Pixel.
	trusted       bool          // trusted means that a trusted proxy or a front end sent the request for a client.
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

// prepare returns the routes of the table's operations, in the same order.
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
	// If the answer is complete, it is sent, because the client may have closed only its sending half.
	if c.gone && errors.Is(err, context.Canceled) {
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

// continues answers `Expect: 100-continue`, a header by which a client waits for permission to send its body. It
// refuses callers without a valid token, and bodies over the operation's limit. All other checks run when the body has
// arrived.
func (f *frame) continues(rt *route, ctx *fasthttp.RequestCtx) {
	c := f.begin(ctx)
	c.Now = time.Now() // fasthttp sets its time only before it calls the handler, which runs later.
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

// run runs the steps from authorization to the encoding of the answer. If a function panics, run answers 500. Without
// this, the panic would end the process, because fasthttp does not catch it.
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

// end records the metrics of the call and returns the call to the pool.
func (f *frame) end(c *call, operation string) {
	response := &c.http.Response
	bytesOut := response.Header.ContentLength()
	if !response.IsBodyStream() { // For a stream, Body would read the whole stream.
		bytesOut = len(response.Body())
	}
	f.metrics.ObserveRequest(operation, response.StatusCode(), time.Since(c.Now), c.received, max(bytesOut, 0))
	f.leave(c)
}

// leave releases the call's buffers and returns the call to the pool. Code that stored a buffer would now see the data
// of another call.
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
