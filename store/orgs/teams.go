package orgs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Team is a row of the table teams.
type Team = db.Team

// TeamRow is a team as a user sees it, with the numbers of its members and spaces.
type TeamRow struct {
	Team    Team
	Members int64
	Spaces  int64
	// ViewerRole is the user's role in the team. It is "" if the user is not in the team.
	ViewerRole string
}

// Each constant is a role of a member in a team.
const (
	TeamOwner  = "owner"
	TeamMember = "member"
)

// CreateTeam adds a team with its first members. Each of `members` is the id or the e-mail address of a member of the
// organization.
func (s *Store) CreateTeam(ctx context.Context, organizationID, title string, members []string) (Team, error) {
	var team Team
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		team, err = q.InsertTeam(ctx, db.InsertTeamParams{
			ID: schema.NewID(), OrganizationID: organizationID, Title: title,
		})
		if schema.IsCode(postgres.Interpret(err, ""), schema.CodeConflict) {
			return schema.Invalid("title", "is the title of another team of the organization")
		}
		if err != nil {
			return postgres.Interpret(err, "team")
		}
		if err := s.db.Within(ctx, q, postgres.QuotaTeams, organizationID); err != nil {
			return err
		}
		known, err := membersNamed(ctx, q, organizationID, members)
		if err != nil {
			return err
		}
		users, err := known.users("members", members)
		if err != nil {
			return err
		}
		return addToTeam(ctx, q, team, users)
	})
	return team, err
}

// memberNames maps names of members in a request to their ids. A name is an id or an e-mail address.
type memberNames map[string]string

// membersNamed finds the members of an organization by names: their ids or their e-mail addresses.
func membersNamed(ctx context.Context, q *db.Queries, organizationID string, names ...[]string) (memberNames, error) {
	rows, err := q.MembersNamed(ctx, db.MembersNamedParams{
		OrganizationID: organizationID, Names: postgres.Distinct(slices.Concat(names...)),
	})
	if err != nil {
		return nil, postgres.Interpret(err, "team")
	}
	known := make(memberNames, len(rows))
	for _, row := range rows {
		known[row.Name] = row.UserID
	}
	return known, nil
}

// notMember is the error message for a name that belongs to no member. The message is the same for the e-mail address
// of a user outside of the organization, so that it does not reveal whether such a user exists.
const notMember = "names nobody who is a member of the organization"

// users returns the ids of the members with these names, without duplicates. For an unknown name, it returns an error
// about the request's field.
func (m memberNames) users(field string, names []string) ([]string, error) {
	users := make([]string, len(names))
	for i, name := range names {
		user, ok := m[name]
		if !ok {
			return nil, schema.Invalid(fmt.Sprintf("%s[%d]", field, i), notMember)
		}
		users[i] = user
	}
	return postgres.Distinct(users), nil
}

func addToTeam(ctx context.Context, q *db.Queries, team Team, users []string) error {
	err := q.InsertTeamMembers(ctx, db.InsertTeamMembersParams{TeamID: team.ID, Users: users, Role: TeamMember})
	return postgres.Interpret(err, "team")
}

// Team reads a team of an organization as the user sees it.
func (s *Store) Team(ctx context.Context, userID, organizationID, id string) (TeamRow, error) {
	team, err := s.db.Queries.TeamInOrganization(ctx, db.TeamInOrganizationParams{
		ID: id, OrganizationID: organizationID,
	})
	if err != nil {
		return TeamRow{}, postgres.Interpret(err, "team")
	}
	rows, err := s.TeamRows(ctx, s.db.Queries, userID, []Team{team})
	if err != nil {
		return TeamRow{}, err
	}
	return rows[0], nil
}

// TeamFilter narrows a list of teams. A nil field does not filter.
type TeamFilter struct {
	Title *string
	Owner *string
}

// ListTeams lists an organization's teams in the order of their creation. The list begins after the id `after`.
func (s *Store) ListTeams(
	ctx context.Context, userID, organizationID string, filter TeamFilter, after string, size int,
) (postgres.Page[TeamRow], error) {
	total, err := s.db.Planned.CountTeams(ctx, db.CountTeamsParams{
		OrganizationID: organizationID, Title: filter.Title, Owner: filter.Owner,
	})
	if err != nil {
		return postgres.Page[TeamRow]{}, postgres.Interpret(err, "teams")
	}
	teams, err := s.db.Planned.ListTeams(ctx, db.ListTeamsParams{
		OrganizationID: organizationID, Title: filter.Title, Owner: filter.Owner, After: after,
		PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[TeamRow]{}, postgres.Interpret(err, "teams")
	}
	rows, err := s.TeamRows(ctx, s.db.Queries, userID, teams)
	if err != nil {
		return postgres.Page[TeamRow]{}, err
	}
	return postgres.PageOf(rows, size, total), nil
}

// TeamRows returns teams as the user sees them, with the numbers of their members and spaces.
func (s *Store) TeamRows(ctx context.Context, q *db.Queries, userID string, teams []Team) ([]TeamRow, error) {
	if len(teams) == 0 {
		return []TeamRow{}, nil
	}
	ids := make([]string, len(teams))
	for i, team := range teams {
		ids[i] = team.ID
	}
	numbers, err := q.TeamNumbers(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "teams")
	}
	roles, err := q.TeamRoles(ctx, db.TeamRolesParams{UserID: userID, Teams: ids})
	if err != nil {
		return nil, postgres.Interpret(err, "teams")
	}
	byID := make(map[string]TeamRow, len(teams))
	for _, n := range numbers {
		byID[n.ID] = TeamRow{Members: n.Members, Spaces: n.Spaces}
	}
	for _, role := range roles {
		row := byID[role.TeamID]
		row.ViewerRole = role.Role
		byID[role.TeamID] = row
	}
	rows := make([]TeamRow, len(teams))
	for i, team := range teams {
		rows[i] = byID[team.ID]
		rows[i].Team = team
	}
	return rows, nil
}

