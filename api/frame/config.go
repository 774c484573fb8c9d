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
	// TrustedProxies are the networks of proxies whose header X-Forwarded-For is trusted.
	TrustedProxies []netip.Prefix
	// TrustedOrigins are the origins, in lower case, whose pages may call every operation with a token. Pages of other
	// origins may call only operations whose CORS is true.
	TrustedOrigins []string
	// AuthTTL is the time for which tokens are cached, and rights on sites' insights. So a revoked token may still be
	// accepted for this time. 0 means DefaultAuthTTL.
	AuthTTL time.Duration
	// AuthEntries is the largest number of tokens in the cache, and also the largest number of rights on sites'
	// insights. 0 means 65,536.
	AuthEntries int
	// HeaderTimeout limits the time until a new connection sends a request. It also limits the time in which the
	// headers and the first piece of the body must arrive. So a slow sender cannot occupy a connection. 0 means 10 s.
	HeaderTimeout time.Duration
	// ReadTimeout limits the time in which a large body must arrive. 0 means 30 s.
	ReadTimeout time.Duration
	// BodyStall is the longest pause between two bytes of a large body. 0 means 5 s.
	BodyStall time.Duration
	// WriteStall is the interval at which the sending of an answer is checked. If the client reads fewer than 8 KiB in
	// an interval, the connection is closed. An answer may take any time while the client reads more. 0 means 10 s.
	WriteStall time.Duration
	// IdleTimeout closes keep-alive connections without requests. 0 means 75 s.
	IdleTimeout time.Duration
	// OperationTimeout limits the work on one request. Operations with their own Timeout have another limit. 0 means 20
	// s.
	OperationTimeout time.Duration
	// DrainWait is the time for which Stop still serves requests while /readyz answers 503. Each connection is closed
	// after its next answer. So load balancers and clients go to other nodes before this node refuses connections. The
	// wait ends early when no connection is open.
	DrainWait time.Duration
	// MaxConns is the largest number of open connections. When it is reached, the connections that have been idle
	// longest are closed. 0 means 16,384.
	MaxConns int
	// MaxConnsPerIP is the largest number of open connections from one address, or from one IPv6 /64 network; 0 means
	// no limit. It does not apply to trusted proxies.
	MaxConnsPerIP int
	// BodyMemory limits, in bytes, the memory for the bodies of all requests in flight. The first 16 KiB of each body
	// are not counted. All bodies of one token together take at most a quarter of this memory, or 32 MiB if a quarter
	// is less. 0 means 64 MiB.
	BodyMemory int
	// AnswerMemory limits, in bytes, the memory of answers that clients have not read yet. The answers to one address,
	// or to one IPv6 /64 network, together take at most a quarter of this memory. 0 means 32 MiB.
	AnswerMemory int
	// RateLimit is the number of requests a second that one token may send to this node. It may send twice as many at
	// once. 0 means no limit.
	RateLimit int
	// EventRateLimit is like RateLimit, for requests that post events.
	EventRateLimit int
	// KeyRateLimit is like RateLimit, for requests with one publishable key. The limit of all keys of a site together
	// is twice as high.
	KeyRateLimit int
	// PublicRateLimit limits the requests a second from one address to operations that need no token.
	// WrongTokenRateLimit limits the requests a second from one address to other operations without a valid token. 0
	// means no limit.
	PublicRateLimit, WrongTokenRateLimit int
	// MaxHeaderBytes limits the request line and the headers together. Each connection has a buffer of this size. 0
	// means 8 KiB.
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

// guard returns the settings that access.Guard uses.
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
	// Checks are the readiness checks that /readyz runs.
	Checks []Check
}
