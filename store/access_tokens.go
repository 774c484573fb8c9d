package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Principal is the user or site that an accepted token belongs to.
type Principal struct {
	TokenID string
	Kind    schema.TokenKind
	// UserID is set for user tokens and sessions. SiteID is set for site keys and site tokens. OrganizationID is set
	// for all tokens except user tokens.
	UserID         string
	SiteID         string
	OrganizationID string
	// Integration is set for the tokens of integrations and of installations. InstallationID and Scopes are set for
	// installations. For an installation, OrganizationID is the organization that installed the integration. UserID is
	// the user who becomes the author of the installation's changes. The installation does not have this user's rights.
	Integration    string
	InstallationID string
	Scopes         []string
	// Browser is set for a browser session. The session has the rights of the token whose id is TokenID.
	Browser bool
	// ShareLink and Generation are set for the sessions of share links that show insights. The session's site is the
	// link's site.
	ShareLink  string
	Generation int
	// ExpiresAt is zero for a token that does not expire. Code that stores a Principal must check ExpiresAt again.
	ExpiresAt time.Time
	// LastUsedAt is the last recorded use of the token. A new use is recorded only if LastUsedAt is long enough ago:
	// see TouchTokens.
	LastUsedAt time.Time
}

// NewToken has the values of a new token. User is a user's id or e-mail address. Exactly one of User, SiteID and
// FrontEnd is set.
type NewToken struct {
	User      string
	SiteID    string
	FrontEnd  bool
	Name      string
	ExpiresAt *time.Time
}

// CreateToken creates a token. It returns the token's secret and the row of the table tokens. Only the hash is stored,
// so nobody can read the secret later.
func (s *Store) CreateToken(ctx context.Context, token NewToken) (secret string, row Token, err error) {
	params := db.InsertTokenParams{ID: schema.NewID(), Name: token.Name, ExpiresAt: token.ExpiresAt}
	switch {
	case token.User != "" && token.SiteID == "" && !token.FrontEnd:
		user, err := s.Orgs.FindUser(ctx, token.User)
		if err != nil {
			return "", Token{}, err
		}
		params.Kind, params.UserID = string(schema.TokenUser), &user.ID
	case token.SiteID != "" && token.User == "" && !token.FrontEnd:
		site, err := s.Sites.ByID(ctx, token.SiteID)
		if err != nil {
			return "", Token{}, err
		}
		params.Kind, params.SiteID = string(schema.TokenSite), &site.ID
	case token.FrontEnd && token.User == "" && token.SiteID == "":
		params.Kind = string(schema.TokenFrontEnd)
	default:
		return "", Token{}, schema.BadRequest("a token is for one user, for one site or for front ends")
	}
	secret = schema.NewToken()
	row, err = postgres.InsertToken(ctx, s.db.Queries, secret, params)
	return secret, row, err
}

// TokenFilter narrows a list of tokens to one owner.
type TokenFilter struct {
	// User is a user's id or e-mail address.
	User   string
	SiteID string
}

// ListTokens lists tokens in the order of their creation, for the command line.
func (s *Store) ListTokens(ctx context.Context, filter TokenFilter) ([]Token, error) {
	var params db.ListTokensParams
	if filter.User != "" {
		user, err := s.Orgs.FindUser(ctx, filter.User)
		if err != nil {
			return nil, err
		}
		params.UserID = &user.ID
	}
	if filter.SiteID != "" {
		params.SiteID = &filter.SiteID
	}
	rows, err := s.db.Queries.ListTokens(ctx, params)
	return rows, postgres.Interpret(err, "tokens")
}

// RevokeToken ends a token. If the token is already revoked, nothing changes. A node that has just used the token may
// accept it until its cache entry expires (api.Config.AuthTTL).
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	changed, err := s.db.Queries.RevokeToken(ctx, id)
	if err == nil && changed == 0 {
		return schema.NotFound("token")
	}
	return postgres.Interpret(err, "token")
}

// Authenticate returns the principal of a token. Unknown, expired and revoked tokens cause the same error message. So
// the message does not reveal that a guessed token once existed.
func (s *Store) Authenticate(ctx context.Context, hash schema.TokenHash) (Principal, error) {
	refused := schema.Unauthorized("the token is not valid")
	row, err := s.db.Queries.TokenByHash(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return s.authenticateSession(ctx, hash)
	}
	if err != nil {
		return Principal{}, postgres.Interpret(err, "token")
	}
	if row.RevokedAt != nil || (row.ExpiresAt != nil && !row.ExpiresAt.After(time.Now())) {
		return Principal{}, refused
	}
	return Principal{
		TokenID: row.ID, Kind: schema.TokenKind(row.Kind), UserID: postgres.Deref(row.UserID),
		SiteID:         postgres.Deref(row.SiteID),
		OrganizationID: postgres.Deref(row.SiteOrganizationID), ExpiresAt: postgres.Deref(row.ExpiresAt),
		LastUsedAt: postgres.Deref(row.LastUsedAt),
	}, nil
}

// authenticateSession returns the principal of a session's token.
func (s *Store) authenticateSession(ctx context.Context, hash schema.TokenHash) (Principal, error) {
	row, err := s.db.Queries.SessionByHash(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, s.unknownToken(ctx)
	}
	if err == nil && !row.ExpiresAt.After(time.Now()) {
		return Principal{}, schema.Unauthorized("the token is not valid")
	}
	if err != nil {
		return Principal{}, postgres.Interpret(err, "session")
	}
	return Principal{
		TokenID: row.ID, Kind: schema.TokenSession, UserID: row.UserID, OrganizationID: row.OrganizationID,
		ExpiresAt: row.ExpiresAt, LastUsedAt: postgres.Deref(row.LastUsedAt),
	}, nil
}

// tokensEvery is the shortest time between two searches for pages that Postgres has lost from the tables with tokens.
const tokensEvery = 30 * time.Second

// lostTokens has the result of the last search for pages that Postgres has lost from the tables with tokens.
type lostTokens struct {
	mu     sync.Mutex
	looked time.Time
	found  error
}

// unknownToken returns the error for a token that no table has. If Postgres has lost pages of a table, the token may
// have been in a lost page. The error then says that pages are lost.
func (s *Store) unknownToken(ctx context.Context) error {
	s.lost.mu.Lock()
	defer s.lost.mu.Unlock()
	if s.lost.looked.IsZero() || time.Since(s.lost.looked) > tokensEvery {
		s.lost.looked, s.lost.found = time.Now(), nil
		for _, table := range []string{"tokens", "sessions"} {
			pages, err := s.db.LostPages(ctx, table)
			if len(pages) > 0 {
				err = schema.Damaged(schema.StorePostgres, fmt.Errorf("table %s has lost pages %v", table, pages))
			}
			if schema.DamageOf(err) != nil {
				s.lost.found = err
			}
		}
	}
	if s.lost.found != nil {
		return s.lost.found
	}
	return schema.Unauthorized("the token is not valid")
}

// TouchTokens records the use of tokens. It does not change tokens whose last recorded use is less than a minute old.
func (s *Store) TouchTokens(ctx context.Context, ids []string, usedAt time.Time) error {
	if err := s.db.Queries.TouchTokens(ctx, db.TouchTokensParams{UsedAt: &usedAt, Ids: ids}); err != nil {
		return postgres.Interpret(err, "tokens")
	}
	return postgres.Interpret(s.db.Queries.TouchSessions(ctx, db.TouchSessionsParams{
		UsedAt: &usedAt, Ids: ids,
	}), "sessions")
}
