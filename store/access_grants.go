package store

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// GrantTarget is a collection, with all that is in it, or a space: one of both ids is set.
type GrantTarget struct {
	OrganizationID string
	CollectionID   *string
	SpaceID        *string
}

// ID is the collection's or the space's.
func (t GrantTarget) ID() string { return deref(cmp.Or(t.CollectionID, t.SpaceID)) }

// Subjects are the users and teams that a grant is for.
type Subjects struct {
	Users []string
	Teams []string
}

// Grant gives the role to users and teams of the target's organization and replaces what each had there. The role of a guest
// takes their grants away. Unless all of them are in the organization, nothing changes and the error is not found.
func (s *Store) Grant(ctx context.Context, target GrantTarget, to Subjects, role schema.Role) error {
	return s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		users, teams := distinct(to.Users), distinct(to.Teams)
		want := len(users) + len(teams)
		if role == schema.RoleGuest {
			known, err := q.KnownSubjects(ctx, db.KnownSubjectsParams{
				OrganizationID: target.OrganizationID, Users: users, Teams: teams,
			})
			if err == nil && int(known) < want {
				err = schema.NotFound("user or team")
			}
			if err != nil {
				return interpret(err, "grant")
			}
			_, err = q.DeleteGrants(ctx, db.DeleteGrantsParams{
				ContentID: target.ID(), Users: users, Teams: teams,
			})
			return interpret(err, "grant")
		}
		given, err := q.InsertGrants(ctx, db.InsertGrantsParams{
			OrganizationID: target.OrganizationID, CollectionID: target.CollectionID, SpaceID: target.SpaceID,
			Role: string(role), Users: users, Teams: teams,
		})
		if err == nil && int(given) < want {
			err = schema.NotFound("user or team")
		}
		return interpret(err, "grant")
	})
}

// ChangeGrant changes the grants of users and teams on the target. A nil role changes nothing, and the role of a guest takes the
// grants away. If none of them has a grant there, the error is not found.
func (s *Store) ChangeGrant(ctx context.Context, target GrantTarget, to Subjects, role *schema.Role) error {
	users, teams := distinct(to.Users), distinct(to.Teams)
	var changed int64
	var err error
	if role != nil && *role == schema.RoleGuest {
		changed, err = s.queries.DeleteGrants(ctx, db.DeleteGrantsParams{
			ContentID: target.ID(), Users: users, Teams: teams,
		})
	} else {
		changed, err = s.queries.UpdateGrants(ctx, db.UpdateGrantsParams{
			ContentID: target.ID(), Users: users, Teams: teams, Role: (*string)(role),
		})
	}
	if err == nil && changed == 0 {
		err = schema.NotFound("permission")
	}
	return interpret(err, "grant")
}

// Revoke takes away any grants of users and teams on the target.
func (s *Store) Revoke(ctx context.Context, target GrantTarget, from Subjects) error {
	_, err := s.queries.DeleteGrants(ctx, db.DeleteGrantsParams{
		ContentID: target.ID(), Users: distinct(from.Users), Teams: distinct(from.Teams),
	})
	return interpret(err, "grant")
}

// UserRole is a user with a role on a piece of content.
type UserRole struct {
	User User
	Role schema.Role
}

// ListGrantedUsers lists the users who have a grant on the content itself, by their ids.
func (s *Store) ListGrantedUsers(ctx context.Context, on GrantTarget, after string, size int) (Page[UserRole], error) {
	total, err := s.queries.CountGrantedUsers(ctx, on.ID())
	if err != nil {
		return Page[UserRole]{}, interpret(err, "users")
	}
	rows, err := s.queries.ListGrantedUsers(ctx, db.ListGrantedUsersParams{
		ContentID: on.ID(), After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[UserRole]{}, interpret(err, "users")
	}
	users := make([]UserRole, len(rows))
	for i, row := range rows {
		users[i] = UserRole{User: row.User, Role: schema.Role(row.Role)}
	}
	return pageOf(users, size, total), nil
}

// ListContentAccess lists all members with access to content, from any source, and their roles there. The level is
// the default level of the content. If role is set, the list has the members with exactly that role.
func (s *Store) ListContentAccess(
	ctx context.Context, to GrantTarget, level schema.Level, role *schema.Role, after string, size int,
) (Page[UserRole], error) {
	least, most := int32(1), int32(schema.RoleAdmin.Rank()) // A rank is at most 6.
	if role != nil {
		least, most = int32(role.Rank()), int32(role.Rank()) // A rank is at most 6.
	}
	path, err := s.queries.ContentPath(ctx, to.ID())
	if err != nil {
		return Page[UserRole]{}, interpret(err, "content")
	}
	total, err := s.queries.CountContentAccess(ctx, db.CountContentAccessParams{
		OrganizationID: to.OrganizationID, Level: string(level), Path: path, Least: least, Most: most,
	})
	if err != nil {
		return Page[UserRole]{}, interpret(err, "users")
	}
	rows, err := s.queries.ListContentAccess(ctx, db.ListContentAccessParams{
		OrganizationID: to.OrganizationID, Level: string(level), Path: path, Least: least, Most: most,
		After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[UserRole]{}, interpret(err, "users")
	}
	users := make([]UserRole, len(rows))
	for i, row := range rows {
		users[i] = UserRole{User: row.User, Role: schema.RoleOfRank(int(row.Rank))}
	}
	return pageOf(users, size, total), nil
}

// TeamRole is a team and its role on a piece of content.
type TeamRole struct {
	TeamRow
	Role schema.Role
}

// ListGrantedTeams lists the teams that have a grant on the content itself, by their ids.
func (s *Store) ListGrantedTeams(
	ctx context.Context, userID string, on GrantTarget, after string, size int,
) (Page[TeamRole], error) {
	total, err := s.queries.CountGrantedTeams(ctx, on.ID())
	if err != nil {
		return Page[TeamRole]{}, interpret(err, "teams")
	}
	rows, err := s.queries.ListGrantedTeams(ctx, db.ListGrantedTeamsParams{
		ContentID: on.ID(), After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[TeamRole]{}, interpret(err, "teams")
	}
	teams := make([]Team, len(rows))
	for i, row := range rows {
		teams[i] = row.Team
	}
	filled, err := s.teamRows(ctx, s.queries, userID, teams)
	if err != nil {
		return Page[TeamRole]{}, err
	}
	given := make([]TeamRole, len(rows))
	for i, row := range rows {
		given[i] = TeamRole{TeamRow: filled[i], Role: schema.Role(row.Role)}
	}
	return pageOf(given, size, total), nil
}
