package orgs

import (
	"context"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

type linkInviteRequest struct {
	ID string `path:"inviteId"`
}

type joinRequest struct {
	OrganizationID string `path:"organizationId"`
	ID             string `path:"inviteId"`
}

func (h *invites) join(ctx context.Context, c *access.Caller, r *joinRequest) (struct{}, error) {
	return struct{}{}, h.store.Orgs.AcceptInvite(ctx, c.Principal.UserID, r.OrganizationID, r.ID)
}

// list returns only invites to the organization itself, as the contract demands. Invites to a space or a collection are
// not in the list.
func (h *invites) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.LinkInvite], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, "link invites "+organization, *r,
		func(after string, size int) (postgres.Page[orgs.LinkInvite], error) {
			return h.store.Orgs.ListLinkInvites(ctx, organization, after, size)
		},
		func(row orgs.LinkInvite) people.LinkInvite {
			return h.view.LinkInvite(c.Organization.Role, row)
		},
		func(row orgs.LinkInvite) string { return row.ID })
}

// createLinkInviteRequest has the members of all three kinds of invites: with a role in the organization, with a level
// on a space, and with a level on a collection.
type createLinkInviteRequest struct {
	Body struct {
		Role       schema.Opt[string] `json:"role" rules:"enum=role"`
		Level      schema.Opt[string] `json:"level" rules:"enum=role"`
		Space      *string            `json:"space"`
		Collection *string            `json:"collection"`
	} `body:"json"`
}

func (r *createLinkInviteRequest) Validate() []schema.Detail {
	var c rules.Checker
	b := r.Body
	content := b.Space != nil || b.Collection != nil || b.Level.Set
	switch {
	case b.Role.Set && content:
		c.Add("role", "cannot be given together with level, space or collection")
	case !b.Role.Set && !content:
		c.Add("role", "is required, or a level with a space or a collection; null is a guest")
	case b.Space != nil && b.Collection != nil:
		c.Add("collection", "cannot be given together with space")
	case content && !b.Level.Set:
		c.Add("level", "is required with a space or a collection; null is a guest")
	case content && b.Space == nil && b.Collection == nil:
		c.Add("space", "is required with level, or else collection")
	}
	return c.Details
}

func (h *invites) create(
	ctx context.Context, c *access.Caller, r *createLinkInviteRequest,
) (people.LinkInvite, error) {
	b := r.Body
	if !c.Organization.Organization.InviteLinks {
		return people.LinkInvite{}, schema.Forbidden(
			"the organization's invite links are off: turn inviteLinks on first",
		)
	}
	invite := orgs.NewLinkInvite{
		OrganizationID: c.Organization.Organization.ID, UserID: c.Principal.UserID, Role: b.Role.Value, SpaceID: b.Space,
		CollectionID: b.Collection,
	}
	if b.Level.Set {
		invite.Role = b.Level.Value
	}
	if err := h.requireContent(ctx, c, b.Space, b.Collection); err != nil {
		return people.LinkInvite{}, err
	}
	row, err := h.store.Orgs.CreateLinkInvite(ctx, invite)
	if err != nil {
		return people.LinkInvite{}, err
	}
	return h.resource(ctx, c, row)
}

// requireContent returns an error if the space or the collection is not in the organization. The caller is an admin of
// the organization, so the caller may give access to all of its content.
func (h *invites) requireContent(ctx context.Context, c *access.Caller, space, collection *string) error {
	organization := c.Organization.Organization.ID
	refuse := func(field, owner string, err error) error {
		if schema.IsCode(err, schema.CodeNotFound) || err == nil && owner != organization {
			return schema.Invalid(field, "names no "+field+" of this organization")
		}
		return err
	}
	switch {
	case space != nil && !schema.ValidID(*space):
		return refuse("space", "", nil)
	case collection != nil && !schema.ValidID(*collection):
		return refuse("collection", "", nil)
	case space != nil:
		found, err := h.store.Space(ctx, c.Principal.UserID, *space)
		return refuse("space", found.Space.OrganizationID, err)
	case collection != nil:
		found, err := h.store.Collection(ctx, c.Principal.UserID, *collection)
		return refuse("collection", found.Collection.OrganizationID, err)
	}
	return nil
}

func (h *invites) get(ctx context.Context, c *access.Caller, r *linkInviteRequest) (people.LinkInvite, error) {
	row, err := h.store.Orgs.LinkInvite(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return people.LinkInvite{}, err
	}
	return h.resource(ctx, c, row)
}

type updateLinkInviteRequest struct {
	ID   string `path:"inviteId"`
	Body struct {
		Role  schema.Opt[string] `json:"role" rules:"enum=role"`
		Level schema.Opt[string] `json:"level" rules:"enum=role"`
	} `body:"json" rules:"some"`
}

// update changes the role of an invite to the organization, or the level of an invite to a space or a collection.
func (h *invites) update(
	ctx context.Context, c *access.Caller, r *updateLinkInviteRequest,
) (people.LinkInvite, error) {
	organization := c.Organization.Organization.ID
	row, err := h.store.Orgs.LinkInvite(ctx, organization, r.ID)
	if err != nil {
		return people.LinkInvite{}, err
	}
	given, wrong, field := r.Body.Role, r.Body.Level, "level"
	if row.SpaceID != nil || row.CollectionID != nil {
		given, wrong, field = wrong, given, "role"
	}
	if wrong.Set {
		return people.LinkInvite{}, schema.Invalid(field, "does not match what the invite grants")
	}
	row, err = h.store.Orgs.UpdateLinkInvite(ctx, organization, r.ID, c.Principal.UserID, given.Value)
	if err != nil {
		return people.LinkInvite{}, err
	}
	return h.resource(ctx, c, row)
}

func (h *invites) delete(ctx context.Context, c *access.Caller, r *linkInviteRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.DeleteLinkInvite(ctx, c.Organization.Organization.ID, r.ID)
}

// resource returns the API form of an invite. The invite is for the organization, for a space or for a collection.
func (h *invites) resource(ctx context.Context, c *access.Caller, row orgs.LinkInvite) (people.LinkInvite, error) {
	invite := h.view.LinkInvite(c.Organization.Role, row)
	if row.SpaceID == nil && row.CollectionID == nil {
		return invite, nil
	}
	invite.Role, invite.Level = nil, invite.Role
	var held postgres.ContentAccess
	if row.SpaceID != nil {
		space, err := h.store.Space(ctx, c.Principal.UserID, *row.SpaceID)
		if err != nil {
			return invite, err
		}
		placed, err := h.store.PlaceSpace(ctx, space)
		if err != nil {
			return invite, err
		}
		resource, err := h.view.Space(placed)
		if err != nil {
			return invite, err
		}
		invite.Space, held = &resource, space.ContentAccess
	} else {
		collection, err := h.store.Collection(ctx, c.Principal.UserID, *row.CollectionID)
		if err != nil {
			return invite, err
		}
		resource := h.view.Collection(collection)
		invite.Collection, held = &resource, collection.ContentAccess
	}
	role, _ := access.EffectiveRole(access.Access{Role: held.Role, Level: &held.Level, Grant: held.Grant})
	invite.Redundant = role.AtLeast(*invite.Level)
	return invite, nil
}
