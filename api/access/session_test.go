package access

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// guarded returns a Guard that caches answers for the time `ttl`, on a store with one tenant. The use of tokens is not
// recorded.
func guarded(t *testing.T, ttl time.Duration) (*store.Store, *storetest.Tenant, *Guard) {
	t.Helper()
	st := storetest.New(t)
	g, err := NewGuard(Config{AuthTTL: ttl, AuthEntries: 100}, st, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return st, storetest.NewTenant(t, st, "ours"), g
}

// bearer returns an Authorization header with a token.
func bearer(token string) Presented { return Presented{Authorization: []byte("bearer " + token)} }

// TestRevocationTakesEffect checks that a revoked token is refused once its cache entry has expired.
func TestRevocationTakesEffect(t *testing.T) {
	t.Parallel()
	st, tenant, auth := guarded(t, time.Minute)
	secret, row, err := st.CreateToken(t.Context(), store.NewToken{User: tenant.Users[schema.RoleRead].ID})
	if err != nil {
		t.Fatal(err)
	}
	header, now := bearer(secret), time.Now()
	if _, err := auth.Authenticate(t.Context(), header, netip.Addr{}, now); err != nil {
		t.Fatal(err)
	}
	if err := st.RevokeToken(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	// Until the cache entry expires, the token is still accepted.
	if _, err := auth.Authenticate(t.Context(), header, netip.Addr{}, now.Add(time.Minute-1)); err != nil {
		t.Error(err)
	}
	if _, err := auth.Authenticate(t.Context(), header, netip.Addr{}, now.Add(time.Minute)); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("got %v", err)
	}
}

// TestRememberedTokensExpire: a token that expires while cached is refused at its expiry.
func TestRememberedTokensExpire(t *testing.T) {
	t.Parallel()
	st, tenant, auth := guarded(t, time.Hour)
	at := time.Now().Add(time.Minute)
	secret, _, err := st.CreateToken(t.Context(), store.NewToken{User: tenant.Users[schema.RoleRead].ID, ExpiresAt: &at})
	if err != nil {
		t.Fatal(err)
	}
	header := bearer(secret)
	if _, err := auth.Authenticate(t.Context(), header, netip.Addr{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.Authenticate(t.Context(), header, netip.Addr{}, at.Add(time.Millisecond)); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("got %v", err)
	}
}

// TestWrongCookiesKeepNothing sends cookies without a session, while the store runs and after it has stopped. The
// cookies get no entries in the table of rate limits by token.
func TestWrongCookiesKeepNothing(t *testing.T) {
	t.Parallel()
	st, _, auth := guarded(t, time.Minute)
	ask := func() error {
		cookie := Presented{
			Cookie: []byte(schema.NewToken()),
			Page:   PageOrigin{Marker: []byte("1"), Host: []byte("h"), FetchSite: []byte("same-origin")},
		}
		_, err := auth.Authenticate(t.Context(), cookie, netip.Addr{}, time.Now())
		return err
	}
	if err := ask(); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("an unknown cookie: %v", err)
	}
	st.Stop()
	if err := ask(); err == nil || schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("a cookie that cannot be looked up: %v", err)
	}
	if kept := auth.rates.tokens.Keys(); len(kept) > 0 {
		t.Errorf("rates of %q are kept", kept)
	}
}

// TestLastUseIsRecorded checks that many requests with a token write its last use to the database only once.
func TestLastUseIsRecorded(t *testing.T) {
	t.Parallel()
	st, tenant, auth := guarded(t, time.Minute)
	secret, row, err := st.CreateToken(t.Context(), store.NewToken{User: tenant.Users[schema.RoleRead].ID})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for range 20 {
		if _, err := auth.Authenticate(t.Context(), bearer(secret), netip.Addr{}, now); err != nil {
			t.Fatal(err)
		}
	}
	if queued := len(auth.uses.queue); queued != 1 {
		t.Errorf("%d uses queued", queued)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go auth.Run(ctx)
	eventually.True(t, "the session's use to be recorded", func() bool {
		tokens, err := st.ListTokens(t.Context(), store.TokenFilter{User: *row.UserID})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(tokens, func(token store.Token) bool { return token.ID == row.ID && token.LastUsedAt != nil })
	})
	cancel()
	<-auth.Done()
}

// TestTokenUseOutlivesItsSession checks that a token's count of requests stays the same when its session is evicted and
// loaded again.
func TestTokenUseOutlivesItsSession(t *testing.T) {
	t.Parallel()
	limits, err := newRateLimits(Config{AuthEntries: 2, RateLimit: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := limits.of("a")
	limits.of("b")
	if limits.of("a") != first {
		t.Error("a token's use is forgotten")
	}
	limits.of("c")
	if limits.of("a") != first {
		t.Error("the token that was used last went first")
	}
	_, tenant, auth := guarded(t, time.Minute)
	header, now := bearer(tenant.Tokens[schema.RoleRead]), time.Now()
	forgotten, err := auth.Authenticate(t.Context(), header, netip.Addr{}, now)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := auth.Authenticate(t.Context(), header, netip.Addr{}, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if loaded == forgotten || loaded.use != forgotten.use {
		t.Errorf("loaded again: %t, with the same use: %t", loaded != forgotten, loaded.use == forgotten.use)
	}
}