// TeamMemberRow is a member of a team. Role is the role in the team.
type TeamMemberRow struct {
	MemberRow
	Role string
}

// ListTeamMembers lists the members of a team, sorted by id, after the id `after`.
func (s *Store) ListTeamMembers(
	ctx context.Context, organizationID, id, after string, size int,
) (postgres.Page[TeamMemberRow], error) {
	_, err := s.db.Queries.TeamInOrganization(ctx, db.TeamInOrganizationParams{ID: id, OrganizationID: organizationID})
	if err != nil {
		return postgres.Page[TeamMemberRow]{}, postgres.Interpret(err, "team")
	}
	total, err := s.db.Queries.CountTeamMembers(ctx, id)
	if err != nil {
		return postgres.Page[TeamMemberRow]{}, postgres.Interpret(err, "team members")
	}
	found, err := s.db.Queries.ListTeamMembers(ctx, db.ListTeamMembersParams{
		TeamID: id, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[TeamMemberRow]{}, postgres.Interpret(err, "team members")
	}
	members := make([]MemberRow, len(found))
	for i, row := range found {
		members[i] = MemberRow{Membership: row.Membership, User: row.User}
	}
	if members, err = s.memberRows(ctx, organizationID, members); err != nil {
		return postgres.Page[TeamMemberRow]{}, err
	}
	rows := make([]TeamMemberRow, len(found))
	for i, row := range found {
		rows[i] = TeamMemberRow{members[i], row.Role}
	}
	return postgres.PageOf(rows, size, total), nil
}

// TeamChange is a change of a team's members. Add has the names of users to add, Remove has the names of members to
// remove, and Roles has new roles by name. Each name is an id or an e-mail address. A user in Roles who is not in the
// team yet is added. Unknown names in Remove are ignored.
type TeamChange struct {
	Add    []string
	Remove []string
	Roles  map[string]string
}

// ChangeTeam changes the members of a team.
func (s *Store) ChangeTeam(ctx context.Context, organizationID, id string, change TeamChange) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		team, err := q.LockTeam(ctx, db.LockTeamParams{ID: id, OrganizationID: organizationID})
		if err != nil {
			return postgres.Interpret(err, "team")
		}
		named := slices.Sorted(maps.Keys(change.Roles))
		known, err := membersNamed(ctx, q, organizationID, change.Add, named, change.Remove)
		if err != nil {
			return err
		}
		added, err := known.users("add", change.Add)
		if err != nil {
			return err
		}
		roles, err := known.roles(change.Roles, named)
		if err != nil {
			return err
		}
		if err := addToTeam(ctx, q, team, postgres.Distinct(slices.AppendSeq(added, maps.Keys(roles)))); err != nil {
			return err
		}
		for _, role := range []string{TeamOwner, TeamMember} {
			users := []string{}
			for user, wanted := range roles {
				if wanted == role {
					users = append(users, user)
				}
			}
			if _, err := q.SetTeamRoles(ctx, db.SetTeamRolesParams{TeamID: id, Users: users, Role: role}); err != nil {
				return postgres.Interpret(err, "team")
			}
		}
		var removed []string
		for _, name := range change.Remove {
			if user, ok := known[name]; ok {
				removed = append(removed, user)
			}
		}
		err = q.DeleteTeamMembers(ctx, db.DeleteTeamMembersParams{TeamID: id, Users: postgres.Distinct(removed)})
		return postgres.Interpret(err, "team")
	})
}

// roles returns the wanted roles, by the member's id. `named` has the sorted keys of `wanted`.
func (m memberNames) roles(wanted map[string]string, named []string) (map[string]string, error) {
	roles := make(map[string]string, len(wanted))
	for _, name := range named {
		user, ok := m[name]
		if !ok {
			return nil, schema.Invalid("memberships."+name, notMember)
		}
		if other, twice := roles[user]; twice && other != wanted[name] {
			return nil, schema.Invalid("memberships."+name, "names a member twice, with different roles")
		}
		roles[user] = wanted[name]
	}
	return roles, nil
}
