package sites

import (
	"context"
	"crypto/rand"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TokenKey returns the 32-byte key with this name, which signs site tokens. The first call makes the key. Every node
// gets the same key.
func (s *Store) TokenKey(ctx context.Context, name string) ([]byte, error) {
	place, fresh := "site-token-key/"+name, make([]byte, 32)
	_, _ = rand.Read(fresh) // crypto/rand.Read never fails: it ends the process instead.
	sealed, err := s.db.Seal(ctx, place, fresh)
	if err != nil {
		return nil, err
	}
	if err := s.db.Queries.InsertSiteTokenKeyOnce(ctx, db.InsertSiteTokenKeyOnceParams{
		Name: name, Sealed: sealed,
	}); err != nil {
		return nil, postgres.Interpret(err, "site token key")
	}
	// A second statement is needed. The first one may have waited for another node, and its snapshot does not show that
	// node's row.
	if sealed, err = s.db.Queries.SiteTokenKey(ctx, name); err != nil {
		return nil, postgres.Interpret(err, "site token key")
	}
	return s.db.Unseal(ctx, place, sealed)
}

// EndTokens ends every site token, because later tokens are signed with another key. Nodes use an old key until their
// cache entry expires: see api/access.SiteTokens.
func (s *Store) EndTokens(ctx context.Context) error {
	return postgres.Interpret(s.db.Queries.DeleteSiteTokenKeys(ctx), "site token keys")
}
