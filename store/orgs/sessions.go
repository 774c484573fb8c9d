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

// codeLife is the lifetime of a code that opens a session. It is long enough for a redirect of a browser.
const codeLife = time.Minute

// Session is a row of the table sessions, with the label of the SAML provider.
type Session struct {
	db.Session
	Provider string
}

// newSession stores a session and returns its token. If byCode is true, it returns the code that opens the session
// instead.
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

// OpenSession exchanges a code for the token of its session. A second call with the same code fails.
func (s *Store) OpenSession(ctx context.Context, code string) (token string, session Session, err error) {
	token = schema.NewToken()
	from, to := schema.HashToken([]byte(code)), schema.HashToken([]byte(token))
	row, err := s.db.Queries.OpenSession(ctx, db.OpenSessionParams{Code: from[:], Hash: to[:]})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", Session{}, schema.Invalid("code", "is not valid: it was used, has expired or never was")
	}
	return token, Session{Session: row}, postgres.Interpret(err, "session")
}

// ListSessions lists the sessions of a member in the order of their creation. The list begins after the id `after`.
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

// EndSession ends a session of a member, if it exists. A node that has just used the session may accept the session
// until the node's cache entry expires. The same holds for every token.
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

// DeleteEndedSessions deletes expired sessions, browser sessions, codes and links. It also deletes expired records of
// SAML responses.
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
