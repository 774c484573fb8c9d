package access

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// touchEvery is the shortest time between two records of a token's use.
const touchEvery = time.Minute

// Session is a cached principal. `touched` is the time (schema.Elapsed) at which the session's last use was queued for
// recording. `touched` is the only field that changes after the session is cached.
type Session struct {
	Principal store.Principal
	// Reader is set for site tokens.
	Reader  *Reader
	use     *tokenUse
	touched atomic.Int64
}

// finder loads the session of a token.
type finder func(context.Context) (*Session, error)

// Authenticate finds the principal of a request. `p` has the request's Authorization header, or the cookie of a
// browser's session. Both alias the request, and Authenticate does not store them. If the token must be looked up in
// the store, the request counts against the caller's address, because the token may be made up. A request with a token
// that was valid a short time ago does not count.
func (g *Guard) Authenticate(ctx context.Context, p Presented, ip netip.Addr, now time.Time) (*Session, error) {
	if len(p.Authorization) == 0 && len(p.Cookie) > 0 {
		return g.browser(ctx, p, ip, now)
	}
	token, ok := BearerToken(p.Authorization)
	if !ok {
		return nil, g.refuseToken(ip, now, noToken)
	}
	signed := isSiteToken(token)
	if !signed && !schema.ValidToken(token) {
		return nil, g.refuseToken(ip, now, "the token is not valid")
	}
	if schema.IsInsightsSession(token) {
		return g.insightsLink(ctx, token, ip, now)
	}
	hash := schema.HashToken(token)
	s, err, known := g.tokens.peek(hash, now)
	if known { // Requests with events nearly always return here, before a closure is allocated.
		return g.recent(s, err, ip, now)
	}
	find := func(ctx context.Context) (*Session, error) { return g.stored(ctx, hash) }
	switch {
	case schema.IsIntegrationToken(token):
		find = func(ctx context.Context) (*Session, error) { return g.installation(ctx, hash) }
	case signed:
		find = func(ctx context.Context) (*Session, error) { return g.reader(ctx, token, now) }
	}
	return g.load(ctx, hash, ip, now, find)
}

// load returns the session from the cache, or calls `find` and caches the session.
func (g *Guard) load(
	ctx context.Context, hash schema.TokenHash, ip netip.Addr, now time.Time, find finder,
) (*Session, error) {
	s, err := loadCounted(ctx, g.addresses, g.tokens, hash, ip, now, find)
	return g.used(s, err, now)
}

// recent returns a cached session, or the error for a wrong token. A request with a wrong token counts against the
// caller's address.
func (g *Guard) recent(s *Session, err error, ip netip.Addr, now time.Time) (*Session, error) {
	if err != nil {
		if limited := g.addresses.takeWrongToken(ip, now); limited != nil {
			err = limited
		}
	}
	return g.used(s, err, now)
}

// used returns a session that has not expired, and queues its use for recording.
func (g *Guard) used(s *Session, err error, now time.Time) (*Session, error) {
	if err != nil {
		return nil, err
	}
	// A cached token may have expired since it was loaded.
	if !s.Principal.ExpiresAt.IsZero() && !now.Before(s.Principal.ExpiresAt) {
		return nil, schema.Unauthorized("the token is not valid")
	}
	if s.Reader != nil || s.Principal.Integration != "" {
		return s, nil // Readers' tokens have no row for a last use, and integrations' tokens are short-lived.
	}
	at, last := schema.Elapsed(now), s.touched.Load()
	if at-last >= int64(touchEvery) && s.touched.CompareAndSwap(last, at) {
		g.uses.record(s.Principal.TokenID)
	}
	return s, nil
}

func (g *Guard) refuseToken(ip netip.Addr, now time.Time, why string) error {
	if limited := g.addresses.takeWrongToken(ip, now); limited != nil {
		return limited
	}
	return schema.Unauthorized(why)
}

// noToken is the error message for a caller who needs a token and sent none.
const noToken = "a bearer token is required"

// loadCounted finds out whether a caller's credential, such as a token, is valid, and returns its data. A request with
// an invalid credential counts against the caller's address.
func loadCounted[K comparable, V any](
	ctx context.Context, addresses *addressLimits, cache *ttlCache[K, V], key K, ip netip.Addr, now time.Time, find func(context.Context) (V, error),
) (value V, err error) {
	counted := !cache.wasGood(key)
	if counted {
		if err := addresses.takeWrongToken(ip, now); err != nil {
			return value, err
		}
	}
	value, err = cache.load(ctx, key, now, find)
	if counted && !schema.IsCode(err, schema.CodeUnauthorized) {
		addresses.giveBackWrongToken(ip)
	}
	return value, err
}

// stored finds the token with this hash in the store, and returns its session.
func (g *Guard) stored(ctx context.Context, hash schema.TokenHash) (*Session, error) {
	return g.session(g.store.Authenticate(ctx, hash))
}

// session returns a session of the principal. All sessions of a token share the token's rate limits.
func (g *Guard) session(principal store.Principal, err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	s := &Session{Principal: principal, use: g.rates.of(principal.TokenID)}
	// LastUsedAt is a wall-clock time. If the clock was set back, LastUsedAt can be in the future. The next use then
	// replaces it.
	now := time.Now()
	if ago := now.Sub(principal.LastUsedAt); 0 <= ago && ago < touchEvery {
		s.touched.Store(schema.Elapsed(now) - int64(ago))
	}
	return s, nil
}

// BearerToken extracts the token from an Authorization header. The case of the word "Bearer" does not matter (RFC 9110,
// 11.1).
func BearerToken(header []byte) ([]byte, bool) {
	const scheme = "bearer "
	if len(header) <= len(scheme) {
		return nil, false
	}
	for i := range len(scheme) {
		c := header[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != scheme[i] {
			return nil, false
		}
	}
	token := header[len(scheme):]
	for len(token) > 0 && token[0] == ' ' {
		token = token[1:]
	}
	for len(token) > 0 && token[len(token)-1] == ' ' {
		token = token[:len(token)-1]
	}
	return token, len(token) > 0
}

// useRecorder writes the last use of tokens in the background, so that no request waits for it. If the queue is full,
// the use is dropped. The next use that is at least touchEvery later is queued again.
type useRecorder struct {
	store *store.Store
	log   *slog.Logger
	queue chan string
	done  chan struct{}
}

func newUseRecorder(st *store.Store, log *slog.Logger) *useRecorder {
	return &useRecorder{store: st, log: log, queue: make(chan string, 4096), done: make(chan struct{})}
}

func (u *useRecorder) record(tokenID string) {
	select {
	case u.queue <- tokenID:
	default:
	}
}

// run writes the queued uses every second, or sooner if many are queued. When ctx ends, it writes the uses that are
// still queued.
func (u *useRecorder) run(ctx context.Context) {
	defer close(u.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var ids []string
	for {
		select {
		case id := <-u.queue:
			if ids = append(ids, id); len(ids) < 512 {
				continue
			}
		case <-tick.C:
		case <-ctx.Done():
			for len(u.queue) > 0 {
				ids = append(ids, <-u.queue)
			}
			u.write(context.WithoutCancel(ctx), ids)
			return
		}
		u.write(ctx, ids)
		ids = ids[:0]
	}
}

func (u *useRecorder) write(ctx context.Context, ids []string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := u.store.TouchTokens(ctx, ids, time.Now()); err != nil {
		u.log.Warn("cannot record the last use of tokens", "tokens", len(ids), "error", err)
	}
}
