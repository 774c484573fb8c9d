package sites

import (
	"context"
	"crypto/rand"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TokenKey returns the 32-byte key with this name. The key signs site tokens. The first call generates the key. Every
// node gets the same key.
func (s *Store) TokenKey(ctx context.Context, name string) ([]byte, error) {
	place, fresh := "site-token-key/"+name, make([]byte, 32)
	_, _ = rand.Read(fresh) // crypto/rand.Read never returns an error
	sealed, err := s.db.Seal(ctx, place, fresh)
	if err != nil {
		return nil, err
	}
	if err := s.db.Queries.InsertSiteTokenKeyOnce(ctx, db.InsertSiteTokenKeyOnceParams{
		Name: name, Sealed: sealed,
	}); err != nil {
		return nil, postgres.Interpret(err, "site token key")
	}
	// A separate statement reads the key of the first insert. If the insert has waited for another node's insert, the
	// snapshot of the insert does not have the other node's row.
	if sealed, err = s.db.Queries.SiteTokenKey(ctx, name); err != nil {
		return nil, postgres.Interpret(err, "site token key")
	}
	return s.db.Unseal(ctx, place, sealed)
}

// EndTokens invalidates every site token by deleting the keys that signed them. A node accepts old tokens until its
// cache entry of the key expires (see api/access.SiteTokens).
func (s *Store) EndTokens(ctx context.Context) error {
	return postgres.Interpret(s.db.Queries.DeleteSiteTokenKeys(ctx), "site token keys")
}
