package api

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// collectionAccess are the operations on who has access to a collection. All of them take the right to administer it.
type collectionAccess struct {
	store *store.Store
	urls  links
}

func collectionAccessOperations(h *collectionAccess) []Operation {
	const path = "/collections/{collectionId}/permissions"
	op := func(method, below, id, doc string, handler Handler) Operation {
		row := Operation{
			Method: method, Path: path + below, ID: id, Tag: "collections", Doc: doc,
			Scope: having(RightAdmin, onCollection), Status: http.StatusNoContent, Handler: handler,
		}
		switch method {
		case http.MethodGet:
			row.Status = http.StatusOK
		case http.MethodPost, http.MethodPatch:
			row.BodyLimit, row.Accepts = ResourceBodyLimit, mediaJSON
		}
		return row
	}
	return []Operation{
		op(http.MethodPost, "", "inviteToCollection", "Give users and teams a role on a collection and all that is in it.",
			handle(h.invite)),
		op(http.MethodGet, "/users", "listUserPermissionsInCollection", "List the users to whom a collection itself was given.",
			handle(h.listUsers)),
		op(http.MethodPatch, "/users/{userId}", "updateUserPermissionInCollection", "Change the role that a user was given.",
			handle(h.updateUser)),
		op(http.MethodDelete, "/users/{userId}", "removeUserFromCollection", "Take away what a user was given.",
			handle(h.removeUser)),
		op(http.MethodGet, "/teams", "listTeamPermissionsInCollection", "List the teams to which a collection itself was given.",
			handle(h.listTeams)),
		op(http.MethodPatch, "/teams/{teamId}", "updateTeamPermissionInCollection", "Change the role that a team was given.",
			handle(h.updateTeam)),
		op(http.MethodDelete, "/teams/{teamId}", "removeTeamFromCollection", "Take away what a team was given.",
			handle(h.removeTeam)),
		op(http.MethodGet, "/aggregate", "listPermissionsAggregateInCollection",
			"List everybody who has access to a collection, from whatever source, with the role there.", handle(h.listAll)),
	}
}

func grantTarget(c *Caller) store.GrantTarget {
	own := c.Collection.Collection
	return store.GrantTarget{OrganizationID: own.OrganizationID, CollectionID: &own.ID}
}

type inviteToCollectionRequest struct {
	Body struct {
		// A null role is the guest's: guests have only what was given to them, so it takes away what was given here.
		Role  schema.Opt[string] `json:"role" rules:"required,enum=role"`
		Users []string           `json:"users" rules:"len=..1000"`
		Teams []string           `json:"teams" rules:"len=..1000"`
	} `body:"json"`
}

func (r *inviteToCollectionRequest) Validate() []schema.Detail {
	var c checker
	// The contract asks for one that is not empty, and lets the other be as it is.
	if len(r.Body.Users) == 0 && len(r.Body.Teams) == 0 {
		c.add("users", "must name somebody where there are no teams")
	}
	return c.details
}

func (h *collectionAccess) invite(ctx context.Context, c *Caller, r *inviteToCollectionRequest) (NoContent, error) {
	to := store.Subjects{Users: r.Body.Users, Teams: r.Body.Teams}
	return NoContent{}, h.store.Grant(ctx, grantTarget(c), to, schema.RoleFromNullable(r.Body.Role.Value))
}

type permissionBody struct {
	Role schema.Opt[string] `json:"role" rules:"enum=role"`
}

type updateUserPermissionRequest struct {
	UserID string         `path:"userId"`
	Body   permissionBody `body:"json"`
}

func (h *collectionAccess) updateUser(ctx context.Context, c *Caller, r *updateUserPermissionRequest) (NoContent, error) {
	return h.change(ctx, c, store.Subjects{Users: []string{r.UserID}}, r.Body)
}

type updateTeamPermissionRequest struct {
	TeamID string         `path:"teamId"`
	Body   permissionBody `body:"json"`
}

func (h *collectionAccess) updateTeam(ctx context.Context, c *Caller, r *updateTeamPermissionRequest) (NoContent, error) {
	return h.change(ctx, c, store.Subjects{Teams: []string{r.TeamID}}, r.Body)
}

func (h *collectionAccess) change(ctx context.Context, c *Caller, of store.Subjects, body permissionBody) (NoContent, error) {
	var role *schema.Role
	if body.Role.Set {
		wanted := schema.RoleFromNullable(body.Role.Value)
		role = &wanted
	}
	return NoContent{}, h.store.ChangeGrant(ctx, grantTarget(c), of, role)
}

type grantedUser struct {
	UserID string `path:"userId"`
}

func (h *collectionAccess) removeUser(ctx context.Context, c *Caller, r *grantedUser) (NoContent, error) {
	return NoContent{}, h.store.Revoke(ctx, grantTarget(c), store.Subjects{Users: []string{r.UserID}})
}

type grantedTeam struct {
	TeamID string `path:"teamId"`
}

func (h *collectionAccess) removeTeam(ctx context.Context, c *Caller, r *grantedTeam) (NoContent, error) {
	return NoContent{}, h.store.Revoke(ctx, grantTarget(c), store.Subjects{Teams: []string{r.TeamID}})
}

func (h *collectionAccess) listUsers(
	ctx context.Context, c *Caller, r *pageOnlyRequest,
) (schema.List[schema.UserPermission], error) {
	own := c.Collection.Collection.ID
	return listPage(ctx, "collection users "+own, r.PageRequest,
		func(after string, size int) (store.Page[store.UserRole], error) {
			return h.store.ListCollectionUsers(ctx, own, after, size)
		},
		h.urls.userPermission, func(p schema.UserPermission) string { return p.User.ID })
}

type listAccessRequest struct {
	schema.PageRequest
	Role *string `query:"role" rules:"enum=role"`
}

func (h *collectionAccess) listAll(
	ctx context.Context, c *Caller, r *listAccessRequest,
) (schema.List[schema.UserPermission], error) {
	var only *schema.Role
	if r.Role != nil {
		role := schema.Role(*r.Role)
		only = &role
	}
	return listPage(ctx, "collection access "+c.Collection.Collection.ID+" "+schema.Or(r.Role, ""), r.PageRequest,
		func(after string, size int) (store.Page[store.UserRole], error) {
			return h.store.ListCollectionAccess(ctx, *c.Collection, only, after, size)
		},
		h.urls.userPermission, func(p schema.UserPermission) string { return p.User.ID })
}

func (h *collectionAccess) listTeams(
	ctx context.Context, c *Caller, r *pageOnlyRequest,
) (schema.List[schema.TeamPermission], error) {
	own := c.Collection.Collection.ID
	resource := teamResource(RightsOf(Access{Role: c.Collection.Role}))
	return listPage(ctx, "collection teams "+own, r.PageRequest,
		func(after string, size int) (store.Page[store.TeamRole], error) {
			return h.store.ListCollectionTeams(ctx, c.Principal.UserID, own, after, size)
		},
		func(row store.TeamRole) schema.TeamPermission {
			return schema.TeamPermission{Permission: row.Role, Team: resource(row.TeamRow)}
		},
		func(p schema.TeamPermission) string { return p.Team.ID })
}

func (l links) userPermission(row store.UserRole) schema.UserPermission {
	return schema.UserPermission{Permission: row.Role, User: l.userResource(row.User)}
}
