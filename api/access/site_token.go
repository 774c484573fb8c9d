package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// SiteClaims are the payload of a site token. Front ends read its `exp` and `claims` without checking the signature.
// The token is part of their cache keys, so it is short and stays the same for a day.
type SiteClaims struct {
	Kind         string `json:"kind"`
	Organization string `json:"organization"`
	Site         string `json:"site"`
	SiteSpace    string `json:"siteSpace"`
	SiteSection  string `json:"siteSection,omitempty"`
	Space        string `json:"space"`
	// Spaces are the spaces that the site shows to the visitor. For a site with more than maxNamedSpaces spaces, only
	// Space is set. The token's access does not depend on Spaces, because the access is looked up.
	Spaces []string `json:"spaces"`
	// ShareLink is the id of the share link that opened the site. The token ends when this link ends.
	ShareLink string `json:"shareLink,omitempty"`
	// ChangeRequest is the draft that a user, who may read its space, previews with the token. The token ends with that right.
	ChangeRequest string `json:"changeRequest,omitempty"`
	// User is the user who requested the token; it is empty if a front end requested the token. A token without
	// ChangeRequest previews the drafts that the user may read.
	User string `json:"user,omitempty"`
	// VisitorType is VisitorAuthenticated for a visitor whom the site's own service vouches for.
	VisitorType string `json:"visitorType,omitempty"`
	// VisitorKey names the key with which the site's service vouched for the visitor (VisitorKeyID). The token ends
	// when the site gets a new visitor key.
	VisitorKey string `json:"visitorKey,omitempty"`
	// Claims are the facts about the visitor.
	Claims map[string]any `json:"claims,omitempty"`
	// ExpiresAt is the token's expiry, which [SiteTokens.Make] sets. Before that, it is the time at which the site's
	// service stops vouching for the visitor, or zero.
	ExpiresAt int64 `json:"exp"`
}

// VisitorKeyID returns a name of a site's visitor key that does not reveal the random key.
func VisitorKeyID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// VisitorAuthenticated is the VisitorType of visitors whom the site's own service vouches for.
const VisitorAuthenticated = "authenticated"

const siteTokenKind = "site"

// maxNamedSpaces limits the spaces that a token names, because tokens in headers and paths must be short.
const maxNamedSpaces = 32

// NameSpaces sets Spaces.
func (s *SiteClaims) NameSpaces(spaces []string) {
	if len(spaces) > maxNamedSpaces {
		spaces = []string{s.Space}
	}
	s.Spaces = spaces
}

// SiteTokens makes and reads site tokens: JWTs signed with HS256. The store has the tokens' keys, one key for each
// week. So every node makes the same token for the same claims on the same day. A node caches keys for keyTTL.
type SiteTokens struct {
	store *store.Store
	mu    sync.Mutex
	keys  map[string]siteTokenKey
}

type siteTokenKey struct {
	key   []byte
	until time.Time
}

const (
	keyTTL = time.Minute
	// afterMidnight is the time that a token stays valid after its day. So a token that was made just before midnight
	// can be used.
	afterMidnight = 5 * time.Minute
	// clockSkew is the allowed difference between the clocks of nodes.
	clockSkew = 5 * time.Minute
	day       = 24 * time.Hour
	// visitorGrain is the unit to which a visitor's expiry is rounded up, so that visits close in time get the same
	// token.
	visitorGrain = 5 * time.Minute
)

// NewSiteTokens builds SiteTokens; it reads the keys when they are needed.
func NewSiteTokens(st *store.Store) *SiteTokens {
	return &SiteTokens{store: st, keys: map[string]siteTokenKey{}}
}

// keyName returns the name of the key that signs at a time.
func keyName(at time.Time) string { return fmt.Sprintf("w%d", at.Unix()/int64(7*day/time.Second)) }

