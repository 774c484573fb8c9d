package orgs

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// users has the operations on users.
type users struct {
	store *store.Store
	view  view.Presenter
}

func userOperations(h *users) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/user", ID: "getAuthenticatedUser", Tag: "users",
			Doc: "Read the user that the token acts for.", Scope: access.AnyUser().OrSession(), Status: http.StatusOK, Handler: frame.Handle(h.self),
		},
		{
			Method: http.MethodGet, Path: "/users/{userId}", ID: "getUserById", Tag: "users",
			Doc: "Read a user who shares an organization with the caller; of a former member, the name. Guests, " +
				"who may " +
				"not list the members, get no e-mail address. Readers of a site get the names of its organization's " +
				"members, whom pages mention.",
			Scope: access.AnyUser().OrReaders(), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
	}
}

func (h *users) self(ctx context.Context, c *access.Caller, _ *struct{}) (schema.User, error) {
	user, err := h.store.Orgs.User(ctx, c.Principal.UserID)
	if err != nil {
		return schema.User{}, err
	}
	return h.view.User(user), nil
}

func (h *users) get(ctx context.Context, c *access.Caller, r *struct {
	UserID string `path:"userId"`
}) (schema.User, error) {
	if c.Reader != nil {
		return h.mentioned(ctx, c.Reader.Site().OrganizationID, r.UserID)
	}
	user, err := h.store.Orgs.UserKnownTo(ctx, c.Principal.UserID, r.UserID)
	if err != nil {
		return schema.User{}, err
	}
	return h.view.User(user), nil
}

// mentioned returns the API form of a member of an organization for a reader of the organization's sites. A page that
// mentions the member has the member's id and name. So mentioned shows only the name, and hides the e-mail address and
// the photo.
func (h *users) mentioned(ctx context.Context, organizationID, id string) (schema.User, error) {
	members, err := h.store.Orgs.MembersAmong(ctx, organizationID, []string{id})
	if err != nil {
		return schema.User{}, err
	}
	if !members[id] {
		return schema.User{}, schema.NotFound("user")
	}
	user, err := h.store.Orgs.User(ctx, id)
	if err != nil {
		return schema.User{}, err
	}
	user.Email, user.PhotoUrl = nil, nil
	return h.view.User(user), nil
}
