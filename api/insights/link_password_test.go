package insights

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPasswords checks that each stored password has its own salt, and matches only the same password.
func TestPasswords(t *testing.T) {
	t.Parallel()
	p := newPasswords()
	one, err1 := p.hash(t.Context(), "correct horse")
	two, err2 := p.hash(t.Context(), "correct horse")
	if err1 != nil || err2 != nil || one == two || !strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%s %v, %s %v", one, err1, two, err2)
	}
	for password, want := range map[string]bool{"correct horse": true, "correct horsf": false, "": false} {
		if got, err := p.matches(t.Context(), one, password); got != want || err != nil {
			t.Errorf("%q: %v %v", password, got, err)
		}
	}
	for _, stored := range []string{
		"", "$argon2id$v=18$m=1,t=1,p=1$AA$AA", "$argon2id$v=19$m=1$AA$AA", "$argon2id$v=19$m=8,t=1,p=1$?$AA",
	} {
		if got, err := p.matches(t.Context(), stored, "x"); got || err == nil {
			t.Errorf("%q: %v %v", stored, got, err)
		}
	}
}

// TestWrongSecretsCostNoHash opens share links while no hash can be computed. Only the right secret of a link with a
// password needs a hash, so other requests are answered at once.
func TestWrongSecretsCostNoHash(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	h := newShareLinks(st, schema.URLs{})
	hash, err := h.passwords.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := st.Sites.CreateInsightsShareLink(t.Context(), tenant.Site.ID, sites.NewInsightsShareLink{
		Name: "x", Password: &hash, Segments: []string{}, Timezone: "UTC",
	})
	if err != nil {
		t.Fatal(err)
	}
	for range hashTurns {
		h.passwords.turns <- struct{}{}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := &access.Caller{IP: netip.MustParseAddr("198.51.100.1"), Now: time.Now()}
	open := func(ctx context.Context, secret string, password *string) error {
		r := &openLinkRequest{}
		r.Body.Secret, r.Body.Password = &secret, password
		_, err := h.open(ctx, c, r)
		return err
	}
	right := new("correct horse")
	if err := open(t.Context(), secret+"x", right); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("a wrong secret: %v", err)
	}
	if err := open(t.Context(), secret, nil); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("no password: %v", err)
	}
	if _, err := h.passwords.matches(ended, hash, *right); !schema.IsCode(err, schema.CodeUnavailable) {
		t.Errorf("a password without a turn: %v", err)
	}
	for range hashTurns {
		<-h.passwords.turns
	}
	if err := open(t.Context(), secret, right); err != nil {
		t.Errorf("a right password with a turn: %v", err)
	}
}
