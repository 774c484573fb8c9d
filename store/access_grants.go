package store

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GrantTarget is the content that a grant is for: a collection with its content, or a space. Only one of CollectionID
// and SpaceID is set.
type GrantTarget struct {
	OrganizationID string
	CollectionID   *string
	SpaceID        *string
}

// ID returns the id of the collection or the space.
func (t GrantTarget) ID() string { return postgres.Deref(cmp.Or(t.CollectionID, t.SpaceID)) }

// Subjects are the users and teams that a grant is for.
type Subjects struct {
	Users []string
	Teams []string
}

// Grant gives users and teams of the target's organization a role on the target. It replaces their earlier grants on
// the target. For the role guest, it removes these grants and adds none. If a user or a team is not in the
// organization, Grant changes no grant and returns not_found.
func (s *Store) Grant(ctx context.Context, target GrantTarget, to Subjects, role schema.Role) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		users, teams := postgres.Distinct(to.Users), postgres.Distinct(to.Teams)
		want := len(users) + len(teams)
		if role == schema.RoleGuest {
			known, err := q.KnownSubjects(ctx, db.KnownSubjectsParams{
				OrganizationID: target.OrganizationID, Users: users, Teams: teams,
			})
			if err == nil && int(known) < want {
				err = schema.NotFound("user or team")
			}
			if err != nil {
				return postgres.Interpret(err, "grant")
			}
			_, err = q.DeleteGrants(ctx, db.DeleteGrantsParams{
				ContentID: target.ID(), Users: users, Teams: teams,
			})
			return postgres.Interpret(err, "grant")
		}
		given, err := q.InsertGrants(ctx, db.InsertGrantsParams{
			OrganizationID: target.OrganizationID, CollectionID: target.CollectionID, SpaceID: target.SpaceID,
			Role: string(role), Users: users, Teams: teams,
		})
		if err == nil && int(given) < want {
			err = schema.NotFound("user or team")
		}
		return postgres.Interpret(err, "grant")
	})
}

// ChangeGrant changes the grants of users and teams on the target. If `role` is nil, it changes nothing. For the role
// guest, it removes the grants. If none of the users and teams has a grant on the target, ChangeGrant returns
// not_found.
func (s *Store) ChangeGrant(ctx context.Context, target GrantTarget, to Subjects, role *schema.Role) error {
	users, teams := postgres.Distinct(to.Users), postgres.Distinct(to.Teams)
	var changed int64
	var err error
	if role != nil && *role == schema.RoleGuest {
		changed, err = s.db.Queries.DeleteGrants(ctx, db.DeleteGrantsParams{
			ContentID: target.ID(), Users: users, Teams: teams,
		})
	} else {
		changed, err = s.db.Queries.UpdateGrants(ctx, db.UpdateGrantsParams{
			ContentID: target.ID(), Users: users, Teams: teams, Role: (*string)(role),
		})
	}
	if err == nil && changed == 0 {
		err = schema.NotFound("permission")
	}
	return postgres.Interpret(err, "grant")
}

// Revoke removes the grants of users and teams on the target, if there are any.
func (s *Store) Revoke(ctx context.Context, target GrantTarget, from Subjects) error {
	_, err := s.db.Queries.DeleteGrants(ctx, db.DeleteGrantsParams{
		ContentID: target.ID(), Users: postgres.Distinct(from.Users), Teams: postgres.Distinct(from.Teams),
	})
	return postgres.Interpret(err, "grant")
}

// UserRole is a user with a role on a piece of content.
type UserRole struct {
	User orgs.User
	Role schema.Role
}

// ListGrantedUsers lists the users who have a grant on the content itself, sorted by id.
func (s *Store) ListGrantedUsers(
	ctx context.Context, on GrantTarget, after string, size int,
) (postgres.Page[UserRole], error) {
	total, err := s.db.Queries.CountGrantedUsers(ctx, on.ID())
	if err != nil {
		return postgres.Page[UserRole]{}, postgres.Interpret(err, "users")
	}
	rows, err := s.db.Queries.ListGrantedUsers(ctx, db.ListGrantedUsersParams{
		ContentID: on.ID(), After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[UserRole]{}, postgres.Interpret(err, "users")
	}
	users := make([]UserRole, len(rows))
	for i, row := range rows {
		users[i] = UserRole{User: row.User, Role: schema.Role(row.Role)}
	}
	return postgres.PageOf(users, size, total), nil
}

// ListContentAccess lists all members who have access to content, and their roles on the content. The access may come
// from a grant, from the content's level, or from the role in the organization. `level` is the content's default
// level. If `role` is set, the list has only members with exactly this role.
func (s *Store) ListContentAccess(
	ctx context.Context, to GrantTarget, level schema.Level, role *schema.Role, after string, size int,
) (postgres.Page[UserRole], error) {
	least, most := int32(1), int32(schema.RoleAdmin.Rank()) // a rank is at most 6, so it fits into 32 bits
	if role != nil {
		least, most = int32(role.Rank()), int32(role.Rank()) // a rank is at most 6, so it fits into 32 bits
	}
	path, err := s.db.Queries.ContentPath(ctx, to.ID())
	if err != nil {
		return postgres.Page[UserRole]{}, postgres.Interpret(err, "content")
	}
	total, err := s.db.Queries.CountContentAccess(ctx, db.CountContentAccessParams{
		OrganizationID: to.OrganizationID, Level: string(level), Path: path, Least: least, Most: most,
	})
	if err != nil {
		return postgres.Page[UserRole]{}, postgres.Interpret(err, "users")
	}
	rows, err := s.db.Queries.ListContentAccess(ctx, db.ListContentAccessParams{
		OrganizationID: to.OrganizationID, Level: string(level), Path: path, Least: least, Most: most,
		After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[UserRole]{}, postgres.Interpret(err, "users")
	}
	users := make([]UserRole, len(rows))
	for i, row := range rows {
		users[i] = UserRole{User: row.User, Role: schema.RoleOfRank(int(row.Rank))}
	}
	return postgres.PageOf(users, size, total), nil
}

// TeamRole is a team and its role on a piece of content.
type TeamRole struct {
	orgs.TeamRow
	Role schema.Role
}

// ListGrantedTeams lists the teams that have a grant on the content itself, sorted by id.
func (s *Store) ListGrantedTeams(
	ctx context.Context, userID string, on GrantTarget, after string, size int,
) (postgres.Page[TeamRole], error) {
	total, err := s.db.Queries.CountGrantedTeams(ctx, on.ID())
	if err != nil {
		return postgres.Page[TeamRole]{}, postgres.Interpret(err, "teams")
	}
	rows, err := s.db.Queries.ListGrantedTeams(ctx, db.ListGrantedTeamsParams{
		ContentID: on.ID(), After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[TeamRole]{}, postgres.Interpret(err, "teams")
	}
	teams := make([]orgs.Team, len(rows))
	for i, row := range rows {
		teams[i] = row.Team
	}
	filled, err := s.Orgs.TeamRows(ctx, s.db.Queries, userID, teams)
	if err != nil {
		return postgres.Page[TeamRole]{}, err
	}
	given := make([]TeamRole, len(rows))
	for i, row := range rows {
		given[i] = TeamRole{TeamRow: filled[i], Role: schema.Role(row.Role)}
	}
	return postgres.PageOf(given, size, total), nil
}
