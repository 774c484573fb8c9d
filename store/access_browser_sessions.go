package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

const (
	// browserSessionLength is the lifetime of a browser session: a working day.
	browserSessionLength = 12 * time.Hour
	// browserLinkLife is the time for which a link to sign in is valid.
	browserLinkLife = 10 * time.Minute
)

// BrowserSession has the secret for a browser's cookie, and the time when the session ends.
type BrowserSession struct {
	Secret    string
	ExpiresAt time.Time
}

// CreateBrowserSession creates a browser session that acts as the principal. The session ends at the latest when the
// principal's token ends.
func (s *Store) CreateBrowserSession(ctx context.Context, principal Principal) (BrowserSession, error) {
	made := BrowserSession{schema.NewToken(), time.Now().Add(browserSessionLength)}
	hash := schema.HashBrowserSecret(made.Secret)
	params := db.InsertBrowserSessionParams{ID: schema.NewID(), Hash: hash[:], Opened: true, ExpiresAt: made.ExpiresAt}
	switch principal.Kind {
	case schema.TokenUser:
		params.TokenID = &principal.TokenID
	case schema.TokenSession:
		params.SessionID = &principal.TokenID
	default:
		return BrowserSession{}, schema.Forbidden("only people sign in: this takes a user's token")
	}
	_, err := s.db.Queries.InsertBrowserSession(ctx, params)
	return made, postgres.Interpret(err, "browser session")
}

// CreateBrowserLink creates the secret of a link that signs a browser in with a user's token. The link works once,
// within ten minutes.
func (s *Store) CreateBrowserLink(ctx context.Context, token string) (secret string, err error) {
	principal, err := s.Authenticate(ctx, schema.HashToken([]byte(token)))
	if err != nil {
		return "", err
	}
	if principal.Kind != schema.TokenUser {
		return "", schema.Forbidden("a link signs in with a user's token only")
	}
	secret = schema.NewToken()
	hash, end := schema.HashBrowserSecret(secret), time.Now().Add(browserLinkLife)
	_, err = s.db.Queries.InsertBrowserSession(ctx, db.InsertBrowserSessionParams{
		ID: schema.NewID(), Hash: hash[:], TokenID: &principal.TokenID, ExpiresAt: end, LinkExpiresAt: &end,
	})
	return secret, postgres.Interpret(err, "browser session")
}

// OpenBrowserLink exchanges the secret of a link for a browser session. A second call with the same secret fails.
func (s *Store) OpenBrowserLink(ctx context.Context, link string) (BrowserSession, error) {
	made := BrowserSession{schema.NewToken(), time.Now().Add(browserSessionLength)}
	from, to := schema.HashBrowserSecret(link), schema.HashBrowserSecret(made.Secret)
	_, err := s.db.Queries.OpenBrowserLink(ctx, db.OpenBrowserLinkParams{
		Link: from[:], Hash: to[:], ExpiresAt: made.ExpiresAt,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return BrowserSession{}, schema.Invalid("link", "is not valid: it was used, has expired or never was")
	}
	return made, postgres.Interpret(err, "browser session")
}

// AuthenticateBrowser returns the principal of a browser session. The session is valid only while the token with
// which it was created is valid.
func (s *Store) AuthenticateBrowser(ctx context.Context, hash schema.TokenHash) (Principal, error) {
	row, err := s.db.Queries.TokenOfBrowserSession(ctx, hash[:])
	if err == nil {
		return Principal{
			TokenID: row.Token.ID, Kind: schema.TokenKind(row.Token.Kind), UserID: postgres.Deref(row.Token.UserID),
			Browser: true, ExpiresAt: earlier(row.EndsAt, row.Token.ExpiresAt),
			LastUsedAt: postgres.Deref(row.Token.LastUsedAt),
		}, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, postgres.Interpret(err, "browser session")
	}
	login, err := s.db.Queries.SessionOfBrowserSession(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, schema.Unauthorized("the session has ended: sign in again")
	}
	if err != nil {
		return Principal{}, postgres.Interpret(err, "browser session")
	}
	return Principal{
		TokenID: login.Session.ID, Kind: schema.TokenSession, UserID: login.Session.UserID,
		OrganizationID: login.Session.OrganizationID, Browser: true,
		ExpiresAt:  earlier(login.EndsAt, &login.Session.ExpiresAt),
		LastUsedAt: postgres.Deref(login.Session.LastUsedAt),
	}, nil
}

// earlier returns the earlier of two times. If `other` is nil, it returns `at`.
func earlier(at time.Time, other *time.Time) time.Time {
	if other != nil && other.Before(at) {
		return *other
	}
	return at
}

// EndBrowserSession ends a browser's session, if it exists. A node that has just used the session may accept the
// session until the node's cache entry expires. The same holds for every token.
func (s *Store) EndBrowserSession(ctx context.Context, secret string) error {
	hash := schema.HashBrowserSecret(secret)
	return postgres.Interpret(s.db.Queries.DeleteBrowserSession(ctx, hash[:]), "browser session")
}
