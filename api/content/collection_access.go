package content

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// collectionAccess has the operations on access to a collection. All of them require the admin right on it.
type collectionAccess struct {
	store *store.Store
	view  view.Presenter
}

func collectionAccessOperations(h *collectionAccess) []frame.Operation {
	const path = "/collections/{collectionId}/permissions"
	op := func(method, below, id, doc string, handler frame.Handler) frame.Operation {
		row := frame.Operation{
			Method: method, Path: path + below, ID: id, Tag: "collections", Doc: doc,
			Scope: access.Having(access.RightAdmin, access.OnCollection), Status: http.StatusNoContent, Handler: handler,
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
		op(http.MethodPost, "", "inviteToCollection", "Give users and teams a role on a collection and all that is in it.",
			frame.Handle(h.invite)),
		op(http.MethodGet, "/users", "listUserPermissionsInCollection", "List the users to whom a collection itself was given.",
			frame.Handle(h.listUsers)),
		op(http.MethodPatch, "/users/{userId}", "updateUserPermissionInCollection", "Change the role that a user was given.",
			frame.Handle(h.updateUser)),
		op(http.MethodDelete, "/users/{userId}", "removeUserFromCollection", "Take away what a user was given.",
			frame.Handle(h.removeUser)),
		op(http.MethodGet, "/teams", "listTeamPermissionsInCollection", "List the teams to which a collection itself was given.",
			frame.Handle(h.listTeams)),
		op(http.MethodPatch, "/teams/{teamId}", "updateTeamPermissionInCollection", "Change the role that a team was given.",
			frame.Handle(h.updateTeam)),
		op(http.MethodDelete, "/teams/{teamId}", "removeTeamFromCollection", "Take away what a team was given.",
			frame.Handle(h.removeTeam)),
		op(http.MethodGet, "/aggregate", "listPermissionsAggregateInCollection",
			"List everybody who has access to a collection, from whatever source, with the role there.", frame.Handle(h.listAll)),
	}
}

func grantTarget(c *access.Caller) store.GrantTarget {
	own := c.Collection.Collection
	return store.GrantTarget{OrganizationID: own.OrganizationID, CollectionID: &own.ID}
}

type inviteToCollectionRequest struct {
	Body struct {
		// A null role removes the grants: it is the guest role, and guests have only what was granted to them.
		Role  schema.Opt[string] `json:"role" rules:"required,enum=role"`
		Users []string           `json:"users" rules:"len=..1000"`
		Teams []string           `json:"teams" rules:"len=..1000"`
	} `body:"json"`
}

func (r *inviteToCollectionRequest) Validate() []schema.Detail {
	var c rules.Checker
	// The contract requires at least one of the two lists to be non-empty.
	if len(r.Body.Users) == 0 && len(r.Body.Teams) == 0 {
		c.Add("users", "must name at least one user if it names no teams")
	}
	return c.Details
}

func (h *collectionAccess) invite(ctx context.Context, c *access.Caller, r *inviteToCollectionRequest) (frame.NoContent, error) {
	to := store.Subjects{Users: r.Body.Users, Teams: r.Body.Teams}
	return frame.NoContent{}, h.store.Grant(ctx, grantTarget(c), to, schema.RoleFromNullable(r.Body.Role.Value))
}

type permissionBody struct {
	Role schema.Opt[string] `json:"role" rules:"enum=role"`
}

type updateUserPermissionRequest struct {
	UserID string         `path:"userId"`
	Body   permissionBody `body:"json"`
}

func (h *collectionAccess) updateUser(ctx context.Context, c *access.Caller, r *updateUserPermissionRequest) (frame.NoContent, error) {
	return h.change(ctx, c, store.Subjects{Users: []string{r.UserID}}, r.Body)
}

type updateTeamPermissionRequest struct {
	TeamID string         `path:"teamId"`
	Body   permissionBody `body:"json"`
}

func (h *collectionAccess) updateTeam(ctx context.Context, c *access.Caller, r *updateTeamPermissionRequest) (frame.NoContent, error) {
	return h.change(ctx, c, store.Subjects{Teams: []string{r.TeamID}}, r.Body)
}

func (h *collectionAccess) change(ctx context.Context, c *access.Caller, of store.Subjects, body permissionBody) (frame.NoContent, error) {
	var role *schema.Role
	if body.Role.Set {
		wanted := schema.RoleFromNullable(body.Role.Value)
		role = &wanted
	}
	return frame.NoContent{}, h.store.ChangeGrant(ctx, grantTarget(c), of, role)
}

type grantedUser struct {
	UserID string `path:"userId"`
}

func (h *collectionAccess) removeUser(ctx context.Context, c *access.Caller, r *grantedUser) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Revoke(ctx, grantTarget(c), store.Subjects{Users: []string{r.UserID}})
}

type grantedTeam struct {
	TeamID string `path:"teamId"`
}

func (h *collectionAccess) removeTeam(ctx context.Context, c *access.Caller, r *grantedTeam) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Revoke(ctx, grantTarget(c), store.Subjects{Teams: []string{r.TeamID}})
}

func (h *collectionAccess) listUsers(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.UserPermission], error) {
	own := c.Collection.Collection.ID
	return frame.ListPage(ctx, "collection users "+own, *r,
		func(after string, size int) (store.Page[store.UserRole], error) {
			return h.store.ListCollectionUsers(ctx, own, after, size)
		},
		h.view.UserPermission, func(row store.UserRole) string { return row.User.ID })
}

type listAccessRequest struct {
	schema.PageRequest
	Role *string `query:"role" rules:"enum=role"`
}

func (h *collectionAccess) listAll(
	ctx context.Context, c *access.Caller, r *listAccessRequest,
) (schema.List[schema.UserPermission], error) {
	var only *schema.Role
	if r.Role != nil {
		role := schema.Role(*r.Role)
		only = &role
	}
	return frame.ListPage(ctx, "collection access "+c.Collection.Collection.ID+" "+schema.Or(r.Role, ""), r.PageRequest,
		func(after string, size int) (store.Page[store.UserRole], error) {
			return h.store.ListCollectionAccess(ctx, *c.Collection, only, after, size)
		},
		h.view.UserPermission, func(row store.UserRole) string { return row.User.ID })
}

func (h *collectionAccess) listTeams(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.TeamPermission], error) {
	own := c.Collection.Collection.ID
	resource := view.Team(access.RightsOf(access.Access{Role: c.Collection.Role}))
	return frame.ListPage(ctx, "collection teams "+own, *r,
		func(after string, size int) (store.Page[store.TeamRole], error) {
			return h.store.ListCollectionTeams(ctx, c.Principal.UserID, own, after, size)
		},
		func(row store.TeamRole) schema.TeamPermission {
			return schema.TeamPermission{Permission: row.Role, Team: resource(row.TeamRow)}
		},
		func(row store.TeamRole) string { return row.Team.ID })
}
