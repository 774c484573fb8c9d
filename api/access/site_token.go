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

// SiteClaims are the payload of a site token. Front ends read `exp` and `claims` of the token without checking its
// signature. The keys of front ends' caches contain the token, so the token is short and stays the same for a day.
type SiteClaims struct {
	Kind         string `json:"kind"`
	Organization string `json:"organization"`
	Site         string `json:"site"`
	SiteSpace    string `json:"siteSpace"`
	SiteSection  string `json:"siteSection,omitempty"`
	Space        string `json:"space"`
	// Spaces are the spaces that the site shows to the visitor. For a site with more than maxNamedSpaces spaces, Spaces
	// has only Space. Spaces does not decide which spaces the token may read: the store decides this for each session.
	Spaces []string `json:"spaces"`
	// ShareLink is the id of the share link that opened the site. The token ends when this link ends.
	ShareLink string `json:"shareLink,omitempty"`
	// ChangeRequest is the id of the draft that the token's user previews. The token ends when this user may no longer
	// read the draft's space.
	ChangeRequest string `json:"changeRequest,omitempty"`
	// User is the user who requested the token; it is empty if a front end requested the token. A token without
	// ChangeRequest previews the drafts that the user may read.
	User string `json:"user,omitempty"`
	// VisitorType is VisitorAuthenticated for a visitor whom the site's own service vouches for.
	VisitorType string `json:"visitorType,omitempty"`
	// VisitorKey is the VisitorKeyID of the key with which the site's service vouched for the visitor. The token ends
	// when the site gets a new visitor key.
	VisitorKey string `json:"visitorKey,omitempty"`
	// Claims are facts about the visitor, which the conditions of sections and pages read.
	Claims map[string]any `json:"claims,omitempty"`
	// ExpiresAt is the token's expiry, which [SiteTokens.Make] sets. Before the call of Make, it is zero, or the time
	// until which the site's service vouches for the visitor.
	ExpiresAt int64 `json:"exp"`
}

// VisitorKeyID returns an id of a site's visitor key. The id does not reveal the key.
func VisitorKeyID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// VisitorAuthenticated is the VisitorType of visitors whom the site's own service vouches for.
const VisitorAuthenticated = "authenticated"

const siteTokenKind = "site"

// maxNamedSpaces limits the spaces that a token names, because tokens in headers and paths must be short.
const maxNamedSpaces = 32

// NameSpaces sets Spaces to these spaces. If they are too many, it sets Spaces to Space alone.
func (s *SiteClaims) NameSpaces(spaces []string) {
	if len(spaces) > maxNamedSpaces {
		spaces = []string{s.Space}
	}
	s.Spaces = spaces
}

// SiteTokens makes and reads site tokens: JWTs signed with HS256. The store has the keys that sign tokens, one key for
// each week. So on one day, all nodes make the same token from the same claims. A node caches each key for keyTTL.
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
	// afterMidnight is the time that a token stays valid after its day. Without it, a token that was made just before
	// midnight would end at once.
	afterMidnight = 5 * time.Minute
	// clockSkew is the allowed difference between the clocks of nodes.
	clockSkew = 5 * time.Minute
	day       = 24 * time.Hour
	// visitorGrain is the unit to which the expiry of a visitor's claims is rounded up. So visits within a few minutes
	// get the same token.
	visitorGrain = 5 * time.Minute
)

// NewSiteTokens builds SiteTokens. Keys are read from the store when they are needed.
func NewSiteTokens(st *store.Store) *SiteTokens {
	return &SiteTokens{store: st, keys: map[string]siteTokenKey{}}
}

// keyName returns the name of the key that signs tokens at the time `at`.
func keyName(at time.Time) string { return fmt.Sprintf("w%d", at.Unix()/int64(7*day/time.Second)) }

// Make returns a site token: a signed text with the given claims. The token expires five minutes after the next
// midnight (UTC), or when the claims expire if this is earlier. The expiry of the claims is rounded up to a multiple of
// visitorGrain. On one day, equal claims give equal tokens.
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
		// Only keys that can have signed an unexpired token are looked up. So tokens with made-up key names cause no
		// query.
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

// PlausibleToken reports whether a text has the form of a token. Site tokens may be longer than stored tokens, because
// they contain the ids of their spaces.
func PlausibleToken(token []byte) bool { return isSiteToken(token) || schema.ValidToken(token) }

// isSiteToken distinguishes site tokens from stored tokens by their form. A site token has three parts, and the first
// is a JSON object in base64.
func isSiteToken(token []byte) bool {
	return bytes.HasPrefix(token, []byte("eyJ")) && bytes.Count(token, []byte(".")) == 2
}

// The methods below implement jwt.Claims. SiteClaims has only one registered claim, the expiry.

// GetExpirationTime returns the token's expiry.
func (s *SiteClaims) GetExpirationTime() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(s.ExpiresAt, 0)), nil
}

// GetIssuedAt returns nil: an issue time would make every token's text different.
func (s *SiteClaims) GetIssuedAt() (*jwt.NumericDate, error) { return nil, nil }

// GetNotBefore returns nil, because the token has no such claim.
func (s *SiteClaims) GetNotBefore() (*jwt.NumericDate, error) { return nil, nil }

// GetIssuer returns "", because the token has no such claim.
func (s *SiteClaims) GetIssuer() (string, error) { return "", nil }

// GetSubject returns "", because the token has no such claim.
func (s *SiteClaims) GetSubject() (string, error) { return "", nil }

// GetAudience returns nil, because the token has no such claim.
func (s *SiteClaims) GetAudience() (jwt.ClaimStrings, error) { return nil, nil }
