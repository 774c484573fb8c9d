package sites

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// VisitorAuth has the data with which a site authenticates its visitors. Key is the text with which the site's service
// signs tokens.
type VisitorAuth struct {
	Key         string
	FallbackURL string
}

func visitorAuthPlace(siteID string) string { return "visitor-auth/" + siteID }

// newVisitorKey makes a sealed key of 256 random bits, as hexadecimal text.
func (s *Store) newVisitorKey(ctx context.Context, siteID string) ([]byte, error) {
	var fresh [32]byte
	_, _ = rand.Read(fresh[:]) // crypto/rand.Read never fails: it ends the process instead.
	return s.db.Seal(ctx, visitorAuthPlace(siteID), []byte(hex.EncodeToString(fresh[:])))
}

// VisitorAuth reads the data with which a site authenticates its visitors. If the site has no key yet, the error is
// "not found".
func (s *Store) VisitorAuth(ctx context.Context, siteID string) (VisitorAuth, error) {
	row, err := s.db.Queries.VisitorAuth(ctx, siteID)
	if err != nil {
		return VisitorAuth{}, postgres.Interpret(err, "visitor authentication")
	}
	key, err := s.db.Unseal(ctx, visitorAuthPlace(siteID), row.Key)
	return VisitorAuth{Key: string(key), FallbackURL: schema.Or(row.FallbackUrl, "")}, err
}

// EnsureVisitorAuth is like VisitorAuth, but makes a key if the site has none.
func (s *Store) EnsureVisitorAuth(ctx context.Context, siteID string) (VisitorAuth, error) {
	found, err := s.VisitorAuth(ctx, siteID)
	if !schema.IsCode(err, schema.CodeNotFound) {
		return found, err
	}
	key, err := s.newVisitorKey(ctx, siteID)
	if err != nil {
		return VisitorAuth{}, err
	}
	if err := s.db.Queries.InsertVisitorAuthOnce(ctx, db.InsertVisitorAuthOnceParams{
		SiteID: siteID, Key: key,
	}); err != nil {
		return VisitorAuth{}, postgres.Interpret(err, "site")
	}
	return s.VisitorAuth(ctx, siteID)
}

// RenewVisitorKey gives a site a new key. Tokens signed with the previous key are refused from then on.
func (s *Store) RenewVisitorKey(ctx context.Context, siteID string) (VisitorAuth, error) {
	key, err := s.newVisitorKey(ctx, siteID)
	if err != nil {
		return VisitorAuth{}, err
	}
	if err := s.db.Queries.SetVisitorAuthKey(ctx, db.SetVisitorAuthKeyParams{SiteID: siteID, Key: key}); err != nil {
		return VisitorAuth{}, postgres.Interpret(err, "site")
	}
	return s.VisitorAuth(ctx, siteID)
}

// SetVisitorFallback sets the address where a site's visitors log in. nil means that there is no address.
func (s *Store) SetVisitorFallback(ctx context.Context, siteID string, address *string) (VisitorAuth, error) {
	if _, err := s.EnsureVisitorAuth(ctx, siteID); err != nil {
		return VisitorAuth{}, err
	}
	err := s.db.Queries.SetVisitorFallback(ctx, db.SetVisitorFallbackParams{SiteID: siteID, FallbackUrl: address})
	if err != nil {
		return VisitorAuth{}, postgres.Interpret(err, "site")
	}
	return s.VisitorAuth(ctx, siteID)
}