// Make signs claims. The token expires five minutes after the next midnight (UTC), or with the claims if they expire
// earlier. The claims' expiry is rounded up to visitorGrain. Equal claims give equal tokens all day.
func (t *SiteTokens) Make(ctx context.Context, claims SiteClaims, now time.Time) (string, error) {
	name := keyName(now)
	key, err := t.key(ctx, name, now)
	if err != nil {
		return "", err
	}
	claims.Kind = siteTokenKind
	end := now.UTC().Truncate(day).Add(day + afterMidnight).Unix()
	if own := claims.ExpiresAt; own != 0 && own < end {
		const grain = int64(visitorGrain / time.Second)
		end = min(end, (own+grain-1)/grain*grain)
	}
	claims.ExpiresAt = end
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, &claims)
	// The header has no typ, to keep the token short.
	token.Header = map[string]any{"alg": jwt.SigningMethodHS256.Alg(), "kid": name}
	text, err := token.SignedString(key)
	if err != nil {
		return "", schema.Internal(err)
	}
	return text, nil
}

// read checks a token and returns its claims. The token may alias the request.
func (t *SiteTokens) read(ctx context.Context, text []byte, now time.Time) (SiteClaims, error) {
	refused := schema.Unauthorized("the token is not valid")
	var fault error
	var claims SiteClaims
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(string(text), &claims, func(token *jwt.Token) (any, error) {
		name, _ := token.Header["kid"].(string)
		// Only the names of keys with unexpired tokens are looked up, so made-up names cost nothing.
		if name != keyName(now.Add(clockSkew)) && name != keyName(now.Add(-day-afterMidnight-clockSkew)) {
			return nil, jwt.ErrTokenUnverifiable
		}
		key, err := t.key(ctx, name, now)
		fault = err
		return key, err
	})
	switch {
	case fault != nil:
		return SiteClaims{}, fault
	case err != nil || claims.Kind != siteTokenKind:
		return SiteClaims{}, refused
	}
	return claims, nil
}

// key returns the key with a name from keyName.
func (t *SiteTokens) key(ctx context.Context, name string, now time.Time) ([]byte, error) {
	t.mu.Lock()
	known, ok := t.keys[name]
	t.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.key, nil
	}
	key, err := t.store.Sites.TokenKey(ctx, name)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, known := range t.keys {
		if !now.Before(known.until) {
			delete(t.keys, other)
		}
	}
	t.keys[name] = siteTokenKey{key: key, until: now.Add(keyTTL)}
	return key, nil
}

// PlausibleToken reports whether a text could be a token. Site tokens contain the ids of their spaces, so they may be
// longer than stored tokens.
func PlausibleToken(token []byte) bool { return isSiteToken(token) || schema.ValidToken(token) }

// isSiteToken distinguishes site tokens from stored tokens by their form. A site token has three parts, and the first
// is a JSON object in base64.
func isSiteToken(token []byte) bool {
	return bytes.HasPrefix(token, []byte("eyJ")) && bytes.Count(token, []byte(".")) == 2
}

// SiteClaims implements jwt.Claims. It has only one registered claim, the expiry.

// GetExpirationTime returns the token's expiry.
func (s *SiteClaims) GetExpirationTime() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(s.ExpiresAt, 0)), nil
}

// GetIssuedAt returns nil: an issue time would make every token's text different.
func (s *SiteClaims) GetIssuedAt() (*jwt.NumericDate, error) { return nil, nil }

// GetNotBefore returns nil: the claim is absent.
func (s *SiteClaims) GetNotBefore() (*jwt.NumericDate, error) { return nil, nil }

// GetIssuer returns "": the claim is absent.
func (s *SiteClaims) GetIssuer() (string, error) { return "", nil }

// GetSubject returns "": the claim is absent.
func (s *SiteClaims) GetSubject() (string, error) { return "", nil }

// GetAudience returns nil: the claim is absent.
func (s *SiteClaims) GetAudience() (jwt.ClaimStrings, error) { return nil, nil }
