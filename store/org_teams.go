package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Team is a row of its table.
type Team = db.Team

// TeamRow is a team with its numbers, as a user sees it.
type TeamRow struct {
	Team    Team
	Members int64
	Spaces  int64
	// ViewerRole is what the user is in it; empty is nothing.
	ViewerRole string
}

// What a member can be in a team.
const (
	TeamOwner  = "owner"
	TeamMember = "member"
)

// CreateTeam adds a team with its first members, who must be in the organization.
func (s *Store) CreateTeam(ctx context.Context, organizationID, title string, members []string) (Team, error) {
	var team Team
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		team, err = q.InsertTeam(ctx, db.InsertTeamParams{ID: schema.NewID(), OrganizationID: organizationID, Title: title})
		if err != nil {
			return interpret(err, "team")
		}
		if err := s.within(ctx, q, quotaTeams, organizationID); err != nil {
			return err
		}
		return addToTeam(ctx, q, team, "members", members)
	})
	return team, err
}

func addToTeam(ctx context.Context, q *db.Queries, team Team, field string, users []string) error {
	known, err := q.KnownSubjects(ctx, db.KnownSubjectsParams{
		OrganizationID: team.OrganizationID, Users: distinct(users), Teams: []string{},
	})
	if err != nil {
		return interpret(err, "team")
	}
	if int(known) < len(distinct(users)) {
		return schema.Invalid(field, "names a user who is not a member of the organization")
	}
	err = q.InsertTeamMembers(ctx, db.InsertTeamMembersParams{TeamID: team.ID, Users: distinct(users), Role: TeamMember})
	return interpret(err, "team")
}

// Team reads a team of an organization as a user sees it.
func (s *Store) Team(ctx context.Context, userID, organizationID, id string) (TeamRow, error) {
	team, err := s.queries.TeamInOrganization(ctx, db.TeamInOrganizationParams{ID: id, OrganizationID: organizationID})
	if err != nil {
		return TeamRow{}, interpret(err, "team")
	}
	rows, err := s.teamRows(ctx, s.queries, userID, []Team{team})
	if err != nil {
		return TeamRow{}, err
	}
	return rows[0], nil
}

// TeamFilter narrows a list of teams; nil members let everything through.
type TeamFilter struct {
	Title *string
	Owner *string
}

// ListTeams lists an organization's teams in the order they were made, after the id `after`.
func (s *Store) ListTeams(
	ctx context.Context, userID, organizationID string, filter TeamFilter, after string, size int,
) (Page[TeamRow], error) {
	total, err := s.planned.CountTeams(ctx, db.CountTeamsParams{
		OrganizationID: organizationID, Title: filter.Title, Owner: filter.Owner,
	})
	if err != nil {
		return Page[TeamRow]{}, interpret(err, "teams")
	}
	teams, err := s.planned.ListTeams(ctx, db.ListTeamsParams{
		OrganizationID: organizationID, Title: filter.Title, Owner: filter.Owner, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[TeamRow]{}, interpret(err, "teams")
	}
	rows, err := s.teamRows(ctx, s.queries, userID, teams)
	if err != nil {
		return Page[TeamRow]{}, err
	}
	return pageOf(rows, size, total), nil
}

// teamRows adds the numbers of a page of teams.
func (s *Store) teamRows(ctx context.Context, q *db.Queries, userID string, teams []Team) ([]TeamRow, error) {
	if len(teams) == 0 {
		return []TeamRow{}, nil
	}
	ids := make([]string, len(teams))
	for i, team := range teams {
		ids[i] = team.ID
	}
	numbers, err := q.TeamNumbers(ctx, ids)
	if err != nil {
		return nil, interpret(err, "teams")
	}
	roles, err := q.TeamRoles(ctx, db.TeamRolesParams{UserID: userID, Teams: ids})
	if err != nil {
		return nil, interpret(err, "teams")
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

// TeamChange says who comes into a team, who goes, and what the members named in Roles become. Whom Roles names need not be
// in the team before.
type TeamChange struct {
	Add    []string
	Remove []string
	Roles  map[string]string
}

// ChangeTeam changes the members of a team.
func (s *Store) ChangeTeam(ctx context.Context, organizationID, id string, change TeamChange) error {
	return s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		team, err := q.LockTeam(ctx, db.LockTeamParams{ID: id, OrganizationID: organizationID})
		if err != nil {
			return interpret(err, "team")
		}
		if err := addToTeam(ctx, q, team, "add", change.Add); err != nil {
			return err
		}
		named := slices.Collect(maps.Keys(change.Roles))
		if err := addToTeam(ctx, q, team, "memberships", named); err != nil {
			return err
		}
		for _, role := range []string{TeamOwner, TeamMember} {
			users := []string{}
			for user, wanted := range change.Roles {
				if wanted == role {
					users = append(users, user)
				}
			}
			if _, err := q.SetTeamRoles(ctx, db.SetTeamRolesParams{TeamID: id, Users: users, Role: role}); err != nil {
				return interpret(err, "team")
			}
		}
		err = q.DeleteTeamMembers(ctx, db.DeleteTeamMembersParams{TeamID: id, Users: distinct(change.Remove)})
		return interpret(err, "team")
	})
}
