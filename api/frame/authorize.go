package frame

import (
	"context"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// authorize admits the caller, or returns an error with 401, 403, 404 or 429. It stores the scope's object in the
// Caller.
func (f *frame) authorize(ctx context.Context, op *Operation, c *call) error {
	if op.Scope.Key {
		return f.authorizeKey(ctx, c)
	}
	if op.Scope.Public {
		return f.guard.TakePublic(c.IP, c.Now)
	}
	presented := f.presented(c.http)
	if len(presented.Authorization) == 0 && op.Scope.Nobody {
		if err := f.guard.AdmitNobody(ctx, c, &c.Caller); err != nil {
			return err
		}
		return f.guard.TakePublic(c.IP, c.Now)
	}
	session, err := f.guard.Authenticate(ctx, presented, c.IP, c.Now)
	if err != nil {
		return err
	}
	c.Principal, c.Reader = &session.Principal, session.Reader
	if c.Principal.Kind == schema.TokenFrontEnd {
		c.IP, _ = clientIP(c.http, f.proxies, true)
		c.trusted = true
	}
	if err := f.limit(op.Rate, session, c); err != nil {
		return err
	}
	return f.guard.Admit(ctx, op.Scope, c, &c.Caller)
}

// presented returns the parts of a request that identify its sender.
func (f *frame) presented(ctx *fasthttp.RequestCtx) access.Presented {
	header := &ctx.Request.Header
	p := access.Presented{Authorization: header.Peek("Authorization")}
	if len(p.Authorization) > 0 {
		return p // Most requests have a token, and then no cookie is read.
	}
	p.Cookie = header.Cookie(access.BrowserCookie)
	p.Page = access.PageOrigin{
		Marker: header.Peek(access.BrowserHeader), Origin: header.Peek("Origin"), Host: header.Host(),
		FetchSite: header.Peek("Sec-Fetch-Site"), Base: f.origin,
	}
	return p
}

// authorizeKey admits a caller with a publishable key, within the rate limits of the client's address, the key and the
// key's site.
func (f *frame) authorizeKey(ctx context.Context, c *call) error {
	if err := f.guard.AdmitKey(ctx, c, &c.Caller); err != nil {
		return err
	}
	if err := f.guard.TakePublic(c.IP, c.Now); err != nil {
		return err
	}
	take, err := f.guard.TakeKey(c.Key, c.Now)
	c.showAllowance(take)
	return err
}

// authorizeNamed authorizes the caller on the object that the body names.
func (f *frame) authorizeNamed(ctx context.Context, s access.Scope, c *call, body []byte) error {
	name, err := memberText(body, s.Named.Member)
	if err != nil {
		return err
	}
	return f.guard.AdmitNamed(ctx, s, name, &c.Caller)
}

// widener is a request type of an operation that lets more people read a site. Widens reports whether this request lets
// more people read the site. If the type has no such method, the frame assumes that every request lets more people read
// it.
type widener interface{ Widens(site sites.Site) bool }

// authorizeWidening returns an error if the decoded request lets more people read a site and the caller may not do
// that.
func (f *frame) authorizeWidening(ctx context.Context, c *call, request any) error {
	if w, ok := request.(widener); ok && !w.Widens(c.Site.Site) {
		return nil
	}
	return f.guard.AdmitWidening(ctx, &c.Caller)
}

var (
	headerLimit     = []byte("X-Ratelimit-Limit")
	headerRemaining = []byte("X-Ratelimit-Remaining")
	headerReset     = []byte("X-Ratelimit-Reset")
)

// limit counts a request against the token's rate limit, or refuses it with 429.
func (f *frame) limit(class access.RateClass, s *access.Session, c *call) error {
	take := f.guard.Take(class, s, c.Now)
	c.showAllowance(take)
	if take.Wait > 0 {
		return schema.TooManyRequests("too many requests with this token", take.Wait)
	}
	return nil
}

// showAllowance sets the headers that show a client its rate limit, for refused requests as well. The headers are the
// burst, the number of requests that remain of it, and the Unix time in seconds at which the full burst is available
// again.
func (c *call) showAllowance(take access.Allowance) {
	if take.Burst == 0 {
		return
	}
	var digits [20]byte
	header := &c.http.Response.Header
	header.SetCanonical(headerLimit, strconv.AppendInt(digits[:0], take.Burst, 10))
	header.SetCanonical(headerRemaining, strconv.AppendInt(digits[:0], take.Left, 10))
	header.SetCanonical(headerReset, strconv.AppendInt(digits[:0], take.Idle.Add(time.Second-1).Unix(), 10))
}
