package content

import (
	"context"
	"net/http"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// contentAccess has the operations on access to one kind of content. Each of these operations requires the admin right
// on the content.
type contentAccess struct {
	store *store.Store
	view  view.Presenter
	// noun is the name of this kind of content in texts and page tokens.
	noun string
	// of returns the content that the request's path names, and the caller's access to this content.
	of func(*access.Caller) (store.GrantTarget, postgres.ContentAccess)
}

// accessOperations returns the operations on access to collections and to spaces.
func accessOperations(s *store.Store, v view.Presenter) []frame.Operation {
	collection := func(c *access.Caller) (store.GrantTarget, postgres.ContentAccess) {
		own := c.Collection.Collection
		target := store.GrantTarget{OrganizationID: own.OrganizationID, CollectionID: &own.ID}
		return target, c.Collection.ContentAccess
	}
	space := func(c *access.Caller) (store.GrantTarget, postgres.ContentAccess) {
		own := c.Space.Space
		return store.GrantTarget{OrganizationID: own.OrganizationID, SpaceID: &own.ID}, c.Space.ContentAccess
	}
	onCollection := contentAccess{store: s, view: v, noun: "collection", of: collection}
	onSpace := contentAccess{store: s, view: v, noun: "space", of: space}
	return slices.Concat(
		onCollection.operations("/collections/{collectionId}/permissions", "Collection", access.OnCollection),
		onSpace.operations("/spaces/{spaceId}/permissions", "Space", access.OnSpace),
	)
}

// operations returns the operations on the permissions of collections or of spaces. `name` is the part of the
// operations' ids that names this kind of content.
func (h *contentAccess) operations(path, name string, on *access.Object) []frame.Operation {
	op := func(method, below, id, doc string, handler frame.Handler) frame.Operation {
		row := frame.Operation{
			Method: method, Path: path + below, ID: id + name, Tag: h.noun + "s", Doc: doc,
			Scope: access.Having(access.RightAdmin, on), Status: http.StatusNoContent, Handler: handler,
		}
		switch method {
		case http.MethodGet:
			row.Status = http.StatusOK
		case http.MethodPost, http.MethodPatch:
			row.BodyLimit, row.Accepts = frame.ResourceBodyLimit, frame.MediaJSON
		}
		return row
	}
	return []frame.Operation{
		op(http.MethodPost, "", "inviteTo", "Give users and teams a role on a "+h.noun+" and all that is in it.",
			frame.Handle(h.invite)),
		op(http.MethodGet, "/users", "listUserPermissionsIn", "List the users to whom a "+h.noun+" itself was given.",
			frame.Handle(h.listUsers)),
		op(http.MethodPatch, "/users/{userId}", "updateUserPermissionIn", "Change the role that a user was given.",
			frame.Handle(h.updateUser)),
		op(http.MethodDelete, "/users/{userId}", "removeUserFrom", "Take away what a user was given.",
			frame.Handle(h.removeUser)),
		op(http.MethodGet, "/teams", "listTeamPermissionsIn", "List the teams to which a "+h.noun+" itself was given.",
			frame.Handle(h.listTeams)),
		op(http.MethodPatch, "/teams/{teamId}", "updateTeamPermissionIn", "Change the role that a team was given.",
			frame.Handle(h.updateTeam)),
		op(http.MethodDelete, "/teams/{teamId}", "removeTeamFrom", "Take away what a team was given.",
			frame.Handle(h.removeTeam)),
		op(http.MethodGet, "/aggregate", "listPermissionsAggregateIn",
			"List everybody who has access to a "+h.noun+", from whatever source, with the role there.",
			frame.Handle(h.listAll)),
	}
}

func (h *contentAccess) target(c *access.Caller) store.GrantTarget {
	target, _ := h.of(c)
	return target
}

type inviteToContentRequest struct {
	Body struct {
		// A role of null stands for the guest. Setting it removes the grants of these users and teams.
		Role  schema.Opt[string] `json:"role" rules:"required,enum=role"`
		Users []string           `json:"users" rules:"len=..1000"`
		Teams []string           `json:"teams" rules:"len=..1000"`
	} `body:"json"`
}

func (r *inviteToContentRequest) Validate() []schema.Detail {
	var c rules.Checker
	// The contract requires that at least one of the two lists is not empty.
	if len(r.Body.Users) == 0 && len(r.Body.Teams) == 0 {
		c.Add("users", "must name at least one user if it names no teams")
	}
	return c.Details
}

func (h *contentAccess) invite(
	ctx context.Context,
	c *access.Caller,
	r *inviteToContentRequest,
) (frame.NoContent, error) {
	to := store.Subjects{Users: r.Body.Users, Teams: r.Body.Teams}
	return frame.NoContent{}, h.store.Grant(ctx, h.target(c), to, schema.RoleFromNullable(r.Body.Role.Value))
}

type permissionBody struct {
	Role schema.Opt[string] `json:"role" rules:"enum=role"`
}

type updateUserPermissionRequest struct {
	UserID string         `path:"userId"`
	Body   permissionBody `body:"json"`
}

func (h *contentAccess) updateUser(
	ctx context.Context,
	c *access.Caller,
	r *updateUserPermissionRequest,
) (frame.NoContent, error) {
	return h.change(ctx, c, store.Subjects{Users: []string{r.UserID}}, r.Body)
}

type updateTeamPermissionRequest struct {
	TeamID string         `path:"teamId"`
	Body   permissionBody `body:"json"`
}

func (h *contentAccess) updateTeam(
	ctx context.Context,
	c *access.Caller,
	r *updateTeamPermissionRequest,
) (frame.NoContent, error) {
	return h.change(ctx, c, store.Subjects{Teams: []string{r.TeamID}}, r.Body)
}

func (h *contentAccess) change(
	ctx context.Context,
	c *access.Caller,
	of store.Subjects,
	body permissionBody,
) (frame.NoContent, error) {
	var role *schema.Role
	if body.Role.Set {
		wanted := schema.RoleFromNullable(body.Role.Value)
		role = &wanted
	}
	return frame.NoContent{}, h.store.ChangeGrant(ctx, h.target(c), of, role)
}

type grantedUser struct {
	UserID string `path:"userId"`
}

func (h *contentAccess) removeUser(ctx context.Context, c *access.Caller, r *grantedUser) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Revoke(ctx, h.target(c), store.Subjects{Users: []string{r.UserID}})
}

