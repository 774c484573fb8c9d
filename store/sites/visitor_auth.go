package sites

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// VisitorAuth has the data with which a site authenticates its visitors. The site owner's service signs tokens with
// Key. FallbackURL is the URL where visitors log in.
type VisitorAuth struct {
	Key         string
	FallbackURL string
}

func visitorAuthPlace(siteID string) string { return "visitor-auth/" + siteID }

// newVisitorKey returns a new key, encrypted by Seal. The key is 256 random bits as hexadecimal text.
func (s *Store) newVisitorKey(ctx context.Context, siteID string) ([]byte, error) {
	var fresh [32]byte
	_, _ = rand.Read(fresh[:]) // crypto/rand.Read never returns an error
	return s.db.Seal(ctx, visitorAuthPlace(siteID), []byte(hex.EncodeToString(fresh[:])))
}

// VisitorAuth reads the data with which a site authenticates its visitors. It returns not_found if the site has no key
// yet.
func (s *Store) VisitorAuth(ctx context.Context, siteID string) (VisitorAuth, error) {
	row, err := s.db.Queries.VisitorAuth(ctx, siteID)
	if err != nil {
		return VisitorAuth{}, postgres.Interpret(err, "visitor authentication")
	}
	key, err := s.db.Unseal(ctx, visitorAuthPlace(siteID), row.Key)
	return VisitorAuth{Key: string(key), FallbackURL: schema.Or(row.FallbackUrl, "")}, err
}

// EnsureVisitorAuth reads the data with which a site authenticates its visitors. If the site has no key yet, it creates
// a key.
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

// RenewVisitorKey gives a site a new key. From then on, tokens that were signed with the previous key are invalid.
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

// SetVisitorFallback sets the URL where a site's visitors log in. nil removes the URL.
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
