package store

import (
	"context"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Author has the facts that decide whether an author may act on a space now. A job that acts for an author reads them
// when it acts, because the author may have lost rights since the request.
type Author struct {
	// Member is false for users outside of the space's organization.
	Member bool
	// Access is the access of a member to the space.
	Access postgres.ContentAccess
	// Scopes are the scopes on the space of the installation that writes in the author's name.
	Scopes []string
}

// Permit reports whether an author may do something. Package api/access decides this.
type Permit func(Author) bool

// SpaceAuthor reads what a user may do with a space now. userID is nil for a deleted user, who has no rights.
func (s *Store) SpaceAuthor(ctx context.Context, spaceID string, userID *string) (Author, error) {
	return spaceAuthor(ctx, s.db.Queries, spaceID, userID)
}

func spaceAuthor(ctx context.Context, q *db.Queries, spaceID string, userID *string) (a Author, err error) {
	if userID == nil {
		return a, nil
	}
	members, err := q.AccessOfUsers(ctx, db.AccessOfUsersParams{SpaceID: spaceID, Users: []string{*userID}})
	if err != nil {
		return a, postgres.Interpret(err, "space")
	}
	for _, row := range members {
		a.Member, a.Access = true, postgres.AccessOf(row.Role, row.Level, row.GrantRank)
	}
	a.Scopes, err = q.ScopesOnSpace(ctx, db.ScopesOnSpaceParams{SpaceID: spaceID, UserID: *userID})
	return a, postgres.Interpret(err, "installation")
}
