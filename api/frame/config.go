package frame

import (
	"cmp"
	"log/slog"
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/store"
)

// DefaultAuthTTL is the default of AuthTTL.
const DefaultAuthTTL = 5 * time.Second

// Config has the operator's settings.
type Config struct {
	// Listen is the address to serve on, `host:port`.
	Listen string
	// BaseURL is the address at which clients reach the service. Every `urls` member starts with this address.
	BaseURL string
	// TrustedProxies are the peers whose X-Forwarded-For is trusted.
	TrustedProxies []netip.Prefix
	// TrustedOrigins are the origins, in lower case, whose pages may call every operation with a token. Pages of other
	// origins may call only operations whose CORS is true.
	TrustedOrigins []string
	// AuthTTL is the time for which tokens and insights sites are cached. So a revoked token may still be accepted for
	// this time. 0 means DefaultAuthTTL.
	AuthTTL time.Duration
	// AuthEntries bounds the cache of tokens, and separately the cache of insights sites. 0 means 65,536.
	AuthEntries int
	// HeaderTimeout bounds the wait for a connection's first request, and for each request's headers and first piece of
	// body. So a slow sender cannot hold a connection. 0 means 10 s.
	HeaderTimeout time.Duration
	// ReadTimeout bounds reading one large body. 0 means 30 s.
	ReadTimeout time.Duration
	// BodyStall bounds each pause between two bytes of a large body. 0 means 5 s.
	BodyStall time.Duration
	// WriteStall is an interval. A connection ends if its client reads only a few bytes of its answer during two
	// intervals in a row. An answer may take longer as long as the client reads. 0 means 10 s.
	WriteStall time.Duration
	// IdleTimeout closes keep-alive connections without requests. 0 means 75 s.
	IdleTimeout time.Duration
	// OperationTimeout bounds the work on one request, except for operations with a separate limit. 0 means 20 s.
	OperationTimeout time.Duration
	// DrainWait is the time that Stop keeps serving while the server is not ready. Each connection is closed after its
	// next answer. So load balancers and clients move on before connections are refused. The wait ends early when no
	// connection is left.
	DrainWait time.Duration
	// MaxConns bounds the open connections. When all are taken, the connections that were idle longest are closed. 0
	// means 16,384.
	MaxConns int
	// MaxConnsPerIP bounds the open connections of one address, or of one IPv6 /64 network; 0 means no bound. It does
	// not apply to trusted proxies.
	MaxConnsPerIP int
	// BodyMemory limits, in bytes, the memory for the bodies of all requests in flight. The first 16 KiB of each body
	// do not count. The bodies of one token take at most a quarter of this memory, or 32 MiB if a quarter is less. 0
	// means 64 MiB.
	BodyMemory int
	// AnswerMemory limits, in bytes, the memory of answers that clients have not read yet. The answers to one address,
	// or to one IPv6 /64 network, take at most a quarter of this memory. 0 means 32 MiB.
	AnswerMemory int
	// RateLimit bounds the requests per second of one token on this node, with bursts of twice as many. 0 means no
	// bound.
	RateLimit int
	// EventRateLimit is the RateLimit for requests that post events.
	EventRateLimit int
	// KeyRateLimit is the RateLimit for requests with one publishable key. All keys of a site together have twice this
	// limit.
	KeyRateLimit int
	// PublicRateLimit bounds the requests per second of one address to operations without a token. WrongTokenRateLimit
	// bounds the requests without a valid token. 0 means no bound.
	PublicRateLimit, WrongTokenRateLimit int
	// MaxHeaderBytes bounds the request line and headers. 0 means 8 KiB: each connection holds a buffer of that size.
	MaxHeaderBytes int
}

func (c Config) withDefaults() Config {
	c.AuthTTL = cmp.Or(c.AuthTTL, DefaultAuthTTL)
	c.AuthEntries = cmp.Or(c.AuthEntries, 1<<16)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.BodyStall = cmp.Or(c.BodyStall, 5*time.Second)
	c.BodyMemory = cmp.Or(c.BodyMemory, 64<<20)
	c.WriteStall = cmp.Or(c.WriteStall, 10*time.Second)
	c.AnswerMemory = cmp.Or(c.AnswerMemory, 32<<20)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 75*time.Second)
	c.OperationTimeout = cmp.Or(c.OperationTimeout, 20*time.Second)
	c.MaxConns = cmp.Or(c.MaxConns, 16_384)
	c.MaxHeaderBytes = cmp.Or(c.MaxHeaderBytes, 8<<10)
	return c
}

// guard returns the settings about callers.
func (c Config) guard() access.Config {
	return access.Config{
		AuthTTL: c.AuthTTL, AuthEntries: c.AuthEntries, RateLimit: c.RateLimit, EventRateLimit: c.EventRateLimit,
		KeyRateLimit:    c.KeyRateLimit,
		PublicRateLimit: c.PublicRateLimit, WrongTokenRateLimit: c.WrongTokenRateLimit, TrustedProxies: c.TrustedProxies,
	}
}

// Deps are the dependencies of a server in addition to its table. All except Checks are required.
type Deps struct {
	Store   *store.Store
	Metrics Metrics
	Log     *slog.Logger
	// Checks are run by /readyz.
	Checks []Check
}
