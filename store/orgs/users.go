package orgs

import (
	"context"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// User is a row of the table users.
type User = db.User

// NewUser has the values of a new user. Email is "" for a user without an address. Two users must not have the same
// address.
type NewUser struct {
	DisplayName string
	Email       string
}

// CreateUser adds a user, who is not in any organization yet.
func (s *Store) CreateUser(ctx context.Context, user NewUser) (User, error) {
	return InsertUser(ctx, s.db.Queries, user)
}

func InsertUser(ctx context.Context, q *db.Queries, user NewUser) (User, error) {
	var email *string
	if user.Email != "" {
		email = &user.Email
	}
	row, err := q.InsertUser(ctx, db.InsertUserParams{ID: schema.NewID(), DisplayName: user.DisplayName, Email: email})
	return row, postgres.Interpret(err, "user")
}

// User reads one user.
func (s *Store) User(ctx context.Context, id string) (User, error) {
	row, err := s.db.Queries.UserByID(ctx, id)
	return row, postgres.Interpret(err, "user")
}

// UserKnownTo reads a user who is in an organization of the viewer. The result has the e-mail address only if the
// viewer may list the members of such an organization. For a former member of a viewer's organization, the result has
// only the name. For any other user, UserKnownTo returns not_found.
func (s *Store) UserKnownTo(ctx context.Context, viewerID, id string) (User, error) {
	row, err := s.db.Queries.UserKnownTo(ctx, db.UserKnownToParams{Viewer: viewerID, ID: id})
	if err != nil {
		return User{}, postgres.Interpret(err, "user")
	}
	if !row.Listed {
		row.User.Email = nil
	}
	if !row.Shares {
		row.User.PhotoUrl = nil
	}
	return row.User, nil
}

// FindUser reads the user with this id or e-mail address. A text with @ is an address.
func (s *Store) FindUser(ctx context.Context, idOrEmail string) (User, error) {
	if !strings.Contains(idOrEmail, "@") {
		return s.User(ctx, idOrEmail)
	}
	row, err := s.db.Queries.UserByEmail(ctx, idOrEmail)
	return row, postgres.Interpret(err, "user")
}

// UsersByID returns users by id. It leaves out unknown ids.
func (s *Store) UsersByID(ctx context.Context, ids []string) (map[string]User, error) {
	rows, err := s.db.Queries.UsersByID(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "users")
	}
	users := make(map[string]User, len(rows))
	for _, row := range rows {
		users[row.ID] = row
	}
	return users, nil
}
