package api

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// users are the operations on people's accounts.
type users struct {
	store *store.Store
	urls  links
}

func userOperations(h *users) []Operation {
	return []Operation{
		{
			Method: http.MethodGet, Path: "/user", ID: "getAuthenticatedUser", Tag: "users",
			Doc: "Read the user that the token acts for.", Scope: anyUser(), Status: http.StatusOK, Handler: handle(h.self),
		},
		{
			Method: http.MethodGet, Path: "/users/{userId}", ID: "getUserById", Tag: "users",
			Doc: "Read a user who shares an organization with the caller.", Scope: anyUser(), Status: http.StatusOK,
			Handler: handle(h.get),
		},
	}
}

func (h *users) self(ctx context.Context, c *Caller, _ *struct{}) (schema.User, error) {
	user, err := h.store.User(ctx, c.Principal.UserID)
	if err != nil {
		return schema.User{}, err
	}
	return h.urls.userResource(user), nil
}

func (h *users) get(ctx context.Context, c *Caller, r *struct {
	UserID string `path:"userId"`
}) (schema.User, error) {
	user, err := h.store.UserKnownTo(ctx, c.Principal.UserID, r.UserID)
	if err != nil {
		return schema.User{}, err
	}
	return h.urls.userResource(user), nil
}

func (l links) userResource(u store.User) schema.User {
	return schema.User{
		Object: "user", ID: u.ID, DisplayName: u.DisplayName, Email: schema.Or(u.Email, ""), PhotoURL: schema.Or(u.PhotoUrl, ""),
		URLs: l.user(u.ID),
	}
}
