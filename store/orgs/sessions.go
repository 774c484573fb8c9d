package orgs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// codeLife is the lifetime of a code that opens a session: long enough to redirect a browser.
const codeLife = time.Minute

// Session is a row of its table, with its provider's label.
type Session struct {
	db.Session
	Provider string
}

// newSession stores a session. It returns the session's token. With byCode it returns the code that opens the session.
func newSession(
	ctx context.Context, q *db.Queries, session db.InsertSessionParams, byCode bool,
) (secret string, err error) {
	secret = schema.NewToken()
	hash := schema.HashToken([]byte(secret))
	session.ID, session.Hash, session.Opened = schema.NewID(), hash[:], !byCode
	if byCode {
		end := time.Now().Add(codeLife)
		session.CodeExpiresAt = &end
	}
	_, err = q.InsertSession(ctx, session)
	return secret, postgres.Interpret(err, "session")
}

// OpenSession exchanges a code for the token of its session. A code works once.
func (s *Store) OpenSession(ctx context.Context, code string) (token string, session Session, err error) {
	token = schema.NewToken()
	from, to := schema.HashToken([]byte(code)), schema.HashToken([]byte(token))
	row, err := s.db.Queries.OpenSession(ctx, db.OpenSessionParams{Code: from[:], Hash: to[:]})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", Session{}, schema.Invalid("code", "is not valid: it was used, has expired or never was")
	}
	return token, Session{Session: row}, postgres.Interpret(err, "session")
}

// ListSessions lists the sessions of a member in the order they were made, after the id `after`.
func (s *Store) ListSessions(
	ctx context.Context, organizationID, userID, after string, size int,
) (postgres.Page[Session], error) {
	total, err := s.db.Queries.CountSessions(ctx, db.CountSessionsParams{
		UserID: userID, OrganizationID: organizationID,
	})
	if err != nil {
		return postgres.Page[Session]{}, postgres.Interpret(err, "sessions")
	}
	found, err := s.db.Queries.ListSessions(ctx, db.ListSessionsParams{
		UserID: userID, OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Session]{}, postgres.Interpret(err, "sessions")
	}
	rows := make([]Session, len(found))
	for i, row := range found {
		rows[i] = Session{Session: row.Session, Provider: row.Label}
	}
	return postgres.PageOf(rows, size, total), nil
}

// EndSession ends a session of a member, if it exists. Nodes that have just used the session may accept it until their
// cache entry expires. This holds for every token.
func (s *Store) EndSession(ctx context.Context, organizationID, userID, id string) error {
	err := s.db.Queries.DeleteSession(ctx, db.DeleteSessionParams{
		ID: id, UserID: userID, OrganizationID: organizationID,
	})
	return postgres.Interpret(err, "session")
}

// EndSessions ends all sessions of a member.
func (s *Store) EndSessions(ctx context.Context, organizationID, userID string) error {
	err := s.db.Queries.DeleteSessionsOfMember(ctx, db.DeleteSessionsOfMemberParams{
		UserID: userID, OrganizationID: organizationID,
	})
	return postgres.Interpret(err, "sessions")
}

// DeleteEndedSessions deletes expired sessions, also of browsers, and expired codes, links and SAML answers.
func (s *Store) DeleteEndedSessions(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.db.Queries.DeleteEndedSessions, s.db.Queries.DeleteEndedCodes, s.db.Queries.DeleteEndedSAMLAnswers,
		s.db.Queries.DeleteEndedBrowserSessions,
	} {
		if err := step(ctx); err != nil {
			return postgres.Interpret(err, "sessions")
		}
	}
	return nil
}