type grantedTeam struct {
	TeamID string `path:"teamId"`
}

func (h *contentAccess) removeTeam(ctx context.Context, c *access.Caller, r *grantedTeam) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Revoke(ctx, h.target(c), store.Subjects{Teams: []string{r.TeamID}})
}

func (h *contentAccess) listUsers(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.UserPermission], error) {
	target := h.target(c)
	return frame.ListPage(ctx, h.noun+" users "+target.ID(), *r,
		func(after string, size int) (postgres.Page[store.UserRole], error) {
			return h.store.ListGrantedUsers(ctx, target, after, size)
		},
		h.view.UserPermission, func(row store.UserRole) string { return row.User.ID })
}

type listAccessRequest struct {
	schema.PageRequest
	Role *string `query:"role" rules:"enum=role"`
}

func (h *contentAccess) listAll(
	ctx context.Context, c *access.Caller, r *listAccessRequest,
) (schema.List[people.UserPermission], error) {
	var only *schema.Role
	if r.Role != nil {
		role := schema.Role(*r.Role)
		only = &role
	}
	target, held := h.of(c)
	return frame.ListPage(ctx, h.noun+" access "+target.ID()+" "+schema.Or(r.Role, ""), r.PageRequest,
		func(after string, size int) (postgres.Page[store.UserRole], error) {
			return h.store.ListContentAccess(ctx, target, held.Level, only, after, size)
		},
		h.view.UserPermission, func(row store.UserRole) string { return row.User.ID })
}

func (h *contentAccess) listTeams(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.TeamPermission], error) {
	target, held := h.of(c)
	resource := view.Team(access.RightsOf(access.Access{Role: held.Role}))
	return frame.ListPage(ctx, h.noun+" teams "+target.ID(), *r,
		func(after string, size int) (postgres.Page[store.TeamRole], error) {
			return h.store.ListGrantedTeams(ctx, c.Principal.UserID, target, after, size)
		},
		func(row store.TeamRole) people.TeamPermission {
			return people.TeamPermission{Permission: row.Role, Team: resource(row.TeamRow)}
		},
		func(row store.TeamRole) string { return row.Team.ID })
}
