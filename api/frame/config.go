package frame

import (
	"cmp"
	"log/slog"
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/store"
)

// Config is what an operator may set.
type Config struct {
	// Listen is the address to serve on, `host:port`.
	Listen string
	// BaseURL is the address under which clients reach the service; every `urls` member starts with it.
	BaseURL string
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// AuthTTL is how long an answer about a token or an insights site is remembered, and so the longest time for which a
	// revoked token is still accepted. 0 means 5 s.
	AuthTTL time.Duration
	// AuthEntries bounds the tokens, and as many insights sites, that are remembered. 0 means 65,536.
	AuthEntries int
	// HeaderTimeout bounds the wait for a connection's first request, and for the headers and the first piece of the body of
	// each, so that a slow sender cannot hold a connection. 0 means 10 s.
	HeaderTimeout time.Duration
	// ReadTimeout bounds the reading of one large body; bodyStall bounds each pause in it. 0 means 30 s.
	ReadTimeout time.Duration
	// WriteTimeout bounds the writing of one response. 0 means 30 s.
	WriteTimeout time.Duration
	// IdleTimeout closes kept connections that carry nothing. 0 means 75 s.
	IdleTimeout time.Duration
	// OperationTimeout bounds the work on one request, except for operations that bound themselves. 0 means 20 s.
	OperationTimeout time.Duration
	// DrainWait is how long Stop goes on serving, not ready and closing each connection after its next answer, so that load
	// balancers and clients move on before connections are refused. It ends early once there is no connection.
	DrainWait time.Duration
	// MaxConns bounds the open connections. Where all are taken, those that have been idle for the longest time make room.
	// 0 means 16,384.
	MaxConns int
	// MaxConnsPerIP bounds the open connections of one address, or IPv6 network of /64; 0 sets no bound. Trusted proxies have
	// none.
	MaxConnsPerIP int
	// BodyMemory bounds, in bytes, what the bodies of all requests in flight take beyond the first 16 KiB of each. Those of one
	// token take at most a quarter of it, or 16 MiB if that is more. 0 means 64 MiB.
	BodyMemory int
	// RateLimit bounds the requests per second of one token on this node, with twice as many at once. 0 sets no
	// bound.
	RateLimit int
	// EventRateLimit is the same for requests that post events.
	EventRateLimit int
	// PublicRateLimit bounds the requests per second of one address to operations that need no token, and WrongTokenRateLimit
	// those that show no good one. 0 sets no bound.
	PublicRateLimit, WrongTokenRateLimit int
	// MaxHeaderBytes bounds the request line and headers. 0 means 8 KiB: each connection holds a buffer of that size.
	MaxHeaderBytes int
}

func (c Config) withDefaults() Config {
	c.AuthTTL = cmp.Or(c.AuthTTL, 5*time.Second)
	c.AuthEntries = cmp.Or(c.AuthEntries, 1<<16)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.BodyMemory = cmp.Or(c.BodyMemory, 64<<20)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 75*time.Second)
	c.OperationTimeout = cmp.Or(c.OperationTimeout, 20*time.Second)
	c.MaxConns = cmp.Or(c.MaxConns, 16_384)
	c.MaxHeaderBytes = cmp.Or(c.MaxHeaderBytes, 8<<10)
	return c
}

// guard is the part of the settings that is about callers.
func (c Config) guard() access.Config {
	return access.Config{
		AuthTTL: c.AuthTTL, AuthEntries: c.AuthEntries, RateLimit: c.RateLimit, EventRateLimit: c.EventRateLimit,
		PublicRateLimit: c.PublicRateLimit, WrongTokenRateLimit: c.WrongTokenRateLimit, TrustedProxies: c.TrustedProxies,
	}
}

// Deps are the parts that a server needs beside its table. All but Checks are required.
type Deps struct {
	Store   *store.Store
	Metrics Metrics
	Log     *slog.Logger
	// Checks are run by /readyz.
	Checks []Check
}
