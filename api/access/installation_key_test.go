package access

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestMadeUpClaimsCountWhileTheStoreIsDown sends made-up tokens and keys to a node that has not read the secret of the
// deployment. Each request needs a query. An address may cause only as many queries as its limit.
func TestMadeUpClaimsCountWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]func(g *Guard, ip netip.Addr, now time.Time) error{
		"a session of a share link": func(g *Guard, ip netip.Addr, now time.Time) error {
			made := schema.InsightsSessionToken{Link: schema.NewID(), Generation: 1, ExpiresAt: now.Add(time.Hour)}
			_, err := g.Authenticate(t.Context(), bearer(made.Sign(make([]byte, 32))), ip, now)
			return err
		},
		"a publishable key": func(g *Guard, ip netip.Addr, now time.Time) error {
			text := schema.PublishableKeyText(make([]byte, 32), schema.NewID(), 1)
			return g.AdmitKey(t.Context(), aliasing{"key": []byte(text)}, &Caller{Now: now, IP: ip})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := storetest.New(t)
			g, err := NewGuard(Config{AuthTTL: time.Minute, AuthEntries: 100, WrongTokenRateLimit: 2}, st,
				slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			st.Stop()
			now, codes := time.Now(), map[schema.Code]int{}
			for range 10 {
				codes[schema.AsError(claim(g, netip.MustParseAddr(visitor), now)).Code]++
			}
			// The address may cause the queries of two seconds at once.
			if codes[schema.CodeTooManyRequests] != 6 || codes[schema.CodeUnauthorized] != 0 {
				t.Errorf("%v, want 4 queries that fail and 6 refusals for too many", codes)
			}
			other := netip.MustParseAddr("198.51.100.2")
			if err := claim(g, other, now); schema.IsCode(err, schema.CodeTooManyRequests) {
				t.Errorf("another address: %v", err)
			}
		})
	}
}

// TestGoodShareSessionsDoNotCount uses tokens of share links' sessions on nodes that have not read the secret of the
// deployment. Reading the secret does not count against the address.
func TestGoodShareSessionsDoNotCount(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	now := time.Now()
	token, err := NewInsightsSessions(st).Make(t.Context(), schema.InsightsSessionToken{
		Link: schema.NewID(), Generation: 1, ExpiresAt: now.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGuard(Config{AuthTTL: time.Minute, AuthEntries: 100, WrongTokenRateLimit: 1}, st,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) (*Session, error) {
		return g.Authenticate(t.Context(), bearer(token), netip.MustParseAddr(visitor), now)
	}
	for range 10 {
		if s, err := ask(token); err != nil || s.Principal.Kind != schema.TokenInsightsLink {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	made := schema.InsightsSessionToken{Link: schema.NewID(), ExpiresAt: now.Add(time.Hour)}.Sign(make([]byte, 32))
	codes := map[schema.Code]int{}
	for range 5 {
		_, err := ask(made)
		codes[schema.AsError(err).Code]++
	}
	if codes[schema.CodeUnauthorized] != 2 || codes[schema.CodeTooManyRequests] != 3 {
		t.Errorf("made-up tokens: %v, want 2 refused and 3 limited", codes)
	}
}
