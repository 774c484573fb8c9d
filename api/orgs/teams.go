package orgs

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// teams has the operations on teams, which are groups of members.
type teams struct {
	store *store.Store
	view  view.Presenter
}

func teamOperations(h *teams) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/teams", ID: "listTeamsInOrganizationById", Tag: "teams",
			Doc: "List the teams of an organization.", Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK,
			Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPut, Path: "/orgs/{organizationId}/teams", ID: "createOrganizationTeam", Tag: "teams",
			Doc: "Create a team. Its title is unique in the organization, and members are named by their ids or " +
				"by their " +
				"e-mail addresses.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/teams/{teamId}", ID: "getTeamInOrganizationById", Tag: "teams",
			Doc: "Read a team.", Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodDelete, Path: "/orgs/{organizationId}/teams/{teamId}", ID: "removeTeamFromOrganizationById", Tag: "teams",
			Doc:   "Delete a team and its grants; its members stay in the organization.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/teams/{teamId}/members",
			ID: "listTeamMembersInOrganizationById", Tag: "teams", Doc: "List the members of a team, with their " +
				"roles in it.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK,
			Handler: frame.Handle(h.listMembers),
		},
		{
			Method: http.MethodPut, Path: "/orgs/{organizationId}/teams/{teamId}/members", ID: "updateMembersInOrganizationTeam",
			Tag: "teams",
			Doc: "Change who is in a team, and who owns it. Members are named by their ids or by their e-mail " +
				"addresses.",
			// Owners of the team and admins of the organization may call this. updateMembers checks it, because the
			// scope knows no teams.
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusNoContent,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateMembers),
		},
	}
}

type listTeamsRequest struct {
	schema.PageRequest
	Owner *string `query:"owner" rules:"len=..64"`
	Title *string `query:"title" rules:"len=..64"`
}

func (h *teams) list(ctx context.Context, c *access.Caller, r *listTeamsRequest) (schema.List[people.Team], error) {
	organization := c.Organization.Organization.ID
	name := fmt.Sprintf("teams %s %q %q", organization, schema.Or(r.Owner, ""), schema.Or(r.Title, ""))
	return frame.ListPage(ctx, name, r.PageRequest,
		func(after string, size int) (postgres.Page[orgs.TeamRow], error) {
			filter := orgs.TeamFilter{Title: r.Title, Owner: r.Owner}
			return h.store.Orgs.ListTeams(ctx, c.Principal.UserID, organization, filter, after, size)
		},
		view.Team(c.Rights), func(row orgs.TeamRow) string { return row.Team.ID })
}

type createTeamRequest struct {
	Body struct {
		Title   *string  `json:"title" rules:"required,len=1..64"`
		Members []string `json:"members" rules:"len=..1000"`
	} `body:"json"`
}

func (h *teams) create(ctx context.Context, c *access.Caller, r *createTeamRequest) (people.Team, error) {
	organization := c.Organization.Organization.ID
	made, err := h.store.Orgs.CreateTeam(ctx, organization, *r.Body.Title, r.Body.Members)
	if err != nil {
		return people.Team{}, err
	}
	team, err := h.get(ctx, c, &teamRequest{TeamID: made.ID})
	return team.At(h.view.API("orgs", organization, "teams", made.ID)), err
}

type teamRequest struct {
	TeamID string `path:"teamId"`
}

func (h *teams) get(ctx context.Context, c *access.Caller, r *teamRequest) (people.Team, error) {
	row, err := h.store.Orgs.Team(ctx, c.Principal.UserID, c.Organization.Organization.ID, r.TeamID)
	if err != nil {
		return people.Team{}, err
	}
	return view.Team(c.Rights)(row), nil
}

func (h *teams) remove(ctx context.Context, c *access.Caller, r *teamRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.DeleteTeam(ctx, c.Organization.Organization.ID, r.TeamID)
}

type listTeamMembersRequest struct {
	teamRequest
	schema.PageRequest
}

func (h *teams) listMembers(
	ctx context.Context, c *access.Caller, r *listTeamMembersRequest,
) (schema.List[people.TeamMember], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, fmt.Sprintf("team members %s %s", organization, r.TeamID), r.PageRequest,
		func(after string, size int) (postgres.Page[orgs.TeamMemberRow], error) {
			return h.store.Orgs.ListTeamMembers(ctx, organization, r.TeamID, after, size)
		},
		h.view.TeamMember, func(row orgs.TeamMemberRow) string { return row.User.ID })
}

type updateTeamMembersRequest struct {
	teamRequest
	Body struct {
		Add         []string              `json:"add" rules:"len=..1000"`
		Memberships map[string]membership `json:"memberships" rules:"len=..1000"`
		Remove      []string              `json:"remove" rules:"len=..1000"`
	} `body:"json"`
}

// membership is the new role of a user in a team.
type membership struct {
	Role *string `json:"role" rules:"required,enum=teamRole"`
}

func (h *teams) updateMembers(ctx context.Context, c *access.Caller, r *updateTeamMembersRequest) (frame.NoContent, error) {
	organization := c.Organization.Organization.ID
	if !c.Rights.Has(access.RightAdmin) {
		team, err := h.store.Orgs.Team(ctx, c.Principal.UserID, organization, r.TeamID)
		if err != nil {
			return frame.NoContent{}, err
		}
		if team.ViewerRole != orgs.TeamOwner {
			return frame.NoContent{}, c.Require(access.RightAdmin, "organization")
		}
	}
	change := orgs.TeamChange{Add: r.Body.Add, Remove: r.Body.Remove, Roles: map[string]string{}}
	for user, in := range r.Body.Memberships {
		change.Roles[user] = *in.Role
	}
	return frame.NoContent{}, h.store.Orgs.ChangeTeam(ctx, organization, r.TeamID, change)
}
